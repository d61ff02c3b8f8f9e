import MediaCore

/// Starting players together.
extension EngineCore {
  /// See `PlaybackEngine.start(_:at:completion:)`.
  package func start(
    _ players: [any PlayerControl], at moment: StartMoment,
    completion: @escaping @Sendable (Result<TogetherStart, MediaError>) -> Void
  ) throws(MediaError) {
    try StartGroup(players.map(\.control.core), at: moment, engine: self, completion: completion).begin()
  }
}
