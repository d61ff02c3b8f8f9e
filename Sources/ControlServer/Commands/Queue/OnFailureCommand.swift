import MediaCore
import Playback
import PlayerModel
import WireProtocol

extension OnFailureCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    if let policy = arguments.policy { target.player.onLoop { $0.setItemFailurePolicy(ItemFailurePolicy(policy)) } }
    return Reply(onFailure: FailurePolicy(target.state.itemFailurePolicy))
  }
}

extension ItemFailurePolicy {
  fileprivate init(_ policy: FailurePolicy) {
    switch policy {
    case .skip: self = .skip
    case .stop: self = .stop
    case .retry: self = .retry
    }
  }
}

extension FailurePolicy {
  fileprivate init(_ policy: ItemFailurePolicy) {
    switch policy {
    case .skip: self = .skip
    case .stop: self = .stop
    case .retry: self = .retry
    }
  }
}
