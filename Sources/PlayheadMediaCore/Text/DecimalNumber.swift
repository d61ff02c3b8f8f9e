/// A decimal number read from text, without loss: `±mantissa · 10^exponent`.
///
/// The grammar is JSON's (`-?digits[.digits][(e|E)[+|-]digits]`, ASCII only), except that leading zeros are allowed.
/// Reading takes linear time. The result has the same size for every text.
struct DecimalNumber {
  /// Whether the text began with `-`.
  let isNegative: Bool
  /// The significant digits without leading and trailing zeros; only the first 38 if there are more.
  let mantissa: UInt128
  /// The power of ten of the mantissa's last digit; 0 when the number is zero.
  let exponent: Int
  /// Whether nonzero digits follow those of the mantissa.
  let isTruncated: Bool

  /// The number of decimal digits that always fit in a `UInt128`.
  private static let maxDigitCount = 38

  /// Reads a number from the whole of `text`. Nil for any other text.
  init?(_ text: ArraySlice<UInt8>, allowsSign: Bool, allowsExponent: Bool) {
    var rest = text
    isNegative = allowsSign && rest.first == UInt8(ascii: "-")
    if isNegative { rest.removeFirst() }

    var digits = Significand()
    let whole = rest.prefix(while: isDigit)
    guard !whole.isEmpty else { return nil }
    digits.append(whole)
    rest = rest[whole.endIndex...]
    if rest.first == UInt8(ascii: ".") {
      let fraction = rest.dropFirst().prefix(while: isDigit)
      guard !fraction.isEmpty else { return nil }
      digits.append(fraction)
      rest = rest[fraction.endIndex...]
    }
    var exponent = digits.exponent(wholeCount: whole.count)
    if let letter = rest.first {
      guard allowsExponent, letter == UInt8(ascii: "e") || letter == UInt8(ascii: "E") else { return nil }
      guard let writtenExponent = Self.exponent(rest.dropFirst()) else { return nil }
      exponent += writtenExponent
    }
    mantissa = digits.mantissa
    isTruncated = digits.isTruncated
    self.exponent = mantissa == 0 ? 0 : exponent
  }

  /// Creates a number from a whole number and the text after it: empty, or a point and digits. Nil for any other text.
  init?(whole: UInt64, fraction text: ArraySlice<UInt8>) {
    var digits = Significand()
    var (wholeCount, divisor) = (1, UInt64(1))
    while whole / divisor >= 10 { (wholeCount, divisor) = (wholeCount + 1, divisor * 10) }
    while divisor > 0 {
      digits.append(digit: UInt8(whole / divisor % 10))
      divisor /= 10
    }
    if text.first == UInt8(ascii: ".") {
      let fraction = text.dropFirst()
      guard !fraction.isEmpty, fraction.allSatisfy(isDigit) else { return nil }
      digits.append(fraction)
    } else if !text.isEmpty {
      return nil
    }
    isNegative = false
    mantissa = digits.mantissa
    isTruncated = digits.isTruncated
    exponent = mantissa == 0 ? 0 : digits.exponent(wholeCount: wholeCount)
  }

  /// The number times `10^shift`, as a time in seconds. The timescale is the smallest power of ten that represents all
  /// digits.
  ///
  /// A number that needs more than nine decimals, or whose value exceeds `Int64`, is rounded half away from zero and
  /// flagged. The timescale is then the largest power of ten that fits. Nil when the whole seconds do not fit.
  func time(shift: Int = 0) -> MediaTime? {
    let exponent = exponent + shift
    let limit = UInt128(Int64.max) + (isNegative ? 1 : 0)
    guard exponent <= 18 || mantissa == 0 else { return nil }
    // The timescale is `10^places`. 10^9 is the largest power of ten that fits in an Int32.
    var places = min(max(-exponent, 0), 9)
    while places >= 0 {
      let (magnitude, isExact) = Self.scaled(mantissa, by: exponent + places)
      if let magnitude, magnitude <= limit {
        return time(magnitude: magnitude, places: places, isExact: isExact && !isTruncated)
      }
      places -= 1
    }
    return nil
  }

  // MARK: - Internals

  private func time(magnitude: UInt128, places: Int, isExact: Bool) -> MediaTime {
    var magnitude = magnitude
    var places = places
    while places > 0, magnitude % 10 == 0 {
      magnitude /= 10
      places -= 1
    }
    let bits = UInt64(magnitude)
    let value = Int64(bitPattern: isNegative ? 0 &- bits : bits)
    let timescale = Int32(powerOfTen(places))
    return MediaTime(numeric: value, timescale, isExact ? .valid : [.valid, .hasBeenRounded], 0)
  }

  /// `mantissa · 10^power`, rounded half away from zero; nil when it does not fit in a `UInt128`.
  private static func scaled(_ mantissa: UInt128, by power: Int) -> (magnitude: UInt128?, isExact: Bool) {
    if mantissa == 0 || power == 0 { return (mantissa, true) }
    if power > 0 {
      guard power <= maxDigitCount else { return (nil, false) }
      let (product, overflow) = mantissa.multipliedReportingOverflow(by: powerOfTen(power))
      return (overflow ? nil : product, true)
    }
    // The mantissa is below 10^38: divided by 10^39 or more, it is less than a half.
    guard power >= -maxDigitCount else { return (0, false) }
    let divisor = powerOfTen(-power)
    let (quotient, remainder) = mantissa.quotientAndRemainder(dividingBy: divisor)
    return (remainder >= divisor - remainder ? quotient + 1 : quotient, remainder == 0)
  }

  /// The exponent after an `e`. Its magnitude is limited to 2^48, so that it cannot overflow.
  private static func exponent(_ text: ArraySlice<UInt8>) -> Int? {
    var digits = text
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
    guard !digits.isEmpty, digits.allSatisfy(isDigit) else { return nil }
    let magnitude = digits.reduce(0) { min($0 * 10 + Int($1 - UInt8(ascii: "0")), 1 << 48) }
    return isNegative ? -magnitude : magnitude
  }

  /// Collects the digits of a number from left to right. Zeros are pending until another nonzero digit follows.
  private struct Significand {
    var mantissa: UInt128 = 0
    var isTruncated = false
    /// The number of digits of the mantissa.
    private var digitCount = 0
    /// The number of pending zeros after the mantissa's last digit.
    private var pendingZeroCount = 0
    /// The number of digits read so far, and the number of digits up to the mantissa's last one.
    private var seenCount = 0
    private var keptCount = 0

    mutating func append(_ digits: ArraySlice<UInt8>) {
      for character in digits { append(digit: character - UInt8(ascii: "0")) }
    }

    mutating func append(digit: UInt8) {
      seenCount += 1
      if isTruncated { return }
      if digit == 0 {
        pendingZeroCount += digitCount > 0 ? 1 : 0
      } else if digitCount + pendingZeroCount < maxDigitCount {
        mantissa = mantissa * powerOfTen(pendingZeroCount + 1) + UInt128(digit)
        digitCount += pendingZeroCount + 1
        pendingZeroCount = 0
        keptCount = seenCount
      } else {
        isTruncated = true
      }
    }

    /// The power of ten of the mantissa's last digit, when `wholeCount` of all digits are before the point.
    func exponent(wholeCount: Int) -> Int { wholeCount - keptCount }
  }
}

/// Whether the character is an ASCII digit.
func isDigit(_ character: UInt8) -> Bool { character >= UInt8(ascii: "0") && character <= UInt8(ascii: "9") }

/// 10^`exponent`, for exponents of 0 to 38.
func powerOfTen(_ exponent: Int) -> UInt128 { (0..<exponent).reduce(1) { power, _ in power * 10 } }
