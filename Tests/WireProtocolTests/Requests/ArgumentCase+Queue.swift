import PlayheadMediaCore

@testable import PlayheadWireProtocol

extension ArgumentCase {
  static let queue: [Self] = newEntries + playlists + changes + severalEdits + moves + lists

  private static func path(_ text: String) throws -> FilePath { try FilePath(text: text) }

  private typealias New = RequestedEdit.NewEntries

  /// A line of a command that edits the queue of the player `main`.
  private static func edit<C: QueueEditingCommand>(
    _ line: String, _ command: C.Type, ifVersion: Int? = nil, waits: Bool = false,
    playlists: PlaylistSelection = .none, _ expected: @escaping @Sendable () throws -> RequestedEdit
  ) -> Self {
    Self(line, command) {
      let request = QueueEditRequest(
        .one(try expected()), player: "main", ifVersion: ifVersion, waitsUntilReady: waits, playlists: playlists)
      return C.request($0) == request && C.waits($0) == (waits || playlists != .none)
    }
  }

  private static let newEntries: [Self] = [
    edit("load '/a b'", LoadCommand.self) { .load(New([try path("/a b")])) },
    edit("load \"/a b\" wait=ready /a\\ b", LoadCommand.self, waits: true) {
      .load(New([try path("/a b"), try path("/a b")]))
    },
    edit("load precise '/a b'", LoadCommand.self) { .load(New([try path("/a b")], isPrecise: true)) },
    edit("load /a if-version=9", LoadCommand.self, ifVersion: 9) { .load(New([try path("/a")])) },
    edit("load '/a b' resume=true", LoadCommand.self) { .load(New([try path("/a b")], resumes: true)) },
    edit("load title=\"Morning News\" '/a b'", LoadCommand.self) {
      .load(New([try path("/a b")], title: "Morning News"))
    },
    edit("load /a network=false timeout=2 user-agent=me", LoadCommand.self) {
      var network = NetworkOptions()
      (network.isNetworkAllowed, network.timeout, network.userAgent) = (false, try seconds("2"), "me")
      return .load(New([try path("/a")], network: network))
    },
    Self("load /a player=b", LoadCommand.self) { LoadCommand.request($0).player == "b" },
    edit("append '/a b' precise=true if-version=7", AppendCommand.self, ifVersion: 7) {
      .append(New([try path("/a b")], isPrecise: true))
    },
    edit("append /a=b", AppendCommand.self) { .append(New([try path("/a=b")])) },
    edit("append file:///a%20b if-version=7", AppendCommand.self, ifVersion: 7) { .append(New([try path("/a b")])) },
    edit("append '/a b' resume=false", AppendCommand.self) { .append(New([try path("/a b")], resumes: false)) },
    edit("append '/a b' title=N", AppendCommand.self) { .append(New([try path("/a b")], title: "N")) },
    edit("append /a peak-bit-rate=9", AppendCommand.self) {
      var network = NetworkOptions()
      network.peakBitRate = 9
      return .append(New([try path("/a")], network: network))
    },
    edit("insert '/a b'", InsertCommand.self) { .insert(New([try path("/a b")]), at: .next) },
    edit("insert '/a b' after=2", InsertCommand.self) { .insert(New([try path("/a b")]), at: .after(item: 2)) },
    edit("insert before=2 '/a b' wait=ready", InsertCommand.self, waits: true) {
      .insert(New([try path("/a b")]), at: .before(item: 2))
    },
    edit("insert '/a b' resume=true", InsertCommand.self) {
      .insert(New([try path("/a b")], resumes: true), at: .next)
    },
    edit("insert '/a b' title=N", InsertCommand.self) { .insert(New([try path("/a b")], title: "N"), at: .next) },
  ]

  private static let playlists: [Self] = [
    edit("append /a.mp3 /b.M3U8 if-version=2", AppendCommand.self, ifVersion: 2, playlists: .named) {
      .append(New([try path("/a.mp3"), try path("/b.M3U8")]))
    },
    edit("insert /a.pls wait=ready", InsertCommand.self, waits: true, playlists: .named) {
      .insert(New([try path("/a.pls")]), at: .next)
    },
    edit("load /a list=true", LoadCommand.self, playlists: .all) { .load(New([try path("/a")])) },
    edit("load /a.cue list=false", LoadCommand.self) { .load(New([try path("/a.cue")])) },
    edit("load /pls /a.m3u.x /cue/b", LoadCommand.self) {
      .load(New([try path("/pls"), try path("/a.m3u.x"), try path("/cue/b")]))
    },
  ]

  private static let changes: [Self] = [
    edit("remove 1 2 3 if-version=0", RemoveCommand.self, ifVersion: 0) { .remove([1, 2, 3]) },
    edit("move 5 to=0", MoveCommand.self) { .move(5, to: .index(0)) },
    edit("move 5 after=2 if-version=3", MoveCommand.self, ifVersion: 3) { .move(5, to: .after(item: 2)) },
    edit("move before=2 5", MoveCommand.self) { .move(5, to: .before(item: 2)) },
    edit("replace 5 '/a b'", ReplaceCommand.self) { .replace(5, by: New([try path("/a b")], resumes: false)) },
    edit("replace 5 /a precise if-version=0", ReplaceCommand.self, ifVersion: 0) {
      .replace(5, by: New([try path("/a")], isPrecise: true, resumes: false))
    },
    // The file of one entry is not a playlist, whatever its name.
    edit("replace 5 /a.m3u", ReplaceCommand.self) { .replace(5, by: New([try path("/a.m3u")], resumes: false)) },
    edit("clear", ClearCommand.self) { .clear }, edit("clear if-version=2", ClearCommand.self, ifVersion: 2) { .clear },
  ]

  private static let severalEdits: [Self] = [
    Self(#"queue.edit "move 5 to=0" 'remove 9 8' "append \"/a b\" /c" clear if-version=7"#, QueueEditCommand.self) {
      let edits: WireList<RequestedEdit> = [
        .move(5, to: .index(0)), .remove([9, 8]), .append(New([try path("/a b"), try path("/c")])), .clear,
      ]
      return QueueEditCommand.request($0) == QueueEditRequest(.several(edits), player: "main", ifVersion: 7)
    },
    Self(#"queue.edit "insert /a.m3u list=false before=2" 'replace 4 /b' "load /c resume=true""#, QueueEditCommand.self)
    {
      let edits: WireList<RequestedEdit> = [
        .insert(New([try path("/a.m3u")]), at: .before(item: 2)),
        .replace(4, by: New([try path("/b")], resumes: false)), .load(New([try path("/c")], resumes: true)),
      ]
      return $0.ops == edits
    },
    Self("queue.begin", QueueBeginCommand.self) { $0.ifVersion == nil && $0.player == "main" },
    Self("queue.begin if-version=7", QueueBeginCommand.self) { $0.ifVersion == 7 },
    Self("queue.commit", QueueCommitCommand.self) { $0.wait == nil && !QueueCommitCommand.waits($0) },
    Self("queue.commit wait=ready", QueueCommitCommand.self) { $0.wait == .ready && QueueCommitCommand.waits($0) },
    Self("queue.abort", QueueAbortCommand.self) { $0.player == "main" },
  ]

  private static let moves: [Self] = [
    Self("next", NextCommand.self) { $0.ifVersion == nil && $0.player == "main" },
    Self("next if-version=2", NextCommand.self) { $0.ifVersion == 2 },
    Self("previous", PreviousCommand.self) { $0.restartAfter == nil && $0.ifVersion == nil },
    Self("previous restart-after=2.5 if-version=2", PreviousCommand.self) {
      $0.restartAfter == MediaTime(value: 25, timescale: 10) && $0.ifVersion == 2
    },
    Self("jump 7", JumpCommand.self) { $0.target == .entry(7) && $0.ifVersion == nil },
    Self("jump index=0 if-version=2", JumpCommand.self) { $0.target == .index(0) && $0.ifVersion == 2 },
    Self("shuffle", ShuffleCommand.self) { $0.change == nil && $0.seed == nil && $0.ifVersion == nil },
    Self("shuffle on seed=42", ShuffleCommand.self) { $0.change == .on && $0.seed == 42 },
    Self("shuffle seed=42", ShuffleCommand.self) { $0.change == .on && $0.seed == 42 },
    Self("shuffle off if-version=1", ShuffleCommand.self) { $0.change == .off && $0.ifVersion == 1 },
    Self("shuffle toggle", ShuffleCommand.self) { $0.change == .toggle },
    Self("on-failure", OnFailureCommand.self) { $0.policy == nil },
    Self("on-failure stop", OnFailureCommand.self) { $0.policy == .stop },
    Self("on-failure retry", OnFailureCommand.self) { $0.policy == .retry },
  ]

  private static let lists: [Self] = [
    Self("list", ListCommand.self) { $0.offset == 0 && $0.limit == 1_000 },
    Self("list limit=5 offset=10", ListCommand.self) { $0.offset == 10 && $0.limit == 5 },
    Self("history", HistoryCommand.self) { $0.limit == 1_000 },
    Self("history limit=3", HistoryCommand.self) { $0.limit == 3 },
    Self("queue.changes 7", QueueChangesCommand.self) { $0.since == 7 && $0.instance == nil && $0.player == "main" },
    Self("queue.changes 7 instance=9f86 player=b", QueueChangesCommand.self) {
      $0.since == 7 && $0.instance == "9f86" && $0.player == "b"
    },
    Self("playlist.export", PlaylistExportCommand.self) {
      $0.format == .m3u8 && $0.base == nil && $0.offset == 0 && $0.limit == 1_000
    },
    Self("playlist.export format=cue base=/m offset=3 limit=4", PlaylistExportCommand.self) {
      try $0.format == .cue && $0.base == path("/m") && $0.offset == 3 && $0.limit == 4
    },
  ]
}
