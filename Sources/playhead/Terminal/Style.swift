import Glibc

/// Colours and weights of text on a terminal. No styles for other outputs, or when the environment disables them.
struct Style: Sendable {
  /// Whether styles are enabled.
  let isColored: Bool

  /// The style of standard output.
  static var output: Style { Style(isColored: allowsColor(STDOUT_FILENO)) }
  /// The style of standard error.
  static var errorOutput: Style { Style(isColored: allowsColor(STDERR_FILENO)) }

  /// Whether the descriptor is a terminal with colours, and the user has not disabled them (https://no-color.org).
  private static func allowsColor(_ descriptor: Int32) -> Bool {
    if let setting = getenv("NO_COLOR"), setting.pointee != 0 { return false }
    return isatty(descriptor) == 1 && !isDumb
  }

  /// Whether the terminal supports only lines, or its capabilities are not known.
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
