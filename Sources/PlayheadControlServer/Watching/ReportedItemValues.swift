import DequeModule
import PlayheadPlayback

/// The last reported values of opened entries. The values of entries that left the queue are removed in slices, because
/// there may be thousands.
struct ReportedItemValues {
  /// The smallest number of values at which stale ones are removed.
  private static let smallestThreshold = 64
  /// The number of entries that one call of `cleanUpSlice` checks.
  private static let sliceLength = 128

  private(set) var values: [PlayerItem.ID: ObservedItem] = [:]
  /// The keys of `values`. Those that were checked last are at the end.
  private var order: Deque<PlayerItem.ID> = []
  /// The number of entries to check; 0: no clean-up is under way.
  private var uncheckedCount = 0
  /// The number of values beyond which stale ones are removed. It is twice the number after the last clean-up, so that
  /// the cost of an edit does not depend on the length of the queue.
  private var threshold = smallestThreshold

  /// Sets the values of an entry. Returns the former ones.
  mutating func set(_ new: ObservedItem, of id: PlayerItem.ID) -> ObservedItem? {
    let old = values.updateValue(new, forKey: id)
    if old == nil { order.append(id) }
    return old
  }

  /// Starts to remove stale values, if there are many values. Returns whether the caller must call `cleanUpSlice` until
  /// it returns true.
  mutating func startCleanUp() -> Bool {
    guard uncheckedCount == 0, values.count > threshold else { return false }
    uncheckedCount = values.count
    return true
  }

  /// Checks the next entries and removes the values of stale ones. Returns whether all entries have been checked.
  mutating func cleanUpSlice(isStale: (PlayerItem.ID) -> Bool) -> Bool {
    for _ in 0..<min(uncheckedCount, Self.sliceLength) {
      guard let id = order.popFirst() else { break }
      uncheckedCount -= 1
      if isStale(id) { values[id] = nil } else { order.append(id) }
    }
    guard uncheckedCount == 0 else { return false }
    threshold = max(Self.smallestThreshold, 2 * values.count)
    return true
  }
}
