import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadWireProtocol

@Suite struct RequestEncoderTests {
  private static let encoder = RequestEncoder { $0.first == UInt8(ascii: "/") ? $0 : Array("/cwd/".utf8) + $0 }
  private static func bytes(_ arguments: [String]) -> [[UInt8]] { arguments.map { Array($0.utf8) } }

  /// A positional word that equals a flag of its command is not read as the flag.
  @Test(arguments: [
    ("media-selection", "clear"), ("seek", "chase"), ("seek", "fast"), ("asset.metadata", "common"),
  ])
  func positionalWordsThatEqualAFlagAreQuoted(command: String, word: String) throws {
    let line = try Self.encoder.words(Self.bytes([command, "--", word]))
    #expect(String(decoding: line, as: UTF8.self) == "\(command) \"\(word)\"\n")
  }

  /// Arguments as passed by a shell, and the equivalent line in text form.
  @Test(arguments: [
    (["play"], "play"), (["seek", "1:23.5", "fast"], "seek 1:23.5 fast"),
    (["seek", "5", "before=0.5"], "seek 5 before=0.5"),
    (["load", "a b.flac", "it's"], "load '/cwd/a b.flac' \"/cwd/it's\""),
    (["load", "x", "wait=ready"], "load /cwd/x wait=ready"),
    (["load", "--", "wait=ready"], "load /cwd/wait=ready"),
    (["append", "/m/a=b", "if-version=3"], "append /m/a=b if-version=3"),
    (["wait", "time>=90", "status=playing", "timeout=5"], "wait time>=90 status=playing timeout=5"),
    (["mute", "on"], "mute on"),
    (["volume", "0.5"], "volume 0.5"), (["remove", "1", "2", "3"], "remove 1 2 3"),
    (["load", "new\nline"], "load \"/cwd/new\\nline\""),
    (["insert", "f", "after=2", "player=b"], "insert /cwd/f after=2 player=b"), (["at", "90", "1:35"], "at 90 1:35"),
    (["queue.edit", "insert x.wav"], "queue.edit 'insert /cwd/x.wav'"),
    (
      ["queue.edit", "append 'a b' /m/c", "move 5 to=0", "replace 2 \"it's\"", "insert x after=1", "if-version=7"],
      #"queue.edit 'append "/cwd/a b" /m/c' 'move 5 to=0' "replace 2 \"/cwd/it's\"" 'insert /cwd/x after=1' if-version=7"#
    ),
  ])
  func encodedArgumentsParseToTheSameCommandInBothForms(arguments: [String], words: String) throws {
    let expected = try Lines.arguments(words)
    let line = try Self.encoder.words(Self.bytes(arguments), id: "7")
    #expect(line.last == 10)
    let request = try Lines.request(String(decoding: line.dropLast(), as: UTF8.self))
    #expect(request.arguments == expected)
    #expect(request.address.id == .words("7"))
    let json = try Self.encoder.json(Self.bytes(arguments), id: 7)
    let jsonRequest = try Lines.request(String(decoding: json.dropLast(), as: UTF8.self))
    #expect(jsonRequest.arguments == expected)
    #expect(jsonRequest.address.id == .jsonNumber("7"))
  }

  /// The daemon reports errors in an edit, with their position.
  @Test(arguments: ["insert 'x", "fly x", "", "remove 1"])
  func editsWithoutPathsAreEncodedUnchanged(_ edit: String) throws {
    let line = try Self.encoder.words(Self.bytes(["queue.edit", edit]))
    #expect(line == Array("queue.edit \(WordsText.quoted(edit))\n".utf8))
  }

  @Test func quotedPathsAndEditsThatLookLikeOptionsKeepTheirMeaning() throws {
    func split(_ line: String) throws -> [String] {
      try CommandLineWords.split(Array(line.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(try split(#"load "wait=ready" wait=ready "/m/a=b""#) == ["load", "./wait=ready", "wait=ready", "/m/a=b"])
    #expect(try split(#"queue.edit "move 5 to=0" if-version=1"#) == ["queue.edit", "move 5 to=0", "if-version=1"])
  }

  @Test func pathThatIsNotUTF8IsPercentEncoded() throws {
    let arguments = [Array("load".utf8), Array("/m/".utf8) + [0xE9]]
    #expect(try Self.encoder.words(arguments) == Array("load file:///m/%E9\n".utf8))
    expectError(.invalidUTF8) { try Self.encoder.words([Array("seek".utf8), [0xE9]]) }
  }

  @Test func unknownCommandsAreEncodedInTextFormOnly() throws {
    #expect(
      try Self.encoder.words(Self.bytes(["new.command", "x y", "a=b"])) == Array("new.command \"x y\" a=b\n".utf8))
    expectError(.unknownCommand) { try Self.encoder.json(Self.bytes(["new.command"]), id: 1) }
    expectError(.badArguments) { try Self.encoder.json(Self.bytes(["ping", "x"]), id: 1) }
    let line = try Self.encoder.words(Self.bytes(["ping", "x"]))
    #expect(try Lines.rejection(String(decoding: line.dropLast(), as: UTF8.self)).error.error.code == .badArguments)
  }
}
