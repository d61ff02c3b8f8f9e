import PlayheadMediaCore

@testable import PlayheadWireProtocol

extension ArgumentCase {
  static let session = [
    ArgumentCase("session.status", SessionStatusCommand.self),
    ArgumentCase("session.category", SessionCategoryCommand.self) { $0.category == nil },
    ArgumentCase("session.category record", SessionCategoryCommand.self) {
      try $0.category == .record && $0.mode == nil && $0.sessionOptions() == []
    },
    ArgumentCase(
      "session.category playback mode=voicePrompt options=duckOthers,mixWithOthers", SessionCategoryCommand.self
    ) {
      try $0.category == .playback && $0.mode == .voicePrompt && $0.sessionOptions() == [.duckOthers, .mixWithOthers]
    },
    ArgumentCase("session.category playback options=none", SessionCategoryCommand.self) {
      try $0.options == ["none"] && $0.sessionOptions() == []
    },
    ArgumentCase("session.active", SessionActiveCommand.self) { $0.state == nil },
    ArgumentCase("session.active off", SessionActiveCommand.self) { $0.state == false },
    ArgumentCase("session.resume", SessionResumeCommand.self) { $0.action == .resume },
    ArgumentCase("session.resume pause", SessionResumeCommand.self) { $0.action == .pause },
    ArgumentCase("session.policy", SessionPolicyCommand.self) {
      $0.atEnd == nil && $0.timeout == nil && $0.atTimeout == nil && $0.fade == nil
    },
    ArgumentCase("session.policy at-end=pause timeout=none at-timeout=resume fade=2", SessionPolicyCommand.self) {
      try $0.atEnd == .pause && $0.timeout == .invalid && $0.atTimeout == .resume && $0.fade == seconds("2")
    },
  ]
}
