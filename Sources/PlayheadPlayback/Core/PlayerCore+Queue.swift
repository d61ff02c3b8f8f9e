import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// The queue: ownership of items, edits and navigation.
extension PlayerCore {
  // MARK: - Items

  /// Claims all of the items for this player, or none.
  func claim(_ newItems: [PlayerItem]) throws(MediaError) {
    try checkOpen("insert")
    for (index, item) in newItems.enumerated() {
      // Claiming a reserved item again moves the claim to this epoch.
      guard items[item.id] == nil, item.claim(by: ownership, epoch: epoch) else {
        releaseItems(Array(newItems[..<index]))
        throw MediaError(.itemInUse, "item \(item.id) is already in a queue", operation: "insert")
      }
      adopt(item)
    }
    changeObserver?(newItems)
  }

  /// Claims all of the items, or none, for an edit in preparation, and adds them to its reservation.
  ///
  /// - Throws: `itemInUse`; `invalidState` if the player is closed.
  func reserve(_ newItems: [PlayerItem], in reservation: inout QueueReservation) throws(MediaError) {
    try checkOpen("insert")
    for (index, item) in newItems.enumerated() {
      guard items[item.id] == nil, reservation.items[item.id] == nil, item.claim(by: ownership, epoch: epoch) else {
        releaseItems(Array(newItems[..<index]))
        throw MediaError(.itemInUse, "item \(item.id) is already in a queue", operation: "insert")
      }
      connect(item)
    }
    reservation.add(newItems)
  }

  /// Adds a claimed item to this queue.
  private func adopt(_ item: PlayerItem) {
    connect(item)
    items[item.id] = item
    queuedByteCount += item.descriptionByteCount
    if !pastItems.isEmpty { pastItems[item.id] = nil }
  }

  private func connect(_ item: PlayerItem) {
    observeLog(of: item)
    item.timePitchSlot.playerSlot = timePitchSlot
    item.audioProcessorSlot.playerSlot = audioProcessorSlot
    item.mediaSelectionSlot.playerPreferences = mediaSelectionPreferences
    item.onSettingsChange = settingsObserver
    item.onAudioChange = audioObserver
  }

  /// Makes the observer of items' audio settings, which is called on the thread that changed a setting.
  func makeAudioObserver() -> @Sendable (PlayerItem.ID, PlayerItem.AudioChange) -> Void {
    let loop = engine.loop
    return { [weak self] id, change in
      guard let self else { return }
      if loop.isIsolatingCurrentContext() == true {
        audioChanged(id, change)
      } else {
        loop.execute { self.audioChanged(id, change) }
      }
    }
  }

  private func audioChanged(_ id: PlayerItem.ID, _ change: PlayerItem.AudioChange) {
    if let item = items[id] { changeObserver?([item]) }
    switch change {
    case .audioMix: audioMixChanged(id)
    case .timePitch: timePitchChanged(id)
    case .processors: audioProcessorsChanged(id)
    case .mediaSelection: mediaSelectionChosen(id, isAudio: true)
    case .subtitles: mediaSelectionChosen(id, isAudio: false)
    case .gain: if !isClosed, updateGains() { output.postCommands() }
    }
  }

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
    try claim(newItems)
    let resumePosition = currentResumePosition
    let actions: [Machine.Action]
    do throws(MediaError) {
      actions = try machine.edit(edits.map(\.change))
    } catch {
      releaseItems(newItems)
      throw error
    }
    run(actions, cause: .request)
    reportIfLeft(resumePosition)
  }

  func replaceAll(with newItems: [PlayerItem]) throws(MediaError) {
    // Items may stay in this queue.
    let addedItems = newItems.filter { items[$0.id] == nil }
    guard Set(newItems.map(\.id)).count == newItems.count else {
      throw MediaError(.itemInUse, "a queue cannot contain an item twice", operation: "load")
    }
    // A new epoch allows all previous items to be freed at once.
    epoch += 1
    try claim(addedItems)
    runItemChange { machine.replaceAll(newItems.map(\.queueEntry)) }
  }

  func removeAll() { runItemChange { machine.replaceAll([]) } }

  // MARK: - Resume positions

  /// The current item, its position, and whether forward playback has reached its end. Nil without a
  /// `positionObserver`, for a stream, and before the item has begun.
  var currentResumePosition: ResumePosition? {
    guard positionObserver != nil, let item = currentItem, item.status == .readyToPlay, item.isSeekable == true,
      item.liveWindow == nil, item.resumeTime == nil
    else { return nil }
    let hasEnded = (machine.hasItemEnded || machine.hasPassedEnd) && !machine.decodedRate.isReverse
    return (item, currentTime(), hasEnded)
  }

  typealias ResumePosition = (item: PlayerItem, time: MediaTime, hasEnded: Bool)

  /// Reports the position at which an item was left, unless it is still current.
  func reportIfLeft(_ resumePosition: ResumePosition?) {
    guard let resumePosition, machine.entries.first?.id != resumePosition.item.id else { return }
    positionObserver?(resumePosition.item, resumePosition.time, resumePosition.hasEnded)
  }

  /// Runs a change that may make another item current.
  private func runItemChange(_ change: () -> [Machine.Action]) {
    let resumePosition = currentResumePosition
    run(change(), cause: .request)
    reportIfLeft(resumePosition)
  }

  // MARK: - Navigation

  func advance() { runItemChange { machine.advance() } }

  /// Makes an item of the queue or the history current.
  ///
  /// - Throws: `noSuchItem`; `itemInUse` if the item is in another queue or failed.
  func jump(to id: PlayerItem.ID) throws(MediaError) {
    if items[id] != nil { return runItemChange { machine.jump(to: id) } }
    guard pastItems[id] != nil, let index = machine.queue.history.ids.lastIndex(of: id) else {
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
    for (skippedCount, id) in machine.queue.history.ids.reversed().enumerated() where reclaim(id) {
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
    guard reclaim(id) else { return false }
    var returning: [Machine.Entry] = []
    for past in machine.queue.history.ids.dropLast(skippedCount).suffix(count) {
      if past == id || items[past] != nil { continue }
      guard reclaim(past), let item = items[past] else { continue }
      returning.append(item.queueEntry)
    }
    if let item = items[id], !machine.entries.contains(id) { returning.append(item.queueEntry) }
    runItemChange { machine.goBack(over: count, skipping: skippedCount, returning: returning) }
    return true
  }

  /// Claims an item of the history again, unless it is in the queue. Returns false if the item failed or another queue
  /// has claimed it.
  private func reclaim(_ id: PlayerItem.ID) -> Bool {
    if let item = items[id] { return item.error == nil }
    guard let item = pastItems[id], item.error == nil, item.claim(by: ownership, epoch: epoch) else { return false }
    adopt(item)
    changeObserver?([item])
    return true
  }

  // MARK: - Settings

  func setShuffle(seed: UInt64?) { run(machine.setShuffle(seed: seed), cause: .request) }

  func setFailurePolicy(_ policy: ItemFailurePolicy) { run(machine.setFailurePolicy(policy), cause: .request) }
}
