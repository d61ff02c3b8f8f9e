import Foundation
import PlayheadMediaCore
import Testing

@testable import PlayheadPlayerModel

/// Every seek completes exactly once, whatever happens meanwhile. Tests the state machine alone.
@Suite struct SeekCompletionTests {
  typealias Machine = PlayerStateMachine
  typealias Reason = SeekResult.UnfinishedReason

  private let time = UnresolvedSeekTarget.time(MediaTime(value: 5, timescale: 1))

  /// A machine with a device and `ids` in its queue, the first of them prepared and committed.
  private func machine(_ ids: [PlayerItemID]) -> Machine {
    var machine = Machine(canAdvance: true)
    _ = machine.outputBecameReady()
    _ = machine.insert(ids, at: 0)
    _ = machine.setRate(1)
    _ = machine.prepared(generation: machine.generation)
    _ = machine.committed(generation: machine.generation)
    return machine
  }

  private func completions(_ actions: [Machine.Action]) -> [Machine.Action] {
    actions.filter { if case .completeSeek = $0 { true } else { false } }
  }

  // MARK: - Events that end a seek

  /// The progress of seek 3. Seek 4 chases it.
  enum Stage: String, CaseIterable {
    case preparing, uncommitted, withoutAnOutput, withoutADuration

    func apply(to machine: inout Machine, _ target: UnresolvedSeekTarget) {
      switch self {
      case .preparing: _ = machine.seek(3, to: target)
      case .uncommitted:
        _ = machine.seek(3, to: target)
        _ = machine.prepared(generation: machine.generation)
      case .withoutAnOutput:
        _ = machine.outputWasLost(at: .zero)
        _ = machine.seek(3, to: target)
      case .withoutADuration: _ = machine.seek(3, to: UnresolvedSeekTarget(.end, from: target))
      }
      _ = machine.seek(4, to: target, mode: .chase)
    }
  }

  enum Cause: String, CaseIterable {
    case newerSeek, advance, remove, removeAll, replaceAll, failure, skipped, lostOutput, close, cancel, end

    /// Nil if the event is impossible at that stage.
    func apply(to machine: inout Machine, at stage: Stage) -> (actions: [Machine.Action], reason: Reason)? {
      let error = MediaError(.readFailed, "gone")
      switch self {
      case .newerSeek: return (machine.seek(9, to: .time(.zero)), .superseded)
      case .advance: return (machine.advance(), .itemChanged)
      case .remove: return (machine.remove([1]), .itemChanged)
      case .removeAll: return (machine.replaceAll([PlayerItemID]()), .itemChanged)
      case .replaceAll: return (machine.replaceAll([7]), .itemChanged)
      case .failure:
        _ = machine.setRate(0)
        return (machine.itemFailed(1, error), .itemFailed)
      case .skipped: return (machine.itemFailed(1, error), .itemFailed)
      case .lostOutput: return stage == .withoutAnOutput ? nil : (machine.outputWasLost(at: .zero), .outputLost)
      case .close: return (machine.close(), .closed)
      case .cancel: return (machine.cancelSeeks(), .cancelled)
      case .end:
        // During preparation the end of the old audio is not the item's end, and without a device nothing ends.
        guard stage == .uncommitted || stage == .withoutADuration else { return nil }
        return (machine.firstEnds(), .itemEnded)
      }
    }
  }

  @Test(
    "statement 3: every seek completes once and in order, also across the item's end and the next item",
    arguments: Stage.allCases, Cause.allCases)
  func everySeekCompletesOnceAndInOrder(_ stage: Stage, _ cause: Cause) {
    var machine = machine([1, 2])
    stage.apply(to: &machine, time)
    guard let (actions, reason) = cause.apply(to: &machine, at: stage) else { return }
    #expect(
      completions(actions) == [.completeSeek(3, .unfinished(reason)), .completeSeek(4, .unfinished(reason))])
    // They stay completed, whatever happens later.
    var later = machine.outputBecameReady()
    later += machine.itemLoaded(1, duration: MediaTime(value: 60, timescale: 1))
    for _ in 0..<3 {
      later += machine.prepared(generation: machine.generation)
      later += machine.committed(generation: machine.generation)
    }
    later += machine.close()
    #expect(completions(later).filter { $0 != .completeSeek(9, .finished) } == [])
  }

  @Test func editsOfOtherItemsDoNotEndTheSeek() {
    var machine = machine([1, 2, 3])
    _ = machine.seek(3, to: time)
    let edits = machine.remove([2]) + machine.insert([8], at: 1) + machine.itemFailed(3, MediaError(.readFailed, ""))
    #expect(completions(edits) == [])
    _ = machine.prepared(generation: machine.generation)
    #expect(completions(machine.committed(generation: machine.generation)) == [.completeSeek(3, .finished)])
  }

  // MARK: - Order in time

  @Test func editBetweenPreparationAndCommitKeepsTheCompletion() {
    var machine = machine([1, 2])
    _ = machine.seek(3, to: time)
    let generation = machine.generation
    _ = machine.prepared(generation: generation)
    _ = machine.began(Pass(itemID: 2), generation: generation)
    _ = machine.remove([2])
    #expect(machine.generation != generation)
    #expect(machine.committed(generation: generation) == [.completeSeek(3, .finished)])
    #expect(machine.committed(generation: generation) == [])
  }

  @Test func nextOutputContinuesAtTheSeekTarget() {
    var machine = machine([1])
    _ = machine.seek(3, to: time)
    _ = machine.prepared(generation: machine.generation)
    #expect(machine.outputWasLost(at: .zero) == [.completeSeek(3, .unfinished(.outputLost))])
    #expect(
      machine.outputBecameReady() == [
        .prepare(
          generation: machine.generation, .init(itemID: 1, time: MediaTime(value: 5, timescale: 1), jumpCause: .seek))
      ])
  }

  @Test func nextOutputContinuesAtTheNewestSeekTarget() {
    var machine = machine([1])
    _ = machine.seek(3, to: .time(.zero))
    _ = machine.seek(4, to: time, mode: .chase)
    _ = machine.outputWasLost(at: .zero)
    #expect(
      machine.outputBecameReady() == [
        .prepare(
          generation: machine.generation, .init(itemID: 1, time: MediaTime(value: 5, timescale: 1), jumpCause: .seek))
      ])
  }

  @Test func removingTheItemCompletesItsSeekWithoutAnOutput() {
    var machine = machine([1, 2])
    _ = machine.outputWasLost(at: .zero)
    _ = machine.seek(3, to: time)
    #expect(machine.remove([1]) == [.completeSeek(3, .unfinished(.itemChanged))])
    #expect(machine.outputBecameReady() == [.prepare(generation: machine.generation, .init(itemID: 2))])
  }

  @Test func onlyTheSeekThatReplacesAnUncommittedOneFinishes() {
    var machine = machine([1])
    _ = machine.seek(3, to: time)
    let first = machine.generation
    _ = machine.prepared(generation: first)
    #expect(machine.seek(4, to: .time(.zero)).first == .completeSeek(3, .unfinished(.superseded)))
    #expect(machine.committed(generation: first) == [])
    _ = machine.prepared(generation: machine.generation)
    #expect(machine.committed(generation: machine.generation) == [.completeSeek(4, .finished)])
  }

  // MARK: - Chasing

  @Test func newestChasingSeekBeginsWhenTheFirstIsCommitted() {
    var machine = machine([1])
    _ = machine.seek(3, to: time)
    let first = machine.generation
    #expect(machine.seek(4, to: .time(.zero), mode: .chase) == [])
    #expect(machine.seek(5, to: time, mode: .chase) == [.completeSeek(4, .unfinished(.superseded))])
    #expect(machine.generation == first)
    #expect(completions(machine.prepared(generation: first)) == [], "its audio is not heard yet")
    #expect(
      machine.committed(generation: first) == [
        .completeSeek(3, .finished),
        .prepare(
          generation: first + 1, .init(itemID: 1, time: MediaTime(value: 5, timescale: 1), seek: 5, jumpCause: .seek)),
      ])
    _ = machine.prepared(generation: first + 1)
    #expect(machine.committed(generation: first + 1) == [.completeSeek(5, .finished)])
  }

  // MARK: - Durations

  private let end = UnresolvedSeekTarget(.end, from: .time(.zero))

  @Test func seekToTheEndWaitsUntilTheItemIsLoaded() {
    var machine = machine([1])
    #expect(machine.seek(3, to: end) == [])
    let duration = MediaTime(value: 60, timescale: 1)
    #expect(
      machine.itemLoaded(1, duration: duration) == [
        .prepare(generation: machine.generation, .init(itemID: 1, time: duration, seek: 3, jumpCause: .seek))
      ])
  }

  @Test func seekToTheEndOfUnknownDurationFailsAndTheNextBegins() {
    var machine = machine([1])
    _ = machine.seek(3, to: end)
    _ = machine.seek(4, to: time, mode: .chase)
    #expect(
      machine.itemLoaded(1, duration: .indefinite) == [
        .completeSeek(3, .unfinished(.durationUnknown)),
        .prepare(
          generation: machine.generation,
          .init(itemID: 1, time: MediaTime(value: 5, timescale: 1), seek: 4, jumpCause: .seek)),
      ])
  }

  @Test func seekTimesAreClampedToTheItem() {
    var machine = machine([1])
    _ = machine.itemLoaded(1, duration: MediaTime(value: 3, timescale: 1))
    _ = machine.seek(3, to: time)
    #expect(machine.requestInPreparation?.time == MediaTime(value: 3, timescale: 1))
    _ = machine.seek(4, to: .time(MediaTime(value: -1, timescale: 1)))
    #expect(machine.requestInPreparation?.time == .zero)
  }
}
