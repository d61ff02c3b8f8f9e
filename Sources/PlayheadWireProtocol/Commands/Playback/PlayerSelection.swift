import PlayheadMediaCore

/// The player or players of a request that accepts `player=*`.
package enum PlayerSelection: Sendable, Hashable {
  /// The player with this name.
  case one(String)
  case all

  /// The text that selects all players.
  static let textOfAll = "*"

  init(_ text: String) { self = text == Self.textOfAll ? .all : .one(text) }
}

/// The parameters of a command for one player or all players.
package protocol PlayerSelectionParameters: ParameterList {
  /// Default: `main`.
  var player: Parameter<PlayerSelection> { get }
}

/// The parameters of the commands that only select one player or all players.
package struct PlayerOrAllParameters: PlayerSelectionParameters {
  package let player: Parameter<PlayerSelection>

  package init(_ list: inout ParameterListBuilder) { player = list.playerOrAll() }
}

/// The parameters of the commands that only select a player.
package struct PlayerParameters: ParameterList {
  package let player: Parameter<String>

  package init(_ list: inout ParameterListBuilder) { player = list.player() }
}

/// The reply of a command for one player or all players. With all players, its other fields are those of the first one.
package protocol AllPlayersReply: ReplyFields {
  /// The names of the players. Nil for a request for one player.
  var players: [String]? { get set }
}

/// The reply that has no fields for one player.
package struct AffectedPlayersReply: AllPlayersReply {
  package var players: [String]?

  package init(players: [String]? = nil) { self.players = players }

  package static let fields: [Field<Self>] = [Field(optional: .affectedPlayers) { $0.players }]

  package var isEmpty: Bool { players == nil }
}

extension Arguments where Definition.Parameters: PlayerSelectionParameters {
  /// The player or players.
  package var player: PlayerSelection { value(of: Definition.definition.parameters.player) }

  /// Checks that the request is not for all players.
  ///
  /// - Throws: `bad-arguments`.
  func requireOnePlayer(_ feature: String) throws(MediaError) {
    guard player != .all else { throw failure("\(feature) requires one player, not all (*)") }
  }
}
