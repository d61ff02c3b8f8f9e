// The pages of the manual, from the same tables as the help and the completion.
import Glibc
import PlayheadMediaCore
import PlayheadWireProtocol

enum ManualPage: String, CaseIterable {
  case playhead
  case playheadd
  case configuration = "playheadd.toml"
  case playheadProtocol = "playhead-protocol"

  /// Prints the page. On standard input, `playheadd` requires the output of `playheadd --experimental-dump-help`, and
  /// `playheadd.toml` the example of the configuration file.
  ///
  /// - Throws: `Misuse`.
  func print() throws(Invocation.Misuse) {
    let date = Self.date
    switch self {
    case .playhead: Terminal.print(Self.clientPage(date))
    case .playheadProtocol: Terminal.print(Self.protocolPage(date))
    case .playheadd: Terminal.print(try Self.daemonPage(date, StandardInput.readAll()))
    case .configuration: Terminal.print(try Self.configurationPage(date, StandardInput.readAll()))
    }
  }

  /// The date of $SOURCE_DATE_EPOCH (https://reproducible-builds.org/specs/source-date-epoch/), else the current date.
  private static var date: String {
    var seconds = getenv("SOURCE_DATE_EPOCH").flatMap { Int(String(cString: $0)) } ?? time(nil)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func twoDigits(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
    return "\(parts.tm_year + 1_900)-\(twoDigits(parts.tm_mon + 1))-\(twoDigits(parts.tm_mday))"
  }

  // MARK: - playhead(1)

  private static func clientPage(_ date: String) -> String {
    var page = ManualText("playhead", section: 1, date: date, "the command-line client of playheadd")
    page.heading("SYNOPSIS")
    page.synopsis("playhead", "[OPTION]... COMMAND [ARGUMENT...] [NAME=VALUE | --NAME VALUE]...")
    for subcommand in Subcommand.all where !subcommand.isHidden {
      let rest = subcommand.synopsis.dropFirst(subcommand.name.count)
      page.synopsis("playhead \(subcommand.name)", String(rest))
    }
    page.heading("DESCRIPTION")
    for paragraph in HelpText.description { page.paragraph(paragraph) }
    page.heading("OPTIONS")
    for option in Subcommand.leadingOptions { page.term(option.synopsis, option.summary) }
    page.term("--version", "print the version")
    page.term("-h, --help", "print the help; after a command: explain the command")
    page.heading("COMMANDS OF THE CLIENT")
    for subcommand in Subcommand.all where !subcommand.isHidden {
      page.subheading(subcommand.synopsis)
      page.paragraph(subcommand.summary)
      if !subcommand.details.isEmpty { page.paragraph(subcommand.details) }
      for option in subcommand.options { page.term(option.synopsis, option.summary) }
      page.lines(subcommand.examples.map { "$ \($0)" })
    }
    page.heading("COMMANDS OF THE DAEMON")
    page.paragraph(
      "An option is written as `name=value` or `--name value`. `playhead help` COMMAND explains a command.")
    for family in CommandSpec.Family.allCases {
      page.subheading(family.rawValue)
      for spec in CommandTable.all where spec.family == family { page.term(spec.synopsis, spec.summary) }
    }
    page.subheading("Other names")
    page.paragraph(HelpText.aliases)
    page.heading("OUTPUT")
    for paragraph in HelpText.output { page.paragraph(paragraph) }
    page.heading("EXIT STATUS")
    for status in ExitStatus.allCases { page.term("\(status.rawValue)", status.meaning) }
    page.term("128 + N", ExitStatus.signalDescription)
    page.heading("ENVIRONMENT")
    for (name, meaning) in HelpText.environment { page.term(name, meaning) }
    page.heading("SEE ALSO")
    page.paragraph("`playheadd`(1), `playhead-protocol`(7)")
    return page.text
  }

  // MARK: - playheadd(1)

  /// The page from the output of `playheadd --experimental-dump-help` (ArgumentParser's tool information).
  private static func daemonPage(_ date: String, _ dump: [UInt8]) throws(Invocation.Misuse) -> String {
    guard let toolInfo = try? JSONValue(parsing: dump.span), let command = toolInfo["command"],
      case .array(let arguments)? = command["arguments"]
    else {
      throw Invocation.Misuse(
        message: "standard input must be the output of `playheadd --experimental-dump-help`")
    }
    var page = ManualText(
      "playheadd", section: 1, date: date, "a headless media player, controlled over a Unix socket")
    page.heading("SYNOPSIS")
    page.synopsis("playheadd", "[OPTION]...")
    page.heading("DESCRIPTION")
    if case .string(let text)? = command["abstract"] { page.paragraph(text) }
    if case .string(let text)? = command["discussion"] { page.paragraph(text) }
    page.paragraph(
      "The daemon prints `playheadd ready socket=PATH` on standard output when it accepts connections. SIGTERM and"
        + " SIGINT stop it. SIGHUP reloads the configuration."
    )
    page.heading("OPTIONS")
    for argument in arguments where argument["shouldDisplay"] != .bool(false) {
      page.term(synopsis(of: argument), meaning(of: argument))
    }
    page.heading("EXIT STATUS")
    page.term("0", "stopped on request")
    page.term("1", "startup failed, or a fatal error occurred")
    page.term("2", "invalid arguments or an invalid configuration")
    page.heading("SEE ALSO")
    page.paragraph("`playhead`(1), `playheadd.toml`(5), `playhead-protocol`(7)")
    return page.text
  }

  // MARK: - playheadd.toml(5)

  /// The page from the example of the configuration file, `playheadd.toml.example`. It has a comment before each table
  /// and each option, and the options are commented out.
  private static func configurationPage(_ date: String, _ example: [UInt8]) throws(Invocation.Misuse) -> String {
    var page = ManualText("playheadd.toml", section: 5, date: date, "the configuration file of playheadd")
    page.heading("SYNOPSIS")
    page.paragraph(
      """
      $XDG_CONFIG_HOME/playhead/playheadd.toml (default: ~/.config/playhead/playheadd.toml). If it does not exist, \
      playhead/playheadd.toml in the folders of $XDG_CONFIG_DIRS (default: /etc/xdg).
      """)
    page.heading("DESCRIPTION")
    page.paragraph(
      "The file is in TOML (https://toml.io). All options are optional; below, each has its default. Command-line options"
        + " override the file. `playheadd --config` FILE reads another file, and `playheadd --check-config` reports errors"
        + " and their positions.\nSIGHUP and `playhead config.reload` read the file again. Options marked (start) take"
        + " effect at the next start, all others at once.")
    page.heading("OPTIONS")
    var comment: [String] = []
    var hasOptions = false
    for line in String(decoding: example, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("# ") {
        comment.append(String(line.dropFirst(2)))
        continue
      }
      if line.hasPrefix("["), line.hasSuffix("]") {
        page.subheading(String(line))
        page.paragraph(comment.joined(separator: " "))
      } else if line.hasPrefix("#"), line.contains(" = ") {
        page.term(String(line.dropFirst()), comment.joined(separator: " "))
        hasOptions = true
      }
      comment = []
    }
    guard hasOptions else {
      throw Invocation.Misuse(message: "standard input must be the example of the configuration file")
    }
    page.heading("SEE ALSO")
    page.paragraph("`playheadd`(1)")
    return page.text
  }

  private static func text(_ value: JSONValue?) -> String? {
    guard case .string(let text)? = value else { return nil }
    return text
  }

  /// A synopsis such as `--socket SOCKET` or `-h, --help`.
  private static func synopsis(of argument: JSONValue) -> String {
    var names: [String] = []
    if case .array(let all)? = argument["names"] {
      names = all.compactMap { name in
        text(name["name"]).map { text(name["kind"]) == "long" ? "--\($0)" : "-\($0)" }
      }
    }
    let value = text(argument["valueName"])?.uppercased() ?? ""
    guard !names.isEmpty else { return value }
    return names.joined(separator: ", ") + (text(argument["kind"]) == "option" ? " \(value)" : "")
      + (argument["isRepeating"] == .bool(true) ? "..." : "")
  }

  private static func meaning(of argument: JSONValue) -> String {
    var meaning = [text(argument["abstract"]), text(argument["discussion"])].compactMap { $0 }.joined(separator: " ")
    if case .array(let values)? = argument["allValues"] {
      meaning += " One of \(values.compactMap { text($0) }.joined(separator: ", "))."
    }
    if let value = text(argument["defaultValue"]) { meaning += " Default: \(value)." }
    return meaning
  }

  // MARK: - playhead-protocol(7)

  private static func protocolPage(_ date: String) -> String {
    var page = ManualText(
      "playhead-protocol", section: 7, date: date, "commands, events, errors and limits of playheadd's socket")
    page.heading("DESCRIPTION")
    for paragraph in HelpText.wireDescription { page.paragraph(paragraph) }
    for family in CommandSpec.Family.allCases {
      page.heading("COMMANDS: \(family.rawValue.uppercased())")
      for spec in CommandTable.all where spec.family == family {
        page.subheading(spec.synopsis)
        page.paragraph("\(spec.summary)\n\(spec.details)")
        for parameter in spec.parameters {
          page.term(parameter.synopsis, "\(parameter.summary) (\(parameter.kind.accepted))")
        }
        if let rows = spec.rowFields { page.paragraph("Rows: \(rows.map(\.notation).joined(separator: " ")).") }
        page.paragraph(
          "Reply: \(spec.replyFields.isEmpty ? "`ok`" : spec.replyFields.map(\.notation).joined(separator: " "))."
            + (spec.waiting == .always ? " A waiting request." : "")
            + (spec.right.isEmpty
              ? ""
              : " Requires the right to \(spec.right.names.joined(separator: ", "))"
                + "\(spec.readsWithoutValue ? " (without a value: to read)" : "").")
        )
        if !spec.errors.isEmpty {
          page.paragraph("Errors: \(spec.errors.map { "\($0.rawValue) \($0.name)" }.joined(separator: ", ")).")
        }
        page.lines(spec.example)
      }
    }
    page.heading("KEYS")
    for key in ObservableKey.allCases { page.term(key.rawValue, key.summary) }
    page.heading("EVENTS")
    for event in EventTable.all {
      page.term(
        event.name.rawValue, "\(event.summary)\nFields: \(event.fields.map(\.notation).joined(separator: " ")).")
    }
    page.heading("ERRORS")
    for (number, name) in MediaError.Code.names.sorted(by: { $0.key < $1.key }) { page.term("\(number)", name) }
    page.heading("LIMITS")
    for limit in WireLimits.standard.named { page.term(limit.name, "\(limit.value)") }
    page.heading("SEE ALSO")
    page.paragraph("`playhead`(1), `playheadd`(1)")
    return page.text
  }
}
