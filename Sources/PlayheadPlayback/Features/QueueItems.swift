import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// The items of a player's queue and history, and the player's claim on them.
final class QueueItems: PlayerFeature {
  unowned let player: PlayerCore
  /// This player's claim on its items, and on items that are reserved for an edit.
  let ownership = QueueOwnership()
  /// The items of the queue.
  var table = ItemTable<PlayerItem>()
  /// The sum of `PlayerItem.descriptionByteCount` over `table`.
  var byteCount = 0
  /// Played items that have left the queue, up to the length of the history. Other queues may claim them.
  var past: [PlayerItem.ID: PlayerItem] = [:]
  /// The current epoch of claims; see `QueueOwnership`.
  private(set) var epoch: UInt64 = 1
  private(set) lazy var largeChanges = LargeChanges(player)
  /// Items that left the queue and are not disconnected from the player yet.
  var departures = Departures()
  #if DEBUG
    /// The largest number of items disconnected in one turn of the loop so far. Read by tests.
    var longestDepartureSlice = 0
  #endif

  init(_ player: PlayerCore) { self.player = player }

  /// The item with an id; nil if it is not in the queue.
  subscript(id: PlayerItem.ID) -> PlayerItem? { table[id] }

  /// The item with an id, in the queue or in the history.
  func inQueueOrHistory(_ id: PlayerItem.ID) -> PlayerItem? { table[id] ?? past[id] }

  var isEmpty: Bool { table.isEmpty }

  // MARK: - Claims

  /// Begins an epoch, so that all present items can be freed at once.
  func beginEpoch() { epoch += 1 }

  /// Claims all of the items for the queue, or none.
  ///
  /// - Throws: `itemInUse`; `invalidState` if the player is closed.
  func claim(_ newItems: [PlayerItem]) throws(MediaError) {
    try player.checkOpen("insert")
    for (index, item) in newItems.enumerated() {
      // Claiming a reserved item again moves the claim to this epoch.
      guard table[item.id] == nil, item.claim(by: ownership, epoch: epoch) else {
        release(Array(newItems[..<index]))
        throw MediaError(.itemInUse, "item \(item.id) is already in a queue", operation: "insert")
      }
      add(item)
    }
    player.persistence.itemsChanged(newItems)
  }

  /// Claims all of the items, or none, for an edit in preparation, and adds them to its reservation.
  ///
  /// - Throws: `itemInUse`; `invalidState` if the player is closed.
  func reserve(_ newItems: [PlayerItem], in reservation: inout QueueReservation) throws(MediaError) {
    try player.checkOpen("insert")
    for (index, item) in newItems.enumerated() {
      guard table[item.id] == nil, reservation.items[item.id] == nil, item.claim(by: ownership, epoch: epoch) else {
        release(Array(newItems[..<index]))
        throw MediaError(.itemInUse, "item \(item.id) is already in a queue", operation: "insert")
      }
      player.itemSettings.connect(item)
    }
    reservation.add(newItems)
  }

  /// Claims an item of the history again, unless it is in the queue. Returns false if the item failed or another queue
  /// has claimed it.
  func reclaim(_ id: PlayerItem.ID) -> Bool {
    if let item = table[id] { return item.error == nil }
    guard let item = past[id], item.error == nil, item.claim(by: ownership, epoch: epoch) else { return false }
    add(item)
    player.persistence.itemsChanged([item])
    return true
  }

  /// Adds items of a saved history that are not in the queue.
  func restorePast(_ items: [PlayerItem]) { for item in items where table[item.id] == nil { past[item.id] = item } }

  /// Adds a claimed item to the queue.
  private func add(_ item: PlayerItem) {
    player.itemSettings.connect(item)
    table[item.id] = item
    byteCount += item.descriptionByteCount
    if !past.isEmpty { past[item.id] = nil }
  }
}
