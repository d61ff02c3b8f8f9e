import CPlayheadTOML

/// A value of a TOML text, with its location.
struct TOMLValue: Sendable {
  /// A location in the text. Lines and columns count from 1. Columns are in characters.
  struct Location: Sendable, Hashable, Comparable {
    var line: Int
    var column: Int

    static func < (a: Self, b: Self) -> Bool { (a.line, a.column) < (b.line, b.column) }
  }

  /// A member of a table.
  struct Member: Sendable {
    var name: String
    /// The location of the name.
    var location: Location
    var value: TOMLValue
  }

  enum Contents: Sendable {
    case table([Member])
    case array([TOMLValue])
    case string(String)
    case integer(Int)
    /// The number in TOML, in its shortest decimal form.
    case float(String)
    case boolean(Bool)
    /// A date, a time, or both, in TOML.
    case date(String)
  }

  var contents: Contents
  var location: Location

  /// The error in a text.
  struct ParseError: Error {
    /// Nil if the error has no location.
    var location: Location?
    var message: String
  }

  /// Parses a text, whose table it returns. The members of tables are sorted by their names.
  ///
  /// - Throws: for a text that is not valid UTF-8 or TOML 1.0, and for the limits of `toml_document_parse`.
  static func parse(_ bytes: [UInt8]) throws(ParseError) -> TOMLValue {
    let document = bytes.withUnsafeBytes { bytes in
      toml_document_parse(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    guard let document else { throw ParseError(message: "not enough memory to read the file") }
    defer { toml_document_free(document) }
    if let error = toml_document_error(document) {
      throw ParseError(location: Location(error.pointee.location), message: String(cString: error.pointee.message))
    }
    var count = 0
    let values = toml_document_values(document, &count)
    var remaining = UnsafeBufferPointer(start: values, count: count)[...]
    return TOMLValue(from: &remaining)
  }

  /// Reads a value and its members, which follow it.
  private init(from values: inout Slice<UnsafeBufferPointer<toml_value>>) {
    let value = values.removeFirst()
    guard let location = Location(value.location) else { preconditionFailure("every value has a location") }
    self.location = location
    switch value.kind {
    case toml_kind_table:
      contents = .table(
        (0..<value.count).map { _ in
          guard let first = values.first, let location = Location(first.name_location) else {
            preconditionFailure("every member of a table has a name")
          }
          return Member(
            name: Self.text(first.name, first.name_length), location: location, value: TOMLValue(from: &values))
        })
    case toml_kind_array: contents = .array((0..<value.count).map { _ in TOMLValue(from: &values) })
    default: contents = Self.contents(value.kind, Self.text(value.text, value.text_length))
    }
  }

  /// The contents of a value without members.
  private static func contents(_ kind: toml_kind, _ text: String) -> Contents {
    switch kind {
    case toml_kind_integer:
      guard let number = Int(text) else { preconditionFailure("toml++ reads integers of 64 bits") }
      return .integer(number)
    case toml_kind_float: return .float(text)
    case toml_kind_boolean: return .boolean(text == "true")
    case toml_kind_date: return .date(text)
    default: return .string(text)
    }
  }

  private static func text(_ start: UnsafePointer<CChar>?, _ length: Int) -> String {
    String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
  }
}

extension TOMLValue.Location {
  /// Nil if there is no location.
  fileprivate init?(_ location: toml_location) {
    guard location.line > 0 else { return nil }
    self.init(line: Int(location.line), column: Int(location.column))
  }
}
