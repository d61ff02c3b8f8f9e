import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

extension PlayAtCommand: WaitingHandler {
  /// The start continues if the connection closes before the reply.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let players = try context.server.registry.players(named: arguments.players)
    do throws(MediaError) {
      try context.server.engine.start(players, at: StartMoment(arguments.time)) { result in
        request.finish(with: result) {
          Reply(frame: $0.outputFrame, hostTime: $0.hostTime, late: $0.lateFrameCount, spread: $0.spreadFrameCount)
        }
      }
    } catch {
      throw explained(error, arguments.time)
    }
  }

  /// Explains an error of an instant, because a client may mean a time of day.
  private static func explained(_ error: MediaError, _ moment: RequestedMoment) -> MediaError {
    guard error.code == .invalidTime, case .instant = moment else { return error }
    let hint = "a time of day has the form 08:00"
    return MediaError(error.code, "\(error.message); \(hint)", operation: error.operation)
  }
}

extension RateTogetherCommand: WaitingHandler {
  /// The change continues if the connection closes before the reply.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let players = try context.server.registry.players(named: arguments.players)
    try context.server.engine.setRate(arguments.rate, of: players) { result in
      request.finish(with: result) {
        Reply(frame: $0.outputFrame, hostTime: $0.hostTime, spread: $0.spreadFrameCount)
      }
    }
  }
}

extension PlayerRegistry {
  /// The players with these names.
  ///
  /// - Throws: `no-such-player`.
  fileprivate func players(named names: WireList<String>) throws(MediaError) -> [QueuePlayer] {
    var found: [QueuePlayer] = []
    // With more names than players, these names include an unknown or a repeated one. The remaining names do not change
    // the error.
    for name in names.prefix(players.count + 1) { found.append(try player(name).player) }
    return found
  }
}

extension StartMoment {
  fileprivate init(_ moment: RequestedMoment) {
    switch moment {
    case .now: self = .whenReady
    case .after(let delay): self = .after(delay)
    case .instant(let time):
      // A time beyond the range of the clock becomes the latest time, which is rejected as too far in the future.
      self = .hostTime(
        HostTime(nanoseconds: time.frameIndex(rate: 1_000_000_000, rounding: .towardPositiveInfinity) ?? .max))
    case .date(let date): self = .date(date)
    case .frame(let frame): self = .outputFrame(frame)
    }
  }
}
