import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// Replay gain: the gain of each item, and how it reaches the mixer.
///
/// The decode thread reads an item's tags when it opens the item. The thread then writes the gain into the stream,
/// before the item's first sample. The gain is computed from the settings at the time of the decode request. If the
/// settings or known tags change later, the player changes the gain in the mixer.
final class PlayerReplayGain: PlayerFeature {
  private unowned let player: PlayerCore
  private(set) var settings = ReplayGainSettings()

  init(_ player: PlayerCore) { self.player = player }

  func set(_ newSettings: ReplayGainSettings) throws(MediaError) {
    try newSettings.check()
    guard newSettings != settings else { return }
    let isTurnedOn = settings.mode == .off
    settings = newSettings
    let upcoming = player.machine.entries.prefix(PlayerStateMachine.lookAheadCount).map(\.id)
    for item in (upcoming + player.machine.decodedPasses.map(\.pass.itemID)).compactMap({ player.items[$0] }) {
      if isTurnedOn { item.lacksLoudnessTags = false }
      completeTags(of: item)
    }
    postChangedGains()
    player.publish(.request)
  }

  /// Opens an item again if it was opened while replay gain was off, and not all of its tags are known. If an open
  /// operation in progress does not read the tags, this method is called again when the operation ends.
  func completeTags(of item: PlayerItem) {
    guard needsTags, !item.lacksLoudnessTags, case .success(let properties)? = item.asset.loaded,
      !properties.loudnessTags.isComplete
    else { return }
    player.loading.open(item)
  }

  /// Whether the tags that replay gain needs are read when an item is opened.
  var needsTags: Bool { settings.mode != .off }

  /// Handles the result of opening an item. After a failure the gain is computed without the missing tags.
  func itemOpened(_ item: PlayerItem, isFailure: Bool) {
    guard needsTags else { return }
    if isFailure { item.lacksLoudnessTags = true }
    completeTags(of: item)
    postChangedGains()
  }

  /// The maximum number of entries whose measured gains one turn of the control loop sets.
  static let measuredSliceCount = 1_000

  /// Sets the measured gains of all entries of the queue, in slices. The gains in the mixer change once, at the end.
  /// `completion` gets the number of changed entries.
  func setMeasuredGains(
    _ gain: @escaping @Sendable (PlayerItem) -> ReplayGain?, completion: @escaping @Sendable (Int) -> Void
  ) {
    setSlice(player.machine.entries.order.makeIterator(), count: 0, gain, completion)
  }

  private func setSlice(
    _ ids: QueueOrder.Iterator, count: Int, _ gain: @escaping @Sendable (PlayerItem) -> ReplayGain?,
    _ completion: @escaping @Sendable (Int) -> Void
  ) {
    var (ids, count) = (ids, count)
    var changed: [PlayerItem] = []
    defer { if !changed.isEmpty { player.persistence.itemsChanged(changed) } }
    for _ in 0..<Self.measuredSliceCount {
      guard let id = ids.next() else {
        if count > 0, !player.isClosed { postChangedGains() }
        return completion(count)
      }
      // The item may have left the queue meanwhile.
      guard let item = player.items[id], let measured = gain(item) else { continue }
      item.storeMeasuredReplayGain(measured)
      changed.append(item)
      count += 1
    }
    player.engine.loop.execute { [player, ids, count] in
      player.replayGain.setSlice(ids, count: count, gain, completion)
    }
  }

  func gain(of id: PlayerItem.ID) throws(MediaError) -> AppliedGain? {
    guard let item = player.items[id] else {
      throw MediaError(.noSuchItem, "there is no item \(id) in the queue", operation: "item")
    }
    return knownGain(of: item)
  }

  /// The gain of an item; nil while required tags are unknown.
  private func knownGain(of item: PlayerItem) -> AppliedGain? {
    guard case .success(let properties)? = item.asset.loaded else { return nil }
    guard
      settings.mode == .off || item.measuredReplayGain != nil || item.lacksLoudnessTags
        || properties.loudnessTags.isComplete
    else { return nil }
    return policy(of: item).gain(for: properties.loudnessTags)
  }

  /// The known inputs of an item's gain, except its tags.
  func policy(of item: PlayerItem) -> GainPolicy {
    var policy = GainPolicy(settings: settings, measured: item.measuredReplayGain)
    guard settings.mode == .auto, let index = player.machine.entries.index(of: item.id) else { return policy }
    let previous =
      index > 0
      ? player.machine.entries.suffix(from: index - 1).first { _ in true }?.id : player.machine.queue.history.last
    let following = player.machine.entries.suffix(from: index + 1).first { _ in true }?.id
    if let neighbour = previous.flatMap({ player.items.inQueueOrHistory($0) }) {
      policy.previousAlbumPosition = neighbour.albumPosition
      policy.hasAdjacentPart = neighbour.isFollowedInFile(by: item)
    }
    if let neighbour = following.flatMap({ player.items[$0] }) {
      policy.nextAlbumPosition = neighbour.albumPosition
      policy.hasAdjacentPart = policy.hasAdjacentPart || item.isFollowedInFile(by: neighbour)
    }
    return policy
  }

  /// Records a gain that the decode thread wrote into a stream.
  func record(_ gain: Float, of id: PlayerItem.ID, generation: UInt64) {
    player.chain.update(generation) { $0.gains[id] = gain }
    // If the decode thread did not get all tags, the item is opened again.
    if let item = player.items[id] { completeTags(of: item) }
    postChangedGains()
  }

  func prepareCommands() -> Bool { updateGains() }

  /// Passes gains that have changed to the mixer.
  func postChangedGains() { if updateGains() { player.output.postCommands() } }

  /// Updates the gains in the mixer's streams that differ from the known gains of their items. Audible gains change
  /// over 5 ms, others at once. Returns whether commands must be posted to the mixer.
  func updateGains(isBeginning: Bool = false) -> Bool {
    guard let (core, input) = player.mixerInput else { return false }
    let isAudible = !isBeginning && player.machine.timeControlStatus == .playing
    let ramp = isAudible ? Int64(core.format.sampleRateHz / 200) : 0
    var isChanged = false
    player.chain.updateMixed { generation in
      for (id, gain) in generation.gains {
        guard let item = player.items.inQueueOrHistory(id), let wanted = knownGain(of: item)?.linear, wanted != gain
        else {
          continue
        }
        core.setItemGain(wanted, itemID: id, of: generation.stream, rampFrameCount: ramp, input: input)
        generation.gains[id] = wanted
        isChanged = true
      }
      // Limits the memory of long streams: the gains of items that have been heard are dropped.
      if generation.gains.count > 64 {
        let present = Set(player.machine.decodedPasses.map(\.pass.itemID))
        generation.gains = generation.gains.filter { present.contains($0.key) }
      }
    }
    return isChanged
  }
}

extension PlayerItem {
  /// The position of the item on its album; nil while it is unknown.
  fileprivate var albumPosition: AlbumPosition? {
    guard case .success(let properties)? = asset.loaded else { return nil }
    return properties.loudnessTags.albumPosition
  }

  /// Whether both are parts of one file, and the other part follows this one.
  fileprivate func isFollowedInFile(by other: PlayerItem) -> Bool {
    guard case .path(let path) = asset.location, case .path(let otherPath) = other.asset.location, path == otherPath,
      let timeRange, let next = other.timeRange
    else { return false }
    return timeRange.end == next.start
  }
}
