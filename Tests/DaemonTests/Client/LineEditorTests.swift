import Testing

@testable import playhead

/// The keys of the line editor, without a terminal.
@Suite struct LineEditorTests {
  /// The text after the bytes of a keyboard, with `|` at the cursor.
  private func edited(_ keys: String, history: [String] = []) -> String {
    var editor = LineEditor(history: history.map { Array($0.utf8) })
    var decoder = KeyDecoder()
    for key in decoder.decode(keys.utf8) { _ = editor.handle(key) }
    let text = editor.text
    return String(decoding: text[..<editor.cursor], as: UTF8.self) + "|"
      + String(decoding: text[editor.cursor...], as: UTF8.self)
  }

  private func outcomes(_ keys: String) -> [LineEditor.Outcome] {
    var editor = LineEditor()
    var decoder = KeyDecoder()
    return decoder.decode(keys.utf8).compactMap { editor.handle($0) }
  }

  @Test func keysEditTheLine() {
    for (keys, text) in [
      ("abc", "abc|"), ("abc\u{1B}[D", "ab|c"), ("abc\u{1B}[D\u{1B}[Dx", "ax|bc"), ("abc\u{1}x", "x|abc"),
      ("abc\u{1B}[Hx\u{1B}[Fy", "xabcy|"), ("abc\u{1}\u{6}\u{6}\u{2}\u{1B}[3~", "a|c"), ("abc\u{1}\u{4}", "|bc"),
      ("abc\u{7F}", "ab|"), ("abc\u{1}\u{7F}", "|abc"), ("abc\u{1B}[D\u{15}", "|c"), ("abc\u{1B}[D\u{B}", "ab|"),
      ("one two  \u{17}", "one |"), ("one two\u{17}\u{17}\u{17}", "|"), ("one two\u{17}\u{19}\u{19}", "one twotwo|"),
      ("one-two three\u{1B}b\u{1B}b", "one-|two three"), ("one-two\u{1}\u{1B}f", "one|-two"),
      ("one two\u{1}\u{1B}d", "| two"), ("one two\u{1B}[1;5D", "one |two"), ("\u{1B}[D\u{1B}[C\u{7F}\u{1B}[3~", "|"),
      ("a\u{5}\u{B}\u{B}b", "ab|"),
    ] { #expect(edited(keys) == text, "\(keys.debugDescription)") }
  }

  /// The cursor moves by displayed characters.
  @Test func charactersWithSeveralScalarsAreEditedWhole() {
    for (keys, text) in [
      ("xe\u{301}y\u{1B}[D\u{1B}[D", "x|e\u{301}y"), ("e\u{301}\u{7F}", "|"), ("三四\u{1B}[D\u{7F}", "|四"),
      ("a👩‍👩‍👧b\u{1B}[D\u{1B}[D", "a|👩‍👩‍👧b"), ("👩‍👩‍👧\u{1}\u{1B}[3~", "|"),
    ] { #expect(edited(keys) == text, "\(keys.debugDescription)") }
    // A combining mark joins the character before it.
    #expect(edited("ex\u{1B}[D\u{301}") == "e\u{301}|x")
    var editor = LineEditor()
    // Bytes that are not UTF-8, and a character whose bytes arrive separately.
    for bytes in [[0x61, 0xFF, 0xFE], [0xC3], [0xA9]] as [[UInt8]] { _ = editor.handle(.text(bytes)) }
    #expect(editor.text == [0x61, 0xFF, 0xFE, 0xC3, 0xA9] && editor.cursor == 5)
    for count in [3, 2, 1, 0] {
      _ = editor.handle(.backspace)
      #expect(editor.text.count == count)
    }
  }

  @Test func outcomesOfKeys() {
    #expect(outcomes("ab\u{4}\n") == [.line(Array("ab".utf8))])
    #expect(outcomes("a\u{3}b\n") == [.interrupt([0x61]), .line([0x62])])
    #expect(outcomes("\u{4}\u{3}\t\u{1A}\u{C}") == [.end, .interrupt([]), .complete, .suspend, .clearScreen])
  }

  @Test func pastedLinesWaitForEnter() {
    #expect(outcomes("\u{1B}[200~a\nb\r\nc\rd\n\u{1B}[201~") == [])
    #expect(edited("x\u{1B}[200~a\nb\r\nc\rd\n\u{1B}[201~y") == "xa\nb\nc\ndy|")
    #expect(outcomes("\u{1B}[200~a\nb\n\u{1B}[201~\n") == [.line(Array("a\nb".utf8))])
  }

  @Test func upAndDownShowTheHistory() {
    let history = ["one", "two"]
    for (keys, text) in [
      ("\u{1B}[A", "two|"), ("\u{10}\u{10}", "one|"), ("\u{1B}[A\u{1B}[A\u{1B}[A", "one|"),
      ("new\u{1B}[A\u{1B}[B", "new|"),
      ("new\u{1B}[A\u{E}\u{1B}[B", "new|"), ("\u{1B}[A\u{7F}\n\u{1B}[A", "two|"),
    ] { #expect(edited(keys, history: history) == text, "\(keys.debugDescription)") }
    #expect(edited("a\u{1B}[A\u{1B}[B") == "a|")
  }

  @Test func searchFindsLinesOfTheHistory() {
    let history = ["volume 1", "pan 0.5", "volume 0.5", "status"]
    for (keys, text) in [
      ("\u{12}vol", "|volume 0.5"), ("\u{12}vol\u{12}", "|volume 1"), ("\u{12}vol\u{12}\u{12}", "|volume 1"),
      ("\u{12}0.5\u{12}", "pan |0.5"), ("\u{12}0.5\u{12}\u{7F}", "volume |0.5"), ("x\u{12}vol\u{3}", "x|"),
      ("x\u{12}vol\u{7}", "x|"), ("\u{12}pan\u{5}!", "pan 0.5!|"), ("\u{12}nothing", "|"), ("\u{12}", "|"),
      ("\u{12}\u{7F}\u{12}", "|"), ("\u{12}pan\u{1B}[B", "|volume 0.5".replacing("|", with: "") + "|"),
      ("new\u{12}status\u{1B}[B", "new|"),
    ] { #expect(edited(keys, history: history) == text, "\(keys.debugDescription)") }
    #expect(edited("\u{12}a") == "|")
  }

  @Test func displayShowsTheTextAroundTheCursor() {
    func display(_ keys: String, _ columnCount: Int, _ glyphs: LiveLine.Glyphs = .unicode) -> LineEditor.Display {
      var editor = LineEditor(history: [Array("volume 0.5".utf8)])
      var decoder = KeyDecoder()
      for key in decoder.decode(keys.utf8) { _ = editor.handle(key) }
      let display = editor.display(prompt: "> ", columnCount: columnCount, glyphs)
      #expect(DisplayWidth.of(display.text) < columnCount || columnCount < 5, "\(display)")
      return display
    }
    #expect(display("abc", 20) == .init(text: "> abc"))
    #expect(display("abc\u{1B}[D", 20) == .init(text: "> abc", columnsAfterCursor: 1))
    #expect(display("0123456789", 10) == .init(text: "> 3456789"))
    #expect(display("0123456789\u{1}", 10) == .init(text: "> 0123456", columnsAfterCursor: 7))
    #expect(display("0123456789\u{2}\u{2}\u{2}\u{2}", 10) == .init(text: "> 1234567", columnsAfterCursor: 2))
    #expect(display("三四五六七\u{2}", 10) == .init(text: "> 五六七", columnsAfterCursor: 2))
    #expect(display("\u{1B}[200~a\nb\tc\u{1B}[201~", 20).text == "> a⏎b c")
    #expect(display("\u{1B}[200~a\nb\u{1B}[201~", 20, .ascii).text == "> a\\nb")
    #expect(display("\u{12}0.5", 40) == .init(text: "(search: 0.5) volume 0.5", columnsAfterCursor: 3))
    #expect(display("\u{12}x", 40).text == "(not found: x) ")
    for columnCount in 1...12 {
      for keys in ["", "abc", "三四五六七\u{2}\u{2}", "\u{12}vol"] { _ = display(keys, columnCount) }
    }
  }
}
