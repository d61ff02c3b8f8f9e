import MediaCore

/// A place in a queue.
public enum QueuePlace: Sendable, Hashable {
  /// What is put there has this index afterwards; 0 is the current item's.
  case index(Int)
  case before(PlayerItem.ID)
  case after(PlayerItem.ID)
  case end
  /// Behind the current item; in an empty queue its beginning.
  case next
}

/// A change of a queue; several make one edit, which is done as a whole or not at all.
public enum QueueEdit: Sendable {
  /// Adds items, in their order. At index 0 the first becomes current.
  case insert([PlayerItem], at: QueuePlace)
  /// Takes items out. Without the current one the next becomes current.
  case remove([PlayerItem.ID])
  /// Moves an item. What comes to index 0 becomes current.
  case move(PlayerItem.ID, to: QueuePlace)
  /// Puts an item in another one's place.
  case replace(PlayerItem.ID, with: PlayerItem)
  /// Takes all items out, and forgets what was played before.
  case removeAll

  /// Adds items at the end.
  public static func append(_ items: [PlayerItem]) -> QueueEdit { .insert(items, at: .end) }

  /// The items that it brings.
  var newItems: [PlayerItem] {
    switch self {
    case .insert(let items, _): items
    case .replace(_, let item): [item]
    case .remove, .move, .removeAll: []
    }
  }
}

/// What becomes of a player when an item cannot be played, or breaks off.
public enum ItemFailurePolicy: String, Sendable, Hashable, CaseIterable {
  /// The next item follows, if there is one. Each that is passed over without being heard is an `itemSkipped` event.
  case skip
  /// The rate becomes 0, and the item stays current. Playing on goes on behind it.
  case stop
}
