import PlayheadWireProtocol

extension Invocation {
  /// Parses the single word after a command, from a set of choices.
  mutating func parseChoice(
    _ name: String, _ rest: ArraySlice<[UInt8]>, _ action: (String) -> Action?
  ) throws(Misuse) -> Action {
    guard let words = try separate(rest, of: name)?.texts else { return .help(command: name) }
    guard words.count == 1, let parsedAction = words.first.flatMap(action) else {
      throw Misuse(
        message: "\(name) requires one of \(Subcommand.named(name)?.arguments ?? ""); see playhead \(name) --help")
    }
    return parsedAction
  }

  /// Parses the arguments of `help`: all commands or one.
  mutating func parseHelp(_ rest: ArraySlice<[UInt8]>) throws(Misuse) -> Action {
    guard let words = try separate(rest, of: .help)?.texts else { return .help(command: "help") }
    guard words.count <= 1 else { throw Misuse(message: "help accepts at most one command") }
    return .help(command: words.first)
  }

  /// Parses the arguments of `shell`, which accepts only global options.
  mutating func parseShell(_ rest: ArraySlice<[UInt8]>) throws(Misuse) -> Action {
    guard let found = try separate(rest, of: .shell) else { return .help(command: "shell") }
    guard found.elements.isEmpty else { throw Misuse(message: "shell accepts no arguments") }
    return .shell
  }

  /// Parses the arguments of `add`.
  mutating func parseAdd(_ rest: ArraySlice<[UInt8]>) throws(Misuse) -> Action {
    guard let found = try separate(rest, of: .add) else { return .help(command: "add") }
    if let option = found.beginning.first(where: { $0.starts(with: "-".utf8) && $0.count > 1 }) {
      throw Misuse(message: "add has no option \(String(decoding: option, as: UTF8.self)); see playhead add --help")
    }
    let options = AddOptions(
      paths: found.operands, replaces: found.has("replace"), insertsNext: found.has("next"),
      includesAll: found.has("all"), prefersPlaylists: found.has("lists"), followsLinks: found.has("follow"),
      isDryRun: found.has("dry-run"), isVerbose: isVerbose, player: found.values(of: "player").last)
    guard !options.paths.isEmpty, options.paths.allSatisfy({ !$0.isEmpty }) else {
      throw Misuse(message: "add requires the name of a file or folder")
    }
    guard !(options.replaces && options.insertsNext) else {
      throw Misuse(message: "--replace and --next are mutually exclusive")
    }
    return .add(options)
  }
}

extension Invocation.Action {
  /// Whether the action connects to the daemon.
  var needsDaemon: Bool {
    switch self {
    case .usage, .version, .help, .completions, .manual, .complete, .spool: false
    case .request, .watch, .wait, .save, .get, .list, .load, .record, .inspect, .shell, .add: true
    }
  }
}
