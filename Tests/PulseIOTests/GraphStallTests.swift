import PlayheadMediaCore
import Testing

@testable import PlayheadPulseIO

/// A graph with blocks of 1,024 frames at 48 kHz that read its last block, up to frame 53,248, at 1 s.
@Suite struct GraphStallTests {
  private static let lastRead = HostTime(nanoseconds: 1_000_000_000)

  private func suspected() -> GraphStall {
    var stall = GraphStall()
    stall.suspect(unreadFrame: 53_248, lastRead: Self.lastRead, timing: 7)
    return stall
  }

  /// Evaluates a timing reply, `milliseconds` after the last block was read.
  private func reply(_ stall: inout GraphStall, timing: UInt64 = 7, readFrame: Int64, milliseconds: Int64) {
    stall.evaluate(
      timing: timing, readFrame: readFrame, hostTime: Self.lastRead.advanced(byNanoseconds: milliseconds * 1_000_000),
      blockFrames: 1_024, sampleRateHz: 48_000)
  }

  private func replayFrame(_ stall: GraphStall, unreadFrame: Int64, blockFrames: Int64 = 1_024) -> Int64? {
    var stall = stall
    return stall.popReplayFrame(
      unreadFrame: unreadFrame, blockFrames: blockFrames,
      maximumReplayFrames: DeviceWatch.possibleLossFrames(blockFrames, 48_000))
  }

  @Test func patienceIsTwoBlocksAndAMargin() {
    #expect(GraphStall.timeoutNanoseconds(blockNanoseconds: 21_333_333) == 57_666_666)
  }

  @Test func timingReplyConfirmsAStalledGraph() {
    var stall = suspected()
    #expect(replayFrame(stall, unreadFrame: 60_000) == nil, "only suspected")
    reply(&stall, readFrame: 54_272, milliseconds: 100)
    #expect(stall.isConfirmed && stall.frame == 53_248)
  }

  /// The device is at most one block before the expected position, whatever the phase.
  @Test(arguments: [58, 60, 64, 70, 80] as [Int64])
  func stoppedProcessIsNotReportedAsAStalledGraph(milliseconds: Int64) {
    var stall = suspected()
    reply(&stall, readFrame: 53_248 + milliseconds * 48 / 1_024 * 1_024, milliseconds: milliseconds)
    #expect(stall.frame == nil && !stall.isConfirmed)
  }

  @Test func replyToAnEarlierQueryIsIgnored() {
    var stall = suspected()
    reply(&stall, timing: 6, readFrame: 53_248, milliseconds: 0)
    #expect(stall.frame == 53_248 && !stall.isConfirmed)
    reply(&stall, readFrame: 54_272, milliseconds: 400)
    #expect(stall.isConfirmed)
  }

  @Test func replayStartsAfterTwoBlocksWereRead() {
    var stall = suspected()
    reply(&stall, readFrame: 53_248, milliseconds: 100)
    #expect(replayFrame(stall, unreadFrame: 53_248) == nil)
    #expect(replayFrame(stall, unreadFrame: 54_272) == nil)
    #expect(replayFrame(stall, unreadFrame: 55_296) == 53_248)
    #expect(replayFrame(stall, unreadFrame: 56_320) == 53_248, "late, but replayed")
    #expect(replayFrame(stall, unreadFrame: 57_344) == nil, "too much would be heard twice")
  }

  @Test func repeatedAudioIsLimitedToTwoBlocksOrFiftyMilliseconds() {
    #expect(DeviceWatch.possibleLossFrames(1_024, 48_000) == 2_048)
    #expect(DeviceWatch.possibleLossFrames(1_024, 44_100) == 2_048)
    #expect(DeviceWatch.possibleLossFrames(256, 96_000) == 512)
    #expect(DeviceWatch.possibleLossFrames(2_048, 48_000) == 2_304)
  }

  @Test func oneLongBlockIsReplayed() {
    var stall = GraphStall()
    stall.confirm(unreadFrame: 8_192)
    #expect(replayFrame(stall, unreadFrame: 8_192, blockFrames: 2_048) == nil)
    #expect(replayFrame(stall, unreadFrame: 10_240, blockFrames: 2_048) == 8_192)
  }

  @Test func stallWithoutAReplyKeepsTheFirstSuspectedFrame() {
    var stall = suspected()
    stall.confirm(unreadFrame: 54_272)
    #expect(stall.isConfirmed && stall.frame == 53_248)
    stall.suspect(unreadFrame: 60_000, lastRead: Self.lastRead, timing: 9)
    #expect(stall.frame == 53_248)
    stall.end()
    #expect(stall == GraphStall() && replayFrame(stall, unreadFrame: 55_296) == nil)
  }
}
