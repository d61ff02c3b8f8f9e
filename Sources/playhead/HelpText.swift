import WireProtocol

/// The help texts of the client and, from the tables, of all commands. They need no daemon.
enum HelpText {
  /// The version of the client.
  static let version = "0.1.0"

  /// The output of `playhead --help`.
  static var usage: String {
    let own = Subcommand.all.filter { !$0.isHidden }
    let width = own.map(\.name.count).max() ?? 0
    return """
      usage: playhead [OPTION]... COMMAND [ARGUMENT...] [NAME=VALUE | --NAME VALUE]...

        playhead load one.flac two.mp3        playhead seek 1:23.5
        playhead add ~/Music                  playhead wait 'time>=90' --timeout 5
        playhead play                         playhead watch
        ffmpeg ... -f flac - | playhead load -

      \(description.map { wrapped($0, width: 120) }.joined(separator: "\n\n"))

      Commands of the client:
      \(own.map { "  \(padded($0.name, width))  \($0.summary)" }.joined(separator: "\n"))

      Options:
      \(table(Subcommand.globalOptions.map { ($0.synopsis, $0.summary) } + [
        ("--version", "print the version"), ("-h, --help", "print this; behind a command: explain it"),
      ]))
      Output:
      \(output.map { wrapped($0, width: 118, indent: "  ") }.joined(separator: "\n"))

      Exit status:
      \(table(ExitStatus.allCases.map { ("\($0.rawValue)", $0.meaning) } + [("128 + N", ExitStatus.signalMeaning)]))
      Environment:
      \(table(environment))
      """
  }

  /// The description of the client, in paragraphs, for the usage and the manual.
  static let description = [
    "COMMAND is one of the daemon's, or of the client's own; `playhead help` lists them, and `playhead help COMMAND` explains one.",
    "A file may be named as in any program; one whose name begins with - stands behind --, one called - is ./-. A file - is standard input: a file that is redirected to it, or a pipe, which the daemon then reads by itself.",
  ]

  /// The description of the output.
  static let output = [
    "On a terminal, tables and times as people read them. Elsewhere the daemon's own words, `name=value`, a line each row, so that what a script reads does not depend on anything; --human and --raw choose. `info` and `tags` print for people everywhere, `scan` unless --raw says otherwise. With --json a line of JSON: what the daemon answers; an error is an object `{\"error\":{\"code\":...,\"name\":...,\"message\":...},\"status\":...}` on standard error, without `code` where no daemon said it.",
    "Colours are used on a terminal only, and not when NO_COLOR is set or TERM is `dumb`.",
  ]

  /// The environment variables.
  static let environment = [
    ("PLAYHEAD_SOCKET", "where the daemon listens, unless --socket says"),
    (
      DaemonConnection.trustedUserVariable,
      "the id of another user whose daemon gets open files, header fields and passwords; by default only daemons of your own user and of root do"
    ),
    ("XDG_RUNTIME_DIR", "the folder in which playhead/control.sock is looked for"),
    ("NO_COLOR", "when it is set and not empty: no colours"), ("TERM", "`dumb`: no colours and no live line"),
  ]

  /// The introduction of playhead-protocol(7).
  static let wireDescription = [
    "`playheadd` listens on a Unix stream socket. A request is a line: a command in words, quoted as in a shell, or a JSON-RPC 2.0 object with the same names. `@ID` in front of the words comes back with the reply.",
    "A reply is no or more rows, lines that begin with `|`, and then one line `ok` or `error`; values stand as `name=value`, quoted when they need it. An event is a line that begins with `*`. In JSON, rows are an array, and events are notifications.",
    "Times are taken as 83.5, 250ms, 1:23.5 or 441000/44100, where it says so also +5, -5, 50% and end; they are answered in seconds (`time`) and exactly (`pts`). A waiting request answers when something has happened, and holds up nothing if it has an id.",
    "In the examples `>` stands before what a client sends and `<` before what it gets.",
  ]

  /// The list of commands, by family.
  static var overview: String {
    let own = Subcommand.all.filter { !$0.isHidden }
    let width = (CommandTable.all.map(\.name.rawValue.utf8.count) + own.map(\.name.utf8.count)).max() ?? 0
    var text = ""
    for family in CommandSpec.Family.allCases {
      text += "\(family.rawValue)\n"
      for spec in CommandTable.all where spec.family == family {
        text += "  \(padded(spec.name.rawValue, width))  \(spec.summary)\n"
      }
    }
    text += "Of this client\n"
    for subcommand in own { text += "  \(padded(subcommand.name, width))  \(subcommand.summary)\n" }
    return text
  }

  /// The explanation of one command; nil when there is no command with that name.
  static func explanation(of command: String) -> String? {
    if let subcommand = Subcommand.named(command) { return subcommand.explanation }
    guard let spec = CommandName(rawValue: command).flatMap({ CommandTable.spec($0) }) else { return nil }
    var text = "\(spec.synopsis)\n\n\(spec.summary)\n"
    if !spec.details.isEmpty { text += "\(wrapped(spec.details, width: 120))\n" }
    if !spec.parameters.isEmpty { text += "\n" }
    for parameter in spec.parameters {
      text += "  \(parameter.synopsis): \(parameter.summary) (\(parameter.kind.accepted))\n"
    }
    if spec.name == .observe {
      text += "\nKeys:\n"
      for key in ObservableKey.allCases { text += "  \(key.rawValue): \(key.summary)\n" }
    }
    if let rows = spec.rowFields { text += "\nRows: \(rows.map(\.notation).joined(separator: " "))\n" }
    if !spec.replyFields.isEmpty { text += "\nAnswers: \(spec.replyFields.map(\.notation).joined(separator: " "))\n" }
    text += "\nFor example:\n" + examples(of: spec).map { "  $ \($0)\n" }.joined()
    if let remark = remark(on: spec) { text += "\n\(remark)\n" }
    text += "\nOn the wire:\n"
    for line in spec.example { text += "  \(line)\n" }
    return text
  }

  // MARK: - Examples

  /// The requests in a command's examples, as command lines.
  static func examples(of spec: CommandSpec) -> [String] {
    let lines = spec.example.compactMap { line -> String? in
      guard line.hasPrefix("> "), !line.hasPrefix("> {"), !line.hasPrefix("> [") else { return nil }
      var words = line.dropFirst(2).split(separator: " ", omittingEmptySubsequences: false)[...]
      if words.first?.hasPrefix("@") == true { words.removeFirst() }
      return "playhead " + shellWords(words.joined(separator: " "))
    }
    return lines.isEmpty ? ["playhead \(spec.name.rawValue)"] : lines
  }

  /// A remark on commands that have no effect here, because their effect ends with the connection.
  private static func remark(on spec: CommandSpec) -> String? {
    switch spec.name {
    case .observe, .tick, .at, .atChapters, .meter, .unobserve, .untick, .unmeter:
      "What it asks for ends with the connection, which is at once here: `playhead watch` goes on, `playhead shell` too."
    case .queueBegin, .queueCommit, .queueAbort, .bye, .hello:
      "It is about one connection, which ends at once here: use `playhead shell`, or a connection of your own."
    case _ where spec.family == .assets && spec.parameters.contains { $0.name == .id }:
      "The number is that of one connection, which ends at once here: use `playhead shell`, or `playhead info` FILE."
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
  private static func wrapped(_ text: String, width: Int, indent: String = "") -> String {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, line.count + 1 + word.count > width {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    return (lines + [line]).map { indent + $0 }.joined(separator: "\n")
  }
}
