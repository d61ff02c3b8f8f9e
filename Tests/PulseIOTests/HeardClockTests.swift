import Glibc
import PlayheadMediaCore
import Testing

@testable import PlayheadPulseIO

@Suite("HeardClock")
struct HeardClockTests {
  private func time(milliseconds: Double) -> HostTime {
    HostTime(nanoseconds: Int64(milliseconds * 1_000_000))
  }

  @Test("the first timing starts the clock at the nominal rate")
  func firstTimingStartsTheClockAtTheNominalRate() {
    var clock = HeardClock(sampleRateHz: 48_000)
    #expect(clock.heardFrame(at: time(milliseconds: 0)) == nil)
    #expect(clock.publishedPoint() == nil)
    let isNew = clock.observe(frame: 480, at: time(milliseconds: 100))
    #expect(isNew)
    #expect(clock.heardFrame(at: time(milliseconds: 200)).map { $0.rounded() } == 5_280)
    #expect(clock.hostTime(ofFrame: 960) == time(milliseconds: 110))
  }

  @Test("a published point is a whole frame and the time at which it is heard")
  func publishedPointIsAWholeFrameAndItsHeardTime() {
    var clock = HeardClock(sampleRateHz: 48_000)
    _ = clock.observe(frame: 100.5, at: HostTime(nanoseconds: 1_000_000))
    let point = clock.publishedPoint()
    #expect(point?.frame == 100)
    #expect(point?.hostTime == HostTime(nanoseconds: 1_000_000 - 10_417))
  }

  @Test("a drift of 100 ppm is followed within 0.2 ms")
  func driftOf100PPMIsFollowedWithinAFifthOfAMillisecond() {
    var clock = HeardClock(sampleRateHz: 48_000)
    for step in 0..<1_000 {
      let milliseconds = Double(step) * 150
      let frame = milliseconds * 48 * 1.0001
      if let expected = clock.heardFrame(at: time(milliseconds: milliseconds)) {
        #expect(abs(expected - frame) < 0.0002 * 48_000)
      }
      _ = clock.observe(frame: frame, at: time(milliseconds: milliseconds))
    }
  }

  @Test("one late reply moves the clock by less than a third of a millisecond")
  func oneLateReplyMovesTheClockByLessThanAThirdMillisecond() throws {
    var clock = HeardClock(sampleRateHz: 48_000)
    for step in 0..<20 {
      _ = clock.observe(frame: Double(step) * 4_800, at: time(milliseconds: Double(step) * 100))
    }
    for error in [2.9, 40, -40, -2.9] {
      var disturbed = clock
      let isNew = disturbed.observe(frame: 96_000 + error * 48, at: time(milliseconds: 2_000))
      #expect(!isNew)
      let frame = try #require(disturbed.heardFrame(at: time(milliseconds: 2_000)))
      #expect(abs(frame - 96_000) <= 0.0003 * 48_000)
    }
  }

  @Test("a jump that three timings agree on is followed")
  func jumpConfirmedByThreeTimingsIsFollowed() {
    var clock = HeardClock(sampleRateHz: 48_000)
    _ = clock.observe(frame: 0, at: time(milliseconds: 0))
    let areNew = [(9_600.0, 100.0), (14_400, 200), (19_200, 300)].map { frame, milliseconds in
      clock.observe(frame: frame, at: time(milliseconds: milliseconds))
    }
    #expect(areNew == [false, false, true])
    #expect(clock.heardFrame(at: time(milliseconds: 300)).map { $0.rounded() } == 19_200)
  }

  @Test("wall-clock times become monotonic; impossible ones map to the middle of the query")
  func wallClockTimesBecomeMonotonicAndImpossibleOnesMapToTheMiddle() {
    let queried = HostTime(nanoseconds: 5_000_000)
    let now = HostTime(nanoseconds: 5_400_000)
    let wall = timeval(tv_sec: 1_000, tv_usec: 100)
    func converted(_ timestamp: timeval) -> HostTime {
      MonotonicClock.hostTime(ofWallClock: timestamp, wallNow: wall, now: now, notBefore: queried)
    }
    #expect(converted(timeval(tv_sec: 999, tv_usec: 999_900)) == HostTime(nanoseconds: 5_200_000))
    #expect(converted(wall) == now)
    #expect(converted(timeval(tv_sec: 1_000, tv_usec: 101)) == now)
    let middle = HostTime(nanoseconds: 5_200_000)
    #expect(converted(timeval(tv_sec: 900, tv_usec: 0)) == middle)
    #expect(converted(timeval(tv_sec: 1_100, tv_usec: 0)) == middle)
    #expect(converted(timeval(tv_sec: .min, tv_usec: .max)) == middle)
    #expect(converted(timeval(tv_sec: .max, tv_usec: .min)) == middle)
  }
}
