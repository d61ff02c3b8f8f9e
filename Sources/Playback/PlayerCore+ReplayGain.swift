import MediaAssets
import MediaCore

/// Replay gain: what it is for which item, and how the mixer hears of it.
///
/// The decode thread reads an item's tags when it opens it, and says in the stream how loud the item is to be before it writes the
/// first sample. It goes by what was known when it was told to decode the item: when something else is known or wanted since,
/// the mixer is told to move the gain.
extension PlayerCore {
  func setReplayGain(_ settings: ReplayGainSettings) throws(MediaError) {
    try settings.check()
    guard settings != replayGain else { return }
    let isTurnedOn = replayGain.mode == .off
    replayGain = settings
    let soon = machine.entries.prefix(PlayerStateMachine.lookAheadCount).map(\.id)
    for item in (soon + machine.decoded.map(\.pass.itemID)).compactMap({ items[$0] }) {
      if isTurnedOn { item.lacksLevelTags = false }
      completeLevelTags(of: item)
    }
    if settleLevels() { output.commit() }
    publish(.request)
  }

  /// Has an item that was opened while replay gain was off looked at again, where not all of its tags are known. What opens it already
  /// may have been too early to know that they are wanted: this is called again at its end.
  func completeLevelTags(of item: PlayerItem) {
    guard replayGain.mode != .off, !item.lacksLevelTags, case .success(let properties)? = item.asset.loaded,
      !properties.levelTags.isComplete
    else { return }
    open(item)
  }

  /// An item was opened, or could not be: tags that cannot be had are not waited for.
  func noteOpened(_ item: PlayerItem, isFailure: Bool) {
    guard replayGain.mode != .off else { return }
    if isFailure { item.lacksLevelTags = true }
    completeLevelTags(of: item)
    if settleLevels() { output.commit() }
  }

  /// Entries that are looked at before others have a turn on the control loop.
  static let measuredSliceCount = 1_000

  /// Has entries be played by what was measured, those that are there now, slice by slice; what is heard changes at the end, once.
  func setMeasuredReplayGains(
    _ gain: @escaping @Sendable (PlayerItem) -> ReplayGain?, completion: @escaping @Sendable (Int) -> Void
  ) {
    setMeasured(machine.entries.order.makeIterator(), count: 0, gain, completion)
  }

  private func setMeasured(
    _ ids: QueueOrder.Iterator, count: Int, _ gain: @escaping @Sendable (PlayerItem) -> ReplayGain?,
    _ completion: @escaping @Sendable (Int) -> Void
  ) {
    var (ids, count) = (ids, count)
    var noted: [PlayerItem] = []
    defer { if !noted.isEmpty { changeObserver?(noted) } }
    for _ in 0..<Self.measuredSliceCount {
      guard let id = ids.next() else {
        if count > 0, !isClosed, settleLevels() { output.commit() }
        return completion(count)
      }
      // It may have left the queue meanwhile.
      guard let item = items[id], let found = gain(item) else { continue }
      item.noteMeasured(found)
      noted.append(item)
      count += 1
    }
    engine.loop.execute { [ids, count] in self.setMeasured(ids, count: count, gain, completion) }
  }

  func appliedGain(of id: PlayerItem.ID) throws(MediaError) -> AppliedGain? {
    guard let item = items[id] else {
      throw MediaError(.noSuchItem, "there is no item \(id) in the queue", operation: "item.status")
    }
    return knownGain(of: item)
  }

  /// Nil while not all that decides it is known of the item's tags.
  private func knownGain(of item: PlayerItem) -> AppliedGain? {
    guard case .success(let properties)? = item.asset.loaded else { return nil }
    guard
      replayGain.mode == .off || item.measuredReplayGain != nil || item.lacksLevelTags
        || properties.levelTags.isComplete
    else { return nil }
    return levelPolicy(of: item).gain(for: properties.levelTags)
  }

  /// What decides an item's gain besides its tags, as far as that is known.
  func levelPolicy(of item: PlayerItem) -> LevelPolicy {
    var policy = LevelPolicy(settings: replayGain, measured: item.measuredReplayGain)
    guard replayGain.mode == .auto, let index = machine.entries.index(of: item.id) else { return policy }
    let before = index > 0 ? machine.entries.suffix(from: index - 1).first { _ in true }?.id : machine.history.last
    let behind = machine.entries.suffix(from: index + 1).first { _ in true }?.id
    if let neighbour = before.flatMap({ items[$0] ?? pastItems[$0] }) {
      policy.before = neighbour.albumPlace
      policy.isNextToPart = neighbour.isFollowedInFile(by: item)
    }
    if let neighbour = behind.flatMap({ items[$0] }) {
      policy.behind = neighbour.albumPlace
      policy.isNextToPart = policy.isNextToPart || item.isFollowedInFile(by: neighbour)
    }
    return policy
  }

  /// The decode thread has said in a stream how loud an item is to be.
  func noteLevel(_ gain: Float, of id: PlayerItem.ID, generation: UInt64) {
    if preparing?.number == generation { preparing?.levels[id] = gain }
    if sounding?.number == generation { sounding?.levels[id] = gain }
    if outgoing?.number == generation { outgoing?.levels[id] = gain }
    for index in waiting.indices where waiting[index].generation.number == generation {
      waiting[index].generation.levels[id] = gain
    }
    // What the thread could not find out is looked up again, or known not to be had.
    if let item = items[id] { completeLevelTags(of: item) }
    if settleLevels() { output.commit() }
  }

  /// Tells the mixer of every gain in its streams that is another one than it is to be. What sounds moves there over 5 ms, what
  /// begins anew has it at once. Answers whether there is something to commit.
  func settleLevels(isBeginning: Bool = false) -> Bool {
    guard let core = output.core, let inputIndex else { return false }
    let isSounding = !isBeginning && machine.timeControlStatus == .playing
    let ramp = isSounding ? Int64(core.format.sampleRateHz / 200) : 0
    var isChanged = false
    func settle(_ generation: inout Generation?) {
      guard let stream = generation?.stream, let levels = generation?.levels else { return }
      for (id, gain) in levels {
        guard let item = items[id] ?? pastItems[id], let wanted = knownGain(of: item)?.linear, wanted != gain else {
          continue
        }
        core.setLevel(wanted, itemID: id, of: stream, rampFrameCount: ramp, input: inputIndex)
        generation?.levels[id] = wanted
        isChanged = true
      }
      // Of a stream that goes on for hours what has been heard is not kept.
      if levels.count > 64 {
        let present = Set(machine.decoded.map(\.pass.itemID))
        let kept = generation?.levels.filter { present.contains($0.key) }
        generation?.levels = kept ?? [:]
      }
    }
    settle(&outgoing)
    settle(&sounding)
    return isChanged
  }
}

extension PlayerItem {
  /// Where on an album it is; nil while that is not known.
  fileprivate var albumPlace: AlbumPlace? {
    guard case .success(let properties)? = asset.loaded else { return nil }
    return properties.levelTags.albumPlace
  }

  /// Whether both are parts of one file, the other's behind this one's.
  fileprivate func isFollowedInFile(by other: PlayerItem) -> Bool {
    guard case .path(let path) = asset.place, case .path(let otherPath) = other.asset.place, path == otherPath,
      let timeRange, let next = other.timeRange
    else { return false }
    return timeRange.end == next.start
  }
}
