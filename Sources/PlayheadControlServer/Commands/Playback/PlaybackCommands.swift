import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadWireProtocol

extension PlayImmediatelyCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let (rate, target) = (arguments.rate, try context.server.registry.player(arguments.player))
    try target.player.tryOnLoop { player throws(MediaError) in
      let fallbackRate = player.state.rate != 0 ? player.state.rate : player.rateForNextPlay
      try player.playImmediately(atRate: rate ?? fallbackRate)
    }
    return Reply()
  }
}

extension PauseCommand: ImmediateHandler, AllPlayersHandler {
  static func run(_ arguments: Arguments<Self>, on target: NamedPlayer) throws(MediaError) -> Reply {
    target.player.onLoop { $0.pause() }
    return Reply()
  }
}

extension ToggleCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    if target.state.rate == 0 { try target.play() } else { target.player.onLoop { $0.pause() } }
    return Reply()
  }
}

extension StopCommand: ImmediateHandler, AllPlayersHandler {
  static func run(_ arguments: Arguments<Self>, on target: NamedPlayer) throws(MediaError) -> Reply {
    target.player.onLoop { $0.stop() }
    return Reply()
  }
}

extension PrerollCommand: WaitingHandler {
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let (rate, target) = (arguments.rate, try context.server.registry.player(arguments.player))
    try target.player.tryOnLoop { player throws(MediaError) in
      try player.preroll(atRate: rate ?? player.rateForNextPlay) { request.finish(Reply(isReady: $0)) }
    }
  }
}

extension PrerollCancelCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    try context.server.registry.player(arguments.player).player.onLoop { $0.cancelPendingPrerolls() }
    return Reply()
  }
}

extension AutoWaitCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    if let setting = arguments.state {
      target.player.onLoop {
        $0.setAutomaticallyWaitsToMinimizeStalling(setting.isOn(current: $0.automaticallyWaitsToMinimizeStalling))
      }
    }
    return Reply(automaticallyWaits: target.state.automaticallyWaitsToMinimizeStalling)
  }
}

extension NamedPlayer {
  /// Starts playback like the player's `play`, but throws an error if that is not possible.
  func play() throws(MediaError) {
    try player.tryOnLoop { player throws(MediaError) in try player.setRate(player.rateForNextPlay) }
  }
}

extension TimeControlStatus {
  /// The name that AVFoundation uses, which is the name on the wire.
  var wireName: String {
    switch self {
    case .paused: "paused"
    case .waiting: "waitingToPlayAtSpecifiedRate"
    case .playing: "playing"
    }
  }
}
