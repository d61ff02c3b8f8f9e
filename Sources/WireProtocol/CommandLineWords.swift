import MediaCore

/// A line that a person typed, cut into words as the daemon would: for clients that change a word before they send it.
public enum CommandLineWords {
  /// The words' bytes, with the quoting undone. A quoted word that looks like `key=value` gets `./` before it, so that it stays
  /// what it was: no option, but a path. A word that does not, such as a quoted edit with options of its own, stays as it is.
  ///
  /// Errors: `bad-quoting`, `invalid-utf8`.
  public static func split(_ line: [UInt8]) throws(MediaError) -> [[UInt8]] {
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
