import PlayheadMediaCore

/// An excerpt of a client's text for an error message: short and quoted.
enum Excerpt {
  private static let characterCount = 48

  /// `text` in single quotes, without user names and passwords of URLs, cut after 48 characters. The writer of the
  /// message escapes control characters.
  static func quoted(_ text: some StringProtocol) -> String {
    let text = AddressText.withoutCredentials(String(text))
    let beginning = text.unicodeScalars.prefix(characterCount + 1)
    guard beginning.count > characterCount else { return "'\(text)'" }
    return "'\(String(String.UnicodeScalarView(beginning.dropLast())))...'"
  }

  /// The same for bytes. Invalid UTF-8 is shown as replacement characters.
  static func quoted(_ text: ArraySlice<UInt8>) -> String {
    // The prefix contains at least one more character than is shown.
    quoted(String(decoding: AddressText.withoutCredentials(text).prefix(4 * (characterCount + 2)), as: UTF8.self))
  }
}
