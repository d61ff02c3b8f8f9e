import PlayheadMediaCore

/// Encodes requests for clients, in either form, from the arguments of a shell.
///
/// A shell has already removed the quoting. An argument `key=value` whose key the command knows is an option. After
/// `--` every argument is positional.
package struct RequestEncoder: Sendable {
  /// Converts path arguments, for example to absolute paths. Gets and returns the bytes of a path or a URL.
  package var resolvePath: @Sendable ([UInt8]) -> [UInt8]

  package init(resolvePath: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 }) { self.resolvePath = resolvePath }

  /// One argument and its parameter, as the daemon will interpret it.
  private struct Argument {
    var parameter: ParameterSpec?
    var text: String
  }

  /// Encodes a request as a line in the text form, with its LF.
  ///
  /// A command that this client does not know is encoded unchanged, because the daemon may be newer.
  ///
  /// - Parameter arguments: The command and its arguments, as bytes because a path may not be UTF-8.
  /// - Throws: `invalid-utf8` for an argument that is neither UTF-8 nor a path.
  package func words(_ arguments: [[UInt8]], id: String? = nil) throws(MediaError) -> [UInt8] {
    var line: [UInt8] = []
    if let id { line.append(contentsOf: "@\(id) ".utf8) }
    WordsText.append(try text(arguments.first ?? []), to: &line)
    let flags = arguments.first.flatMap { CommandTable.spec(named: $0) }?.parameters.filter { $0.kind == .flag } ?? []
    for argument in try boundArguments(arguments) {
      line.append(UInt8(ascii: " "))
      if let parameter = argument.parameter, parameter.position == .option {
        line.append(contentsOf: parameter.nameBytes)
        if parameter.kind == .flag, argument.text == "true" { continue }
        line.append(UInt8(ascii: "="))
        WordsText.append(argument.text, to: &line)
      } else if argument.parameter != nil,
        argument.text.utf8.contains(UInt8(ascii: "=")) || flags.contains(where: { $0.name.rawValue == argument.text })
      {
        // Quoted, so that the daemon does not read a positional argument as an option.
        appendQuoted(argument.text, to: &line)
      } else {
        WordsText.append(argument.text, to: &line)
      }
    }
    line.append(UInt8(ascii: "\n"))
    return line
  }

  /// Encodes a request as JSON-RPC, with its LF.
  ///
  /// - Throws: The errors of `words`. Also `unknown-command` and `bad-arguments`, because JSON needs the names of the
  ///   parameters.
  package func json(_ arguments: [[UInt8]], id: Int) throws(MediaError) -> [UInt8] {
    let name = try text(arguments.first ?? [])
    guard let spec = CommandTable.spec(named: name.utf8) else { throw CommandTable.unknownCommand(name) }
    var members: [JSONValue.Member] = []
    // A command has at most one list.
    var listName: ParameterName?
    var list: [JSONValue] = []
    for argument in try boundArguments(arguments) {
      guard let parameter = argument.parameter else {
        throw MediaError(
          .badArguments, "unexpected word \(Excerpt.quoted(argument.text)) (\(spec.shortSynopsis))", operation: name)
      }
      let value = jsonValue(argument.text, parameter.kind)
      if parameter.position.isVariadic {
        listName = parameter.name
        list.append(value)
      } else {
        members.append(.init(parameter.name.rawValue, value))
      }
    }
    if let listName { members.append(.init(listName.rawValue, .array(list))) }
    var line: [UInt8] = []
    JSONValue.object([
      .init("jsonrpc", .string("2.0")), .init("id", .number(String(id))), .init("method", .string(name)),
      .init("params", .object(members)),
    ]).append(to: &line)
    line.append(UInt8(ascii: "\n"))
    return line
  }

  private func jsonValue(_ text: String, _ kind: ParameterSpec.Kind) -> JSONValue {
    switch kind {
    case .integer, .entry, .number: ASCII.isJSONNumber(Array(text.utf8)[...]) ? .number(text) : .string(text)
    case .flag: text == "true" ? .bool(true) : text == "false" ? .bool(false) : .string(text)
    default: .string(text)
    }
  }

  /// The arguments after the command, with their parameters.
  private func boundArguments(_ arguments: [[UInt8]]) throws(MediaError) -> [Argument] {
    let spec = arguments.first.flatMap { CommandTable.spec(named: $0) }
    var result: [Argument] = []
    var position = 0
    var isPositionalOnly = false
    for bytes in arguments.dropFirst() {
      if !isPositionalOnly, bytes == Array("--".utf8) {
        isPositionalOnly = true
        continue
      }
      guard let spec else {
        result.append(Argument(parameter: nil, text: try text(bytes)))
        continue
      }
      if !isPositionalOnly, let (parameter, value) = option(bytes, of: spec) {
        let text = parameter.kind.isPath ? try path(value) : try text(value)
        result.append(Argument(parameter: parameter, text: text))
        continue
      }
      guard position < spec.parameters.count, spec.parameters[position].position != .option else {
        result.append(Argument(parameter: nil, text: try text(bytes)))
        continue
      }
      let parameter = spec.parameters[position]
      if !parameter.position.isVariadic { position += 1 }
      var argument = Argument(parameter: parameter, text: "")
      if parameter.kind.isPath {
        argument.text = try path(bytes)
      } else if parameter.kind == .edit {
        argument.text = try edit(bytes)
      } else {
        argument.text = try text(bytes)
      }
      result.append(argument)
    }
    return result
  }

  /// A path in its text on the wire.
  private func path(_ bytes: [UInt8]) throws(MediaError) -> String {
    // An empty path stays empty. Resolving it would return the folder.
    let resolved = bytes.isEmpty ? bytes : resolvePath(bytes)
    return if let path = FilePath(bytes: resolved) { path.text } else { try text(resolved) }
  }

  /// A nested command with resolved paths. Invalid commands are unchanged, so that the daemon reports the error.
  private func edit(_ bytes: [UInt8]) throws(MediaError) -> String {
    let arguments: [[UInt8]]
    do throws(MediaError) { arguments = try CommandLineWords.split(bytes) } catch { return try text(bytes) }
    guard let spec = arguments.first.flatMap({ CommandTable.spec(named: $0) }), spec.takesPaths else {
      return try text(bytes)
    }
    return String(decoding: try words(arguments).dropLast(), as: UTF8.self)
  }

  private func option(_ bytes: [UInt8], of spec: CommandSpec) -> (ParameterSpec, value: [UInt8])? {
    let key = bytes.prefix { $0 != UInt8(ascii: "=") }
    for parameter in spec.parameters where parameter.position == .option && key.elementsEqual(parameter.nameBytes) {
      if key.count < bytes.count { return (parameter, Array(bytes[(key.count + 1)...])) }
      if parameter.kind == .flag { return (parameter, Array("true".utf8)) }
    }
    return nil
  }

  private func text(_ bytes: [UInt8]) throws(MediaError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw MediaError(.invalidUTF8, "\(Excerpt.quoted(String(decoding: bytes, as: UTF8.self))) is not UTF-8")
    }
    return text
  }

  private func appendQuoted(_ text: String, to line: inout [UInt8]) {
    let start = line.count
    WordsText.append(text, to: &line)
    guard line[start] != UInt8(ascii: "\"") else { return }
    line.insert(UInt8(ascii: "\""), at: start)
    line.append(UInt8(ascii: "\""))
  }
}
