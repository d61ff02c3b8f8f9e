import PlayheadMediaCore
import Testing

@testable import PlayheadPulseIO

/// A stream at 48 kHz whose device reads 480 frames at a time and had read up to frame 10,000 at 1 s.
@Suite struct StreamSpliceTests {
  private static func timing(readFrame: Int64) -> DeviceTiming {
    DeviceTiming(
      readFrame: readFrame, deviceLatencyMicroseconds: 1_000_000, hostTime: HostTime(nanoseconds: 1_000_000_000),
      isPlaying: true)
  }

  private static func plan(ageNanoseconds: Int64) -> SplicePlan {
    let timing = timing(readFrame: 10_000)
    return SplicePlan(
      sampleRateHz: 48_000, timing: timing, blockFrames: 480, lastRead: timing.hostTime, slowestReplyNanoseconds: 0,
      now: timing.hostTime.advanced(byNanoseconds: ageNanoseconds))
  }

  @Test(
    arguments: [
      // Age of the timing in nanoseconds, written frame, first frame to overwrite.
      (0, 20_000, 10_962), (0, 10_500, 10_500), (4_000_000, 20_000, 10_962), (4_000_001, 20_000, nil),
    ] as [(Int64, Int64, Int64?)])
  func spliceNeedsAFreshTimingAndBeginsWithinTheWrittenAudio(age: Int64, writtenFrame: Int64, frame: Int64?) {
    var splice = StreamSplice()
    splice.request()
    #expect(splice.begin(Self.plan(ageNanoseconds: age), writtenFrame: writtenFrame) == frame)
    #expect(splice.isPending == (frame == nil), "with an old timing it waits for the next one")
  }

  @Test(arguments: [(10_961, false), (10_962, false), (10_963, true)] as [(Int64, Bool)])
  func spliceIsLateIfTheDeviceHasReadPastItsFirstFrame(readFrame: Int64, isLate: Bool) {
    var splice = StreamSplice()
    #expect(splice.isLate(Self.timing(readFrame: readFrame)) == false, "no splice")
    splice.overwrote(fromFrame: 10_962)
    #expect(splice.isLate(Self.timing(readFrame: readFrame)) == isLate)
    #expect(splice.isLate(Self.timing(readFrame: 20_000)) == false, "decided once")
  }

  @Test func corkWithdrawsTheSpliceAndItsCheck() {
    var splice = StreamSplice()
    splice.request()
    splice.cancel()
    #expect(!splice.isPending)
    splice.overwrote(fromFrame: 10_962)
    splice.discardVerification()
    #expect(splice.isLate(Self.timing(readFrame: 20_000)) == false)
  }

  @Test func jumpReplacesASpliceAndWaitsForItsTiming() {
    var splice = StreamSplice()
    splice.request()
    splice.overwrote(fromFrame: 10_962)
    splice.beginJump()
    #expect(!splice.isPending && splice.isLate(Self.timing(readFrame: 20_000)) == false)
    splice.awaitJump(timing: 12)
    #expect(splice.jumpTiming == 12)
    splice.jumpCompleted()
    #expect(splice.jumpTiming == nil)
  }

  @Test func bufferedFramesAreThoseThatTheServerHasNotRequested() {
    var splice = StreamSplice()
    #expect(splice.bufferedCount(bufferFrameCount: 4_800) == 4_800)
    _ = splice.blocks.recordRead(room: 1_000)
    #expect(splice.bufferedCount(bufferFrameCount: 4_800) == 3_800)
    _ = splice.blocks.frameCountToWrite(room: 1_000, minimum: 0, bufferFrameCount: 4_800)
    #expect(splice.bufferedCount(bufferFrameCount: 4_800) == 4_800)
  }
}
