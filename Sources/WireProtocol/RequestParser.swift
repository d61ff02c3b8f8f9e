import MediaCore

/// Reads lines in either form into requests. One a connection, because it keeps its buffers from line to line.
///
/// Every line has exactly one outcome, and no line traps: what cannot be read becomes a `Rejection` that says where the error
/// reply goes.
public struct RequestParser: Sendable {
  private let limits: WireLimits
  // Not private: `QueueEditReader` reads commands within a command with them.
  var lexer = WordsLexer()

  public init(limits: WireLimits = .standard) { self.limits = limits }

  /// Reads one line, which holds no LF and is not longer than the limit.
  public mutating func parse(_ line: Span<UInt8>) -> ParsedLine {
    guard let first = Self.firstByte(of: line) else { return .blank }
    return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? parseJSON(line) : parseWords(line)
  }

  /// The error for a line that was too long, told from its beginning: in the line's form, and with its `@id` when it has one.
  public mutating func rejectionOfOverlongLine(beginning: Span<UInt8>) -> Rejection {
    let error = WireError(
      MediaError(.lineTooLong, "the line is longer than \(limits.lineByteCount) bytes; it was left out"))
    let first = Self.firstByte(of: beginning)
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
      return Rejection(address: ReplyAddress(form: .json, id: .jsonNull), error: error)
    }
    // The beginning may end amid a quote or a character: what was read whole before that still counts.
    try? lexer.lex(beginning)
    var address = ReplyAddress.words
    if let first = lexer.words.first, first.column - 1 + first.range.count < beginning.count,
      case .success(let id?) = takeID()
    {
      address.id = .words(id)
    }
    return Rejection(address: address, error: error)
  }

  /// The first byte that is no white space.
  private static func firstByte(of line: Span<UInt8>) -> UInt8? {
    for index in line.indices where line[index] != UInt8(ascii: " ") && line[index] != UInt8(ascii: "\t") {
      return line[index]
    }
    return nil
  }

  // MARK: - Words

  private mutating func parseWords(_ line: Span<UInt8>) -> ParsedLine {
    var address = ReplyAddress.words
    do throws(MediaError) {
      do throws(MediaError) {
        try lexer.lex(line)
      } catch {
        if case .success(let id?) = takeID() { address.id = .words(id) }
        throw error
      }
      var index = 0
      if let id = try takeID().get() {
        address.id = .words(id)
        index = 1
      }
      guard index < lexer.words.count else {
        throw MediaError(.badArguments, "there is no command behind the id")
      }
      let word = lexer.words[index]
      guard let spec = CommandTable.spec(named: lexer.text[word.range]) else {
        throw CommandTable.unknownCommand(lexer.string(word))
      }
      let command = try spec.build(try bindWords(spec, from: index + 1))
      return .request(Request(address: address, name: spec.name, command: command))
    } catch {
      return .rejected(Rejection(address: address, error: WireError(error)))
    }
  }

  /// The id if the first word is a bare `@...`; an error if it is no good one.
  private func takeID() -> Result<String?, MediaError> {
    guard let word = lexer.words.first, word.bareCount > 0, lexer.text[word.range.lowerBound] == UInt8(ascii: "@")
    else {
      return .success(nil)
    }
    let id = lexer.text[word.range].dropFirst()
    guard word.isBare, ASCII.isName(id, maximum: limits.idByteCount) else {
      return .failure(
        MediaError(.badArguments, "an id is @ and 1 to \(limits.idByteCount) characters of A-Z a-z 0-9 . _ -"))
    }
    return .success(String(decoding: id, as: UTF8.self))
  }

  func bindWords(_ spec: CommandSpec, from start: Int) throws(MediaError) -> Arguments {
    var arguments = Arguments(spec: spec)
    var position = 0
    for word in lexer.words[start...] {
      if let (index, value) = option(word, of: spec) {
        let parameter = spec.parameters[index]
        let text = value.map { lexer.string($0) } ?? "true"
        try arguments.add(try ArgumentReader.value(text: text, for: parameter, of: spec), at: index)
        continue
      }
      guard position < spec.parameters.count, spec.parameters[position].place != .option else {
        throw arguments.failure("\(Excerpt.quoted(lexer.string(word))) at column \(word.column) is one word too many")
      }
      let parameter = spec.parameters[position]
      try arguments.add(
        try ArgumentReader.value(text: lexer.string(word), for: parameter, of: spec), at: position)
      if parameter.place != .list { position += 1 }
    }
    try arguments.checkComplete()
    return arguments
  }

  /// The option that a word is, with its value's bytes: `key=...` whose `key=` stands unquoted, or a flag's bare name.
  private func option(_ word: WordsLexer.Word, of spec: CommandSpec) -> (index: Int, value: Range<Int>?)? {
    let bare = lexer.text[word.range.lowerBound..<word.range.lowerBound + word.bareCount]
    if let equals = bare.firstIndex(of: UInt8(ascii: "=")) {
      for (index, parameter) in spec.parameters.enumerated()
      where parameter.place == .option && lexer.equals(bare.startIndex..<equals, parameter.nameBytes) {
        return (index, equals + 1..<word.range.upperBound)
      }
    } else if word.isBare {
      for (index, parameter) in spec.parameters.enumerated()
      where parameter.kind == .flag && lexer.equals(word.range, parameter.nameBytes) {
        return (index, nil)
      }
    }
    return nil
  }

  // MARK: - JSON

  private func parseJSON(_ line: Span<UInt8>) -> ParsedLine {
    let value: JSONValue
    do throws(MediaError) {
      value = try JSONValue(parsing: line, depth: limits.jsonDepth)
    } catch {
      return .rejected(
        Rejection(
          address: ReplyAddress(form: .json, id: .jsonNull), error: WireError(error, jsonCode: WireError.parseError)))
    }
    guard case .array(let members) = value else {
      switch parseJSONRequest(value) {
      case .request(let request): return .request(request)
      case .rejected(let rejection): return .rejected(rejection)
      }
    }
    guard !members.isEmpty, members.count <= limits.batchCount else {
      return .rejected(
        invalidRequest(members.isEmpty ? "an empty batch" : "a batch of more than \(limits.batchCount) requests"))
    }
    return .batch(members.map(parseJSONRequest))
  }

  private func invalidRequest(_ what: String, id: RequestID = .jsonNull) -> Rejection {
    Rejection(
      address: ReplyAddress(form: .json, id: id),
      error: WireError(
        MediaError(.invalidJSON, "no JSON-RPC 2.0 request: \(what)"), jsonCode: WireError.invalidRequest))
  }

  private func parseJSONRequest(_ value: JSONValue) -> ParsedLine.BatchMember {
    guard case .object(let members) = value else {
      return .rejected(invalidRequest("\(value.kindName), not an object"))
    }
    // Without an id it is a notification; an error in its frame is answered nevertheless, with null (section 5).
    var id: RequestID?
    switch value["id"] {
    case nil: id = nil
    case .null?: id = .jsonNull
    case .string(let text)? where text.utf8.count <= limits.idByteCount: id = .jsonString(text)
    case .number(let token)? where token.utf8.count <= limits.idByteCount: id = .jsonNumber(token)
    case .some:
      return .rejected(invalidRequest("id is a string or number of at most \(limits.idByteCount) bytes, or null"))
    }
    guard value["jsonrpc"] == .string("2.0") else {
      return .rejected(invalidRequest("jsonrpc is not \"2.0\"", id: id ?? .jsonNull))
    }
    guard case .string(let method)? = value["method"] else {
      return .rejected(invalidRequest("method is missing or no string", id: id ?? .jsonNull))
    }
    for name in ["jsonrpc", "id", "method", "params"] where members.count(where: { $0.name == name }) > 1 {
      return .rejected(invalidRequest("\(name) stands there twice", id: id ?? .jsonNull))
    }
    let address = ReplyAddress(form: .json, id: id ?? .none)
    do throws(MediaError) {
      guard let spec = CommandTable.spec(named: method.utf8) else { throw CommandTable.unknownCommand(method) }
      let command = try spec.build(try bindJSON(spec, value["params"]))
      return .request(Request(address: address, name: spec.name, command: command))
    } catch {
      return .rejected(Rejection(address: address, error: WireError(error)))
    }
  }

  func bindJSON(_ spec: CommandSpec, _ params: JSONValue?) throws(MediaError) -> Arguments {
    var arguments = Arguments(spec: spec)
    switch params {
    case nil, .array([])?: break
    case .object(let members)?:
      for member in members {
        guard let index = spec.parameters.firstIndex(where: { $0.name.rawValue == member.name }) else {
          throw arguments.failure("there is no parameter \(Excerpt.quoted(member.name))")
        }
        if arguments.has(index) { throw arguments.failure("\(member.name) is given twice") }
        let parameter = spec.parameters[index]
        // A list may be one value by itself; nothing else may be an array.
        let values: [JSONValue]
        if parameter.place == .list, case .array(let elements) = member.value {
          values = elements
        } else {
          values = [member.value]
        }
        for value in values {
          try arguments.add(try ArgumentReader.value(json: value, for: parameter, of: spec), at: index)
        }
      }
    case .some: throw arguments.failure("params is an object with the parameters' names")
    }
    try arguments.checkComplete()
    return arguments
  }
}
