import MediaCore
import WireProtocol

/// What the command line asks for.
struct Invocation: Equatable {
  /// What to do.
  enum Action: Equatable {
    case usage
    case version
    /// Explains all commands, or one.
    case help(command: String?)
    /// Sends one request: the command and its arguments, as bytes, for a path need not be UTF-8.
    case request([[UInt8]])
    case watch(WatchOptions)
    case save(SaveOptions)
    /// What is recorded, as words: a file and options.
    case record([[UInt8]])
    case inspect(InspectOptions)
    case shell
    case add(AddOptions)
    case completions(CompletionScript)
    case manual(ManualPage)
    /// Tells what the last of these words may be.
    case complete([[UInt8]])
  }

  /// How results are printed.
  enum Form: Equatable {
    /// As the daemon says them.
    case words
    case json
    /// For people.
    case human
  }

  /// What `add` adds, and where.
  struct AddOptions: Equatable {
    var paths: [[UInt8]] = []
    var replaces = false
    /// Behind the current entry.
    var isNext = false
    /// Every file, whatever its name.
    var takesAll = false
    /// Lists in place of the files beside them.
    var takesLists = false
    /// Through links that lead outside what was named.
    var follows = false
    var isDryRun = false
    var isVerbose = false
    var player: [UInt8]?
  }

  /// What `save` writes, and where.
  struct SaveOptions: Equatable {
    var file: [UInt8] = []
    /// The kind of list; nil: what the file's name says.
    var form: String?
    var player: [UInt8]?
    /// A file that is there is replaced.
    var replaces = false
  }

  /// Which files `info` and `tags` tell of.
  struct InspectOptions: Equatable {
    var files: [[UInt8]] = []
    /// The tags alone.
    var tagsOnly = false
    /// How they are opened, as `asset.open` has it: `precise`, `timeout=5`.
    var words: [[UInt8]] = []

    /// The options that they may be opened with.
    static func parameters(tagsOnly: Bool) -> [ParameterSpec] {
      // Tags are the same however long a file is.
      (CommandTable.spec(.assetOpen)?.parameters ?? []).filter {
        $0.place == .option && !(tagsOnly && $0.name == .precise)
      }
    }
  }

  /// What `watch` watches.
  struct WatchOptions: Equatable {
    var ticks: [[UInt8]] = []
    var times: [[UInt8]] = []
    /// The starts of chapters, too.
    var chapters = false
    var meters: [[UInt8]] = []
    /// The item that `times` and chapters are of; nil: every one.
    var item: [UInt8]?
    /// Seeks over these, too.
    var includesSeeks = false
    var keys: [[UInt8]] = []
    var player: [UInt8]?
    /// Events even on a terminal.
    var lines = false
    /// A daemon that is not there is waited for.
    var reconnects = false
    /// Whether events were asked for, and which.
    var asksForEvents: Bool { lines || asksForTimes || !keys.isEmpty }
    /// Those that come with the time.
    var asksForTimes: Bool { !ticks.isEmpty || !times.isEmpty || chapters || !meters.isEmpty }

    /// What is watched when nothing is asked for.
    static let defaultKeys = ["player.*", "item.*", "queue.version"].map { Array($0.utf8) }
  }

  var action: Action
  /// Where the daemon listens, if that is said.
  var socket: String?
  /// How results are printed, if that is said.
  var form: Form?
  /// Ask and print in JSON.
  var isJSON: Bool { form == .json }

  /// Why the command line cannot be understood.
  struct Misuse: Error, Equatable {
    var message: String
  }

  /// Reads the arguments behind the program's name.
  init(parsing arguments: [[UInt8]]) throws(Misuse) {
    action = .usage
    var rest = arguments[...]
    while let argument = rest.first, argument.first == UInt8(ascii: "-"), argument.count > 1 {
      rest.removeFirst()
      if argument == Self.bytes("--") { break }
      if try takeGlobal(argument, &rest) { continue }
      switch String(decoding: argument, as: UTF8.self) {
      case "--help", "-h": return
      case "--version":
        action = .version
        return
      case let option: throw Misuse(message: "there is no option \(option); see playhead --help")
      }
    }
    guard let name = rest.popFirst() else { throw Misuse(message: "no command; see playhead --help") }
    switch String(decoding: name, as: UTF8.self) {
    case "watch": action = try watch(rest)
    case "save": action = try save(rest)
    case "record": action = try record(rest)
    case "info", "tags": action = try inspect(String(decoding: name, as: UTF8.self), rest)
    case "shell":
      action = try isHelp(rest) ? .help(command: "shell") : .shell
    case "add": action = try add(rest)
    case "completions": action = try choice(name, rest) { CompletionScript(rawValue: $0).map { .completions($0) } }
    case "manual": action = try choice(name, rest) { ManualPage(rawValue: $0).map { .manual($0) } }
    case "complete": action = .complete(Array(rest.first == Self.bytes("--") ? rest.dropFirst() : rest))
    case "help": action = try help(rest)
    default: action = try request(name, rest)
    }
  }

  // MARK: - Parts

  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// Takes `--socket`, `--json`, `--raw` or `--human`; false for any other option.
  mutating func takeGlobal(_ option: [UInt8], _ rest: inout ArraySlice<[UInt8]>) throws(Misuse) -> Bool {
    let forms: [(String, Form)] = [("--json", .json), ("--raw", .words), ("--human", .human)]
    if let (_, form) = forms.first(where: { option == Self.bytes($0.0) }) {
      guard self.form == nil || self.form == form else {
        throw Misuse(message: "--json, --raw and --human exclude each other")
      }
      self.form = form
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

  private mutating func isHelp(_ rest: ArraySlice<[UInt8]>) throws(Misuse) -> Bool {
    var rest = rest
    while let argument = rest.popFirst() {
      if argument == Self.bytes("--help") || argument == Self.bytes("-h") { return true }
      if try takeGlobal(argument, &rest) { continue }
      throw Misuse(message: "shell takes no arguments")
    }
    return false
  }

  /// A request. `--option value`, `--option=value` and `--flag` are other ways to write `option=value` and `flag`, and `-o PATH` one of
  /// `file=PATH` where the daemon writes a file.
  private mutating func request(_ name: [UInt8], _ arguments: ArraySlice<[UInt8]>) throws(Misuse) -> Action {
    let command = String(decoding: name, as: UTF8.self)
    let spec = CommandName(rawValue: command).flatMap { CommandTable.spec($0) }
    var words = [name]
    var rest = arguments
    while let argument = rest.popFirst() {
      if argument == Self.bytes("-o"), spec?.parameter(.file)?.kind == .localPath {
        guard let value = rest.popFirst() else { throw Misuse(message: "-o needs a path") }
        words.append(Self.bytes("file=") + value)
        continue
      }
      guard argument.starts(with: Self.bytes("--")) || argument == Self.bytes("-h") else {
        words.append(argument)
        continue
      }
      if argument == Self.bytes("--") {
        words.append(argument)
        words += rest
        break
      }
      if argument == Self.bytes("--help") || argument == Self.bytes("-h") { return .help(command: command) }
      if try takeGlobal(argument, &rest) { continue }
      words.append(try Self.option(argument, among: spec?.parameters ?? [], of: command, &rest))
    }
    return .request(words)
  }

  /// `--option value`, `--option=value` or `--flag` as the word `option=value` or `flag`.
  static func option(
    _ argument: [UInt8], among parameters: [ParameterSpec], of command: String, _ rest: inout ArraySlice<[UInt8]>
  ) throws(Misuse) -> [UInt8] {
    let option = argument.dropFirst(2)
    let key = option.prefix { $0 != UInt8(ascii: "=") }
    let parameter = parameters.first { $0.place == .option && key.elementsEqual($0.name.rawValue.utf8) }
    guard let parameter else {
      throw Misuse(
        message: "\(command) has no option --\(String(decoding: key, as: UTF8.self)); see playhead \(command) --help")
    }
    if key.count < option.count || parameter.kind == .flag { return Array(option) }
    guard let value = rest.popFirst() else { throw Misuse(message: "--\(parameter.name.rawValue) needs a value") }
    return Array(option) + Self.bytes("=") + value
  }

  /// A file, and options of `record.prepare` and `record.start` in either way to write them.
  private mutating func record(_ arguments: ArraySlice<[UInt8]>) throws(Misuse) -> Action {
    let parameters = Self.recordParameters
    var words: [[UInt8]] = []
    var rest = arguments
    while let argument = rest.popFirst() {
      guard argument.starts(with: Self.bytes("--")) || argument == Self.bytes("-h") else {
        words.append(argument)
        continue
      }
      if argument == Self.bytes("--") {
        words.append(argument)
        words += rest
        break
      }
      if argument == Self.bytes("--help") || argument == Self.bytes("-h") { return .help(command: "record") }
      if try takeGlobal(argument, &rest) { continue }
      words.append(try Self.option(argument, among: parameters, of: "record", &rest))
    }
    guard !words.isEmpty else { throw Misuse(message: "record takes the name of the file to make") }
    guard !isJSON else { throw Misuse(message: "record shows a recording; record.prepare and its kin have JSON") }
    return .record(words)
  }

  /// The options of `record`.
  static var recordParameters: [ParameterSpec] {
    let specs = [CommandName.recordPrepare, .recordStart].compactMap { CommandTable.spec($0) }
    return specs.flatMap(\.parameters).filter { $0.place == .option }
  }

  private mutating func save(_ arguments: ArraySlice<[UInt8]>) throws(Misuse) -> Action {
    var options = SaveOptions()
    var files: [[UInt8]] = []
    var rest = arguments
    while let argument = rest.popFirst() {
      if try takeGlobal(argument, &rest) { continue }
      guard argument.starts(with: Self.bytes("--")) || argument == Self.bytes("-h") else {
        files.append(argument)
        continue
      }
      let option = String(decoding: argument.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
      func value() throws(Misuse) -> [UInt8] {
        if option.utf8.count < argument.count { return Array(argument.dropFirst(option.utf8.count + 1)) }
        guard let value = rest.popFirst() else { throw Misuse(message: "\(option) needs a value") }
        return value
      }
      switch option {
      case "--":
        files += rest
        rest = []
      case "--force": options.replaces = true
      case "--player": options.player = try value()
      case "--format": options.form = String(decoding: try value(), as: UTF8.self)
      case "--help", "-h": return .help(command: "save")
      default: throw Misuse(message: "save has no option \(option); see playhead save --help")
      }
    }
    guard files.count == 1, let file = files.first, !file.isEmpty else {
      throw Misuse(message: "save takes the name of one file")
    }
    options.file = file
    return .save(options)
  }

  private mutating func inspect(_ name: String, _ arguments: ArraySlice<[UInt8]>) throws(Misuse) -> Action {
    var options = InspectOptions(tagsOnly: name == "tags")
    let parameters = InspectOptions.parameters(tagsOnly: options.tagsOnly)
    // As a request's: `timeout=5` is an option, and `a=b.flac` a file.
    func isOption(_ argument: [UInt8]) -> Bool {
      guard let end = argument.firstIndex(of: UInt8(ascii: "=")) else { return false }
      return parameters.contains { argument[..<end].elementsEqual($0.name.rawValue.utf8) }
    }
    var rest = arguments
    while let argument = rest.popFirst() {
      if try takeGlobal(argument, &rest) { continue }
      guard argument.starts(with: Self.bytes("--")) || argument == Self.bytes("-h") else {
        if isOption(argument) { options.words.append(argument) } else { options.files.append(argument) }
        continue
      }
      switch String(decoding: argument, as: UTF8.self) {
      case "--":
        options.files += rest
        rest = []
      case "--help", "-h": return .help(command: name)
      default: options.words.append(try Self.option(argument, among: parameters, of: name, &rest))
      }
    }
    guard !options.files.isEmpty else { throw Misuse(message: "\(name) takes the names of files") }
    return .inspect(options)
  }

  private mutating func watch(_ arguments: ArraySlice<[UInt8]>) throws(Misuse) -> Action {
    var options = WatchOptions()
    var rest = arguments
    while let argument = rest.popFirst() {
      if try takeGlobal(argument, &rest) { continue }
      // Values go on up to the next option.
      func values() throws(Misuse) -> [[UInt8]] {
        let values = Array(rest.prefix { !$0.starts(with: Self.bytes("--")) })
        rest = rest.dropFirst(values.count)
        guard !values.isEmpty else {
          throw Misuse(message: "\(String(decoding: argument, as: UTF8.self)) needs a value")
        }
        return values
      }
      switch String(decoding: argument, as: UTF8.self) {
      case "--tick": options.ticks += try values()
      case "--at": options.times += try values()
      case "--chapters": options.chapters = true
      case "--meter": options.meters += try values()
      case "--item": options.item = try values().last
      case "--seeks": options.includesSeeks = true
      case "--observe": options.keys += try values()
      case "--player": options.player = try values().last
      case "--lines": options.lines = true
      case "--reconnect": options.reconnects = true
      case "--help", "-h": return .help(command: "watch")
      case let other: throw Misuse(message: "watch has no option \(other); see playhead watch --help")
      }
    }
    if options.times.isEmpty, !options.chapters, options.includesSeeks || options.item != nil {
      throw Misuse(message: "--item and --seeks say more of --at and --chapters; see playhead watch --help")
    }
    return .watch(options)
  }
}
