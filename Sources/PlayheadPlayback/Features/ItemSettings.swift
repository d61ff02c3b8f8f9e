import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlayerModel

/// The connection of items with their player: the settings that all items of the queue share, and the observation of
/// each item's settings and network log.
final class ItemSettings {
  private unowned let player: PlayerCore
  /// The pitch algorithm of items without a custom one.
  let timePitchSlot = TimePitchSlot()
  /// The audio processors of all items.
  let audioProcessorSlot = AudioProcessorSlot()
  /// The criteria for tracks of items without an explicit choice.
  let mediaSelectionPreferences = MediaSelectionPreferences()
  // One closure for all items of the queue, because there may be many items.
  private lazy var observeSettings = makeSettingsObserver()
  private lazy var observeAudio = makeAudioObserver()

  init(_ player: PlayerCore) { self.player = player }

  // MARK: - Items

  /// Connects an item to the player: the item gets the shared settings, and the player observes the item.
  func connect(_ item: PlayerItem) {
    observeLog(of: item)
    item.timePitchSlot.playerSlot = timePitchSlot
    item.audioProcessorSlot.playerSlot = audioProcessorSlot
    item.mediaSelectionSlot.playerPreferences = mediaSelectionPreferences
    item.onSettingsChange = observeSettings
    item.onAudioChange = observeAudio
  }

  /// Disconnects an item. The caller has locked the item's state, so this method must not read that state.
  func disconnect(_ item: PlayerItem) {
    item.onAudioChange = nil
    item.timePitchSlot.playerSlot = nil
    item.audioProcessorSlot.playerSlot = nil
    item.mediaSelectionSlot.playerPreferences = nil
    item.onSettingsChange = nil
    if item.asset.mayUseNetwork { item.networkLog.observe(key: item.id, nil) }
  }

  // MARK: - Network logs

  /// Forwards new entries of an item's network log.
  private func observeLog(of item: PlayerItem) {
    guard item.asset.mayUseNetwork else { return }
    let (loop, id) = (player.engine.loop, item.id)
    item.networkLog.observe(key: id) { [weak player] entry in
      guard let player else { return }
      loop.execute { player.itemSettings.report(entry, of: id) }
    }
  }

  private func report(_ entry: NetworkLog.Entry, of id: PlayerItem.ID) {
    guard !player.isClosed, player.items[id] != nil else { return }
    let time = player.machine.entries.first?.id == id ? player.currentTime() : .zero
    switch entry {
    case .access(let event):
      player.logger.info(
        "a server replied", metadata: ["item": "\(id)", "uri": "\(event.uri)", "address": "\(event.serverAddress)"])
      player.send(.newAccessLogEntry(id, time, event))
    case .error(let event):
      player.logger.warning(
        "a server failed", metadata: ["item": "\(id)", "error": "\(event.error)", "retried": "\(event.isRetried)"])
      player.send(.newErrorLogEntry(id, time, event.error))
    }
  }

  // MARK: - Changes of an item's settings

  /// Makes the observer of items' settings, which is called on the thread that changed a setting.
  private func makeSettingsObserver() -> @Sendable (PlayerItem.ID) -> Void {
    let loop = player.engine.loop
    return { [weak player] id in
      guard let player else { return }
      if loop.isIsolatingCurrentContext() == true {
        player.itemSettings.settingsChanged(id)
      } else {
        loop.execute { player.itemSettings.settingsChanged(id) }
      }
    }
  }

  private func settingsChanged(_ id: PlayerItem.ID) {
    guard !player.isClosed, let item = player.items[id] else { return }
    player.persistence.itemsChanged([item])
    player.run(
      player.machine.setEnds(
        of: id, forward: item.forwardPlaybackEndTime, reverse: item.reversePlaybackEndTime,
        heardAt: player.machine.pendingRequest?.time ?? player.currentTime()),
      cause: .request)
  }

  /// Makes the observer of items' audio settings, which is called on the thread that changed a setting.
  private func makeAudioObserver() -> @Sendable (PlayerItem.ID, PlayerItem.AudioChange) -> Void {
    let loop = player.engine.loop
    return { [weak player] id, change in
      guard let player else { return }
      if loop.isIsolatingCurrentContext() == true {
        player.itemSettings.audioChanged(id, change)
      } else {
        loop.execute { player.itemSettings.audioChanged(id, change) }
      }
    }
  }

  private func audioChanged(_ id: PlayerItem.ID, _ change: PlayerItem.AudioChange) {
    if let item = player.items[id] { player.persistence.itemsChanged([item]) }
    guard !player.isClosed else { return }
    switch change {
    case .audioMix, .processors: redecode(id)
    case .timePitch: timePitchChanged(id)
    case .mediaSelection: mediaSelectionChosen(id, isAudio: true)
    case .subtitles: mediaSelectionChosen(id, isAudio: false)
    case .gain: player.replayGain.postChangedGains()
    }
  }

  /// Decodes the audio of an item again, because a setting of it changed; nil: of all items.
  private func redecode(_ id: PlayerItem.ID?) {
    player.run(player.machine.redecode(id, from: player.currentTime()), cause: .request)
  }

  // MARK: - Pitch algorithms

  /// Sets the algorithm of all items without a custom one, now and later.
  func setTimePitch(_ algorithm: AudioTimePitchAlgorithm) throws(MediaError) {
    try algorithm.requireAvailable(operation: "setAudioTimePitchAlgorithm")
    guard timePitchSlot.value != algorithm else { return }
    timePitchSlot.customValue = algorithm
    if !player.isClosed { timePitchChanged(nil) }
  }

  /// Handles a change of the algorithm of an item; nil: of all items without a custom one. Audio at a rate other than 1
  /// is decoded again. The change is heard 60 ms later, like a change of rate, with a cross-fade of 5 ms.
  private func timePitchChanged(_ id: PlayerItem.ID?) {
    player.machine.timePitchChanged(of: id)
    player.publish(.request)
    player.applyRequestedRate()
  }

  // MARK: - Audio processors

  /// Sets the processors of all items.
  func setAudioProcessors(_ processors: [AudioProcessorFactory]) {
    guard !player.isClosed, audioProcessorSlot.own != processors else { return }
    audioProcessorSlot.own = processors
    redecode(nil)
  }

  // MARK: - Tracks

  /// Changes the selection criteria. Items whose audio track changes are decoded again, as after `select`. Explicit
  /// choices for items stay.
  func changeMediaSelection(_ change: (inout MediaSelectionPreferences.Values) -> Void) {
    let decoded = player.machine.decodedItemIDs.compactMap { player.items[$0] }
    func tracks() -> [AssetTrack.ID?] {
      decoded.map { item in
        (try? item.asset.loaded?.get()).flatMap { item.mediaSelectionSlot.audioTrackID(in: $0) }
      }
    }
    let before = tracks()
    // Event observers get the changes of all ready entries, in the order of their ids.
    let watched =
      player.calls.hasEventObservers
      ? player.items.table.values.filter { $0.status == .readyToPlay }.sorted { $0.id < $1.id } : []
    let oldSelections = watched.map(\.currentMediaSelection)
    change(&mediaSelectionPreferences.values)
    for (item, (old, new)) in zip(decoded, zip(before, tracks())) where old != new && !player.isClosed {
      redecode(item.id)
    }
    player.publish(.request)
    for (item, old) in zip(watched, oldSelections) {
      let new = item.currentMediaSelection
      if new != old { player.send(.mediaSelectionChanged(item.id, new)) }
    }
  }

  /// Handles an explicit choice of other tracks for an item.
  private func mediaSelectionChosen(_ id: PlayerItem.ID, isAudio: Bool) {
    guard let item = player.items[id] else { return }
    if isAudio { redecode(id) }
    player.send(.mediaSelectionChanged(id, item.currentMediaSelection))
  }
}

extension PlayerStateMachine {
  /// The items whose audio is decoded, in preparation or planned.
  fileprivate var decodedItemIDs: Set<ItemID> {
    var ids = Set(decodedPasses.map(\.pass.itemID))
    ids.formUnion(plan.passes.map(\.itemID))
    ids.formUnion([requestInPreparation?.itemID, progress.uncommitted?.request.itemID].compactMap(\.self))
    return ids
  }
}
