import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

/// Commands that edit the queue, alone and within an edit.
@Suite struct QueueRequestTests {
  private func path(_ text: String) throws -> FilePath { try FilePath(text: text) }

  @Test func queueCommandsAreParsedInJSONForm() throws {
    let load = #"{"jsonrpc":"2.0","id":1,"method":"load","params":{"paths":"/a","title":"N"}}"#
    #expect(
      try LoadCommand.request(Lines.arguments(load, of: LoadCommand.self))
        == QueueEditRequest(.one(.load(.init([path("/a")], title: "N"))), player: "main", ifVersion: nil))
    let params =
      #"{"ops":["move 5 to=0",{"method":"append","params":{"paths":["/a b","/c"],"precise":true}},{"method":"clear"}],"if-version":7}"#
    let line = #"{"jsonrpc":"2.0","id":1,"method":"queue.edit","params":\#(params)}"#
    #expect(
      try QueueEditCommand.request(Lines.arguments(line, of: QueueEditCommand.self))
        == QueueEditRequest(
          .several([
            .move(5, to: .index(0)), .append(.init([path("/a b"), path("/c")], isPrecise: true)), .clear,
          ]), player: "main", ifVersion: 7))
    let insert = #"{"jsonrpc":"2.0","id":1,"method":"insert","params":{"paths":"/a.pls","list":false}}"#
    #expect(
      try InsertCommand.request(Lines.arguments(insert, of: InsertCommand.self))
        == QueueEditRequest(.one(.insert(.init([path("/a.pls")]), at: .next)), player: "main", ifVersion: nil))
    let shuffle = #"{"jsonrpc":"2.0","id":1,"method":"shuffle","params":{"state":true,"seed":42}}"#
    let arguments = try Lines.arguments(shuffle, of: ShuffleCommand.self)
    #expect(arguments.change == .on && arguments.seed == 42)
  }

  @Test func onlyTheNamedPathsArePlaylists() throws {
    let paths: WireList = [try path("/a.mp3"), try path("/b.M3U8"), try path("http://a/c.m3u8"), try path("/d.cue")]
    let token = "fd:0123456789abcdef0123456789abcdef"
    let named = [try path("/b.M3U8"), try path("/d.cue")]
    let line = "append /a.mp3 /b.M3U8 http://a/c.m3u8 /d.cue \(token)"
    for (list, selection, expected) in [
      ("", PlaylistSelection.named, named), (" list=true", .all, Array(paths)), (" list=false", .none, []),
    ] {
      let arguments = try Lines.arguments(line + list, of: AppendCommand.self)
      let request = AppendCommand.request(arguments)
      #expect(request.playlists == selection, "\(list)")
      #expect(Array(arguments.paths.playlists(request.playlists)) == expected, "\(list)")
      #expect(Array((paths as WireList<FilePath>).playlists(selection)) == expected, "\(list)")
      #expect(AppendCommand.waits(arguments) == (selection != .none), "\(list)")
    }
    // A descriptor is never a playlist.
    #expect(try !AppendCommand.waits(Lines.arguments("append \(token) list=true", of: AppendCommand.self)))
    // The extension of a URL of a file is read after decoding.
    #expect(try AppendCommand.waits(Lines.arguments("append file:///a%2Em3u", of: AppendCommand.self)))
  }

  /// The parser reuses the memory of arguments.
  @Test func playlistOfAnEarlierRequestHasNoEffect() throws {
    var parser = RequestParser()
    let lines = ["append /a.m3u", "append /a"].map { Array($0.utf8) }
    let waits = lines.map { line -> Bool? in
      if case .request(let request) = parser.parse(line.span) { request.isWaiting } else { nil }
    }
    #expect(waits == [true, false])
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
