// Items that leave the queue. Other queues may claim these items at once. Disconnecting an item from its player and
// freeing its memory take about a microsecond. Therefore one turn of the control loop disconnects a limited number of
// items. No visible state of a player depends on this work, and no code may wait for its end.
import MediaAssets
import MediaCore
import PlayerModel

extension PlayerCore {
  /// The maximum number of items that one turn of the control loop disconnects.
  static let departureSlice = 128

  /// Releases the items that the machine removed, and removes the observers that are bound to them. Called before
  /// observers are notified. Items in the history are kept.
  func releaseRemovedItems() {
    let removal = machine.drainRemovedEntries()
    if let whole = removal.wholeOrder { releaseAllItems(of: whole) }
    if !removal.ids.isEmpty { releaseItems(removal.ids.compactMap { items[$0] }) }
    for id in machine.history.drainForgottenIDs() { pastItems[id] = nil }
    guard !removal.isEmpty else { return }
    let boundIDs = observers.table.boundItemIDs
    guard !boundIDs.isEmpty else { return }
    let ids = removal.ids.filter { boundIDs.contains($0) }
    let others = removal.wholeOrder.map { whole in
      boundIDs.filter { whole.contains($0) }.sorted { (whole.index(of: $0) ?? 0) < (whole.index(of: $1) ?? 0) }
    }
    for id in (others ?? []) + ids { callEndHandlers(observers.table.removeObservers(boundTo: id)) }
  }

  /// Removes items from the queue, or cancels their reservation. Items in the history are kept in `pastItems`.
  func releaseItems(_ leaving: [PlayerItem]) {
    for item in leaving {
      if items.removeValue(for: item.id) != nil { queuedByteCount -= item.descriptionByteCount }
      reserved.removeValue(for: item.id)
      item.free(from: ownership)
      if machine.history.contains(item.id) { pastItems[item.id] = item }
    }
    if leaving.count <= Self.departureSlice {
      for item in leaving { disconnect(item) }
    } else {
      departures.items.append(leaving)
      disconnectLater()
    }
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
    for id in machine.history.ids where items[id] == nil {
      if let item = former[id] { pastItems[id] = item }
    }
    // The remaining items belong to the current edit, which claimed them in the current epoch.
    if staying.isEmpty { beginEpoch() }
    ownership.endEpochs(before: epoch)
    departures.tables.append(former)
    disconnectLater()
  }

  /// Removes every item, because the player is closed.
  func releaseAllItems() {
    departures.tables += [items, reserved]
    (items, reserved, queuedByteCount) = (ItemTable(), ItemTable(), 0)
    beginEpoch()
    ownership.endEpochs(before: epoch)
    disconnectLater()
  }

  /// Disconnects an item from the player, unless a player has claimed the item since it left the queue.
  private func disconnect(_ item: PlayerItem) {
    let isReleased = item.release(by: ownership) {
      item.asset.dropFile()
      item.onAudioChange = nil
      item.timePitchSlot.playerSlot = nil
      item.mediaSelectionSlot.playerPreferences = nil
      item.onSettingsChange = nil
      if item.asset.mayUseNetwork { item.networkLog.observe(key: item.id, nil) }
    }
    guard items[item.id] == nil else { return }
    sampleRates[item.id] = nil
    if isReleased { stopLoading(item) } else { loadingIDs.remove(item.id) }
  }

  private func disconnectLater() {
    guard !departures.isScheduled, !departures.isEmpty else { return }
    departures.isScheduled = true
    engine.loop.execute { [self] in
      departures.isScheduled = false
      let slice = departures.next(Self.departureSlice)
      #if DEBUG
        longestDepartureSlice = max(longestDepartureSlice, slice.count)
      #endif
      for item in slice { disconnect(item) }
      disconnectLater()
    }
  }
}

/// Items that left a queue and are still connected to its player.
struct Departures {
  var items: [[PlayerItem]] = []
  var tables: [ItemTable<PlayerItem>] = []
  /// Whether a turn of the loop is scheduled that disconnects the next items.
  var isScheduled = false

  /// Whether no items are left to disconnect.
  var isEmpty: Bool { items.isEmpty && tables.isEmpty }

  /// Removes and returns the next items.
  ///
  /// - Parameter count: The maximum number of items; at least `ItemTable.pageLength`, so that each call makes progress.
  mutating func next(_ count: Int) -> [PlayerItem] {
    var next: [PlayerItem] = []
    next.reserveCapacity(count)
    while next.count < count, let last = items.indices.last {
      if let item = items[last].popLast() { next.append(item) } else { items.removeLast() }
    }
    while next.count + ItemTable<PlayerItem>.pageLength <= count, let last = tables.indices.last {
      if let page = tables[last].popPage() { next += page } else { tables.removeLast() }
    }
    return next
  }
}
