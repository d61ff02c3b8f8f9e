import PlayheadMediaCore

/// One JSON value. A number keeps its original text, so that a time in it is exact.
package indirect enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  /// The token of the number, such as `83.5` or `-1e3`. Its grammar has been checked.
  case number(String)
  case string(String)
  case array([JSONValue])
  /// The members in their order. A name may occur more than once.
  case object([Member])

  /// One `"name": value` of an object.
  package struct Member: Sendable, Hashable {
    package var name: String
    package var value: JSONValue

    package init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// The value of the first member with this name. Nil if there is none, or if this is not an object.
  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// Parses `bytes`, which must be exactly one value except for surrounding white space.
  ///
  /// - Throws: `invalid-utf8`, or `invalid-json` with the column of the problem, also for nesting beyond `depth`.
  package init(parsing bytes: Span<UInt8>, depth: Int = WireLimits.standard.jsonDepth) throws(MediaError) {
    do { _ = try UTF8Span(validating: bytes) } catch let error {
      throw MediaError(.invalidUTF8, "the line is not UTF-8 at column \(error.byteOffsets.lowerBound + 1)")
    }
    var text: [UInt8] = []
    bytes.withUnsafeBufferPointer { text.append(contentsOf: $0) }
    try JSONSyntax.check(text, depth: depth)
    var index = 0
    self = Self.read(&text, &index)
  }

  /// Reads the value at `index` and advances past it. The syntax has been checked.
  private static func read(_ text: inout [UInt8], _ index: inout Int) -> JSONValue {
    switch JSONSyntax.kind(in: text, at: &index) {
    case .null:
      index += 4
      return .null
    case .bool(let value):
      index += value ? 4 : 5
      return .bool(value)
    case .number: return .number(String(decoding: text[JSONSyntax.skipValue(in: text, at: &index)], as: UTF8.self))
    case .string:
      return .string(String(decoding: text[JSONSyntax.unescapeString(in: &text, at: &index)], as: UTF8.self))
    case .array:
      var elements: [JSONValue] = []
      while JSONSyntax.nextElement(in: text, at: &index) { elements.append(read(&text, &index)) }
      return .array(elements)
    case .object:
      var members: [Member] = []
      while let name = JSONSyntax.nextMember(in: &text, at: &index) {
        let name = String(decoding: text[name], as: UTF8.self)
        members.append(Member(name, read(&text, &index)))
      }
      return .object(members)
    }
  }

  /// Appends the value as JSON on one line.
  package func append(to buffer: inout [UInt8]) {
    switch self {
    case .null: buffer.append(contentsOf: "null".utf8)
    case .bool(let value): buffer.append(contentsOf: (value ? "true" : "false").utf8)
    case .number(let token): buffer.append(contentsOf: token.utf8)
    case .string(let text): JSONText.append(text, to: &buffer)
    case .array(let elements):
      buffer.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { buffer.append(UInt8(ascii: ",")) }
        element.append(to: &buffer)
      }
      buffer.append(UInt8(ascii: "]"))
    case .object(let members):
      JSONText.appendObject(members, to: &buffer, name: { $0.name }, append: { $0.value.append(to: &$1) })
    }
  }

  /// The value as JSON on one line.
  package var text: String {
    var buffer: [UInt8] = []
    append(to: &buffer)
    return String(decoding: buffer, as: UTF8.self)
  }
}
