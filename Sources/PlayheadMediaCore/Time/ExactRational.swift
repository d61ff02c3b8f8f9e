/// A rational number that is too wide for `MediaTime`: an intermediate result before the single final rounding.
///
/// Stored as sign and magnitude, as a mixed number: `±(whole + numerator / denominator)`. All values fit in 128-bit
/// arithmetic for all inputs, so nothing traps. Only `scaled(to:rounding:)` rounds.
struct ExactRational {
  /// Whether the number is below zero; meaningless for zero.
  let isNegative: Bool
  /// The whole part of the magnitude. `UInt128.max` represents anything larger, which no `MediaTime` can represent
  /// either.
  let whole: UInt128
  /// The numerator of the fraction, below `denominator`.
  let numerator: UInt128
  /// The denominator of the fraction, above zero.
  let denominator: UInt128

  /// `numerator / denominator`; the denominator is positive.
  init(_ numerator: Int128, over denominator: UInt128) {
    self.init(isNegative: numerator < 0, (high: 0, low: numerator.magnitude), over: denominator)
  }

  /// `±(high · 2^128 + low) / denominator`; the denominator is positive.
  init(isNegative: Bool, _ magnitude: (high: UInt128, low: UInt128), over denominator: UInt128) {
    self.isNegative = isNegative
    self.denominator = denominator
    if magnitude.high >= denominator {
      (whole, numerator) = (.max, 0)
    } else if magnitude.high == 0 {
      (whole, numerator) = magnitude.low.quotientAndRemainder(dividingBy: denominator)
    } else {
      (whole, numerator) = denominator.dividingFullWidth(magnitude)
    }
  }

  /// The product of up to three numerators divided by the product of up to three denominators.
  ///
  /// The denominators must be positive, and their product below 2^128. Two timescales and a value always fulfill this.
  init(isNegative: Bool, product numerators: [UInt64], over denominators: [UInt64]) {
    // Cancel common factors first to keep the products small.
    var numerators = numerators
    var denominators = denominators
    for above in numerators.indices {
      for below in denominators.indices {
        let divisor = greatestCommonDivisor(numerators[above], denominators[below])
        if divisor > 1 {
          numerators[above] /= divisor
          denominators[below] /= divisor
        }
      }
    }
    var product: (high: UInt128, low: UInt128) = (0, 1)
    for factor in numerators {
      // The product of three 64-bit factors has at most 192 bits, so the high half never overflows.
      let low = product.low.multipliedFullWidth(by: UInt128(factor))
      product = (product.high &* UInt128(factor) &+ low.high, low.low)
    }
    let denominator = denominators.reduce(UInt128(1)) { $0 &* UInt128($1) }
    self.init(isNegative: isNegative, product, over: denominator)
  }

  /// The denominator in lowest terms.
  var reducedDenominator: UInt128 { denominator / greatestCommonDivisor(numerator, denominator) }

  /// The number in units of `1 / scale`, rounded to a whole number; nil when it does not fit in an `Int64`.
  ///
  /// `.quickTime` depends on two scales, so the caller must resolve it; an unresolved one counts as `.towardZero`.
  func scaled(to scale: UInt64, rounding method: MediaTime.RoundingMethod) -> (value: Int64, isExact: Bool)? {
    guard whole <= UInt128(UInt64.max) else { return nil }
    let quotient: UInt128
    let remainder: UInt128
    let fraction = numerator.multipliedFullWidth(by: UInt128(scale))
    if fraction.high == 0 {
      (quotient, remainder) = fraction.low.quotientAndRemainder(dividingBy: denominator)
    } else {
      (quotient, remainder) = denominator.dividingFullWidth(fraction)
    }
    // whole < 2^64, scale < 2^64, and the fraction is below scale: the sum is below 2^128.
    var magnitude = whole * UInt128(scale) + quotient
    if remainder > 0, method.roundsUp(isNegative: isNegative, isHalfOrMore: remainder >= denominator - remainder) {
      magnitude += 1
    }
    let limit = UInt128(Int64.max) + (isNegative ? 1 : 0)
    guard magnitude <= limit else { return nil }
    let bits = UInt64(magnitude)
    return (Int64(bitPattern: isNegative ? 0 &- bits : bits), remainder == 0)
  }
}

/// The greatest common divisor; the other number when one is zero.
func greatestCommonDivisor<Number: FixedWidthInteger & UnsignedInteger>(_ first: Number, _ second: Number) -> Number {
  var (larger, smaller) = (first, second)
  while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
  return larger
}

/// The least common multiple of two timescales (both above zero): below 2^62.
func leastCommonMultiple(_ first: Int32, _ second: Int32) -> UInt64 {
  let (first, second) = (UInt64(first.magnitude), UInt64(second.magnitude))
  return first / greatestCommonDivisor(first, second) * second
}
