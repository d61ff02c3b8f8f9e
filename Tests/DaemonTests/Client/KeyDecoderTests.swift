import Testing

@testable import playhead

/// The keys of a terminal's bytes.
@Suite struct KeyDecoderTests {
  private static let sequences: [(bytes: String, key: Key)] = [
    ("\u{1B}[A", .up), ("\u{1B}OA", .up), ("\u{1B}[B", .down), ("\u{1B}OB", .down), ("\u{1B}[C", .right),
    ("\u{1B}OC", .right), ("\u{1B}[D", .left), ("\u{1B}OD", .left), ("\u{1B}[H", .home), ("\u{1B}OH", .home),
    ("\u{1B}[1~", .home), ("\u{1B}[7~", .home), ("\u{1B}[F", .end), ("\u{1B}OF", .end), ("\u{1B}[4~", .end),
    ("\u{1B}[8~", .end), ("\u{1B}[3~", .delete), ("\u{1B}[1;5C", .wordRight), ("\u{1B}[1;3D", .wordLeft),
    ("\u{1B}[1;1C", .right), ("\u{1B}b", .wordLeft), ("\u{1B}f", .wordRight), ("\u{1B}d", .alt("d")),
    ("\u{1B}\u{1B}[A", .up), ("\u{7F}", .backspace), ("\u{8}", .backspace), ("\u{3}", .control("c")),
    ("\n", .control("j")), ("\t", .control("i")),
    ("\u{1B}[200~a\nb\u{1B}[A\u{1B}[201~", .paste(Array("a\nb\u{1B}[A".utf8))),
    ("\u{1B}[200~\u{1B}[201~", .paste([])),
  ]

  /// Each sequence is decoded whole, and split at each byte.
  @Test func sequencesAreDecodedWholeAndSplit() {
    for (text, key) in Self.sequences {
      let bytes = Array(text.utf8)
      for split in bytes.indices {
        var decoder = KeyDecoder()
        #expect(decoder.decode(bytes[..<split]) + decoder.decode(bytes[split...]) == [key], "\(text.debugDescription)")
        #expect(decoder.decode("x".utf8) == [.text(Array("x".utf8))], "\(text.debugDescription)")
      }
    }
  }

  @Test func unknownSequencesHaveNoKey() {
    for text in [
      "\u{1B}[15~", "\u{1B}OP", "\u{1B}[[A", "\u{1B}[5;5~", "\u{1B}[99999999999999999999999~", "\u{1B}[?1;2c",
      "\u{1B}[I",
      "\u{1B}[\(String(repeating: "1", count: 10_000))~", "\u{1B}[A".replacing("A", with: "Z"),
    ] {
      var decoder = KeyDecoder()
      #expect(decoder.decode("\(text)x".utf8) == [.text(Array("x".utf8))], "\(text.debugDescription)")
    }
  }

  /// Otherwise a lone Escape would disable Ctrl-C.
  @Test func controlCharactersEndAnIncompleteSequence() {
    for start in ["\u{1B}", "\u{1B}[", "\u{1B}[12;", "\u{1B}O", "\u{1B}[["] {
      var decoder = KeyDecoder()
      #expect(
        decoder.decode("\(start)\u{3}a".utf8) == [.control("c"), .text(Array("a".utf8))], "\(start.debugDescription)")
    }
  }

  /// The time decides that no more bytes follow. The next key is then complete.
  @Test func incompleteSequenceEndsWithItsKey() {
    for (start, key) in [
      ("\u{1B}", .escape), ("\u{1B}\u{1B}", .escape), ("\u{1B}[", .alt("[")), ("\u{1B}O", .alt("O")),
    ] as [(String, Key)] {
      var decoder = KeyDecoder()
      #expect(decoder.decode(start.utf8) == [] && decoder.isWithinSequence, "\(start.debugDescription)")
      #expect(decoder.endSequence() == [key] && !decoder.isWithinSequence, "\(start.debugDescription)")
      #expect(decoder.decode("[".utf8) == [.text(Array("[".utf8))], "\(start.debugDescription)")
    }
  }

  /// The bytes after the beginning of a sequence are never keys, however late they are.
  @Test func slowSequenceIsDecodedWhole() {
    for (bytes, keys) in [
      ("\u{1B}[1;5C", [.wordRight]), ("\u{1B}[[A", []), ("\u{1B}[200~qn\u{1B}[201~", [.paste(Array("qn".utf8))]),
    ] as [(String, [Key])] {
      for split in 3..<bytes.utf8.count {
        var decoder = KeyDecoder()
        let start = decoder.decode(Array(bytes.utf8.prefix(split)))
        #expect(start == [] && !decoder.isWithinSequence && decoder.endSequence() == [], "\(bytes.debugDescription)")
        #expect(decoder.decode(Array(bytes.utf8.dropFirst(split))) == keys, "\(bytes.debugDescription) at \(split)")
      }
    }
    // A paste ends only with its mark.
    var decoder = KeyDecoder()
    #expect(decoder.decode("\u{1B}[200~a".utf8) == [] && !decoder.isWithinSequence && decoder.endSequence() == [])
    #expect(decoder.decode("b\u{1B}[201~".utf8) == [.paste(Array("ab".utf8))])
    #expect(decoder.endSequence() == [])
  }

  @Test func adjacentTextIsOneKey() {
    var decoder = KeyDecoder()
    #expect(
      decoder.decode([0x61, 0xC3, 0xA9, 0xFF, 0x0D, 0x62]) == [
        .text([0x61, 0xC3, 0xA9, 0xFF]), .control("m"), .text([0x62]),
      ])
  }

  @Test func pastedTextIsLimited() {
    var decoder = KeyDecoder()
    let text = String(repeating: "a", count: KeyDecoder.maximumPasteSize + 100)
    #expect(
      decoder.decode("\u{1B}[200~\(text)\u{1B}[201~x".utf8) == [
        .paste(Array(repeating: UInt8(ascii: "a"), count: KeyDecoder.maximumPasteSize)), .text(Array("x".utf8)),
      ])
  }

  @Test func watchActionsOfKeys() {
    #expect(
      WatchAction.actions(of: .text(Array(" n?xq".utf8))) == [
        .request(["toggle"]), .request(["next"]), .toggleHelp, .leave,
      ])
    #expect(WatchAction.actions(of: .paste(Array("q".utf8))).isEmpty)
    #expect(WatchAction.actions(of: .control("c")).isEmpty)
  }
}
