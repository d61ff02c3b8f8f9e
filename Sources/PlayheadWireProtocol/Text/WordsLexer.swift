import PlayheadMediaCore

/// Splits a line of the text form into words, with the quoting of a shell: `'..'`, `".."` and `\`.
///
/// - Spaces and tabs separate words. Adjacent quoted and unquoted parts form one word.
/// - In `'..'` every byte is literal.
/// - Outside quotes `\` makes the next byte literal.
/// - In `".."` only the escapes `\n \r \t \\ \" \xHH` are valid. Other escapes are errors, because guessing their
///   meaning would corrupt file names.
///
/// The daemon uses it for requests, and the client for replies.
///
/// The line is copied into one buffer and unquoted there, because a word is never longer than its quoted form. The
/// buffer is reused, so a short line allocates nothing.
struct WordsLexer: Sendable {
  /// One word: the range of its bytes in `text`, and its quoting.
  struct Word: Sendable, Hashable {
    /// Half-open range of the lexer's `text`.
    var range: Range<Int>
    /// The number of leading bytes without any quoting. `key=` counts as an option only within them.
    var bareCount: Int
    /// The position of the word in the line, in bytes from 1.
    var column: Int

    /// Whether no byte of the word was quoted.
    var isBare: Bool { bareCount == range.count }
  }

  /// The progress in a text. `index` is the position of the search for the next word, `end` the end of the text.
  struct Cursor: Sendable {
    var index: Int
    let end: Int
    /// The start of the text, from which columns are counted.
    let start: Int

    init(_ range: Range<Int>) {
      index = range.lowerBound
      end = range.upperBound
      start = range.lowerBound
    }
  }

  /// The capacity above which the buffer is released after its line is read.
  private static let retainedByteCount = 4_096

  /// The words of the last line that `lex` split.
  private(set) var words: [Word] = []
  /// The line. Words that have been split are unquoted within it. Not private, because the parser reads nested words
  /// and JSON from it.
  var text: [UInt8] = []

  /// The bytes of a range as a string. The lexer has checked that they are UTF-8.
  func string(_ range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }
  /// The bytes of a word as a string.
  func string(_ word: Word) -> String { string(word.range) }

  /// Whether the bytes of `range` equal `other`.
  func equals(_ range: Range<Int>, _ other: [UInt8]) -> Bool {
    guard range.count == other.count else { return false }
    for index in other.indices where text[range.lowerBound + index] != other[index] { return false }
    return true
  }

  /// Whether the bytes of `range` equal `other`.
  func equals(_ range: Range<Int>, _ other: StaticString) -> Bool {
    guard range.count == other.utf8CodeUnitCount else { return false }
    for index in 0..<range.count where text[range.lowerBound + index] != other.utf8Start[index] { return false }
    return true
  }

  /// Copies a line into the buffer, without examining it.
  mutating func load(_ line: Span<UInt8>) {
    text.removeAll(keepingCapacity: true)
    text.reserveCapacity(line.count)
    line.withUnsafeBufferPointer { text.append(contentsOf: $0) }
  }

  /// Releases a large buffer after the line is read.
  mutating func releaseMemory() { if text.capacity > Self.retainedByteCount { text = [] } }

  /// Splits the whole line. On an error, `words` contains the words before the error.
  mutating func lex(_ line: Span<UInt8>) throws(MediaError) {
    words.removeAll(keepingCapacity: true)
    load(line)
    if let invalidUTF8 { throw invalidUTF8 }
    var cursor = Cursor(text.indices)
    while let word = try next(&cursor) { words.append(word) }
  }

  /// The error if the line is not UTF-8 (`invalid-utf8`). Call it before words are split.
  var invalidUTF8: MediaError? {
    do { _ = try UTF8Span(validating: text.span) } catch let error {
      return MediaError(.invalidUTF8, "the line is not UTF-8 at column \(error.byteOffsets.lowerBound + 1)")
    }
    return nil
  }

  /// The next word at `cursor`, unquoted. Nil at the end.
  ///
  /// - Throws: `bad-quoting`, or `invalid-utf8` if `\xHH` escapes form invalid UTF-8.
  mutating func next(_ cursor: inout Cursor) throws(MediaError) -> Word? {
    while cursor.index < cursor.end, text[cursor.index] == UInt8(ascii: " ") || text[cursor.index] == UInt8(ascii: "\t")
    {
      cursor.index += 1
    }
    guard cursor.index < cursor.end else { return nil }
    let start = cursor.index
    let column = start - cursor.start + 1
    var end = start
    var bareCount: Int?
    var hasEscapedBytes = false
    scanning: while cursor.index < cursor.end {
      let byte = text[cursor.index]
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"):
        break scanning
      case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "\\"):
        if bareCount == nil { bareCount = end - start }
        let quoteColumn = cursor.index - cursor.start + 1
        cursor.index += 1
        switch byte {
        case UInt8(ascii: "'"): try unquoteSingle(&cursor, &end, quoteColumn)
        case UInt8(ascii: "\""): try unquoteDouble(&cursor, &end, quoteColumn, &hasEscapedBytes)
        default:
          guard cursor.index < cursor.end else {
            throw MediaError(.badQuoting, "the \\ at column \(quoteColumn) must be followed by a character")
          }
          appendByte(&cursor, &end)
        }
      default:
        appendByte(&cursor, &end)
      }
    }
    let word = Word(range: start..<end, bareCount: bareCount ?? end - start, column: column)
    // The original line was UTF-8. Each word is checked separately, so that no word ends inside a character.
    if hasEscapedBytes {
      do { _ = try UTF8Span(validating: text.span.extracting(word.range)) } catch {
        throw MediaError(
          .invalidUTF8,
          "the word at column \(column) must be UTF-8; write other paths as percent-encoded file:// URLs")
      }
    }
    return word
  }

  /// Appends the byte at the cursor to the word, whose bytes end at `end`.
  private mutating func appendByte(_ cursor: inout Cursor, _ end: inout Int) {
    if end < cursor.index { text[end] = text[cursor.index] }
    end += 1
    cursor.index += 1
  }

  private mutating func unquoteSingle(
    _ cursor: inout Cursor, _ end: inout Int, _ quoteColumn: Int
  ) throws(MediaError) {
    while cursor.index < cursor.end {
      if text[cursor.index] == UInt8(ascii: "'") {
        cursor.index += 1
        return
      }
      appendByte(&cursor, &end)
    }
    throw MediaError(.badQuoting, "the ' at column \(quoteColumn) is not closed")
  }

  private mutating func unquoteDouble(
    _ cursor: inout Cursor, _ end: inout Int, _ quoteColumn: Int, _ hasEscapedBytes: inout Bool
  ) throws(MediaError) {
    while cursor.index < cursor.end {
      let byte = text[cursor.index]
      if byte == UInt8(ascii: "\"") {
        cursor.index += 1
        return
      }
      guard byte == UInt8(ascii: "\\") else {
        appendByte(&cursor, &end)
        continue
      }
      let escapeColumn = cursor.index - cursor.start + 1
      cursor.index += 1
      guard cursor.index < cursor.end else { break }
      let decoded: UInt8
      switch text[cursor.index] {
      case UInt8(ascii: "n"): decoded = UInt8(ascii: "\n")
      case UInt8(ascii: "r"): decoded = UInt8(ascii: "\r")
      case UInt8(ascii: "t"): decoded = UInt8(ascii: "\t")
      case UInt8(ascii: "\\"): decoded = UInt8(ascii: "\\")
      case UInt8(ascii: "\""): decoded = UInt8(ascii: "\"")
      case UInt8(ascii: "x"):
        guard cursor.index + 2 < cursor.end, let high = ASCII.hexValue(text[cursor.index + 1]),
          let low = ASCII.hexValue(text[cursor.index + 2])
        else {
          throw MediaError(.badQuoting, "\\x at column \(escapeColumn) must be followed by two hexadecimal digits")
        }
        decoded = high << 4 | low
        hasEscapedBytes = hasEscapedBytes || decoded >= 0x80
        cursor.index += 2
      default:
        throw MediaError(
          .badQuoting,
          "unknown escape at column \(escapeColumn): within \"..\" only \\n \\r \\t \\\\ \\\" \\xHH are known")
      }
      cursor.index += 1
      text[end] = decoded
      end += 1
    }
    throw MediaError(.badQuoting, "the \" at column \(quoteColumn) is not closed")
  }
}
