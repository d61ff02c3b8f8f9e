import PlayheadMediaCore
import Testing

@testable import PlayheadPlayerModel

/// Positions computed from runs and ranges, in integers.
@Suite struct PlayerTimelineTests {
  private func time(_ frames: Int64) -> MediaTime { MediaTime(value: frames, timescale: 48_000) }

  /// Stream 1: item 7 for 1,000 frames from its time 0, then item 8.
  private func twoItems() -> PlayerTimeline {
    var timeline = PlayerTimeline(sampleRateHz: 48_000)
    timeline.add(.init(streamFrame: 0, itemID: 7, time: .zero), streamID: 1)
    timeline.add(.init(streamFrame: 1_000, itemID: 8, time: .zero), streamID: 1)
    return timeline
  }

  @Test func thereIsNoPositionBeforeTheFirstRun() {
    #expect(twoItems().position(atOutputFrame: 0) == nil)
  }

  @Test func positionsContinueAcrossItems() {
    var timeline = twoItems()
    timeline.beginRun(outputFrame: 500, streamID: 1, streamFrame: 0)
    #expect(timeline.position(atOutputFrame: 500) == .init(itemID: 7, time: .zero))
    #expect(timeline.position(atOutputFrame: 1_499) == .init(itemID: 7, time: time(999)))
    #expect(timeline.position(atOutputFrame: 1_500) == .init(itemID: 8, time: .zero))
    #expect(timeline.position(atOutputFrame: 0) == .init(itemID: 7, time: .zero), "before the run: where it begins")
  }

  @Test func positionOfAStoppedRunIsItsEnd() {
    var timeline = twoItems()
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    timeline.endRun(outputFrame: 300, reason: .stopped)
    #expect(timeline.position(atOutputFrame: 9_000) == .init(itemID: 7, time: time(300)))
    timeline.beginRun(outputFrame: 5_000, streamID: 1, streamFrame: 300)
    #expect(timeline.position(atOutputFrame: 5_001) == .init(itemID: 7, time: time(301)))
    #expect(timeline.position(atOutputFrame: 4_999) == .init(itemID: 7, time: time(300)))
  }

  @Test func rewindReopensTheRunAndDropsLaterRuns() {
    var timeline = twoItems()
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    timeline.endRun(outputFrame: 800, reason: .underrun)
    timeline.beginRun(outputFrame: 900, streamID: 1, streamFrame: 800)
    timeline.rewind(to: 600)
    #expect(timeline.position(atOutputFrame: 850) == .init(itemID: 7, time: time(850)))
  }

  @Test func rewindToACommandKeepsItsEffect() {
    var timeline = twoItems()
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    timeline.endRun(outputFrame: 600, reason: .stopped)
    timeline.rewind(to: 600)
    #expect(timeline.position(atOutputFrame: 900) == .init(itemID: 7, time: time(600)))
    timeline.beginRun(outputFrame: 700, streamID: 1, streamFrame: 1_000, isPositionOnly: true)
    timeline.rewind(to: 700)
    #expect(timeline.position(atOutputFrame: 900) == .init(itemID: 8, time: .zero))
  }

  @Test func frameOfATimeIsFoundOnlyWithinTheItem() {
    var timeline = twoItems()
    timeline.beginRun(outputFrame: 100, streamID: 1, streamFrame: 0)
    func frame(_ time: MediaTime, of item: UInt64, from frame: Int64 = 0) -> Int64? {
      timeline.pass(of: item, from: frame).frame(reaching: time)?.frame
    }
    #expect(frame(time(0), of: 7) == 100)
    #expect(frame(time(1_000), of: 7) == 1_100)
    #expect(frame(time(1_001), of: 7) == nil)
    #expect(frame(time(5), of: 8) == 1_105)
    #expect(frame(time(5), of: 7, from: 1_100) == nil, "it has been heard")
    // Between two frames the later one counts.
    #expect(frame(MediaTime(value: 1, timescale: 96_000), of: 7) == 101)
  }

  @Test func endOfARunCountsAsReached() {
    var timeline = twoItems()
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    timeline.endRun(outputFrame: 1_000, reason: .ended)
    #expect(timeline.outputFrame(streamID: 1, streamFrame: 1_000) == 1_000)
    #expect(timeline.outputFrame(streamID: 1, streamFrame: 1_001) == nil)
    #expect(timeline.time(of: 7, atOutputFrame: 1_000) == time(1_000))
  }

  @Test func timeOfAnItemWithoutFramesIsItsEnd() {
    var timeline = PlayerTimeline(sampleRateHz: 48_000)
    timeline.add(.init(streamFrame: 0, itemID: 7, time: time(500)), streamID: 1)
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    // A seek to its end: the next item begins at the same frame.
    timeline.add(.init(streamFrame: 0, itemID: 7, time: time(1_000)), streamID: 2)
    timeline.add(.init(streamFrame: 0, itemID: 8, time: .zero), streamID: 2)
    timeline.beginRun(outputFrame: 100, streamID: 2, streamFrame: 0, isPositionOnly: true)
    #expect(timeline.time(of: 7, atOutputFrame: 100) == time(1_000))
    #expect(timeline.time(of: 7, streamID: 2, endingAt: 0) == time(1_000))
    #expect(timeline.time(of: 7, atOutputFrame: 99) == time(599))
    #expect(timeline.time(of: 9, atOutputFrame: 100) == nil)
  }

  @Test func forgetKeepsTheHeardRun() {
    var timeline = twoItems()
    for start in stride(from: Int64(0), to: 1_000, by: 10) {
      timeline.beginRun(outputFrame: start * 2, streamID: 1, streamFrame: start)
      timeline.endRun(outputFrame: start * 2 + 10, reason: .stopped)
    }
    timeline.removeRuns(before: 1_500)
    #expect(timeline.runs.count < 30)
    #expect(timeline.position(atOutputFrame: 1_505) == .init(itemID: 7, time: time(755)))
  }

  @Test func runThatBeginsAtTheRemovalFrameCanBeRewound() {
    var timeline = twoItems()
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    timeline.endRun(outputFrame: 600, reason: .stopped)
    timeline.beginRun(outputFrame: 600, streamID: 1, streamFrame: 600)
    timeline.removeRuns(before: 600)
    timeline.rewind(to: 600)
    #expect(timeline.position(atOutputFrame: 600) == .init(itemID: 7, time: time(600)))
  }

  @Test func itemThatBeginsBetweenFramesKeepsItsExactTime() {
    var timeline = PlayerTimeline(sampleRateHz: 48_000)
    timeline.add(
      .init(streamFrame: 0, itemID: 1, time: MediaTime(value: 1, timescale: 88_200)), streamID: 4)
    timeline.beginRun(outputFrame: 0, streamID: 4, streamFrame: 0)
    #expect(
      timeline.position(atOutputFrame: 48_000)?.time == MediaTime(value: 88_201, timescale: 88_200))
  }

  /// Stream 1: item 7 from 0 to 1,000, and again from 400.
  private func loop() -> PlayerTimeline {
    var timeline = PlayerTimeline(sampleRateHz: 48_000)
    timeline.add(.init(streamFrame: 0, itemID: 7, passIndex: 0, time: .zero), streamID: 1)
    timeline.add(.init(streamFrame: 1_000, itemID: 7, passIndex: 1, time: time(400)), streamID: 1)
    return timeline
  }

  @Test func timeInALoopIsFoundInTheHeardPass() {
    var timeline = loop()
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    #expect(timeline.pass(of: 7, from: 0).frame(reaching: time(1_000))?.frame == 1_000, "the end of the first pass")
    #expect(timeline.pass(of: 7, from: 1_000).frame(reaching: time(1_000))?.frame == 1_600)
    #expect(timeline.pass(of: 7, from: 1_000).frame(reaching: time(400))?.frame == 1_000)
    #expect(timeline.streamFrame(of: time(600), passIndex: 0, streamID: 1) == 600)
    #expect(timeline.streamFrame(of: time(600), passIndex: 1, streamID: 1) == 1_200)
    #expect(timeline.streamFrame(of: time(300), passIndex: 1, streamID: 1) == nil)
  }

  @Test func lateAudioAfterAPassIsFoundOnceItBegins() {
    var timeline = loop()
    timeline.add(.init(streamFrame: 0, itemID: 8, time: .zero), streamID: 2)
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    let (first, second) = ((streamID: UInt64(1), index: 0), (streamID: UInt64(1), index: 1))
    let next = PlayerTimeline.AudiblePosition(
      outputFrame: 1_000, streamID: 1, passIndex: 1, position: .init(itemID: 7, time: time(400)))
    #expect(timeline.audiblePosition(of: 7, from: 1_000, after: first) == next)
    #expect(timeline.audiblePosition(of: 7, from: 1_000, after: second) == nil, "it has not ended")
    timeline.endRun(outputFrame: 1_700, reason: .ended)
    #expect(timeline.audiblePosition(of: 8, from: 1_700, after: second) == nil)
    timeline.beginRun(outputFrame: 1_950, streamID: 2, streamFrame: 0, isPositionOnly: true)
    #expect(
      timeline.audiblePosition(of: 8, from: 1_700, after: second) == nil, "the position is set, but no audio plays")
    timeline.beginRun(outputFrame: 2_000, streamID: 2, streamFrame: 0)
    let late = PlayerTimeline.AudiblePosition(
      outputFrame: 2_000, streamID: 2, passIndex: 0, position: .init(itemID: 8, time: .zero))
    #expect(timeline.audiblePosition(of: 8, from: 1_700, after: second) == late)
  }

  @Test func retiredStreamIsKnownUntilItIsForgotten() {
    var timeline = twoItems()
    timeline.add(.init(streamFrame: 0, itemID: 9, time: .zero), streamID: 2)
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    timeline.beginRun(outputFrame: 1_000, streamID: 2, streamFrame: 0)
    timeline.retireStream(1)
    #expect(timeline.pass(of: 7, from: 900).frame(reaching: time(1_000))?.frame == 1_000)
    timeline.removeRuns(before: 1_001)
    #expect(timeline.pass(of: 7, from: 900).frame(reaching: time(1_000)) == nil)
    #expect(timeline.position(streamID: 1, streamFrame: 0) == nil)
  }
}
