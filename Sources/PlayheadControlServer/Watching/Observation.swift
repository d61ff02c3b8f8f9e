import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio
import PlayheadWireProtocol

/// An `observe` subscription. Sends the initial values of its keys, and then each change.
///
/// Threading: confined to the control loop.
final class Observation {
  private let id: Int
  private let form: WireForm
  private let keys: [ObservableKey]
  private let target: NamedPlayer
  private weak var client: Client?

  init(_ keys: [ObservableKey], id: Int, form: WireForm, on target: NamedPlayer, client: Client) {
    self.id = id
    self.form = form
    self.keys = keys
    self.target = target
    self.client = client
  }

  /// Sends the initial values and starts to observe.
  func start() {
    sendInitialValues()
    target.observer.add(self)
  }

  /// Stops to observe. No event is sent afterwards.
  func stop() {
    target.observer.remove(self)
    client = nil
  }

  /// Forwards an event if its key is observed.
  func send(_ event: any NumberedEvent, _ key: ObservableKey, _ number: UInt64) {
    guard keys.contains(key) else { return }
    client?.send(event.addressed(to: id), form: form, number: number)
  }

  // MARK: - Initial values

  private func sendInitialValues() {
    guard let client else { return }
    var (state, anchor) = target.player.onLoop { ($0.state, $0.timebaseAnchor) }
    state.timebaseRate = anchor.rate
    let engine = client.server.engine
    sendInitialValues(of: ObservedKey.ofPlayers, in: ObservedPlayer(state: state), anchor: anchor)
    sendInitialValues(of: ObservedKey.ofCurrentItems, in: state, item: state.currentItemID)
    sendInitialValues(of: [ObservedKey.queueVersion], in: ObservedPlayer(state: state))
    sendInitialValues(of: ObservedKey.ofOutputs, in: ObservedOutput(engine: engine))
    sendInitialValues(of: ObservedKey.ofSessions, in: engine.session.state)
    if keys.contains(.itemEvents) { for event in lastMetadata(of: state) { sendInitialEvent(event) } }
    guard keys.contains(where: { key in ObservedKey.ofItems.contains { $0.key == key } }) else { return }
    for (item, values) in target.observer.itemValues(current: state.currentItemID) {
      sendInitialValues(of: ObservedKey.ofItems, in: values, item: item)
    }
  }

  /// Sends the values of those of the keys that are observed.
  private func sendInitialValues<Values>(
    of definitions: [ObservedKey<Values>], in values: Values, item: PlayerItem.ID? = nil, anchor: TimebaseAnchor? = nil
  ) {
    for definition in definitions where keys.contains(definition.key) {
      var event = ChangedEvent(
        player: target.name, key: definition.key, item: item, initial: definition.value(in: values))
      if definition.key == .playerTimebaseRate { event.anchor = anchor.map(ChangedEvent.Anchor.init) }
      sendInitialEvent(event)
    }
  }

  /// The most recent metadata of the current entry's stream.
  private func lastMetadata(of state: PlayerState) -> [any NumberedEvent] {
    let current = target.player.onLoop { player in state.currentItemID.flatMap { player.item($0) } }
    guard let current else { return [] }
    var events: [any NumberedEvent] = []
    if let (time, title) = current.streamTitle {
      let position = ItemPosition(player: target.name, item: current.id, time: time)
      events.append(StreamTitleEvent(position, title: title.title, url: title.url))
    }
    for group in current.timedMetadataGroups {
      events += PlayerObserver.events(of: group, current.id, player: target.name)
    }
    return events
  }

  /// Sends an event without a sequence number, because it is not in the log.
  private func sendInitialEvent(_ event: some NumberedEvent) { client?.send(event.addressed(to: id), form: form) }
}
