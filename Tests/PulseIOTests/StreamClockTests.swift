import PlayheadMediaCore
import Testing

@testable import PlayheadPulseIO

/// A stream at 48 kHz with 8 bytes per frame that began at frame 1,000 and of which 10,000 frames were written.
@Suite struct StreamClockTests {
  private static func time(_ milliseconds: Int64) -> HostTime { HostTime(nanoseconds: milliseconds * 1_000_000) }

  private static func timing(
    readFrame: Int64, latencyMilliseconds: Int64 = 0, at milliseconds: Int64, isPlaying: Bool = true
  ) -> DeviceTiming {
    DeviceTiming(
      readFrame: readFrame, deviceLatencyMicroseconds: latencyMilliseconds * 1_000, hostTime: time(milliseconds),
      isPlaying: isPlaying)
  }

  private static func paused() -> StreamClock {
    var clock = StreamClock(sampleRateHz: 48_000, bytesPerFrame: 8, frame: 1_000)
    clock.writtenFrame = 11_000
    return clock
  }

  /// The same stream: frame 5,800 is heard, and frame 5,800 is read next, at 100 ms.
  private static func running() -> StreamClock {
    var clock = paused()
    _ = clock.update(timing(readFrame: 5_800, at: 100))
    clock.lastReadFrame = 5_800
    _ = clock.start(at: time(100))
    return clock
  }

  @Test(arguments: [(-8, 1_000), (0, 1_000), (7, 1_000), (8, 1_001), (80_000, 11_000)] as [(Int64, Int64)])
  func byteOfTheStreamIsAnOutputFrame(index: Int64, frame: Int64) {
    #expect(Self.paused().frame(ofByte: index) == frame)
  }

  @Test func pausedClockHearsNothing() {
    let clock = Self.paused()
    #expect(clock.heardFrame(at: Self.time(100)) == nil && clock.releasableFrame(at: Self.time(100)) == nil)
    #expect(clock.certainlyHeardFrame(at: Self.time(100), possibleLossNanoseconds: 0) == nil)
    #expect(clock.time(ofFrame: 20_000, after: Self.time(0)) == nil)
    #expect(clock.minimumHeardFrame == 1_000)
  }

  @Test func timingOfAStreamThatDoesNotPlayChangesNothing() {
    var clock = Self.paused()
    #expect(clock.update(Self.timing(readFrame: 5_800, at: 100, isPlaying: false)) == .unchanged)
    #expect(clock.start(at: Self.time(100)) == nil)
  }

  @Test func clockStartsWhenTheDeviceReachesTheFirstFrame() {
    var clock = Self.paused()
    // The device has read 4,800 frames, of which the first one is heard in 50 ms.
    #expect(clock.update(Self.timing(readFrame: 5_800, latencyMilliseconds: 150, at: 100)) == .ready)
    #expect(clock.start(at: Self.time(100)) == .later(nanoseconds: 50_000_000))
    #expect(!clock.isRunning)
    #expect(clock.start(at: Self.time(150)) == .started(.init(frame: 1_000, hostTime: Self.time(150))))
    #expect(clock.isRunning && clock.heardFrame(at: Self.time(160)) == 1_480)
  }

  @Test func runningClockAdvancesWithEachTiming() {
    var clock = Self.running()
    #expect(
      clock.update(Self.timing(readFrame: 10_600, at: 200))
        == .advanced(.init(frame: 10_600, hostTime: Self.time(200)), isNew: false))
    #expect(clock.timingCount == 2)
  }

  @Test(
    arguments: [
      // Milliseconds, loss in milliseconds, frame.
      (100, 0, 5_800), (110, 0, 6_280), (110, 10, 5_800), (50, 90, 1_000), (0, 0, 1_000), (900, 0, 11_000),
    ] as [(Int64, Int64, Int64)])
  func certainlyHeardFrameIsBetweenTheFirstAndTheLastFrame(milliseconds: Int64, loss: Int64, frame: Int64) {
    let clock = Self.running()
    #expect(
      clock.certainlyHeardFrame(at: Self.time(milliseconds), possibleLossNanoseconds: loss * 1_000_000) == frame)
  }

  @Test(arguments: [(100, 4_840), (110, 5_320), (120, 5_800), (300, 5_800), (0, 1_000)] as [(Int64, Int64)])
  func framesAreReleasedTwentyMillisecondsAfterTheyAreHeardAndOnlyIfRead(milliseconds: Int64, frame: Int64) {
    #expect(Self.running().releasableFrame(at: Self.time(milliseconds)) == frame)
  }

  @Test func timeOfAFrameIsKnownUntilItIsHeard() {
    let clock = Self.running()
    #expect(clock.time(ofFrame: 6_280, after: Self.time(100)) == Self.time(110))
    #expect(clock.time(ofFrame: 6_280, after: Self.time(110)) == nil)
  }

  @Test(
    arguments: [
      // Requested frame, milliseconds, frame.
      (7_000, 100, 7_000), (nil, 110, 6_280), (nil, 900, 11_000),
    ] as [(Int64?, Int64, Int64)])
  func clockStopsAtAFrameOrAtTheHeardFrame(requested: Int64?, milliseconds: Int64, frame: Int64) {
    var clock = Self.running()
    #expect(clock.stop(at: requested, now: Self.time(milliseconds)) == frame)
    #expect(!clock.isRunning && clock.minimumHeardFrame == frame && clock.timingCount == 0)
    #expect(clock.stop(at: nil, now: Self.time(1_000)) == nil, "a paused clock stays at its frame")
    #expect(clock.minimumHeardFrame == frame)
  }

  @Test func unreadFrameIsBetweenTheLastReadFrameAndTheWrittenFrame() {
    let clock = Self.running()
    #expect(clock.unreadFrame(bufferedCount: 4_000) == 7_000)
    #expect(clock.unreadFrame(bufferedCount: 9_000) == 5_800)
    #expect(clock.unreadFrame(bufferedCount: -5) == 11_000)
  }

  @Test func renumberedFramesKeepTheFirstFrameThatCanBeHeard() {
    var clock = Self.running()
    clock.renumber(byFrames: -100)
    #expect(clock.baseFrame == 900 && clock.writtenFrame == 10_900 && clock.lastReadFrame == 5_700)
    #expect(clock.heardFrame(at: Self.time(100)) == 5_700 && clock.minimumHeardFrame == 1_000)
  }

  /// The jump skipped 480 frames: its audio, up to frame 11,000, ends at byte 83,840, the end of frame 10,480 of the
  /// stream.
  @Test func jumpRenumbersEverythingExceptTheWrittenFrame() {
    var clock = Self.running()
    #expect(clock.jumpCompleted(writeIndex: 83_840) == -480)
    #expect(clock.baseFrame == 520 && clock.writtenFrame == 11_000 && clock.lastReadFrame == 5_320)
    #expect(clock.heardFrame(at: Self.time(100)) == 5_320 && clock.minimumHeardFrame == 520)
  }
}

@Suite struct TimingRequestsTests {
  private static func time(_ milliseconds: Int64) -> HostTime { HostTime(nanoseconds: milliseconds * 1_000_000) }

  @Test(
    arguments: [
      // Milliseconds, whether the clock is settled, whether a timing is due.
      (1, false, true), (1, true, false), (149, true, false), (150, true, true),
    ] as [(Int64, Bool, Bool)])
  func timingIsDueAfterTheIntervalOrWhileTheClockIsNotSettled(milliseconds: Int64, isSettled: Bool, isDue: Bool) {
    var timings = TimingRequests()
    timings.request(at: Self.time(0))
    #expect(!timings.isDue(at: Self.time(milliseconds), isSettled: isSettled), "a reply is pending")
    timings.receive(at: Self.time(1))
    #expect(timings.isDue(at: Self.time(milliseconds), isSettled: isSettled) == isDue)
  }

  @Test func slowestReplyDecaysByAnEighth() {
    var timings = TimingRequests()
    for (duration, slowest) in [(8, 8_000_000), (1, 7_000_000), (1, 6_125_000), (9, 9_000_000)] as [(Int64, Int64)] {
      timings.request(at: Self.time(100))
      timings.receive(at: Self.time(100 + duration))
      #expect(timings.slowestReplyNanoseconds == slowest)
    }
  }

  @Test func onlyTheReplyToTheLastRequestHasAKnownTime() {
    var timings = TimingRequests()
    timings.request(at: Self.time(0))
    timings.request(at: Self.time(10))
    timings.receive(at: Self.time(11))
    #expect(!timings.isIdle && timings.slowestReplyNanoseconds == 0)
    timings.receive(at: Self.time(12))
    #expect(timings.isIdle && timings.received == 2 && timings.slowestReplyNanoseconds == 2_000_000)
  }
}
