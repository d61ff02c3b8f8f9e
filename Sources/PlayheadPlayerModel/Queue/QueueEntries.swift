import PlayheadMediaCore

/// The entries of a queue in their order, found by id or by index. The first is the current one.
///
/// The state of the entries is separate from the order, so that edits move only ids. Most entries of a long queue have
/// no state.
package struct QueueEntries: Sequence, Sendable {
  package typealias Entry = QueueEntry
  package typealias ItemID = PlayerItemID

  package private(set) var order = QueueOrder()
  /// The entries that have state. May include entries that have left the queue (`dropStates`).
  private var states = ItemTable<Entry>()
  /// The changes of the order since the last `drainSteps()`.
  private var steps = QueueSteps()
  /// The maximum number of steps of a version that are recorded. A version with more steps counts as a replacement.
  package var stepLimit = QueueSteps.standardLimit {
    didSet { if steps.steps.isEmpty, !steps.isReplacement { steps = QueueSteps(limit: stepLimit) } }
  }

  package init() {}

  /// Creates a queue of entries with different ids.
  package init(_ entries: [Entry]) {
    storeStates(entries)
    order = QueueOrder(entries.map(\.id))
  }

  /// Sets the state of new entries.
  private mutating func storeStates(_ entries: [Entry]) {
    for entry in entries {
      if !entry.hasOnlyID {
        states[entry.id] = entry
      } else if !states.isEmpty {
        states[entry.id] = nil
      }
    }
  }

  /// Replaces the state of all entries by the state that entries of an earlier copy have now, and adds that of new
  /// entries.
  mutating func adoptStates(of current: QueueEntries, adding new: ItemTable<Entry>) {
    states = current.states
    states.merge(new)
  }

  /// Drops the state of entries that have left the queue.
  mutating func dropStates(of ids: some Sequence<ItemID>) {
    guard !states.isEmpty else { return }
    for id in ids where !order.contains(id) { states[id] = nil }
  }

  /// Returns and clears the changes of the order since the last call.
  mutating func drainSteps() -> QueueSteps {
    defer { steps = QueueSteps(limit: stepLimit) }
    return steps
  }

  /// Whether the order has not changed since the last version.
  var isUnchanged: Bool { steps.steps.isEmpty && !steps.isReplacement }

  /// Replaces all entries.
  package mutating func replaceAll(_ entries: [Entry]) {
    states = ItemTable()
    storeStates(entries)
    order = QueueOrder(entries.map(\.id))
    steps = QueueSteps(limit: stepLimit)
    steps.recordReplacement()
  }

  /// Removes entries, which must exist.
  package mutating func removeAll(_ ids: [ItemID]) {
    let removed = order.removeAll(ids)
    steps.record(removed) { .removed($1.id, index: $1.index) }
    if !states.isEmpty { for id in ids { states[id] = nil } }
  }

  // MARK: - Reading

  package var count: Int { order.count }

  package var isEmpty: Bool { order.isEmpty }

  package var first: Entry? { order.first.map { states[$0] ?? Entry(id: $0) } }

  /// The state of an entry; nil if the entry does not exist.
  package subscript(id: ItemID) -> Entry? { order.contains(id) ? states[id] ?? Entry(id: id) : nil }

  /// Changes the state of an entry. Has no effect if the entry does not exist.
  mutating func update(_ id: ItemID, _ change: (inout Entry) -> Void) {
    guard var entry = self[id] else { return }
    change(&entry)
    states[id] = entry
  }

  package func contains(_ id: ItemID) -> Bool { order.contains(id) }

  package func index(of id: ItemID) -> Int? { order.index(of: id) }

  /// Returns the entries from an index to the end.
  package func suffix(from index: Int) -> Iterator { Iterator(ids: order.suffix(from: index), states: states) }

  package func makeIterator() -> Iterator { suffix(from: 0) }

  /// Iterates over the entries in order.
  package struct Iterator: IteratorProtocol, Sequence {
    fileprivate var ids: QueueOrder.Iterator
    fileprivate let states: ItemTable<Entry>

    package mutating func next() -> Entry? { ids.next().map { states[$0] ?? Entry(id: $0) } }
  }

  // MARK: - Changing

  /// Inserts new entries before the one at `index`, or at the end.
  package mutating func insert(contentsOf entries: [Entry], at index: Int) {
    storeStates(entries)
    let first = Swift.min(index, order.count)
    steps.record(entries) { number, entry in .inserted(entry.id, index: first + number) }
    order.insert(contentsOf: entries.map(\.id), at: index)
  }

  /// Removes an entry; nil if it does not exist.
  @discardableResult
  package mutating func remove(_ id: ItemID) -> (entry: Entry, index: Int)? {
    guard let index = order.remove(id) else { return nil }
    steps.record(.removed(id, index: index))
    return (states.removeValue(for: id) ?? Entry(id: id), index)
  }

  /// Removes the current entry; nil if there is none.
  @discardableResult
  package mutating func removeFirst() -> Entry? { order.first.flatMap { remove($0)?.entry } }

  /// Removes the first `requestedCount` entries and returns them in their order.
  package mutating func removeFirst(_ requestedCount: Int) -> [Entry] {
    let ids = order.removeFirst(requestedCount)
    steps.record(ids) { .removed($1, index: 0) }
    return ids.map { states.removeValue(for: $0) ?? Entry(id: $0) }
  }

  /// Moves an entry to `index`, its index after the move.
  package mutating func move(_ id: ItemID, to index: Int) {
    guard let from = order.remove(id) else { return }
    let to = Swift.min(index, order.count)
    order.insert(contentsOf: CollectionOfOne(id), at: index)
    if from != to { steps.record(.moved(id, from: from, to: to)) }
  }

  /// Moves the first `distance` entries to the end.
  package mutating func rotate(by distance: Int) {
    guard distance > 0, distance < order.count else { return }
    order.rotate(by: distance)
    steps.record(.rotated(distance))
  }

  /// Replaces the order. The new one must have the same ids.
  mutating func reorder(_ newOrder: QueueOrder) {
    order = newOrder
    steps.recordReplacement()
  }
}
