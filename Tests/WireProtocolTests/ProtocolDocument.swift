import FoundationEssentials
import MediaCore
import Testing

@testable import WireProtocol

/// protocol.md, and the expected contents of its generated sections according to the tables. docs/protocol has the
/// sections that explain.
///
/// `UPDATE_PROTOCOL_MD=1 swift test --filter ProtocolDocumentTests` regenerates those sections.
enum ProtocolDocument {
  private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  static let path = root + "/protocol.md"

  static func text() throws -> String { try text(path) }

  /// The explaining pages, such as `concepts`.
  static let pages = ["README", "audio-and-state", "concepts", "safety", "sources"]

  /// The text of a page of docs/protocol.
  static func page(_ name: String) throws -> String { try text("\(root)/docs/protocol/\(name).md") }

  private static func text(_ path: String) throws -> String {
    let data = try #require(FileManager.default.contents(atPath: path), "no document at \(path)")
    return try #require(String(validating: data, as: UTF8.self))
  }

  /// The text between the two markers of a generated section.
  static func section(_ name: String, of text: String) throws -> String {
    let begin = try #require(text.firstRange(of: "<!-- begin \(name) -->\n"))
    let end = try #require(text.firstRange(of: "<!-- end \(name) -->"))
    return String(text[begin.upperBound..<end.lowerBound])
  }

  static let generated: [(name: String, text: String)] = [
    ("commands", commands), ("keys", keys), ("events", events),
    ("error groups", errorGroups),
  ]

  static var commands: String {
    CommandSpec.Family.allCases.map { family in
      "### \(family.rawValue)\n\n"
        + CommandTable.all.filter { $0.family == family }.map(command).joined(separator: "\n")
    }.joined(separator: "\n")
  }

  static func command(_ spec: CommandSpec) -> String {
    var text = "#### `\(spec.name.rawValue)`\n```\n\(spec.synopsis)\n```\n\(spec.summary)"
    if !spec.details.isEmpty { text += " \(spec.details)" }
    text += "\n\n"
    if !spec.parameters.isEmpty {
      text += "| Parameter | Takes | Means |\n|---|---|---|\n"
      for parameter in spec.parameters {
        let accepted =
          switch parameter.place {
          case .list: "one or more: \(parameter.kind.accepted)"
          case .optionalList: "none or more: \(parameter.kind.accepted)"
          default: parameter.kind.accepted
          }
        text += "| `\(parameter.name.rawValue)` | \(accepted) | \(parameter.summary) |\n"
      }
      text += "\n"
    }
    if let rows = spec.rowFields { text += "Rows: \(list(rows)).\n" }
    text += "Reply: \(spec.replyFields.isEmpty ? "`ok`" : list(spec.replyFields)).\n"
    text +=
      "Right: \(spec.right.names.map { "`\($0)`" }.joined(separator: " "))\(spec.asks ? "; without a value `read`" : "").\n"
    switch spec.waiting {
    case .never: break
    case .always: text += "A waiting request.\n"
    case .ifAsked: text += "With `wait` a waiting request.\n"
    case .untilReady: text += "With `wait=ready`, or of lists, a waiting request.\n"
    }
    if !spec.errors.isEmpty { text += "Errors: \(errors(spec.errors)).\n" }
    return text + "\n```\n\(spec.example.joined(separator: "\n"))\n```\n"
  }

  /// The text of error codes. Complete groups are replaced by the group names.
  private static func errors(_ codes: [MediaError.Code]) -> String {
    let groups = CommandTable.errorGroups.filter { $0.codes.allSatisfy(codes.contains) }
    let single = codes.filter { code in !groups.contains { $0.codes.contains(code) } }
    return (single.map(error) + groups.map { "*\($0.name)*" }).joined(separator: ", ")
  }

  private static func error(_ code: MediaError.Code) -> String { "\(code.rawValue) `\(code.name)`" }

  static var errorGroups: String {
    CommandTable.errorGroups.map { "- *\($0.name)*: \($0.codes.map(error).joined(separator: ", "))\n" }.joined()
  }

  static var keys: String {
    "| Key | Value |\n|---|---|\n"
      + ObservableKey.allCases.map { "| `\($0.rawValue)` | \($0.summary) |\n" }.joined()
  }

  static var events: String {
    "| Event | Fields | Sent |\n|---|---|---|\n"
      + EventTable.all.map { "| `\($0.name.rawValue)` | \(list($0.fields)) | \($0.summary) |\n" }.joined()
  }

  private static func list(_ fields: [FieldSpec]) -> String {
    fields.map { field in
      let name = "`\(field.name)`" + (field.isNullable ? "?" : "")
      return field.isOptional ? "[\(name)]" : name
    }.joined(separator: " ")
  }

  /// The first cells of a table's rows, in the section of a heading.
  static func rows(under heading: String, of text: String) throws -> [[String]] {
    let begin = try #require(text.firstRange(of: "\n## \(heading)\n"))
    let rest = text[begin.upperBound...]
    let section = rest.firstRange(of: "\n## ").map { rest[..<$0.lowerBound] } ?? rest
    return section.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("|---") }.dropFirst().map {
      row in
      row.split(separator: "|").map { cell in
        var cell = cell
        while cell.first == " " || cell.first == "`" { cell.removeFirst() }
        while cell.last == " " || cell.last == "`" { cell.removeLast() }
        return String(cell)
      }
    }
  }
}
