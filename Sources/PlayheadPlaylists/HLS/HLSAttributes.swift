import PlayheadMediaCore

/// An attribute list: `NAME=value,NAME="text"` (RFC 8216, section 4.2). The first one of repeated names is used.
struct HLSAttributes {
  private var values: [String: (text: String, isQuoted: Bool)] = [:]

  /// The maximum number of attributes read.
  private static let maximumCount = 64

  /// Parses an attribute list; nil when invalid.
  init?(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes.trimmed()
    while !rest.isEmpty, values.count < Self.maximumCount {
      guard let equals = rest.firstIndex(of: UInt8(ascii: "=")) else { return nil }
      let name = rest[..<equals].trimmed()
      guard !name.isEmpty, name.allSatisfy(Self.isNameByte) else { return nil }
      rest = rest[(equals + 1)...].trimmed()
      let isQuoted = rest.first == UInt8(ascii: "\"")
      let value: ArraySlice<UInt8>
      if isQuoted {
        rest = rest.dropFirst()
        guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        value = rest[..<end]
        rest = rest[(end + 1)...].trimmed()
        guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
      } else {
        value = rest.prefix { $0 != UInt8(ascii: ",") }
        rest = rest[value.endIndex...]
      }
      guard let text = String(validating: value, as: UTF8.self) else { return nil }
      let key = String(decoding: name, as: UTF8.self)
      if values[key] == nil { values[key] = (isQuoted ? text : String(text.drop { $0 == " " }), isQuoted) }
      rest = rest.dropFirst()
      rest = rest.trimmed()
    }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte.asciiLowercased & 0xDF)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
  }

  /// The value of an attribute, without quotes.
  subscript(_ name: String) -> String? { values[name]?.text }

  /// All names, in alphabetical order.
  var names: [String] { values.keys.sorted() }

  /// Whether the value of an attribute is a quoted string.
  func isQuoted(_ name: String) -> Bool { values[name]?.isQuoted ?? false }

  /// The value of an attribute as a decimal integer.
  func number(_ name: String) -> Int64? { values[name].flatMap { HLSNumber.integer($0.text) } }

  /// Whether the value of an attribute is `YES`.
  func isYes(_ name: String) -> Bool { values[name]?.text == "YES" }

  /// The value of an attribute as 16 bytes from a hexadecimal number; nil when missing or invalid.
  func sixteenBytes(_ name: String) -> [UInt8]? {
    guard let text = values[name]?.text, text.hasPrefix("0x") || text.hasPrefix("0X") else { return nil }
    let digits = text.utf8.dropFirst(2)
    guard (1...32).contains(digits.count) else { return nil }
    var bytes: [UInt8] = []
    for index in 0..<32 {
      let position = digits.count - 32 + index
      let digit = position < 0 ? 0 : HLSNumber.hexadecimal(digits[digits.index(digits.startIndex, offsetBy: position)])
      guard let digit else { return nil }
      if index.isMultiple(of: 2) { bytes.append(digit << 4) } else { bytes[bytes.count - 1] |= digit }
    }
    return bytes
  }
}

/// Parsers of numbers in playlists.
enum HLSNumber {
  /// Parses an integer of at most eighteen digits.
  static func integer(_ text: some StringProtocol) -> Int64? {
    guard !text.isEmpty, text.utf8.count <= 18, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int64(text)
  }

  /// Parses a hexadecimal number into bytes; nil for any other text.
  static func bytes(_ digits: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var isSecond = !digits.utf8.count.isMultiple(of: 2)
    if isSecond { bytes.append(0) }
    for byte in digits.utf8 {
      guard let digit = hexadecimal(byte) else { return nil }
      if isSecond { bytes[bytes.count - 1] |= digit } else { bytes.append(digit << 4) }
      isSecond.toggle()
    }
    return bytes
  }

  static func hexadecimal(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// Parses seconds, with or without decimals, into nanoseconds. Nil for any other text, and when the magnitude
  /// exceeds `limit`.
  static func nanoseconds(_ text: some StringProtocol, limit: Int64) -> Int64? {
    let isNegative = text.hasPrefix("-")
    let parts = text.dropFirst(isNegative ? 1 : 0).split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = parts.first, let seconds = whole.isEmpty && parts.count > 1 ? 0 : integer(whole),
      seconds <= limit / 1_000_000_000
    else { return nil }
    var fraction: Int64 = 0
    if parts.count > 1 {
      guard parts[1].utf8.count <= 32, parts[1].utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
      let digits = Array(parts[1].utf8.prefix(10))
      for index in 0..<9 { fraction = fraction * 10 + (index < digits.count ? Int64(digits[index]) - 48 : 0) }
      if digits.count > 9, digits[9] >= UInt8(ascii: "5") { fraction += 1 }
    }
    let sum = seconds * 1_000_000_000 + fraction
    guard sum <= limit else { return nil }
    return isNegative ? -sum : sum
  }
}
