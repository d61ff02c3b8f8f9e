import PlayheadMediaCore

/// One rate for several players.
extension EngineCore {
  /// See `PlaybackEngine.setRate(_:of:completion:)`.
  package func setRate(
    _ rate: Double, of players: [any PlayerControl],
    completion: @escaping @Sendable (Result<SynchronizedRateChange, MediaError>) -> Void
  ) throws(MediaError) {
    let members = players.map(\.control.core)
    guard let first = members.first, Set(members.map { ObjectIdentifier($0) }).count == members.count else {
      throw MediaError(.invalidArgument, "a joint rate change needs one or more players, each listed once")
    }
    guard members.allSatisfy({ $0.engine === self }) else {
      throw MediaError(.invalidArgument, "players that change their rate together must share an output")
    }
    let checked = try first.validatedRate(rate, operation: "setRate")
    if let closed = members.first(where: \.isClosed) {
      throw MediaError(.invalidState, "the player \(closed.name) is closed")
    }
    for member in members { try member.checkDirection(checked, operation: "setRate") }
    RateGroup(checked, engine: self, completion: completion).apply(to: members)
  }
}
