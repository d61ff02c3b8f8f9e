import Synchronization

/// A player's claim on the items of its queue.
///
/// An item records the ownership and the epoch in which it was claimed. A queue that loses all of its items ends their
/// epochs. This frees all items for other queues in constant time.
///
/// Threading: any.
final class QueueOwnership: Sendable {
  /// The first valid epoch: items that were claimed in an earlier epoch are free.
  private let firstEpoch = Atomic<UInt64>(1)

  /// Frees all items that were claimed before `epoch`.
  func endEpochs(before epoch: UInt64) { firstEpoch.store(epoch, ordering: .releasing) }

  /// Whether items that were claimed in `epoch` are still claimed.
  func isCurrent(_ epoch: UInt64) -> Bool { epoch >= firstEpoch.load(ordering: .acquiring) }
}
