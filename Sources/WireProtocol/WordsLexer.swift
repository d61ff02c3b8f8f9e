import MediaCore

/// Cuts a line in words into its words, quoting as a shell does: `'..'`, `".."` and `\`.
///
/// Words are separated by spaces and tabs. In `'..'` every byte stands for itself; outside quotes `\` takes the next byte as it
/// is; in `".."` there are `\n \r \t \\ \" \xHH` and no others, because one that is silently taken to mean something is how a
/// file's name gets lost. Pieces that touch are one word. Used by both sides: the daemon for requests, the client for replies.
///
/// The line is copied into one buffer, in which quoting is undone where it stands: what a word means is never longer than how it is
/// written. So reading a line takes as much memory as the line, and nothing for a short one, because the buffer is used again.
struct WordsLexer: Sendable {
  /// One word: where its bytes lie in `text`, and what the quoting says about it.
  struct Word: Sendable, Hashable {
    /// Half-open range of the lexer's `text`.
    var range: Range<Int>
    /// How many bytes at the word's beginning were written without any quoting: `key=` counts as an option only within them.
    var bareCount: Int
    /// Where the word begins in the line, in bytes, from 1.
    var column: Int

    /// No byte of the word was quoted.
    var isBare: Bool { bareCount == range.count }
  }

  /// How far a text has been cut: `index` is where the next word is looked for, `end` where the text ends.
  struct Cursor: Sendable {
    var index: Int
    let end: Int
    /// Where the text begins, from which columns are counted.
    let start: Int

    init(_ range: Range<Int>) {
      index = range.lowerBound
      end = range.upperBound
      start = range.lowerBound
    }
  }

  /// Longer lines' memory is given back when they have been read.
  private static let keptByteCount = 4_096

  /// The words of the line that was cut whole.
  private(set) var words: [Word] = []
  /// The line; where words have been cut, their bytes with the quoting undone. Not private: what stands within a word, such as JSON or
  /// further words, is read where it is, too.
  var text: [UInt8] = []

  /// The word's bytes as a string. Lexing has checked that they are UTF-8.
  func string(_ range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }
  /// The word's bytes as a string.
  func string(_ word: Word) -> String { string(word.range) }

  /// Whether the bytes of `range` are those of `other`.
  func equals(_ range: Range<Int>, _ other: [UInt8]) -> Bool {
    guard range.count == other.count else { return false }
    for index in other.indices where text[range.lowerBound + index] != other[index] { return false }
    return true
  }

  /// Whether the bytes of `range` are those of `other`.
  func equals(_ range: Range<Int>, _ other: StaticString) -> Bool {
    guard range.count == other.utf8CodeUnitCount else { return false }
    for index in 0..<range.count where text[range.lowerBound + index] != other.utf8Start[index] { return false }
    return true
  }

  /// Takes a line, of which nothing is looked at yet.
  mutating func load(_ line: Span<UInt8>) {
    text.removeAll(keepingCapacity: true)
    text.reserveCapacity(line.count)
    line.withUnsafeBufferPointer { text.append(contentsOf: $0) }
  }

  /// The line has been read.
  mutating func letGo() { if text.capacity > Self.keptByteCount { text = [] } }

  /// Cuts `line` whole: `words` are all of its words, or those before the error.
  mutating func lex(_ line: Span<UInt8>) throws(MediaError) {
    words.removeAll(keepingCapacity: true)
    load(line)
    if let invalidUTF8 { throw invalidUTF8 }
    var cursor = Cursor(text.indices)
    while let word = try next(&cursor) { words.append(word) }
  }

  /// What is wrong with a line that is not UTF-8 (`invalid-utf8`), of which nothing has been cut yet.
  var invalidUTF8: MediaError? {
    do { _ = try UTF8Span(validating: text.span) } catch let error {
      return MediaError(.invalidUTF8, "the line is not UTF-8 at column \(error.byteOffsets.lowerBound + 1)")
    }
    return nil
  }

  /// The next word of the text that `cursor` is in, with its quoting undone; nil at the end.
  ///
  /// Errors: `bad-quoting`, and `invalid-utf8` for what `\xHH` makes.
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
        case UInt8(ascii: "'"): try undoSingleQuotes(&cursor, &end, quoteColumn)
        case UInt8(ascii: "\""): try undoDoubleQuotes(&cursor, &end, quoteColumn, &hasEscapedBytes)
        default:
          guard cursor.index < cursor.end else {
            throw MediaError(.badQuoting, "the \\ at column \(quoteColumn) has nothing behind it")
          }
          keep(&cursor, &end)
        }
      default:
        keep(&cursor, &end)
      }
    }
    let word = Word(range: start..<end, bareCount: bareCount ?? end - start, column: column)
    // What the line had was UTF-8; word by word, so that none ends amid a character.
    if hasEscapedBytes {
      do { _ = try UTF8Span(validating: text.span.extracting(word.range)) } catch {
        throw MediaError(
          .invalidUTF8,
          "the word at column \(column) is not UTF-8; a path that is not is written as a percent-encoded file:// URL")
      }
    }
    return word
  }

  /// The byte under the cursor is one of the word, whose bytes end at `end`.
  private mutating func keep(_ cursor: inout Cursor, _ end: inout Int) {
    if end < cursor.index { text[end] = text[cursor.index] }
    end += 1
    cursor.index += 1
  }

  private mutating func undoSingleQuotes(
    _ cursor: inout Cursor, _ end: inout Int, _ quoteColumn: Int
  ) throws(MediaError) {
    while cursor.index < cursor.end {
      if text[cursor.index] == UInt8(ascii: "'") {
        cursor.index += 1
        return
      }
      keep(&cursor, &end)
    }
    throw MediaError(.badQuoting, "the ' at column \(quoteColumn) is not closed")
  }

  private mutating func undoDoubleQuotes(
    _ cursor: inout Cursor, _ end: inout Int, _ quoteColumn: Int, _ hasEscapedBytes: inout Bool
  ) throws(MediaError) {
    while cursor.index < cursor.end {
      let byte = text[cursor.index]
      if byte == UInt8(ascii: "\"") {
        cursor.index += 1
        return
      }
      guard byte == UInt8(ascii: "\\") else {
        keep(&cursor, &end)
        continue
      }
      let escapeColumn = cursor.index - cursor.start + 1
      cursor.index += 1
      guard cursor.index < cursor.end else { break }
      let meant: UInt8
      switch text[cursor.index] {
      case UInt8(ascii: "n"): meant = UInt8(ascii: "\n")
      case UInt8(ascii: "r"): meant = UInt8(ascii: "\r")
      case UInt8(ascii: "t"): meant = UInt8(ascii: "\t")
      case UInt8(ascii: "\\"): meant = UInt8(ascii: "\\")
      case UInt8(ascii: "\""): meant = UInt8(ascii: "\"")
      case UInt8(ascii: "x"):
        guard cursor.index + 2 < cursor.end, let high = ASCII.hexValue(text[cursor.index + 1]),
          let low = ASCII.hexValue(text[cursor.index + 2])
        else { throw MediaError(.badQuoting, "\\x at column \(escapeColumn) needs two hexadecimal digits") }
        meant = high << 4 | low
        hasEscapedBytes = hasEscapedBytes || meant >= 0x80
        cursor.index += 2
      default:
        throw MediaError(
          .badQuoting,
          "unknown escape at column \(escapeColumn): within \"..\" there are \\n \\r \\t \\\\ \\\" \\xHH")
      }
      cursor.index += 1
      text[end] = meant
      end += 1
    }
    throw MediaError(.badQuoting, "the \" at column \(quoteColumn) is not closed")
  }
}
