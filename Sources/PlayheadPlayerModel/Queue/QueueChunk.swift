/// A part of a queue's order: adjacent ids. As long as none of them changes, snapshots share the same array.
package struct QueueChunk: Sendable, Hashable {
  /// Identifies the part in its order, and stays the same when the ids change.
  package var key: UInt32
  /// The ids of the part, in order.
  package var ids: [PlayerItemID]

  /// Creates a part.
  package init(key: UInt32, ids: [PlayerItemID]) {
    self.key = key
    self.ids = ids
  }
}
