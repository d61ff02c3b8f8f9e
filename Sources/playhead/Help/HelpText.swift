import PlayheadWireProtocol

/// The help texts of the client and, from the tables, of all commands. They need no daemon.
enum HelpText {
  /// The version of the client.
  static let version = "0.1.0"

  /// The output of `playhead --help`.
  static var usage: String {
    let clientCommands = Subcommand.all.filter { !$0.isHidden }
    let width = clientCommands.map(\.name.count).max() ?? 0
    return """
      usage: playhead [OPTION]... COMMAND [ARGUMENT...] [NAME=VALUE | --NAME VALUE]...

        playhead play one.flac two.mp3        playhead seek 1:23.5
        playhead load ~/Music                 playhead wait 'time>=90' --timeout 5
        playhead append three.flac            playhead watch
        ffmpeg ... -f flac - | playhead load -

      \(description.map { wrapped($0, width: 120) }.joined(separator: "\n\n"))

      Commands of the client:
      \(clientCommands.map { "  \(padded($0.name, width))  \($0.summary)" }.joined(separator: "\n"))

      Options:
      \(table(Subcommand.leadingOptions.map { ($0.synopsis, $0.summary) } + [
        ("--version", "print the version"), ("-h, --help", "print this help; after a command: explain the command"),
      ]))
      Output:
      \(output.map { wrapped($0, width: 118, indent: "  ") }.joined(separator: "\n"))

      Exit status:
      \(table(ExitStatus.allCases.map { ("\($0.rawValue)", $0.meaning) } + [("128 + N", ExitStatus.signalDescription)]))
      Environment:
      \(table(environment))
      """
  }

  /// The description of the client, in paragraphs, for the usage and the manual.
  static let description = [
    """
    COMMAND is a command of the daemon or of the client. `playhead help` lists the commands, and `playhead help \
    COMMAND` explains one.
    """,
    """
    Paths can be relative. A file name that begins with - must follow --. A file named - must be written as ./-. The \
    file - is standard input: a redirected file or a pipe, which the daemon then reads directly.
    """,
    """
    With -o PATH, `playhead` opens the file that a command writes (`export`, `waveform`, `image`, `item.artwork`). It can \
    be in any folder that you may write to. A file that the daemon opens (`file=PATH`) must be below its --write-root.
    """,
  ]

  /// The description of the output.
  static let output = [
    """
    On a terminal, the output consists of human-readable tables and times. Otherwise it is the text form of the \
    protocol, `name=value`, one row per line, so that scripts get the same output everywhere. --human and --raw \
    select the form. The human-readable form omits values that only programs need, except with --verbose. \
    `info` and `tags` always print the human-readable form, and `scan` does without --raw. With \
    --json, each reply of the daemon is one line of JSON. An error is an object \
    `{"error":{"code":...,"name":...,"message":...},"status":...}` on standard error, without `code` if the error is \
    not from the daemon.
    """,
    "Colours are used on a terminal only, and not if NO_COLOR is set or TERM is `dumb`.",
  ]

  /// The environment variables.
  static let environment = [
    ("PLAYHEAD_SOCKET", "the daemon's socket; --socket overrides it"),
    (Invocation.playerVariable, "the player of commands that name none; --player and player= override it"),
    (
      DaemonConnection.trustedUserVariable,
      """
      the id of a trusted user in addition to your user and root; open files, header fields and passwords are sent \
      only to daemons of trusted users
      """
    ),
    ("XDG_RUNTIME_DIR", "the folder that contains playhead/control.sock"),
    ("NO_COLOR", "if set and not empty: no colours"), ("TERM", "`dumb`: no colours and no live line"),
  ]

  /// The introduction of playhead-protocol(7).
  static let wireDescription = [
    """
    `playheadd` listens on a Unix stream socket. A request is one line: a command in text form, quoted as in a \
    shell, or a JSON-RPC 2.0 object with the same names. `@ID` before a command is repeated in the reply.
    """,
    """
    A reply is zero or more rows, lines that begin with `|`, and then one line `ok` or `error`. Values have the form \
    `name=value`, quoted if necessary. An event is a line that begins with `*`. In JSON form, rows are an array, and \
    events are notifications.
    """,
    """
    Times in requests have the form 83.5, 250ms, 1:23.5 or 441000/44100, and where documented also +5, -5, 50%, \
    end or live. Times in replies are in seconds (`time`) and exact (`pts`). The reply to a waiting request follows \
    when its condition is true. If the request has an id, the connection's other requests are processed in the meantime.
    """,
    "In the examples, `>` marks the client's lines and `<` marks the daemon's lines.",
  ]

  /// The list of commands, by family.
  static var overview: String {
    let clientCommands = Subcommand.all.filter { !$0.isHidden }
    let width = (CommandTable.all.map(\.name.rawValue.utf8.count) + clientCommands.map(\.name.utf8.count)).max() ?? 0
    var text = ""
    for family in CommandSpec.Family.allCases {
      text += "\(family.rawValue)\n"
      for spec in CommandTable.all where spec.family == family {
        text += "  \(padded(spec.name.rawValue, width))  \(spec.summary)\n"
      }
    }
    text += "Client\n"
    for subcommand in clientCommands { text += "  \(padded(subcommand.name, width))  \(subcommand.summary)\n" }
    return text + "\(aliases)\n"
  }

  /// The other names of commands.
  static let aliases =
    "Other names: "
    + CommandAlias.commands.map { "\($0.alias) for \($0.command.rawValue)" }.joined(separator: ", ") + "."

  /// The summary of `-o`.
  static let outputOption = "the file to write, in any folder that you may write to"

  /// The conditions of `wait` that the client evaluates.
  private static let waitConditions = """

    Conditions of the client, which can be combined with those above:
      daemon: the daemon is reachable
      NAME=VALUE, NAME!=VALUE, NAME>VALUE, NAME>=VALUE, NAME<VALUE, NAME<=VALUE: a value of `playhead get` except time,
        such as volume<0.5, item!=3 or chapter=none, or a key of `observe`, such as player.currentItem=3 or
        session.isInterrupted=false. The keys item.* are those of the current entry. An unknown value is none. With
        such a condition, nothing is printed, and the timeout counts in real time.

    """

  /// The summary of `--format`.
  static func templateOption(of spec: CommandSpec) -> String {
    let values = spec.name == ListCommand.name ? "the fields of a row" : "the values of `playhead get`"
    return "print a line in a template, such as '{artist} - {title}'; the names are \(values)"
  }

  /// The explanation of one command; nil when there is no command with that name.
  static func explanation(of command: String) -> String? {
    if let subcommand = Subcommand.named(command) { return subcommand.explanation }
    guard let spec = CommandName(rawValue: command).flatMap({ CommandTable.spec($0) }) else { return nil }
    var text = "\(spec.synopsis)\n\n\(spec.summary)\n"
    if !spec.details.isEmpty { text += "\n\(wrapped(spec.details, width: 120))\n" }
    if !spec.parameters.isEmpty { text += "\n" }
    for parameter in spec.parameters {
      text += "  \(parameter.synopsis): \(parameter.summary) (\(parameter.kind.accepted))\n"
    }
    if spec.writesOpenedFile { text += "  -o PATH: \(outputOption)\n" }
    if spec.name == WaitCommand.name { text += waitConditions }
    if spec.acceptsTemplate { text += "  --format TEMPLATE: \(templateOption(of: spec))\n" }
    if spec.name == ObserveCommand.name {
      text += "\nKeys:\n"
      for key in ObservableKey.allCases { text += "  \(key.rawValue): \(key.summary)\n" }
    }
    if let rows = spec.rowFields { text += "\nRows: \(rows.map(\.notation).joined(separator: " "))\n" }
    if !spec.replyFields.isEmpty { text += "\nReply: \(spec.replyFields.map(\.notation).joined(separator: " "))\n" }
    text += "\nExamples:\n" + examples(of: spec).map { "  $ \($0)\n" }.joined()
    if let note = note(on: spec) { text += "\n\(note)\n" }
    text += "\nOn the wire:\n"
    for line in spec.example { text += "  \(line)\n" }
    return text
  }

  // MARK: - Examples

  /// The requests in a command's examples, as command lines.
  static func examples(of spec: CommandSpec) -> [String] {
    if let options = Subscription.watchOptions(for: spec.name) { return ["playhead watch \(options)"] }
    let lines = spec.example.compactMap { line -> String? in
      guard line.hasPrefix("> "), !line.hasPrefix("> {"), !line.hasPrefix("> [") else { return nil }
      var words = line.dropFirst(2).split(separator: " ", omittingEmptySubsequences: false)[...]
      if words.first?.hasPrefix("@") == true { words.removeFirst() }
      return "playhead " + shellWords(words.joined(separator: " "))
    }
    return lines.isEmpty ? ["playhead \(spec.name.rawValue)"] : lines
  }

  /// A note on what the client adds to a command, or on a command whose effect ends with the connection, which the
  /// client closes after the reply.
  private static func note(on spec: CommandSpec) -> String? {
    switch spec.name {
    case LoadCommand.name, AppendCommand.name, InsertCommand.name:
      "The client first checks the files: if one is missing, not readable or a text file, nothing changes. Of files\n"
        + "that are named as media, it reads the start of the first \(FileCheck.maximumInspectedMediaCount). A folder is\n"
        + "replaced by its media files, as by `playhead add`."
    case ListCommand.name: "Without `limit`, the client requests all parts."
    case PlayCommand.name: "`playhead play PATH...` loads files first, as `playhead load` and with its options."
    case ObserveCommand.name, TickCommand.name, AtCommand.name, AtChaptersCommand.name, MeterCommand.name,
      UnobserveCommand.name, UntickCommand.name, UnmeterCommand.name:
      "The effect ends with the connection, which the client closes: use `playhead watch` or `playhead shell`."
    case QueueBeginCommand.name, QueueCommitCommand.name, QueueAbortCommand.name, ByeCommand.name, HelloCommand.name:
      "The command applies to one connection, which the client closes: use `playhead shell` or another client."
    case _ where spec.family == .assets && spec.parameters.contains { $0.name == .id }:
      "The id is valid for one connection, which the client closes: use `playhead shell`, or `playhead info` FILE."
    default: nil
    }
  }

  /// Quotes the words of a line for a shell where necessary. The quotes of the protocol are also valid in a shell.
  private static func shellWords(_ line: String) -> String {
    let needsQuotes = line.utf8.contains { "<>|&;()*?[]$#~`!{}".utf8.contains($0) }
    guard needsQuotes, !line.contains("\""), !line.contains("'") else { return line }
    return line.split(separator: " ").map { word in
      word.utf8.contains { "<>|&;()*?[]$#~`!{}".utf8.contains($0) } ? "'\(word)'" : String(word)
    }.joined(separator: " ")
  }

  // MARK: - Layout

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// Names and descriptions in two columns.
  private static func table(_ rows: [(String, String)]) -> String {
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { row in
      let text = wrapped(row.1, width: 116 - width, indent: "")
      let below = "\n" + String(repeating: " ", count: width + 4)
      return "  \(padded(row.0, width))  " + text.split(separator: "\n").joined(separator: below) + "\n"
    }.joined()
  }

  /// Wraps a text to a maximum number of characters per line.
  ///
  /// A blank line separates paragraphs. A line that begins with `- ` is an item of a list.
  static func wrapped(_ text: String, width: Int, indent: String = "") -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { wrappedLine($0, width: width, indent: indent) }.joined(separator: "\n")
  }

  private static func wrappedLine(_ text: Substring, width: Int, indent: String) -> String {
    let hanging = text.hasPrefix("- ") ? "  " : ""
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, line.count + 1 + word.count > width {
        lines.append(line)
        line = hanging + word
      } else {
        line += (line.isEmpty ? "" : " ") + word
      }
    }
    return (lines + [line]).map { indent + $0 }.joined(separator: "\n")
  }
}
