import DaemonTesting
import Glibc
import RigSupport
import Testing

/// Playlists: read into the queue, exported, and saved by the client.
@Suite struct PlaylistTests {
  private func connected() throws -> (TestServer, WireClient) {
    let daemon = try InProcessServer()
    return (daemon, try daemon.connect())
  }

  private func write(_ daemon: TestServer, _ name: String, _ text: String) throws -> String {
    try daemon.folder.write(name, Array(text.utf8))
  }

  @Test func playlistsAreReplacedByTheirEntriesInOrder() throws {
    let (daemon, client) = try connected()
    let paths = try [1, 2, 3].map { try daemon.wave($0, frameCount: 4_800) }
    let inner = try write(daemon, "inner.pls", "[playlist]\nFile1=2.wav\nTitle1=Two\nLength1=7\n")
    let outer = try write(daemon, "outer.m3u8", "#EXTM3U\n#EXTINF:5,One \"é\"\n1.wav\ninner.pls\n")
    #expect(inner.hasSuffix("inner.pls"))
    try client.send("@a load \(outer) \(paths[2])")
    #expect(try client.line() == "@a ok items=1,2,3 version=1")
    let rows = try client.ask("list")
    #expect(rows[0].hasPrefix("| item=1 index=0 path=\(paths[0]) "))
    #expect(rows[0].hasSuffix(" title=\"One \\\"é\\\"\"") || rows[0].hasSuffix(" title=One\\ \\\"é\\\""))
    #expect(rows[1].hasPrefix("| item=2 index=1 path=\(paths[1]) ") && rows[1].contains("title=Two"))
    #expect(rows[2].hasPrefix("| item=3 index=2 path=\(paths[2]) ") && !rows[2].contains("title="))
    #expect(try client.reply("append \(inner) wait=ready") == "ok items=4 version=2")
    // The file's actual duration, which is known.
    #expect(field("duration", try client.reply("item.status 4")) == "0.1")
    #expect(try client.reply("insert \(inner) before=2") == "ok items=5 version=3")
    #expect(field("title", try client.reply("item.status 5")) == "Two")
    // A later request on the connection sees the effect.
    try client.send("append \(outer)", "stats")
    #expect(try client.line() == "ok items=6,7 version=4")
  }

  /// An address that cannot be opened is no entry, so a playlist of nothing else changes nothing.
  @Test func invalidAddressesOfAPlaylistAreSkippedAndReported() throws {
    let (daemon, client) = try connected()
    try client.reply("load \(try daemon.wave(1, frameCount: 4_800))")
    for address in ["http://me:pw@", "http://me:pw@/a.wav", "http://127.0.0.1:99999/a.wav", "https://:80/a.wav"] {
      let list = try write(daemon, "a.m3u", "#EXTM3U\n\(address)\n")
      let rejected = try client.reply("load \(list)")
      print("playlist | \(address) | \(rejected)")
      #expect(rejected.hasPrefix("error "), "\(address): \(rejected)")
      #expect(try client.ask("list").count == 2, "\(address)")
      let replies = try client.ask("append \(list) /none")
      #expect(replies.count == 2 && field("skipped", replies[1]) == "1", "\(address): \(replies)")
      #expect(!(replies + [rejected]).contains { $0.contains("me:pw") }, "\(address): \(replies)")
      let item = try #require(field("items", replies[1]))
      #expect(try client.reply("remove \(item)").hasPrefix("ok"))
    }
  }

  @Test func playlistDurationsAreReportedUntilTheFileIsOpened() throws {
    let (daemon, client) = try connected()
    let many = (0..<40).map { "#EXTINF:\($0 + 1),T\($0)\ngone-\($0).wav\n" }.joined()
    _ = try client.reply("load \(try write(daemon, "a.m3u", "#EXTM3U\n" + many))")
    // Far beyond the entries that are opened ahead.
    let row = try #require(try client.ask("list offset=39").first)
    #expect(field("status", row) == "unknown" && field("duration", row) == "40" && field("title", row) == "T39")
  }

  /// After any unplayable entries of a playlist, the playable ones are played.
  @Test func unplayableEntriesAreSkippedWithTheirErrors() throws {
    let server = try HTTPServer()
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let good = try daemon.wave(1, frameCount: 4_800)
    try #require(mkfifo(daemon.folder.file("fifo"), 0o600) == 0)
    try #require(mkdir(daemon.folder.file("folder.wav"), 0o700) == 0)
    try Files.write(
      Array(daemon.folder.file("noise.mp3").utf8), (0..<9_999).map { UInt8(truncatingIfNeeded: $0 * $0 / 7) })
    let bad = [
      ("/dev/zero", 2002), (daemon.folder.file("fifo"), 2002), (daemon.folder.file("folder.wav"), 2002),
      (daemon.folder.file("gone.flac"), 2001), (daemon.folder.file("noise.mp3"), 3004),
      ("\(server.address)/gone.flac", 2043), ("\(server.address)/a?redirect=loop", 2037),
      ("http://127.0.0.1:1/a", 2033),
    ]
    let list = try write(daemon, "bad.m3u8", (["#EXTM3U"] + bad.map(\.0) + [good]).joined(separator: "\n"))
    try client.send("observe item.events")
    #expect(try client.line()?.unnumbered == "ok id=1")
    #expect(try client.ask("load \(list)").last == "ok items=1,2,3,4,5,6,7,8,9 version=1")
    let lines = try client.ask("play") + client.ask("wait status=playing") + client.ask("clock.advance 1")
    let skipped = lines.filter { $0.hasPrefix("* item-skipped") }
    for (row, line) in zip(bad, skipped) {
      print("\(row.0): \(field("code", line) ?? "-") \(field("name", line) ?? "-")")
    }
    #expect(skipped.compactMap { field("code", $0) } == bad.map { "\($0.1)" })
    #expect(try daemon.recorded(withSilences: false) == "1[0..<4800]")
  }

  @Test func cueSheetPlaysItsFileWithoutGaps() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    _ = try daemon.wave(1, frameCount: 48_000)
    let sheet = try write(
      daemon, "disc.cue",
      "TITLE Disc\nFILE \"1.wav\" WAVE\nTRACK 01 AUDIO\nTITLE A\nINDEX 01 00:00:00\nTRACK 02 AUDIO\nINDEX 01 00:00:20\n"
        + "TRACK 03 AUDIO\nINDEX 00 00:00:30\nINDEX 01 00:00:31\n")
    #expect(try client.reply("load \(sheet) wait=ready") == "ok items=1,2,3 version=1")
    let rows = try client.ask("list")
    #expect(
      rows.dropLast().map { field("range", $0) } == ["0-0.266666667", "0.266666667-0.413333333", "0.413333333-inf"])
    #expect(rows.dropLast().map { field("duration", $0) } == ["0.266666667", "0.146666667", "0.586666667"])
    #expect(try client.reply("play") == "ok")
    #expect(try client.reply("clock.advance 1.5").hasPrefix("ok"))
    #expect(try daemon.recorded() == "1[0..<48000]")
  }

  @Test func invalidPlaylistRequestsAreRejectedAndChangeNothing() throws {
    let (daemon, client) = try connected()
    let path = try daemon.wave(1, frameCount: 480)
    #expect(try client.reply("append \(path)") == "ok items=1 version=1")
    let folder = daemon.folder.path
    let cases: [(String, String)] = [
      ("append \(folder)/none.m3u", "file-not-found"), ("load \(folder) list=true", "not-a-file"),
      ("append /dev/zero list=true", "not-a-file"), ("append \(path) list=true", "not-a-playlist"),
      ("load \(try write(daemon, "self.m3u", "#EXTM3U\nself.m3u\n"))", "playlist-cycle"),
      ("load \(try write(daemon, "empty.m3u", "#EXTM3U\n"))", "empty-playlist"),
      ("load \(try write(daemon, "radio.pls", "[playlist]\nFile1=rtsp://h/\n"))", "unsupported-location"),
      ("load \(try write(daemon, "bad.cue", "FILE x WAVE\nTRACK 1 AUDIO\nINDEX 01 1:1\n"))", "damaged-playlist"),
      ("load \(try write(daemon, "bad.xspf", "<playlist><title>"))", "damaged-playlist"),
      (
        "load \(try write(daemon, "long.m3u", "#EXTM3U\n" + String(repeating: "a\n", count: 100_001)))",
        "playlist-limit-exceeded"
      ),
      ("append \(try write(daemon, "two.m3u", "#EXTM3U\na\nb\n")) if-version=9", "version-mismatch"),
      ("insert \(folder)/two.m3u after=77", "no-such-item"),
      ("append \(folder)/two.m3u list=maybe", "bad-arguments"),
    ]
    mkfifo(daemon.folder.file("fifo.m3u"), 0o600)
    for (request, name) in cases + [("append \(folder)/fifo.m3u", "not-a-file")] {
      let reply = try client.reply(request)
      #expect(reply.contains(" name=\(name) "), "\(request): \(reply)")
    }
    #expect(try client.ask("list").last == "ok count=1 version=1 next=none")
    // No IDs were used.
    #expect(try client.reply("append \(folder)/two.m3u") == "ok items=2,3 version=2")
    #expect(try client.reply("append \(folder)/two.m3u list=false") == "ok items=4 version=3")
    #expect(try client.reply("queue.begin").hasPrefix("ok"))
    #expect(try client.reply("append \(folder)/two.m3u").contains("name=invalid-state"))
  }

  @Test func skippedPlaylistEntriesAreReported() throws {
    let (daemon, client) = try connected()
    let list = try write(daemon, "a.m3u", "#EXTM3U\nx.wav\nsmb://h/a\nhttp://h/b\ngone.m3u\n")
    let lines = try client.ask("append \(list)")
    #expect(lines.last == "ok items=1,2 version=1 skipped=2")
    #expect(lines.dropLast().map { field("name", $0) } == ["unsupported-location", "file-not-found"])
    #expect(field("line", lines[0]) == "3")
  }

  // MARK: - Export

  @Test func queueIsExportedInParts() throws {
    let (daemon, client) = try connected()
    let folder = daemon.folder.path
    _ = try client.reply("append \(folder)/a.wav \"\(folder)/b c.wav\" /elsewhere/d.wav")
    #expect(
      try client.ask("playlist.export base=\(folder)") == [
        "| text=#EXTM3U", "| text=a.wav", "| text=\"b c.wav\"", "| text=/elsewhere/d.wav",
        "ok count=3 version=1 next=none",
      ])
    #expect(
      try client.ask("playlist.export format=pls base=\(folder) offset=1 limit=1") == [
        "| text=\"File2=b c.wav\"", "| text=Length2=-1", "ok count=3 version=1 next=2",
      ])
    #expect(try client.ask("playlist.export format=xspf").count == 2 + 1 + 3 * 3 + 2 + 1)
    #expect(try client.reply("playlist.export format=asx").contains("name=bad-arguments"))
  }

  @Test(arguments: ["m3u8", "pls", "xspf", "cue"])
  func savedPlaylistsLoadAgain(format: String) throws {
    let (daemon, client) = try connected()
    let count = 2_300
    let entries = (0..<count).map { "#EXTINF:\($0 + 1),T \($0)\nsub/\($0).wav\n" }.joined()
    _ = try client.reply("load \(try write(daemon, "a.m3u", "#EXTM3U\n" + entries))")
    let file = daemon.folder.file("saved.\(format)")
    #expect(
      try daemon.playhead("save", "saved.\(format)", folder: daemon.folder.path)
        == .init(status: 0, output: "", errors: ""))
    #expect(try Files.read(file).starts(with: Array("/".utf8)) == false)
    let again = try daemon.playhead("save", file)
    #expect(again.status == 1 && again.errors.contains("--force"))
    #expect(try daemon.playhead("save", file, "--force").status == 0)
    let before = try client.ask("list offset=2290").dropLast().map { field("path", $0) }
    #expect(try client.reply("load \(file)").hasSuffix(" version=2"))
    let after = try client.ask("list offset=2290")
    #expect(after.dropLast().map { field("path", $0) } == before)
    #expect(after.last == "ok count=\(count) version=2 next=none")
    #expect(after.first?.contains("title=\"T 2290\"") == true)
    // No temporary file remains.
    #expect(try daemon.playhead("save", "/nowhere/x.m3u8").status == 1)
    #expect(try daemon.playhead("save").status == 2)
  }

  /// The file that a killed client left, with the process ID of the client that saves now.
  @Test func leftoverTemporaryFileDoesNotPreventSaving() throws {
    let (daemon, client) = try connected()
    _ = try client.reply("append /a.wav")
    let script = #": > ".a.m3u8.playhead-$$" && exec "$1" --socket "$2" save a.m3u8"#
    let outcome = try Program(
      "/bin/sh", ["-c", script, "sh", Executables.playhead, daemon.socket], folder: daemon.folder.path
    ).waitForEnd()
    #expect(outcome == .init(status: 0, output: "", errors: ""))
    #expect(try Files.read(daemon.folder.file("a.m3u8")) == Array("#EXTM3U\n/a.wav\n".utf8))
  }

  @Test func cueSheetIsSavedOnlyAsACueSheet() throws {
    let (daemon, client) = try connected()
    let sheet =
      "TITLE \"Disc\"\nFILE \"1.wav\" WAVE\n  TRACK 01 AUDIO\n    TITLE \"A\"\n    INDEX 01 00:00:00\n"
      + "  TRACK 02 AUDIO\n    INDEX 01 00:01:02\n"
    _ = try client.reply("load \(try write(daemon, "disc.cue", sheet))")
    #expect(try daemon.playhead("save", daemon.folder.file("copy.cue")).status == 0)
    #expect(String(decoding: try Files.read(daemon.folder.file("copy.cue")), as: UTF8.self) == sheet)
    let rejected = try daemon.playhead("save", daemon.folder.file("copy.m3u8"))
    #expect(rejected.status == 1 && rejected.errors.contains("part of a file"))
    #expect(Files.mode(daemon.folder.file("copy.m3u8")) == nil)
  }
}
