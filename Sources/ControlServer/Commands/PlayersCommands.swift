import MediaCore
import Playback
import WireProtocol

/// Commands about the daemon's players and their output.
extension Connection {
  /// Runs the commands that reply immediately. Nil means `ok` without fields.
  func run(_ command: PlayersCommand) throws(MediaError) -> Reply? {
    switch command {
    case .create(let name, let ifMissing, let isTemporary):
      if !ifMissing || !server.registry.hasPlayer(name) {
        let created = try server.registry.create(name, isTemporary: isTemporary)
        if isTemporary {
          temporaryPlayers.removeAll(where: \.isClosed)
          temporaryPlayers.append(created)
        }
      }
      return .ok(["player": .string(name)])
    case .close(let name):
      try server.registry.close(name)
      return nil
    case .list:
      let rows = server.registry.players.map(Self.row)
      return .ok(["count": .int(rows.count)], rows: rows)
    case .outputStatus(let name):
      // All players share one output, but the name must be valid.
      _ = try server.registry.player(name)
      return .ok(outputFields)
    case .outputList: return outputList
    case .outputSet(let device, let preferred, let lost):
      if device != nil || preferred != nil || lost != nil {
        try setOutput(device: device, preferred: preferred.map { Array($0) }, lost: lost)
      }
      return .ok(outputFields)
    case .playAt, .rateTogether: preconditionFailure("the handler of immediate commands got one that waits")
    }
  }

  private static func row(_ target: NamedPlayer) -> Fields {
    let state = target.state
    return [
      "player": .string(target.name), "timeControlStatus": .string(state.timeControlStatus.wireName),
      "rate": .float(state.rate), "item": state.currentItemID.map { .int($0) } ?? FieldValue.none,
      "count": .int(state.itemCount), "volume": .float(state.volume), "isMuted": .bool(state.isMuted),
      "temporary": .bool(target.isTemporary),
    ]
  }
}
