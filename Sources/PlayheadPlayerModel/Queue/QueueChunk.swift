/// A part of a queue's order: adjacent ids. As long as none of them changes, snapshots share the same array.
public struct QueueChunk: Sendable, Hashable {
  /// Identifies the part in its order, and stays the same when the ids change.
  public var key: UInt32
  /// The ids of the part, in order.
  public var ids: [PlayerItemID]

  /// Creates a part.
  public init(key: UInt32, ids: [PlayerItemID]) {
    self.key = key
    self.ids = ids
  }
}
