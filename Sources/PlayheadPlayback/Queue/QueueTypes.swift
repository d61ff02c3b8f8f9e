import PlayheadMediaCore
import PlayheadPlayerModel

/// A change of a queue. Several changes are applied together, all or none.
public enum QueueEdit: Sendable {
  /// Inserts items in their order. At index 0 the first becomes current.
  case insert([PlayerItem], at: QueuePosition)
  /// Removes items. If the current item is removed, the next one becomes current.
  case remove([PlayerItem.ID])
  /// Moves an item. An item that moves to index 0 becomes current.
  case move(PlayerItem.ID, to: QueuePosition)
  /// Replaces an item by another.
  case replace(PlayerItem.ID, with: PlayerItem)
  /// Removes all items and clears the history.
  case removeAll

  /// Inserts items at the end.
  public static func append(_ items: [PlayerItem]) -> QueueEdit { .insert(items, at: .end) }

  /// The items that the edit adds.
  var newItems: [PlayerItem] {
    switch self {
    case .insert(let items, _): items
    case .replace(_, let item): [item]
    case .remove, .move, .removeAll: []
    }
  }

  /// The change of the queue's entries.
  var change: QueueModel.Change {
    switch self {
    case .insert(let items, let position): .insert(items.map(\.queueEntry), at: position)
    case .remove(let ids): .remove(ids)
    case .move(let id, let position): .move(id, to: position)
    case .replace(let id, let item): .replace(id, with: item.queueEntry)
    case .removeAll: .removeAll
    }
  }
}

/// A change of a queue that may take long, because the queue or the change is large. Another thread computes it
/// (``QueuePlayer/perform(_:adding:check:completion:)``).
package enum QueueOperation: Sendable {
  /// Like ``QueuePlayer/edit(_:ifVersion:)``.
  case edit([QueueEdit])
  /// Like ``QueuePlayer/replaceAll(with:)``, for items that are in no queue.
  case replaceAll([PlayerItem])
  /// Like ``QueuePlayer/shuffle(seed:)``.
  case shuffle(seed: UInt64)
  /// Like ``QueuePlayer/endShuffle()``.
  case endShuffle
  /// Like ``QueuePlayer/jump(to:)``, for an item of the queue that is not current.
  case jump(to: PlayerItem.ID)

  /// The items that the operation adds.
  var newItems: [PlayerItem] {
    switch self {
    case .edit(let edits): edits.flatMap(\.newItems)
    case .replaceAll(let items): items
    case .shuffle, .endShuffle, .jump: []
    }
  }

  /// Applies the operation to a queue.
  ///
  /// - Throws: The errors of the functions that the cases name.
  func apply(to queue: inout QueueModel) throws(MediaError) {
    switch self {
    case .edit(let edits): try queue.edit(edits.map(\.change))
    case .replaceAll(let items): queue.replaceAll(items.map(\.queueEntry))
    case .shuffle(let seed): queue.setShuffle(seed: seed)
    case .endShuffle: queue.setShuffle(seed: nil)
    case .jump(let id):
      guard queue.entries.contains(id) else { throw QueueModel.noSuchItem(id, "jump") }
      queue.jump(to: id)
    }
  }
}
