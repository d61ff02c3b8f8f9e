import DaemonTesting
import Glibc
import RigSupport
import Testing

/// The titles of entries: in lists, in `status`, and as events when an entry was opened.
@Suite struct TitleTests {
  private func server() throws -> (TestServer, WireClient) {
    let daemon = try InProcessServer()
    return (daemon, try daemon.connect())
  }

  /// A file with these tags.
  private func file(
    _ daemon: TestServer, _ name: String, _ tags: String..., frameCount: Int = 4_800
  ) throws -> String {
    let path = daemon.folder.file(name)
    let arguments = tags.flatMap { ["-metadata", $0] }
    try Fixtures.ffmpeg(
      ["-nostdin", "-v", "error", "-i", try daemon.wave(1, frameCount: frameCount)] + arguments + [path])
    return path
  }

  private func changes(_ lines: [String]) -> [String] {
    lines.filter { $0.hasPrefix("* changed ") && !$0.contains("cause=initial") }.unnumbered
  }

  @Test(arguments: ["flac", "mp3", "m4a", "ogg", "wav"])
  func entryOpenedAheadReportsItsTags(_ suffix: String) throws {
    let (daemon, client) = try server()
    let one = try file(daemon, "one.\(suffix)", "title=One")
    let two = try file(daemon, "two.\(suffix)", "title=Two More", "artist=A", "album=B")
    let watcher = try daemon.connect()
    try watcher.reply("observe item.title item.artist item.album")
    try client.reply("append \(one) \(two) wait=ready")
    let prefix = "* changed id=1 player=main key=item."
    #expect(
      Set(changes(try watcher.ask("ping"))) == [
        "\(prefix)title item=1 old=none new=One cause=itemLoaded",
        "\(prefix)title item=2 old=none new=\"Two More\" cause=itemLoaded",
        "\(prefix)artist item=2 old=none new=A cause=itemLoaded",
        "\(prefix)album item=2 old=none new=B cause=itemLoaded",
      ])
    let rows = try client.ask("list")
    #expect(rows[0].hasSuffix(" title=One") && rows[1].hasSuffix(" title=\"Two More\" artist=A album=B"), "\(rows)")
    #expect(try client.reply("item.status 2").contains(" title=\"Two More\" artist=A album=B"))
    #expect(try daemon.playhead("list", "--format", "{title}|{artist}|{album}").output == "One||\nTwo More|A|B\n")
    #expect(try daemon.playhead("get", "album", "title").output == "\nOne\n")
    #expect(try client.reply("status").hasSuffix(" title=One"))
    // A later observer gets the current values.
    var initial = try client.ask("observe item.*") + client.ask("ping")
    initial.removeAll { !$0.hasPrefix("* changed") || field("item", $0) != "2" }
    #expect(initial.contains { $0.contains("key=item.title item=2 new=\"Two More\" cause=initial") }, "\(initial)")
  }

  /// The texts of tags are in `status` and in saved playlists.
  @Test func textsOfTagsAreSavedAndShown() throws {
    let (daemon, client) = try server()
    let one = try file(daemon, "one.flac", "title=One More", "artist=The Testers", "album=Tests", frameCount: 48_000)
    try client.reply("append \(one) wait=ready")
    let status = try client.reply("status")
    #expect(status.contains(" title=\"One More\" artist=\"The Testers\" album=Tests"), "\(status)")
    #expect(try daemon.playhead("get", "album").output == "Tests\n")
    let shown = try daemon.playhead("status", "--human").output
    #expect(shown.contains("Title   One More\nArtist  The Testers\nAlbum   Tests\n"), "\(shown)")
    #expect(try daemon.playhead("list", "--human").output.contains("The Testers - One More\n"))
    for (name, texts) in [
      ("a.m3u8", ["#EXTINF:1,One More\n", "#EXTART:The Testers\n", "#EXTALB:Tests\n"]),
      ("a.pls", ["Title1=One More\n"]),
      ("a.xspf", ["<title>One More</title>", "<creator>The Testers</creator>", "<album>Tests</album>"]),
    ] {
      let saved = try daemon.playhead("save", name, folder: daemon.folder.path)
      #expect(saved.status == 0, "\(saved)")
      let playlist = String(decoding: try Files.read(daemon.folder.file(name)), as: UTF8.self)
      print("\(name): \(playlist)")
      for text in texts { #expect(playlist.contains(text), "\(text) in \(playlist)") }
    }
  }

  @Test func givenTitleReplacesThatOfTheTags() throws {
    let (daemon, client) = try server()
    let tagged = try file(daemon, "tagged.flac", "title=Tag", "artist=A")
    try client.reply("observe item.title")
    let input = open(try daemon.wave(2, frameCount: 4_800), O_RDONLY | O_CLOEXEC)
    try #require(input >= 0)
    defer { close(input) }
    let words = ["--socket", daemon.socket, "load", "-", "--title", "Morning News"]
    #expect(try Program(Executables.playhead, words, input: input).waitForEnd().status == 0)
    var events = try client.ask("append \(tagged) title=\"A \\\"B\\\"\" wait=ready")
    events += try client.ask("wait ready")
    let expected = ["item=1 old=none new=\"Morning News\"", #"item=2 old=none new="A \"B\"""#]
    for change in expected { #expect(events.contains { $0.contains("key=item.title \(change)") }, "\(events)") }
    let rows = try client.ask("list")
    #expect(rows[0].hasSuffix(" title=\"Morning News\""), "\(rows)")
    #expect(rows[1].hasSuffix(#" title="A \"B\"" artist=A"#), "\(rows)")
    #expect(try client.reply("status").hasSuffix(" title=\"Morning News\""))
    #expect(try daemon.playhead("get", "title").output == "Morning News\n")
    #expect(try client.ask("playlist.export").contains { $0.hasPrefix(#"| text="#) && $0.contains(#"A \"B\""#) })
    // A copy has the same title.
    #expect(try client.reply("item.copy 2").hasPrefix("ok items=3 "))
    let copy = try client.ask("list").first { $0.hasPrefix("|") && field("item", $0) == "3" }
    #expect(copy?.contains(#" title="A \"B\"""#) == true, "\(copy ?? "none")")
  }

  @Test func givenTitleIsInPlaylistsAndEdits() throws {
    let (daemon, client) = try server()
    defer { withExtendedLifetime(daemon) {} }
    #expect(try client.reply("load http://127.0.0.1:9/a.ogg title=News").hasPrefix("ok items=1 "))
    #expect(try client.ask("playlist.export").contains("| text=#EXTINF:-1,News"))
    #expect(try client.reply("load /a.flac /b.flac title=News").hasPrefix("error code=6002 "))
    #expect(try client.reply("queue.edit 'append /a.flac title=Two'").hasPrefix("ok items=2 "))
    #expect(try client.ask("list")[1].contains(" title=Two"))
  }

  @Test func titleOfAPlaylistReplacesOnlyAMissingTag() throws {
    let (daemon, client) = try server()
    _ = try file(daemon, "tagged.flac", "title=Tag", "artist=A")
    _ = try file(daemon, "plain.flac")
    try daemon.folder.write(
      "a.m3u8", Array("#EXTM3U\n#EXTINF:1,X - One\ntagged.flac\n#EXTINF:1,Two\nplain.flac\n".utf8))
    try client.reply("observe item.title")
    let events = try client.ask("load \(daemon.folder.file("a.m3u8")) wait=ready")
    #expect(Set(changes(events).compactMap { field("new", $0) }) == ["Tag", "Two"])
    let rows = try client.ask("list")
    #expect(rows[0].hasSuffix(" title=Tag artist=A") && rows[1].hasSuffix(" title=Two"), "\(rows)")
  }

  @Test func textsBeyondTheLimitAreAbsent() throws {
    let (daemon, client) = try server()
    let (longest, longer) = (String(repeating: "x", count: 1_024), String(repeating: "y", count: 1_025))
    let path = try file(daemon, "long.flac", "title=\(longer)", "artist=\(longest)")
    try client.reply("append \(path) wait=ready")
    let row = try client.ask("list")[0]
    #expect(field("title", row) == nil && field("artist", row) == longest)
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"status"}"#)
    let status = try client.line() ?? ""
    #expect(!status.contains(#""title":"#) && status.contains(#""artist":"x"#))
  }

  /// FFmpeg reads a text of ID3v2 in Latin-1; `charset` reads it again in another encoding.
  @Test func rereadTagsAreReported() throws {
    let (daemon, client) = try server()
    let path = try file(daemon, "cyrillic.mp3", "title=Title")
    var bytes = try Files.read(path)
    let title = Array("Title".utf8)
    let start = try #require(bytes.indices.first { bytes[$0...].starts(with: title) })
    // "Title" in Windows-1251 becomes five Cyrillic letters.
    // FFmpeg wrote UTF-8 (3); 0 is Latin-1.
    try #require(bytes[start - 1] == 3)
    bytes[start - 1] = 0
    bytes.replaceSubrange(start..<start + title.count, with: [0xCF, 0xF0, 0xE8, 0xE2, 0xE5])
    try daemon.folder.write("cyrillic.mp3", bytes)
    try client.reply("observe item.title")
    let opened = try client.ask("append \(path) wait=ready")
    let first = try #require(changes(opened).first { $0.contains("key=item.title") })
    let lines = try client.ask("item.metadata 1 charset=windows-1251") + client.ask("ping")
    let second = try #require(changes(lines).first { $0.contains("key=item.title") }, "\(lines)")
    #expect(field("new", second) == "Приве" && field("old", second) == field("new", first))
  }

  // MARK: - Entries that are not opened

  /// Copies of a tagged file, as the words of a request. The file is so long that following entries are not decoded
  /// ahead.
  private func copies(_ daemon: TestServer, _ numbers: ClosedRange<Int>) throws -> String {
    let bytes = try Files.read(try file(daemon, "tagged.flac", "title=Same", "artist=A", frameCount: 960_000))
    return try numbers.map { number in
      try daemon.folder.write("copy \(number).flac", bytes)
      return "\"\(daemon.folder.file("copy \(number).flac"))\""
    }.joined(separator: " ")
  }

  /// Reads events until the titles of these entries are known. Returns the entries in the order of the events.
  private func titles(of count: Int, _ watcher: WireClient) throws -> [Int] {
    var items: [Int] = []
    while items.count < count {
      let line = try #require(try watcher.line())
      guard line.contains("key=item.title") else { continue }
      #expect(field("new", line) == "Same" && field("cause", line) == "itemLoaded", "\(line)")
      items.append(try #require(field("item", line).flatMap { Int($0) }))
    }
    return items
  }

  private func rows(_ client: WireClient) throws -> [(status: String?, title: String?, artist: String?)] {
    try client.ask("list").dropLast().map { (field("status", $0), field("title", $0), field("artist", $0)) }
  }

  @Test func titlesOfUnopenedEntriesAreReadInBatches() throws {
    let (daemon, client) = try server()
    let watcher = try daemon.connect()
    try watcher.reply("observe item.title")
    try client.reply("append \(try copies(daemon, 1...60))")
    // The entries that are needed next are opened. The others are read after a delay.
    let openedCount = 8
    #expect(try titles(of: openedCount, watcher) == Array(1...openedCount))
    try client.reply("clock.advance 0.2")
    #expect(try titles(of: 32, watcher) == Array(openedCount + 1...openedCount + 32))
    var entries = try rows(client)
    #expect(entries.prefix(openedCount + 32).allSatisfy { $0.title == "Same" && $0.artist == "A" }, "\(entries)")
    #expect(entries.dropFirst(openedCount + 32).allSatisfy { $0.title == nil }, "\(entries)")
    #expect(entries.count { $0.status == "readyToPlay" } == openedCount)
    try client.reply("clock.advance 0.1")
    #expect(try titles(of: 28 - openedCount, watcher) == Array(openedCount + 33...60))
    entries = try rows(client)
    #expect(entries.count == 60 && entries.allSatisfy { $0.title == "Same" })
    // A new observer gets the values of opened entries only. Opening an entry reports no title again.
    let observer = try daemon.connect()
    let initial = try observer.ask("observe item.title") + observer.ask("ping")
    #expect(initial.count { $0.contains("new=Same cause=initial") } == openedCount, "\(initial)")
    #expect(try client.reply("jump 60").hasPrefix("ok"))
    try client.reply("wait ready")
    #expect(changes(try watcher.ask("ping")).isEmpty)
  }

  @Test func titlesOfEntriesThatAreAddedMeanwhileAreRead() throws {
    let (daemon, client) = try server()
    let watcher = try daemon.connect()
    try watcher.reply("observe item.title")
    try client.reply("append \(try copies(daemon, 1...30))")
    try client.reply("player.create other")
    let other = try daemon.connect()
    try other.reply("observe item.title player=other")
    try client.reply("append player=other \(try copies(daemon, 31...60))")
    try client.reply("clock.advance 0.2")
    try client.reply("append \(try copies(daemon, 61...70))")
    // Each reading is finished in real time, and continues in virtual time.
    var known: Set<Int> = []
    while known.count < 70 {
      for connection in [watcher, other] {
        for line in try connection.ask("ping") where line.contains("key=item.title") {
          #expect(field("new", line) == "Same" && known.insert(Int(field("item", line) ?? "") ?? 0).inserted, "\(line)")
        }
      }
      try client.reply("clock.advance 0.1")
    }
    #expect(known == Set(1...70))
  }

  @Test func filesWithoutTitlesStayInTheQueue() throws {
    let (daemon, client) = try server()
    let plain = try daemon.wave(2, frameCount: 480)
    try daemon.folder.write("text.flac", Array("no media\n".utf8))
    let text = daemon.folder.file("text.flac")
    let missing = daemon.folder.file("missing.flac")
    let watcher = try daemon.connect()
    try watcher.reply("observe item.title")
    let first = try copies(daemon, 1...20)
    try client.reply("append \(first) \(plain) \(text) \(missing) \(daemon.folder.path) \(try copies(daemon, 21...21))")
    try client.reply("clock.advance 0.2")
    #expect(try titles(of: 21, watcher).last == 25)
    let entries = try rows(client)
    #expect(entries.count == 25 && entries[20...23].allSatisfy { $0.status == "unknown" && $0.title == nil })
    #expect(entries[24].title == "Same" && entries[24].status == "unknown")
    // Opening them reports the error.
    #expect(try client.reply("jump 22").hasPrefix("ok"))
    #expect(try client.reply("wait ready").contains("unknown-format"))
  }
}
