import MediaCore

/// The text of a list, as bytes in which lines can be told apart.
///
/// A byte order mark says UTF-8 or UTF-16. Without one each piece that is UTF-8 is taken as that, and each other one as
/// Windows-1252, which contains Latin-1. Names of files are not text: they stay the bytes that they are.
struct PlaylistText {
  /// Without a byte order mark; UTF-16 has become UTF-8.
  let bytes: [UInt8]
  /// Whether a byte order mark said what it is.
  let isMarked: Bool
  /// Whether the list said that it is Windows-1252 or Latin-1.
  var isSingleByte = false

  init(_ raw: [UInt8]) {
    if raw.starts(with: [0xEF, 0xBB, 0xBF]) {
      bytes = Array(raw.dropFirst(3))
      isMarked = true
    } else if raw.starts(with: [0xFF, 0xFE]) || raw.starts(with: [0xFE, 0xFF]) {
      bytes = Self.utf8(ofUTF16: raw.dropFirst(2), isLittleEndian: raw[0] == 0xFF)
      isMarked = true
    } else {
      bytes = raw
      isMarked = false
    }
  }

  private static func utf8(ofUTF16 raw: ArraySlice<UInt8>, isLittleEndian: Bool) -> [UInt8] {
    var units: [UInt16] = []
    units.reserveCapacity(raw.count / 2)
    var rest = raw.makeIterator()
    // An odd byte at the end is none.
    while let first = rest.next(), let second = rest.next() {
      let (low, high) = isLittleEndian ? (first, second) : (second, first)
      units.append(UInt16(high) << 8 | UInt16(low))
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }

  /// What a piece says, without blanks around it, and no longer than a text may be.
  func string(_ piece: some Sequence<UInt8>) -> String {
    let bytes = Array(piece)
    let decoded =
      (isSingleByte ? nil : String(validating: bytes, as: UTF8.self))
      ?? bytes.reduce(into: "") { text, byte in
        text.unicodeScalars.append(Self.windows1252(byte))
      }
    return Self.cut(decoded)
  }

  /// No longer than a text may be, without blanks around it. A NUL amid it, which much else takes for the end, becomes U+FFFD.
  static func cut(_ text: String) -> String {
    var text = text[...]
    if text.utf8.count > PlaylistLimits.textByteCount {
      var kept = text.utf8.prefix(PlaylistLimits.textByteCount + 1)
      // Not amid a scalar: what is cut off ends where one begins.
      while let last = kept.popLast(), last & 0xC0 == 0x80 {}
      text = text[..<kept.endIndex]
    }
    var scalars = text.unicodeScalars[...]
    while let first = scalars.first, first.properties.isWhitespace || first.value == 0 { scalars.removeFirst() }
    while let last = scalars.last, last.properties.isWhitespace || last.value == 0 { scalars.removeLast() }
    guard scalars.contains("\0") else { return String(scalars) }
    return String(String.UnicodeScalarView(scalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
  }

  /// The same, nil for nothing.
  func text(_ piece: some Sequence<UInt8>) -> String? {
    let string = string(piece)
    return string.isEmpty ? nil : string
  }

  /// 0x80 to 0x9F in Windows-1252; what it leaves out is Latin-1's.
  private static let upper: [UInt32] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D,
    0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,
    0x017E, 0x0178,
  ]

  private static func windows1252(_ byte: UInt8) -> Unicode.Scalar {
    guard (0x80...0x9F).contains(byte) else { return Unicode.Scalar(byte) }
    return Unicode.Scalar(upper[Int(byte) - 0x80]) ?? Unicode.Scalar(byte)
  }

  // MARK: - Lines

  /// One line, without blanks around it.
  struct Line {
    /// From 1 on.
    var number: Int
    var bytes: ArraySlice<UInt8>
  }

  /// Lines end with LF, CR, or both.
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
  /// Without spaces and tabs around it.
  func trimmed() -> Self { trimmed { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } }

  /// Without what XML takes for space around it.
  func trimmedOfSpace() -> Self { trimmed { $0 == 0x20 || (0x09...0x0D).contains($0) } }

  private func trimmed(_ isBlank: (UInt8) -> Bool) -> Self {
    var piece = self
    while let first = piece.first, isBlank(first) { piece.removeFirst() }
    while let last = piece.last, isBlank(last) { piece.removeLast() }
    return piece
  }

  /// Whether it begins with this ASCII text, in whatever case.
  func hasPrefix(ignoringCase prefix: String) -> Bool {
    count >= prefix.utf8.count
      && zip(self, prefix.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
  }

  /// Whether it is this ASCII text, in whatever case.
  func equals(ignoringCase other: String) -> Bool { count == other.utf8.count && hasPrefix(ignoringCase: other) }

  /// The number that ASCII digits alone say; nil for anything else and for more than nine of them.
  var smallNumber: Int? {
    guard !isEmpty, count <= 9 else { return nil }
    var number = 0
    for byte in self {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return number
  }

  /// Seconds above 0 that decimals say; nil for anything else: lists write 0 and -1 for what they do not know, and nothing lasts
  /// longer than `PlaylistLimits.duration`.
  var positiveSeconds: MediaTime? {
    guard count <= 32, let text = String(validating: self, as: UTF8.self), let time = MediaTime(decimal: text) else {
      return nil
    }
    return time > .zero && time <= PlaylistLimits.duration ? time : nil
  }
}

extension UInt8 {
  /// A to Z as a to z; all others as they are.
  var asciiLowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
}
