import PlayheadWireProtocol

/// A template with the names of values in braces: `{artist} - {title} [{time:clock}]`.
///
/// `{time:clock}` is a time in seconds as minutes and seconds. `{{` and `}}` are braces.
struct ValueTemplate: Equatable {
  private enum Part: Equatable {
    case text(String)
    case value(name: String, isClock: Bool)
  }

  private var parts: [Part] = []

  /// The names of the values, as often as they occur.
  var names: [String] {
    parts.compactMap { part in
      if case .value(let name, _) = part { name } else { nil }
    }
  }

  /// Parses a template. Does not check the names of the values.
  ///
  /// - Throws: `Misuse` for an unmatched brace, or for a format other than `clock`.
  init(parsing text: String) throws(Invocation.Misuse) {
    var rest = text[...]
    var literal = ""
    while let character = rest.popFirst() {
      switch character {
      case "{" where rest.first == "{", "}" where rest.first == "}":
        literal.append(character)
        rest.removeFirst()
      case "{":
        guard let end = rest.firstIndex(of: "}") else {
          throw Invocation.Misuse(message: "--format: a { has no }; a brace in the text is {{ or }}")
        }
        let words = rest[..<end].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 1 || words[1] == "clock" else {
          throw Invocation.Misuse(message: "--format: unknown format \(words[1]); {NAME:clock} is the only one")
        }
        if !literal.isEmpty { parts.append(.text(literal)) }
        literal = ""
        parts.append(.value(name: String(words[0]), isClock: words.count == 2))
        rest = rest[rest.index(after: end)...]
      case "}": throw Invocation.Misuse(message: "--format: a } has no {; a brace in the text is {{ or }}")
      default: literal.append(character)
      }
    }
    if !literal.isEmpty { parts.append(.text(literal)) }
  }

  /// The text with the values that `value` returns.
  private func text(_ value: (String) -> JSONValue) -> String {
    parts.map { part in
      switch part {
      case .text(let text): text
      case .value(let name, let isClock):
        isClock ? Self.clock(value(name)) : Self.text(of: value(name))
      }
    }.joined()
  }

  /// A line with the values that `value` returns, without control characters.
  func line(_ value: (String) -> JSONValue) -> String { "\(Terminal.withoutControls(text(value)))\n" }

  /// A value as text: empty for an unknown value, the elements of a list separated by commas, a range as `START-END`.
  static func text(of value: JSONValue) -> String {
    switch value {
    case .null: return ""
    case .bool(let value): return value ? "true" : "false"
    case .number(let token): return token
    case .string(let text): return text
    case .array(let elements): return elements.map(text).joined(separator: ", ")
    case .object(let members) where members.map(\.name) == ["start", "end"]:
      // A range, in the text form of the protocol.
      return members.map { $0.value == .null ? "inf" : text(of: $0.value) }.joined(separator: "-")
    case .object:
      var text: [UInt8] = []
      value.append(to: &text)
      return String(decoding: text, as: UTF8.self)
    }
  }

  private static func clock(_ value: JSONValue) -> String {
    guard case .number(let seconds) = value else { return text(of: value) }
    return HumanText.shortClock(seconds)
  }
}
