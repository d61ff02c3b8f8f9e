/// The entries that left the queue.
package struct RemovedEntries: Sendable {
  /// The order of a queue that lost all its entries at once; nil: no queue did.
  package private(set) var wholeOrder: QueueOrder?
  /// The entries that left one by one.
  package private(set) var ids: [PlayerItemID] = []

  /// Whether no entry left.
  package var isEmpty: Bool { wholeOrder == nil && ids.isEmpty }

  package mutating func add(_ id: PlayerItemID) { ids.append(id) }

  package mutating func add(_ new: some Sequence<PlayerItemID>) { ids += new }

  /// Adds all entries of a queue.
  mutating func addAll(_ order: QueueOrder) {
    if isEmpty, !order.isEmpty { wholeOrder = order } else { ids += order }
  }
}
