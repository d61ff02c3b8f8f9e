import PlayheadMediaCore
import Testing

@testable import PlayheadPlayerModel

/// The requests that are in effect.
@Suite struct PlaybackIntentTests {
  private let failure = PlayerStateMachine.FailureStop(itemID: 1, error: MediaError(.damagedFile, "it breaks off"))

  @Test func failureIsKeptUntilPlaybackIsRequested() {
    var intent = PlaybackIntent(actionAtItemEnd: .advance)
    intent.play(at: .normal)
    #expect(intent.rate == 1 && intent.failureStop == nil)
    intent.pause(after: failure)
    intent.pause()
    #expect(intent.rate == 0 && intent.failureStop == failure)
    intent.play(at: .normal)
    #expect(intent.transport == .playing(.normal))
  }

  @Test func targetRateOfAPlayingPlayerDoesNotChangeItsRate() throws {
    let double = try #require(PlaybackRate(2))
    var intent = PlaybackIntent(actionAtItemEnd: .advance)
    intent.play(at: .normal)
    intent.setTargetRate(double)
    #expect(intent.rate == 1 && intent.targetRate == double)
  }

  @Test func limitedRepeatsAreCounted() {
    var intent = PlaybackIntent(actionAtItemEnd: .advance)
    #expect(intent.countRepeat() == false, "unlimited")
    intent.limitRepeats(.init(itemID: 1, remaining: 2, modeAfterwards: .off))
    #expect(intent.countRepeat() == false)
    #expect(intent.countRepeat() == true, "the last one")
    #expect(intent.repeatCount == 3)
  }

  @Test func loopEndsWithItsLastReturn() {
    let (start, end) = (MediaTime(value: 1, timescale: 1), MediaTime(value: 2, timescale: 1))
    var intent = PlaybackIntent(actionAtItemEnd: .advance)
    intent.setLoop(.init(itemID: 1, start: start, end: end, remaining: 2, isArmed: true))
    intent.countLoopReturn()
    #expect(intent.loop?.remaining == 1 && intent.loop?.count == 1)
    intent.countLoopReturn()
    #expect(intent.loop == nil)
  }

  @Test func finishedLoopReturnsNoMore() {
    let (start, end) = (MediaTime(value: 1, timescale: 1), MediaTime(value: 2, timescale: 1))
    var intent = PlaybackIntent(actionAtItemEnd: .advance)
    intent.setLoop(.init(itemID: 1, start: start, end: end, remaining: 2, isArmed: true))
    intent.finishLoop()
    #expect(intent.loop?.isFinishing == true && intent.loop?.remaining == nil)
  }
}
