import MediaCore

/// The entries of a queue in their order, found by id or by place. The first is the current one.
///
/// What is known of an entry lies apart from the order, so that edits move ids only; of most of a long queue nothing is.
struct QueueEntries: Sequence, Sendable {
  typealias Entry = PlayerStateMachine.Entry
  typealias ItemID = PlayerItem.ID

  private(set) var order = QueueOrder()
  /// The entries of which something is known.
  private var known: [ItemID: Entry] = [:]
  /// What was done to the order since it was last asked.
  private var steps = QueueSteps()
  /// The number of steps up to which they are noted one by one: what leads to a version in more steps is not kept.
  var stepLimit = QueueSteps.standardLimit {
    didSet { if steps.steps.isEmpty, !steps.isWhole { steps = QueueSteps(limit: stepLimit) } }
  }

  init() {}

  /// A queue of entries with different ids.
  init(_ entries: [Entry]) {
    noteKnown(entries)
    order = QueueOrder(entries.map(\.id))
  }

  private mutating func noteKnown(_ entries: [Entry]) {
    for entry in entries where !entry.isUnknown { known[entry.id] = entry }
  }

  /// What was done to the order since the last call.
  mutating func takeSteps() -> QueueSteps {
    defer { steps = QueueSteps(limit: stepLimit) }
    return steps
  }

  /// Whether nothing has changed since the last version.
  var isUnchanged: Bool { steps.steps.isEmpty && !steps.isWhole }

  /// Has other entries altogether.
  mutating func replaceAll(_ entries: [Entry]) {
    known = [:]
    noteKnown(entries)
    order = QueueOrder(entries.map(\.id))
    steps = QueueSteps(limit: stepLimit)
    steps.noteWhole()
  }

  /// Removes some entries, which are there.
  mutating func removeAll(_ ids: [ItemID]) {
    let removed = order.removeAll(ids)
    steps.note(removed) { .removed($1.id, index: $1.index) }
    if !known.isEmpty { for id in ids { known[id] = nil } }
  }

  // MARK: - Reading

  var count: Int { order.count }

  var isEmpty: Bool { order.isEmpty }

  var first: Entry? { order.first.map { known[$0] ?? Entry(id: $0) } }

  /// What is known of an entry; nil when it is not there, and setting that of one that is not there changes nothing.
  subscript(id: ItemID) -> Entry? {
    get { known[id] ?? (order.contains(id) ? Entry(id: id) : nil) }
    set { if let newValue, order.contains(id) { known[id] = newValue } }
  }

  func contains(_ id: ItemID) -> Bool { order.contains(id) }

  func index(of id: ItemID) -> Int? { order.index(of: id) }

  /// Entries from a place on.
  func suffix(from index: Int) -> Iterator { Iterator(ids: order.suffix(from: index), known: known) }

  func makeIterator() -> Iterator { suffix(from: 0) }

  /// Goes over the entries in order.
  struct Iterator: IteratorProtocol, Sequence {
    fileprivate var ids: QueueOrder.Iterator
    fileprivate let known: [ItemID: Entry]

    mutating func next() -> Entry? { ids.next().map { known[$0] ?? Entry(id: $0) } }
  }

  // MARK: - Changing

  /// Puts entries that are not there yet in front of the one at `index`, or at the end.
  mutating func insert(contentsOf entries: [Entry], at index: Int) {
    noteKnown(entries)
    let first = Swift.min(index, order.count)
    steps.note(entries) { number, entry in .inserted(entry.id, index: first + number) }
    order.insert(contentsOf: entries.map(\.id), at: index)
  }

  /// Takes an entry out; nil when it is not there.
  @discardableResult
  mutating func remove(_ id: ItemID) -> (entry: Entry, index: Int)? {
    guard let index = order.remove(id) else { return nil }
    steps.note(.removed(id, index: index))
    return (known.removeValue(forKey: id) ?? Entry(id: id), index)
  }

  /// Takes the current entry out; nil without one.
  @discardableResult
  mutating func removeFirst() -> Entry? { order.first.flatMap { remove($0)?.entry } }

  /// Takes the first so many entries out, in their order.
  mutating func removeFirst(_ wanted: Int) -> [Entry] {
    let ids = order.removeFirst(wanted)
    steps.note(ids) { .removed($1, index: 0) }
    return ids.map { known.removeValue(forKey: $0) ?? Entry(id: $0) }
  }

  /// Moves an entry to the place that it is to have afterwards.
  mutating func move(_ id: ItemID, to index: Int) {
    guard let from = order.remove(id) else { return }
    let to = Swift.min(index, order.count)
    order.insert(contentsOf: CollectionOfOne(id), at: index)
    if from != to { steps.note(.moved(id, from: from, to: to)) }
  }

  /// Takes the first so many entries to the end.
  mutating func rotate(by distance: Int) {
    guard distance > 0, distance < order.count else { return }
    order.rotate(by: distance)
    steps.note(.rotated(distance))
  }

  /// Puts all of them into another order, which has the same ids.
  mutating func reorder(_ ids: [ItemID]) {
    order = QueueOrder(ids)
    steps.noteWhole()
  }
}
