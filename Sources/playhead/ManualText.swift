import WireProtocol

/// Text for man(1), in the macros of man(7).
struct ManualText {
  private(set) var text: String
  /// What comes stands below a heading, where there is no paragraph to begin.
  private var isBelowHeading = false

  /// Begins a page; `date` as `2026-11-22`.
  init(_ name: String, section: Int, date: String, _ title: String) {
    text =
      ".TH \(Self.quoted(name.uppercased())) \(section) \(date) \(Self.quoted("Playhead \(HelpText.version)")) \(Self.quoted("Playhead"))\n"
    heading("NAME")
    isBelowHeading = false
    text += "\(Self.escaped(name)) \\- \(Self.escaped(title))\n"
  }

  mutating func heading(_ title: String) { begin(".SH", title) }

  mutating func subheading(_ title: String) { begin(".SS", title) }

  private mutating func begin(_ macro: String, _ title: String) {
    text += "\(macro) \(Self.quoted(title))\n"
    isBelowHeading = true
  }

  /// A macro between what stands above and below.
  private mutating func separate(by macro: String) {
    if !isBelowHeading { text += "\(macro)\n" }
    isBelowHeading = false
  }

  /// A paragraph, with what stands between backquotes in bold.
  mutating func paragraph(_ words: String) {
    separate(by: ".PP")
    text += "\(Self.line(words))\n"
  }

  /// A term and what it means.
  mutating func term(_ term: String, _ meaning: String) {
    isBelowHeading = false
    text += ".TP\n.B \(Self.quoted(term))\n\(meaning.isEmpty ? "\\&" : Self.line(meaning))\n"
  }

  /// Lines as they are.
  mutating func lines(_ lines: [String]) {
    guard !lines.isEmpty else { return }
    separate(by: ".PP")
    text += ".nf\n.RS 4\n" + lines.map { "\(Self.line($0, marksCode: false))\n" }.joined() + ".RE\n.fi\n"
  }

  /// A command line in bold.
  mutating func synopsis(_ name: String, _ rest: String) {
    separate(by: ".br")
    text += ".B \(Self.quoted(name))\n" + (rest.isEmpty ? "" : "\(Self.line(rest))\n")
  }

  // MARK: - Escaping

  /// Characters that mean something to roff, or that it would make typographic ones of.
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

  /// A macro's argument.
  private static func quoted(_ text: String) -> String {
    "\"" + escaped(text).split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\(dq") + "\""
  }

  /// An input line: one that begins with a dot or a quote would be a macro.
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
