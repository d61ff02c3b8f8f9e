import Glibc

/// How far something is, on standard error where that is a terminal; nothing elsewhere.
final class ProgressBar {
  private let isShown = isatty(STDERR_FILENO) == 1 && !Style.isDumb
  private var shown = ""

  /// Shows a text in place of what was there.
  func show(_ text: String) {
    guard isShown, text != shown else { return }
    shown = text
    Terminal.showProgress(text)
  }

  /// Shows a bar.
  func show(_ done: Int, of count: Int) {
    let behind = "\(done) of \(count)"
    // The brackets, the space behind them, and the last column.
    let width = max(4, min(40, Keyboard.columnCount(of: STDERR_FILENO) - behind.count - 4))
    let filled = count > 0 ? min(width, done * width / count) : width
    show(
      "[\(String(repeating: "#", count: filled))\(String(repeating: "-", count: width - filled))] \(behind)")
  }

  /// Leaves an empty line.
  func clear() {
    guard !shown.isEmpty else { return }
    shown = ""
    Terminal.showProgress("")
  }
}
