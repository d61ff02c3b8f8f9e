import PlayheadMediaCore

/// Starting players together.
extension EngineCore {
  /// See `PlaybackEngine.start(_:at:completion:)`.
  package func start(
    _ players: [any PlayerControl], at moment: StartMoment,
    completion: @escaping @Sendable (Result<SynchronizedStart, MediaError>) -> Void
  ) throws(MediaError) {
    try StartGroup(players.map(\.control.core), at: moment, engine: self, completion: completion).beginPreparation()
  }
}
