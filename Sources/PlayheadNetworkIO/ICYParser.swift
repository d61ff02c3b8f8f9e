// Titles in an audio stream, in the format of SHOUTcast and Icecast. After every `icy-metaint` bytes of audio, a
// length byte and a text follow. The text has 16 times as many bytes as the length byte states. No standard exists;
// the parser accepts all plausible variants.
import PlayheadMediaCore

/// Separates audio from titles. Pure.
package struct ICYParser {
  private let interval: Int
  /// The number of audio bytes before the next length byte.
  private var remainingAudioCount: Int
  /// The number of missing text bytes; nil outside a text.
  private var remainingTextCount: Int?
  private var text: [UInt8] = []

  /// - Parameter interval: the number of audio bytes between titles, more than 0.
  package init(interval: Int) {
    precondition(interval > 0, "the metadata interval must be positive")
    self.interval = interval
    remainingAudioCount = interval
  }

  /// Processes received bytes. Passes the audio and the titles within it to the closures, in order.
  package mutating func parse(
    _ bytes: UnsafeRawBufferPointer, audio: (UnsafeRawBufferPointer) -> Void, title: (ICYMetadata) -> Void
  ) {
    var rest = bytes
    while !rest.isEmpty {
      if let remaining = remainingTextCount {
        let count = min(remaining, rest.count)
        text.append(contentsOf: rest[..<count])
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        remainingTextCount = remaining - count
        if remaining == count { finish(title) }
      } else if remainingAudioCount > 0 {
        let count = min(remainingAudioCount, rest.count)
        audio(UnsafeRawBufferPointer(rebasing: rest[..<count]))
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        remainingAudioCount -= count
      } else {
        // At most 4,080 bytes.
        let count = Int(rest[0]) * 16
        rest = UnsafeRawBufferPointer(rebasing: rest[1...])
        remainingAudioCount = interval
        remainingTextCount = count > 0 ? count : nil
      }
    }
  }

  private mutating func finish(_ title: (ICYMetadata) -> Void) {
    remainingTextCount = nil
    if let metadata = ICYMetadata(text) { title(metadata) }
    text.removeAll(keepingCapacity: true)
  }
}

/// A title: `StreamTitle='artist - title';StreamUrl='https://…';`.
package struct ICYMetadata: Sendable, Hashable {
  /// The title, often `artist - title`.
  package var title: String
  /// The URL of a page about the title; nil when missing.
  package var url: String?

  /// Parses a title; nil when the text contains none. An apostrophe ends a value only if the end of the text, or a
  /// semicolon and the next field, follows it.
  package init?(_ bytes: [UInt8]) {
    let end = bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
    let text = Array(bytes[..<end])
    guard let title = Self.value(of: "StreamTitle", in: text) else { return nil }
    self.title = title
    url = Self.value(of: "StreamUrl", in: text).flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func value(of name: String, in text: [UInt8]) -> String? {
    let opening = Array("\(name)='".utf8)
    guard let start = first(opening, in: text[...], ignoringCase: true).map({ $0 + opening.count }) else { return nil }
    var searchStart = start
    while let quote = text[searchStart...].firstIndex(of: UInt8(ascii: "'")) {
      if endsValue(text[(quote + 1)...]) { return ICYText.decode(text[start..<quote]) }
      searchStart = quote + 1
    }
    // The text is truncated: use the available part.
    var rest = text[start...]
    if rest.last == UInt8(ascii: ";") { rest = rest.dropLast() }
    return ICYText.decode(rest)
  }

  /// Whether the text after an apostrophe shows that it was a closing one: empty, or a semicolon before the end or
  /// `name='`.
  private static func endsValue(_ rest: ArraySlice<UInt8>) -> Bool {
    guard let first = rest.first else { return true }
    guard first == UInt8(ascii: ";") else { return false }
    let remainder = rest.dropFirst().drop { $0 == 0x20 }
    let name = remainder.prefix { ASCIIByte.isLetter($0) }
    return remainder.isEmpty || !name.isEmpty && remainder.dropFirst(name.count).starts(with: "='".utf8)
  }

  private static func first(_ pattern: [UInt8], in text: ArraySlice<UInt8>, ignoringCase: Bool) -> Int? {
    guard pattern.count <= text.count else { return nil }
    return (text.startIndex...(text.endIndex - pattern.count)).first { index in
      pattern.indices.allSatisfy { ASCIIByte.lowercase(text[index + $0]) == ASCIIByte.lowercase(pattern[$0]) }
    }
  }
}

/// Text in an unknown encoding.
enum ICYText {
  /// Decodes valid UTF-8, else Latin-1 without the Windows additions. Control characters become spaces.
  static func decode(_ bytes: some Sequence<UInt8>) -> String {
    let bytes = Array(bytes)
    let text = String(validating: bytes, as: UTF8.self) ?? String(decoding: bytes.map { UInt16($0) }, as: UTF16.self)
    guard text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }) else {
      return text
    }
    var clean = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      clean.append(scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? " " : scalar)
    }
    return String(clean)
  }
}

/// ASCII letters.
enum ASCIIByte {
  static func isLetter(_ byte: UInt8) -> Bool {
    let lower = lowercase(byte)
    return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
  }

  static func lowercase(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}
