import PlayheadMediaCore

/// The queue of a player: its entries in their order, the history, the shuffled order, the repeat mode and the version.
///
/// A pure value. Changes that take long can be applied to a copy on another thread; `adopt` then replaces the original.
package struct QueueModel: Sendable {
  package typealias Entry = QueueEntry
  package typealias ItemID = PlayerItemID

  /// A change of the queue. New entries contain the known data of their items, and must not be in a queue yet.
  package enum Change: Sendable {
    case insert([Entry], at: QueuePosition)
    case remove([ItemID])
    case move(ItemID, to: QueuePosition)
    case replace(ItemID, with: Entry)
    case removeAll
  }

  /// The reversal of a change. `restore` also reverses all later changes.
  enum Reversal {
    case remove([ItemID])
    case reinsert(Entry, index: Int, originalIndex: Int?)
    case moveBack(ItemID, index: Int)
    case restore(QueueEntries, original: QueueOrder?)
  }

  // MARK: - State

  package private(set) var entries = QueueEntries()
  /// Increases after all steps of a change.
  package private(set) var version: UInt64 = 0
  /// The changes that led to the newest versions.
  package private(set) var changes = QueueChangeLog()
  /// The items that were current before.
  package private(set) var history = PlayHistory()
  /// The shuffled order; nil while the queue is not shuffled.
  package private(set) var shuffle: QueueShuffle?
  package private(set) var repeatMode = RepeatMode.off
  /// Entries that left the queue since the last call of `drainRemovedEntries`.
  private var removedEntries = RemovedEntries()
  /// Increases with each change of anything except the state of entries.
  package private(set) var revision: UInt64 = 0

  package init() {}

  /// Restores a saved queue.
  package mutating func restore(
    _ newEntries: [Entry], history ids: [ItemID], version: UInt64, shuffle saved: ShuffleSnapshot?
  ) {
    entries = QueueEntries(newEntries)
    for id in ids { history.append(id) }
    endChange(version: version)
    guard let saved else { return }
    let original = saved.original.flatMap(\.ids).filter { entries.contains($0) }
    // Ignore an unshuffled order that does not match the queue: the queue is then not shuffled.
    if original.count == entries.count { shuffle = QueueShuffle(saved, original: QueueOrder(original)) }
  }

  /// Completes a change of the queue.
  private mutating func endChange() { endChange(version: version + 1) }

  private mutating func endChange(version: UInt64) {
    self.version = version
    changes.append(entries.drainSteps(), version: version)
    revision += 1
  }

  /// Sets the number of steps that `changes` can go back; at least 1.
  package mutating func setChangeLimit(_ count: Int) {
    changes.limit = count
    entries.stepLimit = count
  }

  package mutating func setRepeatMode(_ mode: RepeatMode) {
    repeatMode = mode
    if mode != .all { shuffle?.remaining = entries.count }
    revision += 1
  }

  /// Changes the state of an entry. Has no effect if the entry is not in the queue.
  package mutating func update(_ id: ItemID, _ change: (inout Entry) -> Void) { entries.update(id, change) }

  /// Returns all entries that left the queue since the last call.
  package mutating func drainRemovedEntries() -> RemovedEntries {
    defer { removedEntries = RemovedEntries() }
    return removedEntries
  }

  /// Returns the items that left the history since the last call and are not in it again.
  package mutating func drainForgottenIDs() -> [ItemID] { history.drainForgottenIDs() }

  // MARK: - Changes of a copy

  /// Replaces the queue by a changed copy of it. The state of entries that were in the queue before stays. The state of
  /// removed entries must be dropped later (`dropStates`).
  ///
  /// Takes a time that depends on the number of new entries with state only.
  ///
  /// - Parameters:
  ///   - changed: The copy. It must be of the current `revision`.
  ///   - states: The state of new entries.
  package mutating func adopt(_ changed: QueueModel, adding states: ItemTable<Entry>) {
    let entries = entries
    self = changed
    self.entries.adoptStates(of: entries, adding: states)
  }

  /// Drops the state of entries that have left the queue.
  package mutating func dropStates(of ids: some Sequence<ItemID>) { entries.dropStates(of: ids) }

  // MARK: - Edits

  /// Applies all changes, or none if one fails. Together they make one new version of the queue. Moves without an
  /// effect make no new version.
  ///
  /// - Throws: `noSuchItem`; `invalidArgument` for a position that does not exist, and for an id that is listed twice.
  ///   With several changes the message contains the number of the failed one.
  package mutating func edit(_ changes: [Change]) throws(MediaError) {
    guard !changes.isEmpty else { return }
    let (remaining, generator) = (shuffle?.remaining, shuffle?.insertionGenerator)
    var reversals: [Reversal] = []
    var number = 0
    while number < changes.count {
      // Successive appends are applied together.
      let appended = Self.appended(in: changes[number...])
      if appended.changeCount > 1 {
        insertEntries(appended.entries, at: .end, index: entries.count)
        Self.record(.remove(appended.entries.map(\.id)), in: &reversals)
        number += appended.changeCount
        continue
      }
      do throws(MediaError) {
        try apply(changes[number], &reversals)
        number += 1
      } catch {
        for reversal in reversals.reversed() { undo(reversal) }
        _ = entries.drainSteps()
        if let remaining, let generator {
          shuffle?.remaining = remaining
          shuffle?.insertionGenerator = generator
        }
        guard changes.count > 1 else { throw error }
        throw MediaError(
          error.code, "change \(number + 1) of \(changes.count): \(error.message)", operation: error.operation)
      }
    }
    // Moves without an effect. In a shuffled queue they may still change the unshuffled order.
    let areMoves = changes.allSatisfy { if case .move = $0 { true } else { false } }
    if areMoves, shuffle == nil, entries.isUnchanged { return }
    recordRemovedEntries(changes, reversals)
    if changes.contains(where: { if case .removeAll = $0 { true } else { false } }) { history.removeAll() }
    startRoundIfOver()
    endChange()
  }

  /// Returns the entries that the leading append changes add to the queue, and the number of these changes.
  private static func appended(in changes: ArraySlice<Change>) -> (entries: [Entry], changeCount: Int) {
    var (entries, count) = ([Entry](), 0)
    for case .insert(let new, .end) in changes.prefix(while: { if case .insert(_, .end) = $0 { true } else { false } })
    {
      entries += new
      count += 1
    }
    return (entries, count)
  }

  /// Applies a change, and records its reversal.
  ///
  /// - Throws: The errors of `edit`. Then nothing has changed.
  mutating func apply(_ change: Change, _ reversals: inout [Reversal]) throws(MediaError) {
    switch change {
    case .insert(let new, let position):
      let index = try index(of: position, count: entries.count + 1)
      insertEntries(new, at: position, index: index)
      Self.record(.remove(new.map(\.id)), in: &reversals)
    case .remove(let ids): try removeEntries(ids, &reversals)
    case .move(let id, let position): try move(id, to: position, &reversals)
    case .replace(let id, let new):
      guard let index = entries.index(of: id) else { throw Self.noSuchItem(id, "replace") }
      let originalIndex = shuffle?.original.index(of: id)
      removeEntry(id, &reversals)
      entries.insert(contentsOf: [new], at: index)
      if let originalIndex { shuffle?.original.insert(contentsOf: [new.id], at: originalIndex) }
      if let remaining = shuffle?.remaining, index <= remaining { shuffle?.remaining = remaining + 1 }
      Self.record(.remove([new.id]), in: &reversals)
    case .removeAll:
      Self.record(.restore(entries, original: shuffle?.original), in: &reversals)
      entries.replaceAll([])
      shuffle?.original = QueueOrder()
      shuffle?.remaining = 0
    }
  }

  /// Records a reversal, unless the last recorded one is a `restore`, which includes it. An edit therefore copies the
  /// queue at most once.
  private static func record(_ reversal: Reversal, in reversals: inout [Reversal]) {
    if case .restore? = reversals.last { return }
    reversals.append(reversal)
  }

  /// The error for an id that is not in the queue.
  package static func noSuchItem(_ id: ItemID, _ operation: String) -> MediaError {
    MediaError(.noSuchItem, "there is no item \(id) in the queue", operation: operation)
  }

  /// Returns the resulting index for a position.
  ///
  /// - Parameter count: The number of entries after the change.
  /// - Throws: `noSuchItem`, `invalidArgument`.
  private func index(of position: QueuePosition, count: Int, moving from: Int? = nil) throws(MediaError) -> Int {
    let operation = from == nil ? "insert" : "move"
    func index(of id: ItemID) throws(MediaError) -> Int {
      guard let index = entries.index(of: id) else { throw Self.noSuchItem(id, operation) }
      guard index != from else {
        throw MediaError(.invalidArgument, "item \(id) cannot be moved relative to itself", operation: operation)
      }
      // The moved entry is removed from before the target first.
      return from.map { $0 < index } ?? false ? index - 1 : index
    }
    switch position {
    case .index(let index):
      guard (0..<count).contains(index) else {
        throw MediaError(
          .invalidArgument, "index must be between 0 and \(count - 1) (got \(index))", operation: operation)
      }
      return index
    case .before(let id): return try index(of: id)
    case .after(let id): return try index(of: id) + 1
    case .end: return count - 1
    case .next: return from == 0 ? 0 : min(1, count - 1)
    }
  }

  /// Inserts new entries into the queue and into its unshuffled order.
  private mutating func insertEntries(_ new: [Entry], at position: QueuePosition, index: Int) {
    guard var shuffle else { return entries.insert(contentsOf: new, at: index) }
    // Release the second reference to the order, which would cause a copy.
    self.shuffle = nil
    let ids = new.map(\.id)
    let originalIndex =
      switch position {
      case .before(let id): shuffle.original.index(of: id)
      case .after(let id): shuffle.original.index(of: id).map { $0 + 1 }
      case .next: entries.first.flatMap { shuffle.original.index(of: $0.id) }.map { $0 + 1 }
      case .index(let index) where index < entries.count: shuffle.original.index(of: entries.order[index])
      case .index, .end: nil as Int?
      }
    shuffle.original.insert(contentsOf: ids, at: originalIndex ?? shuffle.original.count)
    if case .end = position {
      // Any index after the current entry in this round; in an empty queue any index.
      let first = entries.isEmpty ? 0 : 1
      for entry in new {
        let drawnIndex = first + shuffle.insertionGenerator.draw(below: max(0, shuffle.remaining - first) + 1)
        entries.insert(contentsOf: [entry], at: drawnIndex)
        shuffle.remaining += 1
      }
    } else {
      entries.insert(contentsOf: new, at: index)
      if index <= shuffle.remaining { shuffle.remaining += new.count }
    }
    self.shuffle = shuffle
  }

  private mutating func removeEntries(_ ids: [ItemID], _ reversals: inout [Reversal]) throws(MediaError) {
    var listedIDs = Set<ItemID>(minimumCapacity: ids.count)
    for id in ids {
      guard entries.contains(id) else { throw Self.noSuchItem(id, "remove") }
      guard listedIDs.insert(id).inserted else {
        throw MediaError(.invalidArgument, "item \(id) is listed twice", operation: "remove")
      }
    }
    // For many entries each part of the order that contains some of them is rebuilt once.
    guard ids.count > 64 else {
      for id in ids { removeEntry(id, &reversals) }
      return
    }
    Self.record(.restore(entries, original: shuffle?.original), in: &reversals)
    if let remaining = shuffle?.remaining {
      shuffle?.remaining -= entries.order.prefix(remaining).count(where: listedIDs.contains)
    }
    entries.removeAll(ids)
    _ = shuffle?.original.removeAll(ids)
  }

  private mutating func removeEntry(_ id: ItemID, _ reversals: inout [Reversal]) {
    guard let (entry, index) = entries.remove(id) else { return }
    let originalIndex = shuffle?.original.remove(id)
    if let remaining = shuffle?.remaining, index < remaining { shuffle?.remaining = remaining - 1 }
    Self.record(.reinsert(entry, index: index, originalIndex: originalIndex), in: &reversals)
  }

  /// Moves an entry. The unshuffled order of a shuffled queue does not change.
  private mutating func move(
    _ id: ItemID, to position: QueuePosition, _ reversals: inout [Reversal]
  ) throws(MediaError) {
    guard let from = entries.index(of: id) else { throw Self.noSuchItem(id, "move") }
    let index = try index(of: position, count: entries.count, moving: from)
    guard index != from else { return }
    entries.move(id, to: index)
    if let remaining = shuffle?.remaining {
      shuffle?.remaining += (index < remaining ? 1 : 0) - (from < remaining ? 1 : 0)
    }
    Self.record(.moveBack(id, index: from), in: &reversals)
  }

  /// Reverses a change.
  private mutating func undo(_ reversal: Reversal) {
    switch reversal {
    case .remove(let ids):
      for id in ids {
        entries.remove(id)
        shuffle?.original.remove(id)
      }
    case .reinsert(let entry, let index, let originalIndex):
      entries.insert(contentsOf: [entry], at: index)
      if let originalIndex { shuffle?.original.insert(contentsOf: [entry.id], at: originalIndex) }
    case .moveBack(let id, let index): entries.move(id, to: index)
    case .restore(let old, let original):
      entries = old
      if let original { shuffle?.original = original }
    }
  }

  /// Completes an edit: records the entries that left the queue, each once.
  private mutating func recordRemovedEntries(_ changes: [Change], _ reversals: [Reversal]) {
    if changes.count == 1, case .restore(let old, _)? = reversals.first {
      switch changes[0] {
      case .removeAll: return removedEntries.addAll(old.order)
      case .remove(let ids):
        for id in ids { history.remove(id) }
        return removedEntries.add(ids)
      case .insert, .move, .replace: break
      }
    }
    var removedIDs: [ItemID] = []
    for reversal in reversals {
      switch reversal {
      case .remove, .moveBack: break
      case .reinsert(let entry, _, _): removedIDs.append(entry.id)
      case .restore(let old, _):
        // `restore` is the last reversal. Entries that were added and removed after it are not in the old queue.
        let known = Set(removedIDs)
        removedIDs += old.order.filter { !entries.contains($0) }
        removedIDs += changes.flatMap(\.newIDs).filter { id in
          !entries.contains(id) && !old.contains(id) && !known.contains(id)
        }
      }
    }
    for id in removedIDs { history.remove(id) }
    removedEntries.add(removedIDs)
  }

  // MARK: - The whole queue

  /// Replaces the whole queue and clears the history. In shuffle mode the new entries are shuffled, except the first
  /// one if it is already current.
  package mutating func replaceAll(_ newEntries: [Entry]) {
    let (old, current) = (entries.order, entries.first?.id)
    let isAnyRetained = newEntries.contains { old.contains($0.id) }
    entries.replaceAll(newEntries)
    if isAnyRetained { removedEntries.add(old.filter { !entries.contains($0) }) } else { removedEntries.addAll(old) }
    history.removeAll()
    if let seed = shuffle?.seed {
      reshuffle(entries.order, seed: seed, keeping: entries.first?.id == current ? current : nil)
    }
    endChange()
  }

  // MARK: - Navigation

  /// Removes the current entry after it was played, or moves it to the end of a repeated queue. Adds it to the history,
  /// unless it failed.
  package mutating func leave(_ current: Entry) {
    if current.status.error == nil { history.append(current.id) }
    if repeatMode == .all, current.isRepeatable {
      entries.rotate(by: 1)
      shuffle?.remaining -= 1
    } else {
      drop(current.id)
    }
    startRoundIfOver(after: current.id)
    endChange()
  }

  /// Removes the current entry from the queue.
  private mutating func drop(_ id: ItemID) {
    entries.removeFirst()
    shuffle?.original.remove(id)
    shuffle?.remaining -= 1
    removedEntries.add(id)
  }

  /// Removes the current entry, which failed.
  package mutating func skip(_ id: ItemID) {
    drop(id)
    startRoundIfOver(after: id)
    endChange()
  }

  /// Moves the current entry, which failed, to the end of the queue.
  package mutating func postpone(_ id: ItemID) {
    entries.rotate(by: 1)
    if repeatMode == .all {
      shuffle?.remaining -= 1
      startRoundIfOver(after: id)
    }
    endChange()
  }

  /// Makes an entry after the current one current. The entries before it leave the queue or move to its end, as if each
  /// had been skipped.
  package mutating func jump(to id: ItemID) {
    guard let index = entries.index(of: id), index > 0 else { return }
    for passed in entries.order.prefix(index).suffix(PlayHistory.limit) where entries[passed]?.status.error == nil {
      history.append(passed)
    }
    if repeatMode == .all {
      entries.rotate(by: index)
    } else {
      let removedIDs = entries.removeFirst(index).map(\.id)
      removedEntries.add(removedIDs)
      if removedIDs.count > 64, let original = shuffle?.original {
        shuffle?.original = QueueOrder(original.filter { entries.contains($0) })
      } else {
        for id in removedIDs { shuffle?.original.remove(id) }
      }
    }
    if let remaining = shuffle?.remaining {
      shuffle?.remaining = index < remaining ? remaining - index : entries.count
    }
    endChange()
  }

  /// Goes back by the newest `count` entries of the history. The oldest of them becomes current, and the others follow
  /// it.
  ///
  /// - Parameters:
  ///   - skippedCount: The number of newest entries of the history to drop first.
  ///   - returning: The entries of the history that had left the queue and can return to it.
  package mutating func goBack(over count: Int, skipping skippedCount: Int, returning: [Entry]) {
    for _ in 0..<skippedCount { history.removeLast() }
    let returning = Dictionary(returning.map { ($0.id, $0) }) { first, _ in first }
    for _ in 0..<count {
      guard let id = history.last else { break }
      history.removeLast()
      if let index = entries.index(of: id) {
        entries.move(id, to: 0)
        if let remaining = shuffle?.remaining, index >= remaining { shuffle?.remaining = remaining + 1 }
      } else if let entry = returning[id] {
        // Before the current entry in the unshuffled order, too, because it was played before.
        let index = entries.first.flatMap { shuffle?.original.index(of: $0.id) } ?? 0
        shuffle?.original.insert(contentsOf: [id], at: index)
        shuffle?.remaining += 1
        entries.insert(contentsOf: [entry], at: 0)
      }
    }
    endChange()
  }

  /// Goes back to the last entry of a repeated queue that is not shuffled, and clears the history.
  package mutating func goBackRound() {
    history.removeAll()
    entries.rotate(by: entries.count - 1)
    endChange()
  }

  // MARK: - Shuffling

  /// Shuffles the entries after the current one, again if the queue is already shuffled. Nil restores the unshuffled
  /// order, rotated to begin with the current entry.
  package mutating func setShuffle(seed: UInt64?) {
    let current = entries.first?.id
    if let seed {
      reshuffle(shuffle?.original ?? entries.order, seed: seed, keeping: current)
    } else {
      guard let original = shuffle?.original else { return }
      shuffle = nil
      let start = current.flatMap { original.index(of: $0) } ?? 0
      entries.reorder(QueueOrder(Array(original.suffix(from: start)) + original.prefix(start)))
    }
    endChange()
  }

  /// Shuffles the queue; `original` is its unshuffled order.
  private mutating func reshuffle(_ original: QueueOrder, seed: UInt64, keeping first: ItemID?) {
    var newShuffle = QueueShuffle(seed: seed, original: original)
    entries.reorder(newShuffle.firstOrder(keeping: first))
    newShuffle.remaining = entries.count
    shuffle = newShuffle
  }

  /// Begins the next round if all entries of the current one have been played.
  private mutating func startRoundIfOver(after last: ItemID? = nil) {
    guard let shuffle, shuffle.remaining <= 0, !entries.isEmpty else { return }
    if repeatMode == .all, let last {
      let order = order(ofRound: shuffle.round + 1, after: last)
      self.shuffle?.beginRound()
      entries.reorder(order)
    } else {
      self.shuffle?.remaining = entries.count
    }
  }

  private func order(ofRound round: UInt64, after last: ItemID) -> QueueOrder {
    shuffle?.order(ofRound: round, after: last) { entries[$0]?.isRepeatable ?? false } ?? QueueOrder()
  }

  /// Returns the entries after the current one until the end of the queue or, if it is repeated, of the round.
  package func restOfRound() -> some Sequence<Entry> {
    entries.suffix(from: 1).prefix(max(0, (shuffle?.remaining ?? entries.count) - 1))
  }

  /// Returns the entries of the `number`th round from now, from 1, which follows `last`.
  package func round(_ number: UInt64, after last: ItemID) -> any Sequence<Entry> {
    guard let shuffle else { return entries }
    // Only the next round of a long queue is drawn in advance.
    if hasLongRounds, number > 1 { return [] }
    return order(ofRound: shuffle.round + number, after: last).lazy.compactMap { entries[$0] }
  }

  /// The number of entries from which the order of a round is drawn on another thread.
  package static let longRoundLength = 1_024

  /// Whether the queue is shuffled in rounds, and drawing the order of one takes long.
  private var hasLongRounds: Bool { repeatMode == .all && shuffle != nil && entries.count > Self.longRoundLength }

  /// Whether the order of the next round is not known yet, because another thread must draw it.
  package var isNextRoundUnknown: Bool { hasLongRounds && shuffle?.isNextRoundDrawn == false }

  /// Whether another thread should draw the order of the next round now: at most `count` entries precede it.
  package func needsNextRound(within count: Int) -> Bool { isNextRoundUnknown && (shuffle?.remaining ?? 0) <= count }

  /// Draws the order of the next round. Not a change of the queue.
  package mutating func drawNextRound() { shuffle?.prepareRound() }

  /// Draws the order of the next round if that does not take long, and at most `count` entries precede it.
  package mutating func prepareRound(within count: Int) {
    guard repeatMode == .all, !hasLongRounds, let remaining = shuffle?.remaining, remaining <= count else { return }
    drawNextRound()
  }
}

extension QueueModel.Change {
  /// The ids of the entries that it inserts.
  fileprivate var newIDs: [PlayerItemID] {
    switch self {
    case .insert(let new, _): new.map(\.id)
    case .replace(_, let new): [new.id]
    case .remove, .move, .removeAll: []
    }
  }
}

extension QueueShuffle {
  /// Restores a saved state.
  fileprivate init(_ saved: ShuffleSnapshot, original: QueueOrder) {
    self.init(
      seed: saved.seed, original: original, round: saved.round,
      remaining: min(max(1, saved.remainingCount), original.count), generatorState: saved.generatorState)
  }
}
