/// What the parsers and encoders ask about single bytes.
enum ASCII {
  /// The value of a hexadecimal digit, nil for any other byte.
  static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// `0` to `9`.
  static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  /// What ids and players' names are made of: `[A-Za-z0-9._-]`.
  static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// Whether `text` is 1 to `maximum` bytes of `[A-Za-z0-9._-]`.
  static func isName(_ text: some Collection<UInt8>, maximum: Int) -> Bool {
    !text.isEmpty && text.count <= maximum && text.allSatisfy(isNameByte)
  }

  /// Lower-case hexadecimal digits, by value.
  static let hexDigits: [UInt8] = Array("0123456789abcdef".utf8)

  /// Whether `text` is a number as JSON writes one: `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`.
  static func isJSONNumber(_ text: some Collection<UInt8>) -> Bool {
    var rest = text[...]
    func digits() -> Int {
      let count = rest.prefix(while: isDigit).count
      rest = rest.dropFirst(count)
      return count
    }
    if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
    if rest.first == UInt8(ascii: "0") { rest = rest.dropFirst() } else if digits() == 0 { return false }
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      if digits() == 0 { return false }
    }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest = rest.dropFirst()
      if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
      if digits() == 0 { return false }
    }
    return rest.isEmpty
  }
}
