import Glibc
import PlayheadWireProtocol

/// The reason why standard output is incomplete. The client exits with status 1.
struct OutputFailure: Error {
  var message: String
}

/// Standard output and standard error, written immediately and completely.
enum Terminal {
  /// Writes bytes to standard output. A write error ends the client, because a reader would treat the part as
  /// complete.
  static func print(_ bytes: [UInt8]) {
    guard !write(bytes, to: STDOUT_FILENO) else { return }
    let failure = OutputFailure(message: "standard output cannot be written: \(String(cString: strerror(errno)))")
    let isJSON = CommandLine.arguments.dropFirst().prefix { $0 != "--" }.contains("--json")
    Failure(failure).printDiagnostic(isJSON: isJSON)
    exit(ExitStatus.failure.rawValue)
  }

  static func print(_ text: String) { print(Array(text.utf8)) }

  /// Writes bytes to standard error, and ignores a write error.
  static func printError(_ bytes: [UInt8]) { write(bytes, to: STDERR_FILENO) }

  /// Writes text over the current line of standard error, which is a terminal, truncated to its width. An empty text
  /// clears the line.
  static func showProgress(_ text: String) {
    // The last column remains free, because some terminals would begin another line.
    let width = max(1, Keyboard.columnCount(of: STDERR_FILENO) - 1)
    let shown = DisplayWidth.cut(text, to: width, ellipsis: LiveLine.Glyphs.environment.ellipsis)
    if !text.isEmpty { clearAtSignals(true) }
    write(Array("\r\u{1B}[K\(shown)".utf8), to: STDERR_FILENO)
    if text.isEmpty { clearAtSignals(false) }
  }

  /// The signals that end the client and first clear the progress line. Ignored signals remain ignored.
  private static let endingSignals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].filter { number in
    var action = sigaction()
    return sigaction(number, nil, &action) != 0
      || unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Sets whether these signals clear the current line of standard error.
  private static func clearAtSignals(_ clears: Bool) {
    for number in endingSignals {
      guard clears else {
        signal(number, SIG_DFL)
        continue
      }
      signal(number) { number in
        // Only async-signal-safe calls are permitted in a handler (signal-safety(7)).
        let bytes: StaticString = "\r\u{1B}[K"
        _ = Glibc.write(STDERR_FILENO, bytes.utf8Start, bytes.utf8CodeUnitCount)
        signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  /// Writes a message of the client to standard error.
  static func printDiagnostic(_ message: String) {
    let style = Style.errorOutput
    write(Array("\(style.red("playhead:")) \(printable(message))\n".utf8), to: STDERR_FILENO)
  }

  /// Replaces line ends, terminal commands and controls of the text direction, which file names and tags may contain,
  /// by U+FFFD. Replaces characters outside the character set of the environment by `?`.
  static func printable(_ text: some StringProtocol) -> String { glyphs.displayable(withoutControls(text)) }

  private static let glyphs = LiveLine.Glyphs.environment

  /// Replaces the same control characters as `printable`, but keeps the characters outside the character set. For
  /// programs.
  static func withoutControls(_ text: some StringProtocol) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      scalars.append(DisplayText.isControl(scalar) ? "\u{FFFD}" : scalar)
    }
    return String(scalars)
  }

  /// Writes all bytes. Returns false on an error, with the reason in `errno`.
  @discardableResult
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var writtenCount = 0
    while writtenCount < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        Glibc.write(descriptor, bytes.baseAddress.map { $0 + writtenCount }, bytes.count - writtenCount)
      }
      if count >= 0 {
        writtenCount += count
      } else if errno == EAGAIN {
        // Another process has made the descriptor nonblocking.
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&polled, 1, -1)
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }
}
