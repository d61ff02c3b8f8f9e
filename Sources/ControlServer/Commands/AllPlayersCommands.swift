import MediaCore
import Playback
import WireProtocol

/// Playback commands for all players (`player=*`).
extension Connection {
  /// Runs a command for every player. The mixer gets the commands for all players in one batch. The reply has the names
  /// of the players, and otherwise the fields of the first one.
  ///
  /// - Throws: The first error, after the command has run for every other player. `bad-arguments` for a command that
  ///   only reads.
  func runForAllPlayers(_ command: PlaybackCommand) throws(MediaError) -> Reply {
    guard !command.onlyReads else {
      throw MediaError(.badArguments, "player must be one player if no value is given (got *, for all players)")
    }
    let targets = server.registry.players
    var firstFields: Fields?
    var changedNames: [String] = []
    var failures: [(name: String, error: MediaError)] = []
    server.engine.batch {
      // An observer of one player may close another one.
      for target in targets where !target.isClosed {
        do throws(MediaError) {
          let reply = try run(command, on: target)
          if firstFields == nil, let reply, case .ok(let fields) = reply.outcome { firstFields = fields }
          changedNames.append(target.name)
        } catch { failures.append((target.name, error)) }
      }
    }
    if let (name, error) = failures.first {
      throw MediaError(
        error.code, "\(failures.count) of \(targets.count) players failed; \(name): \(error.message)",
        operation: error.operation)
    }
    var fields = firstFields ?? [:]
    fields.append("players", .strings(changedNames))
    return .ok(fields)
  }
}

extension PlaybackCommand {
  /// Whether the command shows a setting and changes nothing.
  fileprivate var onlyReads: Bool {
    switch self {
    case .volume(nil), .pan(nil), .mute(nil), .rate(nil): true
    default: false
    }
  }
}
