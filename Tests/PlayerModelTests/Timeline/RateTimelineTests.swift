import PlayheadMediaCore
import Testing

@testable import PlayheadPlayerModel

/// Positions of ranges that are played at rates other than 1, in both directions.
@Suite struct RateTimelineTests {
  private func time(_ frames: Int64) -> MediaTime { MediaTime(value: frames, timescale: 48_000) }

  private func rate(_ value: Double) throws -> PlaybackRate { try #require(PlaybackRate(value)) }

  /// Item 7 from `start` at a rate, heard from output frame 100.
  private func timeline(_ value: Double, from start: MediaTime = .zero) throws -> PlayerTimeline {
    var timeline = PlayerTimeline(sampleRateHz: 48_000)
    timeline.add(.init(streamFrame: 0, itemID: 7, time: start, rate: try rate(value)), streamID: 1)
    timeline.beginRun(outputFrame: 100, streamID: 1, streamFrame: 0)
    return timeline
  }

  @Test func timeAdvancesByTheRate() throws {
    let timeline = try timeline(2)
    #expect(timeline.position(atOutputFrame: 100)?.time == .zero)
    #expect(timeline.position(atOutputFrame: 24_100)?.time == time(48_000))
    #expect(timeline.rate(atOutputFrame: 24_100)?.value == 2)
  }

  @Test func positionAfterADayAtAFractionalRateIsExact() throws {
    let timeline = try timeline(1.234567)
    let frames: Int64 = 48_000 * 86_400
    // 86,400 s at 1.234567 are 106,666.5888 s.
    #expect(timeline.position(atOutputFrame: 100 + frames)?.time == MediaTime(value: 1_066_665_888, timescale: 10_000))
    #expect(
      timeline.streamFrame(
        of: MediaTime(value: 1_066_665_888, timescale: 10_000), passIndex: 0, streamID: 1) == frames)
  }

  @Test(arguments: [0.03125, 0.3, 1.234567, 31.999999])
  func timeIsReachedAtTheFrameOfItsPosition(_ value: Double) throws {
    let timeline = try timeline(value, from: MediaTime(value: 1, timescale: 3))
    let pass = timeline.pass(of: 7, from: 0)
    for frame in [Int64(0), 1, 2, 1_000, 48_001, 10_000_000] {
      let position = try #require(timeline.position(atOutputFrame: 100 + frame)).time
      #expect(pass.frame(reaching: position)?.frame == 100 + frame)
      #expect(timeline.streamFrame(of: position, passIndex: 0, streamID: 1) == frame)
    }
  }

  @Test func timeDecreasesAtANegativeRate() throws {
    let timeline = try timeline(-2, from: time(96_000))
    #expect(timeline.position(atOutputFrame: 24_100)?.time == time(48_000))
    let pass = timeline.pass(of: 7, from: 0)
    #expect(pass.frame(reaching: time(48_000))?.frame == 24_100)
    #expect(pass.frame(reaching: time(96_001))?.frame == 100, "after its start")
    #expect(timeline.streamFrame(of: time(48_000), passIndex: 0, streamID: 1) == 24_000)
    #expect(timeline.streamFrame(of: time(96_001), passIndex: 0, streamID: 1) == nil)
  }

  @Test func passContinuesAcrossRateChanges() throws {
    var timeline = try timeline(1)
    timeline.add(.init(streamFrame: 0, itemID: 7, time: time(1_000), rate: try rate(0.5)), streamID: 2)
    timeline.beginRun(outputFrame: 1_100, streamID: 2, streamFrame: 0)
    let pass = timeline.pass(of: 7, from: 0)
    #expect(pass.loop == nil)
    #expect(pass.frame(reaching: time(900))?.frame == 1_000)
    #expect(pass.frame(reaching: time(1_500))?.frame == 2_100)
    #expect(timeline.rate(atOutputFrame: 1_099)?.value == 1)
    #expect(timeline.rate(atOutputFrame: 1_100)?.value == 0.5)
  }
}
