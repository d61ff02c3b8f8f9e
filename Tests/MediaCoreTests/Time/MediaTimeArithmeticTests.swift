import PlayheadMediaCore
import Testing

struct MediaTimeArithmeticTests {
  // MARK: - Sums

  @Test("statement 48: 1/3 + 1/2 = 5/6; +inf - inf is invalid")
  func fractionsAddExactlyAndInfinityMinusInfinityIsInvalid() {
    #expect((MediaTime(1, 3) + MediaTime(1, 2)).isIdentical(to: MediaTime(5, 6)))
    #expect((MediaTime.positiveInfinity - .positiveInfinity).isIdentical(to: .invalid))
    #expect((MediaTime.positiveInfinity + .negativeInfinity).isIdentical(to: .invalid))
  }

  @Test func sumsUseTheLeastCommonMultipleAsTimescale() {
    let table: [(MediaTime, MediaTime, MediaTime, MediaTime)] = [
      (MediaTime(1, 2), MediaTime(1, 2), MediaTime(2, 2), MediaTime(0, 2)),
      (MediaTime(1, 4), MediaTime(1, 6), MediaTime(5, 12), MediaTime(1, 12)),
      (MediaTime(1, 600), MediaTime(1, 44_100), MediaTime(149, 88_200), MediaTime(145, 88_200)),
      (MediaTime(-7, 1), MediaTime(1, 2), MediaTime(-13, 2), MediaTime(-15, 2)),
      (.rounded(1, 2), MediaTime(1, 2), .rounded(2, 2), .rounded(0, 2)),
      (MediaTime(1, 2), .rounded(1, 3), .rounded(5, 6), .rounded(1, 6)),
    ]
    for (left, right, sum, difference) in table {
      #expect((left + right).isIdentical(to: sum), "\(left) + \(right)")
      #expect((left - right).isIdentical(to: difference), "\(left) - \(right)")
      var assigned = left
      assigned += right
      #expect(assigned.isIdentical(to: sum))
      assigned = left
      assigned -= right
      #expect(assigned.isIdentical(to: difference))
    }
  }

  @Test func tooLargeMultipleUsesTheLargestTimescale() {
    // 65,537 · 65,539 is above 2^31 - 1. The sum is 131,076 / 4,295,229,443, which is 65,534.0000.. in units of 1 /
    // (2^31 - 1).
    let sum = MediaTime(1, 65_537) + MediaTime(1, 65_539)
    #expect(sum.isIdentical(to: .rounded(65_534, .max)))
    #expect((MediaTime(0, 65_537) + MediaTime(0, 65_539)).isIdentical(to: MediaTime(0, .max)))
  }

  @Test func overflowHalvesTheTimescaleDownToInfinity() {
    // Integer halves of 3 and of 2 are 1, the first timescale at which the sum fits.
    #expect((MediaTime(.max, 2) + MediaTime(.max, 2)).isIdentical(to: MediaTime(.max, 1)))
    #expect((MediaTime(.max, 3) + MediaTime(1, 3)).isIdentical(to: .rounded(3_074_457_345_618_258_603, 1)))
    #expect((MediaTime(.max, 4) + MediaTime(.max - 1, 4)).isIdentical(to: .rounded(.max, 2)))
    #expect((MediaTime(.max, 1) + MediaTime(1, 1)).isIdentical(to: .positiveInfinity))
    #expect((MediaTime(.min, 1) - MediaTime(1, 1)).isIdentical(to: .negativeInfinity))
    #expect((MediaTime(.min, 1) + MediaTime(.min, 1)).isIdentical(to: .negativeInfinity))
    #expect((MediaTime(.max, 1) - MediaTime(.min, 1)).isIdentical(to: .positiveInfinity))
    #expect((MediaTime(.max, 1) + MediaTime(.min, 1)).isIdentical(to: MediaTime(-1, 1)))
    // At 2^63 - 1 seconds a half cannot be represented, and rounding up overflows.
    #expect((MediaTime(.max, 1) + MediaTime(1, 2)).isIdentical(to: .positiveInfinity))
    #expect((MediaTime(.max, 1) + MediaTime(1, 3)).isIdentical(to: .rounded(.max, 1)))
    #expect((MediaTime(.max, 1) + MediaTime(1, .max)).isIdentical(to: .rounded(.max, 1)))
  }

  @Test func sumsOfSpecialValuesAreSpecialOrInvalid() {
    let (inf, minus, unknown, bad) = (
      MediaTime.positiveInfinity, MediaTime.negativeInfinity, MediaTime.indefinite, MediaTime.invalid
    )
    let one = MediaTime(1, 1)
    let table: [(MediaTime, MediaTime, MediaTime, MediaTime)] = [
      (inf, one, inf, inf), (minus, one, minus, minus), (one, inf, inf, minus), (one, minus, minus, inf),
      (inf, inf, inf, bad), (minus, minus, minus, bad), (inf, minus, bad, inf), (minus, inf, bad, minus),
      (unknown, one, unknown, unknown), (one, unknown, unknown, unknown), (unknown, unknown, unknown, unknown),
      (inf, unknown, inf, inf), (unknown, inf, inf, minus), (minus, unknown, minus, minus),
      (unknown, minus, minus, inf),
      (bad, one, bad, bad), (one, bad, bad, bad), (bad, inf, bad, bad), (inf, bad, bad, bad), (unknown, bad, bad, bad),
      (bad, bad, bad, bad),
    ]
    for (left, right, sum, difference) in table {
      #expect((left + right).isIdentical(to: sum), "\(left) + \(right)")
      #expect((left - right).isIdentical(to: difference), "\(left) - \(right)")
    }
  }

  @Test func sumsKeepTheEpochAndRejectDifferentEpochs() {
    let duration = MediaTime(1, 1)
    let third = MediaTime(2, 1, epoch: 3)
    let alsoThird = MediaTime(4, 2, epoch: 3)
    let fourth = MediaTime(4, 1, epoch: 4)
    #expect((third + duration).isIdentical(to: MediaTime(3, 1, epoch: 3)))
    #expect((duration + third).isIdentical(to: MediaTime(3, 1, epoch: 3)))
    #expect((third - duration).isIdentical(to: MediaTime(1, 1, epoch: 3)))
    #expect((third - alsoThird).isIdentical(to: MediaTime(0, 2)))
    #expect((third + alsoThird).isIdentical(to: MediaTime(8, 2)))
    #expect((third + third).isIdentical(to: MediaTime(4, 1)))
    #expect((third + fourth).isIdentical(to: .invalid))
    #expect((third - fourth).isIdentical(to: .invalid))
    #expect((third + .positiveInfinity).isIdentical(to: .positiveInfinity))
    #expect((-third).isIdentical(to: MediaTime(-2, 1, epoch: 3)))
  }

  @Test func sumsAgreeWithUnlimitedArithmetic() {
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<600 {
      let (left, right) = (generator.time(), generator.time())
      let multiple = BigInteger(left.timescale) * BigInteger(right.timescale)
      let shared = BigInteger(gcd(left.timescale, right.timescale))
      let scale = multiple.dividedMagnitude(by: shared).quotient.int64.flatMap { Int32(exactly: $0) } ?? .max
      let sum = (BigRational(left) + BigRational(right)).time(at: scale)
      #expect((left + right).isIdentical(to: sum), "\(left) + \(right) = \(sum)")
      let difference = (BigRational(left) - BigRational(right)).time(at: scale)
      #expect((left - right).isIdentical(to: difference), "\(left) - \(right) = \(difference)")
      #expect((right + left).isIdentical(to: left + right))
    }
  }

  private func gcd(_ first: Int32, _ second: Int32) -> Int32 { second == 0 ? first : gcd(second, first % second) }

  // MARK: - Signs

  @Test func negationAndAbsoluteValueHandleEveryKind() {
    let table: [(MediaTime, MediaTime, MediaTime)] = [
      (MediaTime(3, 2), MediaTime(-3, 2), MediaTime(3, 2)), (MediaTime(-3, 2), MediaTime(3, 2), MediaTime(3, 2)),
      (.zero, .zero, .zero), (.rounded(-1, 2), .rounded(1, 2), .rounded(1, 2)),
      (MediaTime(-1, 2, epoch: 1), MediaTime(1, 2, epoch: 1), MediaTime(1, 2, epoch: 1)),
      (.positiveInfinity, .negativeInfinity, .positiveInfinity),
      (.negativeInfinity, .positiveInfinity, .positiveInfinity),
      (.indefinite, .indefinite, .indefinite), (.invalid, .invalid, .invalid),
      (MediaTime(.min, 1), .positiveInfinity, .positiveInfinity),
      (MediaTime(.min, 2), MediaTime(1 << 62, 1), MediaTime(1 << 62, 1)),
      (MediaTime(.max, 2), MediaTime(-.max, 2), MediaTime(.max, 2)),
    ]
    for (time, negated, absolute) in table {
      #expect((-time).isIdentical(to: negated), "-(\(time))")
      #expect(time.absoluteValue.isIdentical(to: absolute), "|\(time)|")
    }
  }

  // MARK: - Products

  @Test func productsWithIntegersKeepTheTimescale() {
    #expect(MediaTime(3, 2).multiplied(by: 4).isIdentical(to: MediaTime(12, 2)))
    #expect(MediaTime(3, 2, epoch: 1).multiplied(by: 0).isIdentical(to: MediaTime(0, 2, epoch: 1)))
    #expect(MediaTime(.max, 4).multiplied(by: 2).isIdentical(to: MediaTime(.max, 2)))
    #expect(MediaTime(.max, 1).multiplied(by: 2) == .positiveInfinity)
    #expect(MediaTime(.min, 1).multiplied(by: 2) == .negativeInfinity)
    #expect(MediaTime(.min, .max).multiplied(by: .min) == MediaTime(.min, .max).multiplied(by: .min))
    #expect(MediaTime.positiveInfinity.multiplied(by: -2) == .negativeInfinity)
    #expect(MediaTime.negativeInfinity.multiplied(by: -2) == .positiveInfinity)
    #expect(MediaTime.positiveInfinity.multiplied(by: 0) == .positiveInfinity)
    #expect(MediaTime.indefinite.multiplied(by: -2) == .indefinite)
    #expect(MediaTime.invalid.multiplied(by: -2) == .invalid)
  }

  @Test func productsWithFractionsAreExactIfRepresentable() {
    let table: [(MediaTime, Int32, Int32, MediaTime)] = [
      (MediaTime(3, 2), 1, 3, MediaTime(3, 6)), (MediaTime(1, 2), 2, 3, MediaTime(2, 6)),
      (MediaTime(1, 2), -2, 3, MediaTime(-2, 6)), (MediaTime(1, 2), 2, -3, MediaTime(-2, 6)),
      (MediaTime(-1, 2), -2, -3, MediaTime(-2, 6)),
      // 44,100 · 88,200 is not a valid timescale, but the reduced denominator is.
      (MediaTime(88_200, 44_100), 1, 88_200, MediaTime(1, 44_100)),
      (MediaTime(1, .max), 1, 2, .rounded(1, .max)), (MediaTime(1, .max), 1, 3, .rounded(0, .max)),
      (MediaTime(.max, 1), 2, 2, MediaTime(.max, 1)), (MediaTime(.min, .max), .min, .min, MediaTime(.min, .max)),
      (MediaTime(.max, 1), .max, 1, .positiveInfinity), (MediaTime(.max, 1), .min, 1, .negativeInfinity),
      (MediaTime(1, 1), 1, 0, .positiveInfinity), (MediaTime(-1, 1), 1, 0, .negativeInfinity),
      (.zero, 1, 0, .invalid), (MediaTime(1, 1), 0, 0, .invalid),
      (.positiveInfinity, -1, 2, .negativeInfinity), (.positiveInfinity, -1, -2, .positiveInfinity),
      (.indefinite, -1, 2, .indefinite), (.invalid, 1, 2, .invalid), (.rounded(1, 2), 1, 2, .rounded(1, 4)),
    ]
    for (time, multiplier, divisor, expected) in table {
      let result = time.multiplied(by: multiplier, dividedBy: divisor)
      #expect(result.isIdentical(to: expected), "\(time) · \(multiplier) / \(divisor) = \(result)")
    }
  }

  @Test func productsWithDoublesUseAFineTimescale() {
    #expect(MediaTime(3, 2).multiplied(by: 2.0).isIdentical(to: MediaTime(196_608, 65_536)))
    #expect(MediaTime(1, 44_100).multiplied(by: 1.5).isIdentical(to: MediaTime(3, 88_200)))
    #expect(MediaTime(1, 90_000).multiplied(by: 0.5).isIdentical(to: .rounded(1, 90_000)))
    #expect(MediaTime(10, 1).multiplied(by: 0.3).isIdentical(to: .rounded(196_608, 65_536)))
    #expect(MediaTime(0, 1).multiplied(by: 1e300).isIdentical(to: MediaTime(0, 65_536)))
    #expect(MediaTime(1, 65_536).multiplied(by: .leastNonzeroMagnitude).isIdentical(to: .rounded(0, 65_536)))
    #expect(MediaTime(1, 1).multiplied(by: 0x1p62).isIdentical(to: MediaTime(1 << 62, 1)))
    #expect(MediaTime(1, 1).multiplied(by: 0x1p63) == .positiveInfinity)
    #expect(MediaTime(1, 1).multiplied(by: -0x1p63).isIdentical(to: MediaTime(.min, 1)))
    #expect(MediaTime(-1, 1).multiplied(by: .greatestFiniteMagnitude) == .negativeInfinity)
    #expect(MediaTime(1, 1, epoch: 2).multiplied(by: 1.0).epoch == 2)
  }

  @Test func productsOfSpecialValuesWithDoublesAreSpecialOrInvalid() {
    #expect(MediaTime(1, 1).multiplied(by: .nan) == .invalid)
    #expect(MediaTime(1, 1).multiplied(by: -.infinity) == .negativeInfinity)
    #expect(MediaTime(-1, 1).multiplied(by: -.infinity) == .positiveInfinity)
    #expect(MediaTime.zero.multiplied(by: .infinity) == .invalid)
    #expect(MediaTime.positiveInfinity.multiplied(by: -0.5) == .negativeInfinity)
    #expect(MediaTime.negativeInfinity.multiplied(by: 0.5) == .negativeInfinity)
    #expect(MediaTime.indefinite.multiplied(by: 0.5) == .indefinite)
    #expect(MediaTime.invalid.multiplied(by: 0.5) == .invalid)
  }

  @Test func productsAgreeWithUnlimitedArithmetic() {
    var generator = SeededGenerator(seed: 6)
    for _ in 0..<500 {
      let time = generator.time()
      let multiplier = Int32(truncatingIfNeeded: generator.value())
      let product = BigRational(time) * BigRational(BigInteger(multiplier), BigInteger(1))
      #expect(time.multiplied(by: multiplier).isIdentical(to: product.time(at: time.timescale)))

      let divisor = Int32(truncatingIfNeeded: generator.value())
      guard divisor != 0 else { continue }
      let ratio = product / BigRational(BigInteger(divisor), BigInteger(1))
      let result = time.multiplied(by: multiplier, dividedBy: divisor)
      guard result.isNumeric else {
        #expect(ratio.units(1, .halfAwayFromZero).value.int64 == nil)
        continue
      }
      #expect(BigRational(result).isEqual(to: ratio) != result.hasBeenRounded, "\(time) · \(multiplier) / \(divisor)")
      #expect(result.value == ratio.units(Int64(result.timescale), .halfAwayFromZero).value.int64)
    }
  }

  @Test func productsWithDoublesAgreeWithUnlimitedArithmetic() {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<500 {
      let time = generator.time()
      let significand = Int64(bitPattern: generator.next()) >> 11
      let power = Int(generator.next() % 280) - 190
      let multiplier = Double(significand) * Double(sign: .plus, exponent: power, significand: 1)
      var factor = BigRational(BigInteger(significand), BigInteger(1))
      let two = BigRational(BigInteger(2), BigInteger(1))
      for _ in 0..<abs(power) { factor = power > 0 ? factor * two : factor / two }
      var timescale = time.timescale
      while timescale < 65_536 { timescale *= 2 }
      let expected = (BigRational(time) * factor).time(at: timescale)
      let result = time.multiplied(by: multiplier)
      #expect(result.isIdentical(to: expected), "\(time) · \(multiplier) = \(result), not \(expected)")
    }
  }

  // MARK: - Extremes

  @Test func extremeValuesDoNotTrap() {
    var times = ascendingKinds
    for value in extremeValues {
      for timescale in extremeTimescales where timescale > 0 || value == .min {
        times.append(MediaTime(value, timescale))
      }
      for epoch: Int64 in [.min, .max] { times.append(MediaTime(value, .max, epoch: epoch)) }
    }
    for time in times {
      for timescale in extremeTimescales {
        for method in MediaTime.RoundingMethod.allCases {
          #expect(time.convertScale(timescale, method: method).isValid == (timescale > 0 && time.isValid))
          _ = time.frameIndex(rate: Int(timescale), rounding: method)
          _ = time.frameIndex(rate: .max, rounding: method)
        }
        for other in extremeTimescales {
          _ = time.multiplied(by: timescale, dividedBy: other)
        }
        _ = time.multiplied(by: timescale)
      }
      for factor: Double in [
        0, -0.0, .leastNonzeroMagnitude, -.greatestFiniteMagnitude, .pi, .nan, .infinity, 0x1p-96, 0x1p-97,
      ] {
        _ = time.multiplied(by: factor)
        _ = MediaTime(seconds: factor, preferredTimescale: max(time.timescale, 1))
      }
      for other in times {
        let sum = time + other
        #expect((other + time).isIdentical(to: sum))
        #expect(sum.isValid || !(time - other).isValid || !time.isNumeric || !other.isNumeric)
        #expect([time < other, time == other, time > other].filter { $0 }.count == 1)
      }
      #expect((-time).isValid == time.isValid)
      #expect(time.absoluteValue.isValid == time.isValid)
      #expect(!time.description.isEmpty && !time.decimalDescription.isEmpty)
      #expect(time == time && time.hashValue == time.hashValue)
    }
  }
}
