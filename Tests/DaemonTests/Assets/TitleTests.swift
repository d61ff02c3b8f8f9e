import DaemonTesting
import RigSupport
import Testing

/// The titles of entries: in lists, in `status`, and as events when an entry was opened.
@Suite struct TitleTests {
  private func server() throws -> (TestServer, WireClient) {
    let daemon = try InProcessServer()
    return (daemon, try daemon.connect())
  }

  /// A file with these tags.
  private func file(_ daemon: TestServer, _ name: String, _ tags: String...) throws -> String {
    let path = daemon.folder.file(name)
    let arguments = tags.flatMap { ["-metadata", $0] }
    try Fixtures.ffmpeg(
      ["-nostdin", "-v", "error", "-i", try daemon.wave(1, frameCount: 4_800)] + arguments + [path])
    return path
  }

  private func changes(_ lines: [String]) -> [String] {
    lines.filter { $0.hasPrefix("* changed ") && !$0.contains("initial=true") }.unnumbered
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
}
