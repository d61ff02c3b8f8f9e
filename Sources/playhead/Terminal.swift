import Glibc
import WireProtocol

/// Why standard output has not all that it should have: exit status 1.
struct OutputFailure: Error {
  var message: String
}

/// Standard output and error, written at once and whole.
enum Terminal {
  /// Writes bytes to standard output. What cannot be written ends the client: who reads a part would take it for the whole.
  static func print(_ bytes: [UInt8]) {
    guard !write(bytes, to: STDOUT_FILENO) else { return }
    let failure = OutputFailure(message: "standard output cannot be written: \(String(cString: strerror(errno)))")
    let isJSON = CommandLine.arguments.dropFirst().prefix { $0 != "--" }.contains("--json")
    Failure(failure).complain(isJSON: isJSON)
    exit(ExitStatus.refused.rawValue)
  }

  /// Writes text to standard output.
  static func print(_ text: String) { print(Array(text.utf8)) }

  /// Writes bytes to standard error.
  static func printError(_ bytes: [UInt8]) { write(bytes, to: STDERR_FILENO) }

  /// Writes text over the present line of standard error, which is a terminal, as much of it as fits; nothing clears it.
  static func showProgress(_ text: String) {
    // The last column stays free: some terminals would begin another line.
    let width = max(1, Keyboard.columnCount(of: STDERR_FILENO) - 1)
    let shown = DisplayWidth.cut(text, to: width, ellipsis: LiveLine.Glyphs.environment.ellipsis)
    if !text.isEmpty { clearAtSignals(true) }
    write(Array("\r\u{1B}[K\(shown)".utf8), to: STDERR_FILENO)
    if text.isEmpty { clearAtSignals(false) }
  }

  /// The signals that end the client while a line is there, which is cleared then; those that are ignored stay so.
  private static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].filter { number in
    var action = sigaction()
    return sigaction(number, nil, &action) != 0
      || unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Whether such a signal clears the present line of standard error.
  private static func clearAtSignals(_ clears: Bool) {
    for number in endings {
      guard clears else {
        signal(number, SIG_DFL)
        continue
      }
      signal(number) { number in
        // Only calls that are allowed in a handler (signal-safety(7)).
        let bytes: StaticString = "\r\u{1B}[K"
        _ = Glibc.write(STDERR_FILENO, bytes.utf8Start, bytes.utf8CodeUnitCount)
        signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  /// Writes a line of the client's own to standard error.
  static func complain(_ message: String) {
    let style = Style.errors
    write(Array("\(style.red("playhead:")) \(printable(message))\n".utf8), to: STDERR_FILENO)
  }

  /// Returns `text` without line ends, terminal commands and controls of the text direction, which file names and tags
  /// may contain. Each is shown as U+FFFD. A character that the environment's character set lacks is shown as `?`.
  static func printable(_ text: some StringProtocol) -> String { glyphs.shown(harmless(text)) }

  private static let glyphs = LiveLine.Glyphs.environment

  /// The same in whatever characters there are: for programs, which take them as they are.
  static func harmless(_ text: some StringProtocol) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      scalars.append(DisplayText.isControl(scalar) ? "\u{FFFD}" : scalar)
    }
    return String(scalars)
  }

  /// False when not all of it could be written; `errno` says why.
  @discardableResult
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
      }
      if count >= 0 {
        done += count
      } else if errno == EAGAIN {
        // Somebody else has made it one that does not wait.
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&polled, 1, -1)
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }
}
