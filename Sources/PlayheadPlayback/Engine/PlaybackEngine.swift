import Logging
import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// An output and the players that use it.
///
/// <!-- listing: own-engine -->
/// ```swift
/// let loop = ThreadControlLoop(name: "announcements")
/// let engine = PlaybackEngine(loop: loop, output: .automatic())
/// engine.open()
/// let player = QueuePlayer(engine: engine, name: "announcements")
/// ```
///
/// The engine is an actor on its control loop, as its players are: programs await its methods. The methods that are
/// `nonisolated` may be called from any thread without `await`.
///
/// Releasing an engine closes its players, its output and its threads, as ``close()`` does. Players retain their
/// engine.
public actor PlaybackEngine {
  /// The implementation, which is confined to the loop.
  package nonisolated let core: EngineCore
  /// How the audio of the engine's players shares the output with other programs.
  public nonisolated let session: AudioSession

  /// The loop on which the engine, its players and all handlers run.
  ///
  /// A handler must not block. While a handler blocks, no player on the loop executes seeks, pauses or transitions, and
  /// the methods of `AudioPlayer` block, too. The audio stops when all decoded samples have been heard, after about 3
  /// seconds. For work of more than a millisecond, start a task or use another thread.
  public nonisolated var loop: any ControlLoop { core.loop }

  public nonisolated var unownedExecutor: UnownedSerialExecutor { core.loop.asUnownedSerialExecutor() }

  /// Makes an engine whose output is closed until ``open()``. Any thread.
  ///
  /// - Parameters:
  ///   - loop: The loop on which the engine, its players and all handlers run.
  ///   - configuration: The devices of the output, and the behaviour without one.
  ///   - logger: Receives the messages of the engine. Default: no message is logged.
  public init(
    loop: any ControlLoop, output configuration: OutputConfiguration,
    logger: Logger = Logger(label: "playhead.playback", factory: { _ in SwiftLogNoOpLogHandler() })
  ) {
    core = EngineCore(loop: loop, output: configuration, logger: logger)
    session = AudioSession(core: core)
  }

  deinit { core.loop.execute { [core] in core.close {} } }

  // MARK: - Lifetime

  /// Starts to open the output. Players wait until it is open. Any thread.
  public nonisolated func open() { core.loop.run { [core] in core.open() } }

  /// Starts to open the output. Any thread.
  ///
  /// - Parameter completion: Called once, on the loop, when the output is open, or with the error if players have no
  ///   output.
  public nonisolated func open(completion: @escaping @Sendable (MediaError?) -> Void) {
    core.loop.run { [core] in core.open(completion: completion) }
  }

  /// Closes all players and the output. Any thread.
  ///
  /// - Parameter completion: Called on the loop when the device is closed.
  public nonisolated func close(completion: @escaping @Sendable () -> Void) {
    core.loop.run { [core] in core.close(completion: completion) }
  }

  /// Closes all players and the output, and returns when the device is closed.
  public func close() async {
    await withCheckedContinuation { continuation in core.close { continuation.resume() } }
  }

  // MARK: - Output

  /// The state of the output.
  public var outputState: OutputState { core.outputState }

  /// The current route: the device and its port.
  public var route: AudioRoute { core.route }

  /// The devices of the sound server; nil for outputs of another kind, and while no server is reachable.
  public var devices: AudioDevices? { core.devices }

  /// The selected output, and the policy for its disappearance.
  public var outputSelection: OutputSelection { core.outputSelection }

  /// Selects the output. An available device is opened at once, and the change loses no sample. `outputState` and
  /// `route` report it.
  ///
  /// <!-- listing: select-output -->
  /// ```swift
  /// for device in await engine.devices?.outputs ?? [] { print(device.name, device.description) }
  /// try await engine.selectOutput(OutputSelection(.device("alsa_output.usb"), lostPolicy: .hold))
  /// ```
  ///
  /// - Throws: `noSuchDevice`; `outputUnavailable` if a device is named and no sound server is reachable;
  ///   `outputConfiguration` if the engine's output is not a device of a sound server. Then nothing changes.
  public func selectOutput(_ selection: OutputSelection) throws(MediaError) { try core.selectOutput(selection) }

  /// The number of samples beyond full scale that were heard, on all devices of the output. There is no limiter.
  public var clippedSampleCount: Int { core.clippedSampleCount }

  /// Calls `handler` with each change of devices and routes, on the loop. The handler must not block: see ``loop``.
  ///
  /// <!-- listing: observe-routes -->
  /// ```swift
  /// let token = await PlaybackEngine.shared.addRouteObserver { event in
  ///   if case .route(let change) = event { print(change.reason, change.current.output?.port?.portType ?? .unknown) }
  /// }
  /// ```
  public func addRouteObserver(_ handler: @escaping @Sendable (OutputEvent) -> Void) -> ObserverToken {
    core.addRouteObserver(handler)
  }

  /// Calls `handler` with each change of `outputState`, on the loop. The handler must not block: see ``loop``.
  public func addOutputObserver(_ handler: @escaping @Sendable (OutputState) -> Void) -> ObserverToken {
    core.addOutputObserver(handler)
  }

  /// Removes an observer of the output or of routes, which is not called any more.
  ///
  /// - Throws: `noSuchObserver`.
  public func removeOutputObserver(_ token: ObserverToken) throws(MediaError) { try core.removeOutputObserver(token) }
}

extension ControlLoop {
  /// Runs `body` immediately if called on the loop; otherwise enqueues it.
  func run(_ body: @escaping @Sendable () -> Void) {
    if isIsolatingCurrentContext() == true { body() } else { execute(body) }
  }
}
