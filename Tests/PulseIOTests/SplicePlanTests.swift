import MediaCore
import Testing

@testable import PulseIO

@Suite("SplicePlan")
struct SplicePlanTests {
  /// A device that takes 20 ms at a time and was asked at 1 s.
  private func plan(
    sinceRead: Int64, deviceMilliseconds: Int64 = 1_000, blockFrames: Int64 = 960, age: Int64 = 0
  ) -> Int64 {
    let asked = HostTime(nanoseconds: 1_000_000_000)
    let plan = SplicePlan(
      sampleRateHz: 48_000,
      timing: DeviceTiming(
        readFrame: 10_000, deviceMicroseconds: deviceMilliseconds * 1_000, hostTime: asked,
        isPlaying: true),
      blockFrames: blockFrames, lastRead: asked.advanced(byNanoseconds: -sinceRead * 1_000_000),
      now: asked.advanced(byNanoseconds: age * 1_000_000))
    return plan.targetFrame - 10_000
  }

  @Test("while no read is near, 10 ms after the read position")
  func keepsTheMargin() {
    #expect(plan(sinceRead: 1) == 480)
    #expect(plan(sinceRead: 9) == 480)
  }

  @Test("when the device reads before the sound can be there, after that block")
  func clearsTheNextRead() {
    #expect(plan(sinceRead: 10) == 962)
    #expect(plan(sinceRead: 19) == 962)
    #expect(plan(sinceRead: 5, age: 5) == 962)
  }

  @Test("a device about to run dry reads at once, whatever its rhythm was")
  func clearsADryDevice() {
    #expect(plan(sinceRead: 1, deviceMilliseconds: 4) == 962)
  }

  @Test("a device that should have read already may read at any moment")
  func clearsAnOverdueRead() {
    #expect(plan(sinceRead: 500) == 962)
  }

  @Test("small blocks: every read until the arrival counts, and never less than 10 ms")
  func countsReads() {
    #expect(plan(sinceRead: 3, blockFrames: 192) == 3 * 192 + 2)
    #expect(plan(sinceRead: 0, blockFrames: 48) == 482)
  }

  @Test("as long as the rhythm is unknown, twice the margin")
  func isCarefulAtFirst() {
    #expect(plan(sinceRead: 0, blockFrames: 0) == 960)
  }
}
