import MediaCore

/// Starting players together.
extension PlaybackEngine {
  /// Has players that are paused begin to sound with the same frame of the output, to the sample, wherever in their items
  /// they are and whatever these are.
  ///
  /// First all of them get ready, and stay paused meanwhile; then they wait (`startTimeNotReached`), the device running, and
  /// begin. A player that is told something else meanwhile (`pause`, `play`, a rate) leaves the others to start without it; a
  /// seek changes where it begins. `completion` is called once, on the loop, when the frame with which they begin has been
  /// handed to the device, just before it is heard; or with the error when not all could get ready: then none has started.
  /// It is called in a turn of its own, never within the call that brought it about, and may call back.
  /// Its errors: the failed item's own, `waitEnded` when no player is left, `outputLost` when a frame was asked for of an
  /// output that is gone, `outputUnavailable`.
  ///
  /// On the control loop. Errors: `invalidArgument` for no players, one twice, or one of another engine; `invalidTime` for a
  /// moment that is over or more than a day ahead; `invalidState` for a player that plays already or is closed;
  /// `noCurrentItem`, or the current item's own. Then nothing changes and `completion` is not called.
  public func start(
    _ players: [any PlayerControl], at moment: StartMoment,
    completion: @escaping @Sendable (Result<TogetherStart, MediaError>) -> Void
  ) throws(MediaError) {
    try StartGroup(players.map(\.control.core), at: moment, engine: self, completion: completion).begin()
  }

  /// The same from anywhere, answering how it went.
  public func start(_ players: [any PlayerControl], at moment: StartMoment = .whenReady) async throws -> TogetherStart {
    try await withCheckedThrowingContinuation { continuation in
      loop.execute {
        do throws(MediaError) {
          try self.start(players, at: moment) { continuation.resume(with: $0.mapError { $0 as any Error }) }
        } catch { continuation.resume(throwing: error) }
      }
    }
  }
}
