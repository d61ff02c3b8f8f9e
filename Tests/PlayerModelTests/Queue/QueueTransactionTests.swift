import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayerModel

/// Edits with several changes: all or none, and the effect of each.
@Suite struct QueueTransactionTests {
  typealias Machine = PlayerStateMachine

  private func machine(_ ids: ClosedRange<PlayerItemID>) -> Machine {
    var machine = Machine(canAdvance: true)
    _ = machine.outputBecameReady()
    _ = machine.insert(Array(ids), at: 0)
    return machine
  }

  private func ids(_ machine: Machine) -> [PlayerItemID] { Array(machine.entries.order) }

  private func insert(_ ids: PlayerItemID..., at position: QueuePosition) -> Machine.QueueChange {
    .insert(ids.map { .init(id: $0) }, at: position)
  }

  @Test func eachChangeSeesTheResultOfThePreviousOnes() {
    var machine = machine(1...6)
    let version = machine.queue.version
    _ = machine.applying([
      .move(5, to: .index(1)), .remove([3]), insert(10, 11, at: .after(5)), .replace(10, with: .init(id: 12)),
      .move(6, to: .before(2)), insert(13, at: .next), .move(12, to: .end), insert(14, at: .index(7)),
      .move(4, to: .next),
    ])
    #expect(ids(machine) == [1, 4, 13, 5, 11, 6, 2, 14, 12])
    #expect(machine.queue.version == version + 1)
    #expect(machine.drainRemovedIDs() == [3, 10])
    #expect(machine.entries.index(of: 11) == 4)
  }

  @Test func moveIndexRefersToTheQueueAfterTheMove() {
    for (position, expected) in [
      (QueuePosition.index(0), [3, 1, 2, 4, 5]), (.index(2), [1, 2, 3, 4, 5]), (.index(4), [1, 2, 4, 5, 3]),
      (.before(5), [1, 2, 4, 3, 5]), (.before(1), [3, 1, 2, 4, 5]), (.after(1), [1, 3, 2, 4, 5]),
      (.after(5), [1, 2, 4, 5, 3]), (.end, [1, 2, 4, 5, 3]), (.next, [1, 3, 2, 4, 5]), (.before(4), [1, 2, 3, 4, 5]),
    ] {
      var machine = machine(1...5)
      _ = machine.applying([.move(3, to: position)])
      #expect(ids(machine) == expected.map { PlayerItemID($0) }, "\(position)")
    }
  }

  @Test func onlyANewCurrentItemIsPrepared() {
    var machine = machine(1...3)
    let generation = machine.generation
    #expect(machine.applying([.move(3, to: .index(1)), .move(3, to: .index(2))]) == [])
    // Removed and returned within one edit: the item continues to play.
    #expect(machine.applying([.move(1, to: .end), .move(1, to: .index(0))]) == [])
    #expect(machine.generation == generation)
    let actions = machine.applying([.move(3, to: .index(0))])
    #expect(actions.contains(.prepare(generation: machine.generation, .init(itemID: 3))))
    #expect(machine.applying([.move(3, to: .end)]).contains(.prepare(generation: machine.generation, .init(itemID: 1))))
  }

  @Test func failedEditChangesNothing() throws {
    let good: [Machine.QueueChange] = [
      .remove([2]), insert(20, 21, at: .end), .move(5, to: .index(0)), .replace(1, with: .init(id: 22)),
      .remove(Array(100...180)), .removeAll, insert(30, at: .end),
    ]
    let bad: [(change: Machine.QueueChange, code: MediaError.Code)] = [
      (.remove([2]), .noSuchItem), (.remove([30, 30]), .invalidArgument), (.remove([999]), .noSuchItem),
      (.move(999, to: .index(0)), .noSuchItem), (.move(30, to: .index(1)), .invalidArgument),
      (.move(30, to: .index(-1)), .invalidArgument), (.move(30, to: .after(30)), .invalidArgument),
      (.move(30, to: .before(999)), .noSuchItem), (.replace(999, with: .init(id: 40)), .noSuchItem),
      (insert(40, at: .index(2)), .invalidArgument), (insert(40, at: .after(999)), .noSuchItem),
      (insert(40, at: .index(-1)), .invalidArgument),
    ]
    for (change, code) in bad {
      var machine = machine(1...6)
      _ = machine.insert(Array(100...200), at: 6)
      let (before, version, generation) = (ids(machine), machine.queue.version, machine.generation)
      let error = expectError(code, "\(change)") { try machine.edit(good + [change]) }
      #expect(error?.message.hasPrefix("change 8 of 8: ") == true)
      #expect(ids(machine) == before)
      #expect(machine.queue.version == version)
      #expect(machine.generation == generation)
      #expect(machine.drainRemovedIDs().isEmpty)
    }
  }

  /// Items that many changes add at the end are added in one step. Each change still counts separately.
  @Test(arguments: [false, true]) func batchOfAppendsEqualsSingleAppends(isShuffled: Bool) {
    var batched = machine(1...3)
    if isShuffled { _ = batched.setShuffle(seed: 7) }
    var single = batched
    let changes =
      (4...23).map { insert($0, at: .end) } + [.remove([2]), .move(5, to: .index(1))]
      + (24...40).map { insert($0, at: .end) }
    let version = batched.queue.version
    _ = batched.applying(changes)
    for change in changes { _ = single.applying([change]) }
    #expect(ids(batched) == ids(single))
    #expect(batched.queue.shuffle.map { Array($0.original) } == single.queue.shuffle.map { Array($0.original) })
    #expect(batched.queue.version == version + 1)
    let before = ids(batched)
    do throws(MediaError) {
      _ = try batched.edit([
        insert(50, at: .end), insert(51, at: .end), insert(52, at: .end), .remove([99]), .removeAll,
      ])
      Issue.record("item 99 was removed")
    } catch {
      #expect(error.code == .noSuchItem && error.message.hasPrefix("change 4 of 5: "), "\(error.message)")
    }
    #expect(ids(batched) == before)
  }

  @Test func manyItemsAreRemovedInOneChange() {
    var machine = machine(1...10_000)
    _ = machine.applying([.remove((1...10_000).filter { $0 % 10 != 0 })])
    #expect(ids(machine) == (1...1_000).map { $0 * 10 })
    #expect(machine.drainRemovedIDs().count == 9_000)
  }

  @Test(arguments: [false, true]) func editSavesTheOldQueueAtMostOnce(isShuffled: Bool) throws {
    var machine = machine(1...1_000)
    if isShuffled { _ = machine.setShuffle(seed: 7) }
    let before = (ids(machine), machine.queue.shuffle.map { Array($0.original) })
    var reversals: [QueueModel.Reversal] = []
    func restoreIndices() -> [Int] {
      reversals.enumerated().compactMap { if case .restore = $0.element { $0.offset } else { nil } }
    }
    try machine.queue.apply(.remove([1]), &reversals)
    for first: PlayerItemID in [100, 200, 300, 400] {
      try machine.queue.apply(.remove(Array(first..<first + 70)), &reversals)
      try machine.queue.apply(insert(2_000 + first, at: .next), &reversals)
      try machine.queue.apply(.move(2_000 + first, to: .index(0)), &reversals)
      try machine.queue.apply(.replace(first + 80, with: .init(id: 3_000 + first)), &reversals)
      #expect(restoreIndices() == [1])
      #expect(reversals.count == 2)
    }
    try machine.queue.apply(.removeAll, &reversals)
    #expect(reversals.count == 2)

    // These changes are not one edit. An edit that fails after the same changes leaves everything unchanged.
    var other = self.machine(1...1_000)
    if isShuffled { _ = other.setShuffle(seed: 7) }
    let remaining = other.queue.shuffle?.remaining
    expectError(.noSuchItem) {
      try other.edit([
        .remove([1]), .remove(Array(100...170)), insert(2_000, at: .end), .remove(Array(200...270)), .remove([2_000]),
        .replace(300, with: .init(id: 2_001)), .move(400, to: .index(0)), .removeAll, .remove([5]),
      ])
    }
    #expect(ids(other) == before.0)
    #expect(other.queue.shuffle.map { Array($0.original) } == before.1)
    #expect(other.queue.shuffle?.remaining == remaining)
    #expect(other.drainRemovedIDs().isEmpty)
  }

  /// However they left, and whether they were in the queue before the edit or not.
  @Test(arguments: [false, true]) func takeRemovedNamesEachRemovedItemOnce(isShuffled: Bool) {
    var machine = machine(1...1_000)
    if isShuffled { _ = machine.setShuffle(seed: 7) }
    _ = machine.applying([
      insert(2_000, 2_001, at: .end), .remove([1, 2_000]), .remove(Array(100...170)), insert(2_002, 2_003, at: .next),
      .remove([2, 2_002]), .remove(Array(200...270)), .replace(2_003, with: .init(id: 2_004)),
      .replace(3, with: .init(id: 2_005)), .move(2_004, to: .index(0)),
    ])
    let removed = machine.drainRemovedIDs()
    let expected = [1, 2, 3, 2_000, 2_002, 2_003] + Array(100...170) + Array(200...270)
    #expect(removed.sorted() == expected.map { PlayerItemID($0) }.sorted())
    #expect(Set(ids(machine)).isDisjoint(with: removed))
    #expect(machine.entries.count == 1_000 + 6 - removed.count)
    #expect(machine.queue.shuffle.map { Set($0.original) == Set(ids(machine)) } ?? true)
    let rest = ids(machine)
    _ = machine.applying([
      insert(3_000, at: .end), .removeAll, insert(3_001, 3_002, at: .end), .remove([3_001]), .removeAll,
    ])
    #expect(machine.drainRemovedIDs().sorted() == (rest + [3_000, 3_001, 3_002]).sorted())
    #expect(machine.entries.isEmpty)
  }

  /// A few of many are removed one by one. The order is not rebuilt, which would reset its work counter to 0.
  @Test func removalOfAFewItemsDoesNotRebuildTheOrder() {
    var machine = machine(1...20_000)
    let stepCount = machine.entries.order.steps.count
    _ = machine.applying((0..<20).map { number in .remove(Array(1 + number * 70...65 + number * 70)) })
    #expect(machine.entries.order.steps.count > stepCount)
    #expect(machine.entries.count == 20_000 - 20 * 65)
    #expect(machine.drainRemovedIDs().count == 20 * 65)
  }

  // MARK: - Going back

  @Test func goBackReturnsPlayedItemsInOrder() {
    var machine = machine(1...5)
    _ = machine.advance()
    _ = machine.jump(to: 4)
    #expect(ids(machine) == [4, 5])
    #expect(Array(machine.queue.history.ids) == [1, 2, 3])
    #expect(machine.drainRemovedIDs() == [1, 2, 3])
    _ = machine.goBack(over: 1, returning: [.init(id: 3)])
    #expect(ids(machine) == [3, 4, 5])
    _ = machine.goBack(over: 2, returning: [.init(id: 1), .init(id: 2)])
    #expect(ids(machine) == [1, 2, 3, 4, 5])
    #expect(machine.queue.history.ids.isEmpty)
  }

  @Test func goBackInARepeatedQueueRotatesIt() {
    var machine = machine(1...4)
    _ = machine.setRepeatMode(.all)
    _ = machine.jump(to: 3)
    #expect(ids(machine) == [3, 4, 1, 2])
    #expect(machine.drainRemovedIDs().isEmpty)
    _ = machine.goBack(over: 1, returning: [])
    #expect(ids(machine) == [2, 3, 4, 1])
    for _ in 0..<9 { _ = machine.advance() }
    #expect(Array(machine.queue.history.ids.suffix(4)) == [3, 4, 1, 2].map { PlayerItemID($0) })
  }

  @Test func historyIsBoundedAndForgetsRemovedItems() {
    var history = PlayHistory()
    for id: PlayerItemID in 1...PlayerItemID(PlayHistory.limit) + 5 { history.append(id) }
    #expect(history.ids.count == PlayHistory.limit)
    #expect(history.drainForgottenIDs() == [1, 2, 3, 4, 5])
    history.append(6)
    #expect(history.drainForgottenIDs().isEmpty, "the oldest id is in the history again")
    history.remove(6)
    #expect(!history.contains(6))
    #expect(history.drainForgottenIDs() == [6])
    history.removeAll()
    #expect(history.drainForgottenIDs().count == PlayHistory.limit - 1)
  }

  @Test func failedItemIsNotInTheHistory() {
    var machine = machine(1...3)
    _ = machine.setRate(1)
    _ = machine.itemFailed(1, MediaError(.fileNotFound, "none"))
    #expect(ids(machine) == [2, 3])
    #expect(machine.queue.history.ids.isEmpty)
  }

  // MARK: - Failures

  @Test func stopPolicyStopsAtAFailedItem() {
    let error = MediaError(.fileNotFound, "none")
    var machine = machine(1...4)
    _ = machine.setFailurePolicy(.stop)
    _ = machine.setRate(1)
    _ = machine.itemFailed(1, error)
    #expect(machine.rate == 0)
    #expect(machine.entries.first?.id == 1)
    // Playback continues after the failed item.
    #expect(machine.setRate(1).first == .emit(.itemSkipped(1, error)))
    #expect(machine.entries.first?.id == 2)
    #expect(machine.rate == 1)
    // The plan does not continue after an item that has failed in advance. The machine stops when it becomes current.
    _ = machine.prepared(generation: machine.generation)
    _ = machine.itemFailed(3, error)
    #expect(machine.wantedPasses(10).map(\.itemID) == [2])
    _ = machine.ended(PassID(generation: machine.generation, index: 0), end: nil, isTooShort: false)
    _ = machine.endHeard(machine.decodedPasses[0].id, error: nil)
    #expect(machine.entries.first?.id == 3)
    #expect(machine.rate == 0)
    _ = machine.setFailurePolicy(.skip)
    _ = machine.setRate(1)
    #expect(machine.entries.first?.id == 4)
  }

  @Test func stopPolicyStopsAtATruncatedItem() {
    let error = MediaError(.decodeFailed, "broken")
    var machine = machine(1...2)
    _ = machine.setFailurePolicy(.stop)
    _ = machine.setRate(1)
    _ = machine.prepared(generation: machine.generation)
    let id = PassID(generation: machine.generation, index: 0)
    _ = machine.ended(id, end: nil, isTooShort: false, hasFailedBeforeEnd: true)
    #expect(machine.wantedPasses(10).map(\.itemID) == [1])
    #expect(machine.endHeard(id, error: error).first == .emit(.failedToPlayToEnd(1, error)))
    #expect(machine.rate == 0)
    #expect(machine.entries.first?.id == 1)
    _ = machine.setRate(1)
    #expect(machine.entries.first?.id == 2)
    #expect(machine.rate == 1)
  }

  /// Even if many fail and the queue repeats: each fails once, and the machine stops.
  @Test(arguments: [false, true]) func repeatedQueueStopsWhenAllItemsFail(isShuffled: Bool) {
    var machine = machine(1...200)
    _ = machine.setRepeatMode(.all)
    if isShuffled { _ = machine.setShuffle(seed: 4) }
    _ = machine.setRate(1)
    var skipped = 0
    for id in ids(machine) {
      skipped += machine.itemFailed(id, MediaError(.fileNotFound, "none")).count {
        if case .emit(.itemSkipped) = $0 { true } else { false }
      }
    }
    #expect(skipped == 199)
    #expect(machine.entries.count == 1)
    #expect(machine.reasonForWaitingToPlay == .currentItemFailed)
    #expect(machine.advance().isEmpty)
    #expect(machine.entries.isEmpty)
  }
}
