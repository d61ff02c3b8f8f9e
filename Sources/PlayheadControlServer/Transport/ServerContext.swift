import Logging
import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadRealtimeAudio
import PlayheadSavedState
import PlayheadWireProtocol

/// Creates the source of a recording by its name. A name of nil selects the default source.
package typealias MakeSource = @Sendable (_ name: String?) -> any AudioSource

/// The state that all connections share.
///
/// Threading: confined to the control loop, except for constants.
final class ServerContext: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop. The acceptors and timers that capture it run there.

  /// The counters for `stats`, since startup.
  struct Counters {
    var requests: UInt64 = 0
    /// The number of error replies.
    var errors: UInt64 = 0
    var events: UInt64 = 0
    /// The number of dropped events.
    var dropped: UInt64 = 0
    /// The number of refused connections.
    var refused: UInt64 = 0
  }

  let version: String
  /// The handlers by the index of their command in ``CommandTable/all``.
  let handlers = CommandHandler.all
  /// The sandbox restrictions of the process.
  let sandbox: SandboxStatus
  /// The current policy. Changed by `apply`.
  private(set) var policy: ServerPolicy
  private(set) var limits: WireLimits
  /// The access rights, also for the thread of `handoff.sock`.
  let access: PeerAccess.Box
  let engine: EngineCore
  /// The loop of the connections, which always uses real time, and the read buffer that all connections share.
  let transport: (loop: ThreadControlLoop, buffer: ReadBuffer)
  let registry: PlayerRegistry
  /// The recorders.
  let recorders = RecorderRegistry()
  /// Creates the sources of recordings. Nil: recording is not supported.
  let makeSource: MakeSource?
  /// The numbered events.
  let log: EventLog
  /// Reads playlists off the loop.
  let playlistLoader: PlaylistLoader
  /// Reads the titles of entries that are not opened yet.
  let titleReader: TitleReader
  let logger: Logger
  /// Saves the state of the players. Nil: no state is saved.
  let stateWriter: StateWriter?
  /// Reloads the configuration. Nil: reloading is not supported.
  let reload: Reload?
  /// The start time of the server on the engine's clock.
  let startTime: HostTime
  var counters = Counters()
  /// The maximum number of closing connections that wait for their peers. Further connections close immediately.
  static let lingeringLimit = 64
  /// The number of these connections.
  var lingeringCount = 0
  /// All served connections.
  var connections: [ObjectIdentifier: Connection] = [:]
  /// The total size of the edits that all connections have collected after `queue.begin`.
  var collectedSize = EditSize()
  var isShuttingDown = false
  /// The last reported values of the output's keys.
  private var reportedOutput: [ObservableKey: FieldValue] = [:]
  /// The sum of the durations of `clock.advance`, exact and in nanoseconds.
  var virtualTime = (requested: MediaTime.zero, nanoseconds: Int64(0))

  /// Creates the context. Call it on the control loop.
  init(
    version: String, policy: ServerPolicy, engine: PlaybackEngine, loop: ThreadControlLoop, logger: Logger,
    sandbox: SandboxStatus = SandboxStatus(), store: StateStore? = nil, reload: Reload? = nil,
    makeSource: MakeSource? = nil
  ) {
    self.makeSource = makeSource
    self.reload = reload
    self.version = version
    self.sandbox = sandbox
    self.policy = policy
    limits = policy.limits
    access = PeerAccess.Box(policy.access)
    let facade = engine
    let engine = facade.core
    self.engine = engine
    self.logger = logger
    transport = (loop, ReadBuffer())
    log = EventLog(limits: policy.limits) { loop.execute($0) }
    registry = PlayerRegistry(engine: facade, policy: policy, log: log)
    playlistLoader = PlaylistLoader(loop: engine.loop)
    titleReader = TitleReader(loop: engine.loop) { engine.openingRecord }
    stateWriter = store.map { [registry] in
      StateWriter(store: $0, registry: registry, engine: engine, loop: loop, logger: logger)
    }
    startTime = engine.loop.now
    for key in ObservedKey.ofOutputs { reportedOutput[key.key] = key.value(in: ObservedOutput(engine: engine)) }
    // The observers stay for the lifetime of the engine.
    _ = engine.addOutputObserver { [weak self] _ in self?.outputChanged() }
    _ = engine.addRouteObserver { [weak self] in self?.outputNotified($0) }
    engine.session.isRecording = { [weak self] in self?.recorders.isRecording ?? false }
    _ = engine.session.addStateObserver { [weak self] in self?.sessionChanged($0) }
    _ = engine.session.addEventObserver { [weak self] in self?.sessionNotified($0) }
    stateWriter?.restore(policy)
    registry.onQueueChange = { [titleReader] in titleReader.queueChanged(of: $0) }
    // After a crash, restored players open no file before a request.
    if stateWriter?.isCrashUnsaved != true {
      for player in registry.players where player.state.itemCount > 0 { titleReader.queueChanged(of: player) }
    }
  }

  /// Reports the values of the output that have changed.
  private func outputChanged(_ cause: ChangeCause = .output) {
    for key in ObservedKey.ofOutputs {
      let new = key.value(in: ObservedOutput(engine: engine))
      guard let old = reportedOutput.updateValue(new, forKey: key.key), old != new else { continue }
      publishToAll(key.key) { ChangedEvent(player: $0, key: key.key, old: old, new: new, cause: cause.rawValue) }
    }
  }

  /// Publishes an event of the output, and the values that it has changed.
  private func outputNotified(_ event: OutputEvent) {
    if case .selection = event { return outputChanged(.request) }
    outputChanged()
    guard case .route(let change) = event else { return }
    publishToAll(.outputEvents) { player in
      RouteChangedEvent(
        player: player, reason: change.reason.rawValue, previous: change.previous.output?.label,
        current: change.current.output?.label, description: change.current.output?.deviceDescription,
        input: change.current.input?.label)
    }
  }

  /// Logs an event about all players under one number, and forwards it to the observations of every player.
  func publishToAll(_ key: ObservableKey, _ event: (String) -> any NumberedEvent) {
    let number = log.append(event(PlayerRegistry.mainName), key: key, player: nil)
    for player in registry.players { player.observer.forward(key, number, event) }
  }

  var loop: any ControlLoop { engine.loop }

  /// Applies a new policy. Connections that are no longer allowed get the reason and are closed.
  func apply(_ policy: ServerPolicy) {
    self.policy = policy
    limits = policy.limits
    log.limits = limits
    access.value = policy.access
    registry.apply(policy)
    stateWriter?.apply(policy)
    for connection in Array(connections.values) { connection.client.updateRights() }
  }

  /// The elapsed time on the engine's clock.
  var uptimeNanoseconds: Int64 { loop.now.nanoseconds(since: startTime) }
}
