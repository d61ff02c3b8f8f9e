import MediaCore

/// The table of all commands. Both forms, `help`, the client's completion and the reference derive from it.
public enum CommandTable {
  /// Every command, sorted by name.
  public static let all: [CommandSpec] =
    (connection + playback + queue + queueMoves + queueEdits + items + tracks + selections + chapters + assets
    + metadata + scans + waveforms + images + exports + folders
    + mediaSelection + watching
    + players + outputs + session + state + bookmarks
    + starts + recording).sorted {
      $0.name.rawValue < $1.name.rawValue
    }

  /// The parameter that selects the player, which most commands have.
  static let player = ParameterSpec(.player, .playerName, .option, "NAME", "which player; default: `main`")

  /// The parameter that selects one player or all players.
  static let playerOrAll = ParameterSpec(
    .player, .playerNameOrAll, .option, "NAME|*", "which player, or `*` for all players; default: `main`")

  /// The definition of a command.
  public static func spec(_ name: CommandName) -> CommandSpec? {
    all.first { $0.name == name }
  }

  /// The right that a command needs.
  static func right(of name: CommandName) -> Rights { rights[name] ?? .all }

  /// Whether the reply of a command has rows.
  public static func hasRows(_ name: CommandName) -> Bool { namesWithRows.contains(name) }

  private static let namesWithRows = Set(all.filter { $0.rowFields != nil }.map(\.name))

  private static let rights: [CommandName: Rights] = Dictionary(
    uniqueKeysWithValues: all.map { ($0.name, $0.right) })

  /// The command with this name. Nil if there is none.
  static func spec(named name: some Collection<UInt8>) -> CommandSpec? {
    guard let key = nameKey(name) else { return nil }
    var low = 0
    var high = keys.count
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] == key { return specsByKey[middle] }
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  /// The error for an unknown command, with the most similar command name as a hint.
  static func unknownCommand(_ text: String, operation: String? = nil) -> MediaError {
    let hint =
      Nearest.name(to: text, among: all.lazy.map(\.name.rawValue)).map { "; did you mean \($0)?" }
      ?? "; `help` lists the commands"
    return MediaError(.unknownCommand, "unknown command \(Excerpt.quoted(text))\(hint)", operation: operation)
  }

  // MARK: - Lookup by bytes

  /// A name of 1 to 16 bytes as one number. The first byte is the most significant, so numbers and names have the same
  /// order.
  private static func nameKey(_ name: some Collection<UInt8>) -> UInt128? {
    guard !name.isEmpty, name.count <= 16 else { return nil }
    var key: UInt128 = 0
    for byte in name {
      // A NUL at the end would be lost in the padding.
      guard byte != 0 else { return nil }
      key = key << 8 | UInt128(byte)
    }
    return key << UInt128(8 * (16 - name.count))
  }

  private static let keys: [UInt128] = sortedByKey.map(\.key)
  private static let specsByKey: [CommandSpec] = sortedByKey.map(\.spec)
  private static let sortedByKey: [(key: UInt128, spec: CommandSpec)] =
    all.compactMap { spec in nameKey(spec.name.rawValue.utf8).map { ($0, spec) } }.sorted { $0.key < $1.key }
}
