import PlayheadMediaCore

/// A line of the daemon in the text form, as parsed by a client.
package enum ServerLine: Sendable, Hashable {
  case hello(TextFields)
  /// A row. The final reply with the same id follows later.
  case row(id: String?, TextFields)
  /// A final reply.
  case ok(id: String?, TextFields)
  /// A final reply. The fields are those of the error, including `code`, `name` and `message`.
  case error(id: String?, MediaError, TextFields)
  /// An event. The name is a string, because a later daemon may have more events.
  case event(name: String, TextFields)

  /// The fields of a line in their order, as text without quoting.
  package struct TextFields: Sendable, Hashable {
    /// One field. A word without `=` has an empty name.
    package struct Field: Sendable, Hashable {
      package var name: String
      package var value: String

      package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
      }
    }

    package var entries: [Field]

    package init(_ entries: [Field] = []) { self.entries = entries }

    /// The first value with this name.
    package subscript(name: String) -> String? { entries.first { $0.name == name }?.value }

    /// The elements of a list that `FieldValue.list` encoded.
    package func list(_ name: String) -> [String]? { self[name].map(TextFields.elements) }

    /// Splits a list at its commas and decodes its backslashes.
    static func elements(_ text: String) -> [String] {
      guard !text.isEmpty else { return [] }
      var elements: [[UInt8]] = [[]]
      var isEscaped = false
      for byte in text.utf8 {
        if !isEscaped, byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if !isEscaped, byte == UInt8(ascii: ",") {
          elements.append([])
        } else {
          elements[elements.count - 1].append(byte)
          isEscaped = false
        }
      }
      return elements.map { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// Parses one line without its LF.
  ///
  /// - Throws: `bad-quoting`, `invalid-utf8`, or `bad-arguments` for a line that no daemon sends.
  package init(parsing line: Span<UInt8>) throws(MediaError) {
    var lexer = WordsLexer()
    try lexer.lex(line)
    var words = lexer.words[...]
    var id: String?
    if let first = words.first, first.isBare, lexer.text[first.range].first == UInt8(ascii: "@") {
      id = String(lexer.string(first).dropFirst())
      words.removeFirst()
    }
    guard let head = words.popFirst(), head.isBare else {
      throw MediaError(.badArguments, "the daemon sent a line that is not a reply")
    }
    func fields() -> TextFields {
      TextFields(
        words.map { word in
          let bare = lexer.text[word.range.lowerBound..<word.range.lowerBound + word.bareCount]
          guard let equals = bare.firstIndex(of: UInt8(ascii: "=")) else { return .init("", lexer.string(word)) }
          return .init(
            lexer.string(word.range.lowerBound..<equals), lexer.string(equals + 1..<word.range.upperBound))
        })
    }
    switch lexer.string(head) {
    case "|": self = .row(id: id, fields())
    case "ok": self = .ok(id: id, fields())
    case "error":
      let fields = fields()
      guard let code = fields["code"].flatMap({ Int($0) }) else {
        throw MediaError(.badArguments, "the daemon sent an error without a number")
      }
      let error = MediaError(
        MediaError.Code(rawValue: code), fields["message"] ?? "", operation: fields["operation"],
        underlying: fields["underlying"])
      self = .error(id: id, error, fields)
    case "*" where id == nil:
      guard let name = words.popFirst() else {
        throw MediaError(.badArguments, "the daemon sent an event without a name")
      }
      let text = lexer.string(name)
      self = text == "hello" ? .hello(fields()) : .event(name: text, fields())
    default: throw MediaError(.badArguments, "the daemon sent a line that is not a reply")
    }
  }

  /// `init(parsing:)` for an array.
  package init(parsing line: [UInt8]) throws(MediaError) { try self.init(parsing: line.span) }
}
