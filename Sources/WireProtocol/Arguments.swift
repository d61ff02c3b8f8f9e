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
  case requestID(RequestID)
  case condition(WaitCondition)
  case moment(PlayersCommand.StartMoment)
  case track(ItemCommand.TrackChoice)
}

/// A command's arguments after binding: every value checked and typed, in the order of the parameters.
///
/// Of a parameter that takes several the values stay bytes (`WireList`). The accessors answer nil for what was not given. Required values cannot be missing after binding; asking for a value by a
/// type that its kind does not have is a mistake in the command table, which its tests find.
struct Arguments: Sendable {
  /// The command that they are for.
  private(set) var spec: CommandSpec
  /// They are those of a command within `queue.edit`.
  private(set) var isPartOfEdit = false
  /// The values in the order in which they came, each with its parameter's index.
  private var values: [(index: Int, value: ArgumentValue)] = []
  /// Those of the parameter that takes several; no command has more than one.
  private var list = PackedValues()
  /// What is observed: such values are put together instead.
  private var choice = ObservableKey.Choice()
  /// The number of values in the list or the choice.
  private var listCount = 0
  /// A bit for each parameter that has a value. No command has more than a handful.
  private var given: UInt64 = 0

  init(spec: CommandSpec) { self.spec = spec }

  /// Begins anew with another command's, in the same memory.
  mutating func reset(_ spec: CommandSpec, isPartOfEdit: Bool) {
    self.spec = spec
    self.isPartOfEdit = isPartOfEdit
    values.removeAll(keepingCapacity: true)
    list.removeAll()
    choice = ObservableKey.Choice()
    listCount = 0
    given = 0
  }

  /// Counts the next value of the list at `index`.
  ///
  /// Paths, entries, times and edits have limits of their own, and player names cannot outnumber the players.
  /// - Throws: `bad-arguments` for a value of another kind beyond `limit`, before the value is read.
  mutating func countListValue(at index: Int, limit: Int) throws(MediaError) {
    switch spec.parameters[index].kind {
    case .path, .localPath, .entry, .time, .edit, .playerName: return
    default: listCount += 1
    }
    if listCount > limit {
      throw failure("\(spec.parameters[index].name.rawValue) takes at most \(limit) values")
    }
  }

  /// Lets go of the values; and of the list's memory, when the command has that now.
  mutating func letGo(ofList: Bool) {
    values.removeAll(keepingCapacity: true)
    if ofList { list = PackedValues() } else { list.removeAll() }
  }

  /// Adds a value to the parameter at `index`. Errors: a second value for what is not a list.
  mutating func add(_ value: ArgumentValue, at index: Int) throws(MediaError) {
    if has(index) { throw failure("\(spec.parameters[index].name.rawValue) is given twice") }
    given |= 1 << UInt64(index)
    values.append((index, value))
  }

  /// Notes that the list at `index` has a value, and gives what it is to be added to. Of the line are so many bytes left.
  mutating func addToList(
    at index: Int, lineByteCount: Int, _ body: (inout PackedValues) throws(MediaError) -> Void
  ) throws(MediaError) {
    if !has(index) { list.reserve(lineByteCount: lineByteCount) }
    given |= 1 << UInt64(index)
    try body(&list)
  }

  /// The bytes of the value that was added to the list last.
  var lastOfList: ArraySlice<UInt8> {
    var (offset, last) = (0, 0..<0)
    while let range = list.next(at: &offset) { last = range }
    return list.bytes[last]
  }

  /// Adds keys to the parameter at `index`.
  mutating func add(_ keys: ObservableKey.Choice, at index: Int) {
    given |= 1 << UInt64(index)
    choice.formUnion(keys)
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

  /// The values of the parameter that takes several.
  func list<Element>(_ name: ParameterName, of type: Element.Type = Element.self) -> WireList<Element> {
    guard spec.parameters[index(name)].place.takesSeveral else { mismatch(name) }
    return WireList(list)
  }

  /// Whether any of the values of the list says so, which gets its bytes.
  func listContains(_ predicate: (ArraySlice<UInt8>) -> Bool) -> Bool {
    var offset = 0
    while let range = list.next(at: &offset) { if predicate(list.bytes[range]) { return true } }
    return false
  }

  /// Those of the list's values that are chosen by their bytes.
  func chosen<Element>(_ predicate: (ArraySlice<UInt8>) -> Bool) -> WireList<Element> {
    var chosen = PackedValues()
    chosen.reserve(lineByteCount: list.bytes.count)
    var offset = 0
    while let range = list.next(at: &offset) { if predicate(list.bytes[range]) { chosen.append(list.bytes[range]) } }
    return WireList(chosen)
  }

  func integer(_ name: ParameterName) -> Int? {
    first(name) { if case .integer(let value) = $0 { value } else { nil } }
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

  func text(_ name: ParameterName) -> String? {
    first(name) { if case .text(let value) = $0 { value } else { nil } }
  }

  /// What stands between the commas of a text; nothing when it is not given.
  func elements(_ name: ParameterName) -> WireList<String> {
    guard let text = text(name) else { return [] }
    var values = PackedValues()
    values.reserve(lineByteCount: text.utf8.count)
    forEachElement(of: text) { values.append($0) }
    return WireList(values)
  }

  /// Gives the bytes of what stands between the commas of a text.
  func forEachElement<Failure>(
    of text: String, _ body: (ArraySlice<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    let bytes = Array(text.utf8)
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: ",")) ?? bytes.endIndex
      if end > start { try body(bytes[start..<end]) }
      start = end + 1
    }
  }

  func flag(_ name: ParameterName) -> Bool {
    first(name) { if case .flag(let value) = $0 { value } else { nil } } ?? false
  }

  /// What a boolean says, when it is given.
  func boolean(_ name: ParameterName) -> Bool? {
    first(name) { if case .flag(let value) = $0 { value } else { nil } }
  }

  func path(_ name: ParameterName) -> FilePath? {
    first(name) { if case .path(let value) = $0 { value } else { nil } }
  }

  func command(_ name: ParameterName) -> CommandName? {
    first(name) { if case .command(let value) = $0 { value } else { nil } }
  }

  func requestID(_ name: ParameterName) -> RequestID? {
    first(name) { if case .requestID(let value) = $0 { value } else { nil } }
  }

  /// What is waited for. Errors: `badArguments` where no time is at least one and at most the other.
  func waitConditions() throws(MediaError) -> WireList<WaitCondition> {
    let conditions = list(.conditions, of: WaitCondition.self)
    var (least, most): (MediaTime?, MediaTime?)
    for condition in conditions {
      switch condition {
      case .timeAtLeast(let time): least = max(least ?? time, time)
      case .timeAtMost(let time): most = min(most ?? time, time)
      default: break
      }
    }
    if let least, let most, least > most {
      throw failure("time>=\(least.decimalDescription) and time<=\(most.decimalDescription) cannot both hold")
    }
    return conditions
  }

  /// Whether the parameter of that name has a value; false where there is no such parameter.
  func isGiven(_ name: ParameterName) -> Bool {
    spec.parameters.firstIndex { $0.name == name }.map { has($0) } ?? false
  }

  /// Whether the command reads when it has no value, and none is given: only what names the object.
  var isQuestion: Bool {
    spec.asks && !spec.parameters.indices.contains { has($0) && !Self.selectors.contains(spec.parameters[$0].name) }
  }

  private static let selectors: Set<ParameterName> = [.id, .player, .group]

  /// The keys that all patterns together name, in the table's order, each once.
  var keys: [ObservableKey] { choice.keys }

  /// The player: `main` unless said.
  var player: String { text(.player) ?? Self.mainPlayer }

  /// The player that is there from the start.
  static let mainPlayer = "main"
}

extension Int: WireListElement {
  public static func unpacked(_ bytes: ArraySlice<UInt8>) -> Int {
    guard case .integer(let value) = ArgumentReader.known(bytes, .entry) else { preconditionFailure("no entry") }
    return value
  }
}

extension MediaTime: WireListElement {
  public static func unpacked(_ bytes: ArraySlice<UInt8>) -> MediaTime {
    guard case .time(let value) = ArgumentReader.known(bytes, .time) else { preconditionFailure("no time") }
    return value
  }
}

extension WaitCondition: WireListElement {
  public static func unpacked(_ bytes: ArraySlice<UInt8>) -> WaitCondition {
    guard case .condition(let value) = ArgumentReader.known(bytes, .condition) else { preconditionFailure("none") }
    return value
  }
}

extension AssetValueKey: WireListElement {
  public static func unpacked(_ bytes: ArraySlice<UInt8>) -> AssetValueKey {
    guard let key = AssetValueKey(rawValue: String(decoding: bytes, as: UTF8.self)) else {
      preconditionFailure("no value of an asset")
    }
    return key
  }
}
