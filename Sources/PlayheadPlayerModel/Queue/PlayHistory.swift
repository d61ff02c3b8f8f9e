import DequeModule
import PlayheadMediaCore

/// The items that were current before, the newest last. An item that was played several times occurs several times.
/// Bounded: the oldest entries are dropped.
package struct PlayHistory: Sendable {
  package typealias ItemID = PlayerItemID

  /// The maximum number of occurrences.
  package static let limit = 1_000

  package private(set) var ids = Deque<ItemID>()
  private var counts: [ItemID: Int] = [:]
  /// Items that are no longer in the history, until `drainForgottenIDs` returns them.
  private var forgottenIDs: [ItemID] = []

  package var last: ItemID? { ids.last }

  package func contains(_ id: ItemID) -> Bool { counts[id] != nil }

  /// Adds an item as the newest, and drops the oldest occurrence beyond `limit`.
  package mutating func append(_ id: ItemID) {
    ids.append(id)
    counts[id, default: 0] += 1
    if ids.count > Self.limit, let oldest = ids.popFirst() { decrementCount(oldest) }
  }

  /// Removes the newest occurrence, if there is one.
  package mutating func removeLast() {
    if let id = ids.popLast() { decrementCount(id) }
  }

  /// Removes all occurrences of an item.
  package mutating func remove(_ id: ItemID) {
    guard counts.removeValue(forKey: id) != nil else { return }
    ids.removeAll { $0 == id }
    forgottenIDs.append(id)
  }

  package mutating func removeAll() {
    forgottenIDs += counts.keys
    ids = []
    counts = [:]
  }

  /// Returns the items that left the history since the last call and are not in it again.
  package mutating func drainForgottenIDs() -> [ItemID] {
    guard !forgottenIDs.isEmpty else { return [] }
    defer { forgottenIDs = [] }
    return forgottenIDs.filter { counts[$0] == nil }
  }

  private mutating func decrementCount(_ id: ItemID) {
    guard let count = counts[id] else { return }
    counts[id] = count > 1 ? count - 1 : nil
    if count == 1 { forgottenIDs.append(id) }
  }
}
