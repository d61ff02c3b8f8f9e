import MediaCore
import Testing

@testable import WireProtocol

@Suite struct WordsRequestTests {
  private static func path(_ text: String) throws -> FilePath { try FilePath(text: text) }
  private static func seconds(_ text: String) throws -> MediaTime { try #require(MediaTime(decimal: text)) }

  /// Otherwise one line of a read-only client could match tens of thousands of patterns with every key.
  @Test(arguments: ["observe", "events since=0", "wait", "asset.load 1"])
  func moreThan64PatternsAreRejected(_ command: String) throws {
    let value = ["wait": "ready", "asset.load 1": "duration"][command] ?? "*"
    func line(_ count: Int) -> String { command + String(repeating: " \(value)", count: count) }
    _ = try Lines.command(line(64))
    // Values after the limit are not parsed, because they would give another error.
    let error = try Lines.rejection(line(64) + " \(value) no.such.value").error.error
    #expect(error.code == .badArguments && error.message.contains("at most 64"), "\(error)")
  }

  @Test func everyCommandIsParsed() throws {
    let one = try Self.path("/a b")
    let cases: [(String, FamilyCommand)] = [
    ]
    // Commands that are defined as types have separate tests.
    var seen = Set(ArgumentCase.all.map(\.name))
    for (line, command) in cases {
      let request = try Lines.request(line)
      #expect(request.command == command, "\(line)")
      #expect(request.address == .words)
      seen.insert(request.name)
    }
    #expect(Set(CommandTable.all.map(\.name)).subtracting(seen) == [])
  }
}
