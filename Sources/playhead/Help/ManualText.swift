import PlayheadWireProtocol

/// A page for man(1), with the macros of man(7).
struct ManualText {
  private(set) var text: String
  /// Whether the next element follows a heading directly, and needs no paragraph break.
  private var isBelowHeading = false

  /// Begins a page. `date` has the form `2026-11-22`.
  init(_ name: String, section: Int, date: String, _ title: String) {
    text =
      ".TH \(Self.quoted(name.uppercased())) \(section) \(date) \(Self.quoted("Playhead \(HelpText.version)")) \(Self.quoted("Playhead"))\n"
    heading("NAME")
    isBelowHeading = false
    text += "\(Self.escaped(name)) \\- \(Self.escaped(title))\n"
  }

  mutating func heading(_ title: String) { appendHeading(".SH", title) }

  mutating func subheading(_ title: String) { appendHeading(".SS", title) }

  private mutating func appendHeading(_ macro: String, _ title: String) {
    text += "\(macro) \(Self.quoted(title))\n"
    isBelowHeading = true
  }

  /// Inserts a macro between two elements.
  private mutating func separate(by macro: String) {
    if !isBelowHeading { text += "\(macro)\n" }
    isBelowHeading = false
  }

  /// Adds the paragraphs of a text. Text in backquotes becomes bold. A line that begins with `- ` is an item of a list.
  mutating func paragraph(_ words: String) {
    for line in words.split(separator: "\n") {
      if line.hasPrefix("- ") {
        isBelowHeading = false
        text += ".IP \\(bu 2\n\(Self.line(String(line.dropFirst(2))))\n"
      } else {
        separate(by: ".PP")
        text += "\(Self.line(String(line)))\n"
      }
    }
  }

  /// Adds a term and its description, which may have paragraphs and lists.
  mutating func term(_ term: String, _ meaning: String) {
    isBelowHeading = false
    text += ".TP\n.B \(Self.quoted(term))\n"
    for (index, line) in (meaning.isEmpty ? [meaning[...]] : meaning.split(separator: "\n")).enumerated() {
      if line.hasPrefix("- ") {
        text += ".RS\n.IP \\(bu 2\n\(Self.line(String(line.dropFirst(2))))\n.RE\n"
      } else {
        text += (index == 0 ? "" : ".IP\n") + "\(Self.line(String(line)))\n"
      }
    }
  }

  /// Adds lines without filling.
  mutating func lines(_ lines: [String]) {
    guard !lines.isEmpty else { return }
    separate(by: ".PP")
    text += ".nf\n.RS 4\n" + lines.map { "\(Self.line($0, marksCode: false))\n" }.joined() + ".RE\n.fi\n"
  }

  /// Adds a command line with the name in bold.
  mutating func synopsis(_ name: String, _ rest: String) {
    separate(by: ".br")
    text += ".B \(Self.quoted(name))\n" + (rest.isEmpty ? "" : "\(Self.line(rest))\n")
  }

  // MARK: - Escaping

  /// Escapes characters that roff interprets or replaces by typographic ones.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case "`": result += "\\(ga"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case "\n", "\t": result += " "
      default: result.append(character)
      }
    }
    return result
  }

  /// Quotes an argument of a macro.
  private static func quoted(_ text: String) -> String {
    "\"" + escaped(text).split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\(dq") + "\""
  }

  /// An input line. A leading dot or quote is escaped, because it would begin a macro.
  private static func line(_ text: String, marksCode: Bool = true) -> String {
    var result = ""
    if marksCode {
      let parts = text.split(separator: "`", omittingEmptySubsequences: false)
      for (index, part) in parts.enumerated() {
        result += index % 2 == 1 && index < parts.count - 1 ? "\\fB\(escaped(String(part)))\\fP" : escaped(String(part))
      }
    } else {
      result = escaped(text)
    }
    return result.hasPrefix(".") || result.isEmpty ? "\\&\(result)" : result
  }
}
