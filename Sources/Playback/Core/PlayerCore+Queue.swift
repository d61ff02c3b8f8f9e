import MediaAssets
import MediaCore
import PlayerModel

/// The queue: ownership of items, edits and navigation.
extension PlayerCore {
  // MARK: - Items

  /// Claims all of the items for this player, or none.
  func claim(_ newItems: [PlayerItem]) throws(MediaError) {
    guard !isClosed else { throw MediaError(.invalidState, "the player is closed", operation: "insert") }
    if !insertReserved(newItems) { try claimOneByOne(newItems) }
    changeObserver?(newItems)
  }

  /// Inserts items that are all reserved for this queue. Returns false, and changes nothing, if any is not.
  private func insertReserved(_ newItems: [PlayerItem]) -> Bool {
    guard reserved.count >= newItems.count else { return false }
    for (index, item) in newItems.enumerated() where reserved.removeValue(for: item.id) !== item {
      for item in newItems[..<index] { reserved[item.id] = item }
      return false
    }
    for item in newItems {
      if needsNewClaims { _ = item.claim(by: ownership, epoch: epoch) }
      queuedByteCount += item.descriptionByteCount
      if !pastItems.isEmpty { pastItems[item.id] = nil }
    }
    var iterator = newItems.makeIterator()
    items.set(newItems.lazy.map(\.id)) { id in
      guard let item = iterator.next() else { preconditionFailure("there are as many items as ids") }
      return item
    }
    if reserved.isEmpty { needsNewClaims = false }
    return true
  }

  private func claimOneByOne(_ newItems: [PlayerItem]) throws(MediaError) {
    for (index, item) in newItems.enumerated() {
      // Claiming a reserved item again moves the claim to this epoch.
      guard items[item.id] == nil, item.claim(by: ownership, epoch: epoch) else {
        releaseItems(Array(newItems[..<index]))
        throw MediaError(.itemInUse, "item \(item.id) is already in a queue", operation: "insert")
      }
      adopt(item)
    }
  }

  /// Begins another epoch: reserved items must be claimed again when they are inserted.
  func beginEpoch() {
    epoch += 1
    needsNewClaims = !reserved.isEmpty
  }

  /// Claims all of the items, or none, for an edit in preparation, so that the edit itself does less work.
  ///
  /// The items are in no queue until the edit. The reservation ends with the edit, even if the edit fails, or with
  /// `cancelReservation`.
  ///
  /// - Throws: `itemInUse`; `invalidState` if the player is closed.
  func reserve(_ newItems: [PlayerItem]) throws(MediaError) {
    guard !isClosed else { throw MediaError(.invalidState, "the player is closed", operation: "insert") }
    for (index, item) in newItems.enumerated() {
      guard items[item.id] == nil, reserved[item.id] == nil, item.claim(by: ownership, epoch: epoch) else {
        releaseItems(Array(newItems[..<index]))
        throw MediaError(.itemInUse, "item \(item.id) is already in a queue", operation: "insert")
      }
      reserved[item.id] = item
      connect(item)
    }
  }

  /// Releases items that were reserved for an edit that was cancelled.
  func cancelReservation(of unwanted: [PlayerItem]) {
    releaseItems(unwanted.filter { reserved[$0.id] === $0 })
  }

  /// Adds a claimed item to this queue.
  private func adopt(_ item: PlayerItem) {
    if !reserved.isEmpty, reserved.removeValue(for: item.id) === item {
      // A reserved item is already connected.
    } else {
      connect(item)
    }
    items[item.id] = item
    queuedByteCount += item.descriptionByteCount
    if !pastItems.isEmpty { pastItems[item.id] = nil }
  }

  private func connect(_ item: PlayerItem) {
    observeLog(of: item)
    item.timePitchSlot.playerSlot = timePitchSlot
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
    case .mediaSelection: mediaSelectionChosen(id, isAudio: true)
    case .subtitles: mediaSelectionChosen(id, isAudio: false)
    case .gain: if !isClosed, updateGains() { output.postCommands() }
    }
  }

  /// Makes an entry for an item, with its status and settings: the item may have been opened in another queue.
  func entry(_ item: PlayerItem) -> Machine.Entry {
    if item.hasInitialState { return Machine.Entry(id: item.id) }
    return Machine.Entry(
      id: item.id, status: item.status, duration: item.duration, isDurationPrecise: item.providesPreciseDuration,
      forwardEnd: item.forwardPlaybackEndTime, reverseEnd: item.reversePlaybackEndTime, resumeTime: item.resumeTime)
  }

  // MARK: - Edits

  /// Checks the version of the queue.
  ///
  /// - Throws: `versionMismatch`.
  func checkVersion(_ version: UInt64?, _ operation: String) throws(MediaError) {
    guard let version, version != machine.queueVersion else { return }
    throw MediaError(
      .versionMismatch, "the queue has version \(machine.queueVersion), not \(version)", operation: operation)
  }

  /// Applies all edits, or none.
  func edit(_ edits: [QueueEdit], ifVersion version: UInt64? = nil) throws(MediaError) {
    try checkVersion(version, "edit")
    let newItems = edits.flatMap(\.newItems)
    try claim(newItems)
    let changes = edits.map { edit -> Machine.QueueChange in
      switch edit {
      case .insert(let items, let position): .insert(items.map(entry), at: position)
      case .remove(let ids): .remove(ids)
      case .move(let id, let position): .move(id, to: position)
      case .replace(let id, let item): .replace(id, with: entry(item))
      case .removeAll: .removeAll
      }
    }
    let resumePosition = currentResumePosition
    let actions: [Machine.Action]
    do throws(MediaError) {
      actions = try machine.edit(changes)
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
    beginEpoch()
    try claim(addedItems)
    runItemChange { machine.replaceAll(newItems.map(entry)) }
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
    guard pastItems[id] != nil, let index = machine.history.ids.lastIndex(of: id) else {
      throw Machine.noSuchItem(id, "jump")
    }
    guard goBack(over: machine.history.ids.count - index, to: id) else {
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
    for (skippedCount, id) in machine.history.ids.reversed().enumerated() where reclaim(id) {
      for _ in 0..<skippedCount { machine.history.removeLast() }
      _ = goBack(over: 1, to: id)
      return
    }
    guard machine.repeatMode == .all, machine.shuffle == nil, machine.entries.count > 1 else {
      throw MediaError(.noSuchItem, "no item was played before", operation: "previous")
    }
    machine.history.removeAll()
    runItemChange { machine.goBackRound() }
  }

  /// Goes back by the newest `count` entries of the history, to item `id`. Returns false if that item is not available.
  private func goBack(over count: Int, to id: PlayerItem.ID) -> Bool {
    guard reclaim(id) else { return false }
    var returning: [Machine.Entry] = []
    for past in machine.history.ids.suffix(count) {
      if past == id || items[past] != nil { continue }
      guard reclaim(past), let item = items[past] else { continue }
      returning.append(entry(item))
    }
    if let item = items[id], !machine.entries.contains(id) { returning.append(entry(item)) }
    runItemChange { machine.goBack(over: count, returning: returning) }
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
