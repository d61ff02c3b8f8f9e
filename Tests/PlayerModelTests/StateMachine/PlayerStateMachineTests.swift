import PlayheadMediaCore
import Testing

@testable import PlayheadPlayerModel

/// The machine alone: its actions for each input, without threads, files or clocks.
@Suite struct PlayerStateMachineTests {
  typealias Machine = PlayerStateMachine
  typealias Action = PlayerStateMachine.Action

  /// A machine with a device and `ids` in its queue. The actions for preparing the first item are dropped.
  private func machine(_ ids: [PlayerItemID], canAdvance: Bool = true) -> Machine {
    var machine = Machine(canAdvance: canAdvance)
    _ = machine.outputBecameReady()
    _ = machine.insert(ids, at: 0)
    return machine
  }

  /// A machine whose first item plays.
  private func playing(_ ids: [PlayerItemID]) -> Machine {
    var machine = machine(ids)
    _ = machine.setRate(1)
    _ = machine.prepared(generation: machine.generation)
    _ = machine.committed(generation: machine.generation)
    _ = machine.audioStarted()
    return machine
  }

  @Test func firstItemIsPreparedWhilePaused() {
    var machine = Machine(canAdvance: true)
    _ = machine.outputBecameReady()
    #expect(machine.insert([1, 2], at: 0) == [.prepare(generation: 1, .init(itemID: 1))])
    #expect(machine.timeControlStatus == .paused)
    #expect(machine.reasonForWaitingToPlay == nil)
  }

  @Test func nothingIsPreparedUntilTheOutputIsReady() {
    var machine = Machine(canAdvance: true)
    #expect(machine.insert([1], at: 0) == [])
    #expect(machine.setRate(1) == [])
    #expect(machine.reasonForWaitingToPlay == .outputUnavailable)
    #expect(machine.outputBecameReady() == [.prepare(generation: 1, .init(itemID: 1))])
    #expect(machine.reasonForWaitingToPlay == .evaluatingBufferingRate)
  }

  @Test func followingItemsArePlannedOnceTheFirstIsPrepared() {
    var machine = machine([1, 2, 3])
    #expect(
      machine.prepared(generation: 1)
        == [.commit(generation: 1), .setPlan(.init(begunCount: 1, passes: [Pass(itemID: 2), Pass(itemID: 3)]))])
    #expect(machine.setRate(1) == [.setRunning(true)])
  }

  @Test func invalidatedSeekIsDecodedAgainAndCompletes() {
    var machine = playing([1])
    let target = MediaTime(value: 5, timescale: 1)
    _ = machine.seek(7, to: .time(target))
    _ = machine.prepared(generation: machine.generation)
    // The stream was handed to the mixer but not yet accepted when its audio became invalid.
    let actions = machine.redecode(1, from: .zero)
    #expect(
      actions.contains {
        if case .prepare(_, let start) = $0 { start.time == target && start.seek == 7 } else { false }
      })
    _ = machine.prepared(generation: machine.generation)
    #expect(machine.committed(generation: machine.generation).contains(.completeSeek(7, .finished)))
  }

  @Test func reportsOfAnOlderGenerationAreIgnored() {
    var machine = machine([1])
    _ = machine.seek(7, to: .time(MediaTime(value: 1, timescale: 1)))
    #expect(machine.generation == 2)
    #expect(machine.prepared(generation: 1) == [])
    #expect(machine.committed(generation: 1) == [])
  }

  @Test func threeRapidSeeksCompleteFalseFalseTrue() {
    var machine = machine([1])
    _ = machine.prepared(generation: 1)
    let time = MediaTime(value: 5, timescale: 1)
    let first = machine.seek(1, to: .time(time))
    let second = machine.seek(2, to: .time(time))
    let third = machine.seek(3, to: .time(time))
    #expect(!first.contains { if case .completeSeek = $0 { true } else { false } })
    #expect(second.first == .completeSeek(1, .unfinished(.superseded)))
    #expect(third.first == .completeSeek(2, .unfinished(.superseded)))
    _ = machine.prepared(generation: machine.generation)
    #expect(machine.committed(generation: machine.generation) == [.completeSeek(3, .finished)])
    #expect(machine.committed(generation: machine.generation) == [])
  }

  @Test func seekBeforeTheOutputIsReadySetsTheStart() {
    var machine = Machine(canAdvance: true)
    _ = machine.insert([1], at: 0)
    let time = MediaTime(value: 9, timescale: 1)
    #expect(machine.seek(4, to: .time(time)) == [])
    #expect(
      machine.outputBecameReady() == [.prepare(generation: 1, .init(itemID: 1, time: time, seek: 4, jumpCause: .seek))])
    _ = machine.prepared(generation: 1)
    #expect(machine.committed(generation: 1) == [.completeSeek(4, .finished)])
  }

  @Test func removingTheItemCompletesItsSeekUnfinished() {
    var machine = playing([1, 2])
    _ = machine.seek(4, to: .time(.zero))
    let actions = machine.remove([1])
    #expect(actions.first == .completeSeek(4, .unfinished(.itemChanged)))
    #expect(actions.last == .prepare(generation: machine.generation, .init(itemID: 2)))
  }

  @Test func pendingSeekKeepsItsItemCurrentAtTheItemEnd() {
    var machine = playing([1, 2])
    _ = machine.began(Pass(itemID: 2), generation: machine.generation)
    _ = machine.seek(4, to: .time(.zero))
    #expect(machine.firstEnds() == [])
    #expect(machine.entries.map(\.id) == [1, 2])
  }

  @Test func nextItemBecomesCurrentWhenTheEndIsHeard() {
    var machine = playing([1, 2])
    _ = machine.began(Pass(itemID: 2), generation: machine.generation)
    let end = PassID(generation: machine.generation, index: 0)
    #expect(machine.firstEnds() == [.emit(.playedToEnd(1)), .emit(.transition(from: 1, to: 2))])
    #expect(machine.entries.map(\.id) == [2])
    #expect(machine.timeControlStatus == .playing)
    #expect(machine.endHeard(end, error: nil) == [], "an end is reported once")
  }

  @Test func playerWaitsForAnItemAfterTheLastOne() {
    var machine = playing([1])
    #expect(machine.firstEnds() == [.emit(.playedToEnd(1))])
    #expect(machine.entries.isEmpty)
    #expect(machine.timeControlStatus == .waiting)
    #expect(machine.reasonForWaitingToPlay == .noItemToPlay)
    let generation = machine.generation
    #expect(machine.insert([2], at: 0) == [.prepare(generation: generation + 1, .init(itemID: 2))])
  }

  @Test func pauseAtItemEndSetsTheRateToZero() {
    var machine = playing([1, 2])
    _ = machine.setActionAtItemEnd(.pause)
    #expect(machine.firstEnds() == [.emit(.playedToEnd(1)), .setRunning(false)])
    #expect(machine.rate == 0)
    #expect(machine.entries.map(\.id) == [1, 2])
  }

  @Test func noneAtItemEndContinuesUntilPauseIsSet() {
    var machine = playing([1, 2])
    #expect(
      machine.setActionAtItemEnd(.none) == [.setPlan(.init(begunCount: 1, passes: [Pass(itemID: 1, isSilence: true)]))])
    #expect(machine.firstEnds() == [.emit(.playedToEnd(1))])
    #expect(machine.rate == 1)
    #expect(machine.setActionAtItemEnd(.pause).first == .setRunning(false))
    #expect(machine.rate == 0)
  }

  @Test func removalOfADecodedItemSplicesAReplacement() {
    var machine = playing([1, 2, 3])
    let generation = machine.generation
    let end = PassID(generation: generation, index: 0)
    _ = machine.began(Pass(itemID: 2), generation: generation)
    #expect(
      machine.remove([2]) == [
        .truncate(after: end), .prepare(generation: generation + 1, .init(itemID: 3, spliceAfter: end)),
      ])
    #expect(machine.prepared(generation: generation + 1).first == .splice(generation: generation + 1, after: end))
    #expect(machine.firstEnds() == [.emit(.playedToEnd(1)), .emit(.transition(from: 1, to: 3))])
    #expect(machine.entries.map(\.id) == [3])
  }

  @Test func playStartsAtOnceWhileAReplacementIsPrepared() {
    var machine = machine([1, 2, 3])
    _ = machine.prepared(generation: machine.generation)
    _ = machine.began(Pass(itemID: 2), generation: machine.generation)
    _ = machine.remove([2])
    #expect(machine.requestInPreparation?.spliceAfter?.index == 0)
    #expect(machine.setRate(1) == [.setRunning(true)])
  }

  @Test func appendAfterTruncationStartsANewGeneration() {
    var machine = playing([1, 2])
    let generation = machine.generation
    let end = PassID(generation: generation, index: 0)
    _ = machine.began(Pass(itemID: 2), generation: generation)
    #expect(machine.remove([2]) == [.truncate(after: end), .setPlan(.init())])
    #expect(
      machine.insert([5], at: 1) == [.prepare(generation: generation + 2, .init(itemID: 5, spliceAfter: end))])
  }

  @Test func failedItemIsSkippedOnlyWhilePlaying() {
    var machine = machine([1, 2])
    let error = MediaError(.fileNotFound, "no such file")
    let actions = machine.itemFailed(1, error)
    #expect(actions.first == .emit(.itemFailed(1, error)))
    #expect(machine.entries.first?.id == 1)
    #expect(machine.entries.first?.status == .failed(error))
    #expect(
      machine.setRate(1) == [
        .emit(.itemSkipped(1, error)), .prepare(generation: machine.generation, .init(itemID: 2)),
      ])
    #expect(machine.entries.map(\.id) == [2])
  }

  @Test func playerWaitsAtAFailedItemWithoutASuccessor() {
    var machine = machine([1])
    _ = machine.setRate(1)
    let error = MediaError(.fileNotFound, "no such file")
    _ = machine.itemFailed(1, error)
    #expect(machine.timeControlStatus == .waiting)
    #expect(machine.reasonForWaitingToPlay == .currentItemFailed)
    #expect(
      machine.insert([2], at: 1) == [
        .emit(.itemSkipped(1, error)), .prepare(generation: machine.generation, .init(itemID: 2)),
      ])
  }

  @Test func underrunIsReportedOnceAndEndsWhenEnoughIsDecoded() {
    var machine = playing([1])
    #expect(machine.underrunOccurred() == [])
    #expect(machine.timeControlStatus == .playing, "until it is heard")
    #expect(machine.stallHeard() == [.emit(.stalled(1))])
    #expect(machine.underrunOccurred() + machine.stallHeard() == [])
    #expect(machine.timeControlStatus == .waiting)
    #expect(machine.reasonForWaitingToPlay == .toMinimizeStalls)
    _ = machine.audioStarted()
    #expect(machine.timeControlStatus == .waiting, "audio rendered before the underrun does not count")
    _ = machine.becameLikelyToKeepUp(generation: machine.generation)
    #expect(machine.timeControlStatus == .playing)
  }

  @Test func samplesDecodedBeforeAnUnderrunIsHeardPreventTheStall() {
    var machine = playing([1])
    _ = machine.underrunOccurred()
    _ = machine.becameLikelyToKeepUp(generation: machine.generation)
    #expect(machine.stallHeard() == [])
    #expect(machine.timeControlStatus == .playing)
  }

  @Test func itemThatHasEndedDoesNotStall() {
    var machine = playing([1])
    _ = machine.underrunOccurred()
    #expect(machine.firstEnds() == [.emit(.playedToEnd(1))])
    #expect(machine.buffering.pendingStall == nil)
    #expect(machine.stallHeard() == [])
  }

  @Test func seekReplacesARestoredPositionThatIsNotDecodedYet() {
    var machine = Machine(canAdvance: true)
    machine.restore(
      [.init(id: 1)], history: [], version: 0, shuffle: nil, loop: nil, at: MediaTime(value: 12, timescale: 1))
    machine.deferOpening()
    _ = machine.outputBecameReady()
    _ = machine.seek(7, to: .time(MediaTime(value: 5, timescale: 1)))
    _ = machine.allowOpening()
    _ = machine.prepared(generation: machine.generation)
    _ = machine.committed(generation: machine.generation)
    #expect(machine.pendingRequest == nil)
  }

  @Test func lostOutputKeepsThePosition() {
    var machine = playing([1])
    let time = MediaTime(value: 3, timescale: 1)
    #expect(machine.outputWasLost(at: time) == [])
    #expect(machine.timeControlStatus == .waiting)
    #expect(machine.reasonForWaitingToPlay == .outputUnavailable)
    #expect(
      machine.outputBecameReady() == [.prepare(generation: machine.generation, .init(itemID: 1, time: time))])
  }

  @Test func replaceAllDropsThePlayingStream() {
    var machine = playing([1])
    let generation = machine.generation
    #expect(
      machine.replaceAll([2]) == [.dropStream, .prepare(generation: generation + 2, .init(itemID: 2))])
    #expect(machine.rate == 1)
  }

  @Test func queueVersionIncreasesWithEachEdit() {
    var machine = machine([1, 2])
    let version = machine.queue.version
    _ = machine.remove([2])
    _ = machine.insert([3], at: 1)
    #expect(machine.queue.version == version + 2)
  }

  @Test func truncatedItemJumpedToAgainIsNotSkippedByPlay() {
    var machine = PlayerStateMachine(canAdvance: true)
    _ = machine.outputBecameReady()
    _ = machine.insert([1, 2], at: 0)
    _ = machine.setFailurePolicy(.stop)
    _ = machine.setRate(1)
    _ = machine.prepared(generation: machine.generation)
    let (id, error) = (PassID(generation: machine.generation, index: 0), MediaError(.damagedFile, "it breaks off"))
    _ = machine.ended(id, end: nil, isTooShort: false, hasFailedBeforeEnd: true)
    _ = machine.endHeard(id, error: error)
    #expect(machine.rate == 0 && machine.error == error)
    _ = machine.jump(to: 1)
    _ = machine.setRate(1)
    #expect(machine.entries.first?.id == 1)
    #expect(machine.error == nil)
  }

  @Test func statement30_fullBufferEndsTheStallWhenNotLikelyToKeepUp() {
    var machine = PlayerStateMachine(canAdvance: true)
    _ = machine.outputBecameReady()
    _ = machine.insert([1], at: 0)
    _ = machine.setRate(1)
    _ = machine.prepared(generation: machine.generation)
    _ = machine.underrunOccurred()
    _ = machine.stallHeard()
    #expect(!machine.bufferState.isLikelyToKeepUp)
    #expect(machine.timeControlStatus == .waiting)
    _ = machine.decodingPaused(generation: machine.generation)
    #expect(machine.bufferState.isFull)
    #expect(machine.timeControlStatus == .playing)
  }
}

extension PlayerStateMachine {
  /// Handles the heard end of the pass that plays.
  mutating func firstEnds() -> [Action] {
    guard let first = decodedPasses.first else { return [] }
    if decodedPasses.count == 1 { _ = ended(first.id, end: first.pass.end, isTooShort: false) }
    return endHeard(first.id, error: nil)
  }
}
