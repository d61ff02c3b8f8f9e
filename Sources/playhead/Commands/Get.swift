// `playhead get`: values of a player and of its current entry, for scripts and status bars.
import PlayheadMediaCore
import PlayheadWireProtocol

enum Get {
  /// The fields of `status`.
  private static let playerNames = fieldNames(of: StatusCommand.name)
  /// The fields of `item.status` that `status` does not have. They belong to the current entry.
  private static let entryNames = fieldNames(of: ItemStatusCommand.name).filter { !playerNames.contains($0) }
  static let names = ValueNames(all: playerNames + entryNames, includesTags: true)
  /// The values that change without an event while the time advances.
  static let continuousNames = [
    "time", "pts", "hostTime", "date", "liveEdge", "loadedTimeRanges", "seekableTimeRanges",
  ]

  private static func fieldNames(of command: CommandName) -> [String] {
    CommandTable.spec(command)?.replyFields.map(\.name) ?? []
  }

  /// Checks the names of the values.
  ///
  /// - Throws: `Misuse`.
  static func check(_ requested: [String]) throws(Invocation.Misuse) {
    guard !requested.isEmpty else {
      throw Invocation.Misuse(message: "get requires the name of a value, such as title; see playhead get --help")
    }
    try names.check(requested)
  }

  /// Prints the values, one per line, or in the template. Returns the exit status.
  ///
  /// - Throws: `ErrorReply`, `Unreachable`.
  static func run(_ options: Invocation.GetOptions, _ client: JSONClient, isJSON: Bool) throws -> Int32 {
    let requested = options.names + (options.template?.names ?? [])
    let values = try Self.values(requested, player: options.player, client)
    func value(_ name: String) -> JSONValue { values[name] ?? .null }
    if isJSON {
      var text: [UInt8] = []
      JSONValue.object(options.names.map { .init($0, value($0)) }).append(to: &text)
      Terminal.print(text + [UInt8(ascii: "\n")])
    } else if let template = options.template {
      Terminal.print(template.line(value))
    } else {
      for name in options.names { Terminal.print("\(Terminal.withoutControls(ValueTemplate.text(of: value(name))))\n") }
    }
    return PlayheadClient.Status.done
  }

  /// The values with these names. Unknown ones are absent or null.
  ///
  /// - Throws: `ErrorReply`, `Unreachable`.
  static func values(_ requested: [String], player: [UInt8]?, _ client: JSONClient) throws -> [String: JSONValue] {
    var attempt = 1
    while true {
      do { return try currentValues(requested, player: player, client) } catch let reply as ErrorReply
        where reply.error.code == .noSuchItem && attempt < 10
      {
        // The current entry has left the queue meanwhile.
        attempt += 1
      }
    }
  }

  private static func currentValues(
    _ requested: [String], player: [UInt8]?, _ client: JSONClient
  ) throws -> [String: JSONValue] {
    let playerArgument = player.map { [Array("player=".utf8) + $0] } ?? []
    func request(_ command: CommandName, _ words: [String] = []) throws -> JSONValue {
      try client.request(([command.rawValue] + words).map { Array($0.utf8) } + playerArgument)
    }
    let status = try request(StatusCommand.name)
    var values = playerNames.reduce(into: [:]) { values, name in values[name] = status[name] }
    // Without a current entry, its values are unknown.
    guard case .number(let id)? = status["item"] else { return values }
    if requested.contains(where: entryNames.contains) {
      let entry = try request(ItemStatusCommand.name, [id])
      for name in entryNames { values[name] = entry[name] }
    }
    let tags = requested.filter { $0.hasPrefix(ValueNames.tagPrefix) }
    guard !tags.isEmpty else { return values }
    let rows = try client.allRows(["item.metadata", id])
    for tag in tags { values[tag] = TagValues.value(of: String(tag.dropFirst(ValueNames.tagPrefix.count)), in: rows) }
    return values
  }
}
