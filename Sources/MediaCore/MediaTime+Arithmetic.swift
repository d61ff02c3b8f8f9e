/// Sums and products, with CMTime's rules for timescales, epochs and special values.
extension MediaTime {
  // MARK: - Sums

  /// The sum, as CMTimeAdd.
  ///
  /// Its timescale is the least common multiple of the two (or 2^31 - 1 when that is larger), halved while the value
  /// overflows; what overflows at 1 too is infinite. Rounded results are half away from zero and flagged, and a flag on
  /// either side stays.
  /// - Specials: invalid with anything is invalid, as are infinities of opposite signs; infinity with anything else is
  ///   infinity, and indefinite with a number is indefinite.
  /// - Epochs: epoch 0 is a duration and takes the other's epoch; two times of one epoch give epoch 0; two nonzero
  ///   epochs that differ give `.invalid`.
  public static func + (left: MediaTime, right: MediaTime) -> MediaTime {
    if left.timescale == right.timescale, left.isNumeric, left.epoch | right.epoch == 0 {
      let (sum, overflow) = left.value.addingReportingOverflow(right.value)
      if !overflow { return MediaTime(numeric: sum, left.timescale, left.flags.union(right.flags), 0) }
    }
    return left.combined(with: right, sign: 1)
  }

  /// The difference, as CMTimeSubtract; the rules are those of `+`.
  public static func - (left: MediaTime, right: MediaTime) -> MediaTime {
    if left.timescale == right.timescale, left.isNumeric, left.epoch | right.epoch == 0 {
      let (difference, overflow) = left.value.subtractingReportingOverflow(right.value)
      if !overflow { return MediaTime(numeric: difference, left.timescale, left.flags.union(right.flags), 0) }
    }
    return left.combined(with: right, sign: -1)
  }

  /// `left + right`, stored in `left`.
  public static func += (left: inout MediaTime, right: MediaTime) { left = left + right }

  /// `left - right`, stored in `left`.
  public static func -= (left: inout MediaTime, right: MediaTime) { left = left - right }

  /// The time as far on the other side of zero. Keeps timescale and epoch; `Int64.min` overflows as in `+`.
  public static prefix func - (time: MediaTime) -> MediaTime {
    guard time.isNumeric else { return time.isInfinite ? time.opposite : time }
    return time.multiplied(by: Int32(-1))
  }

  /// This time without its sign, as CMTimeAbsoluteValue. -infinity becomes +infinity; indefinite and invalid stay.
  public var absoluteValue: MediaTime { value < 0 || isNegativeInfinity ? -self : self }

  // MARK: - Products

  /// The product with an integer, as CMTimeMultiply: the same timescale and epoch, halved on overflow as in `+`.
  ///
  /// An infinity stays infinite, with the sign of the product (0 counts as positive); indefinite and invalid stay.
  public func multiplied(by multiplier: Int32) -> MediaTime {
    guard isNumeric else { return multiplier < 0 && isInfinite ? opposite : self }
    let exact = ExactRational(Int128(value) * Int128(multiplier), over: UInt128(timescale.magnitude))
    return MediaTime(nearest: exact, timescale: timescale, flags: flags, epoch: epoch)
  }

  /// The product with a floating-point number, as CMTimeMultiplyByFloat64.
  ///
  /// A timescale below 65,536 is doubled until it is not, so that the fraction has room; it is halved on overflow as in
  /// `+`. The number's exact binary value is what counts, and the result is rounded once. NaN gives `.invalid`, and so
  /// does infinity times zero.
  @_disfavoredOverload  // So that `multiplied(by: 2)` means the integer.
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
  /// Exact whenever some timescale can say it (`timescale · divisor`, else the smallest that can); otherwise rounded at
  /// the largest timescale that does not overflow, and flagged. A divisor of zero gives an infinity of the numerator's
  /// sign, `.invalid` when that is zero too.
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

  /// The infinity of the other sign.
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

  /// This number (not 0) times a finite `multiplier` (not 0), without a rounding that could be seen; nil when it is
  /// larger than any time.
  private func exactProduct(isNegative: Bool, with multiplier: Double) -> ExactRational? {
    // |multiplier| = significand · 2^power with an odd significand of at most 53 bits.
    let isSubnormal = multiplier.exponentBitPattern == 0
    var significand = multiplier.significandBitPattern | (isSubnormal ? 0 : 1 << 52)
    var power = Int(max(multiplier.exponentBitPattern, 1)) - 1075
    power += significand.trailingZeroBitCount
    significand >>= UInt64(significand.trailingZeroBitCount)

    let product = UInt128(value.magnitude) * UInt128(significand)
    let scale = UInt128(timescale.magnitude)
    if power >= 0 {
      // At least 2^power / 2^31 seconds: from 2^96 on it is far beyond Int64 at a timescale of 1.
      guard power < 128 else { return nil }
      return ExactRational(isNegative: isNegative, (high: product >> (128 - power), low: product << power), over: scale)
    }
    let shift = -power
    guard shift > 96 else {
      return ExactRational(isNegative: isNegative, (high: 0, low: product), over: scale << shift)
    }
    // Bits below 2^-96 cannot decide a rounding by themselves: one bit that says whether there are any is enough.
    let kept = product >> (shift - 96)
    let hasRest = kept << (shift - 96) != product
    return ExactRational(isNegative: isNegative, (high: 0, low: hasRest ? kept | 1 : kept), over: scale << 96)
  }
}
