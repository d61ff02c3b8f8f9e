import MediaCore

/// Cuts a line in words into its words, quoting as a shell does: `'..'`, `".."` and `\`.
///
/// Words are separated by spaces and tabs. In `'..'` every byte stands for itself; outside quotes `\` takes the next byte as it
/// is; in `".."` there are `\n \r \t \\ \" \xHH` and no others, because one that is silently taken to mean something is how a
/// file's name gets lost. Pieces that touch are one word. Used by both sides: the daemon for requests, the client for replies.
///
/// The words' bytes, quoting undone, lie behind each other in one buffer that is used again for the next line: lexing a short
/// line allocates nothing.
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

  /// The words of the last line.
  private(set) var words: [Word] = []
  /// The bytes of all words, quoting undone.
  private(set) var text: [UInt8] = []

  /// The word's bytes as a string. Lexing has checked that they are UTF-8.
  func string(_ range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }
  /// The word's bytes as a string.
  func string(_ word: Word) -> String { string(word.range) }

  /// Whether the bytes of `range` are those of `other`.
  func equals(_ range: Range<Int>, _ other: [UInt8]) -> Bool {
    guard range.count == other.count else { return false }
    for (index, byte) in zip(range, other) where text[index] != byte { return false }
    return true
  }

  /// Cuts `line`; on an error `words` holds what came before it, so that an id can still be told.
  mutating func lex(_ line: Span<UInt8>) throws(MediaError) {
    words.removeAll(keepingCapacity: true)
    if text.capacity > 4_096 { text = [] } else { text.removeAll(keepingCapacity: true) }
    var allBits: UInt8 = 0
    var index = 0
    while true {
      while index < line.count, line[index] == UInt8(ascii: " ") || line[index] == UInt8(ascii: "\t") { index += 1 }
      guard index < line.count else { break }
      try lexWord(line, &index, &allBits)
    }
    // Whatever has its top bit set, in the line or made by \xHH, must be UTF-8: word by word, so that none ends amid a character.
    guard allBits & 0x80 != 0 else { return }
    do { _ = try UTF8Span(validating: line) } catch let error {
      keepOnlyID()
      throw MediaError(.invalidUTF8, "the line is not UTF-8 at column \(error.byteOffsets.lowerBound + 1)")
    }
    for word in words {
      do { _ = try UTF8Span(validating: text.span.extracting(word.range)) } catch {
        keepOnlyID()
        throw MediaError(
          .invalidUTF8,
          "the word at column \(word.column) is not UTF-8; a path that is not is written as a percent-encoded file:// URL"
        )
      }
    }
  }

  /// After an error only the id is of use, and only if it was read whole: forgets all else.
  private mutating func keepOnlyID() {
    if words.count > 1 { words.removeLast(words.count - 1) }
    guard let first = words.first else { return }
    if text[first.range].contains(where: { $0 >= 0x80 }) { words.removeAll(keepingCapacity: true) }
  }

  private mutating func lexWord(
    _ line: Span<UInt8>, _ index: inout Int, _ allBits: inout UInt8
  ) throws(MediaError) {
    let column = index + 1
    let start = text.count
    var bareCount: Int?
    scanning: while index < line.count {
      let byte = line[index]
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"):
        break scanning
      case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "\\"):
        if bareCount == nil { bareCount = text.count - start }
        let quoteColumn = index + 1
        index += 1
        do throws(MediaError) {
          switch byte {
          case UInt8(ascii: "'"): try lexSingleQuoted(line, &index, &allBits, quoteColumn)
          case UInt8(ascii: "\""): try lexDoubleQuoted(line, &index, &allBits, quoteColumn)
          default:
            guard index < line.count else {
              throw MediaError(.badQuoting, "the \\ at column \(quoteColumn) has nothing behind it")
            }
            allBits |= line[index]
            text.append(line[index])
            index += 1
          }
        } catch {
          keepOnlyID()
          throw error
        }
      default:
        allBits |= byte
        text.append(byte)
        index += 1
      }
    }
    words.append(Word(range: start..<text.count, bareCount: bareCount ?? text.count - start, column: column))
  }

  private mutating func lexSingleQuoted(
    _ line: Span<UInt8>, _ index: inout Int, _ allBits: inout UInt8, _ quoteColumn: Int
  ) throws(MediaError) {
    while index < line.count {
      let byte = line[index]
      index += 1
      if byte == UInt8(ascii: "'") { return }
      allBits |= byte
      text.append(byte)
    }
    throw MediaError(.badQuoting, "the ' at column \(quoteColumn) is not closed")
  }

  private mutating func lexDoubleQuoted(
    _ line: Span<UInt8>, _ index: inout Int, _ allBits: inout UInt8, _ quoteColumn: Int
  ) throws(MediaError) {
    while index < line.count {
      var byte = line[index]
      index += 1
      if byte == UInt8(ascii: "\"") { return }
      if byte == UInt8(ascii: "\\") {
        let escapeColumn = index
        guard index < line.count else { break }
        switch line[index] {
        case UInt8(ascii: "n"): byte = UInt8(ascii: "\n")
        case UInt8(ascii: "r"): byte = UInt8(ascii: "\r")
        case UInt8(ascii: "t"): byte = UInt8(ascii: "\t")
        case UInt8(ascii: "\\"): byte = UInt8(ascii: "\\")
        case UInt8(ascii: "\""): byte = UInt8(ascii: "\"")
        case UInt8(ascii: "x"):
          guard index + 2 < line.count, let high = ASCII.hexValue(line[index + 1]),
            let low = ASCII.hexValue(line[index + 2])
          else { throw MediaError(.badQuoting, "\\x at column \(escapeColumn) needs two hexadecimal digits") }
          byte = high << 4 | low
          index += 2
        default:
          throw MediaError(
            .badQuoting, "unknown escape at column \(escapeColumn): within \"..\" there are \\n \\r \\t \\\\ \\\" \\xHH"
          )
        }
        index += 1
      }
      allBits |= byte
      text.append(byte)
    }
    throw MediaError(.badQuoting, "the \" at column \(quoteColumn) is not closed")
  }
}
