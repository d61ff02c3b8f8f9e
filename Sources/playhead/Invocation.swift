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
    case inspect(InspectOptions)
    case shell
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
    /// The duration is found out exactly.
    var isPrecise = false
  }

  /// What `watch` watches.
  struct WatchOptions: Equatable {
    var ticks: [[UInt8]] = []
    var times: [[UInt8]] = []
    var meters: [[UInt8]] = []
    /// The item that `times` are of; nil: every one.
    var item: [UInt8]?
    /// Seeks over `times`, too.
    var includesSeeks = false
    var keys: [[UInt8]] = []
    var player: [UInt8]?

    /// What is watched when nothing is asked for.
    static let defaultKeys = ["player.*", "item.*", "queue.version"].map { Array($0.utf8) }
  }

  var action: Action
  /// Where the daemon listens, if that is said.
  var socket: String?
  /// Ask and print in JSON.
  var isJSON = false

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
    case "info", "tags": action = try inspect(String(decoding: name, as: UTF8.self), rest)
    case "shell":
      action = try isHelp(rest) ? .help(command: "shell") : .shell
    case "help":
      guard rest.count <= 1 else { throw Misuse(message: "help takes one command at most") }
      action = .help(command: rest.first.map { String(decoding: $0, as: UTF8.self) })
    default: action = try request(name, rest)
    }
  }

  // MARK: - Parts

  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// Takes `--socket` or `--json`; false for any other option.
  private mutating func takeGlobal(_ option: [UInt8], _ rest: inout ArraySlice<[UInt8]>) throws(Misuse) -> Bool {
    if option == Self.bytes("--json") {
      isJSON = true
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

  /// A request. `--option value`, `--option=value` and `--flag` are other ways to write `option=value` and `flag`.
  private mutating func request(_ name: [UInt8], _ arguments: ArraySlice<[UInt8]>) throws(Misuse) -> Action {
    let command = String(decoding: name, as: UTF8.self)
    let spec = CommandName(rawValue: command).flatMap { CommandTable.spec($0) }
    var words = [name]
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
      if argument == Self.bytes("--help") || argument == Self.bytes("-h") { return .help(command: command) }
      if try takeGlobal(argument, &rest) { continue }
      let option = argument.dropFirst(2)
      let key = option.prefix { $0 != UInt8(ascii: "=") }
      let parameter = spec?.parameters.first {
        $0.place == .option && key.elementsEqual($0.name.rawValue.utf8)
      }
      guard let parameter else {
        throw Misuse(
          message: "\(command) has no option --\(String(decoding: key, as: UTF8.self)); see playhead \(command) --help")
      }
      if key.count < option.count || parameter.kind == .flag {
        words.append(Array(option))
      } else {
        guard let value = rest.popFirst() else { throw Misuse(message: "--\(parameter.name.rawValue) needs a value") }
        words.append(Array(option) + Self.bytes("=") + value)
      }
    }
    return .request(words)
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
    var rest = arguments
    while let argument = rest.popFirst() {
      if try takeGlobal(argument, &rest) { continue }
      guard argument.starts(with: Self.bytes("--")) || argument == Self.bytes("-h") else {
        options.files.append(argument)
        continue
      }
      switch String(decoding: argument, as: UTF8.self) {
      case "--":
        options.files += rest
        rest = []
      case "--precise" where !options.tagsOnly: options.isPrecise = true
      case "--help", "-h": return .help(command: name)
      case let other: throw Misuse(message: "\(name) has no option \(other); see playhead \(name) --help")
      }
    }
    guard !options.files.isEmpty else { throw Misuse(message: "\(name) takes the names of files") }
    guard !isJSON else { throw Misuse(message: "\(name) is for people; asset.open and asset.metadata answer in JSON") }
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
      case "--meter": options.meters += try values()
      case "--item": options.item = try values().last
      case "--seeks": options.includesSeeks = true
      case "--observe": options.keys += try values()
      case "--player": options.player = try values().last
      case "--help", "-h": return .help(command: "watch")
      case let other: throw Misuse(message: "watch has no option \(other); see playhead watch --help")
      }
    }
    if options.times.isEmpty, options.includesSeeks || options.item != nil {
      throw Misuse(message: "--item and --seeks say more of --at; see playhead watch --help")
    }
    if options.ticks.isEmpty, options.times.isEmpty, options.meters.isEmpty, options.keys.isEmpty {
      options.keys = WatchOptions.defaultKeys
    }
    return .watch(options)
  }
}
