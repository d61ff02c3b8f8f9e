/// Text forms of times: decimal seconds and fractions, both without conversion through a `Double`.
extension MediaTime: CustomStringConvertible {
  /// Reads decimal seconds in the form of a JSON number: `83.5`, `-0.25`, `1e-3`. Leading zeros are allowed, spaces
  /// are not.
  ///
  /// The result is exact; the timescale is the smallest power of ten that represents every digit. Trailing zeros are
  /// ignored. A number with more than nine decimals, or with more digits than `Int64`, is rounded half away from zero
  /// and flagged; the timescale is then the largest power of ten that fits. Nil for any other text, and when the whole
  /// seconds do not fit.
  public init?(decimal text: some StringProtocol) {
    self.init(decimalBytes: Array(text.utf8)[...])
  }

  /// Reads decimal seconds from bytes, as `init(decimal:)`.
  public init?(decimalBytes text: ArraySlice<UInt8>) {
    guard let time = DecimalNumber(text, allowsSign: true, allowsExponent: true)?.time() else { return nil }
    self = time
  }

  /// Reads a fraction of whole numbers in the form of ``fractionDescription``: `441000/44100`, `-1/3`.
  ///
  /// The fraction is preserved as written if it fits; otherwise it is reduced to lowest terms, then rounded and
  /// flagged if necessary. Nil for any other text, for a denominator of zero, and for numbers beyond 2^64.
  public init?(fraction text: some StringProtocol) {
    self.init(fraction: Array(text.utf8)[...], allowsSign: true)
  }

  /// Reads a fraction from bytes, as `init(fraction:)`. Without `allowsSign` a `-` is invalid.
  init?(fraction text: ArraySlice<UInt8>, allowsSign: Bool) {
    let isNegative = allowsSign && text.first == UInt8(ascii: "-")
    let magnitude = isNegative ? text.dropFirst() : text
    guard let slash = magnitude.firstIndex(of: UInt8(ascii: "/")), let numerator = wholeNumber(magnitude[..<slash]),
      let denominator = wholeNumber(magnitude[(slash + 1)...]), denominator > 0
    else { return nil }
    if let timescale = Int32(exactly: denominator), let value = Int64(exactly: numerator) {
      self.init(numeric: isNegative ? -value : value, timescale, .valid, 0)
    } else {
      self.init(shortest: ExactRational(isNegative: isNegative, product: [numerator], over: [denominator]))
      guard isNumeric else { return nil }
    }
  }

  /// Decimal seconds without trailing zeros, rounded half away from zero to nine decimals: `83.5`, `0`, `-1.25`.
  /// Special values are `invalid`, `indefinite`, `inf` and `-inf`.
  public var decimalDescription: String {
    guard isNumeric else { return specialDescription }
    let scale = UInt64(timescale)
    var (whole, rest) = value.magnitude.quotientAndRemainder(dividingBy: scale)
    // rest < 2^31 and 10^9 < 2^30: the product fits.
    var (fraction, tail) = (rest * 1_000_000_000).quotientAndRemainder(dividingBy: scale)
    if tail * 2 >= scale { fraction += 1 }
    if fraction == 1_000_000_000 { (whole, fraction) = (whole + 1, 0) }
    let sign = value < 0 && (whole > 0 || fraction > 0) ? "-" : ""
    guard fraction > 0 else { return "\(sign)\(whole)" }
    var digits = String(fraction)
    digits = String(repeating: "0", count: 9 - digits.count) + digits
    while digits.last == "0" { digits.removeLast() }
    return "\(sign)\(whole).\(digits)"
  }

  /// The exact fraction as stored: `3682350/44100`; special values as in ``decimalDescription``.
  public var fractionDescription: String { isNumeric ? "\(value)/\(timescale)" : specialDescription }

  /// A description for users and logs: `3682350/44100 (83.5)`, with `rounded` and the epoch if applicable.
  public var description: String {
    guard isNumeric else { return specialDescription }
    var text = "\(fractionDescription) (\(decimalDescription)"
    if hasBeenRounded { text += ", rounded" }
    if epoch != 0 { text += ", epoch \(epoch)" }
    return text + ")"
  }

  private var specialDescription: String {
    if isIndefinite { return "indefinite" }
    if isPositiveInfinity { return "inf" }
    return isNegativeInfinity ? "-inf" : "invalid"
  }
}

/// The value of a text of ASCII digits; nil for any other text, and for numbers above 2^64 - 1.
func wholeNumber(_ text: ArraySlice<UInt8>) -> UInt64? {
  guard !text.isEmpty else { return nil }
  var number: UInt64 = 0
  for character in text {
    guard isDigit(character) else { return nil }
    let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
    let (sum, overflows) = product.addingReportingOverflow(UInt64(character - UInt8(ascii: "0")))
    if isTooLarge || overflows { return nil }
    number = sum
  }
  return number
}
