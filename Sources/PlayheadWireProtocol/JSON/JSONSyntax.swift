import PlayheadMediaCore

/// A JSON (RFC 8259) reader. It checks the whole text once, then locates values without creating objects.
///
/// Linear time, no allocations. Escapes of a string are decoded within the text itself, so each string can be read only
/// once.
enum JSONSyntax {
  /// The type of a value.
  enum Kind {
    case null
    case bool(Bool)
    case number
    case string
    case array
    case object

    /// The name of the type in error messages.
    var name: String {
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

  // MARK: - Checking

  /// Checks that `text` is exactly one value, except for surrounding white space. `text` is valid UTF-8.
  ///
  /// - Throws: `invalid-json` with the column of the problem, also for nesting beyond `depth`.
  static func check(_ text: [UInt8], depth: Int) throws(MediaError) {
    var index = 0
    try checkValue(text, &index, depth, of: depth)
    skipSpace(text, &index)
    guard index == text.count else { throw failure("the line must end after the value", at: index) }
  }

  private static func failure(_ message: String, at index: Int) -> MediaError {
    MediaError(.invalidJSON, "\(message) (column \(index + 1))")
  }

  private static func checkValue(
    _ text: [UInt8], _ index: inout Int, _ depth: Int, of maximumDepth: Int
  ) throws(MediaError) {
    skipSpace(text, &index)
    guard index < text.count else { throw failure("the text ends where a value is expected", at: index) }
    switch text[index] {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      guard depth > 0 else { throw failure("the value must not be nested more than \(maximumDepth) deep", at: index) }
      let isObject = text[index] == UInt8(ascii: "{")
      index += 1
      try checkMembers(text, &index, depth - 1, of: maximumDepth, isObject: isObject)
    case UInt8(ascii: "\""): try checkString(text, &index)
    case UInt8(ascii: "t"): try checkWord("true", text, &index)
    case UInt8(ascii: "f"): try checkWord("false", text, &index)
    case UInt8(ascii: "n"): try checkWord("null", text, &index)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      let start = index
      skipScalar(text, &index)
      guard ASCII.isJSONNumber(text[start..<index]) else { throw failure("not a number", at: start) }
    default: throw failure("not the start of a value", at: index)
    }
  }

  /// Checks the text after `{` or `[`, including the closing bracket.
  private static func checkMembers(
    _ text: [UInt8], _ index: inout Int, _ depth: Int, of maximumDepth: Int, isObject: Bool
  ) throws(MediaError) {
    let end = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
    skipSpace(text, &index)
    if consume(end, text, &index) { return }
    while true {
      if isObject {
        skipSpace(text, &index)
        guard index < text.count, text[index] == UInt8(ascii: "\"") else {
          throw failure("expected a name in quotes", at: index)
        }
        try checkString(text, &index)
        skipSpace(text, &index)
        guard consume(UInt8(ascii: ":"), text, &index) else { throw failure("expected :", at: index) }
      }
      try checkValue(text, &index, depth, of: maximumDepth)
      skipSpace(text, &index)
      if consume(end, text, &index) { return }
      guard consume(UInt8(ascii: ","), text, &index) else {
        throw failure(isObject ? "expected , or }" : "expected , or ]", at: index)
      }
    }
  }

  private static func checkWord(_ word: StaticString, _ text: [UInt8], _ index: inout Int) throws(MediaError) {
    let start = index
    for offset in 0..<word.utf8CodeUnitCount {
      guard consume(word.utf8Start[offset], text, &index) else { throw failure("not the start of a value", at: start) }
    }
  }

  private static func checkString(_ text: [UInt8], _ index: inout Int) throws(MediaError) {
    let start = index
    index += 1
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "\""):
        index += 1
        return
      case UInt8(ascii: "\\"):
        _ = try escape(text, &index)
      case 0..<0x20:
        throw failure("a control character in a string must be escaped", at: index)
      default:
        index += 1
      }
    }
    throw failure("the string is not closed", at: start)
  }

  /// The character of the escape sequence at `index`. Advances `index` past the sequence.
  private static func escape(_ text: [UInt8], _ index: inout Int) throws(MediaError) -> Unicode.Scalar {
    let start = index
    guard index + 1 < text.count else { throw failure("the string is not closed", at: index) }
    index += 2
    switch text[index - 1] {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      var scalar = try hexUnit(text, &index, start)
      if (0xD800...0xDBFF).contains(scalar) {
        guard consume(UInt8(ascii: "\\"), text, &index), consume(UInt8(ascii: "u"), text, &index) else {
          throw failure("half of a surrogate pair", at: start)
        }
        let low = try hexUnit(text, &index, start)
        guard (0xDC00...0xDFFF).contains(low) else { throw failure("half of a surrogate pair", at: start) }
        scalar = 0x10000 + (scalar - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let unicode = Unicode.Scalar(scalar) else { throw failure("half of a surrogate pair", at: start) }
      return unicode
    default: throw failure("unknown escape", at: start)
    }
  }

  private static func hexUnit(_ text: [UInt8], _ index: inout Int, _ start: Int) throws(MediaError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard index < text.count, let digit = ASCII.hexValue(text[index]) else {
        throw failure("\\u must be followed by four hexadecimal digits", at: start)
      }
      unit = unit << 4 | UInt32(digit)
      index += 1
    }
    return unit
  }

  // MARK: - Reading checked text

  /// The type of the value at `index`. Advances `index` past white space to the beginning of the value.
  static func kind(in text: [UInt8], at index: inout Int) -> Kind {
    skipSpace(text, &index)
    switch text[index] {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "t"): return .bool(true)
    case UInt8(ascii: "f"): return .bool(false)
    case UInt8(ascii: "n"): return .null
    default: return .number
    }
  }

  /// Advances past a value. Returns its range.
  static func skipValue(in text: [UInt8], at index: inout Int) -> Range<Int> {
    skipSpace(text, &index)
    let start = index
    var depth = 0
    repeat {
      switch text[index] {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        index += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        index += 1
      case UInt8(ascii: "\""): skipString(text, &index)
      case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"),
        UInt8(ascii: "\n"):
        index += 1
      default: skipScalar(text, &index)
      }
    } while depth > 0
    return start..<index
  }

  /// Advances `index` to the next element of an array. `index` is at the beginning of the array or after an element.
  /// Returns false after the last element, with `index` past the end of the array.
  static func nextElement(in text: [UInt8], at index: inout Int) -> Bool {
    skipSpace(text, &index)
    switch text[index] {
    case UInt8(ascii: "["), UInt8(ascii: ","):
      index += 1
      skipSpace(text, &index)
      // The end of an empty array.
      guard text[index] == UInt8(ascii: "]") else { return true }
      index += 1
      return false
    default:
      index += 1
      return false
    }
  }

  /// Advances `index` to the value of the next member of an object. `index` is at the beginning of the object or after
  /// a value.
  ///
  /// - Returns: The range of the member's name, with decoded escapes. Nil after the last member, with `index` past the
  ///   end of the object.
  static func nextMember(in text: inout [UInt8], at index: inout Int) -> Range<Int>? {
    skipSpace(text, &index)
    guard text[index] != UInt8(ascii: "}") else {
      index += 1
      return nil
    }
    index += 1
    skipSpace(text, &index)
    // The end of an empty object.
    guard text[index] == UInt8(ascii: "\"") else {
      index += 1
      return nil
    }
    let name = unescapeString(in: &text, at: &index)
    skipSpace(text, &index)
    index += 1
    return name
  }

  /// Decodes the escapes of the string at `index` within the text, and advances past the string. Returns the range of
  /// the decoded text.
  static func unescapeString(in text: inout [UInt8], at index: inout Int) -> Range<Int> {
    index += 1
    let start = index
    var end = index
    while text[index] != UInt8(ascii: "\"") {
      if text[index] == UInt8(ascii: "\\") {
        // Checked text has no unknown escapes.
        let scalar = (try? escape(text, &index)) ?? "\u{FFFD}"
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
          text[end] = byte
          end += 1
        }
      } else {
        if end < index { text[end] = text[index] }
        end += 1
        index += 1
      }
    }
    index += 1
    return start..<end
  }

  // MARK: - Scanning

  private static func skipSpace(_ text: [UInt8], _ index: inout Int) {
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): index += 1
      default: return
      }
    }
  }

  private static func skipString(_ text: [UInt8], _ index: inout Int) {
    index += 1
    while text[index] != UInt8(ascii: "\"") { index += text[index] == UInt8(ascii: "\\") ? 2 : 1 }
    index += 1
  }

  /// Advances past the bytes of a number or a word.
  private static func skipScalar(_ text: [UInt8], _ index: inout Int) {
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"):
        index += 1
      default: return
      }
    }
  }

  private static func consume(_ byte: UInt8, _ text: [UInt8], _ index: inout Int) -> Bool {
    guard index < text.count, text[index] == byte else { return false }
    index += 1
    return true
  }
}
