import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The state of an audio session and its reactions to events.
///
/// A pure value without I/O and clock. Each input is a method that changes the state and returns the actions for
/// `SessionCore`, which runs them in order.
struct AudioSessionStateMachine {
  enum Action: Sendable, Hashable {
    /// Sets the role of the streams.
    case setRole(StreamRole)
    /// Silences all players without changing their rates. If nil, players whose rate is not 0 play again, with a
    /// fade-in if `isResumption`.
    case setWaitingReason(WaitingReason?, isResumption: Bool)
    /// Pauses the players whose rate is not 0.
    case pausePlayers(ChangeCause)
    /// Resumes the stream of the device. `overrulesServer`: although the server has not ended the interruption.
    case releaseDevice(overrulesServer: Bool)
    case startTimer(MediaTime)
    case stopTimer
    case emit(AudioSession.Event)
  }

  private(set) var state = AudioSession.State()
  /// The reason why no player is heard, independent of its rate; nil: players may play.
  var waitingReason: WaitingReason? {
    if state.isInterrupted { return .interrupted }
    return state.allowsPlayback ? nil : .categoryForbidsPlayback
  }

  // MARK: - Requests

  mutating func set(_ setting: AudioSession.Setting) -> [Action] {
    let (oldRole, oldReason) = (state.setting.role, waitingReason)
    state.setting = setting
    var actions: [Action] = []
    if setting.role != oldRole { actions.append(.setRole(setting.role)) }
    if waitingReason != oldReason { actions.append(.setWaitingReason(waitingReason, isResumption: false)) }
    return actions
  }

  /// Sets the treatment of interruptions. For a current interruption the new time-out counts from now.
  mutating func set(_ policy: AudioSession.InterruptionPolicy) -> [Action] {
    let oldTimeOut = state.policy.timeOut
    state.policy = policy
    guard state.isInterrupted, policy.timeOut != oldTimeOut else { return [] }
    return [policy.timeOut.map { .startTimer($0) } ?? .stopTimer]
  }

  /// Activates the session.
  ///
  /// - Throws: `sessionInterrupted`.
  mutating func activate() throws(MediaError) {
    guard !state.isInterrupted else {
      throw MediaError(
        .sessionInterrupted, "the session cannot be activated during an interruption",
        operation: "setActive")
    }
    state.isActive = true
  }

  /// Deactivates the session. `isRunning`: a player plays or a recorder records; then players are paused.
  mutating func deactivate(isRunning: Bool) -> [Action] {
    state.isActive = false
    return isRunning ? [.pausePlayers(.session)] : []
  }

  /// Handles a request to play, which ends an interruption and activates the session.
  mutating func playbackRequested() -> [Action] {
    if state.isInterrupted { return end(.request, .resume) }
    state.isActive = true
    return []
  }

  /// Ends the interruption.
  ///
  /// - Throws: `invalidState` if there is no interruption.
  mutating func endInterruption(_ outcome: AudioSession.InterruptionPolicy.Outcome) throws(MediaError) -> [Action] {
    guard state.isInterrupted else {
      throw MediaError(.invalidState, "the session is not interrupted", operation: "resume")
    }
    return end(.request, outcome)
  }

  // MARK: - Events

  mutating func interruptionBegan() -> [Action] {
    guard !state.isInterrupted else { return [] }
    state.isInterrupted = true
    state.isActive = false
    var actions: [Action] = [.setWaitingReason(waitingReason, isResumption: false)]
    if let timeOut = state.policy.timeOut { actions.append(.startTimer(timeOut)) }
    return actions + [.emit(.interruptionBegan)]
  }

  mutating func serverEndedInterruption() -> [Action] {
    // The interruption has already ended for another reason, but the device may still wait for its release.
    guard state.isInterrupted else { return [.releaseDevice(overrulesServer: false)] }
    return end(.server, state.policy.atEnd)
  }

  mutating func timeOutPassed() -> [Action] {
    guard state.isInterrupted else { return [] }
    return end(.timeOut, state.policy.atTimeOut)
  }

  /// Handles the loss of the device. The state that its server reported no longer applies.
  mutating func outputLost() -> [Action] {
    duckingChanged(false) + (state.isInterrupted ? end(.outputLost, .resume) : [])
  }

  mutating func duckingChanged(_ isDucked: Bool) -> [Action] {
    guard state.secondaryAudioShouldBeSilencedHint != isDucked else { return [] }
    state.secondaryAudioShouldBeSilencedHint = isDucked
    return [.emit(.silenceSecondaryAudioHint(isBeginning: isDucked))]
  }

  private mutating func end(_ end: AudioSession.Event.End, _ outcome: AudioSession.InterruptionPolicy.Outcome)
    -> [Action]
  {
    state.isInterrupted = false
    let resumes = outcome == .resume
    if resumes { state.isActive = true }
    var actions: [Action] = []
    if state.policy.timeOut != nil { actions.append(.stopTimer) }
    // Players are paused before the waiting reason is removed, so that no sample is heard.
    if !resumes { actions.append(.pausePlayers(.interruption)) }
    actions.append(.setWaitingReason(waitingReason, isResumption: resumes))
    if end != .outputLost { actions.append(.releaseDevice(overrulesServer: end != .server)) }
    return actions + [.emit(.interruptionEnded(end, shouldResume: resumes))]
  }
}
