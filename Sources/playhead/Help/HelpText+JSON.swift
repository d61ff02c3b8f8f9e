import PlayheadWireProtocol

extension HelpText {
  /// The output of `playhead --json help`: the rows of the daemon's `help`, with the client's commands included. Nil
  /// when there is no command with that name.
  static func json(of command: String?) -> [UInt8]? {
    guard let rows = command.map(rows(of:)) ?? overviewRows else { return nil }
    var line: [UInt8] = []
    JSONValue.object([.init("rows", .array(rows))]).append(to: &line)
    return line + [UInt8(ascii: "\n")]
  }

  private static func row(_ members: KeyValuePairs<String, String>) -> JSONValue {
    .object(members.map { .init($0.key, .string($0.value)) })
  }

  private static var overviewRows: [JSONValue]? {
    CommandTable.all.map { row(["command": $0.name.rawValue, "summary": $0.summary]) }
      + Subcommand.all.filter { !$0.isHidden && CommandName(rawValue: $0.name) == nil }.map {
        row(["command": $0.name, "summary": $0.summary])
      }
  }

  private static func rows(of command: String) -> [JSONValue]? {
    if let subcommand = Subcommand.named(command) {
      return [
        row([
          "command": command, "synopsis": subcommand.synopsis, "summary": subcommand.summary,
          "details": subcommand.details,
        ])
      ] + subcommand.options.map { row(["parameter": "--\($0.name)", "takes": $0.value ?? "", "summary": $0.summary]) }
    }
    guard let spec = CommandName(rawValue: command).flatMap({ CommandTable.spec($0) }) else { return nil }
    return [
      row([
        "command": command, "synopsis": spec.synopsis, "family": spec.family.rawValue, "summary": spec.summary,
        "details": spec.details,
      ])
    ]
      + spec.parameters.map { parameter in
        row(["parameter": parameter.name.rawValue, "takes": parameter.kind.accepted, "summary": parameter.summary])
      }
  }
}
