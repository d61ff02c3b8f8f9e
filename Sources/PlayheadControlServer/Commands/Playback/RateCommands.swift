import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

extension RateCommand: ImmediateHandler, AllPlayersHandler {
  /// Sets the rate, if given, without starting a paused player.
  static func run(_ arguments: Arguments<Self>, on target: NamedPlayer) throws(MediaError) -> Reply {
    if let rate = arguments.rate {
      try target.player.tryOnLoop { player throws(MediaError) in try player.setRate(rate, startsPlayback: false) }
    }
    return Reply(rate: target.player.onLoop { $0.state.rate == 0 ? $0.rateForNextPlay : $0.state.rate })
  }
}

extension DefaultRateCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    if let rate = arguments.rate {
      try target.player.tryOnLoop { player throws(MediaError) in try player.setDefaultRate(rate) }
    }
    return Reply(defaultRate: target.state.defaultRate)
  }
}

extension RateAtCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    let (rate, from) = (arguments.rate, arguments.from)
    if case .date(let date) = arguments.time {
      try target.player.tryOnLoop { player throws(MediaError) in
        try player.setRate(rate, time: from, atDate: date)
      }
    } else {
      let instant = hostTime(of: arguments.time, context.server)
      try target.player.tryOnLoop { player throws(MediaError) in
        try player.setRate(rate, time: from, atHostTime: instant)
      }
    }
    return Reply(rate: rate)
  }

  /// The host time of a moment that is not a date. Nil: as soon as possible. A time beyond the range of the clock
  /// becomes the latest time, which is rejected as too far in the future.
  private static func hostTime(of moment: RequestedMoment, _ server: ServerContext) -> HostTime? {
    func nanoseconds(_ time: MediaTime) -> Int64 {
      time.frameIndex(rate: 1_000_000_000, rounding: .towardPositiveInfinity) ?? .max
    }
    switch moment {
    case .now: return nil
    case .instant(let time): return HostTime(nanoseconds: nanoseconds(time))
    case .after(let delay):
      let (sum, overflow) = server.engine.loop.now.nanoseconds.addingReportingOverflow(nanoseconds(delay))
      return HostTime(nanoseconds: overflow ? .max : sum)
    case .date, .frame: preconditionFailure("a start time is not a date or a frame")
    }
  }
}

extension PitchCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    if let algorithm = arguments.algorithm {
      try target.player.tryOnLoop { player throws(MediaError) in
        try player.setAudioTimePitchAlgorithm(.init(sameWordAs: algorithm))
      }
    }
    return Reply(algorithm: .init(sameWordAs: target.state.audioTimePitchAlgorithm))
  }
}
