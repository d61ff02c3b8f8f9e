import Glibc

/// A progress display on standard error, if it is a terminal; nothing otherwise.
final class ProgressBar {
  private let isEnabled = isatty(STDERR_FILENO) == 1 && !Style.isDumb
  private var displayedText = ""

  /// Replaces the displayed text.
  func show(_ text: String) {
    guard isEnabled, text != displayedText else { return }
    displayedText = text
    Terminal.showProgress(text)
  }

  /// Displays a bar with the number of completed steps.
  func show(_ doneCount: Int, of count: Int) {
    let suffix = "\(doneCount) of \(count)"
    // Leave room for the brackets, the space after them, and the last column.
    let width = max(4, min(40, Keyboard.columnCount(of: STDERR_FILENO) - suffix.count - 4))
    let filled = count > 0 ? min(width, doneCount * width / count) : width
    show(
      "[\(String(repeating: "#", count: filled))\(String(repeating: "-", count: width - filled))] \(suffix)")
  }

  /// Clears the line.
  func clear() {
    guard !displayedText.isEmpty else { return }
    displayedText = ""
    Terminal.showProgress("")
  }
}
