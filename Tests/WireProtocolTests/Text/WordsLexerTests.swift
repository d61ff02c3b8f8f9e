import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

@Suite struct WordsLexerTests {
  private static func words(_ line: String) throws(MediaError) -> [String] {
    var lexer = WordsLexer()
    try lexer.lex(Array(line.utf8).span)
    return lexer.words.map { lexer.string($0) }
  }

  @Test(arguments: [
    ("", []), (" \t ", []), ("a", ["a"]), ("  a\t b  ", ["a", "b"]), ("'a b'", ["a b"]), ("\"a b\"", ["a b"]),
    ("a\\ b", ["a b"]), ("''", [""]), ("\"\" ''x", ["", "x"]), ("a'b'\"c\"\\d", ["abcd"]), ("'\\n'", ["\\n"]),
    (#""\n\r\t\\\"""#, ["\n\r\t\\\""]), (#""\x41\x7a\x00""#, ["Az\0"]), (#""\xc3\xA9""#, ["é"]), ("\\é", ["é"]),
    (#"it\'s"#, ["it's"]), (#"'it'\''s'"#, ["it's"]), ("a=b \"c=d\"", ["a=b", "c=d"]),
    ("\u{A0}x\u{2028}", ["\u{A0}x\u{2028}"]),
    (#""'""#, ["'"]), ("'\"'", ["\""]), ("\\\\", ["\\"]),
  ])
  func quotingFollowsShellRules(line: String, expected: [String]) throws {
    #expect(try Self.words(line) == expected)
  }

  @Test(arguments: [
    ("'a", "the ' at column 1 is not closed"), ("x 'a", "the ' at column 3 is not closed"),
    ("x\"a", "the \" at column 2 is not closed"), ("\"a\\", "the \" at column 1 is not closed"),
    ("a\\", "the \\ at column 2 must be followed by a character"), (#"ab "\q""#, "unknown escape at column 5"),
    (#""\x4""#, "\\x at column 2 must be followed by two hexadecimal digits"),
    (#""\x"#, "\\x at column 2 must be followed by two"),
    (#""\xg0""#, "\\x at column 2 must be followed by two"),
  ])
  func invalidQuotingIsReportedWithItsColumn(line: String, message: String) throws {
    let error = try #require(throws: MediaError.self) { try Self.words(line) }
    #expect(error.code == .badQuoting)
    #expect(error.message.hasPrefix(message), "\(error.message)")
  }

  @Test(arguments: [
    [0xFF], [0x61, 0x20, 0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80], Array(#"a "\xff""#.utf8), Array(#""\xc3" x"#.utf8),
  ])
  func bytesThatAreNotUTF8AreRejected(bytes: [UInt8]) throws {
    var lexer = WordsLexer()
    let error = try #require(throws: MediaError.self) { try lexer.lex(bytes.span) }
    #expect(error.code == .invalidUTF8)
  }

  @Test func lexerReportsUnquotedPartsAndColumnsOfWords() throws {
    var lexer = WordsLexer()
    try lexer.lex(Array(#"a=1 b="x y" 'c=2' d\=3"#.utf8).span)
    #expect(lexer.words.map(\.bareCount) == [3, 2, 0, 1])
    #expect(lexer.words.map(\.isBare) == [true, false, false, false])
    #expect(lexer.words.map(\.column) == [1, 5, 13, 19])
  }

  @Test func textSurvivesQuotingAndLexing() throws {
    var texts = (0...0x2FF).compactMap(Unicode.Scalar.init).flatMap { ["\($0)", "a\($0)b", "\($0)\($0)"] }
    texts += [
      "", " ", "a=b", "=", "'", "\"", "\\", "\\x41", "\u{2028}\u{2029}\u{2027}", "\u{10FFFF}", "end\\", "* tick", "@5",
      "|",
    ]
    for text in texts {
      let quoted = WordsText.quoted(text)
      #expect(try Self.words(quoted) == [text], "\(quoted)")
      #expect(!quoted.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "\(quoted)")
      #expect(
        !quoted.unicodeScalars.contains { (0x80...0x9F).contains($0.value) || $0 == "\u{2028}" || $0 == "\u{2029}" })
    }
  }

  @Test func pathsSurviveQuotingAndLexing() throws {
    var generator = SeededGenerator(seed: 2)
    for round in 0..<2_000 {
      let bytes = [UInt8(ascii: "/")] + (0..<12).map { _ in UInt8.random(in: 1...255, using: &generator) }
      let path = try #require(FilePath(bytes: round < 255 ? [UInt8(ascii: "/"), UInt8(round + 1)] : bytes))
      let words = try Self.words(WordsText.quoted(path.text))
      try #require(words.count == 1)
      #expect(try FilePath(text: words[0]) == path)
    }
  }
}
