/// Sums and products, with CMTime's rules for timescales, epochs and special values.
extension MediaTime {
  // MARK: - Sums

  /// The sum, as CMTimeAdd.
  ///
  /// The timescale of the sum is the least common multiple of the two timescales, limited to 2^31 - 1. The timescale is
  /// halved while the value overflows; a value that overflows at timescale 1 becomes infinite. Results are rounded half
  /// away from zero and flagged. A rounding flag on either operand is preserved.
  /// - Special values: invalid plus anything is invalid, as is the sum of infinities of opposite signs. Infinity plus
  ///   any other value is infinity. Indefinite plus a number is indefinite.
  /// - Epochs: epoch 0 is a duration, and the sum has the other epoch. Two times of one epoch give epoch 0. Two
  ///   different nonzero epochs give `.invalid`.
  public static func + (left: MediaTime, right: MediaTime) -> MediaTime {
    if left.timescale == right.timescale, left.isNumeric, left.epoch | right.epoch == 0 {
      let (sum, overflow) = left.value.addingReportingOverflow(right.value)
      if !overflow { return MediaTime(numeric: sum, left.timescale, left.flags.union(right.flags), 0) }
    }
    return left.combined(with: right, sign: 1)
  }

  /// The difference, as CMTimeSubtract, with the rules of `+`.
  public static func - (left: MediaTime, right: MediaTime) -> MediaTime {
    if left.timescale == right.timescale, left.isNumeric, left.epoch | right.epoch == 0 {
      let (difference, overflow) = left.value.subtractingReportingOverflow(right.value)
      if !overflow { return MediaTime(numeric: difference, left.timescale, left.flags.union(right.flags), 0) }
    }
    return left.combined(with: right, sign: -1)
  }

  /// Adds a time, with the rules of `+`.
  public static func += (left: inout MediaTime, right: MediaTime) { left = left + right }

  /// Subtracts a time, with the rules of `-`.
  public static func -= (left: inout MediaTime, right: MediaTime) { left = left - right }

  /// The time with the opposite sign, with the same timescale and epoch. `Int64.min` overflows as in `+`.
  public static prefix func - (time: MediaTime) -> MediaTime {
    guard time.isNumeric else { return time.isInfinite ? time.opposite : time }
    return time.multiplied(by: Int32(-1))
  }

  /// This time without its sign, as CMTimeAbsoluteValue. -infinity becomes +infinity; indefinite and invalid are
  /// unchanged.
  public var absoluteValue: MediaTime { value < 0 || isNegativeInfinity ? -self : self }

  // MARK: - Products

  /// The product with an integer, as CMTimeMultiply. Timescale and epoch are preserved; on overflow the timescale is
  /// halved as in `+`.
  ///
  /// An infinity remains infinite, with the sign of the product (0 counts as positive). Indefinite and invalid are
  /// unchanged.
  public func multiplied(by multiplier: Int32) -> MediaTime {
    guard isNumeric else { return multiplier < 0 && isInfinite ? opposite : self }
    let exact = ExactRational(Int128(value) * Int128(multiplier), over: UInt128(timescale.magnitude))
    return MediaTime(nearest: exact, timescale: timescale, flags: flags, epoch: epoch)
  }

  /// The product with a floating-point number, as CMTimeMultiplyByFloat64.
  ///
  /// A timescale below 65,536 is doubled until it reaches that value, to leave room for the fraction. On overflow it
  /// is halved as in `+`. The calculation uses the exact binary value of `multiplier` and rounds the result once. NaN,
  /// and infinity times zero, give `.invalid`.
  @_disfavoredOverload  // Makes `multiplied(by: 2)` select the integer overload.
  public func multiplied(by multiplier: Double) -> MediaTime {
    if multiplier.isNaN || !isValid { return .invalid }
    guard isNumeric else { return multiplier < 0 && isInfinite ? opposite : self }
    guard multiplier.isFinite else {
      if value == 0 { return .invalid }
      return (value < 0) == (multiplier < 0) ? .positiveInfinity : .negativeInfinity
    }
    var newTimescale = timescale
    while newTimescale < 65_536 { newTimescale *= 2 }
    if value == 0 || multiplier == 0 { return MediaTime(numeric: 0, newTimescale, flags, epoch) }
    let isNegative = (value < 0) != (multiplier < 0)
    guard let exact = exactProduct(isNegative: isNegative, with: multiplier) else {
      return isNegative ? .negativeInfinity : .positiveInfinity
    }
    return MediaTime(nearest: exact, timescale: newTimescale, flags: flags, epoch: epoch)
  }

  /// The product with `multiplier / divisor`, as CMTimeMultiplyByRatio.
  ///
  /// The result is exact if any timescale can represent it (`timescale · divisor`, else the smallest possible).
  /// Otherwise it is rounded at the largest timescale that does not overflow, and flagged. A divisor of zero gives an
  /// infinity with the sign of the numerator, or `.invalid` when the numerator is zero.
  public func multiplied(by multiplier: Int32, dividedBy divisor: Int32) -> MediaTime {
    guard isNumeric else { return (multiplier < 0) != (divisor < 0) && isInfinite ? opposite : self }
    let product = Int128(value) * Int128(multiplier) * (divisor < 0 ? -1 : 1)
    guard divisor != 0 else {
      if product == 0 { return .invalid }
      return product < 0 ? .negativeInfinity : .positiveInfinity
    }
    let scale = UInt64(timescale) * UInt64(divisor.magnitude)
    if let newTimescale = Int32(exactly: scale), let newValue = Int64(exactly: product) {
      return MediaTime(numeric: newValue, newTimescale, flags, epoch)
    }
    let exact = ExactRational(
      isNegative: product < 0, product: [value.magnitude, UInt64(multiplier.magnitude)],
      over: [UInt64(timescale), UInt64(divisor.magnitude)])
    return MediaTime(shortest: exact, flags: flags, epoch: epoch)
  }

  // MARK: - Internals

  /// The infinity of the opposite sign.
  private var opposite: MediaTime { isPositiveInfinity ? .negativeInfinity : .positiveInfinity }

  /// `self + sign · other`, for every kind of operand.
  private func combined(with other: MediaTime, sign: Int32) -> MediaTime {
    guard isValid, other.isValid else { return .invalid }
    guard isNumeric, other.isNumeric else {
      let term = sign < 0 && other.isInfinite ? other.opposite : other
      if isInfinite, term.isInfinite { return self == term ? self : .invalid }
      if isInfinite { return self }
      return term.isInfinite ? term : .indefinite
    }
    guard epoch == 0 || other.epoch == 0 || epoch == other.epoch else { return .invalid }
    let scale = leastCommonMultiple(timescale, other.timescale)
    // Each product is below 2^63 · 2^31, and the sum below 2^95.
    let left = Int128(value) * Int128(scale / UInt64(timescale))
    let right = Int128(other.value) * Int128(scale / UInt64(other.timescale))
    return MediaTime(
      nearest: ExactRational(left + right * Int128(sign), over: UInt128(scale)),
      timescale: Int32(exactly: scale) ?? Self.maxTimescale,
      flags: flags.union(other.flags),
      epoch: epoch == other.epoch ? 0 : epoch | other.epoch)
  }

  /// This number (not 0) times a finite `multiplier` (not 0), exact enough that the later rounding is unaffected. Nil
  /// when the product is larger than any time.
  private func exactProduct(isNegative: Bool, with multiplier: Double) -> ExactRational? {
    // |multiplier| = significand · 2^power, with an odd significand of at most 53 bits.
    let isSubnormal = multiplier.exponentBitPattern == 0
    var significand = multiplier.significandBitPattern | (isSubnormal ? 0 : 1 << 52)
    var power = Int(max(multiplier.exponentBitPattern, 1)) - 1075
    power += significand.trailingZeroBitCount
    significand >>= UInt64(significand.trailingZeroBitCount)

    let product = UInt128(value.magnitude) * UInt128(significand)
    let scale = UInt128(timescale.magnitude)
    if power >= 0 {
      // The product is at least 2^power / 2^31 seconds: from 2^96 on it exceeds Int64 at timescale 1.
      guard power < 128 else { return nil }
      return ExactRational(isNegative: isNegative, (high: product >> (128 - power), low: product << power), over: scale)
    }
    let shift = -power
    guard shift > 96 else {
      return ExactRational(isNegative: isNegative, (high: 0, low: product), over: scale << shift)
    }
    // Bits below 2^-96 matter for rounding only in that they are not all zero. One bit is sufficient to record that.
    let kept = product >> (shift - 96)
    let hasRemainder = kept << (shift - 96) != product
    return ExactRational(isNegative: isNegative, (high: 0, low: hasRemainder ? kept | 1 : kept), over: scale << 96)
  }
}
