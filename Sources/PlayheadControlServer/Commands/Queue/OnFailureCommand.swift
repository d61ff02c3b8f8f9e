import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadWireProtocol

extension OnFailureCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    if let policy = arguments.policy { target.player.onLoop { $0.setItemFailurePolicy(.init(sameWordAs: policy)) } }
    return Reply(onFailure: .init(sameWordAs: target.state.itemFailurePolicy))
  }
}
