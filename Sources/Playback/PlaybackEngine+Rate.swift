import MediaCore

/// One rate for several players.
extension PlaybackEngine {
  /// Sets the rate of players, which go over to it with the same frame of the output, to the sample, without being stopped:
  /// 60 ms after what is heard then, or when a change that one of them has under way has been heard. Players that started
  /// together stay together. Those that are paused use the rate for their next `play`, once; one that waits, or has nothing to
  /// play, has it as soon as it sounds.
  ///
  /// `completion` is called once, on the loop and in a turn of its own, when the frame has been handed to the device, just
  /// before it is heard. Its errors: `waitEnded` when every player was told something else before, `outputLost`.
  ///
  /// On the control loop. Errors: `unsupportedRate`, for 0, too; `invalidArgument` for no players, one twice, or one of another
  /// engine; `invalidState` for a player that is closed; below zero, `rangesNotSupported` or `onlyInOrder` for one whose current
  /// item is a stream. Then nothing changes and `completion` is not called.
  public func setRate(
    _ rate: Double, of players: [any PlayerControl],
    completion: @escaping @Sendable (Result<TogetherRateChange, MediaError>) -> Void
  ) throws(MediaError) {
    let members = players.map(\.control.core)
    guard let first = members.first, Set(members.map { ObjectIdentifier($0) }).count == members.count else {
      throw MediaError(.invalidArgument, "one rate is for one player at least, and each is named once")
    }
    guard members.allSatisfy({ $0.engine === self }) else {
      throw MediaError(.invalidArgument, "players that change their rate together share an output")
    }
    let checked = try first.check(rate, operation: "rate")
    if let closed = members.first(where: \.isClosed) {
      throw MediaError(.invalidState, "the player \(closed.name) is closed")
    }
    for member in members { try member.checkDirection(checked, operation: "rate") }
    RateGroup(checked, engine: self, completion: completion).begin(members)
  }

  /// The same from anywhere, answering how it went.
  public func setRate(_ rate: Double, of players: [any PlayerControl]) async throws -> TogetherRateChange {
    try await withCheckedThrowingContinuation { continuation in
      loop.execute {
        do throws(MediaError) {
          try self.setRate(rate, of: players) { continuation.resume(with: $0.mapError { $0 as any Error }) }
        } catch { continuation.resume(throwing: error) }
      }
    }
  }
}
