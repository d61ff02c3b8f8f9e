import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadWireProtocol

extension VolumeCommand: ImmediateHandler, AllPlayersHandler {
  static func run(_ arguments: Arguments<Self>, on target: NamedPlayer) throws(MediaError) -> Reply {
    if let volume = arguments.volume {
      try target.player.tryOnLoop { player throws(MediaError) in try player.setVolume(volume.volume(from: player.state))
      }
    }
    return Reply(volume: target.state.volume)
  }
}

extension FadeCommand: SometimesWaitingHandler, AllPlayersHandler {
  static func run(_ arguments: Arguments<Self>, on target: NamedPlayer) throws(MediaError) -> Reply {
    try fade(arguments, target)
    return Reply()
  }

  /// Starts a fade, and replies at its end.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    guard case .one(let name) = arguments.player else {
      preconditionFailure("the parser accepted a request that waits for all players")
    }
    let target = try context.server.registry.player(name)
    try fade(arguments, target) { request.finish(with: result($0, of: target)) }
  }

  private static func fade(
    _ arguments: Arguments<Self>, _ target: NamedPlayer, completion: (@Sendable (FadeOutcome) -> Void)? = nil
  ) throws(MediaError) {
    let (volume, duration) = (arguments.volume, arguments.duration)
    let (curve, endAction) = (FadeCurve(arguments.curve), FadeEndAction(arguments.then))
    try target.player.tryOnLoop { player throws(MediaError) in
      try player.fade(
        to: volume.volume(from: player.state), duration: duration, curve: curve, endAction: endAction,
        completion: completion)
    }
  }

  private static func result(_ outcome: FadeOutcome, of target: NamedPlayer) -> Result<Reply, MediaError> {
    switch outcome {
    case .finished: .success(Reply(isFinished: true))
    case .replaced, .notPlaying: .success(Reply(isFinished: false, reason: outcome.rawValue))
    case .closed: .failure(MediaError(.waitEnded, "the player \(target.name) was closed"))
    }
  }
}

extension PanCommand: ImmediateHandler, AllPlayersHandler {
  static func run(_ arguments: Arguments<Self>, on target: NamedPlayer) throws(MediaError) -> Reply {
    if let pan = arguments.pan {
      try target.player.tryOnLoop { player throws(MediaError) in try player.setPan(Float(pan)) }
    }
    return Reply(pan: target.state.pan)
  }
}

extension MuteCommand: ImmediateHandler, AllPlayersHandler {
  static func run(_ arguments: Arguments<Self>, on target: NamedPlayer) throws(MediaError) -> Reply {
    if let setting = arguments.state {
      target.player.onLoop { $0.setMuted(setting.isOn(current: $0.state.isMuted)) }
    }
    return Reply(isMuted: target.state.isMuted)
  }
}

extension FadeCurve {
  init(_ curve: FadeCommand.Curve) {
    switch curve {
    case .linear: self = .linear
    case .equalPower: self = .equalPower
    case .sCurve: self = .sCurve
    }
  }
}

extension FadeEndAction {
  fileprivate init(_ action: FadeCommand.EndAction) {
    switch action {
    case .none: self = .none
    case .pause: self = .pause
    case .stop: self = .stop
    }
  }
}

extension VolumeSetting {
  /// The volume that follows from the state of a player.
  fileprivate func volume(from state: PlayerState) -> Float { Float(volume(from: Double(state.volume))) }
}
