import PlayheadMediaCore

/// Parses a line in either form into a request. Each connection has one parser, which reuses its buffers.
///
/// Every line has exactly one result, and no line traps. An invalid line becomes a ``Rejection`` with the destination
/// of the error reply.
package struct RequestParser: Sendable {
  private let limits: WireLimits
  private var lexer = WordsLexer()
  /// The buffers of the last nested command, for reuse.
  private var spareArguments: ParsedArguments?

  package init(limits: WireLimits = .standard) { self.limits = limits }

  /// Parses one line, which contains no LF and does not exceed the limit.
  package mutating func parse(_ line: Span<UInt8>) -> ParsedLine {
    guard let first = Self.firstByte(of: line) else { return .blank }
    lexer.load(line)
    defer { lexer.releaseMemory() }
    return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? parseJSON() : parseWords()
  }

  /// The error for an over-long line. The beginning of the line determines its form and its `@id`, if any.
  package mutating func rejectionOfOverlongLine(beginning: Span<UInt8>) -> Rejection {
    let error = WireError(
      MediaError(.lineTooLong, "a line must have at most \(limits.lineByteCount) bytes; the longer line was discarded"))
    let first = Self.firstByte(of: beginning)
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
      return Rejection(address: ReplyAddress(form: .json, id: .jsonNull), error: error)
    }
    lexer.load(beginning)
    var cursor = WordsLexer.Cursor(lexer.text.indices)
    var address = ReplyAddress.words
    // The beginning may end inside the id.
    if let first = try? lexer.next(&cursor), cursor.index < cursor.end, case .success(let id?) = id(first) {
      address.id = .words(id)
    }
    return Rejection(address: address, error: error)
  }

  /// The first byte that is not white space.
  private static func firstByte(of line: Span<UInt8>) -> UInt8? {
    for index in line.indices where line[index] != UInt8(ascii: " ") && line[index] != UInt8(ascii: "\t") {
      return line[index]
    }
    return nil
  }

  // MARK: - Text form

  private mutating func parseWords() -> ParsedLine {
    var address = ReplyAddress.words
    var command: CommandName?
    do throws(MediaError) {
      // Checked before quoting is undone, which moves bytes. Reported after the id is known.
      let fault = lexer.invalidUTF8
      var cursor = WordsLexer.Cursor(lexer.text.indices)
      var word = try lexer.next(&cursor)
      if let first = word, let id = try id(first).get() {
        address.id = .words(id)
        word = try lexer.next(&cursor)
      }
      if let fault { throw fault }
      guard let word else { throw MediaError(.badArguments, "a command is missing after the id") }
      guard let index = CommandTable.index(named: lexer.text[word.range]) else {
        throw CommandTable.unknownCommand(lexer.string(word))
      }
      let spec = CommandTable.spec(at: index)
      command = spec.name
      var arguments = ParsedArguments(spec: spec)
      try bindWords(&cursor, &arguments)
      try spec.check(arguments)
      return .request(Request(address: address, commandIndex: index, arguments: arguments))
    } catch {
      return .rejected(Rejection(address: address, error: WireError(error, of: command)))
    }
  }

  /// The id if the first word is an unquoted `@...`. An error if the id is invalid.
  private func id(_ word: WordsLexer.Word) -> Result<String?, MediaError> {
    guard word.bareCount > 0, lexer.text[word.range.lowerBound] == UInt8(ascii: "@") else { return .success(nil) }
    let id = lexer.text[word.range].dropFirst()
    guard word.isBare, ASCII.isName(id, maximum: limits.idByteCount) else {
      return .failure(
        MediaError(.badArguments, "an id must be @ and 1 to \(limits.idByteCount) characters of A-Z a-z 0-9 . _ -"))
    }
    return .success(String(decoding: id, as: UTF8.self))
  }

  private mutating func bindWords(_ cursor: inout WordsLexer.Cursor, _ arguments: inout ParsedArguments)
    throws(MediaError)
  {
    let spec = arguments.spec
    var position = 0
    while let word = try lexer.next(&cursor) {
      if let (index, value) = option(word, of: spec) {
        let parameter = spec.parameters[index]
        if let value {
          try arguments.add(
            try ArgumentReader.value(text: lexer.text[value], for: parameter, of: spec), at: index)
        } else {
          try arguments.add(.flag(true), at: index)
        }
        continue
      }
      guard position < spec.parameters.count, spec.parameters[position].position != .option else {
        throw arguments.failure(
          "unexpected word \(Excerpt.quoted(lexer.text[word.range])) at column \(word.column)")
      }
      if spec.parameters[position].position.isVariadic {
        try arguments.countListValue(at: position, limit: limits.patternCount)
        try addToList(word.range, upTo: cursor.end, at: position, &arguments)
      } else {
        try arguments.add(
          try ArgumentReader.value(text: lexer.text[word.range], for: spec.parameters[position], of: spec), at: position
        )
        position += 1
      }
    }
    try arguments.checkComplete()
  }

  /// The option and the range of its value, if the word is one: `key=...` with an unquoted `key=`, or the bare name of
  /// a flag.
  private func option(_ word: WordsLexer.Word, of spec: CommandSpec) -> (index: Int, value: Range<Int>?)? {
    let bare = word.range.lowerBound..<word.range.lowerBound + word.bareCount
    if let equals = bare.first(where: { lexer.text[$0] == UInt8(ascii: "=") }) {
      for index in spec.parameters.indices
      where spec.parameters[index].position == .option
        && lexer.equals(bare.lowerBound..<equals, spec.parameters[index].nameBytes)
      {
        return (index, equals + 1..<word.range.upperBound)
      }
    } else if word.isBare {
      for index in spec.parameters.indices
      where spec.parameters[index].kind == .flag && lexer.equals(word.range, spec.parameters[index].nameBytes) {
        return (index, nil)
      }
    }
    return nil
  }

  // MARK: - Lists

  /// Checks one text of a list and packs it. `end` is the end of the surrounding text.
  private mutating func addToList(
    _ text: Range<Int>, upTo end: Int, at index: Int, _ arguments: inout ParsedArguments
  ) throws(MediaError) {
    let (parameter, spec) = (arguments.spec.parameters[index], arguments.spec)
    let lineByteCount = end - text.lowerBound
    switch parameter.kind {
    case .key:
      do throws(MediaError) { arguments.add(try ObservableKey.matching(lexer.text[text]), at: index) } catch {
        throw MediaError(
          error.code, "\(parameter.name.rawValue): \(error.message)", operation: spec.name.rawValue)
      }
    case .path:
      do throws(MediaError) {
        try arguments.addPath(lexer.text[text], at: index, lineByteCount: lineByteCount)
      } catch {
        throw MediaError(
          error.code, "\(parameter.name.rawValue): \(error.message)", operation: spec.name.rawValue)
      }
    case .edit:
      // Packed first, because reading its words changes the bytes of the text.
      try arguments.addToList(at: index, lineByteCount: lineByteCount) { list in list.append(lexer.text[text]) }
      do throws(MediaError) { try readEdit(words: text, QueueEditReader.check) } catch {
        throw QueueEditReader.located(error, arguments.lastOfList)
      }
    case .playerName:
      guard ASCII.isName(lexer.text[text], maximum: 64) else {
        throw ArgumentReader.invalidValue(Excerpt.quoted(lexer.text[text]), parameter, spec)
      }
      try arguments.addToList(at: index, lineByteCount: lineByteCount) { list in list.append(lexer.text[text]) }
    default:
      if !ArgumentReader.isPlain(lexer.text[text], parameter.kind) {
        _ = try ArgumentReader.value(text: lexer.text[text], for: parameter, of: spec)
      }
      try arguments.addToList(at: index, lineByteCount: lineByteCount) { list in list.append(lexer.text[text]) }
    }
  }

  // MARK: - Nested edits

  /// Parses a command that edits the queue from a separate text.
  mutating func edit(_ text: ArraySlice<UInt8>) throws(MediaError) -> RequestedEdit {
    lexer.load(text.span)
    if text.first == UInt8(ascii: "{") { return try readEdit(json: 0, QueueEditReader.edit) }
    return try readEdit(words: lexer.text.indices, QueueEditReader.edit)
  }

  /// Arguments for a nested command, in the memory of the last one. `recycle` returns their memory.
  private mutating func editArguments(_ spec: CommandSpec) -> ParsedArguments {
    var arguments = spareArguments.take() ?? ParsedArguments(spec: spec)
    arguments.reset(spec, isPartOfEdit: true)
    return arguments
  }

  /// Keeps the memory of a nested command's arguments, without the long buffers.
  private mutating func recycle(_ arguments: inout ParsedArguments) {
    arguments.reset(arguments.spec, isPartOfEdit: true)
    spareArguments = arguments
  }

  /// Parses a nested command in the text form and passes its arguments to `body`. The memory of the arguments is reused
  /// afterwards.
  private mutating func readEdit<Result>(
    words text: Range<Int>, _ body: (ParsedArguments) throws(MediaError) -> Result
  ) throws(MediaError) -> Result {
    var cursor = WordsLexer.Cursor(text)
    guard let word = try lexer.next(&cursor) else {
      throw MediaError(.badArguments, "\(ParameterSpec.Kind.edit.accepted) is missing")
    }
    var arguments = editArguments(try QueueEditReader.spec(named: lexer.text[word.range]))
    defer { recycle(&arguments) }
    try bindWords(&cursor, &arguments)
    return try body(arguments)
  }

  /// The same for JSON: an object with `method` and `params` at `start`.
  private mutating func readEdit<Result>(
    json start: Int, _ body: (ParsedArguments) throws(MediaError) -> Result
  ) throws(MediaError) -> Result {
    var index = start
    var method: Range<Int>?
    var params: Int?
    while let name = JSONSyntax.nextMember(in: &lexer.text, at: &index) {
      if method == nil, lexer.equals(name, "method"), case .string = JSONSyntax.kind(in: lexer.text, at: &index) {
        method = JSONSyntax.unescapeString(in: &lexer.text, at: &index)
        continue
      }
      if params == nil, lexer.equals(name, "params") { params = index }
      _ = JSONSyntax.skipValue(in: lexer.text, at: &index)
    }
    guard let method else { throw QueueEditReader.invalidEdit("an object") }
    do throws(MediaError) {
      var arguments = editArguments(try QueueEditReader.spec(named: lexer.text[method]))
      defer { recycle(&arguments) }
      try bindJSON(params, upTo: index, &arguments)
      return try body(arguments)
    } catch {
      throw QueueEditReader.located(error, lexer.text[method])
    }
  }

  // MARK: - JSON

  private mutating func parseJSON() -> ParsedLine {
    do throws(MediaError) {
      if let fault = lexer.invalidUTF8 { throw fault }
      try JSONSyntax.check(lexer.text, depth: limits.jsonDepth)
    } catch {
      return .rejected(
        Rejection(
          address: ReplyAddress(form: .json, id: .jsonNull), error: WireError(error, jsonCode: WireError.parseError)))
    }
    var index = 0
    guard case .array = JSONSyntax.kind(in: lexer.text, at: &index) else {
      switch parseJSONRequest() {
      case .request(let request): return .request(request)
      case .rejected(let rejection): return .rejected(rejection)
      }
    }
    var count = 0
    while JSONSyntax.nextElement(in: lexer.text, at: &index) {
      _ = JSONSyntax.skipValue(in: lexer.text, at: &index)
      count += 1
    }
    guard count > 0, count <= limits.batchCount else {
      return .rejected(
        invalidRequest(count == 0 ? "an empty batch" : "a batch of more than \(limits.batchCount) requests"))
    }
    return .batch(RequestBatch(lexer.text, count: count, limits: limits))
  }

  /// Parses one member of a batch, whose syntax has been checked.
  mutating func parseMember(_ text: Span<UInt8>) -> ParsedLine.BatchMember {
    lexer.load(text)
    return parseJSONRequest()
  }

  private func invalidRequest(_ problem: String, id: RequestID = .jsonNull) -> Rejection {
    Rejection(
      address: ReplyAddress(form: .json, id: id),
      error: WireError(
        MediaError(.invalidJSON, "not a JSON-RPC 2.0 request: \(problem)"), jsonCode: WireError.invalidRequest))
  }

  /// The members of a JSON-RPC request that the protocol defines: the index of each value, in the order of `names`.
  private struct Frame {
    static let names: [StaticString] = ["jsonrpc", "id", "method", "params"]
    var values: [4 of Int?] = [nil, nil, nil, nil]
    /// The first name that occurs twice.
    var duplicate: Int?
  }

  private mutating func parseJSONRequest() -> ParsedLine.BatchMember {
    var index = 0
    let kind = JSONSyntax.kind(in: lexer.text, at: &index)
    guard case .object = kind else { return .rejected(invalidRequest("\(kind.name), not an object")) }
    var frame = Frame()
    while let name = JSONSyntax.nextMember(in: &lexer.text, at: &index) {
      for position in 0..<4 where lexer.equals(name, Frame.names[position]) {
        if frame.values[position] == nil {
          frame.values[position] = index
        } else {
          frame.duplicate = min(frame.duplicate ?? 4, position)
        }
      }
      _ = JSONSyntax.skipValue(in: lexer.text, at: &index)
    }
    // A request without an id is a notification. An error in its frame still gets a reply with the id null (section 5).
    var id: RequestID?
    if let start = frame.values[1] {
      guard let parsedID = jsonID(at: start) else {
        return .rejected(invalidRequest("id is a string or number of at most \(limits.idByteCount) bytes, or null"))
      }
      id = parsedID
    }
    guard let version = frame.values[0], let text = string(at: version), lexer.equals(text, "2.0") else {
      return .rejected(invalidRequest("jsonrpc is not \"2.0\"", id: id ?? .jsonNull))
    }
    guard let start = frame.values[2], let method = string(at: start) else {
      return .rejected(invalidRequest("method is missing or not a string", id: id ?? .jsonNull))
    }
    if let duplicate = frame.duplicate {
      return .rejected(invalidRequest("\(Frame.names[duplicate]) is given twice", id: id ?? .jsonNull))
    }
    let address = ReplyAddress(form: .json, id: id ?? .none)
    var command: CommandName?
    do throws(MediaError) {
      guard let index = CommandTable.index(named: lexer.text[method]) else {
        throw CommandTable.unknownCommand(lexer.string(method))
      }
      let spec = CommandTable.spec(at: index)
      command = spec.name
      var arguments = ParsedArguments(spec: spec)
      try bindJSON(frame.values[3], upTo: lexer.text.count, &arguments)
      try spec.check(arguments)
      return .request(Request(address: address, commandIndex: index, arguments: arguments))
    } catch {
      return .rejected(Rejection(address: address, error: WireError(error, of: command)))
    }
  }

  /// The text of the string at `start`. Nil for another type.
  private mutating func string(at start: Int) -> Range<Int>? {
    var index = start
    guard case .string = JSONSyntax.kind(in: lexer.text, at: &index) else { return nil }
    return JSONSyntax.unescapeString(in: &lexer.text, at: &index)
  }

  /// The id at `start`. Nil if the value is not a valid id.
  private mutating func jsonID(at start: Int) -> RequestID? {
    var index = start
    switch JSONSyntax.kind(in: lexer.text, at: &index) {
    case .null: return .jsonNull
    case .string:
      let range = JSONSyntax.unescapeString(in: &lexer.text, at: &index)
      return range.count <= limits.idByteCount ? .jsonString(lexer.string(range)) : nil
    case .number:
      let range = JSONSyntax.skipValue(in: lexer.text, at: &index)
      return range.count <= limits.idByteCount ? .jsonNumber(lexer.string(range)) : nil
    default: return nil
    }
  }

  /// Parses the object at `params` to arguments, if there is one. `end` is the end of the surrounding value.
  private mutating func bindJSON(
    _ params: Int?, upTo end: Int, _ arguments: inout ParsedArguments
  ) throws(MediaError) {
    guard var index = params else { return try arguments.checkComplete() }
    let spec = arguments.spec
    switch JSONSyntax.kind(in: lexer.text, at: &index) {
    case .object: break
    case .array where !JSONSyntax.nextElement(in: lexer.text, at: &index): return try arguments.checkComplete()
    default: throw arguments.failure("params must be an object with the names of parameters")
    }
    while let name = JSONSyntax.nextMember(in: &lexer.text, at: &index) {
      guard let position = spec.parameters.indices.first(where: { lexer.equals(name, spec.parameters[$0].nameBytes) })
      else {
        throw arguments.failure("unknown parameter \(Excerpt.quoted(lexer.text[name]))")
      }
      if arguments.has(position) {
        throw arguments.failure("\(spec.parameters[position].name.rawValue) is given twice")
      }
      let parameter = spec.parameters[position]
      if case .null = JSONSyntax.kind(in: lexer.text, at: &index) {
        _ = JSONSyntax.skipValue(in: lexer.text, at: &index)
        if let value = ArgumentReader.null(parameter.kind) { try arguments.add(value, at: position) }
        continue
      }
      // A list may be a single value. Of the other parameters only those with several texts may be an array.
      if parameter.position.isVariadic {
        guard case .array = JSONSyntax.kind(in: lexer.text, at: &index) else {
          try addToList(json: &index, upTo: end, at: position, &arguments)
          continue
        }
        while JSONSyntax.nextElement(in: lexer.text, at: &index) {
          try arguments.countListValue(at: position, limit: limits.patternCount)
          try addToList(json: &index, upTo: end, at: position, &arguments)
        }
      } else {
        let value = jsonArgument(at: &index)
        if case .texts(_, let separator) = parameter.kind, case .array = value.kind {
          let text = try joined(value.range.lowerBound, separator, parameter, arguments)
          try arguments.add(try ArgumentReader.value(text: text[...], for: parameter, of: spec), at: position)
        } else if case .object = value.kind, parameter.kind == .range || parameter.kind == .selection {
          try arguments.add(try object(value.range, parameter, spec), at: position)
        } else {
          try arguments.add(
            try ArgumentReader.value(json: value.argument(in: lexer.text), for: parameter, of: spec), at: position)
        }
      }
    }
    try arguments.checkComplete()
  }

  /// A value and the range of its text.
  private struct JSONLocation {
    var kind: JSONSyntax.Kind
    var range: Range<Int>

    func argument(in text: [UInt8]) -> ArgumentReader.JSONArgument {
      switch kind {
      case .string: .string(text[range])
      case .number: .number(text[range])
      case .bool(let value): .bool(value)
      case .null: .null
      case .array, .object: .other(kind.name)
      }
    }
  }

  /// The value at `index`. Advances `index` past it.
  private mutating func jsonArgument(at index: inout Int) -> JSONLocation {
    let kind = JSONSyntax.kind(in: lexer.text, at: &index)
    if case .string = kind {
      return JSONLocation(kind: kind, range: JSONSyntax.unescapeString(in: &lexer.text, at: &index))
    }
    return JSONLocation(kind: kind, range: JSONSyntax.skipValue(in: lexer.text, at: &index))
  }

  /// The texts of the array at `start`, joined with the separator.
  ///
  /// - Throws: `bad-arguments` for an element that is not a string or contains the separator.
  private mutating func joined(
    _ start: Int, _ separator: ParameterSpec.Kind.TextSeparator, _ parameter: ParameterSpec,
    _ arguments: ParsedArguments
  ) throws(MediaError) -> [UInt8] {
    var index = start
    var text: [UInt8] = []
    while JSONSyntax.nextElement(in: lexer.text, at: &index) {
      let element = jsonArgument(at: &index)
      guard case .string = element.kind, !lexer.text[element.range].contains(separator.rawValue) else {
        throw arguments.failure("\(parameter.name.rawValue) must be an array of texts without \(separator.plural)")
      }
      if !text.isEmpty { text.append(separator.rawValue) }
      text.append(contentsOf: lexer.text[element.range])
    }
    return text
  }

  /// The value of a parameter from an object.
  ///
  /// - Throws: `bad-arguments` with the object as it was written.
  private mutating func object(
    _ range: Range<Int>, _ parameter: ParameterSpec, _ spec: CommandSpec
  ) throws(MediaError) -> ArgumentValue {
    // Reading the strings changes the text, which an error shows.
    let written = Array(lexer.text[range].prefix(256))
    var index = range.lowerBound
    var members = ArgumentReader.ObjectMembers(of: parameter.kind)
    while let name = JSONSyntax.nextMember(in: &lexer.text, at: &index) {
      let member = jsonArgument(at: &index)
      guard members.add(member.argument(in: lexer.text), named: lexer.text[name]) else {
        throw ArgumentReader.invalidValue(Excerpt.quoted(written[...]), parameter, spec)
      }
    }
    guard let value = members.value else {
      throw ArgumentReader.invalidValue(Excerpt.quoted(written[...]), parameter, spec)
    }
    return value
  }

  /// Adds the value at `index` to a list and advances past it. `end` is the end of the surrounding value.
  private mutating func addToList(
    json index: inout Int, upTo end: Int, at position: Int, _ arguments: inout ParsedArguments
  ) throws(MediaError) {
    let (parameter, spec) = (arguments.spec.parameters[position], arguments.spec)
    let value = jsonArgument(at: &index)
    switch (value.kind, parameter.kind) {
    case (.object, .edit):
      // Packed first, because reading its strings changes the bytes of the text.
      try arguments.addToList(at: position, lineByteCount: end - value.range.lowerBound) { list in
        list.append(lexer.text[value.range])
      }
      try readEdit(json: value.range.lowerBound, QueueEditReader.check)
    case (.string, .edit), (.string, .path), (.string, .key), (.string, .playerName):
      try addToList(value.range, upTo: end, at: position, &arguments)
    case (_, .edit), (_, .path), (_, .key), (_, .playerName):
      throw ArgumentReader.invalidValue(value.kind.name, parameter, spec)
    default:
      var isPlain = false
      if case .number = value.kind { isPlain = ArgumentReader.isPlain(lexer.text[value.range], parameter.kind) }
      if !isPlain {
        _ = try ArgumentReader.value(json: value.argument(in: lexer.text), for: parameter, of: spec)
      }
      // Removes the sign of -0. As text, the sign would make the time a relative one.
      let sign = lexer.text[value.range].first == UInt8(ascii: "-") ? 1 : 0
      try arguments.addToList(at: position, lineByteCount: end - value.range.lowerBound) { list in
        list.append(lexer.text[value.range].dropFirst(sign))
      }
    }
  }
}
