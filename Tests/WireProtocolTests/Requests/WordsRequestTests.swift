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
      ("load '/a b'", .queue(.load([one], waitUntilReady: false), player: "main")),
      ("load \"/a b\" wait=ready /a\\ b", .queue(.load([one, one], waitUntilReady: true), player: "main")),
      ("load precise '/a b'", .queue(.load([one], waitUntilReady: false, precise: true), player: "main")),
      (
        "append '/a b' precise=true if-version=7",
        .queue(.append([one], waitUntilReady: false, ifVersion: 7, precise: true), player: "main")
      ),
      ("append /a=b", .queue(.append([try Self.path("/a=b")], waitUntilReady: false, ifVersion: nil), player: "main")),
      (
        "append file:///a%20b if-version=7", .queue(.append([one], waitUntilReady: false, ifVersion: 7), player: "main")
      ),
      ("insert '/a b'", .queue(.insert([one], at: .next, waitUntilReady: false, ifVersion: nil), player: "main")),
      (
        "insert '/a b' after=2",
        .queue(.insert([one], at: .after(item: 2), waitUntilReady: false, ifVersion: nil), player: "main")
      ),
      (
        "insert before=2 '/a b' wait=ready",
        .queue(.insert([one], at: .before(item: 2), waitUntilReady: true, ifVersion: nil), player: "main")
      ),
      ("remove 1 2 3 if-version=0", .queue(.remove([1, 2, 3], ifVersion: 0), player: "main")),
      ("clear", .queue(.clear(), player: "main")),
      ("list", .queue(.list(offset: 0, limit: 1_000), player: "main")),
      ("list limit=5 offset=10", .queue(.list(offset: 10, limit: 5), player: "main")),
      ("next", .queue(.next(), player: "main")),
      ("queue.changes 7", .queue(.changes(since: 7, instance: nil), player: "main")),
      ("queue.changes 7 instance=9f86 player=b", .queue(.changes(since: 7, instance: "9f86"), player: "b")),
      ("load '/a b' resume=true", .queue(.load([one], waitUntilReady: false, resumes: true), player: "main")),
      (
        "append '/a b' resume=false",
        .queue(.append([one], waitUntilReady: false, ifVersion: nil, resumes: false), player: "main")
      ),
      (
        "insert '/a b' resume=true",
        .queue(.insert([one], at: .next, waitUntilReady: false, ifVersion: nil, resumes: true), player: "main")
      ),
      (
        "load title=\"Morning News\" '/a b'",
        .queue(.load([one], waitUntilReady: false, title: "Morning News"), player: "main")
      ),
      (
        "append '/a b' title=N",
        .queue(.append([one], waitUntilReady: false, ifVersion: nil, title: "N"), player: "main")
      ),
      (
        "insert '/a b' title=N",
        .queue(.insert([one], at: .next, waitUntilReady: false, ifVersion: nil, title: "N"), player: "main")
      ),
    ]
    // Queue commands, and commands that are defined as types, have separate tests.
    var seen = Set(try QueueRequestTests.cases().map { try Lines.request($0.line).name })
    seen.formUnion(ArgumentCase.all.map(\.name))
    for (line, command) in cases {
      let request = try Lines.request(line)
      #expect(request.command == command, "\(line)")
      #expect(request.address == .words)
      seen.insert(request.name)
    }
    #expect(Set(CommandTable.all.map(\.name)).subtracting(seen) == [])
  }
}
