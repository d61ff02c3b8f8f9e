import PlayheadWireProtocol

/// The candidates for the last word of a command line. Words come from the command tables, and ids from `live`.
///
/// Pure, except for `live`.
struct Completion {
  /// A candidate and its description.
  struct Candidate: Equatable {
    var text: String
    var summary: String
  }

  /// Candidates that only the daemon knows.
  enum Live: Equatable {
    case entries(player: String?)
    case players
  }

  /// Whether file names are also candidates.
  private(set) var includesFileNames = false
  /// The part of the word before a file name, such as `file=`.
  private(set) var filePrefix = ""
  private(set) var candidates: [Candidate] = []

  /// The words of the command line after the program name, as the shell passes them. The last one is being typed.
  private let words: [String]
  private let partial: String
  private let live: (Live) -> [Candidate]
  /// Whether the words are a line of `playhead shell`: a command of the daemon, with options as `NAME=VALUE`.
  private let isShellLine: Bool
  /// Whether the word is quoted, so that it is not an option in `playhead shell`.
  private let isQuoted: Bool

  /// Completes the last word of a command line.
  init(_ words: [String], live: @escaping (Live) -> [Candidate]) {
    self.init(words, isShellLine: false, isQuoted: false, live: live)
  }

  /// Completes the last word of a line of `playhead shell`, which can begin with `@ID`.
  init(shellWords words: [String], isQuoted: Bool, live: @escaping (Live) -> [Candidate]) {
    let hasID = words.count > 1 && words[0].hasPrefix("@")
    self.init(hasID ? Array(words.dropFirst()) : words, isShellLine: true, isQuoted: isQuoted, live: live)
  }

  private init(_ words: [String], isShellLine: Bool, isQuoted: Bool, live: @escaping (Live) -> [Candidate]) {
    self.words = Array(words.dropLast())
    partial = words.last ?? ""
    self.isShellLine = isShellLine
    self.isQuoted = isQuoted
    self.live = live
    complete()
    let partial = partial
    candidates.removeAll { !$0.text.utf8.starts(with: partial.utf8) }
  }

  /// The output of `playhead complete`. First line: `files` or `words`, a tab, the file name prefix. Then one line per
  /// candidate: text, tab, description.
  var text: String {
    "\(includesFileNames ? "files" : "words")\t\(filePrefix)\n"
      + candidates.map { "\(Terminal.withoutControls($0.text))\t\(Terminal.withoutControls($0.summary))\n" }.joined()
  }

  // MARK: - Position of the word

  private mutating func complete() {
    var index = 0
    while index < words.count, !isShellLine, words[index].hasPrefix("-") {
      if words[index] == "--" {
        index += 1
        break
      }
      // Skip the option's value, or complete it if it is the word being typed.
      if let option = Self.optionAwaitingValue(words[index], among: Subcommand.leadingOptions) {
        guard index + 1 < words.count else { return offer(option.candidates) }
        index += 1
      }
      index += 1
    }
    guard index < words.count else {
      if partial.hasPrefix("-"), !isShellLine {
        offer(Subcommand.leadingOptions)
        candidates += [
          Candidate(text: "--help", summary: "print the help"),
          Candidate(text: "--version", summary: "print the version"),
        ]
      } else {
        offer(.commands)
      }
      return
    }
    let arguments = Array(words[(index + 1)...])
    let command = CommandAlias.resolved(words[index])
    if !isShellLine, let subcommand = Subcommand.named(command) {
      complete(subcommand, arguments)
    } else if let spec = CommandName(rawValue: command).flatMap({ CommandTable.spec($0) }) {
      complete(spec, arguments)
    }
  }

  /// The option that `word` names, if its value is a separate word.
  private static func optionAwaitingValue(_ word: String, among options: [Subcommand.Option]) -> Subcommand.Option? {
    options.first { $0.value != nil && word == "--\($0.name)" }
  }

  private mutating func complete(_ subcommand: Subcommand, _ arguments: [String]) {
    let names = subcommand.options.map(\.name)
    let options = subcommand.options + Subcommand.globalOptions.filter { !names.contains($0.name) }
    if arguments.contains("--") { return offer(subcommand.candidates) }
    // Options can also be written as `--name=value`.
    if let (option, prefix) = Self.split(partial, among: options) { return offer(option.candidates, prefix) }
    if partial.hasPrefix("-") { return offer(options) }
    if let last = arguments.last, let option = Self.optionAwaitingValue(last, among: options) {
      return offer(option.candidates)
    }
    if let option = options.first(where: { option in
      option.isVariadic && arguments.last { $0.hasPrefix("--") } == "--\(option.name)"
    }) {
      return offer(option.candidates)
    }
    offer(subcommand.candidates)
  }

  /// Splits `--name=value` into the option and the prefix `--name=`.
  private static func split(
    _ word: String, among options: [Subcommand.Option]
  ) -> (option: Subcommand.Option, prefix: String)? {
    guard let equals = word.firstIndex(of: "=") else { return nil }
    let option = options.first { $0.value != nil && word[..<equals] == "--\($0.name)" }
    return option.map { ($0, String(word[...equals])) }
  }

  private mutating func complete(_ spec: CommandSpec, _ arguments: [String]) {
    // `play PATH...` has the parameters of `load`.
    let variant = isShellLine ? nil : Invocation.LoadOptions.spec(of: spec.name.rawValue)
    let parameters = variant?.parameters ?? spec.parameters
    let options = parameters.filter { $0.position == .option }
    let asOptions = options.map { parameter in
      Subcommand.Option(
        name: parameter.name.rawValue, value: parameter.kind == .flag ? nil : parameter.placeholder,
        summary: parameter.summary, candidates: Candidates(of: parameter))
    }
    let acceptsOnlyPositionals = isQuoted || arguments.contains("--")
    if !acceptsOnlyPositionals {
      if !isShellLine, let (option, prefix) = Self.split(partial, among: asOptions + Subcommand.globalOptions) {
        return offer(option.candidates, prefix)
      }
      if let equals = partial.firstIndex(of: "="),
        let parameter = options.first(where: { $0.kind != .flag && $0.name.rawValue == partial[..<equals] })
      {
        return offer(Candidates(of: parameter), String(partial[...equals]))
      }
      if partial.hasPrefix("-"), !isShellLine {
        offer(asOptions + Subcommand.globalOptions)
        candidates.append(Candidate(text: "--help", summary: "explain \(spec.name.rawValue)"))
        if spec.acceptsTemplate {
          candidates.append(Candidate(text: "--format", summary: HelpText.templateOption(of: spec)))
        }
        if spec.writesOpenedFile { candidates.append(Candidate(text: "-o", summary: HelpText.outputOption)) }
        return
      }
      if !isShellLine, spec.writesOpenedFile, arguments.last == "-o" { return offer(.files) }
      if !isShellLine, spec.acceptsTemplate, arguments.last == "--format" { return }
      if !isShellLine, let last = arguments.last,
        let option = Self.optionAwaitingValue(last, among: asOptions + Subcommand.globalOptions)
      {
        return offer(option.candidates)
      }
    }
    let positionals = parameters.filter { $0.position != .option }
    let index = Self.positionalCount(arguments, options)
    let parameter =
      index < positionals.count ? positionals[index] : positionals.last.flatMap { $0.position.isVariadic ? $0 : nil }
    if let parameter { offer(Candidates(of: parameter)) }
    // For a file parameter, options are offered only if the word is not empty. Otherwise they would hide the files.
    guard !acceptsOnlyPositionals, !includesFileNames || !partial.isEmpty else { return }
    candidates += options.map { option in
      Candidate(
        text: option.kind == .flag ? option.name.rawValue : "\(option.name.rawValue)=", summary: option.summary)
    }
  }

  /// The number of positional words.
  private static func positionalCount(_ arguments: [String], _ options: [ParameterSpec]) -> Int {
    var count = 0
    var isValue = false
    for (index, word) in arguments.enumerated() {
      if arguments[..<index].contains("--") {
        count += 1
      } else if isValue {
        isValue = false
      } else if word.hasPrefix("--") {
        let option = options.first { "--\($0.name.rawValue)" == word }
        isValue = option.map { $0.kind != .flag } ?? (word == "--socket")
      } else if !options.contains(where: {
        $0.kind == .flag ? word == $0.name.rawValue : word.hasPrefix("\($0.name.rawValue)=")
      }) {
        count += 1
      }
    }
    return count
  }

  // MARK: - Candidates

  private mutating func offer(_ options: [Subcommand.Option]) {
    candidates += options.map { Candidate(text: "--\($0.name)", summary: $0.summary) }
  }

  /// Adds the values of `kind`, each preceded by `prefix`.
  private mutating func offer(_ kind: Candidates, _ prefix: String = "") {
    var values: [Candidate] = []
    switch kind {
    case .nothing: break
    case .files: (includesFileNames, filePrefix) = (true, prefix)
    case .words(let words): values = words.map { Candidate(text: $0, summary: "") }
    case .commands:
      let subcommands = isShellLine ? [] : Subcommand.all
      values = subcommands.filter { !$0.isHidden }.map { Candidate(text: $0.name, summary: $0.summary) }
      let clientCommands = Set(values.map(\.text))
      values += CommandTable.all.filter { !clientCommands.contains($0.name.rawValue) }.map {
        Candidate(text: $0.name.rawValue, summary: $0.summary)
      }
    case .keys:
      values = ["player.*", "item.*", "queue.*", "output.*"].map {
        Candidate(text: $0, summary: "all keys with this prefix")
      }
      values += ObservableKey.allCases.map { Candidate(text: $0.rawValue, summary: $0.summary) }
    case .entries: values = live(.entries(player: player))
    case .players: values = live(.players)
    }
    candidates += values.map { Candidate(text: prefix + $0.text, summary: $0.summary) }
  }

  /// The player that earlier words specify.
  private var player: String? {
    if let word = words.last(where: { $0.hasPrefix("player=") || $0.hasPrefix("--player=") }) {
      return word.firstIndex(of: "=").map { String(word[word.index(after: $0)...]) }
    }
    return words.lastIndex(of: "--player").flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
  }
}
