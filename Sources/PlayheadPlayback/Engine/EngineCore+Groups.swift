import PlayheadMediaCore

/// Joint starts and joint rate changes.
extension EngineCore {
  /// See `PlaybackEngine.start(_:at:completion:)`.
  package func start(
    _ players: [any PlayerControl], at moment: StartMoment,
    completion: @escaping @Sendable (Result<SynchronizedStart, MediaError>) -> Void
  ) throws(MediaError) {
    let target = try JointStart.target(moment, self)
    try JointStart(players.map(\.control.core), at: target, engine: self, completion: completion).beginPreparation()
  }

  /// See `PlaybackEngine.setRate(_:of:completion:)`.
  package func setRate(
    _ rate: Double, of players: [any PlayerControl],
    completion: @escaping @Sendable (Result<SynchronizedRateChange, MediaError>) -> Void
  ) throws(MediaError) {
    let members = players.map(\.control.core)
    let first = try checkMembers(members, of: "rate change", action: "change their rate")
    let checked = try first.validatedRate(rate, operation: "setRate")
    if let closed = members.first(where: \.isClosed) {
      throw MediaError(.invalidState, "the player \(closed.name) is closed")
    }
    for member in members { try member.checkDirection(checked, operation: "setRate") }
    JointRateChange(checked, engine: self, completion: completion).apply(to: members)
  }

  /// Checks the members of a joint change, and returns the first one.
  ///
  /// - Throws: `invalidArgument` for no players, duplicate players, or players of another engine.
  @discardableResult
  func checkMembers(_ members: [PlayerCore], of change: String, action: String) throws(MediaError) -> PlayerCore {
    guard let first = members.first, Set(members.map { ObjectIdentifier($0) }).count == members.count else {
      throw MediaError(.invalidArgument, "a joint \(change) needs one or more players, each listed once")
    }
    guard members.allSatisfy({ $0.engine === self }) else {
      throw MediaError(.invalidArgument, "players that \(action) together must share an output")
    }
    return first
  }
}
