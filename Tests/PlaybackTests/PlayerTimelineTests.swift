import MediaCore
import Testing

@testable import Playback

/// Positions from runs and spans, in integers.
@Suite struct PlayerTimelineTests {
  private func time(_ frames: Int64) -> MediaTime { MediaTime(value: frames, timescale: 48_000) }

  /// Stream 1: item 7 for 1,000 frames from its time 0, then item 8.
  private func twoItems() -> PlayerTimeline {
    var timeline = PlayerTimeline(sampleRateHz: 48_000)
    timeline.add(.init(streamFrame: 0, itemID: 7, time: .zero), streamID: 1)
    timeline.add(.init(streamFrame: 1_000, itemID: 8, time: .zero), streamID: 1)
    return timeline
  }

  @Test func nothingIsAnywhereBeforeTheFirstRun() {
    #expect(twoItems().position(atOutputFrame: 0) == nil)
  }

  @Test func positionsFollowTheRunAcrossItems() {
    var timeline = twoItems()
    timeline.beginRun(outputFrame: 500, streamID: 1, streamFrame: 0)
    #expect(timeline.position(atOutputFrame: 500) == .init(itemID: 7, time: .zero))
    #expect(timeline.position(atOutputFrame: 1_499) == .init(itemID: 7, time: time(999)))
    #expect(timeline.position(atOutputFrame: 1_500) == .init(itemID: 8, time: .zero))
    #expect(timeline.position(atOutputFrame: 0) == .init(itemID: 7, time: .zero), "before the run: where it begins")
  }

  @Test func aStoppedRunStandsAtItsEnd() {
    var timeline = twoItems()
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    timeline.endRun(outputFrame: 300, reason: .stopped)
    #expect(timeline.position(atOutputFrame: 9_000) == .init(itemID: 7, time: time(300)))
    timeline.beginRun(outputFrame: 5_000, streamID: 1, streamFrame: 300)
    #expect(timeline.position(atOutputFrame: 5_001) == .init(itemID: 7, time: time(301)))
    #expect(timeline.position(atOutputFrame: 4_999) == .init(itemID: 7, time: time(300)))
  }

  @Test func aRewindReopensTheRunAndVoidsWhatCameLater() {
    var timeline = twoItems()
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    timeline.endRun(outputFrame: 800, reason: .starved)
    timeline.beginRun(outputFrame: 900, streamID: 1, streamFrame: 800)
    timeline.rewind(to: 600)
    #expect(timeline.position(atOutputFrame: 850) == .init(itemID: 7, time: time(850)))
  }

  @Test func aRewindToACommandKeepsWhatTheCommandDid() {
    var timeline = twoItems()
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    timeline.endRun(outputFrame: 600, reason: .stopped)
    timeline.rewind(to: 600)
    #expect(timeline.position(atOutputFrame: 900) == .init(itemID: 7, time: time(600)))
    timeline.beginRun(outputFrame: 700, streamID: 1, streamFrame: 1_000, isStill: true)
    timeline.rewind(to: 700)
    #expect(timeline.position(atOutputFrame: 900) == .init(itemID: 8, time: .zero))
  }

  @Test func framesOfTimesAreFoundUpToTheEndOfTheItem() {
    var timeline = twoItems()
    timeline.beginRun(outputFrame: 100, streamID: 1, streamFrame: 0)
    #expect(timeline.outputFrame(of: time(0), itemID: 7, from: 0) == 100)
    #expect(timeline.outputFrame(of: time(1_000), itemID: 7, from: 0) == 1_100)
    #expect(timeline.outputFrame(of: time(1_001), itemID: 7, from: 0) == nil)
    #expect(timeline.outputFrame(of: time(5), itemID: 8, from: 0) == 1_105)
    #expect(timeline.outputFrame(of: time(5), itemID: 7, from: 200) == nil, "it has been heard")
    // Between two frames: the later one.
    #expect(timeline.outputFrame(of: MediaTime(value: 1, timescale: 96_000), itemID: 7, from: 0) == 101)
  }

  @Test func theEndOfARunCountsAsReached() {
    var timeline = twoItems()
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    timeline.endRun(outputFrame: 1_000, reason: .ended)
    #expect(timeline.outputFrame(streamID: 1, streamFrame: 1_000) == 1_000)
    #expect(timeline.outputFrame(streamID: 1, streamFrame: 1_001) == nil)
    #expect(timeline.time(of: 7, atOutputFrame: 1_000) == time(1_000))
  }

  @Test func anItemWithoutAFrameIsWhereItEnds() {
    var timeline = PlayerTimeline(sampleRateHz: 48_000)
    timeline.add(.init(streamFrame: 0, itemID: 7, time: time(500)), streamID: 1)
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    // Sought to its end: the next item begins in the same place.
    timeline.add(.init(streamFrame: 0, itemID: 7, time: time(1_000)), streamID: 2)
    timeline.add(.init(streamFrame: 0, itemID: 8, time: .zero), streamID: 2)
    timeline.beginRun(outputFrame: 100, streamID: 2, streamFrame: 0, isStill: true)
    #expect(timeline.time(of: 7, atOutputFrame: 100) == time(1_000))
    #expect(timeline.time(of: 7, streamID: 2, streamFrame: 0) == time(1_000))
    #expect(timeline.time(of: 7, atOutputFrame: 99) == time(599))
    #expect(timeline.time(of: 9, atOutputFrame: 100) == nil)
  }

  @Test func forgettingKeepsWhatIsHeard() {
    var timeline = twoItems()
    for start in stride(from: Int64(0), to: 1_000, by: 10) {
      timeline.beginRun(outputFrame: start * 2, streamID: 1, streamFrame: start)
      timeline.endRun(outputFrame: start * 2 + 10, reason: .stopped)
    }
    timeline.forget(before: 1_500)
    #expect(timeline.runs.count < 30)
    #expect(timeline.position(atOutputFrame: 1_505) == .init(itemID: 7, time: time(755)))
  }

  @Test func itemsThatBeginBetweenTwoFramesKeepTheirExactTime() {
    var timeline = PlayerTimeline(sampleRateHz: 48_000)
    timeline.add(
      .init(streamFrame: 0, itemID: 1, time: MediaTime(value: 1, timescale: 88_200)), streamID: 4)
    timeline.beginRun(outputFrame: 0, streamID: 4, streamFrame: 0)
    #expect(
      timeline.position(atOutputFrame: 48_000)?.time == MediaTime(value: 88_201, timescale: 88_200))
  }
}
