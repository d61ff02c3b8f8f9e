import MediaCore

/// A peer's text as an error message shows it: short, in quotes.
enum Excerpt {
  private static let characterCount = 48

  /// `text` in single quotes, without user names and passwords of addresses, cut after 48 characters. The writer of the
  /// message escapes control characters.
  static func quoted(_ text: some StringProtocol) -> String {
    let text = AddressText.withoutCredentials(String(text))
    let beginning = text.unicodeScalars.prefix(characterCount + 1)
    guard beginning.count > characterCount else { return "'\(text)'" }
    return "'\(String(String.UnicodeScalarView(beginning.dropLast())))...'"
  }

  /// `quoted` for bytes; what is no UTF-8 among them is shown as such.
  static func quoted(_ text: ArraySlice<UInt8>) -> String {
    // So many are one character more than is shown in any case.
    quoted(String(decoding: AddressText.withoutCredentials(text).prefix(4 * (characterCount + 2)), as: UTF8.self))
  }
}
