import PlayheadMediaCore
import Testing

@testable import PlayheadPulseIO

@Suite("SplicePlan")
struct SplicePlanTests {
  /// Returns the frames between the read position and the target, for a device that reads 50 ms at a time and replied
  /// at 1 s.
  private func distance(
    sinceRead: Int64, deviceMilliseconds: Int64 = 1_000, blockFrames: Int64 = 2_400, age: Int64 = 0,
    slowestReplyMilliseconds: Int64 = 0
  ) -> Int64 {
    let queryTime = HostTime(nanoseconds: 1_000_000_000)
    let plan = SplicePlan(
      sampleRateHz: 48_000,
      timing: DeviceTiming(
        readFrame: 10_000, deviceLatencyMicroseconds: deviceMilliseconds * 1_000, hostTime: queryTime,
        isPlaying: true),
      blockFrames: blockFrames, lastRead: queryTime.advanced(byNanoseconds: -sinceRead * 1_000_000),
      slowestReplyNanoseconds: slowestReplyMilliseconds * 1_000_000,
      now: queryTime.advanced(byNanoseconds: age * 1_000_000))
    return plan.targetFrame - 10_000
  }

  @Test("10 ms after the read position while no read is due")
  func spliceIsTenMillisecondsAheadWhileNoReadIsDue() {
    #expect(distance(sinceRead: 1) == 480)
    #expect(distance(sinceRead: 29) == 480)
  }

  @Test("after the next block if the device reads before the audio arrives")
  func spliceIsAfterTheNextBlockIfTheDeviceReadsTooSoon() {
    #expect(distance(sinceRead: 30) == 2_402)
    #expect(distance(sinceRead: 49) == 2_402)
    #expect(distance(sinceRead: 26, age: 4) == 2_402)
  }

  @Test("a device about to underrun reads at once, whatever its rhythm was")
  func deviceAboutToUnderrunIsExpectedToReadAtOnce() {
    #expect(distance(sinceRead: 1, deviceMilliseconds: 4) == 2_402)
  }

  @Test("a device with an overdue read may read at any time")
  func deviceWithAnOverdueReadMayReadAtAnyTime() {
    #expect(distance(sinceRead: 500) == 2_402)
  }

  @Test("with small blocks, every read until the arrival counts, and at least 10 ms")
  func everyReadUntilTheArrivalCountsForSmallBlocks() {
    #expect(distance(sinceRead: 3, blockFrames: 192) == 5 * 192 + 2)
    #expect(distance(sinceRead: 0, blockFrames: 48) == 20 * 48 + 2)
    #expect(distance(sinceRead: 9, blockFrames: 480) == 2 * 480 + 2)
  }

  @Test("a machine that replies slowly gets more time, up to a limit")
  func slowRepliesIncreaseTheMarginUpToALimit() {
    #expect(distance(sinceRead: 1, slowestReplyMilliseconds: 10) == 480)
    #expect(distance(sinceRead: 1, slowestReplyMilliseconds: 17) == 2_402)
    #expect(distance(sinceRead: 1, slowestReplyMilliseconds: 1_000) == 2_402)
  }

  @Test("four times the margin while the block size is unknown")
  func marginIsFourfoldWhileTheBlockSizeIsUnknown() {
    #expect(distance(sinceRead: 0, blockFrames: 0) == 1_920)
  }
}
