import PlayheadMediaCore
import Testing

struct MediaTimeTests {
  @Test func constantsHaveTheFieldsOfCoreMedia() {
    let table: [(MediaTime, Int64, Int32, UInt32)] = [
      (.zero, 0, 1, 1), (.invalid, 0, 0, 0), (.positiveInfinity, 0, 0, 5), (.negativeInfinity, 0, 0, 9),
      (.indefinite, 0, 0, 17),
    ]
    for (time, value, timescale, flags) in table {
      #expect(time.value == value)
      #expect(time.timescale == timescale)
      #expect(time.flags.rawValue == flags)
      #expect(time.epoch == 0)
    }
    #expect(MediaTime.maxTimescale == 0x7FFF_FFFF)
    #expect(MediaTime.Flags.impliedValueFlagsMask.rawValue == 28)
  }

  @Test func initializerKeepsAllFields() {
    let time = MediaTime(value: -3, timescale: 4, flags: [.valid, .hasBeenRounded], epoch: 7)
    #expect((time.value, time.timescale, time.epoch) == (-3, 4, 7))
    #expect(time.flags == [.valid, .hasBeenRounded])
    #expect(time.isNumeric && time.hasBeenRounded)
  }

  @Test func secondsAreTheNearestNanoseconds() {
    let table: [(Double, MediaTime)] = [
      (0.5, MediaTime(500_000_000, 1_000_000_000)), (-1.25, MediaTime(-1_250_000_000, 1_000_000_000)),
      (0.1, MediaTime(100_000_000, 1_000_000_000)), (4.35, MediaTime(4_350_000_000, 1_000_000_000)),
      (0, MediaTime(0, 1_000_000_000)), (1.0 / 3, .rounded(333_333_333, 1_000_000_000)),
      (2e-10, .rounded(0, 1_000_000_000)), (1e10, MediaTime(5_000_000_000_000_000_000, 500_000_000)),
      (.nan, .invalid), (.infinity, .positiveInfinity), (-.infinity, .negativeInfinity), (1e300, .positiveInfinity),
    ]
    for (seconds, time) in table {
      print("\(seconds) s: \(MediaTime.seconds(seconds))")
      #expect(MediaTime.seconds(seconds).isIdentical(to: time), "\(seconds)")
    }
    #expect(MediaTime.seconds(-3).isIdentical(to: MediaTime(-3, 1)))
    #expect(MediaTime.seconds(Int.max).isIdentical(to: MediaTime(.max, 1)))
    #expect(MediaTime.milliseconds(40).isIdentical(to: MediaTime(40, 1_000)))
  }

  @Test func durationsConvertExactlyOrAreFlagged() {
    let table: [(Duration, MediaTime)] = [
      (.milliseconds(40), MediaTime(40_000_000, 1_000_000_000)), (.zero, MediaTime(0, 1_000_000_000)),
      (.nanoseconds(-1), MediaTime(-1, 1_000_000_000)), (.seconds(1) / 2, MediaTime(500_000_000, 1_000_000_000)),
      // Below a nanosecond.
      (Duration(attoseconds: 500_000_000), MediaTime(1, 2_000_000_000)),
      (Duration(attoseconds: 1), .rounded(0, .max)),
      // Above 292 years.
      (.seconds(10_000_000_000), MediaTime(5_000_000_000_000_000_000, 500_000_000)),
      (.seconds(Int64.max), MediaTime(.max, 1)), (.seconds(Int64.min), MediaTime(.min, 1)),
    ]
    for (duration, time) in table {
      print("\(duration): \(MediaTime(duration))")
      #expect(MediaTime(duration).isIdentical(to: time), "\(duration): \(MediaTime(duration))")
    }
    let times: [(MediaTime, Duration?)] = [
      (MediaTime(1, 4), .milliseconds(250)), (MediaTime(-1, 3), Duration(attoseconds: -333_333_333_333_333_333)),
      (MediaTime(2, 3), Duration(attoseconds: 666_666_666_666_666_667)), (MediaTime(.max, 1), .seconds(Int64.max)),
      (MediaTime(.min, 1), .seconds(Int64.min)), (.zero, .zero), (.invalid, nil), (.indefinite, nil),
      (.positiveInfinity, nil), (.negativeInfinity, nil),
    ]
    for (time, duration) in times {
      print("\(time): \(duration.map { "\($0)" } ?? "nil")")
      #expect(Duration(time) == duration, "\(time)")
    }
  }

  @Test func timescaleOfZeroOrLessIsInvalid() {
    for timescale: Int32 in [0, -1, .min] {
      let time = MediaTime(value: 1, timescale: timescale)
      #expect(time.isIdentical(to: .invalid))
    }
    #expect(!MediaTime(value: 1, timescale: 1, flags: []).isValid)
    #expect(!MediaTime(value: 1, timescale: 1, flags: [.positiveInfinity]).isValid)
  }

  @Test func flagsOfSpecialValuesOverrideTheNumber() {
    #expect(
      MediaTime(value: 9, timescale: 0, flags: [.valid, .positiveInfinity], epoch: 3).isIdentical(to: .positiveInfinity)
    )
    #expect(MediaTime(value: 9, timescale: 9, flags: [.valid, .negativeInfinity]).isIdentical(to: .negativeInfinity))
    #expect(MediaTime(value: 9, timescale: -9, flags: [.valid, .indefinite]).isIdentical(to: .indefinite))
  }

  @Test func predicatesDistinguishTheKinds() {
    func kinds(_ time: MediaTime) -> [Bool] {
      [
        time.isValid, time.isNumeric, time.isIndefinite, time.isPositiveInfinity, time.isNegativeInfinity,
        time.isInfinite,
      ]
    }
    #expect(kinds(.zero) == [true, true, false, false, false, false])
    #expect(kinds(.invalid) == [false, false, false, false, false, false])
    #expect(kinds(.indefinite) == [true, false, true, false, false, false])
    #expect(kinds(.positiveInfinity) == [true, false, false, true, false, true])
    #expect(kinds(.negativeInfinity) == [true, false, false, false, true, true])
  }

  @Test func secondsOfSpecialValuesAreInfiniteOrNaN() {
    #expect(MediaTime.invalid.seconds.isNaN)
    #expect(MediaTime.indefinite.seconds.isNaN)
    #expect(MediaTime.positiveInfinity.seconds == .infinity)
    #expect(MediaTime.negativeInfinity.seconds == -.infinity)
    #expect(MediaTime(-5, 4).seconds == -1.25)
  }

  @Test("statement 50: MakeWithSeconds(0.1, 3) is 0, flagged as rounded")
  func coarseTimescaleRoundsSecondsAndSetsTheFlag() {
    #expect(MediaTime(seconds: 0.1, preferredTimescale: 3).isIdentical(to: .rounded(0, 3)))
  }

  @Test func secondsAreRoundedTowardZero() {
    let table: [(Double, Int32, MediaTime)] = [
      (1.25, 4, MediaTime(5, 4)), (0.3, 10, MediaTime(3, 10)), (83.5, 44_100, MediaTime(3_682_350, 44_100)),
      (0.5, 1, .rounded(0, 1)), (-0.5, 1, .rounded(0, 1)), (1.9, 1, .rounded(1, 1)), (-1.9, 1, .rounded(-1, 1)),
      (1.0 / 3, 600, MediaTime(200, 600)), (-0.0, 600, MediaTime(0, 600)),
      (.leastNonzeroMagnitude, .max, .rounded(0, .max)),
      (.nan, 600, .rounded(0, 600)), (.infinity, 600, .positiveInfinity), (-.infinity, 600, .negativeInfinity),
      (1, 0, .invalid), (1, -1, .invalid), (.nan, 0, .invalid), (1, .min, .invalid),
    ]
    for (seconds, timescale, expected) in table {
      let time = MediaTime(seconds: seconds, preferredTimescale: timescale)
      #expect(time.isIdentical(to: expected), "\(seconds) at \(timescale): \(time)")
    }
  }

  @Test func secondsThatOverflowHalveTheTimescale() {
    // 2^40 s: 2^40 · (2^31 - 1) does not fit in an Int64. Half that timescale, 2^30 - 1, is still too large, and so on
    // down to 2^23 - 1.
    let time = MediaTime(seconds: 0x1p40, preferredTimescale: .max)
    #expect(time.isIdentical(to: MediaTime((1 << 40) * ((1 << 23) - 1), (1 << 23) - 1)))
    #expect(MediaTime(seconds: 0x1p62, preferredTimescale: 600).isIdentical(to: MediaTime(1 << 62, 1)))
    #expect(MediaTime(seconds: -0x1p63, preferredTimescale: 600).isIdentical(to: MediaTime(.min, 1)))
    #expect(MediaTime(seconds: 0x1p63, preferredTimescale: 600) == .positiveInfinity)
    #expect(MediaTime(seconds: -1e300, preferredTimescale: 600) == .negativeInfinity)
    #expect(MediaTime(seconds: .greatestFiniteMagnitude, preferredTimescale: .max) == .positiveInfinity)
  }

  // MARK: - Frames

  @Test func timeOfAFrameIsExactIfRepresentable() {
    #expect(MediaTime(frame: 3_682_350, rate: 44_100).isIdentical(to: MediaTime(3_682_350, 44_100)))
    #expect(MediaTime(frame: .min, rate: 1).isIdentical(to: MediaTime(.min, 1)))
    #expect(MediaTime(frame: 1, rate: 0) == .invalid)
    #expect(MediaTime(frame: 1, rate: .min) == .invalid)
    #expect(MediaTime(frame: 1 << 40, rate: 1 << 41).isIdentical(to: MediaTime(1, 2)))
    #expect(MediaTime(frame: 1, rate: .max).isIdentical(to: .rounded(0, .max)))
    #expect(MediaTime(frame: .max, rate: .max) == MediaTime(1, 1))
    #expect(MediaTime(frame: .min, rate: .max).hasBeenRounded)
  }

  @Test func frameIndexUsesTheRequestedRounding() {
    let time = MediaTime(1, 3)  // 14,700 frames at 44,100; 16,000 at 48,000; 7,333.3 at 22,000
    #expect(time.frameIndex(rate: 44_100, rounding: .towardZero) == 14_700)
    #expect(time.frameIndex(rate: 22_000, rounding: .halfAwayFromZero) == 7_333)
    #expect(time.frameIndex(rate: 22_000, rounding: .awayFromZero) == 7_334)
    #expect((-time).frameIndex(rate: 22_000, rounding: .towardNegativeInfinity) == -7_334)
    #expect(time.frameIndex(rate: 22_000, rounding: .quickTime) == 7_334)
    #expect(MediaTime(5, 48_000).frameIndex(rate: 48_000, rounding: .towardZero) == 5)
  }

  @Test func frameIndexIsNilIfNotRepresentable() {
    for time: MediaTime in [.invalid, .indefinite, .positiveInfinity, .negativeInfinity, MediaTime(.max, 1)] {
      #expect(time.frameIndex(rate: 48_000, rounding: .halfAwayFromZero) == nil)
    }
    #expect(MediaTime.zero.frameIndex(rate: 0, rounding: .towardZero) == nil)
    #expect(MediaTime.zero.frameIndex(rate: -1, rounding: .towardZero) == nil)
    #expect(MediaTime(.max, .max).frameIndex(rate: .max, rounding: .towardZero) == nil)
    #expect(MediaTime(1, 1).frameIndex(rate: .max, rounding: .towardZero) == .max)
  }

  @Test func frameIndexRoundTripsThroughTime() {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<500 {
      let rate = Int(generator.next() % 768_000) + 1
      let frame = generator.value()
      #expect(MediaTime(frame: frame, rate: rate).frameIndex(rate: rate, rounding: .towardZero) == frame)
    }
  }
}
