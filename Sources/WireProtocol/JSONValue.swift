import MediaCore

/// One JSON value as it stood in the line: a number stays the text it was written as, so that a time in it is exact.
public indirect enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  /// The number's token, such as `83.5` or `-1e3`; its grammar has been checked.
  case number(String)
  case string(String)
  case array([JSONValue])
  /// The members in their order; a name may stand there twice.
  case object([Member])

  /// One `"name": value` of an object.
  public struct Member: Sendable, Hashable {
    public var name: String
    public var value: JSONValue

    public init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// The value of the first member of that name; nil without one, or when this is no object.
  public subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// Reads one value that fills all of `bytes` (white space around it aside).
  ///
  /// Errors: `invalid-utf8`, and `invalid-json` with the column of what is wrong; nesting beyond `depth` is one of them.
  public init(parsing bytes: Span<UInt8>, depth: Int = WireLimits.standard.jsonDepth) throws(MediaError) {
    do { _ = try UTF8Span(validating: bytes) } catch let error {
      throw MediaError(.invalidUTF8, "the line is not UTF-8 at column \(error.byteOffsets.lowerBound + 1)")
    }
    var parser = JSONParser(maximumDepth: depth)
    self = try parser.parse(bytes)
  }

  /// Appends the value as JSON on one line.
  public func append(to buffer: inout [UInt8]) {
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
      buffer.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { buffer.append(UInt8(ascii: ",")) }
        JSONText.append(member.name, to: &buffer)
        buffer.append(UInt8(ascii: ":"))
        member.value.append(to: &buffer)
      }
      buffer.append(UInt8(ascii: "}"))
    }
  }

  /// What the value is, for error messages.
  var kindName: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// A strict parser of RFC 8259 over bytes that are known to be UTF-8; linear, and no deeper than it is told.
private struct JSONParser {
  let maximumDepth: Int
  private var index = 0
  private var depth = 0
  private var scratch: [UInt8] = []

  init(maximumDepth: Int) { self.maximumDepth = maximumDepth }

  mutating func parse(_ bytes: Span<UInt8>) throws(MediaError) -> JSONValue {
    let value = try parseValue(bytes)
    skipSpace(bytes)
    guard index == bytes.count else { throw failure("nothing may stand behind the value") }
    return value
  }

  private func failure(_ message: String, at index: Int? = nil) -> MediaError {
    MediaError(.invalidJSON, "\(message) (column \((index ?? self.index) + 1))")
  }

  private mutating func skipSpace(_ bytes: Span<UInt8>) {
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): index += 1
      default: return
      }
    }
  }

  private mutating func take(_ byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  private mutating func parseValue(_ bytes: Span<UInt8>) throws(MediaError) -> JSONValue {
    skipSpace(bytes)
    guard index < bytes.count else { throw failure("the text ends where a value is expected") }
    switch bytes[index] {
    case UInt8(ascii: "{"): return try parseObject(bytes)
    case UInt8(ascii: "["): return try parseArray(bytes)
    case UInt8(ascii: "\""): return .string(try parseString(bytes))
    case UInt8(ascii: "t"): return try parseWord("true", .bool(true), bytes)
    case UInt8(ascii: "f"): return try parseWord("false", .bool(false), bytes)
    case UInt8(ascii: "n"): return try parseWord("null", .null, bytes)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try parseNumber(bytes)
    default: throw failure("no value begins like this")
    }
  }

  private mutating func parseWord(
    _ word: StaticString, _ value: JSONValue, _ bytes: Span<UInt8>
  ) throws(MediaError) -> JSONValue {
    let start = index
    for offset in 0..<word.utf8CodeUnitCount {
      guard take(word.utf8Start[offset], bytes) else { throw failure("no value begins like this", at: start) }
    }
    return value
  }

  private mutating func parseNumber(_ bytes: Span<UInt8>) throws(MediaError) -> JSONValue {
    let start = index
    scratch.removeAll(keepingCapacity: true)
    scanning: while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
        UInt8(ascii: "e"), UInt8(ascii: "E"):
        scratch.append(byte)
        index += 1
      default: break scanning
      }
    }
    guard ASCII.isJSONNumber(scratch) else { throw failure("this is no number", at: start) }
    return .number(String(decoding: scratch, as: UTF8.self))
  }

  private mutating func enter() throws(MediaError) {
    guard depth < maximumDepth else { throw failure("nested more than \(maximumDepth) deep") }
    depth += 1
    index += 1
  }

  private mutating func parseArray(_ bytes: Span<UInt8>) throws(MediaError) -> JSONValue {
    try enter()
    defer { depth -= 1 }
    var elements: [JSONValue] = []
    skipSpace(bytes)
    if take(UInt8(ascii: "]"), bytes) { return .array(elements) }
    while true {
      elements.append(try parseValue(bytes))
      skipSpace(bytes)
      if take(UInt8(ascii: "]"), bytes) { return .array(elements) }
      guard take(UInt8(ascii: ","), bytes) else { throw failure("expected , or ]") }
    }
  }

  private mutating func parseObject(_ bytes: Span<UInt8>) throws(MediaError) -> JSONValue {
    try enter()
    defer { depth -= 1 }
    var members: [JSONValue.Member] = []
    skipSpace(bytes)
    if take(UInt8(ascii: "}"), bytes) { return .object(members) }
    while true {
      skipSpace(bytes)
      guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { throw failure("expected a name in quotes") }
      let name = try parseString(bytes)
      skipSpace(bytes)
      guard take(UInt8(ascii: ":"), bytes) else { throw failure("expected :") }
      members.append(JSONValue.Member(name, try parseValue(bytes)))
      skipSpace(bytes)
      if take(UInt8(ascii: "}"), bytes) { return .object(members) }
      guard take(UInt8(ascii: ","), bytes) else { throw failure("expected , or }") }
    }
  }

  private mutating func parseString(_ bytes: Span<UInt8>) throws(MediaError) -> String {
    let start = index
    index += 1
    scratch.removeAll(keepingCapacity: true)
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "\""):
        index += 1
        return String(decoding: scratch, as: UTF8.self)
      case UInt8(ascii: "\\"):
        try parseEscape(bytes)
      case 0..<0x20:
        throw failure("a control character in a string is written as an escape")
      default:
        scratch.append(byte)
        index += 1
      }
    }
    throw failure("the string is not closed", at: start)
  }

  private mutating func parseEscape(_ bytes: Span<UInt8>) throws(MediaError) {
    let start = index
    guard index + 1 < bytes.count else { throw failure("the string is not closed") }
    index += 2
    switch bytes[index - 1] {
    case UInt8(ascii: "\""): scratch.append(UInt8(ascii: "\""))
    case UInt8(ascii: "\\"): scratch.append(UInt8(ascii: "\\"))
    case UInt8(ascii: "/"): scratch.append(UInt8(ascii: "/"))
    case UInt8(ascii: "b"): scratch.append(0x08)
    case UInt8(ascii: "f"): scratch.append(0x0C)
    case UInt8(ascii: "n"): scratch.append(UInt8(ascii: "\n"))
    case UInt8(ascii: "r"): scratch.append(UInt8(ascii: "\r"))
    case UInt8(ascii: "t"): scratch.append(UInt8(ascii: "\t"))
    case UInt8(ascii: "u"):
      var scalar = try parseHexUnit(bytes, start)
      if (0xD800...0xDBFF).contains(scalar) {
        guard take(UInt8(ascii: "\\"), bytes), take(UInt8(ascii: "u"), bytes) else {
          throw failure("half of a surrogate pair", at: start)
        }
        let low = try parseHexUnit(bytes, start)
        guard (0xDC00...0xDFFF).contains(low) else { throw failure("half of a surrogate pair", at: start) }
        scalar = 0x10000 + (scalar - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let unicode = Unicode.Scalar(scalar) else { throw failure("half of a surrogate pair", at: start) }
      scratch.append(contentsOf: UTF8.encode(unicode) ?? UTF8.encodedReplacementCharacter)
    default: throw failure("unknown escape", at: start)
    }
  }

  private mutating func parseHexUnit(_ bytes: Span<UInt8>, _ start: Int) throws(MediaError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard index < bytes.count, let digit = ASCII.hexValue(bytes[index]) else {
        throw failure("\\u needs four hexadecimal digits", at: start)
      }
      unit = unit << 4 | UInt32(digit)
      index += 1
    }
    return unit
  }
}
