import MediaCore
import RealtimeAudio

/// What an audio session is, and what it makes of what happens to it.
///
/// Pure: each input is a method that changes the state and returns the actions to be run, in order, by `AudioSession`. No
/// I/O, no clock.
struct AudioSessionStateMachine {
  enum Action: Sendable, Hashable {
    /// Streams are for this from now on.
    case setRole(StreamRole)
    /// Nothing sounds, and each player stays as it is; nil: what would play does, faded in after an interruption.
    case hold(WaitingReason?, isResumption: Bool)
    /// Players that would play are paused.
    case pausePlayers(ChangeCause)
    /// The device may go on, though the server has not said so.
    case releaseDevice(overrulesServer: Bool)
    case startTimer(MediaTime)
    case stopTimer
    case emit(AudioSessionEvent)
  }

  private(set) var state = AudioSessionState()
  /// The interruption that is under way has been seen to begin on this device.
  var isInterrupted: Bool { state.isInterrupted }

  /// Why no player sounds, whatever its rate; nil: they do.
  var holdReason: WaitingReason? {
    if state.isInterrupted { return .interrupted }
    return state.allowsPlayback ? nil : .categoryForbidsPlayback
  }

  // MARK: - Asking

  mutating func set(_ setting: AudioSessionSetting) -> [Action] {
    let (oldRole, oldHold) = (state.setting.role, holdReason)
    state.setting = setting
    var actions: [Action] = []
    if setting.role != oldRole { actions.append(.setRole(setting.role)) }
    if holdReason != oldHold { actions.append(.hold(holdReason, isResumption: false)) }
    return actions
  }

  /// How interruptions are treated from now on; one that is under way has its time from now on.
  mutating func set(_ policy: InterruptionPolicy) -> [Action] {
    let oldTimeOut = state.policy.timeOut
    state.policy = policy
    guard state.isInterrupted, policy.timeOut != oldTimeOut else { return [] }
    return [policy.timeOut.map { .startTimer($0) } ?? .stopTimer]
  }

  /// Errors: `sessionInterrupted`.
  mutating func activate() throws(MediaError) {
    guard !state.isInterrupted else {
      throw MediaError(
        .sessionInterrupted, "something else is heard; session.resume ends that", operation: "session.active")
    }
    state.isActive = true
  }

  /// `isRunning`: whether something plays or records. It is deactivated all the same.
  mutating func deactivate(isRunning: Bool) -> [Action] {
    state.isActive = false
    return isRunning ? [.pausePlayers(.session)] : []
  }

  /// A player begins to play, because somebody asks for it. During an interruption that ends it.
  mutating func playbackAsked() -> [Action] {
    if state.isInterrupted { return end(.request, .resume) }
    state.isActive = true
    return []
  }

  /// Errors: `invalidState` when there is no interruption.
  mutating func endInterruption(_ outcome: InterruptionPolicy.Outcome) throws(MediaError) -> [Action] {
    guard state.isInterrupted else {
      throw MediaError(.invalidState, "nothing interrupts the session", operation: "session.resume")
    }
    return end(.request, outcome)
  }

  // MARK: - What happens

  mutating func interruptionBegan() -> [Action] {
    guard !state.isInterrupted else { return [] }
    state.isInterrupted = true
    state.isActive = false
    var actions: [Action] = [.hold(holdReason, isResumption: false)]
    if let timeOut = state.policy.timeOut { actions.append(.startTimer(timeOut)) }
    return actions + [.emit(.interruptionBegan)]
  }

  mutating func serverEndedInterruption() -> [Action] {
    // It was ended otherwise before; the device may wait for a word all the same.
    guard state.isInterrupted else { return [.releaseDevice(overrulesServer: false)] }
    return end(.server, state.policy.atEnd)
  }

  mutating func timeOutPassed() -> [Action] {
    guard state.isInterrupted else { return [] }
    return end(.timeOut, state.policy.atTimeOut)
  }

  /// The device went away: its server's word does not hold any more.
  mutating func outputLost() -> [Action] {
    duckingChanged(false) + (state.isInterrupted ? end(.outputLost, .resume) : [])
  }

  mutating func duckingChanged(_ isDucked: Bool) -> [Action] {
    guard state.secondaryAudioShouldBeSilencedHint != isDucked else { return [] }
    state.secondaryAudioShouldBeSilencedHint = isDucked
    return [.emit(.silenceSecondaryAudioHint(isBeginning: isDucked))]
  }

  private mutating func end(_ end: AudioSessionEvent.End, _ outcome: InterruptionPolicy.Outcome) -> [Action] {
    state.isInterrupted = false
    let resumes = outcome == .resume
    if resumes { state.isActive = true }
    var actions: [Action] = []
    if state.policy.timeOut != nil { actions.append(.stopTimer) }
    // Paused before they are let go: not a sample is heard.
    if !resumes { actions.append(.pausePlayers(.interruption)) }
    actions.append(.hold(holdReason, isResumption: resumes))
    if end != .outputLost { actions.append(.releaseDevice(overrulesServer: end != .server)) }
    return actions + [.emit(.interruptionEnded(end, shouldResume: resumes))]
  }
}
