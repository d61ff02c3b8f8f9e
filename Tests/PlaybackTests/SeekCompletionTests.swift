import Foundation
import MediaCore
import Testing

@testable import Playback

/// Every seek completes exactly once, whatever comes between.
@Suite struct SeekCompletionTests {
  typealias Machine = PlayerStateMachine

  private let time = MediaTime(value: 5, timescale: 1)

  /// A machine with a device and `ids` in its queue, the first of them prepared and committed.
  private func machine(_ ids: [PlayerItem.ID]) -> Machine {
    var machine = Machine(canAdvance: true)
    _ = machine.outputBecameReady()
    _ = machine.insert(ids, at: 0)
    _ = machine.prepared(generation: machine.generation)
    _ = machine.committed(generation: machine.generation)
    return machine
  }

  @Test func anEditBetweenPreparationAndCommitDoesNotLoseTheCompletion() {
    var machine = machine([1, 2])
    _ = machine.seek(3, to: time, before: .zero, after: .zero)
    let generation = machine.generation
    _ = machine.prepared(generation: generation)
    _ = machine.began(Pass(itemID: 2), generation: generation)
    _ = machine.remove([2])
    #expect(machine.generation != generation)
    #expect(machine.committed(generation: generation) == [.completeSeek(3, finished: true)])
    #expect(machine.committed(generation: generation) == [])
  }

  @Test func aSeekThatTheLostDeviceNeverTookIsCarriedOutByTheNext() {
    var machine = machine([1])
    _ = machine.seek(3, to: time, before: .zero, after: .zero)
    _ = machine.prepared(generation: machine.generation)
    _ = machine.outputWasLost(at: .zero)
    #expect(
      machine.outputBecameReady() == [
        .prepare(generation: machine.generation, .init(itemID: 1, time: time, seek: 3))
      ])
    _ = machine.prepared(generation: machine.generation)
    #expect(machine.committed(generation: machine.generation) == [.completeSeek(3, finished: true)])
  }

  @Test func removingTheItemCompletesItsSeekEvenWithoutADevice() {
    var machine = machine([1, 2])
    _ = machine.outputWasLost(at: .zero)
    _ = machine.seek(3, to: time, before: .zero, after: .zero)
    #expect(machine.remove([1]) == [.completeSeek(3, finished: false)])
    #expect(machine.outputBecameReady() == [.prepare(generation: machine.generation, .init(itemID: 2))])
  }

  @Test func aSeekThatReplacesAnUncommittedOneIsTheOnlyOneToFinish() {
    var machine = machine([1])
    _ = machine.seek(3, to: time, before: .zero, after: .zero)
    let first = machine.generation
    _ = machine.prepared(generation: first)
    #expect(machine.seek(4, to: .zero, before: .zero, after: .zero).first == .completeSeek(3, finished: false))
    #expect(machine.committed(generation: first) == [])
    _ = machine.prepared(generation: machine.generation)
    #expect(machine.committed(generation: machine.generation) == [.completeSeek(4, finished: true)])
  }

  @Test func closingCompletesASeekUnfinishedAndEndsTheStreams() async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 48_000)
    let states = await rig.run { $0.states() }
    let events = await rig.run { $0.events() }
    try await rig.run { player in
      try player.append([item])
      try player.seek(to: .zero) { rig.log("finished \($0.finished)") }
      player.close()
      player.close()
      #expect(throws: MediaError.self) { try player.append([item]) }
    }
    for await _ in states {}
    for await _ in events {}
    #expect(rig.dump.components(separatedBy: "finished false").count == 2)
    await rig.close()
  }
}
