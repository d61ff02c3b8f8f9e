import MediaCore
import Playback
import WireProtocol

/// One `observe`: sends the present values of its keys, and then each change.
///
/// Threading: confined to the control loop.
final class Observation: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, where the observers that carry it are called.
  private let id: Int
  private let form: WireForm
  private let keys: [ObservableKey]
  private let target: NamedPlayer
  private let engine: PlaybackEngine
  private weak var connection: Connection?
  private var tokens: [ObserverToken] = []
  private var outputToken: ObserverToken?
  private var lastOutput: OutputState
  /// What was told of entries that are opened; the others are `unknown`, and that is not told.
  private var told: [PlayerItem.ID: ItemValues] = [:]

  struct ItemValues {
    var status = ItemStatus.unknown
    var duration = MediaTime.indefinite
    var isPrecise = false
  }

  init(_ keys: [ObservableKey], id: Int, form: WireForm, on target: NamedPlayer, connection: Connection) {
    self.id = id
    self.form = form
    self.keys = keys
    self.target = target
    self.connection = connection
    engine = connection.server.engine
    lastOutput = engine.outputState
  }

  /// Sends the first values and begins to watch.
  func start() {
    sendInitial()
    tokens = target.player.onLoop { player in
      [
        player.addStateObserver { [weak self] in self?.handle($0) },
        player.addEventObserver { [weak self] in self?.handle($0) },
      ]
    }
    if keys.contains(.outputState) {
      outputToken = engine.observeOutput { [weak self] in self?.handle($0) }
    }
  }

  func stop() {
    let ending = tokens
    tokens = []
    // A player that was closed has none any more.
    target.player.onLoop { player in for token in ending { try? player.removeObserver(token) } }
    if let outputToken { try? engine.removeOutputObserver(outputToken) }
    outputToken = nil
    connection = nil
  }

  // MARK: - First values

  private func sendInitial() {
    let state = target.state
    for key in keys where !key.isOfItems {
      guard let value = key.value(in: state) ?? key.value(in: lastOutput) else { continue }
      let item = key.isOfCurrentItem ? state.currentItemID.map { Int(clamping: $0) } : nil
      send(.init(subscription: id, player: target.name, key: key, item: item, initial: value))
    }
    guard keys.contains(where: \.isOfItems) else { return }
    let current = target.player.onLoop { player in state.currentItemID.flatMap { player.item($0) } }
    if let current, let (time, title) = current.streamTitle {
      notify(.streamTitle(title: title.title, url: title.url), current.id, time)
    }
    for item in target.player.onLoop({ $0.items() }) {
      let values = ItemValues(
        status: item.status, duration: item.duration, isPrecise: item.providesPreciseDuration)
      guard values.status != .unknown || item.id == state.currentItemID else { continue }
      told[item.id] = values
      for key in keys {
        guard let value = key.value(values) else { continue }
        send(.init(subscription: id, player: target.name, key: key, item: Int(clamping: item.id), initial: value))
      }
    }
  }

  // MARK: - Changes

  private func handle(_ change: PlayerChange) {
    for key in keys {
      guard let old = key.value(in: change.old), let new = key.value(in: change.new), old != new else { continue }
      send(
        .init(
          subscription: id, player: target.name, key: key,
          item: key.isOfCurrentItem ? change.new.currentItemID.map { Int(clamping: $0) } : nil, old: old, new: new,
          cause: change.cause.rawValue))
    }
    if change.old.queueVersion != change.new.queueVersion, !told.isEmpty {
      let gone = target.player.onLoop { player in told.keys.filter { player.item($0) == nil } }
      for item in gone { told[item] = nil }
    }
  }

  private func handle(_ event: PlayerEvent) {
    switch event {
    case .itemChanged(let item, let status, let duration, let isPrecise):
      itemChanged(item, ItemValues(status: status, duration: duration, isPrecise: isPrecise))
    case .playedToEnd(let item, let time): notify(.playedToEnd, item, time)
    case .failedToPlayToEnd(let item, let time, let error): notify(.failedToPlayToEnd(error), item, time)
    case .stalled(let item, let time): notify(.stalled, item, time)
    case .timeJumped(let item, let time, let cause): notify(.timeJumped(cause: cause.rawValue), item, time)
    case .packetsSkipped(let item, let time, let count, let error):
      notify(.packetsSkipped(count: count, error), item, time)
    case .newErrorLogEntry(let item, let time, let error): notify(.newErrorLogEntry(error), item, time)
    case .chapterChanged(let item, let time, let place):
      notify(.chapterChanged(number: place?.number, title: place?.chapter.title), item, time)
    case .newAccessLogEntry(let item, let time, let event):
      notify(
        .newAccessLogEntry(
          uri: event.uri, address: event.serverAddress, type: event.playbackType,
          startupNanoseconds: event.startupNanoseconds ?? 0), item, time)
    case .streamTitle(let item, let time, let title):
      notify(.streamTitle(title: title.title, url: title.url), item, time)
    case .seam(let seam): notify(seam)
    case .itemSkipped(let item, let error):
      guard keys.contains(.itemEvents) else { return }
      let skip = Event.Skip(subscription: id, player: target.name, item: Int(clamping: item), error: error)
      connection?.send(.itemSkipped(skip), form: form)
    case .itemFailed: return
    }
  }

  private func itemChanged(_ item: PlayerItem.ID, _ new: ItemValues) {
    let old = told[item] ?? ItemValues()
    told[item] = new
    let cause = new.status.error == nil ? ChangeCause.itemLoaded : .itemFailed
    for key in keys {
      guard let oldValue = key.value(old), let newValue = key.value(new), oldValue != newValue else { continue }
      send(
        .init(
          subscription: id, player: target.name, key: key, item: Int(clamping: item), old: oldValue, new: newValue,
          cause: cause.rawValue))
    }
  }

  private func handle(_ state: OutputState) {
    defer { lastOutput = state }
    guard let old = ObservableKey.outputState.value(in: lastOutput),
      let new = ObservableKey.outputState.value(in: state), old != new
    else { return }
    send(
      .init(
        subscription: id, player: target.name, key: .outputState, old: old, new: new,
        cause: ChangeCause.output.rawValue))
  }

  private func notify(_ kind: Event.ItemNotification.Kind, _ item: PlayerItem.ID, _ time: MediaTime) {
    guard keys.contains(.itemEvents) else { return }
    let position = Event.Position(player: target.name, item: Int(clamping: item), time: time)
    connection?.send(.item(.init(subscription: id, kind: kind, position: position)), form: form)
  }

  private func notify(_ seam: PlayerSeam) {
    guard keys.contains(.itemEvents) else { return }
    let event = Event.Seam(
      subscription: id, player: target.name, from: Int(clamping: seam.fromItemID), to: Int(clamping: seam.toItemID),
      time: seam.time, trimmedEnd: (seam.trimmedEnd.frameCount, seam.trimmedEnd.source.rawValue),
      trimmedStart: (seam.trimmedStart.frameCount, seam.trimmedStart.source.rawValue),
      insertedFrameCount: seam.insertedFrameCount)
    connection?.send(.seam(event), form: form)
  }

  private func send(_ change: Event.Changed) { connection?.send(.changed(change), form: form) }
}

extension ObservableKey {
  /// Whether it has a value for each entry of the queue, or none but events.
  var isOfItems: Bool {
    switch self {
    case .itemStatus, .itemDuration, .itemProvidesPreciseDuration, .itemError, .itemEvents: true
    default: false
    }
  }

  /// Whether it is about the current entry only.
  var isOfCurrentItem: Bool {
    switch self {
    case .itemIsPlaybackLikelyToKeepUp, .itemIsPlaybackBufferFull, .itemIsPlaybackBufferEmpty: true
    default: false
    }
  }

  /// The key's value in a player's state; nil for keys that are about something else.
  func value(in state: PlayerState) -> FieldValue? {
    switch self {
    case .playerTimeControlStatus: .string(state.timeControlStatus.wireName)
    case .playerReasonForWaitingToPlay: Self.value(state.reasonForWaitingToPlay?.rawValue)
    case .playerRate: .float(state.rate)
    case .playerTimebaseRate: .float(state.timebaseRate)
    case .playerDefaultRate: .float(state.defaultRate)
    case .playerCurrentItem: state.currentItemID.map { FieldValue.int($0) } ?? FieldValue.none
    case .playerVolume: .float(state.volume)
    case .playerIsMuted: .bool(state.isMuted)
    case .playerPan: .float(state.pan)
    case .playerActionAtItemEnd: .string(state.actionAtItemEnd.rawValue)
    case .playerAutomaticallyWaits: .bool(state.automaticallyWaitsToMinimizeStalling)
    case .itemIsPlaybackLikelyToKeepUp: .bool(state.isPlaybackLikelyToKeepUp)
    case .itemIsPlaybackBufferFull: .bool(state.isPlaybackBufferFull)
    case .itemIsPlaybackBufferEmpty: .bool(state.isPlaybackBufferEmpty)
    case .playerAudioTimePitchAlgorithm: .string(state.audioTimePitchAlgorithm.rawValue)
    case .playerReplayGain: .string(state.replayGain.mode.rawValue)
    case .playerRepeat: .string(state.repeatMode.rawValue)
    case .playerLoop: state.loop.map { .string($0.wireText) } ?? FieldValue.none
    case .playerShuffle: state.shuffleSeed.map { FieldValue.int($0) } ?? FieldValue.none
    case .playerOnFailure: .string(state.itemFailurePolicy.rawValue)
    case .playerError: Self.value(state.error?.code.name)
    case .queueVersion: .int(state.queueVersion)
    case .itemStatus, .itemDuration, .itemProvidesPreciseDuration, .itemError, .itemEvents, .outputState: nil
    }
  }

  /// The key's value for one entry; nil for keys that are about something else.
  func value(_ item: Observation.ItemValues) -> FieldValue? {
    switch self {
    case .itemStatus: .string(item.status.name)
    case .itemDuration: .time(item.duration)
    case .itemProvidesPreciseDuration: .bool(item.isPrecise)
    case .itemError: Self.value(item.status.error?.code.name)
    default: nil
    }
  }

  /// The key's value for the output; nil for keys that are about something else.
  func value(in output: OutputState) -> FieldValue? {
    self == .outputState ? .string(output.status.rawValue) : nil
  }

  private static func value(_ text: String?) -> FieldValue { text.map { .string($0) } ?? FieldValue.none }
}
