import PlayheadWireProtocol

/// Other names of commands, and hints for words that are no commands.
enum CommandAlias {
  /// The command of each alias.
  static let commands: [(alias: String, command: CommandName)] = [
    ("ls", ListCommand.name), ("prev", PreviousCommand.name), ("skip", NextCommand.name), ("vol", VolumeCommand.name),
  ]

  /// The command of an alias; any other word unchanged.
  static func resolved(_ word: String) -> String {
    commands.first { $0.alias == word }?.command.rawValue ?? word
  }

  /// Whether the client knows a command with that name.
  static func isCommand(_ name: String) -> Bool {
    Subcommand.named(name) != nil || CommandName(rawValue: name) != nil
  }

  /// The error for a word that is no command.
  static func unknown(_ word: String) -> Invocation.Misuse {
    Invocation.Misuse(message: "unknown command '\(word.prefix(48))'; \(hint(for: word))")
  }

  private static func hint(for word: String) -> String {
    switch word {
    case "": return "`playhead help` lists the commands"
    case "current": return "use playhead get --format '{artist} - {title}'"
    case "quit", "exit", "kill", "shutdown":
      return "playhead stop ends playback; the signal SIGTERM ends playheadd"
    case _ where Get.names.all.contains(word): return "use playhead get \(word)"
    default:
      let names = Subcommand.all.filter { !$0.isHidden }.map(\.name) + CommandTable.all.map(\.name.rawValue)
      return Nearest.name(to: word, among: names + commands.map(\.alias)).map { "did you mean \($0)?" }
        ?? "playhead help lists the commands"
    }
  }
}
