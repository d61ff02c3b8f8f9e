/// Checks and conversions of single bytes for the parsers and encoders.
enum ASCII {
  /// The value of a hexadecimal digit. Nil for any other byte.
  static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  /// The bytes of ids and player names: `[A-Za-z0-9._-]`.
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

  /// The integer that `text` consists of, with an optional leading `-`. Nil for any other text and for numbers outside
  /// the range of `Int`.
  static func integer(_ text: ArraySlice<UInt8>) -> Int? {
    let isNegative = text.first == UInt8(ascii: "-")
    let digits = isNegative ? text.dropFirst() : text
    guard !digits.isEmpty else { return nil }
    var value = 0
    for byte in digits {
      guard isDigit(byte) else { return nil }
      let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      let digit = Int(byte - UInt8(ascii: "0"))
      let (sum, overflows) =
        isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
      if isTooLarge || overflows { return nil }
      value = sum
    }
    return value
  }

  /// Whether `text` is a JSON number: `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`.
  /// With `fraction`: whether `text` is the part after the decimal point of such a number.
  static func isJSONNumber(_ text: ArraySlice<UInt8>, fraction: Bool = false) -> Bool {
    var index = text.startIndex
    func byte() -> UInt8? { index < text.endIndex ? text[index] : nil }
    /// Skips digits. Returns whether there were any.
    func skipDigits() -> Bool {
      let start = index
      while let digit = byte(), isDigit(digit) { index += 1 }
      return index > start
    }
    if !fraction {
      if byte() == UInt8(ascii: "-") { index += 1 }
      if byte() == UInt8(ascii: "0") { index += 1 } else if !skipDigits() { return false }
    }
    if fraction || byte() == UInt8(ascii: ".") {
      if !fraction { index += 1 }
      if !skipDigits() { return false }
    }
    if byte() == UInt8(ascii: "e") || byte() == UInt8(ascii: "E") {
      index += 1
      if byte() == UInt8(ascii: "+") || byte() == UInt8(ascii: "-") { index += 1 }
      if !skipDigits() { return false }
    }
    return index == text.endIndex
  }
}
