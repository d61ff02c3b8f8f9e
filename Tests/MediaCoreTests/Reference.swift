import PlayheadMediaCore

/// Pseudorandom numbers that are the same in every run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// A value with a uniformly distributed bit width; sometimes an extreme value.
  mutating func value() -> Int64 {
    switch next() % 32 {
    case 0: return .max
    case 1: return .min
    case 2: return 0
    default: return Int64(bitPattern: next()) >> Int64(next() % 64)
    }
  }

  /// A timescale: a common one of media, a small one, a large one or the largest.
  mutating func timescale() -> Int32 {
    let usual: [Int32] = [1, 24, 30, 600, 1000, 1001, 30_000, 44_100, 48_000, 90_000, 192_000, .max]
    switch next() % 3 {
    case 0: return usual[Int(next() % UInt64(usual.count))]
    case 1: return Int32(next() % 1000) + 1
    default: return Int32(truncatingIfNeeded: (next() >> 33) >> (next() % 31)) | 1
    }
  }

  mutating func time() -> MediaTime { MediaTime(value: value(), timescale: timescale()) }
}

/// Integers of unlimited size with simple, slow algorithms: the reference for MediaCore's arithmetic.
struct BigInteger: Comparable {
  /// The limbs, 16 bits each, lowest first; empty for zero.
  private var limbs: [UInt32]
  private(set) var isNegative: Bool

  init<Number: BinaryInteger>(_ number: Number) {
    limbs = []
    isNegative = number < 0
    var rest = number.magnitude
    while rest > 0 {
      limbs.append(UInt32(truncatingIfNeeded: rest) & 0xFFFF)
      rest >>= 16
    }
  }

  private init(limbs: [UInt32], isNegative: Bool) {
    self.limbs = limbs
    while self.limbs.last == 0 { self.limbs.removeLast() }
    self.isNegative = isNegative && !self.limbs.isEmpty
  }

  var isZero: Bool { limbs.isEmpty }
  var magnitude: BigInteger { BigInteger(limbs: limbs, isNegative: false) }

  /// The number as an `Int64`; nil if it does not fit.
  var int64: Int64? {
    var result: Int64 = 0
    for limb in limbs.reversed() {
      let (product, isTooLarge) = result.multipliedReportingOverflow(by: 65_536)
      let (sum, overflows) = product.addingReportingOverflow(isNegative ? -Int64(limb) : Int64(limb))
      if isTooLarge || overflows { return nil }
      result = sum
    }
    return result
  }

  static prefix func - (number: BigInteger) -> BigInteger {
    BigInteger(limbs: number.limbs, isNegative: !number.isNegative)
  }

  static func + (left: BigInteger, right: BigInteger) -> BigInteger {
    guard left.isNegative == right.isNegative else {
      return left.magnitude < right.magnitude
        ? BigInteger(limbs: difference(right.limbs, left.limbs), isNegative: right.isNegative)
        : BigInteger(limbs: difference(left.limbs, right.limbs), isNegative: left.isNegative)
    }
    var sum: [UInt32] = []
    var carry: UInt32 = 0
    for index in 0...max(left.limbs.count, right.limbs.count) {
      let total = left.limb(index) + right.limb(index) + carry
      sum.append(total & 0xFFFF)
      carry = total >> 16
    }
    return BigInteger(limbs: sum, isNegative: left.isNegative)
  }

  static func - (left: BigInteger, right: BigInteger) -> BigInteger { left + -right }

  static func * (left: BigInteger, right: BigInteger) -> BigInteger {
    var product = [UInt32](repeating: 0, count: left.limbs.count + right.limbs.count + 1)
    for (i, first) in left.limbs.enumerated() {
      var carry: UInt32 = 0
      for (j, second) in (right.limbs + [0]).enumerated() {
        let total = product[i + j] + first * second + carry
        product[i + j] = total & 0xFFFF
        carry = total >> 16
      }
    }
    return BigInteger(limbs: product, isNegative: left.isNegative != right.isNegative)
  }

  /// Quotient toward zero and remainder of the magnitudes, by binary long division. Both are nonnegative.
  func dividedMagnitude(by divisor: BigInteger) -> (quotient: BigInteger, remainder: BigInteger) {
    let divisor = divisor.magnitude
    var quotient = [UInt32](repeating: 0, count: limbs.count)
    var remainder = BigInteger(0)
    for index in limbs.indices.reversed() {
      for bit in (0..<16).reversed() {
        remainder = remainder + remainder
        if limbs[index] >> bit & 1 == 1 { remainder = remainder + BigInteger(1) }
        if remainder >= divisor {
          remainder = remainder - divisor
          quotient[index] |= 1 << bit
        }
      }
    }
    return (BigInteger(limbs: quotient, isNegative: false), remainder)
  }

  static func < (left: BigInteger, right: BigInteger) -> Bool {
    guard left.isNegative == right.isNegative else { return left.isNegative }
    if left.isNegative { return right.magnitude < left.magnitude }
    guard left.limbs.count == right.limbs.count else { return left.limbs.count < right.limbs.count }
    for (first, second) in zip(left.limbs.reversed(), right.limbs.reversed()) where first != second {
      return first < second
    }
    return false
  }

  private func limb(_ index: Int) -> UInt32 { index < limbs.count ? limbs[index] : 0 }

  /// `larger - smaller`, both unsigned.
  private static func difference(_ larger: [UInt32], _ smaller: [UInt32]) -> [UInt32] {
    var result: [UInt32] = []
    var borrow: UInt32 = 0
    for index in larger.indices {
      let subtrahend = (index < smaller.count ? smaller[index] : 0) + borrow
      borrow = larger[index] < subtrahend ? 1 : 0
      result.append(larger[index] + (borrow << 16) - subtrahend)
    }
    return result
  }
}

/// A fraction of unlimited integers, with a plain implementation of CMTime's rules.
struct BigRational {
  var numerator: BigInteger
  var denominator: BigInteger

  init(_ numerator: BigInteger, _ denominator: BigInteger) {
    self.numerator = denominator.isNegative ? -numerator : numerator
    self.denominator = denominator.magnitude
  }

  init(_ time: MediaTime) { self.init(BigInteger(time.value), BigInteger(time.timescale)) }

  static func + (left: BigRational, right: BigRational) -> BigRational {
    BigRational(
      left.numerator * right.denominator + right.numerator * left.denominator, left.denominator * right.denominator)
  }

  static func - (left: BigRational, right: BigRational) -> BigRational {
    left + BigRational(-right.numerator, right.denominator)
  }

  static func * (left: BigRational, right: BigRational) -> BigRational {
    BigRational(left.numerator * right.numerator, left.denominator * right.denominator)
  }

  static func / (left: BigRational, right: BigRational) -> BigRational {
    left * BigRational(right.denominator, right.numerator)
  }

  func isEqual(to other: BigRational) -> Bool { compare(to: other) == 0 }

  /// Negative, zero or positive when this number is below, equal to or above `other`.
  func compare(to other: BigRational) -> Int {
    let (left, right) = (numerator * other.denominator, other.numerator * denominator)
    return left < right ? -1 : left == right ? 0 : 1
  }

  /// The number in units of `1 / scale`, rounded, and whether it is exact.
  func units(_ scale: Int64, _ method: MediaTime.RoundingMethod) -> (value: BigInteger, isExact: Bool) {
    let (quotient, remainder) = (numerator * BigInteger(scale)).dividedMagnitude(by: denominator)
    let isUp: Bool
    switch method {
    case .halfAwayFromZero: isUp = remainder + remainder >= denominator
    case .towardZero: isUp = false
    case .awayFromZero: isUp = true
    case .towardPositiveInfinity: isUp = !numerator.isNegative
    case .towardNegativeInfinity: isUp = numerator.isNegative
    case .quickTime: preconditionFailure("the caller resolves quickTime")
    }
    let magnitude = isUp && !remainder.isZero ? quotient + BigInteger(1) : quotient
    return (numerator.isNegative ? -magnitude : magnitude, remainder.isZero)
  }

  /// The time at `timescale`, which is halved while the value overflows; infinite when it overflows at 1.
  func time(at timescale: Int32) -> MediaTime {
    var scale = timescale
    while scale > 0 {
      let (units, isExact) = units(Int64(scale), .halfAwayFromZero)
      if let value = units.int64 {
        return MediaTime(value: value, timescale: scale, flags: isExact ? .valid : [.valid, .hasBeenRounded])
      }
      scale /= 2
    }
    return numerator.isNegative ? .negativeInfinity : .positiveInfinity
  }
}

extension MediaTime {
  /// Whether all four fields are equal, not only the instant.
  func isIdentical(to other: MediaTime) -> Bool {
    value == other.value && timescale == other.timescale && flags == other.flags && epoch == other.epoch
  }

  /// A short form of `init(value:timescale:)` for tables.
  init(_ value: Int64, _ timescale: Int32, epoch: Int64 = 0) {
    self.init(value: value, timescale: timescale, epoch: epoch)
  }

  /// A time with the rounding flag.
  static func rounded(_ value: Int64, _ timescale: Int32) -> MediaTime {
    MediaTime(value: value, timescale: timescale, flags: [.valid, .hasBeenRounded])
  }
}

/// One time of each kind, in ascending order.
let ascendingKinds: [MediaTime] = [
  .negativeInfinity, MediaTime(.min, 1), MediaTime(-1, 2), .zero, MediaTime(1, .max), MediaTime(1, 2),
  MediaTime(.max, 1),
  MediaTime(.min, 1, epoch: 1), MediaTime(1, 2, epoch: 1), MediaTime(-3, 1, epoch: 2),
  .indefinite, .positiveInfinity, .invalid,
]

/// Values and timescales at the limits of their types.
let extremeValues: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
let extremeTimescales: [Int32] = [.min, .min + 1, -1, 0, 1, 2, 3, 65_535, 65_536, .max - 1, .max]
