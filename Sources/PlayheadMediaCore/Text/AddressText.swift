/// Prepares addresses for messages.
package enum AddressText {
  /// Removes the user names and passwords of all addresses in a text, malformed addresses included.
  ///
  /// All characters from `://` to the last `@` before the path are removed. If a password contains a slash, all
  /// characters up to the last `@` of the text are removed.
  package static func withoutCredentials(_ text: String) -> String {
    text.utf8.contains(UInt8(ascii: "@"))
      ? String(decoding: withoutCredentials(Array(text.utf8)[...]), as: UTF8.self) : text
  }

  /// Removes the user names and passwords of all addresses in bytes, as `withoutCredentials(_:)` for a text.
  package static func withoutCredentials(_ text: ArraySlice<UInt8>) -> [UInt8] {
    guard let lastAt = text.lastIndex(of: at) else { return Array(text) }
    var result: [UInt8] = []
    var rest = text
    var hasScheme = false
    while let start = endOfScheme(in: rest) {
      hasScheme = true
      result += rest[..<start]
      rest = rest[endOfCredentials(in: rest[start...], lastAt: lastAt)...]
    }
    // An address without a scheme has a user name and a password, or neither.
    if !hasScheme, let colon = rest.firstIndex(of: UInt8(ascii: ":")), colon < lastAt {
      rest = rest[endOfCredentials(in: rest, lastAt: lastAt)...]
    }
    return result + rest
  }

  private static let at = UInt8(ascii: "@")

  private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

  /// The index after the first colon that is followed by slashes, and after those slashes.
  private static func endOfScheme(in text: ArraySlice<UInt8>) -> Int? {
    guard
      let colon = text.indices.first(where: { index in
        text[index] == UInt8(ascii: ":") && index + 1 < text.endIndex && isSlash(text[index + 1])
      })
    else { return nil }
    return text[(colon + 1)...].firstIndex { !isSlash($0) } ?? text.endIndex
  }

  /// The index after the credentials at the start of a text; the start of the text when there are none.
  ///
  /// - Parameter lastAt: the index of the last `@` of the whole text.
  private static func endOfCredentials(in text: ArraySlice<UInt8>, lastAt: Int) -> Int {
    let authority = text.prefix { !"/?#".utf8.contains($0) }
    if let last = authority.lastIndex(of: at) { return last + 1 }
    // `host:80` is a host and a port. Any other text after the colon is the beginning of a password.
    guard let colon = authority.firstIndex(of: UInt8(ascii: ":")), authority.first != UInt8(ascii: "["),
      !authority[(colon + 1)...].allSatisfy({ (48...57).contains($0) }), lastAt >= text.startIndex
    else { return text.startIndex }
    return lastAt + 1
  }
}
