import MediaCore
import Playback
import WireProtocol

/// `play-at`: players that start on the same sample.
extension Connection {
  /// Begins a start. It goes on when the connection is gone before it is answered.
  func begin(
    _ moment: PlayersCommand.StartMoment, of names: [String], _ request: WaitingRequest
  ) throws(MediaError) {
    var players: [QueuePlayer] = []
    for name in names { players.append(try server.registry.player(name).player) }
    try server.engine.start(players, at: StartMoment(moment)) { result in
      switch result {
      case .success(let start): request.finish(Self.reply(start))
      case .failure(let error): request.fail(error)
      }
    }
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
