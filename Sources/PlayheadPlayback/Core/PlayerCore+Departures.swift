// Items that leave the queue. Other queues may claim these items at once. Disconnecting an item from its player and
// freeing its memory take about a microsecond. Therefore one turn of the control loop disconnects a limited number of
// items. No visible state of a player depends on this work, and no code may wait for its end.
import CPlayheadMediaShims
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

extension PlayerCore {
  /// The maximum number of items that one turn of the control loop disconnects; at least `ItemTable.pageLength`.
  static let departureSlice = 128

  /// Releases the items that the machine removed, and removes the observers that are bound to them. Called before
  /// observers are notified. Items in the history are kept.
  func releaseRemovedItems() {
    let removal = machine.drainRemovedEntries()
    if !retries.schedules.isEmpty { releaseRetries(removal) }
    if let whole = removal.wholeOrder { releaseAllItems(of: whole) }
    if !removal.ids.isEmpty { releaseItems(removal.ids.compactMap { items[$0] }) }
    for id in machine.drainForgottenIDs() { pastItems[id] = nil }
    guard !removal.isEmpty else { return }
    let boundIDs = observers.table.boundItemIDs
    guard !boundIDs.isEmpty else { return }
    let ids = removal.ids.filter { boundIDs.contains($0) }
    let others = removal.wholeOrder.map { whole in
      boundIDs.filter { whole.contains($0) }.sorted { (whole.index(of: $0) ?? 0) < (whole.index(of: $1) ?? 0) }
    }
    for id in (others ?? []) + ids { callEndHandlers(observers.table.removeObservers(boundTo: id)) }
  }

  /// Removes items from the queue, or frees items that were claimed for it. Items in the history are kept in
  /// `pastItems`.
  func releaseItems(_ leaving: [PlayerItem]) {
    for item in leaving {
      if items.removeValue(for: item.id) != nil { queuedByteCount -= item.descriptionByteCount }
      item.free(from: ownership)
      if machine.queue.history.contains(item.id) { pastItems[item.id] = item }
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
    epoch += 1
  }

  /// Removes all items that the queue had before the current edit, except items that the edit inserted.
  private func releaseAllItems(of formerOrder: QueueOrder) {
    let staying = machine.entries.order
    guard staying.count < formerOrder.count else { return releaseItems(formerOrder.compactMap { items[$0] }) }
    let former = items
    items = ItemTable()
    queuedByteCount = 0
    items.set(staying) { id in
      guard let item = former[id] else { preconditionFailure("item \(id) was never claimed") }
      queuedByteCount += item.descriptionByteCount
      return item
    }
    for id in machine.queue.history.ids where items[id] == nil {
      if let item = former[id] { pastItems[id] = item }
    }
    // The remaining items belong to the current edit, which claimed them in the current epoch.
    if staying.isEmpty { epoch += 1 }
    ownership.endEpochs(before: epoch)
    depart(Departures.Batch(table: former))
  }

  /// Removes every item, because the player is closed.
  func releaseAllItems() {
    let former = items
    (items, queuedByteCount) = (ItemTable(), 0)
    epoch += 1
    ownership.endEpochs(before: epoch)
    depart(Departures.Batch(table: former))
  }

  /// Disconnects an item from the player, unless a player has claimed the item since it left the queue.
  private func disconnect(_ item: PlayerItem) {
    let isReleased = item.release(by: ownership) {
      item.asset.dropFile()
      item.onAudioChange = nil
      item.timePitchSlot.playerSlot = nil
      item.audioProcessorSlot.playerSlot = nil
      item.mediaSelectionSlot.playerPreferences = nil
      item.onSettingsChange = nil
      if item.asset.mayUseNetwork { item.networkLog.observe(key: item.id, nil) }
    }
    guard items[item.id] == nil else { return }
    sampleRates[item.id] = nil
    if isReleased { stopLoading(item) } else { loadingIDs.remove(item.id) }
  }

  /// Disconnects items that have left the queue, in slices.
  func depart(_ batch: Departures.Batch) {
    departures.batches.append(batch)
    disconnectLater()
  }

  private func disconnectLater() {
    guard !departures.isScheduled, !departures.isEmpty else { return }
    departures.isScheduled = true
    engine.loop.execute { [self] in
      departures.isScheduled = false
      disconnectSlice()
      media_shims_sort_freed_memory()
      disconnectLater()
    }
  }

  private func disconnectSlice() {
    let (slice, newestEpoch) = departures.next()
    #if DEBUG
      longestDepartureSlice = max(longestDepartureSlice, slice.count)
    #endif
    for item in slice {
      if newestEpoch > 0, items[item.id] == nil { item.free(from: ownership, claimedUntil: newestEpoch) }
      disconnect(item)
    }
    machine.dropStates(of: slice.lazy.map(\.id))
  }
}

/// Items in chunks, so that no array of all items is copied or freed at once.
struct ItemChunks: Sendable {
  private var chunks: [[PlayerItem]] = []

  init(_ items: [PlayerItem] = []) { for item in items { append(item) } }

  var isEmpty: Bool { chunks.isEmpty }

  mutating func append(_ item: PlayerItem) {
    if let last = chunks.indices.last, chunks[last].count < PlayerCore.departureSlice {
      chunks[last].append(item)
    } else {
      chunks.append([item])
    }
  }

  /// Removes and returns at most `PlayerCore.departureSlice` items; none if there are none.
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

  /// Removes and returns the next items, at most `PlayerCore.departureSlice`, which are of one batch, and its
  /// `newestEpoch`.
  mutating func next() -> (items: [PlayerItem], newestEpoch: UInt64) {
    guard let last = batches.indices.last else { return ([], 0) }
    var next = batches[last].items.popChunk()
    while next.count + ItemTable<PlayerItem>.pageLength <= PlayerCore.departureSlice,
      let page = batches[last].table.popPage()
    {
      next += page
    }
    let newestEpoch = batches[last].newestEpoch
    if batches[last].items.isEmpty, batches[last].table.isEmpty { batches.removeLast() }
    return (next, newestEpoch)
  }
}
