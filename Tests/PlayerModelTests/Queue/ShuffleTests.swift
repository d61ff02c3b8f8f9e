import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayerModel

/// The order of a shuffled queue: drawn as documented, predictable, and reversible.
@Suite struct ShuffleTests {
  typealias Machine = PlayerStateMachine

  private func machine(_ count: Int, repeats: Bool = false) -> Machine {
    var machine = Machine(canAdvance: true)
    _ = machine.outputBecameReady()
    if count > 0 { _ = machine.insert((1...count).map { PlayerItemID($0) }, at: 0) }
    if repeats { _ = machine.setRepeatMode(.all) }
    return machine
  }

  private func ids(_ machine: Machine) -> [PlayerItemID] { Array(machine.entries.order) }

  /// The published test vector of SplitMix64.
  @Test func generatorMatchesTheSplitMix64TestVector() {
    var generator = SplitMix64(state: 1_234_567)
    #expect(
      (0..<5).map { _ in generator.next() } == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
        4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
      ])
  }

  @Test func drawsAreUniformAndInRange() {
    var generator = SplitMix64(state: 42)
    var counts = [Int](repeating: 0, count: 6)
    for _ in 0..<60_000 { counts[generator.draw(below: 6)] += 1 }
    #expect(counts.allSatisfy { (9_500...10_500).contains($0) }, "\(counts)")
    #expect(generator.draw(below: 1) == 0)
  }

  /// The reference has these numbers: another algorithm would break scripts.
  @Test func seedDeterminesTheOrder() {
    var machine = machine(10)
    _ = machine.setShuffle(seed: 42)
    #expect(ids(machine).first == 1, "the playing entry stays first")
    #expect(ids(machine).sorted() == (1...10).map { PlayerItemID($0) })
    #expect(ids(machine) == Self.orderOf42)
    _ = machine.setShuffle(seed: 43)
    #expect(ids(machine) != Self.orderOf42)
    _ = machine.setShuffle(seed: 42)
    #expect(ids(machine) == Self.orderOf42, "the order without shuffling is shuffled, not the shuffled one")
  }

  static let orderOf42: [PlayerItemID] = [1, 9, 6, 10, 4, 7, 8, 2, 5, 3]

  @Test func shuffleOffRestoresTheOrderFromTheCurrentEntryOn() {
    var machine = machine(10)
    let version = machine.queue.version
    _ = machine.setShuffle(seed: 42)
    #expect(machine.queue.version == version + 1)
    _ = machine.setShuffle(seed: nil)
    #expect(ids(machine) == (1...10).map { PlayerItemID($0) })
    _ = machine.setShuffle(seed: 42)
    let third = ids(machine)[2]
    let played = Set(ids(machine).prefix(2))
    _ = machine.jump(to: third)
    _ = machine.setShuffle(seed: nil)
    let rest = (1...10).map { PlayerItemID($0) }.filter { !played.contains($0) }
    #expect(ids(machine) == rest.filter { $0 >= third } + rest.filter { $0 < third })
    #expect(machine.setShuffle(seed: nil) == [])
  }

  @Test func newEntriesAreInsertedIntoBothOrders() throws {
    var machine = machine(6)
    _ = machine.setShuffle(seed: 7)
    let shuffled = ids(machine)
    _ = machine.applying([.insert([.init(id: 20)], at: .after(3))])
    #expect(ids(machine).firstIndex(of: 20) == shuffled.firstIndex(of: 3).map { $0 + 1 })
    _ = machine.applying([.insert([.init(id: 21)], at: .before(5))])
    _ = machine.applying([.insert((30..<40).map { .init(id: $0) }, at: .end)])
    #expect(ids(machine).first == 1)
    #expect(ids(machine).suffix(10) != Array(30..<40), "anywhere after the current one")
    _ = machine.applying([.replace(2, with: .init(id: 22)), .remove([6])])
    _ = machine.setShuffle(seed: nil)
    #expect(ids(machine) == [1, 22, 3, 20, 4, 21, 5] + Array(30..<40))
  }

  @Test func failedEditChangesNeitherOrder() {
    var machine = machine(6)
    _ = machine.setShuffle(seed: 7)
    let (shuffled, version) = (ids(machine), machine.queue.version)
    expectError(.noSuchItem) {
      try machine.edit([
        .insert([.init(id: 20), .init(id: 21)], at: .end), .remove([3, 4]), .move(5, to: .index(1)),
        .replace(2, with: .init(id: 22)), .removeAll, .insert([.init(id: 30)], at: .end), .remove([99]),
      ])
    }
    #expect(ids(machine) == shuffled)
    #expect(machine.queue.version == version)
    #expect(machine.queue.shuffle?.remaining == 6)
    _ = machine.applying([.insert([.init(id: 40)], at: .end)])
    let next = ids(machine)
    var other = self.machine(6)
    _ = other.setShuffle(seed: 7)
    _ = other.applying([.insert([.init(id: 40)], at: .end)])
    #expect(next == ids(other), "later draws are unaffected, too")
    _ = machine.setShuffle(seed: nil)
    #expect(ids(machine) == [1, 2, 3, 4, 5, 6, 40])
  }

  @Test(arguments: 2...7) func eachRoundIsReshuffledWithoutImmediateRepetition(count: Int) {
    var machine = machine(count, repeats: true)
    _ = machine.setRate(1)
    _ = machine.setShuffle(seed: 5)
    var heard: [PlayerItemID] = []
    // The planned passes are the ones that are heard.
    let planned = machine.wantedPasses(60).map(\.itemID)
    for _ in 0..<60 {
      guard let current = machine.entries.first else { break }
      heard.append(current.id)
      _ = machine.advance()
      #expect(machine.entries.count == count)
    }
    #expect(heard == planned)
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $0 != $1 }, "\(heard)")
    let rounds = stride(from: 0, to: 60 - count, by: count).map { Array(heard[$0..<$0 + count]) }
    #expect(rounds.allSatisfy { Set($0).count == count }, "every entry once a round")
    #expect(count < 4 || Set(rounds).count > 3)
  }

  @Test func editsPreserveTheCurrentRound() {
    var machine = machine(8, repeats: true)
    _ = machine.setShuffle(seed: 11)
    let first = ids(machine)
    for _ in 0..<3 { _ = machine.advance() }
    #expect(machine.queue.shuffle?.remaining == 5)
    _ = machine.applying([.remove([first[0], first[5]])])
    #expect(machine.queue.shuffle?.remaining == 4)
    _ = machine.applying([.move(first[1], to: .index(1))])
    #expect(machine.queue.shuffle?.remaining == 5)
    _ = machine.applying([.move(first[1], to: .end)])
    #expect(machine.queue.shuffle?.remaining == 4)
    _ = machine.applying([.insert([.init(id: 50)], at: .end)])
    #expect(machine.queue.shuffle?.remaining == 5)
    let rest = Array(ids(machine).prefix(5))
    #expect(Set(rest) == Set([first[3], first[4], first[6], first[7], 50]))
    var heard: [PlayerItemID] = []
    for _ in 0..<5 {
      heard.append(machine.entries.first?.id ?? 0)
      _ = machine.advance()
    }
    #expect(heard == rest)
    #expect(machine.queue.shuffle?.remaining == 7)
    #expect(machine.entries.first?.id != heard.last)
  }

  @Test func queueLoadedWhileShuffledIsShuffledCompletely() {
    var machine = machine(3)
    _ = machine.setShuffle(seed: 42)
    _ = machine.replaceAll((11...20).map { Machine.Entry(id: $0) })
    #expect(ids(machine) != Array(11...20))
    #expect(ids(machine).sorted() == Array(11...20))
    #expect(machine.queue.shuffle?.seed == 42)
    _ = machine.setShuffle(seed: nil)
    #expect(Set(ids(machine)) == Set(11...20))
    var empty = self.machine(0)
    _ = empty.setShuffle(seed: 1)
    _ = empty.applying([.insert((1...20).map { .init(id: $0) }, at: .end)])
    #expect(ids(empty) != Array(1...20))
    #expect(empty.queue.shuffle?.remaining == 20)
  }

  /// The plan of a long queue ends with the round until another thread has drawn the next one.
  @Test func planOfALongQueueContinuesWhenTheNextRoundIsDrawn() {
    var machine = machine(20_000, repeats: true)
    _ = machine.setShuffle(seed: 3)
    _ = machine.jump(to: machine.entries.order[19_990])
    #expect(machine.queue.shuffle?.remaining == 10)
    #expect(machine.needsNextRound && machine.wantedPasses(40).count == 10)
    var copy = machine.queue
    copy.drawNextRound()
    _ = machine.adopt(copy, adding: ItemTable())
    #expect(!machine.needsNextRound && machine.wantedPasses(40).count == 40)
    let planned = machine.wantedPasses(40).map(\.itemID)
    var heard: [PlayerItemID] = []
    for _ in 0..<40 {
      heard.append(machine.entries.first?.id ?? 0)
      _ = machine.advance()
    }
    #expect(heard == planned)
  }
}
