import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

/// No input traps, and every line has exactly one outcome.
@Suite struct RobustnessTests {
  private static let validLines: [String] =
    CommandTable.all.flatMap { $0.example.filter { $0.hasPrefix("> ") }.map { String($0.dropFirst(2)) } } + [
      #"@a-1 load "/a\x20\n\"b" '/c d' /e\ f file:///%e9 wait=ready player=x"#,
      #"{"jsonrpc":"2.0","id":"\ud83d\ude00","method":"seek","params":{"time":"1:02:03.25","before":0.25,"fast":false}}"#,
      #"[{"jsonrpc":"2.0","id":1,"method":"load","params":{"paths":["/é","/b"]}},{"jsonrpc":"2.0","method":"ping"}]"#,
    ]

  @Test func everyPrefixOfAValidLineHasAtMostOneOutcome() {
    for line in Self.validLines {
      let bytes = Array(line.utf8)
      for count in 0...bytes.count {
        // Without its LF a line has no outcome; with it, it has one.
        #expect(Lines.incoming(Array(bytes[..<count]), chunks: [3]).isEmpty)
        #expect(
          Lines.incoming(Array(bytes[..<count]) + [10], chunks: [1_000]).count
            == (bytes[..<count].allSatisfy { $0 == 32 } ? 0 : 1))
      }
    }
  }

  @Test func randomLinesHaveExactlyOneOutcome() {
    var generator = SeededGenerator(seed: 5)
    var reader = RequestReader()
    for _ in 0..<100_000 {
      var line = (0..<Int.random(in: 1...40, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator)
      }
      if Bool.random(using: &generator) { line = line.map { $0 & 0x7F } }
      line.removeAll { $0 == 10 }
      checkOneOutcome(line, &reader)
    }
  }

  @Test func damagedLinesHaveExactlyOneOutcome() {
    var generator = SeededGenerator(seed: 6)
    var reader = RequestReader()
    let specialBytes = Array(" '\"\\=@{}[]:,.0129eE+-%/x\t\r\u{0}".utf8) + [0xC3, 0xFF, 0xED]
    for _ in 0..<30_000 {
      var line = Array((Self.validLines.randomElement(using: &generator) ?? "").utf8)
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let at = Int.random(in: 0...line.count, using: &generator)
        let byte = specialBytes.randomElement(using: &generator) ?? 0
        switch Int.random(in: 0...3, using: &generator) {
        case 0: line.insert(byte, at: at)
        case 1 where at < line.count: line[at] = byte
        case 2 where at < line.count: line.remove(at: at)
        default: line.insert(contentsOf: line[at...].prefix(20), at: Int.random(in: 0...line.count, using: &generator))
        }
      }
      checkOneOutcome(line, &reader)
    }
  }

  /// Checks that a line has one outcome, and that its error can be written as one valid line.
  private func checkOneOutcome(_ line: [UInt8], _ reader: inout RequestReader) {
    let chunk = line + [10]
    var offset = 0
    var outcomes: [RequestReader.Incoming] = []
    while let next = reader.next(in: chunk.span, at: &offset) { outcomes.append(next) }
    let content = line.last == 13 ? line.dropLast() : line[...]
    let isBlank = content.allSatisfy { $0 == 32 || $0 == 9 }
    guard outcomes.count == (isBlank ? 0 : 1) else {
      Issue.record("\(line) became \(outcomes)")
      return
    }
    guard case .rejected(let rejection)? = outcomes.first else {
      if let outcome = outcomes.first, outcome != outcome { Issue.record("\(line) does not equal itself") }
      if case .request(let request)? = outcomes.first { decodeList(of: request) }
      if case .batch(let members)? = outcomes.first {
        for member in members {
          if member != member { Issue.record("\(line) has a member that does not equal itself") }
          if case .request(let request) = member { decodeList(of: request) }
        }
      }
      return
    }
    var written: [UInt8] = []
    rejection.reply.encode(to: rejection.address, into: &written)
    guard rejection.address.expectsReply else { return #expect(written.isEmpty) }
    guard written.firstIndex(of: 10) == written.count - 1 else {
      Issue.record("\(line) had the reply \(String(decoding: written, as: UTF8.self))")
      return
    }
    written.removeLast()
    switch rejection.address.form {
    case .words:
      guard case .error? = try? ServerLine(parsing: written) else {
        Issue.record("\(line) had the reply \(String(decoding: written, as: UTF8.self))")
        return
      }
    case .json:
      if (try? JSONValue(parsing: written.span))?["error"] == nil {
        Issue.record("\(line) had the reply \(String(decoding: written, as: UTF8.self))")
      }
    }
  }

  /// Decodes the values of a list, which a request contains as bytes.
  private func decodeList(of request: Request) {
    let parsed = request.arguments
    switch request.name {
    case QueueEditCommand.name: for _ in Arguments<QueueEditCommand>(parsed: parsed).ops {}
    case RemoveCommand.name: for _ in Arguments<RemoveCommand>(parsed: parsed).ids {}
    case AtCommand.name: for _ in Arguments<AtCommand>(parsed: parsed).times {}
    case WaitCommand.name: for _ in Arguments<WaitCommand>(parsed: parsed).conditions {}
    default: break
    }
  }

  @Test func lineWithThousandsOfWordsOrMembersIsParsed() throws {
    let ids = (1...13_000).map(String.init).joined(separator: " ")
    #expect(try Lines.arguments("remove " + ids, of: RemoveCommand.self).ids.count == 13_000)
    let members = (1...4_000).map { "\"k\($0)\":1" }.joined(separator: ",")
    #expect(
      try Lines.rejection(#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{\#(members)}}"#).error.jsonCode == -32_602
    )
    #expect(
      try Lines.rejection("[" + Array(repeating: "[]", count: 1_024).joined(separator: ",") + "x").error.jsonCode
        == -32_700)
  }
}
