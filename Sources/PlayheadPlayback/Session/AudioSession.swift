import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The counterpart of AVAudioSession: the use of a program's audio (category, mode, options), whether the session is
/// active, and its interruptions. All players of an engine share one session.
///
/// <!-- listing: session -->
/// ```swift
/// let session = PlaybackEngine.shared.session
/// try await session.setCategory(.playAndRecord, mode: .spokenAudio)
/// let token = await session.addEventObserver { event in
///   if case .interruptionEnded(_, let shouldResume) = event { print(shouldResume) }
/// }
/// ```
///
/// The setting determines the role of the engine's streams on the sound server. The server's rules for roles determine
/// which programs are muted or ducked. During an interruption, players keep their positions and rates, and wait
/// (``WaitingReason/interrupted``). At the end of the interruption, the policy determines whether the players resume
/// with a fade-in or are paused. `play` also ends an interruption.
///
/// The session is an actor on the engine's control loop. Handlers run on that loop and must not block: see
/// `PlaybackEngine.loop`.
public actor AudioSession {
  /// A change of the state and its cause.
  public struct Change: Sendable, Hashable {
    /// The state before the change.
    public var old: AudioSession.State
    /// The state after the change.
    public var new: AudioSession.State
    /// Why the state changed.
    public var cause: ChangeCause
  }

  private nonisolated let engine: EngineCore
  private var core: SessionCore { engine.session }

  public nonisolated var unownedExecutor: UnownedSerialExecutor { engine.loop.asUnownedSerialExecutor() }

  init(core engine: EngineCore) { self.engine = engine }

  /// The current state.
  public var state: AudioSession.State { core.state }

  // MARK: - Setting

  /// Sets the category, and replaces the previous mode and options.
  ///
  /// - Throws: `sessionMismatch` if the mode or the options do not belong to the category.
  public func setCategory(
    _ category: AudioSession.Category, mode: AudioSession.Mode = .default, options: AudioSession.CategoryOptions = []
  ) throws(MediaError) { try core.setCategory(category, mode: mode, options: options) }

  /// Sets category, mode and options.
  public func apply(_ setting: AudioSession.Setting) { core.apply(setting) }

  /// Sets the treatment of interruptions.
  ///
  /// - Throws: `invalidTime` if the time-out is not above 0 s and at most a day, or the fade not between 0 s and 10 s.
  public func setPolicy(_ policy: AudioSession.InterruptionPolicy) throws(MediaError) { try core.setPolicy(policy) }

  /// Activates or deactivates the session. Playback also activates it.
  ///
  /// - Throws: `sessionInterrupted` on activation during an interruption. `sessionBusy` on deactivation while players
  ///   play or recorders record: the session is inactive nevertheless, and the players are paused.
  public func setActive(_ isActive: Bool) throws(MediaError) { try core.setActive(isActive) }

  /// Ends an interruption that the server has not ended.
  ///
  /// - Throws: `invalidState` if there is none.
  public func endInterruption(_ outcome: AudioSession.InterruptionPolicy.Outcome = .resume) throws(MediaError) {
    try core.endInterruption(outcome)
  }

  // MARK: - Observing

  /// Calls `handler` with each change of `state`, on the loop.
  public func addStateObserver(_ handler: @escaping @Sendable (Change) -> Void) -> ObserverToken {
    core.addStateObserver(handler)
  }

  /// Calls `handler` with each event, on the loop, after the state and the players have changed.
  public func addEventObserver(_ handler: @escaping @Sendable (AudioSession.Event) -> Void) -> ObserverToken {
    core.addEventObserver(handler)
  }

  /// Removes an observer, which is not called any more.
  ///
  /// - Throws: `noSuchObserver`.
  public func removeObserver(_ token: ObserverToken) throws(MediaError) { try core.removeObserver(token) }
}

/// A recorder with `AudioRecorder.Options.session` follows the session.
extension AudioSession: RecorderSession {
  public nonisolated func checkRecording() throws(MediaError) {
    try engine.loop.wait { [engine] in
      Result { () throws(MediaError) in try engine.session.checkRecording() }
    }.get()
  }

  public nonisolated func add(_ recorder: any SessionRecorder) {
    engine.loop.run { [engine] in engine.session.add(recorder) }
  }
}

extension ControlLoop {
  /// Runs `body` on the loop and waits for its result. Any thread.
  func wait<Value: Sendable>(for body: @escaping @Sendable () -> Value) -> Value {
    if isIsolatingCurrentContext() == true { return body() }
    let result = ConditionMutex<Value?>(nil)
    execute {
      let value = body()
      result.update { $0 = value }
    }
    while true { if let value = result.wait({ $0 }) { return value } }
  }
}
