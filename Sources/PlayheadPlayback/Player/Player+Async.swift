import PlayheadMediaCore
import PlayheadPlayerModel

/// Requests that wait for their result. Cancelling the task does not cancel the request.
extension PlayerControl {
  /// Seeks, and returns the result.
  ///
  /// <!-- listing: seek -->
  /// ```swift
  /// let result = try await player.seek(to: .seconds(83.5), toleranceBefore: .zero, toleranceAfter: .zero)
  /// print(result.finished, result.time)
  /// ```
  ///
  /// - Throws: The errors of the request with a completion.
  @discardableResult
  public func seek(
    to time: MediaTime, toleranceBefore: MediaTime = .positiveInfinity, toleranceAfter: MediaTime = .positiveInfinity,
    mode: SeekMode = .replace, itemID: PlayerItem.ID? = nil
  ) async throws(MediaError) -> SeekResult {
    let seek = PlayerSeeks.Options(
      toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter, mode: mode, itemID: itemID)
    return try await resultOfRequest { completion throws(MediaError) in
      try core.seeks.seek(to: time, seek) { completion(.success($0)) }
    }
  }

  /// Seeks to a position that is given as an expression, and returns the result.
  ///
  /// - Throws: The errors of the request with a completion.
  @discardableResult
  public func seek(
    to position: TimeExpression, toleranceBefore: MediaTime = .positiveInfinity,
    toleranceAfter: MediaTime = .positiveInfinity, mode: SeekMode = .replace, itemID: PlayerItem.ID? = nil
  ) async throws(MediaError) -> SeekResult {
    let seek = PlayerSeeks.Options(
      toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter, mode: mode, itemID: itemID)
    return try await resultOfRequest { completion throws(MediaError) in
      try core.seeks.seek(to: position, seek) { completion(.success($0)) }
    }
  }

  /// Moves the position by steps of 10 ms while paused, and returns the result.
  ///
  /// <!-- listing: step -->
  /// ```swift
  /// await player.pause()
  /// let result = try await player.step(byCount: -5)
  /// print(result.time)
  /// ```
  ///
  /// - Throws: The errors of the request with a completion.
  @discardableResult
  public func step(byCount count: Int) async throws(MediaError) -> SeekResult {
    try await resultOfRequest { completion throws(MediaError) in
      try core.seeks.step(byCount: count) { completion(.success($0)) }
    }
  }

  /// Prerolls, and returns whether the player is ready.
  ///
  /// - Throws: The errors of the request with a completion.
  public func preroll(atRate rate: Double = 1) async throws(MediaError) -> Bool {
    try await resultOfRequest { completion throws(MediaError) in
      try core.prerolls.add(atRate: rate) { completion(.success($0)) }
    }
  }

  /// Plays a range of the current item once, and returns how it ended.
  ///
  /// <!-- listing: play-range -->
  /// ```swift
  /// let outcome = try await player.playRange(TimeRange(start: .seconds(30), duration: .seconds(2)))
  /// print(outcome == .finished)
  /// ```
  ///
  /// - Throws: The errors of the request with a completion.
  @discardableResult
  public func playRange(
    _ range: TimeRange, itemID: PlayerItem.ID? = nil
  ) async throws(MediaError) -> RangeOutcome {
    try await resultOfRequest { completion throws(MediaError) in
      _ = try core.seeks.range.play(range, itemID: itemID) { completion(.success($0)) }
    }
  }
}
