import PlayheadMediaCore
import PlayheadWireProtocol

extension QueueBeginCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    try context.client.beginTransaction(for: target, ifVersion: arguments.ifVersion)
    return Reply(version: target.state.queueVersion)
  }
}

extension QueueCommitCommand: SlicedHandler {
  static func isLarge(_ arguments: Arguments<Self>, _ context: RequestContext) -> Bool {
    context.client.isTransactionLarge(of: arguments.player)
  }

  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    return Reply(try context.client.commit(on: target))
  }

  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let target = try context.server.registry.player(arguments.player)
    try context.client.startCommit(
      on: target, waitsUntilReady: arguments.wait != nil, WaitingEdit(request))
  }
}

extension QueueAbortCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    try context.client.abort(on: target)
    return Reply(version: target.state.queueVersion)
  }
}
