import MediaAssets
import MediaCore
import Playback
import RealtimeAudio
import WireProtocol

/// An `observe` subscription. Sends the initial values of its keys, and then each change.
///
/// Threading: confined to the control loop.
final class Observation {
  private let id: Int
  private let form: WireForm
  private let keys: [ObservableKey]
  private let target: NamedPlayer
  private weak var connection: Connection?

  init(_ keys: [ObservableKey], id: Int, form: WireForm, on target: NamedPlayer, connection: Connection) {
    self.id = id
    self.form = form
    self.keys = keys
    self.target = target
    self.connection = connection
  }

  /// Sends the initial values and starts to observe.
  func start() {
    sendInitialValues()
    target.observer.add(self)
  }

  /// Stops to observe. No event is sent afterwards.
  func stop() {
    target.observer.remove(self)
    connection = nil
  }

  /// Forwards an event if its key is observed.
  func send(_ event: Event, _ key: ObservableKey, _ number: UInt64) {
    guard keys.contains(key) else { return }
    connection?.send(event.addressed(to: id), form: form, number: number)
  }

  // MARK: - Initial values

  private func sendInitialValues() {
    guard let connection else { return }
    var (state, anchor) = target.player.onLoop { ($0.state, $0.timebaseAnchor) }
    state.timebaseRate = anchor.rate
    let engine = connection.server.engine
    for key in keys where !key.isOfItems {
      guard let value = key.value(in: state) ?? key.value(in: engine) ?? key.value(in: engine.session.state)
      else { continue }
      let item = key.isOfCurrentItem ? state.currentItemID.map { Int(clamping: $0) } : nil
      var change = Event.Changed(subscription: id, player: target.name, key: key, item: item, initial: value)
      if key == .playerTimebaseRate { change.anchor = .init(anchor) }
      send(change)
    }
    guard keys.contains(where: \.isOfItems) else { return }
    if keys.contains(.itemEvents) { for event in lastMetadata(of: state) { sendInitialEvent(event) } }
    for (item, values) in target.observer.itemValues(current: state.currentItemID) {
      for key in keys {
        guard let value = key.value(values) else { continue }
        send(.init(subscription: id, player: target.name, key: key, item: Int(clamping: item), initial: value))
      }
    }
  }

  /// The most recent metadata of the current entry's stream.
  private func lastMetadata(of state: PlayerState) -> [Event] {
    let current = target.player.onLoop { player in state.currentItemID.flatMap { player.item($0) } }
    guard let current else { return [] }
    var events: [Event] = []
    if let (time, title) = current.streamTitle {
      let kind = Event.ItemNotification.Kind.streamTitle(title: title.title, url: title.url)
      events.append(PlayerObserver.event(kind, current.id, time, player: target.name))
    }
    for group in current.timedMetadataGroups {
      events += PlayerObserver.events(of: group, current.id, player: target.name)
    }
    return events
  }

  private func send(_ change: Event.Changed) { sendInitialEvent(.changed(change)) }

  /// Sends an event without a sequence number, because it is not in the log.
  private func sendInitialEvent(_ event: Event) { connection?.send(event.addressed(to: id), form: form) }
}

extension ObservableKey {
  /// The keys that have a value for each entry.
  static let ofItems: [ObservableKey] = allCases.filter { $0.value(PlayerObserver.ItemValues()) != nil }

  /// Whether the key has a value for each entry of the queue, or is the key of the item events.
  var isOfItems: Bool {
    switch self {
    case .itemStatus, .itemDuration, .itemProvidesPreciseDuration, .itemError, .itemTitle, .itemArtist, .itemAlbum,
      .itemCurrentMediaSelection, .itemEvents:
      true
    default: false
    }
  }

  /// Whether the key is about the current entry only.
  var isOfCurrentItem: Bool {
    switch self {
    case .itemIsPlaybackLikelyToKeepUp, .itemIsPlaybackBufferFull, .itemIsPlaybackBufferEmpty: true
    default: false
    }
  }

  /// The key's value in a player's state. Nil for keys that do not belong to players.
  func value(in state: PlayerState) -> FieldValue? {
    switch self {
    case .playerTimeControlStatus: .string(state.timeControlStatus.wireName)
    case .playerReasonForWaitingToPlay: Self.value(state.reasonForWaitingToPlay?.rawValue)
    case .playerRate: .float(state.rate)
    case .playerTimebaseRate: .float(state.timebaseRate)
    case .playerDefaultRate: .float(state.defaultRate)
    case .playerCurrentItem: state.currentItemID.map { FieldValue.int($0) } ?? FieldValue.none
    case .playerVolume: .float(state.volume)
    case .playerIsFading: .bool(state.isFading)
    case .playerIsMuted: .bool(state.isMuted)
    case .playerPan: .float(state.pan)
    case .playerActionAtItemEnd: .string(state.actionAtItemEnd.rawValue)
    case .playerAutomaticallyWaits: .bool(state.automaticallyWaitsToMinimizeStalling)
    case .itemIsPlaybackLikelyToKeepUp: .bool(state.isPlaybackLikelyToKeepUp)
    case .itemIsPlaybackBufferFull: .bool(state.isPlaybackBufferFull)
    case .itemIsPlaybackBufferEmpty: .bool(state.isPlaybackBufferEmpty)
    case .playerAudioTimePitchAlgorithm: .string(state.audioTimePitchAlgorithm.rawValue)
    case .playerAudibleCriteria: Self.value(state.mediaSelectionCriteria[.audible]?.wireText)
    case .playerLegibleCriteria: Self.value(state.mediaSelectionCriteria[.legible]?.wireText)
    case .playerAppliesCriteria: .bool(state.appliesMediaSelectionCriteriaAutomatically)
    case .playerReplayGain: .string(state.replayGain.mode.rawValue)
    case .playerRepeat: .string(state.repeatMode.rawValue)
    case .playerLoop: state.loop.map { .string($0.wireText) } ?? FieldValue.none
    case .playerShuffle: state.shuffleSeed.map { FieldValue.int($0) } ?? FieldValue.none
    case .playerOnFailure: .string(state.itemFailurePolicy.rawValue)
    case .playerError: Self.value(state.error?.code.name)
    case .queueVersion: .int(state.queueVersion)
    case .itemStatus, .itemDuration, .itemProvidesPreciseDuration, .itemError, .itemTitle, .itemArtist, .itemAlbum,
      .itemCurrentMediaSelection, .itemEvents, .outputState, .outputRoute, .outputDevices, .outputSelection,
      .outputEvents, .sessionCategory, .sessionMode,
      .sessionOptions, .sessionIsActive, .sessionIsInterrupted, .sessionHint, .sessionEvents:
      nil
    }
  }

  /// The key's value for one entry. Nil for keys that do not belong to entries.
  func value(_ item: PlayerObserver.ItemValues) -> FieldValue? {
    switch self {
    case .itemStatus: .string(item.status.name)
    case .itemDuration: .time(item.duration)
    case .itemProvidesPreciseDuration: .bool(item.isPrecise)
    case .itemError: Self.value(item.status.error?.code.name)
    case .itemTitle: Self.value(item.titles.title)
    case .itemArtist: Self.value(item.titles.artist)
    case .itemAlbum: Self.value(item.titles.album)
    case .itemCurrentMediaSelection: item.selection.map { .strings($0) } ?? FieldValue.none
    default: nil
    }
  }

  /// The key's value for the output. Nil for keys that do not belong to the output.
  func value(in engine: EngineCore) -> FieldValue? {
    switch self {
    case .outputState: .string(engine.outputState.status.rawValue)
    case .outputRoute: Self.value(engine.route.output?.label)
    case .outputDevices: Self.names(engine.devices)
    case .outputSelection: .string(engine.outputSelection.wireText)
    default: nil
    }
  }

  private static func names(_ devices: AudioDevices?) -> FieldValue {
    devices.map { .strings($0.outputs.map(\.name)) } ?? FieldValue.none
  }

  private static func value(_ text: String?) -> FieldValue { text.map { .string($0) } ?? FieldValue.none }
}
