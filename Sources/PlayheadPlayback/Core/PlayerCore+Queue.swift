import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// The queue: edits and navigation.
extension PlayerCore {
  // MARK: - Edits

  /// Checks the version of the queue.
  ///
  /// - Throws: `versionMismatch`.
  func checkVersion(_ version: UInt64?, _ operation: String) throws(MediaError) {
    guard let version, version != machine.queue.version else { return }
    throw MediaError(
      .versionMismatch, "the queue has version \(machine.queue.version), not \(version)", operation: operation)
  }

  /// Applies all edits, or none.
  func edit(_ edits: [QueueEdit], ifVersion version: UInt64? = nil) throws(MediaError) {
    try checkVersion(version, "edit")
    let newItems = edits.flatMap(\.newItems)
    try items.claim(newItems)
    let resumePosition = persistence.currentPosition
    let actions: [Machine.Action]
    do throws(MediaError) {
      actions = try machine.edit(edits.map(\.change))
    } catch {
      items.release(newItems)
      throw error
    }
    run(actions, cause: .request)
    persistence.reportIfLeft(resumePosition)
  }

  func replaceAll(with newItems: [PlayerItem]) throws(MediaError) {
    // Items may stay in this queue.
    let addedItems = newItems.filter { items[$0.id] == nil }
    guard Set(newItems.map(\.id)).count == newItems.count else {
      throw MediaError(.itemInUse, "a queue cannot contain an item twice", operation: "load")
    }
    // A new epoch allows all previous items to be freed at once.
    items.beginEpoch()
    try items.claim(addedItems)
    runItemChange { machine.replaceAll(newItems.map(\.queueEntry)) }
  }

  func removeAll() { runItemChange { machine.replaceAll([]) } }

  /// Runs a change that may make another item current.
  private func runItemChange(_ change: () -> [Machine.Action]) {
    let resumePosition = persistence.currentPosition
    run(change(), cause: .request)
    persistence.reportIfLeft(resumePosition)
  }

  // MARK: - Navigation

  func advance() { runItemChange { machine.advance() } }

  /// Makes an item of the queue or the history current.
  ///
  /// - Throws: `noSuchItem`; `itemInUse` if the item is in another queue or failed.
  func jump(to id: PlayerItem.ID) throws(MediaError) {
    if items[id] != nil { return runItemChange { machine.jump(to: id) } }
    guard items.past[id] != nil, let index = machine.queue.history.ids.lastIndex(of: id) else {
      throw Machine.noSuchItem(id, "jump")
    }
    guard goBack(over: machine.queue.history.ids.count - index, to: id) else {
      throw MediaError(.itemInUse, "item \(id) is in another queue now, or failed", operation: "jump")
    }
  }

  /// Makes the item at an index current.
  ///
  /// - Throws: `invalidArgument`.
  func jump(toIndex index: Int) throws(MediaError) {
    guard (0..<machine.entries.count).contains(index) else {
      throw MediaError(
        .invalidArgument,
        machine.entries.isEmpty
          ? "the queue is empty" : "index must be between 0 and \(machine.entries.count - 1) (got \(index))",
        operation: "jump")
    }
    runItemChange { machine.jump(to: machine.entries.order[index]) }
  }

  /// Goes back to the previous item, or to the beginning of the current one.
  ///
  /// - Parameter limit: After this time the current item restarts; nil: never.
  /// - Throws: `noSuchItem`.
  func goToPrevious(restartingAfter limit: MediaTime?) throws(MediaError) {
    if let limit, let current = machine.entries.first, current.status.error == nil, currentTime() > limit {
      return run(machine.jump(to: current.id), cause: .request)
    }
    // Skip items that failed or are in another queue now.
    for (skippedCount, id) in machine.queue.history.ids.reversed().enumerated() where items.reclaim(id) {
      _ = goBack(over: 1, skipping: skippedCount, to: id)
      return
    }
    guard machine.repeatMode == .all, machine.queue.shuffle == nil, machine.entries.count > 1 else {
      throw MediaError(.noSuchItem, "no item was played before", operation: "previous")
    }
    runItemChange { machine.goBackRound() }
  }

  /// Drops the newest `skippedCount` entries of the history and goes back by the next `count`, to item `id`. Returns
  /// false if that item is not available.
  private func goBack(over count: Int, skipping skippedCount: Int = 0, to id: PlayerItem.ID) -> Bool {
    guard items.reclaim(id) else { return false }
    var returning: [Machine.Entry] = []
    for past in machine.queue.history.ids.dropLast(skippedCount).suffix(count) {
      if past == id || items[past] != nil { continue }
      guard items.reclaim(past), let item = items[past] else { continue }
      returning.append(item.queueEntry)
    }
    if let item = items[id], !machine.entries.contains(id) { returning.append(item.queueEntry) }
    runItemChange { machine.goBack(over: count, skipping: skippedCount, returning: returning) }
    return true
  }

  // MARK: - Settings

  func setShuffle(seed: UInt64?) { run(machine.setShuffle(seed: seed), cause: .request) }

  func setFailurePolicy(_ policy: ItemFailurePolicy) { run(machine.setFailurePolicy(policy), cause: .request) }
}
