/// The replies to `help`, derived from the command table.
public enum Help {
  /// The reply to `help` without an argument: one row for each command, in the order of the table.
  public static let overview = Reply.ok(
    [:], rows: CommandTable.all.map { ["command": .string($0.name.rawValue), "summary": .string($0.summary)] })

  /// The reply to `help COMMAND`: one row for the command, and one for each of its parameters.
  public static func reply(on name: CommandName) -> Reply {
    guard let spec = CommandTable.spec(name) else { return overview }
    var command: Fields = [
      "command": .string(spec.name.rawValue), "synopsis": .string(spec.synopsis),
      "family": .string(spec.family.rawValue), "right": .strings(spec.right.names),
      "summary": .string(spec.summary),
    ]
    if !spec.details.isEmpty { command.append("details", .string(spec.details)) }
    if !spec.replyFields.isEmpty { command.append("reply", .strings(spec.replyFields.map(\.notation))) }
    let parameters = spec.parameters.map { parameter -> Fields in
      [
        "parameter": .string(parameter.name.rawValue), "takes": .string(parameter.kind.accepted),
        "summary": .string(parameter.summary),
      ]
    }
    let keys =
      name == .observe
      ? ObservableKey.allCases.map { key -> Fields in ["key": .string(key.rawValue), "summary": .string(key.summary)] }
      : []
    return .ok([:], rows: [command] + parameters + keys)
  }
}
