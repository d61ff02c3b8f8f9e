import MediaAssets
import MediaCore

/// The queue: who owns which item, edits, going on and back.
extension PlayerCore {
  // MARK: - Items

  /// Takes items for this player; all or none.
  func claim(_ newItems: [PlayerItem]) throws(MediaError) {
    guard !isClosed else { throw MediaError(.invalidState, "the player is closed", operation: "insert") }
    var claimed: [PlayerItem] = []
    claimed.reserveCapacity(newItems.count)
    for item in newItems {
      guard items[item.id] == nil, item.claim(by: self) else {
        giveBack(claimed)
        throw MediaError(.itemInUse, "item \(item.id) is in a queue already", operation: "insert")
      }
      claimed.append(item)
      adopt(item)
    }
    changeObserver?(newItems)
  }

  /// An item that was claimed is in this queue.
  private func adopt(_ item: PlayerItem) {
    items[item.id] = item
    queuedByteCount += item.descriptionByteCount
    pastItems[item.id] = nil
    observeLog(of: item)
    item.timePitchSlot.player = timePitchSlot
    item.mediaSelectionSlot.player = mediaSelectionPreferences
    item.onSettingsChange = settingsObserver
    item.onSoundChange = soundObserver
  }

  /// What is called when an item is to sound otherwise, on some thread.
  func makeSoundObserver() -> @Sendable (PlayerItem.ID, PlayerItem.SoundChange) -> Void {
    let loop = engine.loop
    return { [weak self] id, change in
      guard let self else { return }
      if loop.isIsolatingCurrentContext() == true {
        soundChanged(id, change)
      } else {
        loop.execute { self.soundChanged(id, change) }
      }
    }
  }

  private func soundChanged(_ id: PlayerItem.ID, _ change: PlayerItem.SoundChange) {
    if let item = items[id] { changeObserver?([item]) }
    switch change {
    case .audioMix: audioMixChanged(id)
    case .timePitch: timePitchChanged(id)
    case .mediaSelection: mediaSelectionChosen(id, isSound: true)
    case .subtitles: mediaSelectionChosen(id, isSound: false)
    case .level: if !isClosed, settleLevels() { output.commit() }
    }
  }

  /// Items that were claimed are not in this queue, after all: those that were played here stay known as such.
  private func giveBack(_ claimed: [PlayerItem]) {
    for item in claimed {
      release(item)
      if machine.history.contains(item.id) { pastItems[item.id] = item }
    }
  }

  func release(_ item: PlayerItem) {
    stopLoading(item)
    item.asset.dropFile()
    if items.removeValue(forKey: item.id) != nil { queuedByteCount -= item.descriptionByteCount }
    item.onSoundChange = nil
    item.timePitchSlot.player = nil
    item.mediaSelectionSlot.player = nil
    item.onSettingsChange = nil
    if item.asset.mayUseNetwork { item.networkLog.observe(key: item.id, nil) }
    sampleRates[item.id] = nil
    item.release()
  }

  /// An item may have been opened in a queue before.
  func entry(_ item: PlayerItem) -> Machine.Entry {
    Machine.Entry(
      id: item.id, status: item.status, duration: item.duration, isDurationPrecise: item.providesPreciseDuration,
      forwardEnd: item.forwardPlaybackEndTime, reverseEnd: item.reversePlaybackEndTime, resumeTime: item.resumeTime)
  }

  /// Items that the machine let go are free for other queues, before anybody is told. Those that one can go back to are
  /// kept.
  func releaseRemovedItems() {
    let removed = machine.takeRemoved()
    for id in removed {
      guard let item = items[id] else { continue }
      release(item)
      if machine.history.contains(id) { pastItems[id] = item }
    }
    for id in machine.history.takeForgotten() { pastItems[id] = nil }
    for id in removed { tell(observers.table.removeObservers(boundTo: id), itemID: id) }
  }

  // MARK: - Edits

  /// Errors: `versionMismatch` unless the queue has this version.
  func checkVersion(_ version: UInt64?, _ operation: String) throws(MediaError) {
    guard let version, version != machine.queueVersion else { return }
    throw MediaError(
      .versionMismatch, "the queue has version \(machine.queueVersion), not \(version)", operation: operation)
  }

  /// Makes all of the changes or none.
  func edit(_ edits: [QueueEdit], ifVersion version: UInt64? = nil) throws(MediaError) {
    try checkVersion(version, "edit")
    let newItems = edits.flatMap(\.newItems)
    try claim(newItems)
    let changes = edits.map { edit -> Machine.QueueChange in
      switch edit {
      case .insert(let items, let place): .insert(items.map(entry), at: place)
      case .remove(let ids): .remove(ids)
      case .move(let id, let place): .move(id, to: place)
      case .replace(let id, let item): .replace(id, with: entry(item))
      case .removeAll: .removeAll
      }
    }
    let place = currentPlace
    let actions: [Machine.Action]
    do throws(MediaError) {
      actions = try machine.edit(changes)
    } catch {
      giveBack(newItems)
      throw error
    }
    run(actions, cause: .request)
    tellIfLeft(place)
  }

  func replaceAll(with newItems: [PlayerItem]) throws(MediaError) {
    // An item may stay in the queue that it is in.
    let fresh = newItems.filter { items[$0.id] == nil }
    guard Set(newItems.map(\.id)).count == newItems.count else {
      throw MediaError(.itemInUse, "an item cannot stand twice in a queue", operation: "load")
    }
    try claim(fresh)
    runLeaving { machine.replaceAll(newItems.map(entry)) }
  }

  func removeAll() { runLeaving { machine.replaceAll([]) } }

  // MARK: - Places that are left

  /// The current item, where it is heard and whether that is its end, forwards, for who keeps places; nil when nobody does, or there
  /// is nothing to keep: it has not begun, or is a stream.
  var currentPlace: Place? {
    guard placeObserver != nil, let item = currentItem, item.status == .readyToPlay, item.isSeekable == true,
      item.liveWindow == nil, item.resumeTime == nil
    else { return nil }
    let hasEnded = (machine.hasItemEnded || machine.hasPassedEnd) && !machine.decodedSpeed.isReverse
    return (item, currentTime(), hasEnded)
  }

  typealias Place = (item: PlayerItem, time: MediaTime, hasEnded: Bool)

  /// Tells where the item was left that was current, unless it still is.
  func tellIfLeft(_ place: Place?) {
    guard let place, machine.entries.first?.id != place.item.id else { return }
    placeObserver?(place.item, place.time, place.hasEnded)
  }

  /// Runs what may make another item current.
  private func runLeaving(_ change: () -> [Machine.Action]) {
    let place = currentPlace
    run(change(), cause: .request)
    tellIfLeft(place)
  }

  // MARK: - Going on and back

  func advance() { runLeaving { machine.advance() } }

  /// Makes an item current that is in the queue, or was before. Errors: `noSuchItem`.
  func jump(to id: PlayerItem.ID) throws(MediaError) {
    if items[id] != nil { return runLeaving { machine.jump(to: id) } }
    guard pastItems[id] != nil, let place = machine.history.ids.lastIndex(of: id) else {
      throw Machine.noSuchItem(id, "jump")
    }
    guard goBack(over: machine.history.ids.count - place, to: id) else {
      throw MediaError(.itemInUse, "item \(id) is in another queue now, or failed", operation: "jump")
    }
  }

  /// Makes the item at a place current. Errors: `invalidArgument`.
  func jump(toIndex index: Int) throws(MediaError) {
    guard (0..<machine.entries.count).contains(index) else {
      throw MediaError(
        .invalidArgument,
        machine.entries.isEmpty
          ? "the queue is empty" : "an index is from 0 to \(machine.entries.count - 1) here, not \(index)",
        operation: "jump")
    }
    runLeaving { machine.jump(to: machine.entries.order[index]) }
  }

  /// Goes back to what was played before, or to the beginning of what is. Errors: `noSuchItem`.
  func goToPrevious(restartingAfter limit: MediaTime?) throws(MediaError) {
    if let limit, let current = machine.entries.first, current.status.error == nil, currentTime() > limit {
      return run(machine.jump(to: current.id), cause: .request)
    }
    // What is in another queue by now, or cannot be played, is passed over.
    for (passed, id) in machine.history.ids.reversed().enumerated() where takeBack(id) {
      for _ in 0..<passed { machine.history.removeLast() }
      _ = goBack(over: 1, to: id)
      return
    }
    guard machine.repeatMode == .all, machine.shuffle == nil, machine.entries.count > 1 else {
      throw MediaError(.noSuchItem, "nothing was played before", operation: "previous")
    }
    machine.history.removeAll()
    runLeaving { machine.goBackRound() }
  }

  /// Goes back over the newest `count` of what was played, to item `id`; false when that is not to be had any more.
  private func goBack(over count: Int, to id: PlayerItem.ID) -> Bool {
    guard takeBack(id) else { return false }
    var returning: [Machine.Entry] = []
    for past in machine.history.ids.suffix(count) {
      if past == id || items[past] != nil { continue }
      guard takeBack(past), let item = items[past] else { continue }
      returning.append(entry(item))
    }
    if let item = items[id], !machine.entries.contains(id) { returning.append(entry(item)) }
    runLeaving { machine.goBack(over: count, returning: returning) }
    return true
  }

  /// Takes an item that was played for this player again, unless it is in the queue; false when it is not to be had any
  /// more, or failed.
  private func takeBack(_ id: PlayerItem.ID) -> Bool {
    if let item = items[id] { return item.error == nil }
    guard let item = pastItems[id], item.error == nil, item.claim(by: self) else { return false }
    adopt(item)
    changeObserver?([item])
    return true
  }

  // MARK: - Settings

  func setShuffle(seed: UInt64?) { run(machine.setShuffle(seed: seed), cause: .request) }

  func setFailurePolicy(_ policy: ItemFailurePolicy) { run(machine.setFailurePolicy(policy), cause: .request) }
}
