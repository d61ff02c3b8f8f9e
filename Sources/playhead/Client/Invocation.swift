import PlayheadMediaCore
import PlayheadWireProtocol

/// A parsed command line.
struct Invocation: Equatable {
  /// The action to perform.
  enum Action: Equatable {
    case usage
    case version
    /// Explains all commands, or one.
    case help(command: String?)
    /// Sends one request: the command and its arguments, as bytes, because paths need not be UTF-8.
    case request([[UInt8]])
    case watch(WatchOptions)
    /// Waits for conditions that the client evaluates.
    case wait(WaitOptions)
    case save(SaveOptions)
    case get(GetOptions)
    /// Lists the queue in a template.
    case list(ListOptions)
    /// Records: a file and options, as words.
    case record([[UInt8]])
    case inspect(InspectOptions)
    case shell
    case add(AddOptions)
    /// Checks files, and adds them to the queue.
    case load(LoadOptions)
    case completions(CompletionScript)
    case manual(ManualPage)
    /// Prints the candidates for the last of these words.
    case complete([[UInt8]])
    /// Copies standard input to standard output, and stores at most this number of bytes.
    case spool(capacity: Int)
  }

  /// The format of the results.
  enum OutputFormat: Equatable {
    /// The text form of the wire protocol.
    case raw
    case json
    /// Tables and sentences.
    case human
  }

  /// The options of `add`.
  struct AddOptions: Equatable {
    var paths: [[UInt8]] = []
    var replaces = false
    /// Whether to insert after the current entry.
    var insertsNext = false
    /// Whether to add all files, whatever their names.
    var includesAll = false
    /// Whether a folder that contains playlists contributes only its playlists.
    var prefersPlaylists = false
    /// Whether to follow links that lead outside the specified folder.
    var followsLinks = false
    var isDryRun = false
    var isVerbose = false
    var player: [UInt8]?

    /// The edit of the queue.
    var edit: AddingEdit {
      AddingEdit(
        command: replaces ? LoadCommand.name : insertsNext ? InsertCommand.name : AppendCommand.name,
        options: player.map { [Array("player=".utf8) + $0] } ?? [])
    }
  }

  /// The options of `save`.
  struct SaveOptions: Equatable {
    var file: [UInt8] = []
    /// The playlist format; nil to derive it from the file name.
    var format: String?
    var player: [UInt8]?
    /// Whether to replace an existing file.
    var replaces = false
  }

  /// The options of `get`.
  struct GetOptions: Equatable {
    /// The values to print, one per line; empty with a template.
    var names: [String] = []
    var template: ValueTemplate?
    var player: [UInt8]?
  }

  /// The options of `list --format`.
  struct ListOptions: Equatable {
    /// The request for the list.
    var words: [[UInt8]]
    var template: ValueTemplate
  }

  /// The options of `info` and `tags`.
  struct InspectOptions: Equatable {
    var files: [[UInt8]] = []
    /// Whether to print the tags only.
    var tagsOnly = false
    /// The template of a line for each file; nil for the readable form.
    var template: ValueTemplate?
    /// The options for opening the files, in the form of `asset.open`: `precise`, `timeout=5`.
    var words: [[UInt8]] = []

    /// The permitted options for opening the files.
    static func parameters(tagsOnly: Bool) -> [ParameterSpec] {
      // `precise` affects the duration, not the tags.
      AssetOpenCommand.definition.spec.parameters.filter {
        $0.position == .option && !(tagsOnly && $0.name == .precise)
      }
    }
  }

  /// The options of `watch`.
  struct WatchOptions: Equatable {
    var ticks: [[UInt8]] = []
    var times: [[UInt8]] = []
    /// Whether to watch the starts of chapters too.
    var includesChapters = false
    var meters: [[UInt8]] = []
    /// The item that `times` and chapters refer to; nil for every item.
    var item: [UInt8]?
    /// Whether seeks past these times count too.
    var includesSeeks = false
    var keys: [[UInt8]] = []
    var player: [UInt8]?
    /// Whether to print events also on a terminal, instead of the live line.
    var printsLines = false
    /// Whether to wait for an unavailable daemon.
    var reconnects = false
    /// The template of the text that is printed when it changes; nil to print events.
    var template: ValueTemplate?
    /// Whether any events were requested explicitly.
    var selectsEvents: Bool { printsLines || selectsTimes || !keys.isEmpty }
    /// Whether time-based events were requested.
    var selectsTimes: Bool { !ticks.isEmpty || !times.isEmpty || includesChapters || !meters.isEmpty }

    /// The default keys.
    static let defaultKeys = ["player.*", "item.*", "queue.version"].map { Array($0.utf8) }
  }

  var action: Action
  /// The daemon's socket; nil when not specified.
  var socket: String?
  /// The format of the results; nil when not specified.
  var outputFormat: OutputFormat?
  /// Whether to start the daemon if none runs.
  var startsDaemon = false
  /// The player of `--player` before the command; nil when not specified.
  var player: [UInt8]?
  /// The file of `-o`: the client opens it, and the daemon writes it.
  var outputFile: [UInt8]?
  /// How long to wait for the daemon, in seconds; nil to fail without one.
  var daemonWait: Double?
  /// Whether the human-readable form has all fields of a reply.
  var isVerbose = false
  /// Whether requests and results are in JSON.
  var isJSON: Bool { outputFormat == .json }

  /// The reason why the command line is invalid.
  struct Misuse: Error, Equatable {
    var message: String
  }

  /// Parses the arguments after the program name.
  init(parsing arguments: [[UInt8]]) throws(Misuse) {
    action = .usage
    var rest = arguments[...]
    while let argument = rest.first, argument.first == UInt8(ascii: "-"), argument.count > 1 {
      rest.removeFirst()
      if argument == Self.bytes("--") { break }
      if try parseGlobalOption(argument, &rest) { continue }
      switch String(decoding: argument.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self) {
      case "--player":
        player = try Self.values(of: Subcommand.leadingPlayer, in: argument, &rest).last ?? nil
        if player?.isEmpty == true { throw Misuse(message: "--player needs a value") }
      case "--help", "-h": return
      case "--version":
        action = .version
        return
      case let option: throw Misuse(message: "unknown option \(option); see playhead --help")
      }
    }
    guard let word = rest.popFirst() else { throw Misuse(message: "a command is missing; see playhead --help") }
    let command = CommandAlias.resolved(String(decoding: word, as: UTF8.self))
    switch command {
    case "watch": action = try parseWatch(rest)
    case "save": action = try parseSave(rest)
    case "get": action = try parseGet(rest)
    case "record": action = try parseRecord(rest)
    case "info", "tags": action = try parseInspect(command, rest)
    case "shell": action = try parseShell(rest)
    case "add": action = try parseAdd(rest)
    case "completions":
      action = try parseChoice(command, rest) { CompletionScript(rawValue: $0).map { .completions($0) } }
    case "manual": action = try parseChoice(command, rest) { ManualPage(rawValue: $0).map { .manual($0) } }
    case "complete": action = .complete(Array(rest.first == Self.bytes("--") ? rest.dropFirst() : rest))
    case "spool":
      action = try parseChoice(command, rest) { Int($0).flatMap { $0 > 0 ? .spool(capacity: $0) : nil } }
    case "help": action = try parseHelp(rest)
    case _ where CommandAlias.isCommand(command): action = try parseRequest(command, rest)
    default: throw CommandAlias.unknown(command)
    }
  }

  // MARK: - Parts

  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// Reads an option of every command, such as `--socket`. Returns false for any other option.
  mutating func parseGlobalOption(_ option: [UInt8], _ rest: inout ArraySlice<[UInt8]>) throws(Misuse) -> Bool {
    let formats: [(String, OutputFormat)] = [("--json", .json), ("--raw", .raw), ("--human", .human)]
    if let (_, format) = formats.first(where: { option == Self.bytes($0.0) }) {
      guard outputFormat == nil || outputFormat == format else {
        throw Misuse(message: "--json, --raw and --human are mutually exclusive")
      }
      outputFormat = format
      return true
    }
    if option == Self.bytes("--verbose") {
      isVerbose = true
      return true
    }
    if try parseDaemonWait(option) { return true }
    if option == Self.bytes("--autostart") {
      startsDaemon = true
      return true
    }
    let prefix = Self.bytes("--socket=")
    if option.starts(with: prefix) {
      socket = String(decoding: option.dropFirst(prefix.count), as: UTF8.self)
    } else if option == Self.bytes("--socket") {
      guard let path = rest.popFirst() else { throw Misuse(message: "--socket needs a path") }
      socket = String(decoding: path, as: UTF8.self)
    } else {
      return false
    }
    if socket?.isEmpty == true { throw Misuse(message: "--socket needs a path") }
    return true
  }

  /// Parses a request. `--option value`, `--option=value` and `--flag` are equivalent to `option=value` and `flag`.
  /// `-o PATH` is the file that the command writes.
  private mutating func parseRequest(_ command: String, _ rest: ArraySlice<[UInt8]>) throws(Misuse) -> Action {
    let spec = CommandName(rawValue: command).flatMap { CommandTable.spec($0) }
    let parameters = LoadOptions.spec(of: command)?.parameters ?? spec?.parameters ?? []
    var options = parameters.filter { $0.position == .option }.map(Subcommand.Option.init)
    if spec?.acceptsTemplate == true { options.append(Subcommand.templateOption) }
    let found = try separate(rest, of: command, by: options, writesFile: spec?.writesOpenedFile == true)
    guard let found else { return .help(command: command) }
    let words = [Self.bytes(command)] + found.words
    if let options = Subscription.watchOptions(for: spec?.name) {
      throw Misuse(
        message: "\(command) subscribes for one connection, which the client closes; use `playhead watch \(options)`")
    }
    if spec?.name == PlayerCreateCommand.name, words.contains(where: { Self.temporaryWords.contains($0) }) {
      throw Misuse(
        message: "a temporary player closes with its connection, which the client closes; use `playhead shell`")
    }
    if spec?.name == WaitCommand.name { return try parseWait(words) }
    if spec?.name == PlayCommand.name, let request = try Self.rangeRequest(words) { return .request(request) }
    if let template = try found.template() { return try parseFormatted(words, template) }
    return LoadOptions(words).map { .load($0) } ?? .request(words)
  }

  /// The forms of the flag of `player.create` for a temporary player.
  private static let temporaryWords = ["temporary", "temporary=true"].map { bytes($0) }

  /// Parses the arguments of `record`: a file, or `-o` with a file, and options. The options are those of
  /// `record.prepare` and `record.start`, in either form.
  private mutating func parseRecord(_ rest: ArraySlice<[UInt8]>) throws(Misuse) -> Action {
    guard let found = try separate(rest, of: .record, writesFile: true) else { return .help(command: "record") }
    guard !found.elements.isEmpty || outputFile != nil else { throw Misuse(message: "record requires a file name") }
    guard !isJSON else { throw Misuse(message: "record does not support --json; use record.prepare and record.start") }
    return .record(found.words)
  }

  /// The options of `record`.
  static var recordParameters: [ParameterSpec] {
    let specs = [RecordPrepareCommand.definition.spec, RecordStartCommand.definition.spec]
    return specs.flatMap(\.parameters).filter { $0.position == .option }
  }

  private mutating func parseGet(_ rest: ArraySlice<[UInt8]>) throws(Misuse) -> Action {
    guard let found = try separate(rest, of: .get) else { return .help(command: "get") }
    let options = GetOptions(
      names: found.texts, template: try found.template(), player: found.values(of: "player").last)
    guard options.template == nil || options.names.isEmpty else {
      throw Misuse(message: "--format cannot be combined with names")
    }
    try checkForm(with: options.template)
    try Get.check(options.template?.names ?? options.names)
    return .get(options)
  }

  private mutating func parseSave(_ rest: ArraySlice<[UInt8]>) throws(Misuse) -> Action {
    guard let found = try separate(rest, of: .save) else { return .help(command: "save") }
    guard found.operands.count == 1, let file = found.operands.first, !file.isEmpty else {
      throw Misuse(message: "save requires exactly one file name")
    }
    let format = found.values(of: "format").last.map { String(decoding: $0, as: UTF8.self) }
    return .save(
      SaveOptions(
        file: file, format: format, player: found.values(of: "player").last, replaces: found.has("force")))
  }

  private mutating func parseInspect(_ name: String, _ rest: ArraySlice<[UInt8]>) throws(Misuse) -> Action {
    let command = name == "tags" ? Subcommand.tags : .info
    guard let found = try separate(rest, of: command) else { return .help(command: name) }
    var options = InspectOptions(
      files: found.operands, tagsOnly: name == "tags", template: try found.template(), words: found.optionWords)
    // As in a request: `timeout=5` is an option, and `a=b.flac` is a file.
    func isOption(_ operand: [UInt8]) -> Bool {
      guard let end = operand.firstIndex(of: UInt8(ascii: "=")) else { return false }
      return command.options.contains { $0.isParameter && operand[..<end].elementsEqual($0.name.utf8) }
    }
    let beginning = found.beginning.count
    options.words += options.files[..<beginning].filter(isOption)
    options.files = options.files[..<beginning].filter { !isOption($0) } + options.files[beginning...]
    guard !options.files.isEmpty else { throw Misuse(message: "\(name) requires a file name") }
    try checkForm(with: options.template)
    return .inspect(options)
  }

  private mutating func parseWatch(_ rest: ArraySlice<[UInt8]>) throws(Misuse) -> Action {
    guard let found = try separate(rest, of: .watch) else { return .help(command: "watch") }
    guard found.texts.isEmpty else {
      throw Misuse(message: "watch accepts no argument '\(found.texts[0])'; see playhead watch --help")
    }
    let options = WatchOptions(
      ticks: found.values(of: "tick"), times: found.values(of: "at"), includesChapters: found.has("chapters"),
      meters: found.values(of: "meter"), item: found.values(of: "item").last, includesSeeks: found.has("seeks"),
      keys: found.values(of: "observe"), player: found.values(of: "player").last, printsLines: found.has("lines"),
      reconnects: found.has("reconnect"), template: try found.template())
    if options.times.isEmpty, !options.includesChapters, options.includesSeeks || options.item != nil {
      throw Misuse(message: "--item and --seeks require --at or --chapters; see playhead watch --help")
    }
    if let template = options.template {
      guard !options.printsLines, options.times.isEmpty, !options.includesChapters, options.meters.isEmpty,
        options.keys.isEmpty
      else { throw Misuse(message: "--format can be combined only with --tick, --player and --reconnect") }
      try checkForm(with: template)
      try Get.check(template.names)
    }
    return .watch(options)
  }
}
