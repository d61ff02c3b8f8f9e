import Glibc

/// Standard output and error, written at once and whole.
enum Terminal {
  /// Writes bytes to standard output.
  static func print(_ bytes: [UInt8]) { write(bytes, to: STDOUT_FILENO) }

  /// Writes text to standard output.
  static func print(_ text: String) { print(Array(text.utf8)) }

  /// Writes text over the present line of standard error, which is a terminal; nothing clears it.
  static func showProgress(_ text: String) { write(Array("\r\u{1B}[K\(text.prefix(79))".utf8), to: STDERR_FILENO) }

  /// Writes a line of the client's own to standard error.
  static func complain(_ message: String) {
    write(Array("playhead: \(printable(message))\n".utf8), to: STDERR_FILENO)
  }

  /// A text that makes no lines of its own, moves no cursor and sets no colours: a terminal takes control characters for commands,
  /// and files' names and tags may hold any. Each is shown as U+FFFD.
  static func printable(_ text: some StringProtocol) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      scalars.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
    }
    return String(scalars)
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
      }
      if count >= 0 { done += count } else if errno != EINTR { return }
    }
  }
}
