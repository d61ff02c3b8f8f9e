import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

extension SessionStatusCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let state = context.server.engine.session.state
    return Reply(
      setting: SessionSettingFields(state.setting), isActive: state.isActive, isInterrupted: state.isInterrupted,
      secondaryAudioShouldBeSilencedHint: state.secondaryAudioShouldBeSilencedHint)
  }
}

extension SessionCategoryCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let session = context.server.engine.session
    if let category = arguments.category {
      session.apply(
        try AudioSession.Setting(
          category, mode: arguments.mode ?? .default, options: try arguments.sessionOptions()))
    }
    return SessionSettingFields(session.state.setting)
  }
}

extension SessionActiveCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let session = context.server.engine.session
    if let isActive = arguments.state { try session.setActive(isActive) }
    return Reply(isActive: session.state.isActive)
  }
}

extension SessionResumeCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    try context.server.engine.session.endInterruption(.init(sameWordAs: arguments.action))
    return Reply()
  }
}

extension SessionPolicyCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let session = context.server.engine.session
    var policy = session.state.policy
    if let atEnd = arguments.atEnd { policy.atEnd = .init(sameWordAs: atEnd) }
    if let timeOut = arguments.timeout { policy.timeOut = timeOut.isValid ? timeOut : nil }
    if let atTimeOut = arguments.atTimeout { policy.atTimeOut = .init(sameWordAs: atTimeOut) }
    if let fade = arguments.fade { policy.fadeDuration = fade }
    try session.setPolicy(policy)
    return Reply(
      atEnd: .init(sameWordAs: policy.atEnd), timeout: policy.timeOut, atTimeout: .init(sameWordAs: policy.atTimeOut),
      fade: policy.fadeDuration)
  }
}

extension SessionSettingFields {
  init(_ setting: AudioSession.Setting) {
    self.init(
      category: .init(sameWordAs: setting.category), mode: .init(sameWordAs: setting.mode),
      options: setting.options.isEmpty ? nil : setting.options.names, role: setting.role.rawValue,
      otherAudio: setting.otherAudio.rawValue, playback: setting.category.allowsPlayback,
      recording: setting.category.allowsRecording)
  }
}

extension AudioSession.Setting {
  /// Creates a setting from its wire form.
  ///
  /// - Throws: `session-mismatch` for a combination that the session does not support.
  init(_ category: SessionCategory, mode: SessionMode, options: [SessionOption]) throws(MediaError) {
    let options = AudioSession.CategoryOptions.named.filter { named in options.contains { $0.rawValue == named.name } }
    try self.init(
      AudioSession.Category(sameWordAs: category), mode: AudioSession.Mode(sameWordAs: mode),
      options: AudioSession.CategoryOptions(options.map(\.option)))
  }
}

extension RawRepresentable where RawValue == String {
  /// The value with the word of a value of another enumeration, which has the same words. Tests compare these words.
  init(sameWordAs other: some RawRepresentable<String>) {
    guard let value = Self(rawValue: other.rawValue) else {
      preconditionFailure("\(Self.self) has no word \(other.rawValue)")
    }
    self = value
  }
}

/// Events of the session are reported to the observers of all players, like events of the output.
extension ServerContext {
  /// Publishes the changed values of the session. Stops recordings if the new category does not allow recording.
  func sessionChanged(_ change: AudioSession.Change) {
    if change.old.allowsRecording, !change.new.allowsRecording { recorders.stopForbiddenRecordings() }
    for key in ObservedKey.ofSessions {
      let (old, new) = (key.value(in: change.old), key.value(in: change.new))
      guard old != new else { continue }
      publishToAll(key.key) {
        ChangedEvent(player: $0, key: key.key, old: old, new: new, cause: change.cause.rawValue)
      }
    }
  }

  /// Publishes an event of the session. Pauses recordings during an interruption.
  func sessionNotified(_ event: AudioSession.Event) {
    switch event {
    case .interruptionBegan: recorders.interruptionBegan()
    case .interruptionEnded(_, let shouldResume): recorders.interruptionEnded(shouldResume: shouldResume)
    case .silenceSecondaryAudioHint: break
    }
    publishToAll(.sessionEvents) { player in
      switch event {
      case .interruptionBegan: InterruptionEvent(player: player, ending: nil)
      case .interruptionEnded(let end, let shouldResume):
        InterruptionEvent(player: player, ending: .init(by: end.rawValue, shouldResume: shouldResume))
      case .silenceSecondaryAudioHint(let isBeginning):
        SecondaryAudioHintEvent(player: player, isBeginning: isBeginning)
      }
    }
  }
}

extension AudioSession.State: SessionValues {
  package var category: String { setting.category.rawValue }
  package var mode: String { setting.mode.rawValue }
  package var options: [String]? { setting.options.isEmpty ? nil : setting.options.names }
}
