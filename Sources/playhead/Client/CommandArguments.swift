import PlayheadWireProtocol

/// The arguments of a command, separated by its table of options.
struct CommandArguments {
  enum Element {
    case operand([UInt8])
    /// `--name`, or `--name VALUE`.
    case option(Subcommand.Option, value: [UInt8]?)
    /// `--`. Only operands follow.
    case separator
  }

  fileprivate(set) var elements: [Element] = []

  /// The arguments that are no options.
  var operands: [[UInt8]] { elements.compactMap { if case .operand(let operand) = $0 { operand } else { nil } } }

  /// The operands as text.
  var texts: [String] { operands.map { String(decoding: $0, as: UTF8.self) } }

  /// The operands before `--`.
  var beginning: [[UInt8]] {
    let elements = elements.prefix { if case .separator = $0 { false } else { true } }
    return CommandArguments(elements: Array(elements)).operands
  }

  /// The arguments as words of a request: `--option VALUE` as `option=VALUE`, and `--flag` as `flag`.
  var words: [[UInt8]] {
    elements.compactMap { element in
      switch element {
      case .operand(let operand): operand
      case .option(let option, let value): Self.word(option, value)
      case .separator: Array("--".utf8)
      }
    }
  }

  /// The options among the words.
  var optionWords: [[UInt8]] {
    elements.compactMap { if case .option(let option, let value) = $0 { Self.word(option, value) } else { nil } }
  }

  /// Nil for an option of the client.
  private static func word(_ option: Subcommand.Option, _ value: [UInt8]?) -> [UInt8]? {
    option.isParameter ? Array(option.name.utf8) + (value.map { [UInt8(ascii: "=")] + $0 } ?? []) : nil
  }

  /// Whether the flag `--name` is given.
  func has(_ name: String) -> Bool {
    elements.contains { if case .option(let option, _) = $0 { option.name == name } else { false } }
  }

  /// The values of all options `--name`.
  func values(of name: String) -> [[UInt8]] {
    elements.compactMap { element in
      guard case .option(let option, let value) = element, option.name == name else { return nil }
      return value
    }
  }

  /// The template of `--format`; nil when not specified.
  func template() throws(Invocation.Misuse) -> ValueTemplate? {
    guard let text = values(of: Subcommand.templateOption.name).last else { return nil }
    return try ValueTemplate(parsing: String(decoding: text, as: UTF8.self))
  }
}

extension Invocation {
  /// Separates the arguments of a command into options and operands. Options of every command, and `-o PATH` of
  /// commands that write a file, become properties of the invocation.
  ///
  /// The value of an option is the next argument, or follows `=`. The values of a variadic option extend up to the next
  /// option.
  ///
  /// - Returns: Nil for `--help` or `-h`.
  /// - Throws: `Misuse` for an unknown option, and for a missing or unexpected value.
  mutating func separate(
    _ arguments: ArraySlice<[UInt8]>, of command: String, by options: [Subcommand.Option] = [], writesFile: Bool = false
  ) throws(Misuse) -> CommandArguments? {
    var found = CommandArguments()
    var rest = arguments
    while let argument = rest.popFirst() {
      let isOption = argument.starts(with: "--".utf8)
      if isOption, argument.count == 2 {
        found.elements.append(.separator)
        found.elements += rest.map { .operand($0) }
        break
      }
      if argument.elementsEqual("--help".utf8) || argument.elementsEqual("-h".utf8) { return nil }
      if writesFile, argument.elementsEqual("-o".utf8) {
        try parseOutputFile(&rest)
        continue
      }
      guard isOption else {
        found.elements.append(.operand(argument))
        continue
      }
      if !isWaitParameter(argument, among: options), try parseGlobalOption(argument, &rest) { continue }
      let name = String(decoding: argument.dropFirst(2).prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
      guard let option = options.first(where: { $0.name == name }) else {
        throw Misuse(message: "\(command) has no option --\(name); see playhead \(command) --help")
      }
      for value in try Self.values(of: option, in: argument, &rest) {
        found.elements.append(.option(option, value: value))
      }
    }
    return found
  }

  /// Separates the arguments of a command of the client.
  mutating func separate(
    _ arguments: ArraySlice<[UInt8]>, of command: Subcommand, writesFile: Bool = false
  ) throws(Misuse) -> CommandArguments? {
    try separate(arguments, of: command.name, by: command.options, writesFile: writesFile)
  }

  /// The values of an option: nil for a flag.
  static func values(
    of option: Subcommand.Option, in argument: [UInt8], _ rest: inout ArraySlice<[UInt8]>
  ) throws(Misuse) -> [[UInt8]?] {
    if let end = argument.firstIndex(of: UInt8(ascii: "=")) {
      guard option.value != nil || option.isParameter else {
        throw Misuse(message: "--\(option.name) accepts no value")
      }
      return [Array(argument[(end + 1)...])]
    }
    guard option.value != nil else { return [nil] }
    guard let value = rest.first, !option.isVariadic || !value.starts(with: "--".utf8) else {
      throw Misuse(message: "--\(option.name) needs a value")
    }
    let values = option.isVariadic ? rest.prefix { !$0.starts(with: "--".utf8) } : rest.prefix(1)
    rest = rest.dropFirst(values.count)
    return Array(values)
  }

  /// Parses the path after `-o`.
  private mutating func parseOutputFile(_ rest: inout ArraySlice<[UInt8]>) throws(Misuse) {
    guard let value = rest.popFirst(), !value.isEmpty else { throw Misuse(message: "-o needs a path") }
    guard !StandardInput.isStandardInput(value) else {
      throw Misuse(message: "-o needs a path; standard output is not supported")
    }
    guard outputFile == nil else { throw Misuse(message: "-o can be used only once") }
    outputFile = value
  }
}
