import PlayheadMediaCore

/// The parameters of a command: one property of type ``Parameter`` for each.
package protocol ParameterList: Sendable {
  /// Declares the parameters in the order of the text form.
  init(_ list: inout ParameterListBuilder)
}

/// The parameters of a command that has none.
package struct NoParameters: ParameterList {
  package init(_: inout ParameterListBuilder) {}
}

/// One parameter of a command. It reads its value from parsed arguments.
package struct Parameter<Value: Sendable>: Sendable {
  /// The index among the parameters of the command.
  let index: Int
  private let read: @Sendable (ParsedArguments, Int) -> Value

  fileprivate init(_ index: Int, _ read: @escaping @Sendable (ParsedArguments, Int) -> Value) {
    self.index = index
    self.read = read
  }

  /// Creates a value that consists of the values of several parameters, of which `first` is the first one.
  init(
    startingWith first: Parameter<some Sendable>, _ read: @escaping @Sendable (ParsedArguments) -> Value
  ) {
    self.init(first.index) { arguments, _ in read(arguments) }
  }

  func value(in arguments: ParsedArguments) -> Value { read(arguments, index) }
}

/// Collects the parameters of a command. The positional ones come first.
package struct ParameterListBuilder {
  private(set) var specs: [ParameterSpec] = []

  /// Adds a required positional parameter.
  mutating func required<Value>(
    _ name: ParameterName, _ type: ArgumentType<Value>, _ placeholder: String, _ summary: String
  ) -> Parameter<Value> {
    add(name, type.kind, .required, placeholder, summary) { arguments, index in
      guard let value = type.value(at: index, of: arguments) else {
        preconditionFailure("the parser accepted a request without its required \(name.rawValue)")
      }
      return value
    }
  }

  /// Adds an optional positional parameter.
  mutating func optional<Value>(
    _ name: ParameterName, _ type: ArgumentType<Value>, _ placeholder: String, _ summary: String
  ) -> Parameter<Value?> {
    add(name, type.kind, .optional, placeholder, summary) { type.value(at: $1, of: $0) }
  }

  /// Adds an optional positional parameter with a default.
  mutating func optional<Value>(
    _ name: ParameterName, _ type: ArgumentType<Value>, _ placeholder: String, default value: Value, _ summary: String
  ) -> Parameter<Value> {
    add(name, type.kind, .optional, placeholder, summary) { type.value(at: $1, of: $0) ?? value }
  }

  /// Adds the positional parameter that takes one or more values. It is the last positional one.
  mutating func list<Element>(
    _ name: ParameterName, _ type: ArgumentType<Element>, _ placeholder: String, _ summary: String
  ) -> Parameter<WireList<Element>> {
    add(name, type.kind, .list, placeholder, summary) { arguments, _ in arguments.listedValues() }
  }

  /// Adds the positional parameter that takes any number of values. It is the last positional one.
  mutating func optionalList<Element>(
    _ name: ParameterName, _ type: ArgumentType<Element>, _ placeholder: String, _ summary: String
  ) -> Parameter<WireList<Element>> {
    add(name, type.kind, .optionalList, placeholder, summary) { arguments, _ in arguments.listedValues() }
  }

  /// Adds the options for requests of URLs.
  mutating func network() -> Parameter<NetworkOptions> {
    specs += CommandTable.network
    let count = CommandTable.network.count
    // Most requests have none of the options.
    return Parameter(specs.count - count) { arguments, first in
      (first..<first + count).contains(where: arguments.has) ? arguments.network : NetworkOptions()
    }
  }

  /// Adds the positional parameter that takes observable keys or patterns, `.list` or `.optionalList`.
  mutating func keys(_ position: ParameterSpec.Position, _ summary: String) -> Parameter<[ObservableKey]> {
    add(.keys, .key, position, "KEY", summary) { arguments, _ in arguments.keys }
  }

  /// Adds an option: `name=value` in the text form.
  mutating func option<Value>(
    _ name: ParameterName, _ type: ArgumentType<Value>, _ placeholder: String, _ summary: String
  ) -> Parameter<Value?> {
    add(name, type.kind, .option, placeholder, summary) { type.value(at: $1, of: $0) }
  }

  /// Adds an option with a default.
  mutating func option<Value>(
    _ name: ParameterName, _ type: ArgumentType<Value>, _ placeholder: String, default value: Value, _ summary: String
  ) -> Parameter<Value> {
    add(name, type.kind, .option, placeholder, summary) { type.value(at: $1, of: $0) ?? value }
  }

  /// Adds the option with the version that the queue must have. Default: any.
  mutating func ifVersion() -> Parameter<Int?> {
    let spec = CommandTable.ifVersion
    return option(spec.name, .integer(0...Int.max), spec.placeholder, spec.summary)
  }

  /// Adds a flag: its name, or `name=false`, in the text form. Default: false.
  mutating func flag(_ name: ParameterName, _ summary: String) -> Parameter<Bool> {
    let type = ArgumentType.flag
    return add(name, type.kind, .option, name.rawValue, summary) { type.value(at: $1, of: $0) ?? false }
  }

  /// Adds the option that selects the player. Default: `main`.
  mutating func player() -> Parameter<String> {
    let spec = CommandTable.player
    let type = ArgumentType.playerName
    return add(spec.name, type.kind, spec.position, spec.placeholder, spec.summary) {
      type.value(at: $1, of: $0) ?? ParsedArguments.mainPlayer
    }
  }

  /// Adds the option that selects one player or all players. Default: `main`.
  mutating func playerOrAll() -> Parameter<PlayerSelection> {
    let spec = CommandTable.playerOrAll
    let type = ArgumentType.playerOrAll
    return add(spec.name, type.kind, spec.position, spec.placeholder, spec.summary) {
      type.value(at: $1, of: $0) ?? .one(ParsedArguments.mainPlayer)
    }
  }

  private mutating func add<Value>(
    _ name: ParameterName, _ kind: ParameterSpec.Kind, _ position: ParameterSpec.Position, _ placeholder: String,
    _ summary: String, _ read: @escaping @Sendable (ParsedArguments, Int) -> Value
  ) -> Parameter<Value> {
    specs.append(ParameterSpec(name, kind, position, placeholder, summary))
    return Parameter(specs.count - 1, read)
  }
}

/// The values that a parameter accepts, and their type in Swift.
struct ArgumentType<Value: Sendable>: Sendable {
  let kind: ParameterSpec.Kind
  private let convert: @Sendable (ArgumentValue) -> Value?

  /// Creates the type. `convert` returns nil only for values of another kind.
  fileprivate init(_ kind: ParameterSpec.Kind, _ convert: @escaping @Sendable (ArgumentValue) -> Value?) {
    self.kind = kind
    self.convert = convert
  }

  fileprivate func value(at index: Int, of arguments: ParsedArguments) -> Value? {
    arguments.value(at: index).map { argument in
      guard let value = convert(argument) else { preconditionFailure("the parser read a value of another kind") }
      return value
    }
  }
}

extension ArgumentType<Int> {
  static func integer(_ range: ClosedRange<Int>) -> Self { Self(.integer(range)) { $0.integer } }
}

extension ArgumentType<EntryReference> {
  /// An entry of the queue.
  static var entry: Self { Self(.entry) { $0.entry } }
}

extension ArgumentType<CommandName> {
  static var commandName: Self { Self(.commandName) { $0.command } }
}

extension ArgumentType<RequestID> {
  static var requestID: Self { Self(.requestID) { $0.requestID } }
}

extension ArgumentType<MediaTime> {
  /// A time of at least 0 in an item.
  static var time: Self { Self(.time) { $0.time } }
  /// A time, or `none`, which is an invalid time.
  static var timeOrNone: Self { Self(.timeOrNone, \.time) }
  /// A duration in seconds of at least 0.
  static var duration: Self { Self(.duration(positive: false), \.time) }
  /// A duration in seconds, greater than 0.
  static var positiveDuration: Self { Self(.duration(positive: true), \.time) }
}

extension ArgumentType<TimeExpression> {
  /// Any form of time in an item.
  static var timeExpression: Self { Self(.timeExpression) { $0.expression } }
}

extension ArgumentType<VolumeSetting> {
  static var volume: Self { Self(.volume) { $0.volume } }
}

extension ArgumentType<SwitchSetting> {
  /// `on`, `off` or `toggle`. In JSON also a boolean.
  static var toggle: Self { Self(.toggle) { $0.text.flatMap(SwitchSetting.init) } }
}

extension ArgumentType<PlayerSelection> {
  /// The name of a player, or `*`.
  static var playerOrAll: Self { Self(.playerNameOrAll) { $0.text.map(PlayerSelection.init) } }
}

extension ArgumentType<WaitCondition> {
  static var condition: Self { Self(.condition) { $0.condition } }
}

extension ArgumentType<RequestedMoment> {
  /// Now, a time from now, or a time of the monotonic clock.
  static var startTime: Self { Self(.startTime) { $0.moment } }
  /// Now, a time from now, a time of the monotonic clock, or a date.
  static var startDate: Self { Self(.startDate) { $0.moment } }
  /// Now, a time from now, a time of the monotonic clock, a date, or a frame of the output.
  static var startMoment: Self { Self(.startMoment) { $0.moment } }
}

extension ArgumentType<TrackChoice> {
  /// The number of a track, a language, `none` or `auto`.
  static var track: Self { Self(.track) { $0.track } }
}

extension ArgumentType<TimeRange> {
  /// A range of times in an item. Its end is infinite if it has none.
  static var range: Self { Self(.range) { $0.range } }
}

extension ArgumentType<TrackSelection> {
  /// A track for each group.
  static var selection: Self { Self(.selection) { $0.selection } }
}

extension ArgumentType<Double> {
  static func number(_ range: ClosedRange<Double>) -> Self { Self(.number(range, exceptZero: false)) { $0.number } }
  static func numberExceptZero(_ range: ClosedRange<Double>) -> Self {
    Self(.number(range, exceptZero: true)) { $0.number }
  }
}

extension ArgumentType<MediaTime> {
  /// A duration of at least 0, or `inf`.
  static var tolerance: Self { Self(.tolerance, \.time) }
}

extension ArgumentType<FilePath> {
  /// The path or URL of a file.
  static var path: Self { Self(.path) { $0.path } }
  /// The path of a file or folder.
  static var localPath: Self { Self(.localPath) { $0.path } }
  /// The path of a file to write, or the descriptor of one that the client has opened.
  static var outputPath: Self { Self(.outputPath) { $0.path } }
}

extension ArgumentType<Bool> {
  /// `on` or `off`. In JSON also a boolean.
  static var onOff: Self { Self(.onOff) { $0.text.map { $0 == "on" } } }
  /// `true` or `false`.
  static var boolean: Self { Self(.boolean) { $0.flag } }
  /// The word `true` or `false`. In JSON also a boolean.
  static var booleanWord: Self { Self(.word(["true", "false"])) { $0.text.map { $0 == "true" } } }
}

extension ArgumentType<RequestedEdit> {
  /// A command that edits the queue. Only in a list.
  static var edit: Self { Self(.edit) { _ in nil } }
}

extension ArgumentType<Bool> {
  fileprivate static var flag: Self { Self(.flag) { $0.flag } }
}

extension ArgumentType<String> {
  /// A text of at most `maximumByteCount` bytes.
  static func text(maximumByteCount: Int) -> Self { Self(.text(maximumByteCount: maximumByteCount)) { $0.text } }
  /// One of these words.
  static func word(_ words: [String]) -> Self { Self(.word(words)) { $0.text } }
  /// The name of a player.
  static var playerName: Self { Self(.playerName) { $0.text } }
}

extension ArgumentType<[String]> {
  /// Texts of at most `maximumByteCount` bytes in all, separated by commas. In JSON also an array. By default, empty
  /// texts are left out.
  static func texts(maximumByteCount: Int, omittingEmpty: Bool = true) -> Self {
    Self(.texts(maximumByteCount: maximumByteCount, separator: .comma)) {
      $0.text?.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: omittingEmpty).map {
        String(Substring($0))
      }
    }
  }
}

extension ArgumentType where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  /// One of the words of an enumeration.
  static var word: Self {
    Self(.word(Value.allCases.map(\.rawValue))) { $0.text.flatMap(Value.init) }
  }
}

extension ArgumentValue {
  fileprivate var integer: Int? { if case .integer(let value) = self { value } else { nil } }
  fileprivate var entry: EntryReference? { if case .entry(let value) = self { value } else { nil } }
  fileprivate var command: CommandName? { if case .command(let value) = self { value } else { nil } }
  fileprivate var requestID: RequestID? { if case .requestID(let value) = self { value } else { nil } }
  fileprivate var flag: Bool? { if case .flag(let value) = self { value } else { nil } }
  fileprivate var expression: TimeExpression? { if case .expression(let value) = self { value } else { nil } }
  fileprivate var volume: VolumeSetting? { if case .volume(let value) = self { value } else { nil } }
  fileprivate var time: MediaTime? { if case .time(let value) = self { value } else { nil } }
  fileprivate var number: Double? { if case .number(let value) = self { value } else { nil } }
  fileprivate var moment: RequestedMoment? { if case .moment(let value) = self { value } else { nil } }
  fileprivate var path: FilePath? { if case .path(let value) = self { value } else { nil } }
  fileprivate var condition: WaitCondition? { if case .condition(let value) = self { value } else { nil } }
  fileprivate var track: TrackChoice? { if case .track(let value) = self { value } else { nil } }
  fileprivate var range: TimeRange? { if case .range(let value) = self { value } else { nil } }
  fileprivate var selection: TrackSelection? { if case .selection(let value) = self { value } else { nil } }
  fileprivate var text: String? { if case .text(let value) = self { value } else { nil } }
}
