import MediaCore
import Playback
import WireProtocol

/// `play-at` and `rate-together`: players that start, or change their rate, at the same output frame.
extension Connection {
  /// Starts players together. The start continues if the connection closes before the reply.
  func start(
    _ moment: PlayersCommand.StartMoment, of names: WireList<String>, _ request: AnyWaitingRequest
  ) throws(MediaError) {
    try server.engine.start(try players(named: names), at: StartMoment(moment)) { result in
      switch result {
      case .success(let start): request.finish(Self.reply(start))
      case .failure(let error): request.fail(error)
      }
    }
  }

  /// Changes the rate of players together. The change continues if the connection closes before the reply.
  func startRateChange(to rate: Double, of names: WireList<String>, _ request: AnyWaitingRequest) throws(MediaError) {
    try server.engine.setRate(rate, of: try players(named: names)) { result in
      switch result {
      case .success(let change): request.finish(Self.reply(change))
      case .failure(let error): request.fail(error)
      }
    }
  }

  private func players(named names: WireList<String>) throws(MediaError) -> [QueuePlayer] {
    var players: [QueuePlayer] = []
    // With more names than players, these names include an unknown or a repeated one. The remaining names do not change
    // the error.
    for name in names.prefix(server.registry.players.count + 1) {
      players.append(try server.registry.player(name).player)
    }
    return players
  }

  private static func reply(_ change: SynchronizedRateChange) -> Reply {
    .ok([
      "frame": change.outputFrame.map { .integer($0) } ?? FieldValue.none,
      "hostTime": .hostTime(change.hostTime),
      "spread": .integer(change.spreadFrameCount),
    ])
  }

  private static func reply(_ start: SynchronizedStart) -> Reply {
    .ok([
      "frame": .integer(start.outputFrame),
      "hostTime": .hostTime(start.hostTime),
      "late": .integer(start.lateFrameCount), "spread": .integer(start.spreadFrameCount),
    ])
  }
}

extension StartMoment {
  fileprivate init(_ moment: PlayersCommand.StartMoment) {
    switch moment {
    case .now: self = .whenReady
    case .after(let delay): self = .after(delay)
    case .instant(let time):
      // A time beyond the range of the clock becomes the latest time, which is rejected as too far in the future.
      self = .hostTime(
        HostTime(nanoseconds: time.frameIndex(rate: 1_000_000_000, rounding: .towardPositiveInfinity) ?? .max))
    case .frame(let frame): self = .outputFrame(frame)
    }
  }
}
