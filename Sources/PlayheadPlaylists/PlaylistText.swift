import PlayheadMediaCore

/// The text of a playlist, as bytes that can be split into lines.
///
/// A byte order mark selects UTF-8 or UTF-16. Without one, each text is decoded as UTF-8 if valid, else as
/// Windows-1252, which contains Latin-1. File names are not text: their bytes are preserved.
struct PlaylistText {
  /// The bytes without a byte order mark; UTF-16 is converted to UTF-8.
  let bytes: [UInt8]
  /// Whether a byte order mark specified the encoding.
  let hasByteOrderMark: Bool
  /// Whether the playlist specified Windows-1252 or Latin-1.
  var isSingleByte = false

  init(_ raw: [UInt8]) {
    if raw.starts(with: [0xEF, 0xBB, 0xBF]) {
      bytes = Array(raw.dropFirst(3))
      hasByteOrderMark = true
    } else if raw.starts(with: [0xFF, 0xFE]) || raw.starts(with: [0xFE, 0xFF]) {
      bytes = Self.utf8(ofUTF16: raw.dropFirst(2), isLittleEndian: raw[0] == 0xFF)
      hasByteOrderMark = true
    } else {
      bytes = raw
      hasByteOrderMark = false
    }
  }

  private static func utf8(ofUTF16 raw: ArraySlice<UInt8>, isLittleEndian: Bool) -> [UInt8] {
    var units: [UInt16] = []
    units.reserveCapacity(raw.count / 2)
    var rest = raw.makeIterator()
    // An odd byte at the end is ignored.
    while let first = rest.next(), let second = rest.next() {
      let (low, high) = isLittleEndian ? (first, second) : (second, first)
      units.append(UInt16(high) << 8 | UInt16(low))
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }

  /// Decodes a text, trims it, and truncates it to the maximum length.
  func string(_ slice: some Sequence<UInt8>) -> String {
    let bytes = Array(slice)
    let decoded =
      (isSingleByte ? nil : String(validating: bytes, as: UTF8.self))
      ?? bytes.reduce(into: "") { text, byte in
        text.unicodeScalars.append(Self.windows1252(byte))
      }
    return Self.truncated(decoded)
  }

  /// Truncates a text to the maximum length and trims it. A NUL inside it becomes U+FFFD, because other software
  /// treats NUL as the end.
  static func truncated(_ text: String) -> String {
    var text = text[...]
    if text.utf8.count > PlaylistLimits.textByteCount {
      var kept = text.utf8.prefix(PlaylistLimits.textByteCount + 1)
      // Truncate at the start of a scalar.
      while let last = kept.popLast(), last & 0xC0 == 0x80 {}
      text = text[..<kept.endIndex]
    }
    var scalars = text.unicodeScalars[...]
    while let first = scalars.first, first.properties.isWhitespace || first.value == 0 { scalars.removeFirst() }
    while let last = scalars.last, last.properties.isWhitespace || last.value == 0 { scalars.removeLast() }
    guard scalars.contains("\0") else { return String(scalars) }
    return String(String.UnicodeScalarView(scalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
  }

  /// The decoded text as in `string(_:)`; nil when empty.
  func nonEmptyString(_ slice: some Sequence<UInt8>) -> String? {
    let string = string(slice)
    return string.isEmpty ? nil : string
  }

  /// 0x80 to 0x9F in Windows-1252; undefined values are those of Latin-1.
  private static let windows1252Characters: [UInt32] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D,
    0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,
    0x017E, 0x0178,
  ]

  private static func windows1252(_ byte: UInt8) -> Unicode.Scalar {
    guard (0x80...0x9F).contains(byte) else { return Unicode.Scalar(byte) }
    return Unicode.Scalar(windows1252Characters[Int(byte) - 0x80]) ?? Unicode.Scalar(byte)
  }

  // MARK: - Lines

  /// A line, trimmed.
  struct Line {
    /// The line number, from 1.
    var number: Int
    var bytes: ArraySlice<UInt8>
  }

  /// Iterates over lines that end with LF, CR, or both.
  struct Lines: IteratorProtocol {
    private var rest: ArraySlice<UInt8>
    private var number = 0

    fileprivate init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func next() -> Line? {
      guard !rest.isEmpty else { return nil }
      number += 1
      let end = rest.firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } ?? rest.endIndex
      let line = rest[..<end]
      var next = end
      if next < rest.endIndex {
        let isReturn = rest[next] == UInt8(ascii: "\r")
        next += 1
        if isReturn, next < rest.endIndex, rest[next] == UInt8(ascii: "\n") { next += 1 }
      }
      rest = rest[next...]
      return Line(number: number, bytes: line.trimmed())
    }
  }

  func lines() -> Lines { Lines(bytes[...]) }
}

extension ArraySlice<UInt8> {
  /// The bytes without surrounding spaces and tabs.
  func trimmed() -> Self { trimmed { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } }

  /// The bytes without surrounding XML white space.
  func trimmedOfXMLSpace() -> Self { trimmed { $0 == 0x20 || (0x09...0x0D).contains($0) } }

  private func trimmed(_ isBlank: (UInt8) -> Bool) -> Self {
    var slice = self
    while let first = slice.first, isBlank(first) { slice.removeFirst() }
    while let last = slice.last, isBlank(last) { slice.removeLast() }
    return slice
  }

  /// Whether the bytes begin with an ASCII text, ignoring case.
  func hasPrefix(ignoringCase prefix: String) -> Bool {
    count >= prefix.utf8.count
      && zip(self, prefix.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
  }

  /// Whether the bytes are an ASCII text, ignoring case.
  func equals(ignoringCase other: String) -> Bool { count == other.utf8.count && hasPrefix(ignoringCase: other) }

  /// The number that consists of ASCII digits only; nil for any other text and for more than nine digits.
  var smallNumber: Int? {
    guard !isEmpty, count <= 9 else { return nil }
    var number = 0
    for byte in self {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return number
  }

  /// The positive decimal seconds. Nil for any other text, and above `PlaylistLimits.duration`. Playlists use 0 and -1
  /// for unknown durations.
  var positiveSeconds: MediaTime? {
    guard count <= 32, let text = String(validating: self, as: UTF8.self), let time = MediaTime(decimal: text) else {
      return nil
    }
    return time > .zero && time <= PlaylistLimits.duration ? time : nil
  }
}

extension UInt8 {
  /// The byte with ASCII A to Z converted to lower case.
  var asciiLowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
}
