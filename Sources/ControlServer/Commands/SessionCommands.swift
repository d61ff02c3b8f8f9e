import MediaCore
import Playback
import WireProtocol

/// Commands about the audio session.
extension Connection {
  /// Runs a command. All of them reply immediately. Nil means `ok` without fields.
  func run(_ command: SessionCommand) throws(MediaError) -> Reply? {
    let session = server.engine.session
    switch command {
    case .status:
      var fields = Self.fields(session.state.setting)
      fields.append("isActive", .bool(session.state.isActive))
      fields.append("isInterrupted", .bool(session.state.isInterrupted))
      fields.append("secondaryAudioShouldBeSilencedHint", .bool(session.state.secondaryAudioShouldBeSilencedHint))
      return .ok(fields)
    case .category(let setting):
      if let setting { session.apply(try AudioSessionSetting(setting)) }
      return .ok(Self.fields(session.state.setting))
    case .active(let isActive):
      if let isActive { try session.setActive(isActive) }
      return .ok(["isActive": .bool(session.state.isActive)])
    case .resume(let outcome):
      try session.endInterruption(.init(outcome))
      return nil
    case .policy(let change):
      var policy = session.state.policy
      if let atEnd = change.atEnd { policy.atEnd = .init(atEnd) }
      if let timeOut = change.timeOut { policy.timeOut = timeOut.isValid ? timeOut : nil }
      if let atTimeOut = change.atTimeOut { policy.atTimeOut = .init(atTimeOut) }
      if let fade = change.fade { policy.fadeDuration = fade }
      try session.setPolicy(policy)
      return .ok([
        "atEnd": .string(policy.atEnd.rawValue), "timeout": policy.timeOut.map { .time($0) } ?? FieldValue.none,
        "atTimeout": .string(policy.atTimeOut.rawValue), "fade": .time(policy.fadeDuration),
      ])
    }
  }

  private static func fields(_ setting: AudioSessionSetting) -> Fields {
    [
      "category": .string(setting.category.rawValue), "mode": .string(setting.mode.rawValue),
      "options": setting.optionsValue, "role": .string(setting.role.rawValue),
      "otherAudio": .string(setting.otherAudio.rawValue), "playback": .bool(setting.category.allowsPlayback),
      "recording": .bool(setting.category.allowsRecording),
    ]
  }
}

extension AudioSessionSetting {
  /// The names of the options, or `none`.
  var optionsValue: FieldValue { options.isEmpty ? .none : .strings(options.names) }

  /// Creates a setting from its wire form.
  ///
  /// - Throws: `session-mismatch` for a combination that the session does not support.
  init(_ setting: SessionCommand.Setting) throws(MediaError) {
    guard let category = AudioSessionCategory(rawValue: setting.category.rawValue),
      let mode = AudioSessionMode(rawValue: setting.mode.rawValue)
    else { preconditionFailure("the wire's categories and modes are those of the session") }
    let options = AudioSessionOptions.named.filter { named in setting.options.contains { $0.rawValue == named.name } }
    try self.init(category, mode: mode, options: AudioSessionOptions(options.map(\.option)))
  }
}

extension InterruptionPolicy.Outcome {
  init(_ outcome: SessionCommand.Outcome) {
    switch outcome {
    case .resume: self = .resume
    case .pause: self = .pause
    }
  }
}

/// Events of the session are reported to the observers of all players, like events of the output.
extension ServerContext {
  /// Publishes the changed values of the session. Stops recordings if the new category does not allow recording.
  func sessionChanged(_ change: AudioSession.Change) {
    if change.old.allowsRecording, !change.new.allowsRecording { recorders.stopForbiddenRecordings() }
    for key in ObservableKey.allCases {
      guard let old = key.value(in: change.old), let new = key.value(in: change.new), old != new else { continue }
      publishToAll(key) { player in
        .changed(
          .init(subscription: 0, player: player, key: key, old: old, new: new, cause: change.cause.rawValue))
      }
    }
  }

  /// Publishes an event of the session. Pauses recordings during an interruption.
  func sessionNotified(_ event: AudioSessionEvent) {
    switch event {
    case .interruptionBegan: recorders.interruptionBegan()
    case .interruptionEnded(_, let shouldResume): recorders.interruptionEnded(shouldResume: shouldResume)
    case .silenceSecondaryAudioHint: break
    }
    let kind: Event.SessionNotification.Kind =
      switch event {
      case .interruptionBegan: .interruption(nil)
      case .interruptionEnded(let end, let shouldResume):
        .interruption(.init(by: end.rawValue, shouldResume: shouldResume))
      case .silenceSecondaryAudioHint(let isBeginning): .secondaryAudioHint(isBeginning: isBeginning)
      }
    publishToAll(.sessionEvents) { .session(.init(subscription: 0, player: $0, kind: kind)) }
  }
}

extension ObservableKey {
  /// The key's value for the session. Nil for keys that do not belong to the session.
  func value(in session: AudioSessionState) -> FieldValue? {
    switch self {
    case .sessionCategory: .string(session.setting.category.rawValue)
    case .sessionMode: .string(session.setting.mode.rawValue)
    case .sessionOptions: session.setting.optionsValue
    case .sessionIsActive: .bool(session.isActive)
    case .sessionIsInterrupted: .bool(session.isInterrupted)
    case .sessionHint: .bool(session.secondaryAudioShouldBeSilencedHint)
    default: nil
    }
  }
}
