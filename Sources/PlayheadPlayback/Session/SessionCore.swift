import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The state of an `AudioSession`.
///
/// Threading: confined to the engine's control loop.
package final class SessionCore: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the loop, on which its timers fire.

  package typealias Change = AudioSession.Change

  private unowned let engine: EngineCore
  private var machine = AudioSessionStateMachine()
  private var timer: (any ControlTimer)?
  private var stateObservers: [(token: ObserverToken, handler: @Sendable (Change) -> Void)] = []
  private var eventObservers: [(token: ObserverToken, handler: @Sendable (AudioSession.Event) -> Void)] = []
  /// Whether recording is in progress; called by `setActive`.
  package var isRecording: @Sendable () -> Bool = { false }
  /// The recorders that follow the session.
  private var recorders: [WeakRecorder] = []

  private struct WeakRecorder {
    weak var recorder: (any SessionRecorder)?
  }

  init(engine: EngineCore) { self.engine = engine }

  // MARK: - State

  package var state: AudioSession.State { machine.state }

  /// The reason why no player is heard, independent of its rate; nil: players may play.
  var waitingReason: WaitingReason? { machine.waitingReason }

  var role: StreamRole { machine.state.setting.role }

  /// Checks that the session allows recording now.
  ///
  /// - Throws: `sessionForbidsRecording` if the category does not allow recording; `sessionInterrupted`.
  package func checkRecording() throws(MediaError) {
    guard state.allowsRecording else {
      throw MediaError(
        .sessionForbidsRecording, "the session category \(state.setting.category.rawValue) does not allow recording",
        operation: "record")
    }
    guard !state.isInterrupted else {
      throw MediaError(.sessionInterrupted, "the session is interrupted", operation: "record")
    }
  }

  /// Makes a recorder follow the session for its lifetime.
  func add(_ recorder: any SessionRecorder) {
    recorders.removeAll { $0.recorder == nil || $0.recorder === recorder }
    recorders.append(WeakRecorder(recorder: recorder))
  }

  // MARK: - Requests

  /// Sets the category, and replaces the previous mode and options.
  ///
  /// - Throws: `sessionMismatch`.
  package func setCategory(
    _ category: AudioSession.Category, mode: AudioSession.Mode = .default, options: AudioSession.CategoryOptions = []
  ) throws(MediaError) {
    apply(try AudioSession.Setting(category, mode: mode, options: options))
  }

  package func apply(_ setting: AudioSession.Setting) { run(.request) { $0.set(setting) } }

  /// Sets the treatment of interruptions.
  ///
  /// - Throws: `invalidTime` if the time-out is not above 0 s and at most a day, or the fade not between 0 s and 10 s.
  package func setPolicy(_ policy: AudioSession.InterruptionPolicy) throws(MediaError) {
    if let timeOut = policy.timeOut {
      guard timeOut.isNumeric, timeOut > .zero, timeOut <= AudioSession.InterruptionPolicy.longestTimeOut else {
        throw MediaError(.invalidTime, "interruption timeout must be above 0 s and at most a day (got \(timeOut) s)")
      }
    }
    let fade = policy.fadeDuration
    guard fade.isNumeric, fade >= .zero, fade <= AudioSession.InterruptionPolicy.longestFade else {
      throw MediaError(.invalidTime, "fade-in after an interruption must be between 0 s and 10 s (got \(fade) s)")
    }
    run(.request) { $0.set(policy) }
  }

  /// Activates or deactivates the session. Playback also activates it. The sound server informs other programs when no
  /// stream of the engine plays.
  ///
  /// - Throws: `sessionInterrupted` on activation during an interruption. `sessionBusy` on deactivation while players
  ///   play or recorders record: the session is inactive nevertheless, and the players are paused.
  package func setActive(_ isActive: Bool) throws(MediaError) {
    guard !isActive else {
      let old = machine.state
      try machine.activate()
      return publish(old, .request)
    }
    let isRunning =
      engine.anyPlayer { $0.machine.rate != 0 } || isRecording()
      || recorders.contains { $0.recorder?.isRecording == true }
    run(.request) { $0.deactivate(isRunning: isRunning) }
    guard isRunning else { return }
    throw MediaError(
      .sessionBusy, "the session was deactivated while it played or recorded",
      operation: "setActive")
  }

  /// Ends an interruption that the server has not ended.
  ///
  /// - Throws: `invalidState` if there is none.
  package func endInterruption(_ outcome: AudioSession.InterruptionPolicy.Outcome = .resume) throws(MediaError) {
    let old = machine.state
    let actions = try machine.endInterruption(outcome)
    finish(actions, old, .request)
  }

  // MARK: - Observing

  /// Calls `handler` with each change of `state`, synchronously, on the loop.
  package func addStateObserver(_ handler: @escaping @Sendable (Change) -> Void) -> ObserverToken {
    let token = engine.makeToken()
    stateObservers.append((token, handler))
    return token
  }

  /// Calls `handler` with each event, synchronously, on the loop, after the state and the players have changed.
  package func addEventObserver(_ handler: @escaping @Sendable (AudioSession.Event) -> Void) -> ObserverToken {
    let token = engine.makeToken()
    eventObservers.append((token, handler))
    return token
  }

  /// Removes an observer, which is not called any more.
  ///
  /// - Throws: `noSuchObserver`.
  package func removeObserver(_ token: ObserverToken) throws(MediaError) {
    let count = stateObservers.count + eventObservers.count
    stateObservers.removeAll { $0.token == token }
    eventObservers.removeAll { $0.token == token }
    guard stateObservers.count + eventObservers.count < count else {
      throw MediaError(.noSuchObserver, "unknown observer \(token)", operation: "removeObserver")
    }
  }

  // MARK: - Events

  func playbackRequested() { run(.request) { $0.playbackRequested() } }

  func handle(_ notice: SharingNotice) {
    switch notice {
    case .interruptionBegan: run(.interruption) { $0.interruptionBegan() }
    case .interruptionEnded: run(.interruption) { $0.serverEndedInterruption() }
    case .duckingBegan: run(.output) { $0.duckingChanged(true) }
    case .duckingEnded: run(.output) { $0.duckingChanged(false) }
    }
  }

  func outputLost() { run(.output) { $0.outputLost() } }

  func close() {
    timer?.cancel()
    timer = nil
    stateObservers = []
    eventObservers = []
  }

  // MARK: - Running actions

  private func run(_ cause: ChangeCause, _ input: (inout AudioSessionStateMachine) -> [AudioSessionStateMachine.Action])
  {
    let old = machine.state
    finish(input(&machine), old, cause)
  }

  private func finish(_ actions: [AudioSessionStateMachine.Action], _ old: AudioSession.State, _ cause: ChangeCause) {
    for action in actions {
      if case .emit = action { continue }
      run(action, cause)
    }
    publish(old, cause)
    for case .emit(let event) in actions {
      engine.logger.info("audio session", metadata: ["event": "\(event)"])
      notifyRecorders(of: event)
      for observer in eventObservers { observer.handler(event) }
    }
  }

  private func notifyRecorders(of event: AudioSession.Event) {
    for entry in recorders {
      switch event {
      case .interruptionBegan: entry.recorder?.interruptionBegan()
      case .interruptionEnded(_, let shouldResume): entry.recorder?.interruptionEnded(shouldResume: shouldResume)
      case .silenceSecondaryAudioHint: break
      }
    }
  }

  private func publish(_ old: AudioSession.State, _ cause: ChangeCause) {
    let new = machine.state
    guard new != old else { return }
    if old.allowsRecording, !new.allowsRecording {
      for entry in recorders { entry.recorder?.sessionForbidsRecording() }
    }
    for observer in stateObservers { observer.handler(Change(old: old, new: new, cause: cause)) }
  }

  private func run(_ action: AudioSessionStateMachine.Action, _ cause: ChangeCause) {
    switch action {
    case .setRole(let role):
      // A corked or ducked stream remains corked or ducked when its role changes, so a new stream is opened.
      let isAffected = state.isInterrupted || state.secondaryAudioShouldBeSilencedHint
      engine.output.setRole(role, makesNewStream: isAffected)
    case .setWaitingReason(let reason, let isResumption):
      engine.setWaitingReason(reason, fade: isResumption ? state.policy.fadeDuration : .zero, cause)
    case .pausePlayers(let cause): engine.pausePlayers(cause)
    case .releaseDevice(let overrulesServer): engine.output.endInterruption(overrulesServer: overrulesServer)
    case .startTimer(let time): startTimer(time)
    case .stopTimer:
      timer?.cancel()
      timer = nil
    case .emit: break
    }
  }

  private func startTimer(_ time: MediaTime) {
    timer?.cancel()
    let nanoseconds = time.frameIndex(rate: 1_000_000_000, rounding: .towardPositiveInfinity) ?? .max
    timer = engine.loop.schedule(at: engine.loop.now.advanced(byNanoseconds: nanoseconds)) { [weak self] in
      self?.timer = nil
      self?.run(.interruption) { $0.timeOutPassed() }
    }
  }
}
