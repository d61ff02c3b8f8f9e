// Items that leave the queue. Other queues may claim these items at once. Disconnecting an item from its player and
// freeing its memory take about a microsecond. Therefore one turn of the control loop disconnects a limited number of
// items. No visible state of a player depends on this work, and no code may wait for its end.
import CPlayheadMediaShims
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

extension QueueItems {
  /// The maximum number of items that one turn of the control loop disconnects; at least `ItemTable.pageLength`.
  static let departureSlice = 128

  /// Releases the items that the machine removed, and removes the observers that are bound to them. Called before
  /// observers are notified. Items in the history are kept.
  func update() {
    let removal = player.machine.drainRemovedEntries()
    player.retries.release(removal)
    if let whole = removal.wholeOrder { releaseAll(of: whole) }
    if !removal.ids.isEmpty { release(removal.ids.compactMap { table[$0] }) }
    for id in player.machine.drainForgottenIDs() { past[id] = nil }
    if let whole = removal.wholeOrder { player.timeObservers.endObservers(boundToItemsOf: whole) }
    player.timeObservers.endObservers(boundTo: removal.ids)
  }

  /// Removes items from the queue, or frees items that were claimed for it. Items in the history are kept in
  /// `past`.
  func release(_ leaving: [PlayerItem]) {
    for item in leaving {
      if table.removeValue(for: item.id) != nil { byteCount -= item.descriptionByteCount }
      item.free(from: ownership)
      if player.machine.queue.history.contains(item.id) { past[item.id] = item }
    }
    if leaving.count <= Self.departureSlice {
      for item in leaving { disconnect(item) }
    } else {
      depart(Departures.Batch(items: ItemChunks(leaving)))
    }
  }

  /// Frees items that were reserved for an edit that was cancelled.
  func cancel(_ reservation: QueueReservation) {
    guard reservation.count > 0 else { return }
    depart(Departures.Batch(table: reservation.items, newestEpoch: epoch))
    // The player may claim these items again before they are freed. That claim must stay.
    beginEpoch()
  }

  /// Removes all items that the queue had before the current edit, except items that the edit inserted.
  private func releaseAll(of formerOrder: QueueOrder) {
    let staying = player.machine.entries.order
    guard staying.count < formerOrder.count else { return release(formerOrder.compactMap { table[$0] }) }
    let former = table
    table = ItemTable()
    byteCount = 0
    table.set(staying) { id in
      guard let item = former[id] else { preconditionFailure("item \(id) was never claimed") }
      byteCount += item.descriptionByteCount
      return item
    }
    for id in player.machine.queue.history.ids where table[id] == nil {
      if let item = former[id] { past[id] = item }
    }
    // The remaining items belong to the current edit, which claimed them in the current epoch.
    if staying.isEmpty { beginEpoch() }
    ownership.endEpochs(before: epoch)
    depart(Departures.Batch(table: former))
  }

  /// Removes every item.
  func playerDidClose() {
    let former = table
    (table, byteCount, past) = (ItemTable(), 0, [:])
    beginEpoch()
    ownership.endEpochs(before: epoch)
    depart(Departures.Batch(table: former))
  }

  /// Replaces the items by those of the queue after a large change.
  ///
  /// - Parameter claimEpoch: The epoch in which the new items were claimed. The other items of the queue were claimed
  ///   before.
  func adopt(_ changed: QueueContents.Changed, claimedIn claimEpoch: UInt64) {
    (table, byteCount) = (changed.contents.items, changed.contents.byteCount)
    for item in changed.pastItems { past[item.id] = item }
    if let removed = changed.removedTable {
      ownership.endEpochs(before: claimEpoch)
      depart(Departures.Batch(items: changed.removedItems, table: removed, newestEpoch: claimEpoch))
    } else if !changed.removedItems.isEmpty {
      depart(Departures.Batch(items: changed.removedItems, newestEpoch: claimEpoch))
    }
    // The player may claim these items again before they are freed. That claim must stay.
    beginEpoch()
    if !changed.newItems.isEmpty { player.persistence.itemsChanged(changed.newItems) }
  }

  /// Disconnects an item from the player, unless a player has claimed the item since it left the queue.
  private func disconnect(_ item: PlayerItem) {
    let isReleased = item.release(by: ownership) {
      item.asset.dropFile()
      player.itemSettings.disconnect(item)
    }
    guard table[item.id] == nil else { return }
    player.loading.forget(item, cancelsLoading: isReleased)
  }

  /// Disconnects items that have left the queue, in slices.
  private func depart(_ batch: Departures.Batch) {
    departures.batches.append(batch)
    disconnectLater()
  }

  private func disconnectLater() {
    guard !departures.isScheduled, !departures.isEmpty else { return }
    departures.isScheduled = true
    player.engine.loop.execute { [player] in
      player.items.departures.isScheduled = false
      player.items.disconnectSlice()
      media_shims_sort_freed_memory()
      player.items.disconnectLater()
    }
  }

  private func disconnectSlice() {
    let (slice, newestEpoch) = departures.next()
    #if DEBUG
      longestDepartureSlice = max(longestDepartureSlice, slice.count)
    #endif
    for item in slice {
      if newestEpoch > 0, table[item.id] == nil { item.free(from: ownership, claimedUntil: newestEpoch) }
      disconnect(item)
    }
    player.machine.dropStates(of: slice.lazy.map(\.id))
  }
}

/// Items in chunks, so that no array of all items is copied or freed at once.
struct ItemChunks: Sendable {
  private var chunks: [[PlayerItem]] = []

  init(_ items: [PlayerItem] = []) { for item in items { append(item) } }

  var isEmpty: Bool { chunks.isEmpty }

  mutating func append(_ item: PlayerItem) {
    if let last = chunks.indices.last, chunks[last].count < QueueItems.departureSlice {
      chunks[last].append(item)
    } else {
      chunks.append([item])
    }
  }

  /// Removes and returns at most `QueueItems.departureSlice` items; none if there are none.
  mutating func popChunk() -> [PlayerItem] { chunks.popLast() ?? [] }
}

/// Items that left a queue and are still connected to its player.
struct Departures {
  /// Items that left together.
  struct Batch {
    var items = ItemChunks()
    var table = ItemTable<PlayerItem>()
    /// The claims to free: those of this epoch and earlier ones. 0: the items are free already.
    var newestEpoch: UInt64 = 0
  }

  var batches: [Batch] = []
  /// Whether a turn of the loop is scheduled that disconnects the next items.
  var isScheduled = false

  /// Whether no items are left to disconnect.
  var isEmpty: Bool { batches.isEmpty }

  /// Removes and returns the next items, at most `QueueItems.departureSlice`, which are of one batch, and its
  /// `newestEpoch`.
  mutating func next() -> (items: [PlayerItem], newestEpoch: UInt64) {
    guard let last = batches.indices.last else { return ([], 0) }
    var next = batches[last].items.popChunk()
    while next.count + ItemTable<PlayerItem>.pageLength <= QueueItems.departureSlice,
      let page = batches[last].table.popPage()
    {
      next += page
    }
    let newestEpoch = batches[last].newestEpoch
    if batches[last].items.isEmpty, batches[last].table.isEmpty { batches.removeLast() }
    return (next, newestEpoch)
  }
}
