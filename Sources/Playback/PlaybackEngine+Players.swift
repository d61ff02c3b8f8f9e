import MediaCore

/// Several players at once.
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
  /// Errors: `invalidArgument` for no players, one twice, or one of another engine; `invalidTime` for a
  /// moment that is over or more than a day ahead; `invalidState` for a player that plays already or is closed;
  /// `noCurrentItem`, or the current item's own. Then nothing changes and `completion` is not called.
  public func start(
    _ players: [any PlayerControl], at moment: StartMoment,
    completion: @escaping @Sendable (Result<TogetherStart, MediaError>) -> Void
  ) throws(MediaError) { try core.start(players, at: moment, completion: completion) }

  /// Starts players together and returns when they have started.
  public func start(_ players: [any PlayerControl], at moment: StartMoment = .whenReady) async throws -> TogetherStart {
    try await withCheckedThrowingContinuation { continuation in
      do throws(MediaError) {
        try core.start(players, at: moment) { continuation.resume(with: $0.mapError { $0 as any Error }) }
      } catch { continuation.resume(throwing: error) }
    }
  }

  /// Sets the rate of players, which go over to it with the same frame of the output, to the sample, without being stopped:
  /// 60 ms after what is heard then, or when a change that one of them has under way has been heard. Players that started
  /// together stay together. Those that are paused use the rate for their next `play`, once; one that waits, or has nothing to
  /// play, has it as soon as it sounds.
  ///
  /// `completion` is called once, on the loop and in a turn of its own, when the frame has been handed to the device, just
  /// before it is heard. Its errors: `waitEnded` when every player was told something else before, `outputLost`.
  ///
  /// Errors: `unsupportedRate`, for 0, too; `invalidArgument` for no players, one twice, or one of another
  /// engine; `invalidState` for a player that is closed; below zero, `rangesNotSupported` or `onlyInOrder` for one whose current
  /// item is a stream. Then nothing changes and `completion` is not called.
  public func setRate(
    _ rate: Double, of players: [any PlayerControl],
    completion: @escaping @Sendable (Result<TogetherRateChange, MediaError>) -> Void
  ) throws(MediaError) { try core.setRate(rate, of: players, completion: completion) }

  /// Sets the rate of players together and returns when it has changed.
  public func setRate(_ rate: Double, of players: [any PlayerControl]) async throws -> TogetherRateChange {
    try await withCheckedThrowingContinuation { continuation in
      do throws(MediaError) {
        try core.setRate(rate, of: players) { continuation.resume(with: $0.mapError { $0 as any Error }) }
      } catch { continuation.resume(throwing: error) }
    }
  }
}
