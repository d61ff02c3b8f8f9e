import PlayheadWireProtocol

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
    case .watch(let options): action = .watch(options.with(name))
    case .save(let options): action = .save(options.with(name))
    case .get(let options): action = .get(options.with(name))
    case .wait(let options): action = .wait(options.with(name))
    case .add(let options): action = .add(options.with(name))
    case .list(var options):
      options.words = Self.words(options.words, withPlayer: name)
      action = .list(options)
    case .usage, .version, .help, .record, .inspect, .shell, .completions, .manual, .complete, .spool: break
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

/// Options that can name a player.
private protocol PlayerOptions {
  /// The player of the option `--player`; nil when not specified.
  var player: [UInt8]? { get set }
}

extension PlayerOptions {
  /// The options with a player, unless they name one.
  fileprivate func with(_ name: [UInt8]) -> Self {
    var options = self
    options.player = player ?? name
    return options
  }
}

extension Invocation.WatchOptions: PlayerOptions {}
extension Invocation.SaveOptions: PlayerOptions {}
extension Invocation.GetOptions: PlayerOptions {}
extension Invocation.WaitOptions: PlayerOptions {}
extension Invocation.AddOptions: PlayerOptions {}
