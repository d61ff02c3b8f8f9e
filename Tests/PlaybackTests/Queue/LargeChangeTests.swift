import MediaTesting
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// Changes of the queue that another thread computes. They must have the same result as the changes of the control
/// loop.
@Suite struct LargeChangeTests {
  private func items(_ rig: Rig, _ names: Range<Int>) -> [PlayerItem] {
    names.map { rig.item("/nonexistent/\($0).wav") }
  }

  private func finishDepartures(_ rig: Rig) async {
    for _ in 0..<10_000 {
      if await rig.run({ $0.control.core.items.departures.isEmpty }) { return }
    }
    Issue.record("items are still connected")
  }

  @Test func operationReplacesTheQueueAndReturnsItsVersion() async throws {
    let rig = try await Rig()
    let (old, new) = (items(rig, 0..<2_000), items(rig, 2_000..<7_000))
    try await rig.run { try $0.append(old) }
    let version = try await rig.player.perform(.replaceAll(new))
    await rig.run { player in
      #expect(version == 2 && player.state.queueVersion == 2)
      #expect(player.items().map(\.id) == new.map(\.id) && player.state.currentItemID == new[0].id)
      #expect(player.queuedByteCount == new.reduce(0) { $0 + $1.descriptionByteCount })
      #expect(old.allSatisfy { player.item($0.id) == nil } && new.allSatisfy { $0.isClaimed })
    }
    await finishDepartures(rig)
    await rig.run { player in
      #expect(old.allSatisfy { !$0.isClaimed && $0.onAudioChange == nil })
      #expect(new.allSatisfy { $0.isClaimed && $0.onAudioChange != nil })
      #expect(player.control.core.items.longestDepartureSlice <= QueueItems.departureSlice)
    }
  }

  @Test func failedOperationChangesNothingAndFreesItsItems() async throws {
    let rig = try await Rig()
    let (old, new) = (items(rig, 0..<10), items(rig, 10..<1_000))
    try await rig.run { try $0.append(old) }
    await expectError(.noSuchItem) {
      try await rig.player.perform(.edit([.append(new), .remove([old[9].id + 5_000])]))
    }
    await finishDepartures(rig)
    await rig.run { player in
      #expect(player.items().map(\.id) == old.map(\.id) && player.state.queueVersion == 1)
      #expect(new.allSatisfy { !$0.isClaimed && $0.onAudioChange == nil } && old.allSatisfy { $0.isClaimed })
    }
    await expectError(.noSuchItem) { try await rig.player.perform(.jump(to: new[0].id)) }
    // Items of a queue cannot be added again, neither to the same player nor to another one.
    await expectError(.itemInUse) { try await rig.player.perform(.edit([.append([old[0]])])) }
    let other = QueuePlayer(engine: rig.engine, name: "other")
    await expectError(.itemInUse) { try await other.perform(.replaceAll([new[0], old[0]])) }
    try await other.perform(.replaceAll([new[0]]))
    await rig.run { _ in other.assumeIsolated { $0.close() } }
  }

  /// A reservation that was used twice adds its items once.
  @Test func copyOfAReservationDoesNotAddItemsTwice() async throws {
    let rig = try await Rig()
    let new = items(rig, 0..<3)
    let results = Mutex<[Result<UInt64, MediaError>]>([])
    try await rig.run { player in
      var reservation = QueueReservation()
      try player.reserve(new, in: &reservation)
      expectError(.itemInUse) { try player.reserve([new[1]], in: &reservation) }
      for _ in 0..<2 {
        player.perform(.edit([.append(new)]), adding: reservation) { result in results.withLock { $0.append(result) } }
      }
    }
    await rig.settle()
    let error = MediaError(.itemInUse, "item 1 is already in a queue", operation: "insert")
    #expect(results.withLock { $0 } == [.success(1), .failure(error)])
    #expect(await rig.run { $0.items().map(\.id) } == new.map(\.id))
  }

  /// The queue is computed on another thread, and again if it has changed meanwhile.
  @Test func changeMeanwhileStartsTheComputationAgain() async throws {
    let rig = try await Rig()
    let (old, new, between) = (items(rig, 0..<5), items(rig, 5..<10), items(rig, 10..<11))
    try await rig.run { try $0.append(old) }
    let computations = Mutex<[Bool?]>([])
    let loop = rig.engine.core.loop
    try await rig.run { player in
      let core = player.control.core
      var reservation = QueueReservation()
      try player.reserve(new, in: &reservation)
      core.items.largeChanges.start(
        LargeChanges.Change(
          reservation: reservation,
          apply: { queue throws(MediaError) in
            computations.withLock { $0.append(loop.isIsolatingCurrentContext()) }
            try queue.edit([.insert(new.map(\.queueEntry), at: .index(0))])
          },
          completion: { result in #expect(throws: Never.self) { try result.get() } }))
      try player.append(between)
      #expect(player.itemCount == 6)
    }
    await rig.settle()
    #expect(await rig.run { $0.items().map(\.id) } == (new + old + between).map(\.id))
    #expect(computations.withLock { $0 } == [false, false])
  }

  /// Cancelling another reservation begins a new epoch, and does not free the items of the change.
  @Test func cancellingAnotherReservationKeepsTheClaims() async throws {
    let rig = try await Rig()
    let (old, new, cancelled) = (items(rig, 0..<10), items(rig, 10..<300), items(rig, 300..<310))
    try await rig.run { player in
      try player.append(old)
      var reservations = [QueueReservation(), QueueReservation()]
      try player.reserve(new, in: &reservations[0])
      try player.reserve(cancelled, in: &reservations[1])
      player.perform(.replaceAll(new), adding: reservations[0]) { _ in }
      player.cancel(reservations[1])
    }
    await rig.settle()
    await finishDepartures(rig)
    await rig.run { player in
      #expect(player.items().map(\.id) == new.map(\.id) && new.allSatisfy { $0.isClaimed })
      #expect((old + cancelled).allSatisfy { !$0.isClaimed && $0.onAudioChange == nil })
    }
  }

  /// An error of the former queue is none of the current one.
  @Test func changeMeanwhileCanPreventAnError() async throws {
    let rig = try await Rig()
    let old = items(rig, 0..<3)
    let results = TextLog()
    try await rig.run { player in
      player.perform(.edit([.remove([old[1].id])]), adding: QueueReservation()) { results("\($0)") }
      try player.append(old)
    }
    await rig.settle()
    #expect(results.lines == ["success(2)"])
    #expect(await rig.run { $0.items().map(\.id) } == [old[0].id, old[2].id])
  }

  /// If the queue changes during each computation, the control loop computes in the end.
  @Test func controlLoopComputesAfterTheLastAttempt() async throws {
    let rig = try await Rig()
    let old = items(rig, 0..<5)
    try await rig.run { try $0.append(old) }
    let computations = Mutex<[Bool?]>([])
    let loop = rig.engine.core.loop
    await rig.run { player in
      let core = player.control.core
      core.items.largeChanges.start(
        LargeChanges.Change(
          check: { () throws(MediaError) in
            // The next turn precedes the one that receives the result.
            loop.execute { _ = core.machine.setRepeatMode(core.machine.repeatMode == .all ? .off : .all) }
          },
          apply: { queue throws(MediaError) in
            computations.withLock { $0.append(loop.isIsolatingCurrentContext()) }
            try queue.edit([.remove([old[1].id])])
          },
          completion: { result in #expect(throws: Never.self) { try result.get() } }))
    }
    await rig.settle()
    #expect(await rig.run { $0.itemCount } == 4)
    let threads = computations.withLock { $0 }
    #expect(threads.dropLast().allSatisfy { $0 == false } && threads.last == true)
    #expect(threads.count == LargeChanges.backgroundAttemptCount + 1)
  }

  @Test func closingThePlayerFailsPendingOperations() async throws {
    let rig = try await Rig()
    let player = QueuePlayer(engine: rig.engine, name: "other")
    let new = items(rig, 0..<300)
    let results = TextLog()
    try await rig.run { _ in
      try player.assumeIsolated { player in
        for part in [new[..<100], new[100..<200]] {
          var reservation = QueueReservation()
          try player.reserve(Array(part), in: &reservation)
          player.perform(.edit([.append(Array(part))]), adding: reservation) { result in
            if case .failure(let error) = result { results(error.code.name) }
          }
        }
        player.close()
        var reservation = QueueReservation()
        expectError(.invalidState) { try player.reserve(Array(new[200...]), in: &reservation) }
      }
    }
    for _ in 0..<10_000 where results.lines.count < 2 { await rig.run { _ in } }
    #expect(results.lines == ["invalid-state", "invalid-state"])
    for _ in 0..<10_000 {
      if await rig.run({ _ in player.assumeIsolated { $0.control.core.items.departures.isEmpty } }) { break }
    }
    #expect(new.allSatisfy { !$0.isClaimed })
  }

  /// Observers that are bound to removed items end, in the order of the queue.
  @Test func observersOfRemovedItemsEnd() async throws {
    let rig = try await Rig()
    let old = items(rig, 0..<400)
    try await rig.run { try $0.append(old) }
    let ended = Mutex<[UInt64]>([])
    try await rig.run { player in
      for item in [old[300], old[200], old[1]] {
        _ = try player.addBoundaryTimeObserver(
          forTimes: [MediaTime(value: 1, timescale: 10)], itemID: item.id,
          onEnd: { ended.withLock { $0.append(item.id) } }
        ) { _ in }
      }
    }
    try await rig.player.perform(.edit([.remove(old[150...].map(\.id))]))
    #expect(ended.withLock { $0 } == [old[200].id, old[300].id])
  }

  /// Items that a jump passed are in the history, and can return.
  @Test func passedItemsEnterTheHistory() async throws {
    let rig = try await Rig()
    let old = items(rig, 0..<3_000)
    try await rig.run { try $0.append(old) }
    try await rig.player.perform(.jump(to: old[2_500].id))
    try await rig.run { player in
      #expect(player.state.currentItemID == old[2_500].id && player.itemCount == 500)
      #expect(player.history().map(\.id) == old[1_500..<2_500].map(\.id))
      try player.goToPreviousItem()
      #expect(player.state.currentItemID == old[2_499].id && player.itemCount == 501)
    }
    await finishDepartures(rig)
    await rig.run { _ in #expect(old[2_499].isClaimed && !old[2_498].isClaimed) }
  }

  /// Random operations have the same result on another thread as on the control loop.
  @Test(arguments: [1, 2, 3, 4].prefix(Effort.rounds(4)))
  func randomOperationsEqualThoseOfTheControlLoop(seed: UInt64) async throws {
    let rig = try await Rig()
    let other = QueuePlayer(engine: rig.engine, name: "other")
    var random = SeededGenerator(seed: seed)
    /// The items of both players, by their number.
    var pairs: [(PlayerItem, PlayerItem)] = []
    var numbers: [PlayerItem.ID: Int] = [:]
    // Items of a file that exists: when others fail depends on other threads.
    _ = try rig.wav(file: 1, frames: 960)
    let path = rig.files.file("code-1-960.wav")
    func makePairs(_ count: Int) -> [(PlayerItem, PlayerItem)] {
      let new = (0..<count).map { _ in (rig.item(path), rig.item(path)) }
      for (first, second) in new {
        (numbers[first.id], numbers[second.id]) = (pairs.count, pairs.count)
        pairs.append((first, second))
      }
      return new
    }
    for step in 0..<Effort.rounds(60) {
      let ids = await rig.run { $0.items().map(\.id) }
      let index = Int.random(in: 0...max(0, ids.count - 1), using: &random)
      func twin(_ id: PlayerItem.ID) -> PlayerItem.ID { pairs[numbers[id] ?? 0].1.id }
      let operations: (QueueOperation, QueueOperation)
      switch ids.isEmpty ? 0 : Int.random(in: 0..<8, using: &random) {
      case 0, 1:
        let new = makePairs(Int.random(in: 1...200, using: &random))
        operations = (.edit([.append(new.map(\.0))]), .edit([.append(new.map(\.1))]))
      case 2:
        let new = makePairs(30)
        operations = (
          .edit([.insert(new.map(\.0), at: .index(index)), .move(ids[index], to: .index(0))]),
          .edit([.insert(new.map(\.1), at: .index(index)), .move(twin(ids[index]), to: .index(0))])
        )
      case 3:
        let removed = Array(ids.shuffled(using: &random).prefix(ids.count / 2))
        operations = (.edit([.remove(removed)]), .edit([.remove(removed.map(twin))]))
      case 4: operations = (.shuffle(seed: UInt64(step)), .shuffle(seed: UInt64(step)))
      case 5: operations = (.endShuffle, .endShuffle)
      case 6 where index > 0: operations = (.jump(to: ids[index]), .jump(to: twin(ids[index])))
      default:
        let new = makePairs(Int.random(in: 1...50, using: &random))
        operations = (.replaceAll(new.map(\.0)), .replaceAll(new.map(\.1)))
      }
      try await rig.run { player in
        switch operations.0 {
        case .edit(let edits): try player.edit(edits)
        case .replaceAll(let items): try player.replaceAll(with: items)
        case .shuffle(let seed): player.shuffle(seed: seed)
        case .endShuffle: player.endShuffle()
        case .jump(let id): try player.jump(to: id)
        }
      }
      try await other.perform(operations.1)
      if step % 7 == 0 {
        try await rig.run { try $0.setRepeatMode(step % 2 == 0 ? .all : .off) }
        try await other.setRepeatMode(step % 2 == 0 ? .all : .off)
      }
      let (expected, actual) = (await rig.run { Contents($0) }, await other.contents())
      let isEqual = actual.numbered(numbers) == expected.numbered(numbers)
      #expect(isEqual, "step \(step): \(operations.0.name)")
    }
    await rig.run { _ in other.assumeIsolated { $0.close() } }
  }

  /// The visible queue of a player.
  fileprivate struct Contents: Equatable {
    var order: [PlayerItem.ID]
    var history: [PlayerItem.ID]
    var original: [PlayerItem.ID]
    var byteCount: Int
    var seed: UInt64?
    var remaining: Int?

    init(_ player: isolated QueuePlayer) {
      let shuffle = player.control.core.machine.queue.shuffle
      order = player.items().map(\.id)
      history = player.history().map(\.id)
      original = (shuffle?.original).map { Array($0) } ?? []
      byteCount = player.queuedByteCount
      (seed, remaining) = (shuffle?.seed, shuffle?.remaining)
    }

    /// The contents with numbers in place of ids.
    func numbered(_ numbers: [PlayerItem.ID: Int]) -> Contents {
      var result = self
      func replace(_ ids: inout [PlayerItem.ID]) { ids = ids.map { PlayerItem.ID(numbers[$0] ?? .max) } }
      replace(&result.order)
      replace(&result.history)
      replace(&result.original)
      return result
    }
  }

  /// A shuffled queue of more than a thousand items continues without a gap at the end of a round, whose successor
  /// another thread has drawn.
  @Test func longRoundIsFollowedWithoutAGap() async throws {
    let rig = try await Rig()
    let count = QueueModel.longRoundLength + 6
    let new = try (0..<count).map { try rig.wav(file: $0 % 15 + 1, frames: 960) }
    try await rig.run { player in
      try player.append(new)
      player.shuffle(seed: 5)
      try player.setRepeatMode(.all)
    }
    await rig.settle()
    let drawn = await rig.run { $0.control.core.machine.queue.shuffle?.isNextRoundDrawn }
    #expect(drawn == false, "more than 1,024 entries precede the next round")
    try await rig.run { player in
      try player.jump(toIndex: 1_000)
      player.play()
    }
    await rig.settle()
    await rig.run { player in
      let machine = player.control.core.machine
      #expect(machine.queue.shuffle?.isNextRoundDrawn == true && !machine.queue.isNextRoundUnknown)
    }
    await rig.advance(milliseconds: 1_000)
    await rig.run { player in
      #expect(player.control.core.machine.queue.shuffle?.round == 1)
    }
    let transitions = rig.dump.split(separator: "\n").filter { $0.hasPrefix("event transition") }
    #expect(transitions.count > 45)
    #expect(transitions.allSatisfy { $0.hasSuffix("inserted 0") }, "\(transitions)")
    #expect(!rig.heard.all.contains(.silence) && !rig.dump.contains("stalled"))
  }
}

extension QueueOperation {
  fileprivate var name: String {
    switch self {
    case .edit(let edits): "edit of \(edits.count)"
    case .replaceAll(let items): "load of \(items.count)"
    case .shuffle, .endShuffle, .jump: "\(self)"
    }
  }
}

extension QueuePlayer {
  fileprivate func contents() -> LargeChangeTests.Contents { LargeChangeTests.Contents(self) }
}
