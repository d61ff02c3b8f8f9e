import MediaCore
import PlayerModel

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
}
