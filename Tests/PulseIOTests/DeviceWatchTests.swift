import PlayheadMediaCore
import Testing

@testable import PlayheadPulseIO

/// A device at 48 kHz with blocks of 1,024 frames. The server's buffer has 4,800 frames.
@Suite struct DeviceWatchTests {
  private static func time(_ milliseconds: Int64) -> HostTime { HostTime(nanoseconds: milliseconds * 1_000_000) }

  /// A watch of a device that has read two blocks, the last one at 1,000 ms.
  private static func running(isGraphNode: Bool = true) -> DeviceWatch {
    var watch = DeviceWatch(sampleRateHz: 48_000, isGraphNode: isGraphNode)
    watch.streamStarted(at: time(900))
    for milliseconds in [979, 1_000] as [Int64] {
      watch.audioRequested(at: time(milliseconds))
      watch.recordRead(frames: 1_024, at: time(milliseconds))
    }
    return watch
  }

  private static func timing(readFrame: Int64, at milliseconds: Int64) -> DeviceTiming {
    DeviceTiming(readFrame: readFrame, deviceLatencyMicroseconds: 20_000, hostTime: time(milliseconds), isPlaying: true)
  }

  @Test func moveReportsThePreviousDevice() {
    var watch = Self.running()
    #expect(watch.moved(to: 7) == 0)
    #expect(watch.moved(to: 7) == nil)
    #expect(watch.moved(to: 3) == 7 && watch.deviceIndex == 3)
  }

  @Test func firstReadAfterAStartIsNoBlock() {
    var watch = DeviceWatch(sampleRateHz: 48_000, isGraphNode: false)
    watch.recordRead(frames: 4_800, at: Self.time(1))
    #expect(watch.blockFrames == 0)
    watch.recordRead(frames: 0, at: Self.time(2))
    #expect(watch.blockFrames == 0)
    watch.recordRead(frames: 1_024, at: Self.time(3))
    #expect(watch.blockFrames == 1_024)
    watch.streamStarted(at: Self.time(9))
    #expect(watch.blockFrames == 1_024 && watch.lastRead.nanoseconds == 0, "the block size stays valid")
  }

  @Test func onlyAGraphDropsAudioWhenItEnds() {
    #expect(Self.running(isGraphNode: false).possibleLossNanoseconds == nil)
    #expect(DeviceWatch(sampleRateHz: 48_000, isGraphNode: true).possibleLossNanoseconds == nil)
    #expect(Self.running().possibleLossNanoseconds == 42_666_666)
  }

  @Test func hangIsReportedOnceAndItsEndOnce() {
    var watch = Self.running()
    #expect([true, true, false, false].map { watch.setHanging($0) } == [.stalled, nil, .resumed, nil])
  }

  @Test func suspendedDeviceIsNotResponsive() {
    var watch = Self.running()
    #expect(watch.serverResponded(isSuspended: false) == true)
    #expect(watch.serverResponded(isSuspended: true) == false)
  }

  @Test func newDeviceStartsWithoutKnowledge() {
    var watch = Self.running()
    watch.suspectStall(unreadFrame: 5_000, timing: 1)
    watch.deviceChanged(at: Self.time(1_100))
    #expect(watch.blockFrames == 0 && !watch.isUncertain && watch.possibleLossNanoseconds == nil)
  }

  // MARK: - Timer

  @Test(
    arguments: [
      // Whether the device is a graph node, the first duration, and the duration after a late block.
      (true, 57_666_666, 142_333_334), (false, 200_000_000, 200_000_000),
    ] as [(Bool, Int64, Int64)])
  func timerWaitsForALateBlockAndThenForTheEndOfTheBuffer(isGraphNode: Bool, first: Int64, second: Int64) {
    var watch = Self.running(isGraphNode: isGraphNode)
    #expect(watch.waitForRead(bufferFrameCount: 4_800) == first)
    #expect(watch.remainingNanoseconds(bufferFrameCount: 4_800) == second)
  }

  @Test(arguments: [(0, true), (4, true), (5, false), (800, false)] as [(Int64, Bool)])
  func lateTimerProvesThatThisProcessWasNotScheduled(lateness: Int64, wasScheduled: Bool) {
    var watch = Self.running()
    _ = watch.waitForRead(bufferFrameCount: 4_800)
    watch.timerStarted(until: Self.time(1_058))
    #expect(watch.timerFired(at: Self.time(1_058 + lateness)) == .blockIsLate(wasScheduled: wasScheduled))
    #expect(watch.timerFired(at: Self.time(1_200)) == .deviceIsIdle)
    #expect(watch.timerFired(at: Self.time(1_500)) == .serverHangs)
  }

  @Test func replyEndsTheProbe() {
    var watch = Self.running(isGraphNode: false)
    _ = watch.waitForRead(bufferFrameCount: 4_800)
    #expect(watch.timerFired(at: Self.time(1_200)) == .deviceIsIdle && watch.isProbing)
    _ = watch.serverResponded(isSuspended: false)
    #expect(!watch.isProbing && watch.timerFired(at: Self.time(1_400)) == .deviceIsIdle)
    watch.timerCancelled()
    #expect(!watch.isProbing)
  }

  // MARK: - Stalls

  @Test(arguments: [(53_248, nil, false), (52_224, 51_200, true)] as [(Int64, Int64?, Bool)])
  func timingDecidesASuspectedStall(readFrame: Int64, stallFrame: Int64?, isUncertain: Bool) {
    var watch = Self.running()
    #expect(watch.evaluateStall(Self.timing(readFrame: 0, at: 1_060), number: 8) == nil, "no stall is suspected")
    watch.suspectStall(unreadFrame: 51_200, timing: 9)
    #expect(watch.mayHaveStalled && watch.isUncertain)
    #expect(watch.evaluateStall(Self.timing(readFrame: 51_200, at: 1_060), number: 8) == nil, "an earlier timing")
    #expect(watch.evaluateStall(Self.timing(readFrame: readFrame, at: 1_060), number: 9) == stallFrame)
    #expect(watch.isUncertain == isUncertain)
    #expect(watch.evaluateStall(Self.timing(readFrame: readFrame, at: 1_070), number: 10) == nil, "reported once")
  }

  @Test func audioOfTheFirstCyclesAfterAStallIsReplayedOnce() {
    var watch = Self.running()
    watch.confirmStall(unreadFrame: 51_200)
    #expect(watch.popReplayFrame(unreadFrame: 52_224) == nil)
    #expect(watch.popReplayFrame(unreadFrame: 53_248) == 51_200)
    #expect(watch.popReplayFrame(unreadFrame: 53_248) == nil && !watch.mayHaveStalled)
  }

  @Test func deviceThatIsNoGraphNodeLosesNoAudioInAStall() {
    var watch = Self.running(isGraphNode: false)
    watch.confirmStall(unreadFrame: 51_200)
    #expect(!watch.mayHaveStalled && watch.popReplayFrame(unreadFrame: 53_248) == nil)
  }

  @Test func deviceThatConsumesNothingIsUncertainUntilItReads() {
    var watch = Self.running(isGraphNode: false)
    func verdict(position: Int64, at milliseconds: Int64) -> ConsumptionMonitor.Verdict {
      watch.evaluateConsumption(
        Self.timing(readFrame: 0, at: milliseconds), readPosition: position, isEmpty: false)
    }
    #expect(verdict(position: 8_000, at: 1_900) == .undecided)
    #expect(verdict(position: 8_000, at: 2_000) == .suspected(nanoseconds: 142_666_666))
    #expect(verdict(position: 8_000, at: 2_143) == .stalled)
    #expect(watch.isUncertain && watch.serverResponded(isSuspended: false) == false)
    #expect(verdict(position: 9_000, at: 2_200) == .consuming)
    #expect(!watch.isUncertain && watch.serverResponded(isSuspended: false) == true)
  }
}
