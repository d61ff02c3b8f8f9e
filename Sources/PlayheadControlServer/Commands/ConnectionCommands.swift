import PlayheadIsolation
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadWireProtocol

extension HelloCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    if let version = arguments.version, version != Greeting.protocolVersion {
      throw MediaError(
        .invalidArgument, "protocol version must be \(Greeting.protocolVersion) (got \(version))")
    }
    if let rights = arguments.rights.flatMap(Rights.init) { try context.client.dropRights(except: rights) }
    return Reply(
      version: Greeting.protocolVersion, daemonVersion: context.server.version,
      instance: context.server.log.instance, rights: context.client.peer?.rights ?? [])
  }
}

extension PingCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    Reply(now: context.server.loop.now)
  }
}

extension HelpCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    arguments.command.flatMap(CommandTable.spec).map(Reply.init) ?? Reply()
  }
}

extension StatsCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let (server, counters, sandbox) = (context.server, context.server.counters, context.server.sandbox)
    let isolation = Asset.Isolation.standard
    let workers = isolation == .none ? nil : WorkerPool.shared?.statistics
    return Reply(
      daemonVersion: server.version, uptime: MediaTime(value: server.uptimeNanoseconds, timescale: 1_000_000_000),
      connections: server.connections.count, requests: counters.requests, errors: counters.errors,
      events: counters.events, dropped: counters.dropped, instance: server.log.instance,
      lastEvent: server.log.lastNumber, isolation: isolation.wireName,
      workers: workers.map { $0.idleCount + $0.busyCount } ?? 0, workerCrashes: workers?.crashCount ?? 0,
      noNewPrivileges: sandbox.hasNoNewPrivileges, landlock: sandbox.landlock.rawValue,
      landlockVersion: sandbox.landlockVersion)
  }
}

extension DiscoverCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    Reply(document: OpenRPC.document)
  }
}

extension CancelCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    guard context.connection.cancelWaiting(arguments.id) else {
      throw MediaError(.noSuchRequest, "no request with this id is waiting")
    }
    return Reply()
  }
}

extension ConfigReloadCommand: WaitingHandler {
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    guard let reload = context.server.reload else {
      throw MediaError(.invalidState, "this server has no configuration to reload")
    }
    reload { [loop = context.server.loop] result in
      loop.execute { request.finish(with: result) { Reply(changed: $0.changed, restart: $0.restart) } }
    }
  }
}

extension ByeCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    context.connection.cancelWaiting(MediaError(.cancelled, "the connection was ended by `bye`"))
    context.connection.postReplyAction = .close
    return Reply()
  }
}

extension Asset.Isolation {
  /// The name that the option `--isolate` uses.
  fileprivate var wireName: String {
    switch self {
    case .none: "none"
    case .opening: "opening"
    case .playback: "playback"
    }
  }
}
