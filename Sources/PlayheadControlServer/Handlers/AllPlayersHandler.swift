import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

/// The handler of a command for one player or, with `player=*`, for all players. The handler carries out a request for
/// one player.
protocol AllPlayersHandler: HandledCommand where Parameters: PlayerSelectionParameters, Reply: AllPlayersReply {
  /// Carries out a request for a player, and returns the reply.
  ///
  /// - Throws: The error reply.
  static func run(_ arguments: Arguments<Self>, on target: NamedPlayer) throws(MediaError) -> Reply
}

extension AllPlayersHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    switch arguments.player {
    case .one(let name): try run(arguments, on: try context.server.registry.player(name))
    case .all: try runForAllPlayers(arguments, context.server)
    }
  }

  /// Carries out a request for every player. The mixer gets the commands for all players in one batch. The reply has
  /// the names of the players, and otherwise the fields of the first one.
  ///
  /// - Throws: The first error, after the request was carried out for every other player. `bad-arguments` for a request
  ///   that only reads.
  private static func runForAllPlayers(
    _ arguments: Arguments<Self>, _ server: ServerContext
  ) throws(MediaError) -> Reply {
    guard !arguments.isReadWithoutValue else {
      throw MediaError(.badArguments, "player must be one player if no value is given (got *, for all players)")
    }
    let targets = server.registry.players
    var firstReply: Reply?
    var changedNames: [String] = []
    var failures: [(name: String, error: MediaError)] = []
    server.engine.batch {
      // An observer of one player may close another one.
      for target in targets where !target.isClosed {
        do throws(MediaError) {
          let reply = try run(arguments, on: target)
          if firstReply == nil { firstReply = reply }
          changedNames.append(target.name)
        } catch { failures.append((target.name, error)) }
      }
    }
    if let (name, error) = failures.first {
      throw MediaError(
        error.code, "\(failures.count) of \(targets.count) players failed; \(name): \(error.message)",
        operation: error.operation)
    }
    guard var reply = firstReply else { throw MediaError(.noSuchPlayer, "all players were closed") }
    reply.players = changedNames
    return reply
  }
}
