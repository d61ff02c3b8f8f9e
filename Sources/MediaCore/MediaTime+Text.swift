/// Times as text: decimal seconds and fractions, both without going through a `Double`.
extension MediaTime: CustomStringConvertible {
  /// Decimal seconds as a JSON number token: `83.5`, `-0.25`, `1e-3`. Leading zeros are allowed, blanks are not.
  ///
  /// The result is exact, at the smallest power of ten that holds every digit; trailing zeros do not matter. What needs
  /// more than nine places (or more digits than `Int64` has) is rounded half away from zero at the largest power of ten
  /// that fits, and flagged. Nil for any other text, and for numbers of which not even the whole seconds fit.
  public init?(decimal text: some StringProtocol) {
    self.init(decimalBytes: Array(text.utf8)[...])
  }

  /// `init(decimal:)` for bytes.
  public init?(decimalBytes text: ArraySlice<UInt8>) {
    guard let time = DecimalNumber(text, allowsSign: true, allowsExponent: true)?.time() else { return nil }
    self = time
  }

  /// A fraction of whole numbers, as `fractionDescription` gives it: `441000/44100`, `-1/3`.
  ///
  /// Kept as it is written if it fits; else in lowest terms, and rounded and flagged when that is not enough. Nil for
  /// any other text, for a denominator of zero, and for numbers beyond 2^64.
  public init?(fraction text: some StringProtocol) {
    self.init(fraction: Array(text.utf8)[...], allowsSign: true)
  }

  /// `init(fraction:)` for bytes; with `allowsSign` false a `-` is bad text too.
  init?(fraction text: ArraySlice<UInt8>, allowsSign: Bool) {
    let isNegative = allowsSign && text.first == UInt8(ascii: "-")
    let magnitude = isNegative ? text.dropFirst() : text
    guard let line = magnitude.firstIndex(of: UInt8(ascii: "/")), let numerator = wholeNumber(magnitude[..<line]),
      let denominator = wholeNumber(magnitude[(line + 1)...]), denominator > 0
    else { return nil }
    if let timescale = Int32(exactly: denominator), let value = Int64(exactly: numerator) {
      self.init(numeric: isNegative ? -value : value, timescale, .valid, 0)
    } else {
      self.init(shortest: ExactRational(isNegative: isNegative, product: [numerator], over: [denominator]))
      guard isNumeric else { return nil }
    }
  }

  /// Seconds rounded half away from zero to nine places, without trailing zeros: `83.5`, `0`, `-1.25`; or `invalid`,
  /// `indefinite`, `inf`, `-inf`.
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

  /// The exact fraction as it is stored: `3682350/44100`; or one of the words of `decimalDescription`.
  public var fractionDescription: String { isNumeric ? "\(value)/\(timescale)" : specialDescription }

  /// For people and logs: `3682350/44100 (83.5)`, with `rounded` and the epoch where there is something to say.
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

/// The number that ASCII digits alone say; nil for anything else, and beyond 2^64 - 1.
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
