import WireProtocol

/// What may stand in a place of the command line: what completion offers there.
enum Candidates: Equatable {
  case nothing
  case files
  case words([String])
  /// Commands of the daemon and of the client.
  case commands
  /// What can be observed.
  case keys
  /// Ids of the queue's entries, asked of the daemon.
  case entries
  /// Names of players, asked of the daemon.
  case players
}

/// A command of the client itself, that the daemon does not know: what help, completion and the man page say of it.
struct Subcommand {
  /// `--name`, or `--name VALUE`.
  struct Option {
    var name: String
    /// What the synopsis calls the value; nil: there is none.
    var value: String?
    var summary: String
    var candidates = Candidates.nothing
    /// Values go on up to the next option.
    var takesSeveral = false

    /// `--tick T...`.
    var synopsis: String { "--\(name)" + (value.map { " \($0)" } ?? "") + (takesSeveral ? "..." : "") }
  }

  var name: String
  /// The arguments in front of the options; empty when there are none.
  var arguments = ""
  /// One sentence.
  var summary: String
  /// What a reader must know besides; lines as they are printed.
  var details = ""
  /// What its arguments are.
  var candidates = Candidates.nothing
  var options: [Option] = []
  /// Command lines, each with what it does behind `#`, if that is not plain.
  var examples: [String] = []
  /// What its exit statuses say; the general ones unless said.
  var statuses: String?
  /// It is for scripts that are made by the client itself, and not listed.
  var isHidden = false

  /// The command with its arguments and options: `save FILE [--format F] [--player NAME] [--force]`.
  var synopsis: String {
    ([name] + (arguments.isEmpty ? [] : [arguments]) + options.map { "[\($0.synopsis)]" }).joined(separator: " ")
  }

  /// What `playhead help NAME` prints.
  var explanation: String {
    var text = "\(synopsis)\n\n\(summary)\n"
    if !details.isEmpty { text += "\n\(details)\n" }
    if !options.isEmpty {
      text += "\n"
      for option in options { text += "  \(option.synopsis): \(option.summary)\n" }
    }
    if !examples.isEmpty { text += "\nFor example:\n" + examples.map { "  $ \($0)\n" }.joined() }
    return text + "\nExit status: \(statuses ?? Self.usualStatuses).\n"
  }

  private static let usualStatuses = "0 done; 1 the daemon answered an error; 2 wrong use; 3 no daemon, or it went away"
}
