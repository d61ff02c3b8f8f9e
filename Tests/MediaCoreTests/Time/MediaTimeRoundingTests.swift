import PlayheadMediaCore
import Testing

struct MediaTimeRoundingTests {
  /// A value at timescale 10, and its results at timescale 1 with the six methods, in the order of their raw values.
  static let tenths: [(Int64, [Int64])] = [
    (0, [0, 0, 0, 0, 0, 0]), (10, [1, 1, 1, 1, 1, 1]), (-10, [-1, -1, -1, -1, -1, -1]),
    (14, [1, 1, 2, 1, 2, 1]), (15, [2, 1, 2, 1, 2, 1]), (16, [2, 1, 2, 1, 2, 1]),
    (-14, [-1, -1, -2, -1, -1, -2]), (-15, [-2, -1, -2, -1, -1, -2]), (-16, [-2, -1, -2, -1, -1, -2]),
    (4, [0, 0, 1, 0, 1, 0]), (5, [1, 0, 1, 0, 1, 0]), (-4, [0, 0, -1, -1, 0, -1]), (-5, [-1, 0, -1, -1, 0, -1]),
  ]

  @Test(arguments: tenths) func methodsRoundAsNamed(value: Int64, expected: [Int64]) {
    for method in MediaTime.RoundingMethod.allCases {
      let time = MediaTime(value, 10).convertScale(1, method: method)
      let wanted = expected[Int(method.rawValue) - 1]
      #expect(time.value == wanted, "\(value)/10 by \(method)")
      #expect(time.timescale == 1)
      #expect(time.hasBeenRounded == (value % 10 != 0))
    }
  }

  @Test func rawValuesAreThoseOfCoreMedia() {
    #expect(MediaTime.RoundingMethod.allCases.map(\.rawValue) == [1, 2, 3, 4, 5, 6])
    #expect(MediaTime.RoundingMethod(rawValue: 4) == .quickTime)
    #expect(MediaTime.RoundingMethod(rawValue: 7) == nil)
  }

  @Test("statement 49: by QuickTime's method -1/600 becomes -1/30, and +1/600 becomes 0/30")
  func quickTimeNeverRoundsANegativeTimeToZero() {
    #expect(MediaTime(-1, 600).convertScale(30, method: .quickTime).isIdentical(to: .rounded(-1, 30)))
    #expect(MediaTime(1, 600).convertScale(30, method: .quickTime).isIdentical(to: .rounded(0, 30)))
  }

  @Test func quickTimeRoundsTowardZeroToCoarserAndAwayToFinerScales() {
    let table: [(MediaTime, Int32, Int64)] = [
      (MediaTime(1, 2), 1, 0), (MediaTime(-1, 2), 1, -1), (MediaTime(1, 2), 3, 2), (MediaTime(-1, 2), 3, -2),
      (MediaTime(5, 3), 2, 3), (MediaTime(-50, 600), 30, -2), (MediaTime(-3, 2), 1, -1), (MediaTime(0, 600), 30, 0),
    ]
    for (time, scale, expected) in table {
      #expect(time.convertScale(scale, method: .quickTime).value == expected, "\(time) to \(scale)")
    }
  }

  @Test func conversionKeepsEpochAndFlag() {
    let time = MediaTime(value: 3, timescale: 2, flags: [.valid, .hasBeenRounded], epoch: 4).convertScale(4)
    #expect(time.isIdentical(to: MediaTime(value: 6, timescale: 4, flags: [.valid, .hasBeenRounded], epoch: 4)))
    #expect(!MediaTime(3, 2).convertScale(4).hasBeenRounded)
    #expect(MediaTime(1, 3).convertScale(3).isIdentical(to: MediaTime(1, 3)))
  }

  @Test func conversionKeepsSpecialValuesAndRejectsInvalidTimescales() {
    for time: MediaTime in [.invalid, .indefinite, .positiveInfinity, .negativeInfinity] {
      for method in MediaTime.RoundingMethod.allCases {
        #expect(time.convertScale(600, method: method).isIdentical(to: time))
      }
    }
    for scale: Int32 in [0, -1, .min] { #expect(MediaTime(1, 2).convertScale(scale) == .invalid) }
  }

  @Test func conversionThatOverflowsIsInfinite() {
    #expect(MediaTime(.max, 1).convertScale(2) == .positiveInfinity)
    #expect(MediaTime(.min, 1).convertScale(.max) == .negativeInfinity)
    #expect(MediaTime(.max, 2).convertScale(1, method: .awayFromZero) == MediaTime(.max / 2 + 1, 1))
    #expect(MediaTime(.min, 2).convertScale(2).isIdentical(to: MediaTime(.min, 2)))
  }

  @Test func conversionAgreesWithUnlimitedArithmetic() {
    var generator = SeededGenerator(seed: 4)
    for _ in 0..<600 {
      let time = generator.time()
      let scale = generator.timescale()
      for method in MediaTime.RoundingMethod.allCases {
        let result = time.convertScale(scale, method: method)
        var plain = method
        if method == .quickTime { plain = scale < time.timescale ? .towardZero : .awayFromZero }
        let (units, isExact) = BigRational(time).units(Int64(scale), plain)
        guard var value = units.int64 else {
          #expect(result == (time.value < 0 ? .negativeInfinity : .positiveInfinity))
          continue
        }
        if method == .quickTime, value == 0, time.value < 0 { value = -1 }
        let expected = isExact ? MediaTime(value, scale) : .rounded(value, scale)
        #expect(result.isIdentical(to: expected), "\(time) to \(scale) by \(method)")
        #expect(time.frameIndex(rate: Int(scale), rounding: method) == value)
      }
    }
  }
}
