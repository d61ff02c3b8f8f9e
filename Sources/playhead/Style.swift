import Glibc

/// Colours and weights of text on a terminal; none elsewhere, nor where the environment says so.
struct Style: Sendable {
  /// Whether there are any.
  let isColored: Bool

  /// That of standard output.
  static var output: Style { Style(isColored: allowsColor(STDOUT_FILENO)) }
  /// That of standard error.
  static var errors: Style { Style(isColored: allowsColor(STDERR_FILENO)) }

  /// A terminal that knows colours, of somebody who wants them (https://no-color.org).
  private static func allowsColor(_ descriptor: Int32) -> Bool {
    if let wish = getenv("NO_COLOR"), wish.pointee != 0 { return false }
    return isatty(descriptor) == 1 && !isDumb
  }

  /// Whether the terminal knows nothing but lines, or nobody says what it knows.
  static var isDumb: Bool { getenv("TERM").map { String(cString: $0) == "dumb" } ?? true }

  func bold(_ text: String) -> String { wrapped(text, "1") }
  func dim(_ text: String) -> String { wrapped(text, "2") }
  func red(_ text: String) -> String { wrapped(text, "31") }
  func green(_ text: String) -> String { wrapped(text, "32") }
  func yellow(_ text: String) -> String { wrapped(text, "33") }

  private func wrapped(_ text: String, _ code: String) -> String {
    isColored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}
