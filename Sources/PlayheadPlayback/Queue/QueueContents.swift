import PlayheadMediaCore
import PlayheadPlayerModel

/// The queue of a player with its items.
///
/// A pure value, from which another thread computes the queue after a large change.
struct QueueContents: Sendable {
  var queue: QueueModel
  var items: ItemTable<PlayerItem>
  /// The sum of `PlayerItem.descriptionByteCount` over `items`.
  var byteCount: Int

  /// The contents after a change, and what left the queue.
  struct Changed: Sendable {
    var contents: QueueContents
    /// The items that entered the queue.
    var newItems: [PlayerItem] = []
    /// The states of new entries that have one.
    var newStates = ItemTable<QueueEntry>()
    /// The items that left a queue that has other items now.
    var removedItems = ItemChunks()
    /// The items of a queue that lost all of them at once.
    var removedTable: ItemTable<PlayerItem>?
    /// The removed items that are in the history.
    var pastItems: [PlayerItem] = []
  }

  /// Returns the contents after a change.
  ///
  /// - Parameters:
  ///   - reservation: The items that the change inserts.
  ///   - change: The change of the queue. It inserts all items of `reservation` and no others.
  /// - Throws: The errors of `change`.
  func changed(
    adding reservation: QueueReservation, by change: (inout QueueModel) throws(MediaError) -> Void
  ) throws(MediaError) -> Changed {
    var result = Changed(contents: self)
    try change(&result.contents.queue)
    let removed = result.contents.queue.drainRemovedEntries()
    if removed.wholeOrder == nil {
      result.contents.items.merge(reservation.items)
      result.contents.byteCount += reservation.byteCount
    } else {
      // Items that are inserted were in no queue, so none of the former items stays.
      result.removedTable = items
      result.contents.items = reservation.items
      result.contents.byteCount = reservation.byteCount
    }
    for id in removed.ids {
      guard let item = result.contents.items.removeValue(for: id) else { continue }
      result.removedItems.append(item)
      result.contents.byteCount -= item.descriptionByteCount
    }
    let queue = result.contents.queue
    result.newItems = Array(reservation.items.values)
    for item in result.newItems {
      if let entry = queue.entries[item.id], !entry.hasOnlyID { result.newStates[item.id] = entry }
    }
    for id in queue.history.ids where result.contents.items[id] == nil {
      if let item = items[id] { result.pastItems.append(item) }
    }
    return result
  }
}
