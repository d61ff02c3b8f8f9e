import PlayheadPlayerModel

/// New items that a player has claimed for a change of its queue in preparation. They are in no queue until then.
///
/// A reservation ends with the change or with ``QueuePlayer/cancel(_:)``. It must not be used for two changes.
package struct QueueReservation: Sendable {
  /// The items, by their ids.
  private(set) var items = ItemTable<PlayerItem>()
  /// The number of bytes that describe the items (`PlayerItem.descriptionByteCount`).
  private(set) var byteCount = 0

  /// Creates an empty reservation.
  package init() {}

  /// The number of items.
  package var count: Int { items.count }

  /// Adds items that the player has claimed.
  mutating func add(_ newItems: [PlayerItem]) {
    var iterator = newItems.makeIterator()
    items.set(newItems.lazy.map(\.id)) { id in
      guard let item = iterator.next() else { preconditionFailure("there are as many items as ids") }
      return item
    }
    byteCount += newItems.reduce(0) { $0 + $1.descriptionByteCount }
  }

  /// Adds the items of another reservation of the same player.
  package mutating func merge(_ other: QueueReservation) {
    items.merge(other.items)
    byteCount += other.byteCount
  }
}
