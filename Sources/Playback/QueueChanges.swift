import DequeModule

/// What happened to one entry of a queue, in the order in which it did: who does the same to a list of the queue as it was has the
/// queue as it is.
public enum QueueStep: Sendable, Hashable {
  /// An item came, and had this index then.
  case inserted(PlayerItem.ID, index: Int)
  /// The item that had this index went.
  case removed(PlayerItem.ID, index: Int)
  /// An item went from one index to the other, which it had afterwards.
  case moved(PlayerItem.ID, from: Int, to: Int)
  /// The first so many went to the end.
  case rotated(Int)
}

/// A step, and the version of the queue that it belongs to.
public struct QueueChangeEntry: Sendable, Hashable {
  public var version: UInt64
  public var step: QueueStep
}

/// The steps that lead to the next version of a queue, until it has that.
struct QueueSteps: Sendable {
  /// The default of ``limit``: more than are ever kept.
  static let standardLimit = 65_536

  /// The number of steps up to which they are noted one by one.
  private let limit: Int
  private(set) var steps: [QueueStep] = []
  /// Its order is another one altogether, or there were too many steps.
  private(set) var isWhole = false

  /// No steps yet.
  ///
  /// - Parameter limit: The number of steps up to which they are noted one by one.
  init(limit: Int = standardLimit) { self.limit = limit }

  mutating func note(_ step: QueueStep) {
    guard !isWhole else { return }
    if steps.count < limit { steps.append(step) } else { noteWhole() }
  }

  /// Notes as many steps as there are items. `makeStep` is called for each of them unless they are too many.
  mutating func note<Item>(_ items: some Collection<Item>, _ makeStep: (Int, Item) -> QueueStep) {
    guard !isWhole else { return }
    guard steps.count + items.count <= limit else { return noteWhole() }
    for (number, item) in items.enumerated() { steps.append(makeStep(number, item)) }
  }

  mutating func noteWhole() {
    isWhole = true
    steps = []
  }
}

/// What led to the newest versions of a queue, in bounded memory.
struct QueueChangeLog: Sendable {
  /// The steps that are kept; a version without any counts as one.
  var limit = 1_024 { didSet { trim() } }
  private var versions: Deque<(version: UInt64, steps: [QueueStep])> = []
  private var count = 0
  /// What happened since this version is known.
  private var oldest: UInt64 = 0
  private var newest: UInt64 = 0

  /// The queue has another version, which these steps led to.
  mutating func append(_ steps: QueueSteps, version: UInt64) {
    newest = version
    guard !steps.isWhole else {
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

  /// What happened since the queue had this version; nil when that is not known any more, or the version is still to come.
  func changes(since version: UInt64) -> [QueueChangeEntry]? {
    guard (oldest...newest).contains(version) else { return nil }
    var changes: [QueueChangeEntry] = []
    for entry in versions.reversed().prefix(while: { $0.version > version }).reversed() {
      changes += entry.steps.map { QueueChangeEntry(version: entry.version, step: $0) }
    }
    return changes
  }
}
