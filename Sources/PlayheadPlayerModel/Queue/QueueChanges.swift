import DequeModule

/// A change of one entry of a queue. A client that applies the steps in their order to an old copy of the queue gets
/// the current queue.
public enum QueueStep: Sendable, Hashable {
  /// An item was inserted at this index.
  case inserted(PlayerItemID, index: Int)
  /// The item at this index was removed.
  case removed(PlayerItemID, index: Int)
  /// An item moved; `to` is its index afterwards.
  case moved(PlayerItemID, from: Int, to: Int)
  /// This number of first items moved to the end.
  case rotated(Int)
}

/// A step and the version of the queue to which it leads.
public struct QueueChangeEntry: Sendable, Hashable {
  /// The version of the queue after the step.
  public var version: UInt64
  /// The change.
  public var step: QueueStep
}

/// The steps since the last version of a queue.
package struct QueueSteps: Sendable {
  /// The default of ``limit``: higher than the number of steps that a log keeps.
  static let standardLimit = 65_536

  /// The maximum number of recorded steps. With more steps, the whole list becomes a replacement.
  private let limit: Int
  package private(set) var steps: [QueueStep] = []
  /// Whether the change counts as a replacement of the whole order, without steps: the whole order changed, or there
  /// were more than `limit` steps.
  package private(set) var isReplacement = false

  /// Creates an empty list.
  ///
  /// - Parameter limit: The maximum number of recorded steps.
  package init(limit: Int = standardLimit) { self.limit = limit }

  /// Records a step. Beyond `limit`, the list becomes a replacement.
  package mutating func record(_ step: QueueStep) {
    guard !isReplacement else { return }
    if steps.count < limit { steps.append(step) } else { recordReplacement() }
  }

  /// Records one step per item. `makeStep` is called for each item unless there are too many.
  package mutating func record<Item>(_ items: some Collection<Item>, _ makeStep: (Int, Item) -> QueueStep) {
    guard !isReplacement else { return }
    guard steps.count + items.count <= limit else { return recordReplacement() }
    for (number, item) in items.enumerated() { steps.append(makeStep(number, item)) }
  }

  /// Records that the whole order changed.
  mutating func recordReplacement() {
    isReplacement = true
    steps = []
  }
}

/// The steps that led to the newest versions of a queue, in bounded memory.
package struct QueueChangeLog: Sendable {
  /// The maximum number of steps. A version without steps counts as one.
  package var limit = 1_024 { didSet { trim() } }
  private var versions: Deque<(version: UInt64, steps: [QueueStep])> = []
  private var count = 0
  /// The oldest version whose following steps are known.
  private var oldest: UInt64 = 0
  private var newest: UInt64 = 0

  /// Records the steps that led to a new version.
  package mutating func append(_ steps: QueueSteps, version: UInt64) {
    newest = version
    guard !steps.isReplacement else {
      versions.removeAll()
      (count, oldest) = (0, version)
      return
    }
    versions.append((version, steps.steps))
    count += max(1, steps.steps.count)
    trim()
  }

  private mutating func trim() {
    while count > limit, let first = versions.popFirst() {
      count -= max(1, first.steps.count)
      oldest = first.version
    }
  }

  /// Returns the steps since this version; nil if they are no longer known or the version is in the future.
  package func changes(since version: UInt64) -> [QueueChangeEntry]? {
    guard (oldest...newest).contains(version) else { return nil }
    var changes: [QueueChangeEntry] = []
    for entry in versions.reversed().prefix(while: { $0.version > version }).reversed() {
      changes += entry.steps.map { QueueChangeEntry(version: entry.version, step: $0) }
    }
    return changes
  }
}
