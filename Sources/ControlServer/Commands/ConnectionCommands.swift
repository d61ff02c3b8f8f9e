import Isolation
import MediaAssets
import MediaCore
import WireProtocol

/// Commands about the connection and the daemon.
extension Connection {
  /// Runs a command that replies immediately. Returns nil for `ok` without fields.
  func run(_ command: ConnectionCommand) throws(MediaError) -> Reply? {
    switch command {
    case .ping: return .ok(["now": .hostTime(server.loop.now)])
    case .hello(let version, let rights): return try hello(version, rights)
    case .help(nil): return Help.overview
    case .help(let name?): return Help.reply(on: name)
    case .stats: return stats()
    case .discover: return OpenRPC.reply
    case .cancel(let id):
      guard cancelWaiting(id) else {
        throw MediaError(.noSuchRequest, "no request with this id is waiting", operation: "cancel")
      }
      return nil
    case .reloadConfiguration: preconditionFailure("`startReload` handles this command")
    case .bye:
      cancelWaiting(MediaError(.cancelled, "the connection was ended by `bye`"))
      postReplyAction = .close
      return nil
    }
  }

  /// Reloads the configuration with `ServerContext.reload`.
  func startReload(_ request: AnyWaitingRequest) throws(MediaError) {
    guard let reload = server.reload else {
      throw MediaError(.invalidState, "this server has no configuration to reload")
    }
    reload { [loop = server.loop] result in
      loop.execute {
        do throws(MediaError) {
          let outcome = try result.get()
          request.finish(.ok(["changed": .strings(outcome.changed), "restart": .strings(outcome.restart)]))
        } catch {
          request.fail(error)
        }
      }
    }
  }

  private func hello(_ version: Int?, _ rights: Rights?) throws(MediaError) -> Reply {
    if let version, version != Greeting.protocolVersion {
      throw MediaError(
        .invalidArgument, "protocol version must be \(Greeting.protocolVersion) (got \(version))",
        operation: "hello")
    }
    if let rights { try dropRights(except: rights) }
    return .ok([
      "protocol": .int(Greeting.protocolVersion), "version": .string(server.version),
      "instance": .string(server.log.instance), "rights": .strings(peer?.rights.names ?? []),
    ])
  }

  private func stats() -> Reply {
    let counters = server.counters
    let isolation = Asset.Isolation.standard
    let workers = isolation == .none ? nil : WorkerPool.shared?.statistics
    return .ok([
      "version": .string(server.version), "uptime": .seconds(nanoseconds: server.uptimeNanoseconds),
      "connections": .int(server.connections.count), "requests": .int(counters.requests),
      "errors": .int(counters.errors), "events": .int(counters.events), "dropped": .int(counters.dropped),
      "instance": .string(server.log.instance), "seq": .int(server.log.lastNumber),
      "isolation": .string(isolation.wireName),
      "workers": .int(workers.map { $0.idleCount + $0.busyCount } ?? 0),
      "workerCrashes": .int(workers?.crashCount ?? 0),
      "noNewPrivileges": .bool(server.sandbox.hasNoNewPrivileges),
      "landlock": .string(server.sandbox.landlock.rawValue),
      "landlockVersion": .int(server.sandbox.landlockVersion),
    ])
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
