import PlayheadMediaCore

/// Operations on several players together.
extension PlaybackEngine {
  /// Starts paused players at the same output frame, exact to the sample.
  ///
  /// First all players decode their first samples while they stay paused. Then they wait (`startTimeNotReached`) while
  /// the device runs, and start. A player that gets another request meanwhile (`pause`, `play`, a rate) leaves the
  /// group, and the others start without it. A seek changes the position at which the player starts.
  ///
  /// - Parameters:
  ///   - players: Paused players of this engine, each once.
  ///   - moment: The moment of the start.
  ///   - completion: Called once, on the loop, after this call has returned. Success: the first frame has been passed
  ///     to the device, and is about to be heard. Failure: no player has started. Errors: the error of a failed item;
  ///     `waitEnded` if no player is left; `outputLost` if `moment` is a frame of a lost output; `outputUnavailable`.
  /// - Throws: `invalidArgument` without players, for a duplicate, or for a player of another engine; `invalidTime`
  ///   for a past moment, one more than a day ahead, or a date more than 366 days ahead; `invalidState` for a player
  ///   that plays or is closed; `noCurrentItem`; the error of the current item; `outputUnavailable` for a date, if the
  ///   system cannot report changes of the clock. Then nothing changes, and `completion` is not called.
  public func start(
    _ players: [any PlayerControl], at moment: StartMoment,
    completion: @escaping @Sendable (Result<SynchronizedStart, MediaError>) -> Void
  ) throws(MediaError) { try core.start(players, at: moment, completion: completion) }

  /// Starts players together and returns when they have started.
  ///
  /// <!-- listing: start-together -->
  /// ```swift
  /// let start = try await engine.start([drums, bass, keys], at: .after(.milliseconds(500)))
  /// print(start.outputFrame, start.lateFrameCount, start.spreadFrameCount)
  /// ```
  public func start(
    _ players: [any PlayerControl], at moment: StartMoment = .whenReady
  ) async throws(MediaError) -> SynchronizedStart {
    try await resultOfRequest { completion throws(MediaError) in
      try core.start(players, at: moment, completion: completion)
    }
  }

  /// Changes the rate of several players at the same output frame, exact to the sample and without a pause.
  ///
  /// The frame is 60 ms after the one that is heard now, or after a pending change of one of the players. Players that
  /// started together stay synchronized. Paused players use the rate for their next `play`, once. A player that waits
  /// or has no item uses the rate when its audio starts.
  ///
  /// - Parameters:
  ///   - rate: The rate, as for `setRate` of a player.
  ///   - players: Players of this engine, each once.
  ///   - completion: Called once, on the loop, after this call has returned. Success: the frame has been passed to the
  ///     device, and is about to be heard. Errors: `waitEnded` if every player got another request before;
  ///     `outputLost`.
  /// - Throws: `unsupportedRate`, also for 0; `invalidArgument` without players, for a duplicate, or for a player of
  ///   another engine; `invalidState` for a closed player; for a negative rate `rangesNotSupported` or `onlyInOrder` if
  ///   a current item is a stream. Then nothing changes, and `completion` is not called.
  public func setRate(
    _ rate: Double, of players: [any PlayerControl],
    completion: @escaping @Sendable (Result<SynchronizedRateChange, MediaError>) -> Void
  ) throws(MediaError) { try core.setRate(rate, of: players, completion: completion) }

  /// Sets the rate of players together and returns when it has changed.
  ///
  /// <!-- listing: change-rates-together -->
  /// ```swift
  /// let change = try await engine.setRate(1.25, of: [drums, bass])
  /// print(change.spreadFrameCount)
  /// ```
  public func setRate(_ rate: Double, of players: [any PlayerControl]) async throws(MediaError)
    -> SynchronizedRateChange
  {
    try await resultOfRequest { completion throws(MediaError) in
      try core.setRate(rate, of: players, completion: completion)
    }
  }
}
