import MediaCore
import Playback
import WireProtocol

/// `play-at` and `rate-together`: players that start, or change their rate, on the same sample.
extension Connection {
  /// Begins a start. It goes on when the connection is gone before it is answered.
  func begin(
    _ moment: PlayersCommand.StartMoment, of names: WireList<String>, _ request: WaitingRequest
  ) throws(MediaError) {
    try server.engine.start(try players(named: names), at: StartMoment(moment)) { result in
      switch result {
      case .success(let start): request.finish(Self.reply(start))
      case .failure(let error): request.fail(error)
      }
    }
  }

  /// Begins a change of the rate. It goes on, too.
  func begin(rate: Double, of names: WireList<String>, _ request: WaitingRequest) throws(MediaError) {
    try server.engine.setRate(rate, of: try players(named: names)) { result in
      switch result {
      case .success(let change): request.finish(Self.reply(change))
      case .failure(let error): request.fail(error)
      }
    }
  }

  private func players(named names: WireList<String>) throws(MediaError) -> [QueuePlayer] {
    var players: [QueuePlayer] = []
    // More names than players contain an unknown or a repeated name within the first ones; the rest changes no error.
    for name in names.prefix(server.registry.players.count + 1) {
      players.append(try server.registry.player(name).player)
    }
    return players
  }

  private static func reply(_ change: TogetherRateChange) -> Reply {
    .ok([
      "frame": change.outputFrame.map { .integer($0) } ?? FieldValue.none,
      "hostTime": change.hostTime.map { .seconds(nanoseconds: $0.nanoseconds) } ?? FieldValue.none,
      "spread": .integer(change.spreadFrameCount),
    ])
  }

  private static func reply(_ start: TogetherStart) -> Reply {
    .ok([
      "frame": .integer(start.outputFrame),
      "hostTime": start.hostTime.map { .seconds(nanoseconds: $0.nanoseconds) } ?? FieldValue.none,
      "late": .integer(start.lateFrameCount), "spread": .integer(start.spreadFrameCount),
    ])
  }
}

extension StartMoment {
  fileprivate init(_ moment: PlayersCommand.StartMoment) {
    switch moment {
    case .now: self = .whenReady
    case .after(let span): self = .after(span)
    case .instant(let time):
      // What no clock can hold lies too far ahead, and is refused as that.
      self = .hostTime(
        HostTime(nanoseconds: time.frameIndex(rate: 1_000_000_000, rounding: .towardPositiveInfinity) ?? .max))
    case .frame(let frame): self = .outputFrame(frame)
    }
  }
}
