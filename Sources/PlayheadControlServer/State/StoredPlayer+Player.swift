import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadSavedState

/// Conversion of players to and from their saved form.
extension StoredPlayer {
  /// Creates the saved form of a player, with its new and changed entries. Threading: any.
  init(name: String, _ snapshot: PlayerSnapshot, _ effects: EffectSettings, changed: [PlayerItem]) {
    let state = snapshot.state
    var settings = Settings(snapshot)
    settings.effects = effects == EffectSettings() ? nil : Effects(effects)
    self.init(
      name: name, settings: settings, order: snapshot.queue.map { StoredChunk(key: $0.key, ids: $0.ids) },
      original: snapshot.shuffle?.original.map { StoredChunk(key: $0.key, ids: $0.ids) } ?? [],
      history: snapshot.history,
      position: state.currentItemID.map { StoredPosition(itemID: $0, time: snapshot.time) },
      entries: changed.map { StoredEntry($0) })
  }

  /// Restores the saved state of a new player. Ignores values that are no longer valid.
  ///
  /// - Parameters:
  ///   - openingIDs: The entries of all players that the last daemon was opening when it crashed. These entries fail.
  ///     If the set is not empty, the player opens no file before a request changes or plays it.
  ///   - byteLimit: The maximum number of bytes that describe the entries (`PlayerItem.descriptionByteCount`).
  /// - Returns: The number of entries that were omitted from the end of the queue because of `byteLimit`.
  func restore(
    _ player: QueuePlayer, _ maker: inout EntryMaker, openingIDs: Set<UInt64>, byteLimit: Int
  ) -> Int {
    player.onLoop { settings.restore($0) }
    let stored = Dictionary(entries.map { ($0.id, $0) }) { first, _ in first }
    var restoration = PlayerRestoration()
    let queuedIDs = order.flatMap(\.ids)
    let items = queuedIDs.compactMap { id in stored[id].map { maker.makeItem($0, id: id) } }
    var byteCount = 0
    restoration.items = Array(
      items.prefix { item in
        byteCount += item.descriptionByteCount
        return byteCount <= byteLimit
      })
    let queuedIDSet = Set(queuedIDs)
    restoration.pastItems = Set(history).subtracting(queuedIDSet).compactMap { id in
      stored[id].map { maker.makeItem($0, id: id) }
    }
    restoration.history = history
    restoration.queueVersion = min(settings.queueVersion ?? 0, 1 << 62)
    restoration.shuffle = shuffle
    if let position, position.itemID == restoration.items.first?.id {
      restoration.time = position.time
      restoration.loop = loop
    }
    restoration.rateForNextPlay = settings.rateForNextPlay
    restoration.defersOpening = !openingIDs.isEmpty
    for item in restoration.items + restoration.pastItems
    where openingIDs.contains(item.id) || stored[item.id]?.settings.hasCrashedDaemon == true {
      restoration.failures[item.id] = MediaError(
        .crashedWhileOpening, "playheadd crashed while it opened \(item.asset.displayPath); append it again to retry",
        operation: "restore")
    }
    let restored = restoration
    try? player.tryOnLoop { player throws(MediaError) in try player.restore(restored) }
    return items.count - restored.items.count
  }

  /// Continues playback of a restored player that was playing. Has no effect for a player that was paused, that has no
  /// current entry, or whose current entry cannot be played in the saved direction.
  func resumePlayback(of player: QueuePlayer) {
    guard let position, let rate = settings.rate, rate != 0 else { return }
    player.onLoop { player in
      guard player.items(in: 0..<1).first?.id == position.itemID else { return }
      try? player.setRate(rate)
    }
  }

  private var shuffle: ShuffleSnapshot? {
    guard let shuffle = settings.shuffle, shuffle.round < 1 << 62 else { return nil }
    return ShuffleSnapshot(
      seed: shuffle.seed, round: shuffle.round, remainingCount: shuffle.remainingCount,
      generatorState: shuffle.generatorState, original: original.map { QueueChunk(key: $0.key, ids: $0.ids) })
  }

  private var loop: LoopSnapshot? {
    let counts = 0..<1 << 62
    guard let loop = settings.loop, loop.range.isValid, counts.contains(loop.loopCount),
      counts.contains(loop.remainingCount ?? 0)
    else { return nil }
    return LoopSnapshot(
      range: loop.range, remainingCount: loop.remainingCount, loopCount: loop.loopCount, isArmed: loop.isArmed,
      isFinishing: loop.isFinishing)
  }
}

extension StoredPlayer.Settings {
  /// Creates the saved form of a player's settings.
  fileprivate init(_ snapshot: PlayerSnapshot) {
    self.init()
    let state = snapshot.state
    volume = state.volume
    isMuted = state.isMuted
    pan = state.pan
    rate = state.rate
    defaultRate = state.defaultRate
    rateForNextPlay = snapshot.rateForNextPlay
    repeatMode = state.repeatMode.rawValue
    actionAtItemEnd = state.actionAtItemEnd.rawValue
    itemFailurePolicy = state.itemFailurePolicy.rawValue
    automaticallyWaitsToMinimizeStalling = state.automaticallyWaitsToMinimizeStalling
    audioTimePitchAlgorithm = state.audioTimePitchAlgorithm.rawValue
    replayGain = StoredPlayer.ReplayGain(state.replayGain)
    silenceDuration = state.silenceDetection.duration
    silenceThreshold = state.silenceDetection.threshold
    appliesMediaSelectionCriteriaAutomatically = state.appliesMediaSelectionCriteriaAutomatically
    if !state.mediaSelectionCriteria.isEmpty {
      mediaSelectionCriteria = Dictionary(
        uniqueKeysWithValues: state.mediaSelectionCriteria.map {
          ($0.rawValue, StoredPlayer.MediaSelectionCriteria($1))
        })
    }
    crossfade = state.crossfade.map {
      StoredPlayer.Crossfade(
        duration: $0.duration, fadeOutDuration: $0.fadeOutDuration, fadeInDuration: $0.fadeInDuration,
        curve: $0.curve.rawValue)
    }
    queueVersion = state.queueVersion
    shuffle = snapshot.shuffle.map {
      StoredPlayer.Shuffle(
        seed: $0.seed, round: $0.round, remainingCount: $0.remainingCount, generatorState: $0.generatorState)
    }
    loop = snapshot.loop.map {
      StoredPlayer.Loop(
        range: $0.range, remainingCount: $0.remainingCount, loopCount: $0.loopCount, isArmed: $0.isArmed,
        isFinishing: $0.isFinishing)
    }
  }

  /// Restores the settings of a new player. Ignores values that are no longer valid.
  fileprivate func restore(_ player: isolated QueuePlayer) {
    if let volume { try? player.setVolume(volume) }
    if let isMuted { player.setMuted(isMuted) }
    if let pan { try? player.setPan(pan) }
    if let defaultRate { try? player.setDefaultRate(defaultRate) }
    if let crossfade, let curve = FadeCurve(rawValue: crossfade.curve) {
      try? player.setCrossfade(
        Crossfade(
          duration: crossfade.duration, fadeOutDuration: crossfade.fadeOutDuration,
          fadeInDuration: crossfade.fadeInDuration, curve: curve))
    }
    if let mode = repeatMode.flatMap(RepeatMode.init) { try? player.setRepeatMode(mode) }
    if let action = actionAtItemEnd.flatMap(ActionAtItemEnd.init) { try? player.setActionAtItemEnd(action) }
    if let policy = itemFailurePolicy.flatMap(ItemFailurePolicy.init) { player.setItemFailurePolicy(policy) }
    if let automaticallyWaitsToMinimizeStalling {
      player.setAutomaticallyWaitsToMinimizeStalling(automaticallyWaitsToMinimizeStalling)
    }
    if let pitch = audioTimePitchAlgorithm.flatMap(AudioTimePitchAlgorithm.init) {
      try? player.setAudioTimePitchAlgorithm(pitch)
    }
    if let replayGain { try? player.setReplayGain(ReplayGainSettings(replayGain)) }
    if let silenceThreshold {
      try? player.setSilenceDetection(SilenceDetection(duration: silenceDuration, threshold: silenceThreshold))
    }
    for group in [MediaCharacteristic.audible, .legible] {
      guard let criteria = mediaSelectionCriteria?[group.rawValue] else { continue }
      try? player.setMediaSelectionCriteria(MediaSelectionCriteria(criteria), for: group)
    }
    if let appliesMediaSelectionCriteriaAutomatically {
      player.setAppliesMediaSelectionCriteriaAutomatically(appliesMediaSelectionCriteriaAutomatically)
    }
  }
}

extension StoredPlayer.ReplayGain {
  fileprivate init(_ settings: ReplayGainSettings) {
    self.init()
    mode = settings.mode.rawValue
    preampDecibels = settings.preampDecibels
    fallbackDecibels = settings.fallbackDecibels
    preventsClipping = settings.preventsClipping
  }
}

extension ReplayGainSettings {
  fileprivate init(_ stored: StoredPlayer.ReplayGain) {
    self.init()
    mode = stored.mode.flatMap(ReplayGainMode.init) ?? mode
    preampDecibels = stored.preampDecibels ?? preampDecibels
    fallbackDecibels = stored.fallbackDecibels ?? fallbackDecibels
    preventsClipping = stored.preventsClipping ?? preventsClipping
  }
}

extension StoredPlayer.MediaSelectionCriteria {
  fileprivate init(_ criteria: MediaSelectionCriteria) {
    self.init(
      preferredLanguages: criteria.preferredLanguages,
      preferredCharacteristics: criteria.preferredCharacteristics.map(\.rawValue).sorted(),
      principalCharacteristics: criteria.principalCharacteristics.map(\.rawValue).sorted())
  }
}

extension MediaSelectionCriteria {
  fileprivate init(_ stored: StoredPlayer.MediaSelectionCriteria) {
    self.init(
      preferredLanguages: stored.preferredLanguages,
      preferredCharacteristics: Set(stored.preferredCharacteristics.compactMap(MediaCharacteristic.init)),
      principalCharacteristics: Set(stored.principalCharacteristics.compactMap(MediaCharacteristic.init)))
  }
}
