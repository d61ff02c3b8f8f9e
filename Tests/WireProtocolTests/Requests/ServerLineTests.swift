import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadWireProtocol

@Suite struct ServerLineTests {
  private static func parse(_ text: String) throws(MediaError) -> ServerLine {
    try ServerLine(parsing: Array(text.utf8))
  }

  @Test func everyKindOfLineIsParsed() throws {
    #expect(
      try Self.parse("* hello playhead protocol=1 version=0.1.0")
        == .hello(.init([.init("", "playhead"), .init("protocol", "1"), .init("version", "0.1.0")])))
    #expect(try Self.parse("ok") == .ok(id: nil, .init()))
    #expect(try Self.parse("@5 ok time=83.5") == .ok(id: "5", .init([.init("time", "83.5")])))
    #expect(
      try Self.parse("| path=\"/a b\" x=a=b") == .row(id: nil, .init([.init("path", "/a b"), .init("x", "a=b")])))
    #expect(try Self.parse("* tick id=3") == .event(name: "tick", .init([.init("id", "3")])))
    guard
      case .error("5", let error, let fields) = try Self.parse(
        "@5 error code=2004 name=no-such-item message=\"none here\"")
    else {
      throw Unexpected("no error")
    }
    #expect(error == MediaError(.noSuchItem, "none here"))
    #expect(fields["name"] == "no-such-item")
  }

  @Test(arguments: ["", "@5", "hello", "\"ok\"", "@5 * tick", "*", "error", "error code=x", "ok 'x", "@5 what"])
  func malformedLinesAreRejected(text: String) {
    expectError(text.contains("'") ? .badQuoting : .badArguments) { try Self.parse(text) }
  }

  @Test func greetingIsParsed() throws {
    let text = Lines.text { Greeting.encode(version: "0.1.0 \"x\"", instance: "9f86", into: &$0) }
    guard case .hello(let fields) = try Self.parse(String(text.dropLast())) else { throw Unexpected(text) }
    #expect(fields["version"] == "0.1.0 \"x\"")
    #expect(fields["protocol"] == "1")
    #expect(fields["instance"] == "9f86")
  }

  /// Any file name remains one value of one line, and is preserved.
  @Test func replyValuesSurviveEncodingAndCannotForgeLines() throws {
    var generator = SeededGenerator(seed: 4)
    let alphabet = Array("ab =|@*,\\\"'\n\r\t\0é\u{85}\u{2028}".unicodeScalars) + ["\u{1B}", "\u{7F}", "\u{10FFFF}"]
    for _ in 0..<5_000 {
      let texts = (0..<3).map { _ in
        String(
          String.UnicodeScalarView(
            (0..<Int.random(in: 0...9, using: &generator)).compactMap { _ in alphabet.randomElement(using: &generator) }
          ))
      }
      let reply = Reply.ok(
        ["list": .strings(texts), "last": .string(texts[2])], rows: [["path": .string(texts[0]), "n": 1]])
      let written = Lines.text { reply.encode(to: ReplyAddress(form: .words, id: .words("x")), into: &$0) }
      let lines = written.utf8.split(separator: 10, omittingEmptySubsequences: false)
      try #require(lines.count == 3 && lines[2].isEmpty)
      #expect(
        try ServerLine(parsing: Array(lines[0])) == .row(id: "x", .init([.init("path", texts[0]), .init("n", "1")])))
      guard case .ok("x", let fields) = try ServerLine(parsing: Array(lines[1])) else { throw Unexpected(written) }
      #expect(fields["last"] == texts[2])
      #expect(fields.list("list") == texts)
    }
  }
}
