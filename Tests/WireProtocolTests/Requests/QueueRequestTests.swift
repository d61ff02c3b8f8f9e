import MediaCore
import Testing

@testable import WireProtocol

/// Commands that edit the queue, alone and within an edit.
@Suite struct QueueRequestTests {
  private func path(_ text: String) throws -> FilePath { try FilePath(text: text) }

  static func cases() throws -> [(line: String, command: QueueCommand)] {
    func path(_ text: String) throws -> FilePath { try FilePath(text: text) }
    return [
      ("move 5 to=0", .move(item: 5, to: .index(0), ifVersion: nil)),
      ("move 5 after=2 if-version=3", .move(item: 5, to: .after(item: 2), ifVersion: 3)),
      ("move before=2 5", .move(item: 5, to: .before(item: 2), ifVersion: nil)),
      ("replace 5 '/a b'", .replace(item: 5, try path("/a b"), ifVersion: nil)),
      ("replace 5 /a precise if-version=0", .replace(item: 5, try path("/a"), ifVersion: 0, precise: true)),
      ("load /a if-version=9", .load([try path("/a")], waitUntilReady: false, ifVersion: 9)),
      ("clear if-version=2", .clear(ifVersion: 2)), ("next if-version=2", .next(ifVersion: 2)),
      ("previous", .previous(restartAfter: nil, ifVersion: nil)),
      (
        "previous restart-after=2.5 if-version=2",
        .previous(restartAfter: MediaTime(value: 25, timescale: 10), ifVersion: 2)
      ),
      ("jump 7", .jump(.item(7), ifVersion: nil)), ("jump index=0 if-version=2", .jump(.index(0), ifVersion: 2)),
      ("history", .history(limit: 1_000)), ("history limit=3", .history(limit: 3)),
      ("shuffle", .shuffle(nil, seed: nil, ifVersion: nil)),
      ("shuffle on seed=42", .shuffle(.on, seed: 42, ifVersion: nil)),
      ("shuffle off if-version=1", .shuffle(.off, seed: nil, ifVersion: 1)),
      ("shuffle toggle", .shuffle(.toggle, seed: nil, ifVersion: nil)),
      ("on-failure", .onFailure(nil)), ("on-failure stop", .onFailure(.stop)),
      ("on-failure retry", .onFailure(.retry)),
      (
        #"queue.edit "move 5 to=0" 'remove 9 8' "append \"/a b\" /c" clear if-version=7"#,
        .edit(
          [
            .move(item: 5, to: .index(0), ifVersion: nil), .remove([9, 8], ifVersion: nil),
            .append([try path("/a b"), try path("/c")], waitUntilReady: false, ifVersion: nil), .clear(),
          ], ifVersion: 7)
      ),
      ("queue.begin", .begin(ifVersion: nil)), ("queue.begin if-version=7", .begin(ifVersion: 7)),
      ("queue.commit", .commit(waitUntilReady: false)),
      ("queue.commit wait=ready", .commit(waitUntilReady: true)), ("queue.abort", .abort),
      (
        "append /a.mp3 /b.M3U8 if-version=2",
        .expanding(
          .append([try path("/a.mp3"), try path("/b.M3U8")], waitUntilReady: false, ifVersion: 2),
          lists: [try path("/b.M3U8")], isForced: false)
      ),
      (
        "load /a list=true",
        .expanding(.load([try path("/a")], waitUntilReady: false), lists: [try path("/a")], isForced: true)
      ),
      ("load /a.cue list=false", .load([try path("/a.cue")], waitUntilReady: false)),
      (
        "load /pls /a.m3u.x /cue/b",
        .load([try path("/pls"), try path("/a.m3u.x"), try path("/cue/b")], waitUntilReady: false)
      ),
      ("playlist.export", .export(.m3u8, base: nil, offset: 0, limit: 1_000)),
      ("playlist.export format=cue base=/m offset=3 limit=4", .export(.cue, base: try path("/m"), offset: 3, limit: 4)),
    ]
  }

  @Test func queueCommandsAreParsedInTextForm() throws {
    for (line, command) in try Self.cases() {
      #expect(try Lines.command(line) == .queue(command, player: "main"), "\(line)")
    }
  }

  @Test func queueCommandsAreParsedInJSONForm() throws {
    #expect(
      try Lines.command(#"{"jsonrpc":"2.0","id":1,"method":"load","params":{"paths":"/a","title":"N"}}"#)
        == .queue(.load([try path("/a")], waitUntilReady: false, title: "N"), player: "main"))
    let params =
      #"{"ops":["move 5 to=0",{"method":"append","params":{"paths":["/a b","/c"],"precise":true}},{"method":"clear"}],"if-version":7}"#
    let line = #"{"jsonrpc":"2.0","id":1,"method":"queue.edit","params":\#(params)}"#
    #expect(
      try Lines.command(line)
        == .queue(
          .edit(
            [
              .move(item: 5, to: .index(0), ifVersion: nil),
              .append([try path("/a b"), try path("/c")], waitUntilReady: false, ifVersion: nil, precise: true),
              .clear(),
            ], ifVersion: 7), player: "main"))
    #expect(
      try Lines.command(#"{"jsonrpc":"2.0","id":1,"method":"insert","params":{"paths":"/a.pls","list":false}}"#)
        == .queue(.insert([try path("/a.pls")], at: .next, waitUntilReady: false, ifVersion: nil), player: "main"))
    #expect(
      try Lines.command(#"{"jsonrpc":"2.0","id":1,"method":"shuffle","params":{"state":true,"seed":42}}"#)
        == .queue(.shuffle(.on, seed: 42, ifVersion: nil), player: "main"))
  }

  @Test(arguments: [
    ("move 5", 6002), ("move 5 to=0 after=2", 6002), ("move 5 to=-1", 6002), ("move", 6002), ("move x to=1", 6002),
    ("jump", 6002), ("jump 5 index=2", 6002), ("jump 0", 6002), ("jump index=x", 6002), ("replace 5", 6002),
    ("replace 5 ftp://a/b", 2007), ("shuffle on seed=x", 6002), ("shuffle on seed=-1", 6002),
    ("shuffle on seed=1.5", 6002), ("shuffle on seed=99999999999999999999", 6002), ("shuffle off seed=1", 6002),
    ("shuffle off seed=1", 6002), ("previous restart-after=-1", 1002), ("on-failure ignore", 6002),
    ("queue.edit", 6002),
    ("queue.edit ''", 6002), ("queue.edit play", 6002), ("queue.edit flay", 6001), ("queue.edit \"remove x\"", 6002),
    ("queue.edit 'queue.edit clear'", 6002), ("queue.edit \"clear if-version=3\"", 6002),
    ("queue.edit \"clear player=x\"", 6002), ("queue.edit \"append /a wait=ready\"", 6002),
    ("queue.edit \"append /a.m3u\"", 6002), ("append /a list=maybe", 6002), ("load /a /b title=N", 6002),
    ("append /a title=''", 6002),
    ("insert /a.m3u title=N", 6002), ("load /a list=true title=N", 6002), ("playlist.export format=asx", 6002),
    ("playlist.export limit=0", 6002), (#"queue.edit "append \"/a""#, 6005), ("queue.edit \"append a\"", 6002),
    ("queue.commit 1", 6002), ("queue.commit wait=now", 6002),
  ])
  func invalidQueueRequestsAreRejected(line: String, code: Int) throws {
    #expect(try Lines.rejection(line).error.error.code.rawValue == code)
  }

  @Test func errorInAnEditNamesTheOperation() throws {
    let error = try Lines.rejection(#"queue.edit clear "move 5 to=x""#).error.error
    #expect(error.operation == "queue.edit")
    #expect(error.message.contains("move 5 to=x"), "\(error.message)")
    let line = #"{"jsonrpc":"2.0","id":1,"method":"queue.edit","params":{"ops":[{"method":"move","params":{"id":5}}]}}"#
    #expect(try Lines.rejection(line).error.error.message.contains("in 'move'"))
  }
}
