import MediaAssets
import MediaCore

/// The queue: who owns which item, edits, going on and back.
extension PlayerCore {
  // MARK: - Items

  /// Takes items for this player; all or none.
  func claim(_ newItems: [PlayerItem]) throws(MediaError) {
    guard !isClosed else { throw MediaError(.invalidState, "the player is closed", operation: "insert") }
    if !takeReserved(newItems) { try claimOneByOne(newItems) }
    changeObserver?(newItems)
  }

  /// Puts items into this queue that are all reserved for it. Returns false, and changes nothing, when any is not.
  private func takeReserved(_ newItems: [PlayerItem]) -> Bool {
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
      // A claim of what is reserved makes it one of this epoch.
      guard items[item.id] == nil, item.claim(by: ownership, epoch: epoch) else {
        depart(Array(newItems[..<index]))
        throw MediaError(.itemInUse, "item \(item.id) is in a queue already", operation: "insert")
      }
      adopt(item)
    }
  }

  /// Begins another epoch: what is reserved is to be claimed anew when it comes into the queue.
  func beginEpoch() {
    epoch += 1
    needsNewClaims = !reserved.isEmpty
  }

  /// Claims items for an edit that is still being prepared, so that the edit itself has less to do; all or none. They are
  /// in no queue until then. An edit ends their reservation, whatever comes of it, and so does `cancelReservation`.
  ///
  /// - Throws: `itemInUse`, `invalidState` when the player is closed.
  func reserve(_ newItems: [PlayerItem]) throws(MediaError) {
    guard !isClosed else { throw MediaError(.invalidState, "the player is closed", operation: "insert") }
    for (index, item) in newItems.enumerated() {
      guard items[item.id] == nil, reserved[item.id] == nil, item.claim(by: ownership, epoch: epoch) else {
        depart(Array(newItems[..<index]))
        throw MediaError(.itemInUse, "item \(item.id) is in a queue already", operation: "insert")
      }
      reserved[item.id] = item
      connect(item)
    }
  }

  /// Frees items that were reserved for an edit that is not made.
  func cancelReservation(of unwanted: [PlayerItem]) {
    depart(unwanted.filter { reserved[$0.id] === $0 })
  }

  /// An item that was claimed is in this queue.
  private func adopt(_ item: PlayerItem) {
    if !reserved.isEmpty, reserved.removeValue(for: item.id) === item {
      // It is connected already.
    } else {
      connect(item)
    }
    items[item.id] = item
    queuedByteCount += item.descriptionByteCount
    if !pastItems.isEmpty { pastItems[item.id] = nil }
  }

  private func connect(_ item: PlayerItem) {
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

  /// An item may have been opened in a queue before.
  func entry(_ item: PlayerItem) -> Machine.Entry {
    if item.isFresh { return Machine.Entry(id: item.id) }
    return Machine.Entry(
      id: item.id, status: item.status, duration: item.duration, isDurationPrecise: item.providesPreciseDuration,
      forwardEnd: item.forwardPlaybackEndTime, reverseEnd: item.reversePlaybackEndTime, resumeTime: item.resumeTime)
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
      depart(newItems)
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
    // The items that were there before can be freed all at once.
    beginEpoch()
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
    guard let item = pastItems[id], item.error == nil, item.claim(by: ownership, epoch: epoch) else { return false }
    adopt(item)
    changeObserver?([item])
    return true
  }

  // MARK: - Settings

  func setShuffle(seed: UInt64?) { run(machine.setShuffle(seed: seed), cause: .request) }

  func setFailurePolicy(_ policy: ItemFailurePolicy) { run(machine.setFailurePolicy(policy), cause: .request) }
}
