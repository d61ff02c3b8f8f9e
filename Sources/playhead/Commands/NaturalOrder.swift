/// Natural order of names: `2` before `10`, ignoring case.
enum NaturalOrder {
  /// Whether `one` is before `other`.
  static func isLess(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    var (i, j) = (0, 0)
    while i < one.count, j < other.count {
      if isDigit(one[i]), isDigit(other[j]) {
        let (number, otherNumber) = (readDigits(one, &i), readDigits(other, &j))
        // Without leading zeros, the longer number is the larger one.
        if number.count != otherNumber.count { return number.count < otherNumber.count }
        if !number.elementsEqual(otherNumber) { return number.lexicographicallyPrecedes(otherNumber) }
      } else {
        let (byte, otherByte) = (lowered(one[i]), lowered(other[j]))
        if byte != otherByte { return byte < otherByte }
        (i, j) = (i + 1, j + 1)
      }
    }
    if one.count - i != other.count - j { return one.count - i < other.count - j }
    // For names such as `a` and `A`, or `1` and `01`: a stable order.
    return one.lexicographicallyPrecedes(other)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private static func lowered(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
  }

  /// Reads the digits at the index and advances it. Returns them without leading zeros.
  private static func readDigits(_ text: [UInt8], _ index: inout Int) -> ArraySlice<UInt8> {
    let start = index
    while index < text.count, isDigit(text[index]) { index += 1 }
    return text[start..<index].drop { $0 == UInt8(ascii: "0") }
  }
}
