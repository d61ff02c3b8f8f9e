import PlayheadMediaCore
import Testing

@testable import PlayheadPlayerModel

/// A copy of a queue that replaces the queue, and the states of its entries.
@Suite struct QueueModelTests {
  private func entries(_ ids: ClosedRange<PlayerItemID>) -> [QueueEntry] { ids.map { QueueEntry(id: $0) } }

  private func queue(_ ids: ClosedRange<PlayerItemID>) throws -> QueueModel {
    var queue = QueueModel()
    try queue.edit([.insert(entries(ids), at: .end)])
    return queue
  }

  @Test func adoptedCopyKeepsTheStatesThatChangedMeanwhile() throws {
    var queue = try queue(1...5)
    queue.update(2) { $0.status = .readyToPlay }
    var copy = queue
    try copy.edit([.remove([2]), .insert([QueueEntry(id: 6, status: .readyToPlay)], at: .index(0))])
    queue.update(3) { $0.status = .readyToPlay }
    queue.update(4) { $0.duration = MediaTime(value: 1, timescale: 2) }
    var states = ItemTable<QueueEntry>()
    states[6] = copy.entries[6]
    queue.adopt(copy, adding: states)
    #expect(queue.version == 2 && queue.entries.map(\.id) == [6, 1, 3, 4, 5])
    #expect(queue.entries[3]?.status == .readyToPlay && queue.entries[6]?.status == .readyToPlay)
    #expect(queue.entries[4]?.duration == MediaTime(value: 1, timescale: 2) && queue.entries[1]?.status == .unknown)
    #expect(queue.changes.changes(since: 1)?.count == 2)
  }

  @Test func removedEntryHasNoStateEvenIfItReturns() throws {
    var queue = try queue(1...3)
    queue.update(2) { $0.status = .readyToPlay }
    var copy = queue
    try copy.edit([.remove([2])])
    queue.adopt(copy, adding: ItemTable())
    #expect(queue.entries[2] == nil)
    queue.update(2) { $0.status = .readyToPlay }
    try queue.edit([.insert([QueueEntry(id: 2)], at: .end)])
    #expect(queue.entries[2]?.status == .unknown)
    queue.update(2) { $0.status = .readyToPlay }
    queue.dropStates(of: [2, 3])
    #expect(queue.entries[2]?.status == .readyToPlay, "only the states of removed entries are dropped")
    #expect(queue.entries.map(\.id) == [1, 3, 2])
  }

  @Test func revisionChangesWithEverythingExceptStates() throws {
    var queue = try queue(1...4)
    var revisions = [queue.revision]
    func check(_ changes: Bool, _ comment: Comment) {
      #expect((queue.revision != revisions.last) == changes, comment)
      revisions.append(queue.revision)
    }
    queue.update(1) { $0.status = .readyToPlay }
    check(false, "state")
    queue.drawNextRound()
    check(false, "next round")
    queue.setRepeatMode(.all)
    check(true, "repeat mode")
    queue.setShuffle(seed: 3)
    check(true, "shuffle")
    queue.jump(to: 3)
    check(true, "jump")
    queue.goBack(over: 1, skipping: 0, returning: [])
    check(true, "go back")
    try queue.edit([.move(1, to: .end)])
    check(true, "move")
    #expect(throws: MediaError.self) { try queue.edit([.remove([99])]) }
    check(false, "failed edit")
  }

  /// Only the next round of a long queue is known, after another thread has drawn it.
  @Test func nextRoundOfALongQueueIsDrawnInAdvance() throws {
    let last = PlayerItemID(QueueModel.longRoundLength + 1)
    var queue = try queue(1...last)
    queue.setRepeatMode(.all)
    queue.setShuffle(seed: 9)
    #expect(queue.isNextRoundUnknown && !queue.needsNextRound(within: 1_024) && queue.needsNextRound(within: 1_025))
    queue.prepareRound(within: .max)
    #expect(queue.isNextRoundUnknown, "it takes too long")
    queue.drawNextRound()
    #expect(!queue.isNextRoundUnknown && !queue.needsNextRound(within: .max))
    let next = queue.round(1, after: 0).map(\.id)
    #expect(Set(next) == Set(1...last) && next != Array(queue.entries.order))
    #expect(queue.round(2, after: 0).map(\.id) == [])
    // The round that follows is the one that was drawn.
    for _ in 0..<last { if let current = queue.entries.first { queue.leave(current) } }
    #expect(queue.shuffle?.round == 1 && Array(queue.entries.order) == next && queue.isNextRoundUnknown)
    // An edit draws the round again.
    queue.drawNextRound()
    try queue.edit([.remove([1])])
    #expect(!queue.isNextRoundUnknown || queue.entries.count > QueueModel.longRoundLength)
  }

  /// The first entry of a round is not the last one of the round before.
  @Test func roundDoesNotBeginWithTheLastEntry() throws {
    for seed in UInt64(0)..<50 {
      var queue = try queue(1...4)
      queue.setRepeatMode(.all)
      queue.setShuffle(seed: seed)
      for last in PlayerItemID(1)...4 {
        let plain = queue.round(1, after: 0).map(\.id)
        var ids = queue.round(1, after: last).map(\.id)
        #expect(ids.first != last && Set(ids) == [1, 2, 3, 4])
        if plain.first == last { ids.swapAt(0, 1) }
        #expect(ids == plain)
      }
    }
  }
}
