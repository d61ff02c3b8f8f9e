import PlayheadControlLoop
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadWireProtocol

/// Observes one player for all `observe` subscriptions. Adds each event to the log once, and forwards it to the
/// observations.
///
/// Threading: confined to the control loop.
final class PlayerObserver: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, on which the observers that capture it are called.
  let name: String
  private let player: QueuePlayer
  private let loop: any ControlLoop
  private let log: EventLog
  private var observations: [Observation] = []
  /// The last reported values of opened entries. The status of other entries is `unknown`, which is not reported.
  private var reportedValues = ReportedItemValues()
  /// Called after each edit of the queue.
  var onQueueChange: (() -> Void)?

  /// Starts to observe the player, for its whole lifetime.
  init(_ player: QueuePlayer, name: String, loop: any ControlLoop, log: EventLog) {
    self.player = player
    self.loop = loop
    self.name = name
    self.log = log
    player.onLoop { player in
      _ = player.addStateObserver { [weak self] in self?.handle($0) }
      _ = player.addEventObserver { [weak self] in self?.handle($0) }
    }
  }

  /// Adds an observation, which gets all later events.
  func add(_ observation: Observation) { observations.append(observation) }

  func remove(_ observation: Observation) { observations.removeAll { $0 === observation } }

  /// The current values of the opened entries, and of the current entry.
  func itemValues(current: PlayerItem.ID?) -> [(id: PlayerItem.ID, values: ObservedItem)] {
    var values = reportedValues.values.filter { id, values in
      values.status != .unknown && player.onLoop { $0.item(id) != nil }
    }
    if let current, values[current] == nil, let item = player.onLoop({ $0.item(current) }) {
      values[current] = Self.values(of: item)
    }
    return values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Adds an event to the log and forwards it to the observations.
  private func publish(_ event: any NumberedEvent, _ key: ObservableKey) {
    let number = log.append(event, key: key, player: name)
    for observation in observations { observation.send(event, key, number) }
  }

  /// Forwards an event about all players, which already has its number.
  func forward(_ key: ObservableKey, _ number: UInt64, _ makeEvent: (String) -> any NumberedEvent) {
    guard !observations.isEmpty else { return }
    let event = makeEvent(name)
    for observation in observations { observation.send(event, key, number) }
  }

  // MARK: - Changes

  private func handle(_ change: PlayerChange) {
    // The queue edit comes first, because other changes may refer to an entry that it inserts.
    if change.old.queueVersion != change.new.queueVersion { queueChanged(change) }
    let values: (old: any PlayerValues, new: any PlayerValues) = (
      ObservedPlayer(state: change.old), ObservedPlayer(state: change.new)
    )
    for key in ObservedKey.ofPlayers {
      publish(
        key, nil, from: values.old, to: values.new, change.cause,
        anchor: key.key == .playerTimebaseRate ? change.timebaseAnchor : nil)
    }
    let (former, current) = (change.old.currentItemID, change.new.currentItemID)
    var old = change.old
    if former != current {
      // The buffer of an item that is not current is empty.
      var empty = change.old
      (empty.isPlaybackLikelyToKeepUp, empty.isPlaybackBufferFull, empty.isPlaybackBufferEmpty) = (false, false, true)
      for key in ObservedKey.ofCurrentItems {
        publish(key, former, from: change.old, to: empty, change.cause)
      }
      old = empty
    }
    for key in ObservedKey.ofCurrentItems {
      publish(key, current, from: old, to: change.new, change.cause)
    }
  }

  /// Publishes the change of a key, if its value differs.
  private func publish<Values>(
    _ key: ObservedKey<Values>, _ item: PlayerItem.ID?, from old: Values, to new: Values, _ cause: ChangeCause,
    anchor: TimebaseAnchor? = nil
  ) {
    let (oldValue, newValue) = (key.value(in: old), key.value(in: new))
    guard oldValue != newValue else { return }
    var event = ChangedEvent(
      player: name, key: key.key, item: item, old: oldValue, new: newValue, cause: cause.rawValue)
    event.anchor = anchor.map(ChangedEvent.Anchor.init)
    publish(event, key.key)
  }

  /// Publishes a queue edit, and then the values of inserted entries that are already open.
  private func queueChanged(_ change: PlayerChange) {
    let changes = player.onLoop { $0.queueChanges(since: change.old.queueVersion) }
    let key = ObservedKey.queueVersion
    var event = ChangedEvent(
      player: name, key: key.key, old: key.value(in: ObservedPlayer(state: change.old)),
      new: key.value(in: ObservedPlayer(state: change.new)), cause: change.cause.rawValue)
    let isShort = changes.map { $0.count <= Self.maximumStepCount } ?? false
    event.changes = .some(isShort ? changes?.map { QueueChange($0.step) } : nil)
    publish(event, key.key)
    for case .inserted(let id, _) in (changes ?? []).map(\.step) {
      guard let item = player.onLoop({ $0.item(id) }), item.status != .unknown else { continue }
      itemChanged(id, Self.values(of: item), change.cause)
    }
    removeStaleValues()
    onQueueChange?()
  }

  /// The maximum number of edit steps in one event. An event about more steps has none.
  static let maximumStepCount = 16

  /// Removes the values of items that are neither in the queue nor in the history, in slices.
  private func removeStaleValues() {
    guard reportedValues.startCleanUp() else { return }
    removeStaleSlice()
  }

  private func removeStaleSlice() {
    let isComplete = player.onLoop { player in
      reportedValues.cleanUpSlice { player.item($0) == nil && !player.isInHistory($0) }
    }
    if !isComplete { loop.execute { [weak self] in self?.removeStaleSlice() } }
  }

  // MARK: - Items

  private func handle(_ event: PlayerEvent) {
    switch event {
    case .itemChanged(let item, let status, let duration, let isPrecise):
      let entry = player.onLoop { $0.item(item) }
      let cause = status.error == nil ? ChangeCause.itemLoaded : .itemFailed
      itemChanged(
        item,
        ObservedItem(
          status: status, duration: duration, providesPreciseDuration: isPrecise,
          currentMediaSelection: entry.flatMap { Self.selection(of: $0) },
          titles: entry.map { ObservedItem.Titles($0) } ?? ObservedItem.Titles()), cause)
    case .mediaSelectionChanged(let id, let selection):
      guard var values = reportedValues.values[id], let item = player.onLoop({ $0.item(id) }) else { return }
      values.currentMediaSelection = Self.selection(selection, of: item)
      itemChanged(id, values, .request)
    case .playedToEnd(let item, let time): notify(PlayedToEndEvent(position(item, time)))
    case .failedToPlayToEnd(let item, let time, let error):
      notify(FailedToPlayToEndEvent(position(item, time), error: error))
    case .stalled(let item, let time): notify(StalledEvent(position(item, time)))
    case .timeJumped(let item, let time, let cause, let hostTime):
      notify(TimeJumpedEvent(position(item, time), cause: cause.rawValue, hostTime: hostTime))
    case .packetsSkipped(let item, let time, let count, let error):
      notify(PacketsSkippedEvent(position(item, time), count: count, error: error))
    case .newErrorLogEntry(let item, let time, let error):
      notify(NewErrorLogEntryEvent(position(item, time), error: error))
    case .chapterChanged(let item, let time, let chapter):
      notify(ChapterChangedEvent(position(item, time), number: chapter?.number, title: chapter?.chapter.title))
    case .newAccessLogEntry(let item, let time, let event):
      notify(
        NewAccessLogEntryEvent(
          position(item, time), uri: event.uri, address: event.serverAddress, type: event.playbackType,
          startupNanoseconds: event.startupNanoseconds ?? 0))
    case .streamTitle(let item, let time, let title):
      notify(StreamTitleEvent(position(item, time), title: title.title, url: title.url))
    case .timedMetadata(let item, let group):
      for event in Self.events(of: group, item, player: name) { notify(event) }
    case .transition(let transition): notify(TransitionEvent(transition, player: name))
    case .itemSkipped(let item, let error): notify(ItemSkippedEvent(player: name, item: item, error: error))
    case .silence(let silence): publish(SilenceEvent(silence, player: name), .playerEvents)
    case .itemFailed: return
    }
  }

  /// Publishes the titles of the opened entries of an asset, whose tags were read again.
  func tagsChanged(of asset: Asset) {
    let entries = reportedValues.values.filter { id, _ in player.onLoop { $0.item(id)?.asset === asset } }
    for (id, values) in entries.sorted(by: { $0.key < $1.key }) {
      guard let item = player.onLoop({ $0.item(id) }) else { continue }
      var new = values
      new.titles = ObservedItem.Titles(item)
      itemChanged(id, new, .request)
    }
  }

  /// Publishes the titles of entries that are not opened yet, and whose tags were read.
  func titlesBecameKnown(_ ids: [PlayerItem.ID]) {
    for id in ids {
      guard let item = player.onLoop({ $0.item(id) }), item.status == .unknown else { continue }
      itemChanged(id, ObservedItem(titles: ObservedItem.Titles(item)), .itemLoaded)
    }
  }

  /// Records the values of an item, and publishes the changed ones.
  private func itemChanged(_ item: PlayerItem.ID, _ new: ObservedItem, _ cause: ChangeCause) {
    let old = reportedValues.set(new, of: item) ?? ObservedItem()
    for key in ObservedKey.ofItems { publish(key, item, from: old, to: new, cause) }
  }

  private static func values(of item: PlayerItem) -> ObservedItem {
    ObservedItem(
      status: item.status, duration: item.duration, providesPreciseDuration: item.providesPreciseDuration,
      currentMediaSelection: selection(of: item), titles: ObservedItem.Titles(item))
  }

  /// The selected track of each group of an entry. Nil before the groups are known.
  private static func selection(of item: PlayerItem) -> TrackSelection? {
    item.status == .readyToPlay ? selection(item.currentMediaSelection, of: item) : nil
  }

  private static func selection(_ selection: MediaSelection, of item: PlayerItem) -> TrackSelection {
    var tracks = TrackSelection()
    for group in item.mediaSelectionGroups {
      let option = selection.selectedOption(in: group)
      let choice = option.map { TrackChoice.track($0.trackID) } ?? TrackChoice.none
      if let group = MediaSelectionCommand.Group(rawValue: group.characteristic.rawValue) { tracks[group] = choice }
    }
    return tracks
  }

  private func notify(_ event: any NumberedEvent) { publish(event, .itemEvents) }

  private func position(_ item: PlayerItem.ID, _ time: MediaTime) -> ItemPosition {
    ItemPosition(player: name, item: item, time: time)
  }

  /// The events of timed metadata, one for each value.
  static func events(of group: TimedMetadataGroup, _ item: PlayerItem.ID, player: String) -> [TimedMetadataEvent] {
    let position = ItemPosition(player: player, item: item, time: group.time)
    return MetadataReply.timedTags(group).map { TimedMetadataEvent(position, value: $0) }
  }
}

extension TransitionEvent {
  fileprivate init(_ transition: PlayerTransition, player: String) {
    self.init(
      player: player, from: transition.fromItemID, to: transition.toItemID, time: transition.time,
      trimmedEnd: Trim(
        frameCount: transition.trimmedEnd.frameCount, source: transition.trimmedEnd.source.wireName),
      trimmedStart: Trim(
        frameCount: transition.trimmedStart.frameCount, source: transition.trimmedStart.source.wireName),
      insertedFrameCount: transition.insertedFrameCount, hostTime: transition.hostTime,
      overlapFrameCount: transition.overlapFrameCount,
      curve: transition.curve.map { FadeCommand.Curve(sameWordAs: $0) })
  }
}

extension SilenceEvent {
  fileprivate init(_ silence: PlayerSilence, player: String) {
    self.init(
      player: player, isBeginning: silence.phase == .began, frame: silence.outputFrame, hostTime: silence.hostTime,
      durationNanoseconds: silence.durationNanoseconds)
  }
}

extension ChangedEvent.Anchor {
  init(_ anchor: TimebaseAnchor) { self.init(time: anchor.time, hostTime: anchor.hostTime) }
}

extension EdgeTrim.Source {
  /// The name on the wire. Nil if nothing states the number of frames to trim.
  fileprivate var wireName: String? { self == .none ? nil : rawValue }
}
