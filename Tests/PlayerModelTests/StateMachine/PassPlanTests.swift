import PlayheadMediaCore
import Testing

@testable import PlayheadPlayerModel

/// The order of passes that the machine plans, and its corrections of passes that were decoded in another order.
@Suite struct PassPlanTests {
  typealias Machine = PlayerStateMachine

  private func time(_ seconds: Int64) -> MediaTime { MediaTime(value: seconds, timescale: 1) }

  private func range(_ start: Int64, _ end: Int64) -> TimeRange { TimeRange(start: time(start), end: time(end)) }

  /// A machine whose first item plays.
  private func playingMachine(_ ids: [PlayerItemID]) -> Machine {
    var machine = Machine(canAdvance: true)
    _ = machine.outputBecameReady()
    _ = machine.insert(ids, at: 0)
    _ = machine.setRate(1)
    _ = machine.prepared(generation: machine.generation)
    _ = machine.committed(generation: machine.generation)
    _ = machine.audioStarted()
    return machine
  }

  @Test func loopAheadOfTheCurrentTimeChangesOnlyThePlan() {
    var machine = playingMachine([1, 2])
    let generation = machine.generation
    let actions = machine.setLoop(range(10, 20), count: 2, heardAt: time(3))
    #expect(
      actions == [
        .setPlan(
          .init(
            begunCount: 1, currentEnd: time(20),
            passes: [
              Pass(itemID: 1, start: time(10), end: time(20)), Pass(itemID: 1, start: time(10)), Pass(itemID: 2),
            ]))
      ])
    #expect(machine.generation == generation)
  }

  @Test func loopWithADecodedEndShortensThePassAndStartsAGeneration() {
    var machine = playingMachine([1, 2])
    let id = PassID(generation: machine.generation, index: 0)
    _ = machine.ended(id, end: nil, isTooShort: false)
    _ = machine.began(Pass(itemID: 2), generation: id.generation)
    let actions = machine.setLoop(range(10, 20), count: nil, heardAt: time(3))
    #expect(
      actions == [
        .shorten(id, at: time(20)),
        .prepare(
          generation: id.generation + 1, .init(itemID: 1, time: time(10), spliceAfter: id, end: time(20))),
      ])
  }

  @Test func reportedOverrunOfALoopEndShortensThePass() {
    var machine = playingMachine([1])
    let id = PassID(generation: machine.generation, index: 0)
    _ = machine.setLoop(range(10, 20), count: nil, heardAt: time(3))
    #expect(
      machine.overran(id) == [
        .shorten(id, at: time(20)),
        .prepare(generation: id.generation + 1, .init(itemID: 1, time: time(10), spliceAfter: id, end: time(20))),
      ])
  }

  @Test func overrunOfARemovedLoopChangesNothing() {
    var machine = playingMachine([1])
    let id = PassID(generation: machine.generation, index: 0)
    _ = machine.setLoop(range(10, 20), count: nil, heardAt: time(3))
    _ = machine.setLoop(nil, count: nil, heardAt: .zero)
    #expect(machine.overran(id) == [])
    #expect(
      machine.setLoop(range(30, 40), count: 1, heardAt: time(3)).contains {
        if case .setPlan = $0 { true } else { false }
      })
  }

  @Test func removedLoopContinuesWhereThePassEnded() {
    var machine = playingMachine([1, 2])
    let id = PassID(generation: machine.generation, index: 0)
    _ = machine.setLoop(range(10, 20), count: nil, heardAt: time(3))
    _ = machine.ended(id, end: time(20), isTooShort: false)
    let pass = Pass(itemID: 1, start: time(10), end: time(20))
    _ = machine.began(pass, generation: id.generation)
    #expect(
      machine.setLoop(nil, count: nil, heardAt: time(19)) == [
        .truncate(after: id),
        .prepare(generation: id.generation + 1, .init(itemID: 1, time: time(20), spliceAfter: id)),
      ])
    _ = machine.prepared(generation: machine.generation)
    #expect(
      !machine.endHeard(id, error: nil).contains { if case .emit = $0 { true } else { false } },
      "no transition: time continues"
    )
    #expect(machine.decodedPasses.first?.pass.start == time(20))
  }

  @Test func loopCountDecreasesWithEachPassUntilTheLoopEnds() {
    var machine = playingMachine([1, 2])
    let generation = machine.generation
    _ = machine.setLoop(range(10, 20), count: 2, heardAt: time(3))
    for (index, remaining) in [1, nil].enumerated() {
      let id = PassID(generation: generation, index: index)
      _ = machine.ended(id, end: time(20), isTooShort: false)
      _ = machine.began(Pass(itemID: 1, start: time(10), end: index == 0 ? time(20) : nil), generation: generation)
      #expect(machine.endHeard(id, error: nil).first == .emit(.transition(from: 1, to: 1)))
      #expect(machine.loop?.remaining == remaining)
    }
    #expect(machine.loop == nil)
    let last = PassID(generation: generation, index: 2)
    _ = machine.ended(last, end: nil, isTooShort: false)
    _ = machine.began(Pass(itemID: 2), generation: generation)
    #expect(
      machine.endHeard(last, error: nil).prefix(2) == [.emit(.playedToEnd(1)), .emit(.transition(from: 1, to: 2))])
  }

  @Test func loopIsRemovedWithItsItem() {
    var machine = playingMachine([1, 2])
    _ = machine.setLoop(range(10, 20), count: nil, heardAt: time(30))
    #expect(machine.loop?.isArmed == false)
    _ = machine.remove([1])
    #expect(machine.loop == nil)
  }

  @Test func seekIntoALoopArmsItAndSeekPastItDoesNot() {
    var machine = playingMachine([1])
    _ = machine.setLoop(range(10, 20), count: nil, heardAt: time(3))
    let past = machine.seek(1, to: .time(time(25)))
    #expect(
      past == [.prepare(generation: machine.generation, .init(itemID: 1, time: time(25), seek: 1, jumpCause: .seek))])
    let inside = machine.seek(2, to: .time(time(15)))
    #expect(
      inside.last
        == .prepare(
          generation: machine.generation, .init(itemID: 1, time: time(15), seek: 2, jumpCause: .seek, end: time(20))))
  }

  @Test func plansOfEndlessRepeatsAreBounded() {
    var machine = playingMachine([1, 2, 3])
    _ = machine.setRepeatMode(.all)
    #expect(machine.plan.passes.count == Machine.planLength)
    #expect(machine.plan.passes.prefix(4).map(\.itemID) == [2, 3, 1, 2])
    for _ in 0..<2_000 {
      guard let next = machine.plan.passes.first else { break }
      let last = machine.decodedPasses.last
      _ = machine.ended(last?.id ?? PassID(generation: 0, index: 0), end: nil, isTooShort: false)
      _ = machine.began(next, generation: machine.generation)
    }
    #expect(machine.decodedPasses.count == Machine.passLimit, "no more than the queue of descriptions holds")
    #expect(machine.plan.passes.isEmpty)
  }

  @Test func planIsRefilledBeforeItIsEmpty() {
    var machine = playingMachine((1...300).map { PlayerItemID($0) })
    var plans = 0
    for _ in 0..<290 {
      guard let next = machine.plan.passes.first else { break }
      _ = machine.ended(
        PassID(generation: machine.generation, index: machine.begunCount - 1), end: nil, isTooShort: false)
      let actions = machine.began(next, generation: machine.generation)
      if actions.contains(where: { if case .setPlan = $0 { true } else { false } }) { plans += 1 }
      #expect(!machine.plan.passes.isEmpty || machine.decodedPasses.count >= 300)
    }
    #expect(machine.decodedPasses.count == 291)
    #expect((1...20).contains(plans))
  }

  @Test func tooShortItemIsNotRepeated() {
    var machine = playingMachine([1, 2])
    _ = machine.setRepeatMode(.one)
    #expect(machine.plan.passes.first == Pass(itemID: 1))
    let id = PassID(generation: machine.generation, index: 0)
    _ = machine.ended(id, end: nil, isTooShort: true)
    #expect(machine.plan.passes == [Pass(itemID: 2)])
    _ = machine.setRepeatMode(.all)
    #expect(machine.plan.passes.prefix(3) == [Pass(itemID: 2), Pass(itemID: 2), Pass(itemID: 2)])
  }

  @Test func repeatAllMovesPlayedItemsToTheEndOfTheQueue() {
    var machine = playingMachine([1, 2])
    _ = machine.setRepeatMode(.all)
    let id = PassID(generation: machine.generation, index: 0)
    _ = machine.ended(id, end: nil, isTooShort: false)
    _ = machine.began(Pass(itemID: 2), generation: id.generation)
    let version = machine.queue.version
    _ = machine.endHeard(id, error: nil)
    #expect(machine.entries.map(\.id) == [2, 1])
    #expect(machine.queue.version == version + 1)
    #expect(machine.drainRemovedIDs().isEmpty)
    _ = machine.advance()
    #expect(machine.entries.map(\.id) == [1, 2])
  }

  @Test func reportedEndIsNotReportedAgainAfterADeviceLoss() {
    var machine = playingMachine([1])
    _ = machine.setActionAtItemEnd(.pause)
    let id = PassID(generation: machine.generation, index: 0)
    _ = machine.ended(id, end: nil, isTooShort: false)
    #expect(machine.endHeard(id, error: nil).first == .emit(.playedToEnd(1)))
    _ = machine.outputWasLost(at: time(5))
    _ = machine.outputBecameReady()
    let again = PassID(generation: machine.generation, index: 0)
    _ = machine.prepared(generation: again.generation)
    _ = machine.ended(again, end: nil, isTooShort: false)
    _ = machine.setRate(1)
    #expect(!machine.endHeard(again, error: nil).contains(.emit(.playedToEnd(1))))
    #expect(machine.rate == 0)
  }

  @Test func silenceAfterAReportedEndContinuesAfterADeviceLoss() {
    var machine = playingMachine([1])
    _ = machine.setActionAtItemEnd(.none)
    let id = PassID(generation: machine.generation, index: 0)
    _ = machine.ended(id, end: nil, isTooShort: false)
    _ = machine.began(Pass(itemID: 1, isSilence: true), generation: id.generation)
    #expect(machine.endHeard(id, error: nil).first == .emit(.playedToEnd(1)))
    #expect(machine.hasPassedEnd)
    _ = machine.outputWasLost(at: time(9))
    _ = machine.outputBecameReady()
    let again = PassID(generation: machine.generation, index: 0)
    _ = machine.prepared(generation: again.generation)
    _ = machine.ended(again, end: nil, isTooShort: false)
    #expect(!machine.endHeard(again, error: nil).contains(.emit(.playedToEnd(1))))
    #expect(machine.hasPassedEnd)
  }
}
