import Testing

@testable import PlayheadWireProtocol

@Suite struct DisplayTextTests {
  @Test func controlCharactersAreEscapedAndOtherTextIsUnchanged() {
    let text = "a\n\r\t\u{1B}[31m\u{7}\u{9B}\u{202E}\u{2066}\u{200F}\u{61C}\u{2028}\u{7F}b"
    let escaped = #"a\n\r\t\u{1B}[31m\u{7}\u{9B}\u{202E}\u{2066}\u{200F}\u{61C}\u{2028}\u{7F}b"#
    #expect(DisplayText.escaped(text) == escaped)
    for plain in ["", "/music/Ünïcode \u{1F3B5} 日本語 עברית.flac", #"a\n"b"#] {
      #expect(DisplayText.escaped(plain) == plain)
    }
  }

  /// A carriage return and a line feed are one character of a Swift string.
  @Test func carriageReturnFollowedByALineFeedIsEscaped() { #expect(DisplayText.escaped("a\r\nb") == #"a\r\nb"#) }
}
