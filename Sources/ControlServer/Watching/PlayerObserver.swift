import ControlLoop
import MediaAssets
import MediaCore
import Playback
import PlayerModel
import WireProtocol

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
  func itemValues(current: PlayerItem.ID?) -> [(id: PlayerItem.ID, values: ItemValues)] {
    var values = reportedValues.values.filter { id, values in
      values.status != .unknown && player.onLoop { $0.item(id) != nil }
    }
    if let current, values[current] == nil, let item = player.onLoop({ $0.item(current) }) {
      values[current] = Self.values(of: item)
    }
    return values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Adds an event to the log and forwards it to the observations.
  private func publish(_ event: Event, _ key: ObservableKey) {
    let number = log.append(event, key: key, player: name)
    for observation in observations { observation.send(event, key, number) }
  }

  /// Forwards an event about all players, which already has its number.
  func forward(_ key: ObservableKey, _ number: UInt64, _ makeEvent: (String) -> Event) {
    guard !observations.isEmpty else { return }
    let event = makeEvent(name)
    for observation in observations { observation.send(event, key, number) }
  }

  // MARK: - Changes

  private func handle(_ change: PlayerChange) {
    // The queue edit comes first, because other changes may refer to an entry that it inserts.
    if change.old.queueVersion != change.new.queueVersion { queueChanged(change) }
    for key in ObservableKey.allCases where key != .queueVersion && !key.isOfCurrentItem {
      publish(
        key, nil, from: change.old, to: change.new, change.cause,
        anchor: key == .playerTimebaseRate ? change.timebaseAnchor : nil)
    }
    let (former, current) = (change.old.currentItemID, change.new.currentItemID)
    var old = change.old
    if former != current {
      // The buffer of an item that is not current is empty.
      var empty = change.old
      (empty.isPlaybackLikelyToKeepUp, empty.isPlaybackBufferFull, empty.isPlaybackBufferEmpty) = (false, false, true)
      for key in ObservableKey.allCases where key.isOfCurrentItem {
        publish(key, former, from: change.old, to: empty, change.cause)
      }
      old = empty
    }
    for key in ObservableKey.allCases where key.isOfCurrentItem {
      publish(key, current, from: old, to: change.new, change.cause)
    }
  }

  /// Publishes the change of a key between two states, if its value differs.
  private func publish(
    _ key: ObservableKey, _ item: PlayerItem.ID?, from old: PlayerState, to new: PlayerState, _ cause: ChangeCause,
    anchor: TimebaseAnchor? = nil
  ) {
    guard let oldValue = key.value(in: old), let newValue = key.value(in: new), oldValue != newValue else { return }
    var event = Event.Changed(
      subscription: 0, player: name, key: key, item: item.map { Int(clamping: $0) }, old: oldValue, new: newValue,
      cause: cause.rawValue)
    event.anchor = anchor.map(Event.Changed.Anchor.init)
    publish(.changed(event), key)
  }

  /// Publishes a queue edit, and then the values of inserted entries that are already open.
  private func queueChanged(_ change: PlayerChange) {
    let changes = player.onLoop { $0.queueChanges(since: change.old.queueVersion) }
    var event = Event.Changed(
      subscription: 0, player: name, key: .queueVersion, old: .int(change.old.queueVersion),
      new: .int(change.new.queueVersion), cause: change.cause.rawValue)
    let isShort = changes.map { $0.count <= Self.maximumStepCount } ?? false
    event.steps = isShort ? changes.map { .strings($0.map(\.step.wireText)) } : FieldValue.none
    publish(.changed(event), .queueVersion)
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
        ItemValues(
          status: status, duration: duration, isPrecise: isPrecise, selection: entry.flatMap { Self.selection(of: $0) },
          titles: entry.map { Titles($0) } ?? Titles()), cause)
    case .mediaSelectionChanged(let id, let selection):
      guard var values = reportedValues.values[id], let item = player.onLoop({ $0.item(id) }) else { return }
      values.selection = Self.selectionTexts(selection, of: item)
      itemChanged(id, values, .request)
    case .playedToEnd(let item, let time): notify(.playedToEnd, item, time)
    case .failedToPlayToEnd(let item, let time, let error): notify(.failedToPlayToEnd(error), item, time)
    case .stalled(let item, let time): notify(.stalled, item, time)
    case .timeJumped(let item, let time, let cause, let hostTime):
      notify(.timeJumped(cause: cause.rawValue, hostTime: hostTime), item, time)
    case .packetsSkipped(let item, let time, let count, let error):
      notify(.packetsSkipped(count: count, error), item, time)
    case .newErrorLogEntry(let item, let time, let error): notify(.newErrorLogEntry(error), item, time)
    case .chapterChanged(let item, let time, let chapter):
      notify(.chapterChanged(number: chapter?.number, title: chapter?.chapter.title), item, time)
    case .newAccessLogEntry(let item, let time, let event):
      notify(
        .newAccessLogEntry(
          uri: event.uri, address: event.serverAddress, type: event.playbackType,
          startupNanoseconds: event.startupNanoseconds ?? 0), item, time)
    case .streamTitle(let item, let time, let title):
      notify(.streamTitle(title: title.title, url: title.url), item, time)
    case .timedMetadata(let item, let group):
      for event in Self.events(of: group, item, player: name) { publish(event, .itemEvents) }
    case .transition(let transition): notify(transition)
    case .itemSkipped(let item, let error):
      let skip = Event.Skip(subscription: 0, player: name, item: Int(clamping: item), error: error)
      publish(.itemSkipped(skip), .itemEvents)
    case .itemFailed: return
    }
  }

  /// Publishes the titles of the opened entries of an asset, whose tags were read again.
  func tagsChanged(of asset: Asset) {
    let entries = reportedValues.values.filter { id, _ in player.onLoop { $0.item(id)?.asset === asset } }
    for (id, values) in entries.sorted(by: { $0.key < $1.key }) {
      guard let item = player.onLoop({ $0.item(id) }) else { continue }
      var new = values
      new.titles = Titles(item)
      itemChanged(id, new, .request)
    }
  }

  /// Publishes the titles of entries that are not opened yet, and whose tags were read.
  func titlesBecameKnown(_ ids: [PlayerItem.ID]) {
    for id in ids {
      guard let item = player.onLoop({ $0.item(id) }), item.status == .unknown else { continue }
      itemChanged(id, ItemValues(titles: Titles(item)), .itemLoaded)
    }
  }

  /// Records the values of an item, and publishes the changed ones.
  private func itemChanged(_ item: PlayerItem.ID, _ new: ItemValues, _ cause: ChangeCause) {
    let old = reportedValues.set(new, of: item) ?? ItemValues()
    for key in ObservableKey.ofItems {
      guard let oldValue = key.value(old), let newValue = key.value(new), oldValue != newValue else { continue }
      let event = Event.Changed(
        subscription: 0, player: name, key: key, item: Int(clamping: item), old: oldValue, new: newValue,
        cause: cause.rawValue)
      publish(.changed(event), key)
    }
  }

  private static func values(of item: PlayerItem) -> ItemValues {
    ItemValues(
      status: item.status, duration: item.duration, isPrecise: item.providesPreciseDuration,
      selection: selection(of: item), titles: Titles(item))
  }

  /// The selected track of each group of an entry. Nil before the groups are known.
  private static func selection(of item: PlayerItem) -> [String]? {
    item.status == .readyToPlay ? selectionTexts(item.currentMediaSelection, of: item) : nil
  }

  private static func selectionTexts(_ selection: MediaSelection, of item: PlayerItem) -> [String] {
    item.mediaSelectionGroups.map { group in
      let track = selection.selectedOption(in: group).map { "\($0.trackID)" } ?? "none"
      return "\(group.characteristic.rawValue)=\(track)"
    }
  }

  private func notify(_ kind: Event.ItemNotification.Kind, _ item: PlayerItem.ID, _ time: MediaTime) {
    publish(Self.event(kind, item, time, player: name), .itemEvents)
  }

  static func event(
    _ kind: Event.ItemNotification.Kind, _ item: PlayerItem.ID, _ time: MediaTime, player: String
  ) -> Event {
    let position = Event.Position(player: player, item: Int(clamping: item), time: time)
    return .item(.init(subscription: 0, kind: kind, position: position))
  }

  /// The events of timed metadata, one for each value.
  static func events(of group: TimedMetadataGroup, _ item: PlayerItem.ID, player: String) -> [Event] {
    MetadataReply.timedRows(group).map { event(.timedMetadata($0), item, group.time, player: player) }
  }

  private func notify(_ transition: PlayerTransition) {
    let event = Event.Transition(
      subscription: 0, player: name, from: Int(clamping: transition.fromItemID), to: Int(clamping: transition.toItemID),
      time: transition.time, trimmedEnd: (transition.trimmedEnd.frameCount, transition.trimmedEnd.source.wireName),
      trimmedStart: (transition.trimmedStart.frameCount, transition.trimmedStart.source.wireName),
      insertedFrameCount: transition.insertedFrameCount, hostTime: transition.hostTime)
    publish(.transition(event), .itemEvents)
  }
}

extension Event.Changed.Anchor {
  init(_ anchor: TimebaseAnchor) { self.init(time: anchor.time, hostTime: anchor.hostTime) }
}

extension EdgeTrim.Source {
  /// The name on the wire. Nil if nothing states the number of frames to trim.
  fileprivate var wireName: String? { self == .none ? nil : rawValue }
}

extension QueueStep {
  /// The step in the form of the `changes` field of an event.
  var wireText: String {
    switch self {
    case .inserted(let id, let index): "insert:\(id):\(index)"
    case .removed(let id, let index): "remove:\(id):\(index)"
    case .moved(let id, let from, let to): "move:\(id):\(from):\(to)"
    case .rotated(let count): "rotate:\(count)"
    }
  }
}
