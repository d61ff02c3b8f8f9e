import PlayheadMediaCore

/// A parsed value. The case corresponds to the kind of the parameter.
enum ArgumentValue: Sendable, Hashable {
  case expression(TimeExpression)
  case time(MediaTime)
  case integer(Int)
  case entry(EntryReference)
  case number(Double)
  case volume(VolumeSetting)
  /// A word, a toggle, a text or a name.
  case text(String)
  case flag(Bool)
  case path(FilePath)
  case command(CommandName)
  case requestID(RequestID)
  case condition(WaitCondition)
  case moment(RequestedMoment)
  case track(TrackChoice)
  case range(TimeRange)
  case selection(TrackSelection)
}

/// A command's parsed arguments: checked and typed values.
///
/// The values of a parameter that accepts several remain bytes (`WireList`). The accessors return nil for values that
/// were not given.
///
/// Parsing ensures that required values exist. Reading a value with the wrong type is a programming error in the
/// command table, which its tests detect.
package struct ParsedArguments: Sendable, Hashable {
  /// The command that the arguments belong to.
  private(set) var spec: CommandSpec
  /// Whether the command is part of a `queue.edit`.
  private(set) var isPartOfEdit = false
  /// The values in the order of the request, each with the index of its parameter.
  private var values: [(index: Int, value: ArgumentValue)] = []
  /// The values of the parameter that takes several. No command has more than one such parameter.
  private var list = PackedValues()
  /// Whether a path of the list has the file name extension of a playlist.
  private(set) var hasNamedPlaylist = false
  /// The observed keys, which are collected here and not in `list`.
  private var keySet = ObservableKey.KeySet()
  /// The number of counted values in the list or the key set.
  private var listCount = 0
  /// One bit for each parameter that has a value. No command has more than 64 parameters.
  private var given: UInt64 = 0

  /// The name of the command.
  package var name: CommandName { spec.name }

  init(spec: CommandSpec) { self.spec = spec }

  /// Removes all values and starts with another command. Reuses the memory.
  mutating func reset(_ spec: CommandSpec, isPartOfEdit: Bool) {
    self.spec = spec
    self.isPartOfEdit = isPartOfEdit
    values.removeAll(keepingCapacity: true)
    list.removeAll()
    hasNamedPlaylist = false
    keySet = ObservableKey.KeySet()
    listCount = 0
    given = 0
  }

  /// Counts the next value of the list at `index`.
  ///
  /// Paths, entries, times and edits have separate limits. More player names than players are an error in any case.
  ///
  /// - Throws: `bad-arguments` for a value of another kind beyond `limit`, before the value is read.
  mutating func countListValue(at index: Int, limit: Int) throws(MediaError) {
    switch spec.parameters[index].kind {
    case .path, .localPath, .outputPath, .entry, .time, .edit, .playerName: return
    default: listCount += 1
    }
    if listCount > limit {
      throw failure("\(spec.parameters[index].name.rawValue) must have at most \(limit) values")
    }
  }

  /// Adds a value to the parameter at `index`.
  ///
  /// - Throws: `bad-arguments` for a second value of a parameter that is not a list.
  mutating func add(_ value: ArgumentValue, at index: Int) throws(MediaError) {
    if has(index) { throw failure("\(spec.parameters[index].name.rawValue) is given twice") }
    given |= 1 << UInt64(index)
    if values.isEmpty { values.reserveCapacity(min(spec.parameters.count, 4)) }
    values.append((index, value))
  }

  /// Marks the list at `index` as given and passes it to `body`.
  ///
  /// - Parameter lineByteCount: The number of bytes left in the line, which limits the size of the list.
  mutating func addToList(
    at index: Int, lineByteCount: Int, _ body: (inout PackedValues) throws(MediaError) -> Void
  ) throws(MediaError) {
    if !has(index) { list.reserve(lineByteCount: lineByteCount) }
    given |= 1 << UInt64(index)
    try body(&list)
  }

  /// Adds a path to the list at `index`, as `addToList` does.
  ///
  /// - Throws: The errors of ``FilePath/init(text:)``.
  mutating func addPath(_ text: ArraySlice<UInt8>, at index: Int, lineByteCount: Int) throws(MediaError) {
    var isPlaylist = false
    try addToList(at: index, lineByteCount: lineByteCount) { list throws(MediaError) in
      let byteCount = try FilePath.pack(text, into: &list)
      isPlaylist = FilePath.isNamedAsPlaylist(list.bytes.suffix(byteCount))
    }
    if isPlaylist { hasNamedPlaylist = true }
  }

  /// The bytes of the last value of the list.
  var lastOfList: ArraySlice<UInt8> {
    var (offset, last) = (0, 0..<0)
    while let range = list.next(at: &offset) { last = range }
    return list.bytes[last]
  }

  /// Adds observed keys to the parameter at `index`.
  mutating func add(_ keys: ObservableKey.KeySet, at index: Int) {
    given |= 1 << UInt64(index)
    keySet.formUnion(keys)
  }

  /// Whether the parameter at `index` has a value.
  func has(_ index: Int) -> Bool { given & 1 << UInt64(index) != 0 }

  /// Checks that all required parameters have a value.
  func checkComplete() throws(MediaError) {
    for (index, parameter) in spec.parameters.enumerated() where !has(index) {
      guard parameter.position == .required || parameter.position == .list else { continue }
      throw failure("\(parameter.name.rawValue) is missing: it must be \(parameter.kind.accepted)")
    }
  }

  /// A `bad-arguments` error of this command.
  func failure(_ message: String) -> MediaError {
    MediaError(.badArguments, "\(message) (\(spec.shortSynopsis))", operation: spec.name.rawValue)
  }

  /// The error for a file name from which no format can be derived. `fileExtension` is the part after the last dot of
  /// the path, or the whole path.
  func unknownExtension(_ fileExtension: String?) -> MediaError {
    failure(
      fileExtension.map { "unknown file name extension \(Excerpt.quoted($0)); specify format" }
        ?? "the file name has no extension; specify format")
  }

  /// Checks that a range is not empty. Without an end it extends to the end of the item.
  ///
  /// - Throws: `bad-arguments`.
  func checkRange(start: MediaTime, end: MediaTime?) throws(MediaError) {
    guard let end, end <= start else { return }
    throw failure("end must be after start \(NumberText.seconds(start)) (got \(NumberText.seconds(end)))")
  }

  // MARK: - Comparing

  /// Whether both have the same values for the same command, in any order of the parameters.
  package static func == (left: ParsedArguments, right: ParsedArguments) -> Bool {
    left.spec === right.spec && left.given == right.given && left.keySet == right.keySet
      && left.list.bytes == right.list.bytes
      && left.values.allSatisfy { value in right.value(at: value.index) == value.value }
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(spec.name)
    hasher.combine(given)
  }

  // MARK: - Reading

  /// The value of the parameter at `index`. Nil if it is not given, and for a list.
  func value(at index: Int) -> ArgumentValue? {
    guard has(index) else { return nil }
    return values.first { $0.index == index }?.value
  }

  private func index(_ name: ParameterName) -> Int {
    for index in spec.parameters.indices where spec.parameters[index].name == name { return index }
    preconditionFailure("the command table's \(spec.name.rawValue) has no parameter \(name.rawValue)")
  }

  private func mismatch(_ name: ParameterName) -> Never {
    preconditionFailure("the command table's \(spec.name.rawValue) reads \(name.rawValue) as another kind")
  }

  private func first<Value>(_ name: ParameterName, _ read: (ArgumentValue) -> Value?) -> Value? {
    guard let value = value(at: index(name)) else { return nil }
    guard let result = read(value) else { mismatch(name) }
    return result
  }

  /// Unwraps a required value.
  func required<Value>(_ name: ParameterName, _ value: Value?) throws(MediaError) -> Value {
    guard let value else { throw failure("\(name.rawValue) is missing") }
    return value
  }

  func time(_ name: ParameterName) -> MediaTime? {
    first(name) { if case .time(let value) = $0 { value } else { nil } }
  }

  /// The values of the parameter that takes several.
  func list<Element>(_ name: ParameterName, of type: Element.Type = Element.self) -> WireList<Element> {
    guard spec.parameters[index(name)].position.isVariadic else { mismatch(name) }
    return WireList(list)
  }

  /// The values of the parameter that takes several.
  func listedValues<Element>() -> WireList<Element> { WireList(list) }

  /// Whether the bytes of any value in the list satisfy `predicate`.
  func listContains(_ predicate: (ArraySlice<UInt8>) -> Bool) -> Bool {
    var offset = 0
    while let range = list.next(at: &offset) { if predicate(list.bytes[range]) { return true } }
    return false
  }

  func integer(_ name: ParameterName) -> Int? {
    first(name) { if case .integer(let value) = $0 { value } else { nil } }
  }

  func entry(_ name: ParameterName) -> EntryReference? {
    first(name) { if case .entry(let value) = $0 { value } else { nil } }
  }

  /// The entry of a command about one entry. Default: the current one.
  var entry: EntryReference { entry(.id) ?? .current }

  func text(_ name: ParameterName) -> String? {
    first(name) { if case .text(let value) = $0 { value } else { nil } }
  }

  /// The comma-separated elements of a text. Empty when the parameter is not given.
  func elements(_ name: ParameterName) -> WireList<String> {
    guard let text = text(name) else { return [] }
    var values = PackedValues()
    values.reserve(lineByteCount: text.utf8.count)
    forEachElement(of: text) { values.append($0) }
    return WireList(values)
  }

  /// Calls `body` with the bytes of each comma-separated element of a text.
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

  /// The value of a boolean. Nil when the parameter is not given.
  func boolean(_ name: ParameterName) -> Bool? {
    first(name) { if case .flag(let value) = $0 { value } else { nil } }
  }

  func path(_ name: ParameterName) -> FilePath? {
    first(name) { if case .path(let value) = $0 { value } else { nil } }
  }

  /// Whether the parameter has a value. False if the command has no such parameter.
  func isGiven(_ name: ParameterName) -> Bool {
    spec.parameters.firstIndex { $0.name == name }.map { has($0) } ?? false
  }

  /// Whether the request only reads: the command reads when it has no value, and the request has only parameters that
  /// select the object.
  var isReadWithoutValue: Bool {
    spec.readsWithoutValue
      && !spec.parameters.indices.contains { has($0) && !Self.selectors.contains(spec.parameters[$0].name) }
  }

  private static let selectors: Set<ParameterName> = [.id, .player, .group]

  /// The keys that match any of the patterns, in the order of the table, without duplicates.
  var keys: [ObservableKey] { keySet.keys }

  /// The player. Default: `main`.
  var player: String { text(.player) ?? Self.mainPlayer }

  /// The player that exists from startup.
  static let mainPlayer = "main"
}

extension MediaTime: WireListElement {
  package static func unpacked(_ bytes: ArraySlice<UInt8>) -> MediaTime {
    guard case .time(let value) = ArgumentReader.validated(bytes, .time) else { preconditionFailure("not a time") }
    return value
  }
}

extension WaitCondition: WireListElement {
  package static func unpacked(_ bytes: ArraySlice<UInt8>) -> WaitCondition {
    guard case .condition(let value) = ArgumentReader.validated(bytes, .condition) else {
      preconditionFailure("not a condition")
    }
    return value
  }
}
