import Testing

@testable import PlayheadPlayerModel

/// The states of the audio in the mixer, and the inputs that lead from one to the next.
@Suite struct BufferingTests {
  /// Buffering of a player that plays.
  private func playing() -> Buffering {
    var buffering = Buffering()
    buffering.audioStarted(isPlaying: true)
    return buffering
  }

  @Test func underrunIsAStallOnceItIsHeard() {
    var buffering = playing()
    buffering.underrunOccurred(in: 7, withholds: true)
    #expect(buffering.state == .underrun(7, isRendering: true))
    #expect(buffering.isRendering && buffering.isRebuffering && buffering.isDrained)
    #expect(buffering.stallHeard(isAwaitingContinuation: false) == 7)
    #expect(buffering.state == .stalled)
    #expect(buffering.stallHeard(isAwaitingContinuation: false) == nil, "it is reported once")
    buffering.refilled()
    #expect(buffering == playing())
  }

  @Test func samplesInTimePreventTheStall() {
    var buffering = playing()
    buffering.underrunOccurred(in: 7, withholds: true)
    buffering.refilled()
    #expect(buffering == playing())
    #expect(buffering.stallHeard(isAwaitingContinuation: false) == nil)
  }

  @Test func endOfAllSamplesIsNoUnderrun() {
    var buffering = playing()
    buffering.underrunOccurred(in: nil, withholds: true)
    #expect(buffering.state == .flowing(.init(isRendering: true, isDrained: true)))
    buffering.audioEnded()
    #expect(!buffering.isRendering && buffering.isDrained)
  }

  @Test(arguments: [true, false])
  func underrunBeforeAnyAudioWithholdsSamplesOnlyIfThePlayerWaits(waits: Bool) {
    var buffering = Buffering()
    buffering.underrunOccurred(in: 7, withholds: waits)
    #expect(buffering.isRebuffering == waits)
    #expect(buffering.isDrained && !buffering.isRendering)
  }

  @Test func lateContinuationStallsOnlyWhileItIsAwaited() {
    var buffering = playing()
    buffering.continuationWasLate(of: 7)
    #expect(buffering.pendingStall == 7 && buffering.isRendering && !buffering.isRebuffering)
    var prepared = buffering
    prepared.streamPrepared()
    #expect(prepared == playing())
    #expect(buffering.stallHeard(isAwaitingContinuation: true) == 7)
    #expect(buffering.state == .flowing(.init()))
  }

  @Test func continuationThatWasReplacedDoesNotStall() {
    var buffering = playing()
    buffering.continuationWasLate(of: 7)
    #expect(buffering.stallHeard(isAwaitingContinuation: false) == nil)
    #expect(buffering == playing())
  }

  @Test func pauseEndsAnUnderrunButSamplesAreStillMissing() {
    var buffering = playing()
    buffering.underrunOccurred(in: 7, withholds: true)
    buffering.pause()
    #expect(buffering.state == .flowing(.init(isDrained: true)))
  }

  @Test(arguments: [true, false])
  func playWithoutSamplesWaitsForEnoughOrForTheFirst(waits: Bool) {
    var buffering = Buffering()
    buffering.playDrained(withholds: waits)
    #expect(buffering.isDrained && !buffering.isRendering && buffering.pendingStall == nil)
    #expect(buffering.isRebuffering == waits)
    buffering.release()
    #expect(buffering.isRendering == waits, "only withheld samples are released")
  }

  @Test func anotherStreamHasNoUnderrun() {
    var buffering = playing()
    buffering.underrunOccurred(in: 7, withholds: true)
    buffering.streamRequested()
    #expect(buffering == playing(), "the former audio is heard until then")
    buffering.underrunOccurred(in: 7, withholds: true)
    _ = buffering.stallHeard(isAwaitingContinuation: false)
    buffering.streamRequested()
    #expect(buffering == Buffering())
  }
}
