import MediaCore
import WireProtocol

/// Commands about the connection itself. Each answers at once; nil is a plain ok.
extension Connection {
  func run(_ command: ConnectionCommand) throws(MediaError) -> Reply? {
    switch command {
    case .ping: return nil
    case .hello(let version): return try hello(version)
    case .help(nil): return Help.overview
    case .help(let name?): return Help.reply(on: name)
    case .stats: return stats()
    case .bye:
      cancelWaiting(MediaError(.cancelled, "the connection was ended by `bye`"))
      afterwards = .close
      return nil
    }
  }

  private func hello(_ version: Int?) throws(MediaError) -> Reply {
    if let version, version != Greeting.protocolVersion {
      throw MediaError(
        .invalidArgument, "protocol \(version) is not spoken here, only \(Greeting.protocolVersion)",
        operation: "hello")
    }
    return .ok(["protocol": .int(Greeting.protocolVersion), "version": .string(server.version)])
  }

  private func stats() -> Reply {
    let counters = server.counters
    return .ok([
      "version": .string(server.version), "uptime": .seconds(nanoseconds: server.uptimeNanoseconds),
      "connections": .int(server.connections.count), "requests": .int(counters.requests),
      "errors": .int(counters.errors), "events": .int(counters.events), "dropped": .int(counters.dropped),
    ])
  }
}
