import WireProtocol

extension Invocation {
  /// Parses the single word after a command, from a set of choices.
  mutating func parseChoice(
    _ name: [UInt8], _ arguments: ArraySlice<[UInt8]>, _ action: (String) -> Action?
  ) throws(Misuse) -> Action {
    let name = String(decoding: name, as: UTF8.self)
    var words: [String] = []
    var rest = arguments
    while let argument = rest.popFirst() {
      let word = String(decoding: argument, as: UTF8.self)
      if word == "--help" || word == "-h" { return .help(command: name) }
      if try parseGlobalOption(argument, &rest) { continue }
      words.append(word)
    }
    guard words.count == 1, let parsedAction = words.first.flatMap(action) else {
      throw Misuse(
        message: "\(name) requires one of \(Subcommand.named(name)?.arguments ?? ""); see playhead \(name) --help")
    }
    return parsedAction
  }

  /// Parses the arguments of `help`: all commands or one.
  mutating func parseHelp(_ arguments: ArraySlice<[UInt8]>) throws(Misuse) -> Action {
    var words: [String] = []
    var rest = arguments
    while let argument = rest.popFirst() {
      let word = String(decoding: argument, as: UTF8.self)
      if word == "--help" || word == "-h" { return .help(command: "help") }
      if try parseGlobalOption(argument, &rest) { continue }
      words.append(word)
    }
    guard words.count <= 1 else { throw Misuse(message: "help accepts at most one command") }
    return .help(command: words.first)
  }

  /// Parses the arguments of `add`.
  mutating func parseAdd(_ arguments: ArraySlice<[UInt8]>) throws(Misuse) -> Action {
    var options = AddOptions()
    var rest = arguments
    while let argument = rest.popFirst() {
      if try parseGlobalOption(argument, &rest) { continue }
      guard argument.starts(with: "-".utf8), argument.count > 1 else {
        options.paths.append(argument)
        continue
      }
      let text = String(decoding: argument, as: UTF8.self)
      switch text {
      case "--":
        options.paths += rest
        rest = []
      case "--replace": options.replaces = true
      case "--next": options.insertsNext = true
      case "--all": options.includesAll = true
      case "--lists": options.prefersPlaylists = true
      case "--follow": options.followsLinks = true
      case "--dry-run": options.isDryRun = true
      case "--help", "-h": return .help(command: "add")
      case "--player":
        guard let player = rest.popFirst() else { throw Misuse(message: "--player needs a value") }
        options.player = player
      case _ where text.hasPrefix("--player="): options.player = Array(argument.dropFirst("--player=".utf8.count))
      default: throw Misuse(message: "add has no option \(text); see playhead add --help")
      }
    }
    guard !options.paths.isEmpty, options.paths.allSatisfy({ !$0.isEmpty }) else {
      throw Misuse(message: "add requires the name of a file or folder")
    }
    guard !(options.replaces && options.insertsNext) else {
      throw Misuse(message: "--replace and --next are mutually exclusive")
    }
    options.isVerbose = isVerbose
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
