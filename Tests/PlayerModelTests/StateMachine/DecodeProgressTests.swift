import PlayheadMediaCore
import Testing

@testable import PlayheadPlayerModel

/// The requests to the decode thread, and its reports.
@Suite struct DecodeProgressTests {
  typealias Request = DecodeProgress.DecodeRequest

  private func time(_ seconds: Int64) -> MediaTime { MediaTime(value: seconds, timescale: 1) }

  /// The progress of a player whose first item is decoded, and committed.
  private func active() -> DecodeProgress {
    var progress = DecodeProgress()
    _ = progress.begin(Request(itemID: 1), at: .normal)
    _ = progress.prepared(generation: 1)
    _ = progress.committed(generation: 1)
    return progress
  }

  @Test func preparedRequestIsUnheardUntilTheMixerHasSwitchedToIt() {
    var progress = DecodeProgress()
    let request = progress.begin(Request(itemID: 1, time: time(3)), at: .normal)
    #expect(progress.stage == .preparing(request) && !progress.hasStream)
    #expect(progress.prepared(generation: 2) == nil, "another generation")
    #expect(progress.prepared(generation: 1) == request)
    #expect(progress.isActive && progress.hasStream && progress.pendingRequest == request)
    #expect(progress.committed(generation: 1) == request)
    #expect(progress.pendingRequest == nil)
    #expect(progress.committed(generation: 1) == nil)
  }

  @Test func deferredRequestIsReplacedByTheNextRequest() {
    var progress = DecodeProgress()
    progress.deferRequest(Request(itemID: 1, time: time(3)))
    #expect(progress.pendingRequest?.time == time(3))
    #expect(progress.dropDeferredRequest(exceptOf: 1) == false)
    let request = progress.begin(Request(itemID: 1, time: time(5)), at: .normal)
    #expect(progress.pendingRequest == request && progress.deferredRequest == nil)
  }

  @Test func deferredRequestOfAnotherItemIsDropped() {
    var progress = DecodeProgress()
    progress.deferRequest(Request(itemID: 1))
    #expect(progress.dropDeferredRequest(exceptOf: 2) == true)
    #expect(progress.stage == .idle(deferred: nil))
  }

  @Test func passesAreNumberedFromTheStartOfTheirGeneration() {
    var progress = active()
    progress.setPlan(.init(begunCount: 1, passes: [Pass(itemID: 2), Pass(itemID: 3)]))
    progress.began(Pass(itemID: 2))
    #expect(progress.passes.map(\.id.index) == [0, 1] && progress.begunCount == 2)
    #expect(progress.plan == .init(begunCount: 2, passes: [Pass(itemID: 3)]))
    _ = progress.begin(Request(itemID: 4, spliceAfter: progress.passes[1].id), at: .normal)
    _ = progress.prepared(generation: 2)
    #expect(
      progress.passes.map(\.id) == [
        PassID(generation: 1, index: 0), PassID(generation: 1, index: 1), PassID(generation: 2, index: 0),
      ])
  }

  @Test func cutStreamHasNoPlanAndItsReportsAreLate() {
    var progress = active()
    progress.began(Pass(itemID: 2))
    progress.truncate(after: 0)
    progress.cut()
    progress.setPlan(.init(passes: [Pass(itemID: 3)]))
    #expect(progress.stage == .cut && progress.plan.passes.isEmpty)
    #expect(progress.isLastPassComplete && !progress.canMoveLastEnd && progress.isActive)
    #expect(progress.generation == 2, "reports of generation 1 are ignored")
  }

  @Test func splicedRequestFollowsNoPassOnceAllPassesAreHeard() {
    var progress = active()
    _ = progress.begin(Request(itemID: 2, spliceAfter: progress.passes[0].id), at: .normal)
    #expect(progress.replacementInPreparation == nil && progress.hasStream)
    progress.firstPassHeard()
    progress.lastPassHeard(deferring: Request(itemID: 9))
    #expect(progress.replacementInPreparation?.itemID == 2, "it is not deferred")
  }

  @Test func decodingStopsAfterTheLastPassWithoutARequest() {
    var progress = active()
    progress.firstPassHeard()
    progress.lastPassHeard(deferring: Request(itemID: 2, time: time(4)))
    #expect(progress.stage == .idle(deferred: Request(itemID: 2, time: time(4))))
  }

  @Test func overrunPassIsCompleteUnlessItContinues() {
    var progress = active()
    let id = progress.passes[0].id
    progress.moveLastEnd(to: time(4))
    #expect(progress.overran(PassID(generation: 1, index: 9)) == false)
    #expect(progress.overran(id) == true)
    #expect(progress.passes[0].pass.end == nil && progress.isLastPassComplete)
    progress.continued(id)
    #expect(progress.canMoveLastEnd)
  }

  @Test func followingItemKeepsTheDirectionUntilItIsChanged() throws {
    var progress = active()
    let reverse = try #require(PlaybackRate(-1))
    let id = progress.passes[0].id
    #expect(progress.begin(Request(itemID: 2, spliceAfter: id), at: reverse).rate == .normal)
    #expect(progress.begin(Request(itemID: 1, isContinuation: true, spliceAfter: id), at: reverse).rate == reverse)
    #expect(progress.decodedRate == reverse)
  }

  @Test func stopDropsAllAudio() {
    var progress = active()
    progress.paused(true)
    progress.stop(deferring: nil)
    #expect(progress.isIdle && progress.passes.isEmpty && !progress.isPaused && progress.generation == 2)
  }
}
