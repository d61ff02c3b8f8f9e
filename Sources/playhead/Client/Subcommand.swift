import PlayheadWireProtocol

/// The candidates for a word of the command line.
enum Candidates: Equatable {
  case nothing
  case files
  case words([String])
  /// Commands of the daemon and of the client.
  case commands
  /// The observable keys.
  case keys
  /// The ids of the queue's entries, from the daemon.
  case entries
  /// The names of players, from the daemon.
  case players
}

/// A command of the client that the daemon does not know, with its texts for help, completion and the man page.
struct Subcommand {
  /// An option: `--name`, or `--name VALUE`.
  struct Option {
    var name: String
    /// The name of the value in the synopsis; nil for a flag.
    var value: String?
    var summary: String
    var candidates = Candidates.nothing
    /// Whether values extend up to the next option.
    var isVariadic = false
    /// Whether the option is a parameter of a command of the daemon.
    var isParameter = false

    /// A synopsis such as `--tick T...`.
    var synopsis: String { "--\(name)" + (value.map { " \($0)" } ?? "") + (isVariadic ? "..." : "") }
  }

  /// An option whose value is a template.
  static let templateOption = Option(
    name: "format", value: "TEMPLATE", summary: "a template, such as '{artist} - {title}'")

  var name: String
  /// The arguments before the options; empty for none.
  var arguments = ""
  /// One sentence.
  var summary: String
  /// Further information; lines are printed unchanged.
  var details = ""
  /// The candidates for the arguments.
  var candidates = Candidates.nothing
  var options: [Option] = []
  /// Command lines, with an explanation after `#` where necessary.
  var examples: [String] = []
  /// The descriptions of the exit statuses; nil for the default ones.
  var statuses: String?
  /// Whether the command is not listed, because only the scripts of `playhead completions` call it.
  var isHidden = false

  /// The command with its arguments and options: `save FILE [--format F] [--player NAME] [--force]`.
  var synopsis: String {
    ([name] + (arguments.isEmpty ? [] : [arguments]) + options.map { "[\($0.synopsis)]" }).joined(separator: " ")
  }

  /// The output of `playhead help NAME`.
  var explanation: String {
    var text = "\(synopsis)\n\n\(summary)\n"
    if !details.isEmpty { text += "\n\(details)\n" }
    if !options.isEmpty {
      text += "\n"
      for option in options { text += "  \(option.synopsis): \(option.summary)\n" }
    }
    if !examples.isEmpty { text += "\nExamples:\n" + examples.map { "  $ \($0)\n" }.joined() }
    return text + "\nExit status: \(statuses ?? Self.defaultStatuses).\n"
  }

  private static let defaultStatuses =
    "0 success; 1 the daemon replied with an error; 2 invalid arguments; 3 the daemon is not reachable"
}

extension Subcommand.Option {
  /// The option for a parameter of a command of the daemon.
  init(_ parameter: ParameterSpec) {
    self.init(
      name: parameter.name.rawValue, value: parameter.kind == .flag ? nil : parameter.placeholder,
      summary: parameter.summary, candidates: Candidates(of: parameter), isParameter: true)
  }
}
