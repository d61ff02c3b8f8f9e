import MediaAssets
import MediaCore
import Playback
import PlayerModel
import SavedState

/// Conversion of players to and from their saved form.
extension StoredPlayer {
  /// Creates the saved form of a player, with its new and changed entries. Threading: any.
  init(name: String, _ snapshot: PlayerSnapshot, changed: [PlayerItem]) {
    let state = snapshot.state
    var fields: StoredFields = [
      "volume": "\(state.volume)", "muted": "\(state.isMuted)", "pan": "\(state.pan)",
      "default-rate": "\(state.defaultRate)", "next-rate": "\(snapshot.rateForNextPlay)",
      "rate": "\(state.rate)",
      "repeat": state.repeatMode.rawValue, "end-action": state.actionAtItemEnd.rawValue,
      "on-failure": state.itemFailurePolicy.rawValue, "auto-wait": "\(state.automaticallyWaitsToMinimizeStalling)",
      "pitch": state.audioTimePitchAlgorithm.rawValue, "gain.mode": state.replayGain.mode.rawValue,
      "gain.preamp": "\(state.replayGain.preampDecibels)", "gain.fallback": "\(state.replayGain.fallbackDecibels)",
      "gain.prevents-clipping": "\(state.replayGain.preventsClipping)", "version": "\(state.queueVersion)",
      "criteria.applied": "\(state.appliesMediaSelectionCriteriaAutomatically)",
    ]
    for (group, criteria) in state.mediaSelectionCriteria {
      func names(_ characteristics: Set<MediaCharacteristic>) -> String {
        characteristics.map(\.rawValue).sorted().joined(separator: " ")
      }
      fields["criteria.\(group.rawValue).languages"] = criteria.preferredLanguages.joined(separator: " ")
      fields["criteria.\(group.rawValue).preferred"] = names(criteria.preferredCharacteristics)
      fields["criteria.\(group.rawValue).principal"] = names(criteria.principalCharacteristics)
    }
    if let shuffle = snapshot.shuffle {
      fields["shuffle"] = "\(shuffle.seed) \(shuffle.round) \(shuffle.remainingCount) \(shuffle.generatorState)"
    }
    if let loop = snapshot.loop {
      fields["loop.start"] = loop.range.start.storedText
      fields["loop.length"] = loop.range.duration.storedText
      fields["loop.remaining"] = loop.remainingCount.map { "\($0)" }
      fields["loop.count"] = "\(loop.loopCount)"
      fields["loop.armed"] = "\(loop.isArmed)"
      fields["loop.finishing"] = "\(loop.isFinishing)"
    }
    self.init(
      name: name, fields: fields, order: snapshot.queue.map { StoredChunk(key: $0.key, ids: $0.ids) },
      original: snapshot.shuffle?.original.map { StoredChunk(key: $0.key, ids: $0.ids) } ?? [],
      history: snapshot.history,
      position: state.currentItemID.map { StoredPosition(itemID: $0, time: snapshot.time) },
      entries: changed.map { StoredEntry($0) })
  }

  /// The number or Boolean value of a field. Nil if it is missing or invalid.
  private func value<Value: LosslessStringConvertible>(_ name: String) -> Value? {
    fields[name].flatMap { Value($0) }
  }

  /// The value of a field whose text is a raw value. Nil if it is missing or invalid.
  private func enumeration<Value: RawRepresentable<String>>(_ name: String) -> Value? {
    fields[name].flatMap { Value(rawValue: $0) }
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
    player.onLoop { restoreSettings($0) }
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
    restoration.queueVersion = min(value("version") ?? 0, 1 << 62)
    restoration.shuffle = shuffle
    if let position, position.itemID == restoration.items.first?.id {
      restoration.time = position.time
      restoration.loop = loop
    }
    restoration.rateForNextPlay = value("next-rate")
    restoration.defersOpening = !openingIDs.isEmpty
    for item in restoration.items + restoration.pastItems
    where openingIDs.contains(item.id) || stored[item.id]?.hasCrashedDaemon == true {
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
    guard let position, let rate: Double = value("rate"), rate != 0 else { return }
    player.onLoop { player in
      guard player.items(in: 0..<1).first?.id == position.itemID else { return }
      try? player.setRate(rate)
    }
  }

  private func restoreSettings(_ player: isolated QueuePlayer) {
    if let volume: Float = value("volume") { try? player.setVolume(volume) }
    if let isMuted: Bool = value("muted") { player.setMuted(isMuted) }
    if let pan: Float = value("pan") { try? player.setPan(pan) }
    if let rate: Double = value("default-rate") { try? player.setDefaultRate(rate) }
    if let mode: RepeatMode = enumeration("repeat") { try? player.setRepeatMode(mode) }
    if let action: ActionAtItemEnd = enumeration("end-action") { try? player.setActionAtItemEnd(action) }
    if let policy: ItemFailurePolicy = enumeration("on-failure") { player.setItemFailurePolicy(policy) }
    if let waits: Bool = value("auto-wait") { player.setAutomaticallyWaitsToMinimizeStalling(waits) }
    if let pitch: AudioTimePitchAlgorithm = enumeration("pitch") { try? player.setAudioTimePitchAlgorithm(pitch) }
    var gain = ReplayGainSettings()
    gain.mode = enumeration("gain.mode") ?? gain.mode
    gain.preampDecibels = value("gain.preamp") ?? gain.preampDecibels
    gain.fallbackDecibels = value("gain.fallback") ?? gain.fallbackDecibels
    gain.preventsClipping = value("gain.prevents-clipping") ?? gain.preventsClipping
    try? player.setReplayGain(gain)
    for group in [MediaCharacteristic.audible, .legible] {
      guard let languages = fields["criteria.\(group.rawValue).languages"] else { continue }
      func characteristics(_ name: String) -> Set<MediaCharacteristic> {
        let names = fields["criteria.\(group.rawValue).\(name)"]?.split(separator: " ") ?? []
        return Set(names.compactMap { MediaCharacteristic(rawValue: String($0)) })
      }
      try? player.setMediaSelectionCriteria(
        MediaSelectionCriteria(
          preferredLanguages: languages.split(separator: " ").map(String.init),
          preferredCharacteristics: characteristics("preferred"),
          principalCharacteristics: characteristics("principal")), for: group)
    }
    if let isApplied: Bool = value("criteria.applied") {
      player.setAppliesMediaSelectionCriteriaAutomatically(isApplied)
    }
  }

  private var shuffle: ShuffleSnapshot? {
    let words = fields["shuffle"]?.split(separator: " ") ?? []
    guard words.count == 4, let seed = UInt64(words[0]), let round = UInt64(words[1]), let remaining = Int(words[2]),
      let generatorState = UInt64(words[3])
    else { return nil }
    guard round < 1 << 62 else { return nil }
    return ShuffleSnapshot(
      seed: seed, round: round, remainingCount: remaining, generatorState: generatorState,
      original: original.map { QueueChunk(key: $0.key, ids: $0.ids) })
  }

  private var loop: LoopSnapshot? {
    guard let start = fields["loop.start"].flatMap(MediaTime.init(stored:)),
      let length = fields["loop.length"].flatMap(MediaTime.init(stored:))
    else { return nil }
    let (remaining, count): (Int?, Int) = (value("loop.remaining"), value("loop.count") ?? 0)
    guard (0..<1 << 62).contains(count), (0..<1 << 62).contains(remaining ?? 0) else { return nil }
    return LoopSnapshot(
      range: TimeRange(start: start, duration: length), remainingCount: remaining, loopCount: count,
      isArmed: value("loop.armed") ?? true,
      isFinishing: value("loop.finishing") ?? false)
  }
}
