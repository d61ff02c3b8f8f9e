import WireProtocol

extension Invocation {
  /// The environment variable with the default player.
  static let playerVariable = "PLAYHEAD_PLAYER"

  /// Sets the player of the command to that of `--player` before the command, or else to `fallback`, unless the command
  /// names a player or has none.
  mutating func selectPlayer(otherwise fallback: [UInt8]?) {
    guard let name = player ?? fallback, !name.isEmpty else { return }
    player = name
    switch action {
    case .request(let words): action = .request(Self.words(words, withPlayer: name))
    case .load(var options):
      if options.edit.value(of: .player) == nil { options.edit.options.append(Self.playerWord(name)) }
      action = .load(options)
    case .watch(var options):
      options.player = options.player ?? name
      action = .watch(options)
    case .save(var options):
      options.player = options.player ?? name
      action = .save(options)
    case .get(var options):
      options.player = options.player ?? name
      action = .get(options)
    case .wait(var options):
      options.player = options.player ?? name
      action = .wait(options)
    case .list(var options):
      options.words = Self.words(options.words, withPlayer: name)
      action = .list(options)
    case .add(var options):
      options.player = options.player ?? name
      action = .add(options)
    case .usage, .version, .help, .record, .inspect, .shell, .completions, .manual, .complete: break
    }
  }

  /// The words of a request with a player. Unchanged if they name a player, or if the command has no such option.
  static func words(_ words: [[UInt8]], withPlayer name: [UInt8]) -> [[UInt8]] {
    guard let command = words.first.flatMap({ CommandName(rawValue: String(decoding: $0, as: UTF8.self)) }),
      CommandTable.spec(command)?.parameter(.player)?.position == .option
    else { return words }
    let options = words.prefix { !$0.elementsEqual("--".utf8) }
    guard !options.contains(where: { $0.starts(with: "player=".utf8) }) else { return words }
    return words.prefix(1) + [playerWord(name)] + words.dropFirst()
  }

  private static func playerWord(_ name: [UInt8]) -> [UInt8] { Array("player=".utf8) + name }
}
