import PlayheadMediaCore
import Testing

/// Rates as exact numbers.
@Suite struct PlaybackRateTests {
  @Test(arguments: [1.0 / 32, 0.1, 0.5, 0.999999, 1, 1.1, 1.234567, 2, 31.999999, 32])
  func rateKeepsItsValue(_ value: Double) throws {
    #expect(try #require(PlaybackRate(value)).value == value)
    #expect(try #require(PlaybackRate(-value)).value == -value)
    #expect(try #require(PlaybackRate(-value)).magnitude == PlaybackRate(value))
  }

  @Test(arguments: [0, 0.031249, 32.000001, -0.031249, -32.000001, .nan, .infinity, -.infinity, 1e300, 1e-300])
  func unsupportedRatesAreNil(_ value: Double) {
    #expect(PlaybackRate(value) == nil)
  }

  @Test func millionthsOutOfRangeAreNil() {
    for millionths in [Int64.min, -32_000_001, 0, 31_249, 32_000_001, .max] {
      #expect(PlaybackRate(millionths: millionths) == nil)
    }
    #expect(PlaybackRate(millionths: 31_250)?.value == 1.0 / 32)
    #expect(PlaybackRate(millionths: -32_000_000)?.isReverse == true)
  }

  @Test func timesAdvanceByTheRateAndBack() throws {
    let rate = try #require(PlaybackRate(1.234567))
    let start = MediaTime(value: 1, timescale: 44_100)
    let later = MediaTime(start, advancedByFrames: 1_000_000, rate: 48_000, playbackRate: rate)
    #expect(abs(later.seconds - (1.0 / 44_100 + 1.234567 * 1_000_000 / 48_000)) < 1e-9)
    #expect(
      (later - start).frameCount(rate: 48_000, playbackRate: rate, rounding: .towardPositiveInfinity) == 1_000_000)
    let back = MediaTime(later, advancedByFrames: -1_000_000, rate: 48_000, playbackRate: rate)
    #expect(abs((back - start).seconds) < 1e-9)
    for time in [MediaTime.indefinite, .positiveInfinity, .invalid] {
      #expect(MediaTime(time, advancedByFrames: 5, rate: 48_000, playbackRate: rate) == time)
      #expect(time.frameCount(rate: 48_000, playbackRate: rate, rounding: .towardZero) == nil)
    }
  }
}
