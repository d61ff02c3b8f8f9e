import DaemonTesting
import RigSupport
import Testing

/// Editing and listing the queue, and files that cannot be played.
@Suite struct QueueTests {
  private func connected() throws -> (TestServer, WireClient) {
    let daemon = try InProcessServer()
    return (daemon, try daemon.connect())
  }

  @Test func entriesKeepTheirIDsAndTheQueueHasAVersion() throws {
    let (daemon, client) = try connected()
    let paths = try [1, 2, 3, 4].map { try daemon.wave($0, frameCount: 480) }
    #expect(try client.reply("append \(paths[0]) \(paths[1]) wait=ready") == "ok items=1,2 version=1")
    #expect(try client.reply("insert \(paths[2]) wait=ready") == "ok items=3 version=2")
    #expect(try client.reply("insert \(paths[3]) before=2 wait=ready if-version=2") == "ok items=4 version=3")
    #expect(
      try client.ask("list") == [
        "| item=1 index=0 path=\(paths[0]) status=readyToPlay duration=0.01 current=true",
        "| item=3 index=1 path=\(paths[2]) status=readyToPlay duration=0.01 current=false",
        "| item=4 index=2 path=\(paths[3]) status=readyToPlay duration=0.01 current=false",
        "| item=2 index=3 path=\(paths[1]) status=readyToPlay duration=0.01 current=false",
        "ok count=4 version=3 next=none",
      ])
    #expect(try client.ask("list offset=1 limit=1").first?.hasPrefix("| item=3 index=1 ") == true)
    #expect(try client.reply("remove 4 77").hasPrefix("error code=2004 name=no-such-item"))
    #expect(try client.reply("remove 4 if-version=2").hasPrefix("error code=1011 name=version-mismatch"))
    #expect(try client.reply("remove 4 4").hasPrefix("error code=1001"))
    #expect(try client.reply("insert \(paths[0]) after=99").hasPrefix("error code=2004"))
    #expect(try client.reply("remove 4 1") == "ok version=4")
    #expect(field("item", try client.reply("status")) == "3")
    #expect(try client.reply("clear") == "ok version=5")
    #expect(try client.reply("append \(paths[0])") == "ok items=5 version=6")
  }

  @Test func missingFileGetsAnIDAndFailsLater() throws {
    let (_, client) = try connected()
    try client.send("observe item.status item.error")
    #expect(try client.line()?.unnumbered == "ok id=1")
    #expect(try client.reply("append /nowhere/a.flac") == "ok items=1 version=1")
    #expect(
      try client.line()?.unnumbered
        == "* changed id=1 player=main key=item.status item=1 old=unknown new=failed cause=itemFailed")
    #expect(
      try client.line()?.unnumbered
        == "* changed id=1 player=main key=item.error item=1 old=none new=file-not-found cause=itemFailed")
    let status = try client.reply("item.status 1")
    #expect(field("status", status) == "failed")
    #expect(field("error", status) == "file-not-found")
  }

  @Test func waitReadyReturnsTheErrorOfTheFile() throws {
    let (daemon, client) = try connected()
    let folder = daemon.folder
    let text = Array("This is no music at all, and there is nothing in it that could be.\n".utf8)
    let cases: [(path: String, names: Set<String>)] = [
      ("/nowhere/a.flac", ["file-not-found"]), (folder.path, ["not-a-file"]),
      (try folder.write("empty.flac", []), ["empty-file"]),
      // The result depends on how much FFmpeg guesses from the name.
      (try folder.write("text.mp3", text), ["unknown-format", "damaged-file"]),
    ]
    for (path, names) in cases {
      let reply = try client.reply("append \(path) wait=ready")
      #expect(names.contains(field("name", reply) ?? ""), "\(path): \(reply)")
    }
    #expect(try client.reply("ping").hasPrefix("ok now="))
  }

  @Test func waitingPlayerReportsItsReason() throws {
    let (daemon, client) = try connected()
    try client.send("observe player.reasonForWaitingToPlay")
    #expect(try client.line()?.unnumbered == "ok id=1")
    let key = "* changed id=1 player=main key=player.reasonForWaitingToPlay"
    #expect(try client.line() == "\(key) new=none cause=initial initial=true")
    func reasons(_ lines: [String]) -> [String?] { lines.filter { $0.hasPrefix(key) }.map { field("new", $0) } }
    func waitingState() throws -> [String?] {
      let status = try client.reply("status")
      return ["timeControlStatus", "reasonForWaitingToPlay", "rate"].map { field($0, status) }
    }
    #expect(reasons(try client.ask("play")) == ["noItemToPlay"])
    #expect(try waitingState() == ["waitingToPlayAtSpecifiedRate", "noItemToPlay", "1"])
    // A later entry starts automatically, and the player waits again after an unplayable one.
    let loaded = try client.ask("load /nowhere.wav wait=ready")
    #expect(loaded.last?.hasPrefix("error code=2001") == true)
    #expect(reasons(loaded) == ["evaluatingBufferingRate"], "\(loaded)")
    #expect(reasons([try #require(try client.line())]) == ["currentItemFailed"])
    #expect(try waitingState() == ["waitingToPlayAtSpecifiedRate", "currentItemFailed", "1"])
    #expect(reasons(try client.ask("pause")) == ["none"])
    #expect(reasons(try client.ask("play")) == ["currentItemFailed"])
    let played = try client.ask("load \(try daemon.wave(1, frameCount: 48_000)) wait=ready")
    #expect(played.last?.hasPrefix("ok items=2") == true)
    #expect(reasons(try client.ask("clock.advance 0.1") + played).contains("none"))
    #expect(try waitingState() == ["playing", "none", "1"])
  }

  @Test func playbackSkipsUnplayableItems() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let text = try daemon.folder.write("text.wav", Array("RIFF, but no more".utf8))
    let (first, second) = (try daemon.wave(1, frameCount: 4_800), try daemon.wave(2, frameCount: 4_800))
    try client.reply("append \(first) wait=ready")
    try client.reply("append /nowhere.flac \(text) \(daemon.folder.path) \(second)")
    try client.reply("play")
    try client.reply("clock.advance 1")
    let heard = try daemon.recorded()
    #expect(heard == "1[0..<4800] 2[0..<4800]")
  }

  @Test func pathsCanContainAnyByte() throws {
    let (daemon, client) = try connected()
    let names: [(wire: String, bytes: [UInt8])] = [
      (#""a b.wav""#, Array("a b.wav".utf8)), (#"'it"s.wav'"#, Array(#"it"s.wav"#.utf8)),
      (#""line\nbreak.wav""#, Array("line\nbreak.wav".utf8)), ("päth.wav", Array("päth.wav".utf8)),
      ("a=b.wav", Array("a=b.wav".utf8)),
    ]
    let (source, folder) = (try Files.read(try daemon.wave(1, frameCount: 480)), daemon.folder.path)
    for (index, name) in names.enumerated() {
      try Files.write(Array("\(folder)/".utf8) + name.bytes, source)
      let quote = name.wire.first == "\"" || name.wire.first == "'" ? String(name.wire.removingFirst) : ""
      let path = quote.isEmpty ? "\(folder)/\(name.wire)" : "\(quote)\(folder)/\(name.wire.dropFirst())"
      #expect(try client.reply("append \(path) wait=ready") == "ok items=\(index + 1) version=\(index + 1)")
    }
    // A name that is not UTF-8 is a URL, in both directions.
    try Files.write(Array("\(folder)/caf".utf8) + [0xe9] + Array(".wav".utf8), source)
    #expect(try client.reply("load file://\(folder)/caf%E9.wav wait=ready") == "ok items=6 version=6")
    #expect(field("path", try client.reply("item.status 6")) == "file://\(folder)/caf%E9.wav")
  }

  @Test func lengthOfTheQueueIsLimited() throws {
    let (_, client) = try connected()
    let line = "append " + repeatElement("/a", count: 20_000).joined(separator: " ")
    for _ in 0..<5 { #expect(try client.reply(line).hasPrefix("ok items=")) }
    #expect(try client.reply("append /a").hasPrefix("error code=6013 name=queue-too-long"))
    // The list comes in parts, with each entry once.
    var indices: [Int] = []
    var next = "0"
    while next != "none" {
      let lines = try client.ask("list offset=\(next)")
      #expect(lines.count <= 1_001)
      indices += lines.dropLast().compactMap { field("index", $0).flatMap { Int($0) } }
      let last = try #require(lines.last)
      #expect(last.hasPrefix("ok count=100000 version=5 next="), "\(last)")
      next = field("next", last) ?? "none"
    }
    #expect(indices == Array(0..<100_000))
    #expect(try client.ask("list offset=99999").count == 2)
    #expect(try client.ask("list offset=100000") == ["ok count=100000 version=5 next=none"])
    #expect(try client.ask("list limit=0") == ["ok count=100000 version=5 next=0"])
    #expect(try client.reply("list limit=1001").hasPrefix("error code=6002"))
    #expect(try client.reply("list offset=-1").hasPrefix("error code=6002"))
  }

  /// Another thread makes the rows of a long list.
  @Test func longListHasTheEntriesAtItsRequestAndKeepsTheOrderOfReplies() throws {
    let (_, client) = try connected()
    let line = "append " + repeatElement("/a", count: 1_500).joined(separator: " ")
    #expect(try client.reply(line).hasPrefix("ok items="))
    try client.send("list offset=400", "playlist.export offset=400", "clear", "list limit=1000", "ping")
    var replies: [(rows: [String], reply: String)] = []
    var rows: [String] = []
    while replies.count < 5, let line = try client.line() {
      if line.hasPrefix("|") { rows.append(line) } else { replies.append((rows, line)) }
      if !line.hasPrefix("|") { rows = [] }
    }
    #expect(replies.map(\.rows.count) == [1_000, 1_000, 0, 0, 0], "\(replies.map(\.reply))")
    #expect(replies[0].reply == "ok count=1500 version=1 next=1400")
    #expect(replies[0].rows.compactMap { field("index", $0) } == (400..<1_400).map { "\($0)" })
    #expect(replies[1].reply == "ok count=1500 version=1 next=1400" && replies[1].rows.allSatisfy { $0 == "| text=/a" })
    #expect(replies[2].reply.hasPrefix("ok version=2") && replies[3].reply.hasPrefix("ok count=0 version=2"))
  }

  /// Many entries are opened, and looked for after a change of the queue, in several loop iterations.
  @Test func aWaitForManyEntriesEndsWhenOneLeavesTheQueue() throws {
    let server = try HTTPServer()
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let wave = try daemon.wave(1, frameCount: 480)
    let paths = (0..<299).map { _ in wave } + ["\(server.address)/late.wav?hold=late"]
    try client.send("@a append \(paths.joined(separator: " ")) wait=ready")
    try client.send("move 300 before=1", "remove 300")
    var ends: [String] = []
    while ends.count < 3, let line = try client.line() { ends.append(line) }
    #expect(ends.filter { $0.hasPrefix("ok version=") }.count == 2, "\(ends)")
    let end = try #require(ends.first { $0.hasPrefix("@a") })
    #expect(end.contains("name=wait-ended") && end.contains("item 300 left the queue"), "\(end)")
    // All entries become ready.
    let others = try client.reply("append \(paths.dropLast().joined(separator: " ")) wait=ready")
    #expect(others.hasPrefix("ok items="), "\(others)")
  }

  /// A hundred of these paths fill the reply buffer: the parts are shorter, and the connection stays open.
  @Test func partsOfAListWithLongPathsAreShorter() throws {
    let (_, client) = try connected()
    let path = "/" + String(repeating: "a", count: 4_095)
    for _ in 0..<100 { #expect(try client.reply("append \(path)").hasPrefix("ok items=")) }
    var count = 0
    var next = "0"
    while next != "none" {
      let lines = try client.ask("list offset=\(next)")
      #expect(lines.count > 1)
      count += lines.count - 1
      next = field("next", lines.last ?? "") ?? "none"
    }
    #expect(count == 100)
    // In JSON a control character has six bytes.
    try client.reply("load file:///" + String(repeating: "%01", count: 4_000))
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"list","params":{}}"#)
    #expect(try client.line()?.contains(#""count":1,"version":101,"next":null,"#) == true)
  }
}

extension String {
  /// The string without the first character, which the caller has checked.
  fileprivate var removingFirst: Substring { prefix(1) }
}
