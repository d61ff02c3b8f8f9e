import MediaCore

/// One bound value of a parameter, of the type that its kind says.
enum ArgumentValue: Sendable, Hashable {
  case expression(TimeExpression)
  case time(MediaTime)
  case integer(Int)
  case number(Double)
  /// A word, a toggle or a name.
  case text(String)
  case flag(Bool)
  case path(FilePath)
  case command(CommandName)
  case keys([ObservableKey])
  case condition(WaitCondition)
  case edit(QueueCommand)
  case moment(PlayersCommand.StartMoment)
  case track(ItemCommand.TrackChoice)
}

/// A command's arguments after binding: every value checked and typed, in the order of the parameters.
///
/// The accessors answer nil for what was not given. Required values cannot be missing after binding; asking for a value by a
/// type that its kind does not have is a mistake in the command table, which its tests find.
struct Arguments: Sendable {
  /// The command that they are for.
  let spec: CommandSpec
  /// The values in the order in which they came, each with its parameter's index.
  private var values: [(index: Int, value: ArgumentValue)] = []
  /// A bit for each parameter that has a value. No command has more than a handful.
  private var given: UInt64 = 0

  init(spec: CommandSpec) { self.spec = spec }

  /// Adds a value to the parameter at `index`. Errors: a second value for what is not a list.
  mutating func add(_ value: ArgumentValue, at index: Int) throws(MediaError) {
    if has(index), spec.parameters[index].place != .list {
      throw failure("\(spec.parameters[index].name.rawValue) is given twice")
    }
    given |= 1 << UInt64(index)
    values.append((index, value))
  }

  /// Whether the parameter at `index` has a value.
  func has(_ index: Int) -> Bool { given & 1 << UInt64(index) != 0 }

  /// Checks that everything required is there.
  func checkComplete() throws(MediaError) {
    for (index, parameter) in spec.parameters.enumerated() where !has(index) {
      guard parameter.place == .required || parameter.place == .list else { continue }
      throw failure("\(parameter.name.rawValue) is missing: \(parameter.kind.accepted)")
    }
  }

  /// A `bad-arguments` error of this command.
  func failure(_ message: String) -> MediaError {
    MediaError(.badArguments, "\(message) (\(spec.synopsis))", operation: spec.name.rawValue)
  }

  // MARK: - Reading

  private func index(_ name: ParameterName) -> Int {
    for index in spec.parameters.indices where spec.parameters[index].name == name { return index }
    preconditionFailure("the command table's \(spec.name.rawValue) has no parameter \(name.rawValue)")
  }

  private func all(_ name: ParameterName) -> [ArgumentValue] {
    let wanted = index(name)
    return values.compactMap { $0.index == wanted ? $0.value : nil }
  }

  private func mismatch(_ name: ParameterName) -> Never {
    preconditionFailure("the command table's \(spec.name.rawValue) reads \(name.rawValue) as another kind")
  }

  private func first<Value>(_ name: ParameterName, _ read: (ArgumentValue) -> Value?) -> Value? {
    let wanted = index(name)
    guard has(wanted), let value = values.first(where: { $0.index == wanted })?.value else { return nil }
    guard let result = read(value) else { mismatch(name) }
    return result
  }

  /// A value that binding has made sure of.
  func required<Value>(_ name: ParameterName, _ value: Value?) throws(MediaError) -> Value {
    guard let value else { throw failure("\(name.rawValue) is missing") }
    return value
  }

  func expression(_ name: ParameterName) -> TimeExpression? {
    first(name) { if case .expression(let value) = $0 { value } else { nil } }
  }

  func time(_ name: ParameterName) -> MediaTime? {
    first(name) { if case .time(let value) = $0 { value } else { nil } }
  }

  func times(_ name: ParameterName) -> [MediaTime] {
    all(name).map { if case .time(let value) = $0 { value } else { mismatch(name) } }
  }

  func integer(_ name: ParameterName) -> Int? {
    first(name) { if case .integer(let value) = $0 { value } else { nil } }
  }

  func integers(_ name: ParameterName) -> [Int] {
    all(name).map { if case .integer(let value) = $0 { value } else { mismatch(name) } }
  }

  func number(_ name: ParameterName) -> Double? {
    first(name) { if case .number(let value) = $0 { value } else { nil } }
  }

  func moment(_ name: ParameterName) -> PlayersCommand.StartMoment? {
    first(name) { if case .moment(let value) = $0 { value } else { nil } }
  }

  func track(_ name: ParameterName) -> ItemCommand.TrackChoice? {
    first(name) { if case .track(let value) = $0 { value } else { nil } }
  }

  func texts(_ name: ParameterName) -> [String] {
    all(name).map { if case .text(let value) = $0 { value } else { mismatch(name) } }
  }

  func text(_ name: ParameterName) -> String? {
    first(name) { if case .text(let value) = $0 { value } else { nil } }
  }

  /// What stands between the commas of a text; nothing when it is not given.
  func elements(_ name: ParameterName) -> [String] {
    (text(name) ?? "").split(separator: ",").map(String.init)
  }

  func flag(_ name: ParameterName) -> Bool {
    first(name) { if case .flag(let value) = $0 { value } else { nil } } ?? false
  }

  /// What a boolean says, when it is given.
  func boolean(_ name: ParameterName) -> Bool? {
    first(name) { if case .flag(let value) = $0 { value } else { nil } }
  }

  func paths(_ name: ParameterName) -> [FilePath] {
    all(name).map { if case .path(let value) = $0 { value } else { mismatch(name) } }
  }

  func command(_ name: ParameterName) -> CommandName? {
    first(name) { if case .command(let value) = $0 { value } else { nil } }
  }

  func conditions(_ name: ParameterName) -> [WaitCondition] {
    all(name).map { if case .condition(let value) = $0 { value } else { mismatch(name) } }
  }

  /// What is waited for. Errors: `badArguments` where no time is at least one and at most the other.
  func waitConditions() throws(MediaError) -> [WaitCondition] {
    let conditions = conditions(.conditions)
    let least = conditions.compactMap { if case .timeAtLeast(let time) = $0 { time } else { nil } }.max()
    let most = conditions.compactMap { if case .timeAtMost(let time) = $0 { time } else { nil } }.min()
    if let least, let most, least > most {
      throw failure("time>=\(least.decimalDescription) and time<=\(most.decimalDescription) cannot both hold")
    }
    return conditions
  }

  func edits(_ name: ParameterName) -> [QueueCommand] {
    all(name).map { if case .edit(let value) = $0 { value } else { mismatch(name) } }
  }

  /// Whether the parameter of that name has a value; false where there is no such parameter.
  func isGiven(_ name: ParameterName) -> Bool {
    spec.parameters.firstIndex { $0.name == name }.map { has($0) } ?? false
  }

  /// The keys that all patterns together name, in the table's order, each once.
  func keys(_ name: ParameterName) -> [ObservableKey] {
    let chosen = all(name).reduce(into: Set<ObservableKey>()) { chosen, value in
      if case .keys(let keys) = value { chosen.formUnion(keys) } else { mismatch(name) }
    }
    return ObservableKey.allCases.filter(chosen.contains)
  }

  /// The player: `main` unless said.
  var player: String { text(.player) ?? Self.mainPlayer }

  /// The player that is there from the start.
  static let mainPlayer = "main"
}
