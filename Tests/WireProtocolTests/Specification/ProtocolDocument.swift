import FoundationEssentials
import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

/// The pages of docs/protocol, and the expected contents of their generated sections according to the tables.
///
/// `UPDATE_PROTOCOL_MD=1 swift test --filter ProtocolDocumentTests` regenerates those sections.
enum ProtocolDocument {
  /// A generated section, or a whole generated file if `section` is nil.
  struct Generated {
    var page: String
    var section: String?
    var text: String
  }

  private static let folder =
    "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/docs/protocol/"

  /// The pages that explain.
  static let pages = ["README.md", "audio-and-state.md", "concepts.md", "safety.md", "sources.md"]

  static func text(_ page: String) throws -> String {
    let data = try #require(FileManager.default.contents(atPath: folder + page), "no document at \(folder)\(page)")
    return try #require(String(validating: data, as: UTF8.self))
  }

  static func write(_ text: String, to page: String) throws {
    try text.write(toFile: folder + page, atomically: false, encoding: .utf8)
  }

  /// The text between the two markers of a generated section.
  static func section(_ name: String, of text: String) throws -> String {
    let begin = try #require(text.firstRange(of: "<!-- begin \(name) -->\n"))
    let end = try #require(text.firstRange(of: "<!-- end \(name) -->"))
    return String(text[begin.upperBound..<end.lowerBound])
  }

  static let generated: [Generated] =
    [
      Generated(page: "reference/README.md", section: "commands", text: summaries),
      Generated(page: "reference/keys.md", section: "keys", text: keys),
      Generated(page: "reference/events.md", section: "events", text: events),
      Generated(page: "reference/errors.md", section: "error groups", text: errorGroups),
      Generated(page: "reference/openrpc.json", text: OpenRPC.document.lines(depth: 3) + "\n"),
      Generated(page: "reference/asyncapi.json", text: AsyncAPI.document.lines(depth: 4) + "\n"),
    ] + CommandSpec.Family.allCases.map { Generated(page: page(of: $0), section: "commands", text: commands(of: $0)) }

  private static func page(of family: CommandSpec.Family) -> String {
    "reference/\(family.rawValue.lowercased().replacing(" ", with: "-")).md"
  }

  // MARK: - Commands

  private static var summaries: String {
    "\n| Command | Does |\n|---|---|\n"
      + CommandTable.all.map { spec in
        let name = spec.name.rawValue
        let anchor = name.replacing(".", with: "")
        return "| [`\(name)`](\(page(of: spec.family).dropFirst("reference/".count))#\(anchor)) | \(spec.summary) |\n"
      }.joined() + "\n"
  }

  private static func commands(of family: CommandSpec.Family) -> String {
    "\n" + CommandTable.all.filter { $0.family == family }.map(command).joined(separator: "\n") + "\n"
  }

  static func command(_ spec: CommandSpec) -> String {
    var text = "## `\(spec.name.rawValue)`\n\n```text\n\(spec.synopsis)\n```\n\n\(wrapped(spec.summary))\n"
    if !spec.details.isEmpty { text += "\n\(wrapped(spec.details))\n" }
    if !spec.parameters.isEmpty {
      text += "\n| Parameter | Takes | Means |\n|---|---|---|\n"
      for parameter in spec.parameters {
        let accepted =
          switch parameter.position {
          case .list: "one or more: \(parameter.kind.accepted)"
          case .optionalList: "none or more: \(parameter.kind.accepted)"
          default: parameter.kind.accepted
          }
        text += "| `\(parameter.name.rawValue)` | \(accepted) | \(parameter.summary) |\n"
      }
    }
    if let rows = spec.rowFields { text += fieldTable(rows, title: "Row") }
    if spec.replyFields.isEmpty {
      text += "\nThe reply is `ok`.\n"
    } else {
      text += fieldTable(spec.replyFields, title: "Reply")
    }
    text += "\nRight: \(spec.right.names.map { "`\($0)`" }.joined(separator: " "))"
    text += spec.readsWithoutValue ? "; without a value `read`.\n" : ".\n"
    switch spec.waiting {
    case .never: break
    case .always: text += "A waiting request.\n"
    case .ifRequested: text += "With `wait` a waiting request.\n"
    case .withRange: text += "With `to` a waiting request.\n"
    case .untilReady:
      let takesLists = spec.parameters.contains { $0.name == .list }
      text += "With `wait=ready`\(takesLists ? ", or of lists," : "") a waiting request.\n"
    }
    if !spec.errors.isEmpty { text += wrapped("Errors: \(errors(spec.errors)).") + "\n" }
    return text + "\n```text\n\(spec.example.joined(separator: "\n"))\n```\n"
  }

  private static func fieldTable(_ fields: [FieldSpec], title: String) -> String {
    "\n| \(title) | Type | Means |\n|---|---|---|\n"
      + fields.map { "| \(notation($0)) | \($0.type.description) | \($0.summary) |\n" }.joined()
  }

  /// The text of error codes. Complete groups are replaced by the group names.
  private static func errors(_ codes: [MediaError.Code]) -> String {
    let groups = CommandTable.errorGroups.filter { $0.codes.allSatisfy(codes.contains) }
    let single = codes.filter { code in !groups.contains { $0.codes.contains(code) } }
    return (single.map(error) + groups.map { "*\($0.name)*" }).joined(separator: ", ")
  }

  private static func error(_ code: MediaError.Code) -> String { "\(code.rawValue) `\(code.name)`" }

  // MARK: - Tables

  private static var errorGroups: String {
    CommandTable.errorGroups.map { group in
      wrapped("- *\(group.name)*: \(group.codes.map(error).joined(separator: ", "))", indent: "  ") + "\n"
    }.joined()
  }

  private static var keys: String {
    "| Key | Value |\n|---|---|\n"
      + ObservableKey.allCases.map { "| `\($0.rawValue)` | \($0.summary) |\n" }.joined()
  }

  private static var events: String {
    "\n"
      + EventTable.all.map { event in
        "## `\(event.name.rawValue)`\n\n\(wrapped(event.summary))\n" + fieldTable(event.fields, title: "Field")
      }.joined(separator: "\n") + "\n"
  }

  private static func notation(_ field: FieldSpec) -> String {
    let name = "`\(field.name)`" + (field.isNullable ? "?" : "")
    return field.isOptional ? "[\(name)]" : name
  }

  /// Breaks paragraphs and items of lists into lines of at most 120 columns.
  private static func wrapped(_ text: String, indent: String = "") -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { wrappedLine(String($0), indent: $0.hasPrefix("- ") ? "  " : indent) }.joined(separator: "\n")
  }

  /// Breaks one paragraph or item. No continuation line begins with a word that Markdown reads as a mark.
  private static func wrappedLine(_ text: String, indent: String) -> String {
    var lines: [String] = [""]
    for word in unbroken(text).split(separator: " ") {
      let isMark = ["-", "*", "+", ">", "#"].contains(word)
      if !lines[lines.count - 1].isEmpty, lines[lines.count - 1].count + 1 + word.count > 120, !isMark {
        lines.append(indent + word)
      } else {
        lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
      }
    }
    return lines.joined(separator: "\n").replacing(noBreak, with: " ")
  }

  /// Replaces a space at which a line may not be broken.
  private static let noBreak = "\u{1}"

  /// The text, in which code and emphasis stay on one line.
  private static func unbroken(_ text: String) -> String {
    var text = text
    for mark in ["`", "*"] {
      text = text.split(separator: mark, omittingEmptySubsequences: false).enumerated().map { (index, part) -> String in
        guard index % 2 == 1, part.count < 60 else { return String(part) }
        return String(part).replacing(" ", with: noBreak)
      }.joined(separator: mark)
    }
    return text
  }

  /// The first cells of the rows of the tables in a text.
  static func rows(of text: String) -> [[String]] {
    text.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("|---") }.dropFirst().map { row in
      row.split(separator: "|").map { cell in
        var cell = cell
        while cell.first == " " || cell.first == "`" { cell.removeFirst() }
        while cell.last == " " || cell.last == "`" { cell.removeLast() }
        return String(cell)
      }
    }
  }
}

extension JSONValue {
  /// The value as JSON with one member or element on each line, down to `depth` levels.
  fileprivate func lines(depth: Int, indent: String = "") -> String {
    let inner = indent + "  "
    switch self {
    case .object(let members) where depth > 0 && !members.isEmpty:
      let texts = members.map { member in
        inner + JSONValue.string(member.name).text + ": " + member.value.lines(depth: depth - 1, indent: inner)
      }
      return "{\n" + texts.joined(separator: ",\n") + "\n\(indent)}"
    case .array(let elements) where depth > 0 && !elements.isEmpty:
      return "[\n" + elements.map { inner + $0.lines(depth: depth - 1, indent: inner) }.joined(separator: ",\n")
        + "\n\(indent)]"
    default: return text
    }
  }
}
