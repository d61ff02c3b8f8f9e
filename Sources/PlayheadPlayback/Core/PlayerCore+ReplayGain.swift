import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// Replay gain: the gain of each item, and how it reaches the mixer.
///
/// The decode thread reads an item's tags when it opens the item. The thread then writes the gain into the stream,
/// before the item's first sample. The gain is computed from the settings at the time of the decode request. If the
/// settings or known tags change later, the player changes the gain in the mixer.
extension PlayerCore {
  func setReplayGain(_ settings: ReplayGainSettings) throws(MediaError) {
    try settings.check()
    guard settings != replayGain else { return }
    let isTurnedOn = replayGain.mode == .off
    replayGain = settings
    let upcoming = machine.entries.prefix(PlayerStateMachine.lookAheadCount).map(\.id)
    for item in (upcoming + machine.decodedPasses.map(\.pass.itemID)).compactMap({ items[$0] }) {
      if isTurnedOn { item.lacksLoudnessTags = false }
      completeLoudnessTags(of: item)
    }
    if updateGains() { output.postCommands() }
    publish(.request)
  }

  /// Opens an item again if it was opened while replay gain was off, and not all of its tags are known. If an open
  /// operation in progress does not read the tags, this method is called again when the operation ends.
  func completeLoudnessTags(of item: PlayerItem) {
    guard replayGain.mode != .off, !item.lacksLoudnessTags, case .success(let properties)? = item.asset.loaded,
      !properties.loudnessTags.isComplete
    else { return }
    open(item)
  }

  /// Handles the result of opening an item. After a failure the gain is computed without the missing tags.
  func itemOpened(_ item: PlayerItem, isFailure: Bool) {
    guard replayGain.mode != .off else { return }
    if isFailure { item.lacksLoudnessTags = true }
    completeLoudnessTags(of: item)
    if updateGains() { output.postCommands() }
  }

  /// The maximum number of entries whose measured gains one turn of the control loop sets.
  static let measuredSliceCount = 1_000

  /// Sets the measured gains of all entries of the queue, in slices. The gains in the mixer change once, at the end.
  /// `completion` gets the number of changed entries.
  func setMeasuredReplayGains(
    _ gain: @escaping @Sendable (PlayerItem) -> ReplayGain?, completion: @escaping @Sendable (Int) -> Void
  ) {
    setMeasuredGains(machine.entries.order.makeIterator(), count: 0, gain, completion)
  }

  private func setMeasuredGains(
    _ ids: QueueOrder.Iterator, count: Int, _ gain: @escaping @Sendable (PlayerItem) -> ReplayGain?,
    _ completion: @escaping @Sendable (Int) -> Void
  ) {
    var (ids, count) = (ids, count)
    var changed: [PlayerItem] = []
    defer { if !changed.isEmpty { changeObserver?(changed) } }
    for _ in 0..<Self.measuredSliceCount {
      guard let id = ids.next() else {
        if count > 0, !isClosed, updateGains() { output.postCommands() }
        return completion(count)
      }
      // The item may have left the queue meanwhile.
      guard let item = items[id], let measured = gain(item) else { continue }
      item.storeMeasuredReplayGain(measured)
      changed.append(item)
      count += 1
    }
    engine.loop.execute { [ids, count] in self.setMeasuredGains(ids, count: count, gain, completion) }
  }

  func appliedGain(of id: PlayerItem.ID) throws(MediaError) -> AppliedGain? {
    guard let item = items[id] else {
      throw MediaError(.noSuchItem, "there is no item \(id) in the queue", operation: "item")
    }
    return knownGain(of: item)
  }

  /// The gain of an item; nil while required tags are unknown.
  private func knownGain(of item: PlayerItem) -> AppliedGain? {
    guard case .success(let properties)? = item.asset.loaded else { return nil }
    guard
      replayGain.mode == .off || item.measuredReplayGain != nil || item.lacksLoudnessTags
        || properties.loudnessTags.isComplete
    else { return nil }
    return gainPolicy(of: item).gain(for: properties.loudnessTags)
  }

  /// The known inputs of an item's gain, except its tags.
  func gainPolicy(of item: PlayerItem) -> GainPolicy {
    var policy = GainPolicy(settings: replayGain, measured: item.measuredReplayGain)
    guard replayGain.mode == .auto, let index = machine.entries.index(of: item.id) else { return policy }
    let previous =
      index > 0 ? machine.entries.suffix(from: index - 1).first { _ in true }?.id : machine.queue.history.last
    let following = machine.entries.suffix(from: index + 1).first { _ in true }?.id
    if let neighbour = previous.flatMap({ items[$0] ?? pastItems[$0] }) {
      policy.previousAlbumPosition = neighbour.albumPosition
      policy.hasAdjacentPart = neighbour.isFollowedInFile(by: item)
    }
    if let neighbour = following.flatMap({ items[$0] }) {
      policy.nextAlbumPosition = neighbour.albumPosition
      policy.hasAdjacentPart = policy.hasAdjacentPart || item.isFollowedInFile(by: neighbour)
    }
    return policy
  }

  /// Records a gain that the decode thread wrote into a stream.
  func recordGain(_ gain: Float, of id: PlayerItem.ID, generation: UInt64) {
    chain.update(generation) { $0.gains[id] = gain }
    // If the decode thread did not get all tags, the item is opened again.
    if let item = items[id] { completeLoudnessTags(of: item) }
    if updateGains() { output.postCommands() }
  }

  /// Updates the gains in the mixer's streams that differ from the known gains of their items. Audible gains change
  /// over 5 ms, others at once. Returns whether commands must be posted to the mixer.
  func updateGains(isBeginning: Bool = false) -> Bool {
    guard let core = output.core, let inputIndex else { return false }
    let isAudible = !isBeginning && machine.timeControlStatus == .playing
    let ramp = isAudible ? Int64(core.format.sampleRateHz / 200) : 0
    var isChanged = false
    chain.updateMixed { generation in
      for (id, gain) in generation.gains {
        guard let item = items[id] ?? pastItems[id], let wanted = knownGain(of: item)?.linear, wanted != gain else {
          continue
        }
        core.setItemGain(wanted, itemID: id, of: generation.stream, rampFrameCount: ramp, input: inputIndex)
        generation.gains[id] = wanted
        isChanged = true
      }
      // Limits the memory of long streams: the gains of items that have been heard are dropped.
      if generation.gains.count > 64 {
        let present = Set(machine.decodedPasses.map(\.pass.itemID))
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
