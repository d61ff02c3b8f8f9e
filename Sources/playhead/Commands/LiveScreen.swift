// The current line of a terminal, redrawn without scrolling, and the signals that affect it.
import Glibc
import Synchronization

/// The pending signals, one bit each. Only signal handlers set them (signal-safety(7)).
private let pendingSignals = Atomic<UInt64>(0)

/// A line of the terminal that is redrawn at the cursor.
final class LiveScreen {
  private static let handledSignals = [SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT]

  private let style = Style.output
  private let glyphs = LiveLine.Glyphs.environment
  private var line: LiveLine?
  /// The displayed text. Nil if nothing is displayed, or if the terminal may have changed it.
  private var displayedText: String?
  /// The original signal mask, which is also the mask during waits.
  private var originalMask = sigset_t()

  init() {
    var mask = sigset_t()
    sigemptyset(&mask)
    for number in Self.handledSignals {
      sigaddset(&mask, number)
      signal(number) { pendingSignals.bitwiseOr(1 << UInt64($0), ordering: .relaxed) }
    }
    // The signals are delivered only during waits.
    sigprocmask(SIG_BLOCK, &mask, &originalMask)
    Terminal.print("\u{1B}[?25l")
  }

  /// Restores the cursor and the signal handling, and begins an empty line for later output.
  func end() {
    Terminal.print(displayedText == nil ? "\u{1B}[?25h" : "\n\u{1B}[?25h")
    displayedText = nil
    for number in Self.handledSignals { signal(number, SIG_DFL) }
    sigprocmask(SIG_SETMASK, &originalMask, nil)
  }

  /// Displays a line. Draws nothing when it is unchanged.
  func show(_ line: LiveLine) {
    self.line = line
    // The last column remains free, because some terminals would begin another line.
    let text = line.text(columnCount: max(1, Keyboard.columnCount - 1), glyphs, style)
    guard text != displayedText else { return }
    displayedText = text
    // Disable wrapping: if the terminal's character widths differ from those of DisplayWidth, the excess must not begin
    // another line.
    Terminal.print("\u{1B}[?7l\r\(text)\u{1B}[J\u{1B}[?7h")
  }

  /// Waits until the descriptor is readable, a signal arrives, or the time is over. Handles the signals. Returns
  /// whether the descriptor is readable.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor, or -1 for none.
  ///   - milliseconds: The maximum time. Negative: no limit.
  func wait(for descriptor: Int32, milliseconds: Int32) -> Bool {
    var readable = fd_set()
    if descriptor >= 0, descriptor < FD_SETSIZE {
      withUnsafeMutableBytes(of: &readable) { $0[Int(descriptor) / 8] |= 1 << UInt8(descriptor % 8) }
    }
    var limit = timespec(tv_sec: Int(milliseconds / 1_000), tv_nsec: Int(milliseconds % 1_000) * 1_000_000)
    let count =
      milliseconds < 0
      ? pselect(descriptor + 1, &readable, nil, nil, nil, &originalMask)
      : pselect(descriptor + 1, &readable, nil, nil, &limit, &originalMask)
    let signals = pendingSignals.exchange(0, ordering: .relaxed)
    for number in Self.handledSignals where signals & 1 << UInt64(number) != 0 { handle(signal: number) }
    return count > 0
  }

  private func handle(signal number: Int32) {
    switch number {
    case SIGWINCH, SIGCONT:
      // A terminal that became narrower has already wrapped the line: clear everything below.
      displayedText = nil
      if number == SIGCONT { Terminal.print("\u{1B}[?25l") }
      if let line { show(line) }
    case SIGTSTP:
      Terminal.print("\n\u{1B}[?25h")
      var mask = sigset_t()
      sigemptyset(&mask)
      sigaddset(&mask, SIGTSTP)
      signal(SIGTSTP, SIG_DFL)
      raise(SIGTSTP)
      // The process stops here, until it is continued.
      sigprocmask(SIG_UNBLOCK, &mask, nil)
      sigprocmask(SIG_BLOCK, &mask, nil)
      signal(SIGTSTP) { pendingSignals.bitwiseOr(1 << UInt64($0), ordering: .relaxed) }
    default:
      end()
      raise(number)
    }
  }
}
