import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

extension PlayerCreateCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let (name, registry, client) = (arguments.name, context.server.registry, context.client)
    if !arguments.ifMissing || !registry.hasPlayer(name) {
      let created = try registry.create(name, isTemporary: arguments.temporary)
      if arguments.temporary {
        client.temporaryPlayers.removeAll(where: \.isClosed)
        client.temporaryPlayers.append(created)
      }
    }
    return Reply(player: name)
  }
}

extension PlayerCloseCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    try context.server.registry.close(arguments.name)
    return Reply()
  }
}

extension PlayerListCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    Reply(rows: context.server.registry.players.map(row))
  }

  private static func row(_ target: NamedPlayer) -> Row {
    let state = target.state
    return Row(
      player: target.name, timeControlStatus: state.timeControlStatus.wireName, rate: state.rate,
      item: state.currentItemID, count: state.itemCount, volume: state.volume, isMuted: state.isMuted,
      isTemporary: target.isTemporary)
  }
}
