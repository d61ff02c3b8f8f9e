import Logging
import MediaCore
import Playback
import RealtimeAudio
import SavedState
import WireProtocol

/// Makes the source of a name, or the default one.
public typealias MakeSource = @Sendable (_ name: String?) -> any AudioSource

/// What all connections share.
///
/// Threading: confined to the control loop, but for constants.
final class ServerContext: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop; the door and timers carry it there.

  /// What `stats` tells, since the start.
  struct Counters {
    var requests: UInt64 = 0
    var errors: UInt64 = 0
    var events: UInt64 = 0
    var dropped: UInt64 = 0
    var refused: UInt64 = 0
  }

  let version: String
  /// The restrictions that the process has put on itself.
  let sandbox: SandboxStatus
  /// What is allowed; changed by `apply`.
  private(set) var policy: ServerPolicy
  private(set) var limits: WireLimits
  /// Who may connect, for the thread of `handoff.sock` too.
  let access: PeerAccess.Box
  let engine: EngineCore
  /// Where connections live, which runs on the system's clock whatever the engine's is; and what they read with.
  let streams: (loop: ThreadControlLoop, buffer: ReadBuffer)
  let registry: PlayerRegistry
  /// What records.
  let recorders = RecorderRegistry()
  /// Makes what is recorded, by its name; nil where there is nothing to record from.
  let makeSource: MakeSource?
  /// What happened, by numbers.
  let log: EventLog
  /// Reads lists of media, off the loop.
  let playlistLoader: PlaylistLoader
  let logger: Logger
  /// Has the players' state saved; nil where nothing is.
  let keeper: StateKeeper?
  /// Has the configuration read again; nil where there is nobody who does.
  let reload: Reload?
  /// When the server started, on the engine's clock.
  let startTime: HostTime
  var counters = Counters()
  /// Connections that are over and wait for their peers to close; beyond this many they are closed at once.
  static let lingeringLimit = 64
  var lingeringCount = 0
  /// Every connection that is served.
  var connections: [ObjectIdentifier: Connection] = [:]
  /// All that is gathered on them behind `queue.begin`.
  var gathered = EditSize()
  var isShuttingDown = false
  /// The output's observed values, as they were told last.
  private var toldOutput: [ObservableKey: FieldValue] = [:]
  /// Virtual time that clients asked for, and how many nanoseconds have been let pass for it.
  var virtualTime = (requested: MediaTime.zero, nanoseconds: Int64(0))

  /// On the control loop.
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
    streams = (loop, ReadBuffer())
    log = EventLog(limits: policy.limits) { loop.execute($0) }
    registry = PlayerRegistry(engine: facade, policy: policy, log: log)
    playlistLoader = PlaylistLoader(loop: engine.loop)
    keeper = store.map { [registry] in
      StateKeeper(store: $0, registry: registry, engine: engine, loop: loop, logger: logger)
    }
    startTime = engine.loop.now
    for key in Self.outputKeys { toldOutput[key] = key.value(in: engine) }
    // For as long as the engine is there.
    _ = engine.observeOutput { [weak self] _ in self?.outputChanged() }
    _ = engine.observeRoutes { [weak self] in self?.routeChanged($0) }
    engine.session.isRecording = { [weak self] in self?.recorders.isRecording ?? false }
    _ = engine.session.observeState { [weak self] in self?.sessionChanged($0) }
    _ = engine.session.observeEvents { [weak self] in self?.sessionNotified($0) }
    keeper?.restore(policy)
  }

  private static let outputKeys: [ObservableKey] = [.outputState, .outputRoute, .outputDevices, .outputSelection]

  /// Tells those of the output's values that are others than before.
  private func outputChanged(_ cause: ChangeCause = .output) {
    for key in Self.outputKeys {
      guard let old = toldOutput[key], let new = key.value(in: engine), old != new else { continue }
      toldOutput[key] = new
      tellAll(key) {
        .changed(.init(subscription: 0, player: $0, key: key, old: old, new: new, cause: cause.rawValue))
      }
    }
  }

  private func routeChanged(_ event: OutputEvent) {
    if case .selection = event { return outputChanged(.request) }
    outputChanged()
    guard case .route(let change) = event else { return }
    tellAll(.outputEvents) { player in
      .route(
        .init(
          player: player, reason: change.reason.rawValue, previous: change.previous.output?.label,
          current: change.current.output?.label, description: change.current.output?.deviceDescription,
          input: change.current.input?.label))
    }
  }

  /// What is of all players gets one number, and goes to those who observe any of them.
  func tellAll(_ key: ObservableKey, _ event: (String) -> Event) {
    let number = log.append(event(PlayerRegistry.mainName), key: key, player: nil)
    for player in registry.players { player.watch.pass(key, number, event) }
  }

  var loop: any ControlLoop { engine.loop }

  /// Allows something else from now on. Who may not be connected any more is told so and closed.
  func apply(_ policy: ServerPolicy) {
    self.policy = policy
    limits = policy.limits
    log.limits = limits
    access.value = policy.access
    registry.apply(policy)
    keeper?.apply(policy)
    for connection in Array(connections.values) { connection.reconsider() }
  }

  /// The time that has passed on the engine's clock.
  var uptimeNanoseconds: Int64 { loop.now.nanoseconds(since: startTime) }
}
