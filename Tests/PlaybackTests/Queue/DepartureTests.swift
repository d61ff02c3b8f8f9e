import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// Items that leave a queue are free at once, and are disconnected from its player in slices. The slices are counted in
/// items, independent of time.
@Suite struct DepartureTests {
  private static let slice = QueueItems.departureSlice

  /// Creates a queue of items whose files do not exist.
  private func rig(_ count: Int) async throws -> (rig: Rig, items: [PlayerItem]) {
    let rig = try await Rig()
    let items = (0..<count).map { rig.item("/nonexistent/\($0).wav") }
    try await rig.run { try $0.append(items) }
    return (rig, items)
  }

  /// Lets turns of the loop pass until all items are disconnected.
  private func finishDepartures(_ rig: Rig) async {
    for _ in 0..<10_000 {
      if await rig.run({ $0.control.core.items.departures.isEmpty }) { return }
    }
    Issue.record("items are still connected")
  }

  @Test func oneLoopTurnDisconnectsAtMostOneSliceOfItems() async throws {
    let (rig, items) = try await rig(5_000)
    try await rig.run { player in
      player.removeAllItems()
      #expect(player.itemCount == 0 && player.queuedByteCount == 0)
      #expect(items.allSatisfy { player.item($0.id) == nil && !$0.isClaimed })
      #expect(items.count { $0.onAudioChange != nil } >= items.count - Self.slice)
      try player.append(Array(items[..<100]))
      #expect(player.itemCount == 100)
    }
    await finishDepartures(rig)
    await rig.run { player in
      #expect(player.control.core.items.longestDepartureSlice <= Self.slice)
      #expect(items.filter { $0.onAudioChange != nil }.map(\.id) == items[..<100].map(\.id), "claimed again since")
      #expect(items[..<100].allSatisfy { $0.isClaimed })
    }
  }

  @Test(arguments: [1, 100, 3_000]) func replaceAllKeepsOnlyTheNewItems(_ count: Int) async throws {
    let (rig, items) = try await rig(2_000)
    let new = (0..<count).map { rig.item("/nonexistent/new\($0).wav") }
    try await rig.run { player in
      try player.replaceAll(with: new)
      #expect(player.items().map(\.id) == new.map(\.id))
      #expect(player.queuedByteCount == new.reduce(0) { $0 + $1.descriptionByteCount })
      #expect(items.allSatisfy { player.item($0.id) == nil && !$0.isClaimed } && new.allSatisfy { $0.isClaimed })
    }
    await finishDepartures(rig)
    await rig.run { _ in
      #expect(items.allSatisfy { $0.onAudioChange == nil } && new.allSatisfy { $0.onAudioChange != nil })
    }
  }

  @Test func anotherPlayerCanQueueRemovedItemsAtOnce() async throws {
    let (rig, items) = try await rig(1_000)
    let other = QueuePlayer(engine: rig.engine, name: "other")
    try await rig.run { player in
      player.removeAllItems()
      try other.assumeIsolated { try $0.append(items) }
    }
    await finishDepartures(rig)
    await rig.run { player in
      #expect(items.allSatisfy { $0.isClaimed && $0.onAudioChange != nil })
      expectError(.itemInUse) { try player.append([items[0]]) }
      other.assumeIsolated { $0.close() }
      #expect(items.allSatisfy { !$0.isClaimed })
    }
  }

  @Test func removeDisconnectsTheRemovedItemsAndKeepsTheOthers() async throws {
    let (rig, items) = try await rig(2_000)
    let (leaving, staying) = (Array(items[500..<1_500]), Array(items[..<500] + items[1_500...]))
    try await rig.run { player in
      try player.remove(leaving.map(\.id))
      #expect(player.items().map(\.id) == staying.map(\.id))
      #expect(player.queuedByteCount == staying.reduce(0) { $0 + $1.descriptionByteCount })
      #expect(leaving.allSatisfy { !$0.isClaimed } && staying.allSatisfy { $0.isClaimed })
    }
    await finishDepartures(rig)
    await rig.run { player in
      #expect(player.control.core.items.longestDepartureSlice <= Self.slice)
      #expect(leaving.allSatisfy { $0.onAudioChange == nil } && staying.allSatisfy { $0.onAudioChange != nil })
    }
  }

  @Test func reservedItemsAreClaimedButNotQueuedUntilTheEdit() async throws {
    let (rig, items) = try await rig(1)
    let new = (0..<500).map { rig.item("/nonexistent/new\($0).wav") }
    let other = QueuePlayer(engine: rig.engine, name: "other")
    let (left, cancelled, edited) = (Array(new[..<200]), Array(new[200..<400]), Array(new[400...]))
    try await rig.run { player in
      var reservations = [QueueReservation(), QueueReservation()]
      try player.reserve(left, in: &reservations[0])
      for start in [0, 100] { try player.reserve(Array(cancelled[start..<start + 100]), in: &reservations[1]) }
      try player.reserve(edited, in: &reservations[0])
      #expect(player.itemCount == 1 && new.allSatisfy { player.item($0.id) == nil && $0.isClaimed })
      expectError(.itemInUse) { try player.reserve([new[3]], in: &reservations[0]) }
      expectError(.itemInUse) { try other.assumeIsolated { try $0.append([new[3]]) } }
      // An edit of the control loop frees its items if it fails, and adds them otherwise.
      expectError(.noSuchItem) { try player.edit([.append(left), .remove([items[0].id + 1_000])]) }
      #expect(left.allSatisfy { !$0.isClaimed } && (cancelled + edited).allSatisfy { $0.isClaimed })
      player.removeAllItems()
      try player.append(edited)
      player.cancel(reservations[1])
      #expect(player.items().map(\.id) == edited.map(\.id))
      // Items of a cancelled reservation can be claimed again before they are disconnected.
      try player.append([cancelled[7]])
    }
    await finishDepartures(rig)
    let queued = edited + [cancelled[7]]
    await rig.run { player in
      #expect(player.items().map(\.id) == queued.map(\.id))
      let connected = Set(new.filter { $0.onAudioChange != nil }.map(\.id))
      #expect(connected == Set(queued.map(\.id)) && new.allSatisfy { $0.isClaimed == connected.contains($0.id) })
    }
  }
}
