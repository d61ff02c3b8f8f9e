import PlayheadMediaCore

/// Splits an interactively typed line into words, as the daemon does. For clients that change a word before they send
/// the line.
package enum CommandLineWords {
  /// The bytes of the words, without quoting.
  ///
  /// A quoted word with the form `key=value` is a path, not an option. Its key is quoted, so it gets the prefix `./` to
  /// stay a path. A word whose key has other characters, such as a quoted edit with options, is unchanged.
  ///
  /// - Throws: `bad-quoting` or `invalid-utf8`.
  package static func split(_ line: [UInt8]) throws(MediaError) -> [[UInt8]] {
    var lexer = WordsLexer()
    try lexer.lex(line.span)
    return lexer.words.map { word in
      let bytes = Array(lexer.text[word.range])
      guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")), equals >= word.bareCount,
        bytes[..<equals].allSatisfy(ASCII.isNameByte)
      else { return bytes }
      return Array("./".utf8) + bytes
    }
  }
}
