import DaemonTesting
import Foundation
import RigSupport
import Testing

/// `asset.*`, `item.tracks`, `item.select` and chapters over the socket.
@Suite struct AssetCommandTests {
  /// Two time-coded audio tracks and three chapters.
  private func file(_ daemon: TestServer) throws -> String {
    let paths = try [1, 2].map { try daemon.wave($0, frameCount: 480_000) }
    let text =
      ";FFMETADATA1\n"
      + [(0, 4), (4, 8), (8, 10)].enumerated().map {
        "[CHAPTER]\nTIMEBASE=1/1\nSTART=\($0.element.0)\nEND=\($0.element.1)\ntitle=Part \($0.offset + 1)\n"
      }.joined()
    try Data(text.utf8).write(to: URL(fileURLWithPath: daemon.folder.file("chapters.txt")))
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-y", "-i", paths[0], "-i", paths[1], "-i",
      daemon.folder.file("chapters.txt"),
      "-map", "0", "-map", "1", "-map_metadata", "2", "-c:a", "flac", "-metadata:s:a:0", "language=eng",
      "-metadata:s:a:1", "language=ger", daemon.folder.file("a.mka"),
    ])
    return daemon.folder.file("a.mka")
  }

  @Test func assetIsInspectedWithoutPlayback() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try file(daemon)
    #expect(try client.reply("asset.open \(path)") == "ok asset=1")
    let before = try client.ask("asset.status 1")
    #expect(before.count == 14 && before.dropLast().allSatisfy { field("status", $0) == "unknown" })
    #expect(field("status", before.last ?? "") == "unknown")
    #expect(try client.reply("asset.tracks 1").hasPrefix("error code=1003"))
    #expect(
      try client.ask("asset.load 1 duration tracks chapters playable preferredRate") == [
        "| key=duration status=loaded value=10", "| key=tracks status=loaded value=2",
        "| key=chapters status=loaded value=3", "| key=playable status=loaded value=true",
        "| key=preferredRate status=loaded value=1", "ok asset=1 status=loaded",
      ])
    let tags = try client.ask("asset.load 1 metadata commonMetadata availableMetadataFormats tracks")
    print(tags)
    #expect(
      tags.count == 5 && tags.dropLast().allSatisfy { field("status", $0) == "loaded" && field("value", $0) != nil })
    let tracks = try client.ask("asset.tracks 1")
    print(tracks.joined(separator: "\n"))
    #expect(tracks.count == 3 && tracks[1].contains(" language=ger") && tracks[0].contains(" layout=stereo"))
    #expect(
      try client.ask("asset.chapters 1") == [
        "| chapter=1 start=0 end=4 title=\"Part 1\"", "| chapter=2 start=4 end=8 title=\"Part 2\"",
        "| chapter=3 start=8 end=10 title=\"Part 3\"", "ok asset=1 count=3 next=none",
      ])
    #expect(try client.reply("asset.close 1") == "ok")
    #expect(try client.reply("asset.close 1").hasPrefix("error code=1014"))
    // Another connection has separate assets.
    let other = try daemon.connect()
    #expect(try other.reply("asset.status 1").hasPrefix("error code=1014"))
    #expect(try other.reply("asset.open \(path)") == "ok asset=1")
  }

  @Test func concurrentLoadsGetOneReplyEach() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try file(daemon)
    try client.reply("asset.open \(path)")
    for number in 0..<20 { try client.send("@\(number) asset.load 1 duration") }
    var replies: [String] = []
    while replies.count < 20, let line = try client.line() { if line.contains(" ok ") { replies.append(line) } }
    #expect(Set(replies).count == 20)
    #expect(try client.reply("ping").hasPrefix("ok now="))
  }

  @Test func numberOfAssetsPerConnectionIsLimited() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    for number in 1...64 { #expect(try client.reply("asset.open /x") == "ok asset=\(number)") }
    #expect(try client.reply("asset.open /x").hasPrefix("error code=6019 name=too-many-assets"))
    #expect(try client.reply("asset.close 7") == "ok")
    #expect(try client.reply("asset.open /x") == "ok asset=65")
  }

  /// Matroska with only subtitles has tags, but nothing to play.
  @Test func loadedKeysAreReportedWhenOthersFail() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let (text, path) = (daemon.folder.file("a.srt"), daemon.folder.file("a.mka"))
    try Data("1\n00:00:00,000 --> 00:00:01,000\nText\n".utf8).write(to: URL(fileURLWithPath: text))
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-y", "-i", text, "-c:s", "srt", "-f", "matroska", path])
    try client.reply("asset.open \(path)")
    let loaded = try client.ask("asset.load 1 duration metadata")
    print(loaded)
    #expect(loaded.count == 3 && loaded.last == "ok asset=1 status=failed")
    #expect(loaded[0].hasPrefix("| key=duration status=failed error=no-playable-tracks message="))
    #expect(loaded[1].hasPrefix("| key=metadata status=loaded value="))
    let status = try client.ask("asset.status 1")
    for row in status.dropLast() {
      let isLoaded = row.lowercased().contains("metadata")
      #expect(field("status", row) == (isLoaded ? "loaded" : "failed"))
      #expect(field("error", row) == (isLoaded ? nil : "no-playable-tracks"))
    }
    #expect(try client.reply("asset.load 1 duration").hasPrefix("error code=3003 "))
  }

  @Test func filesWithoutMediaFailWithTheirErrorCodes() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let folder = daemon.folder.file("folder")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("words".utf8).write(to: URL(fileURLWithPath: daemon.folder.file("a.txt")))
    #expect(mkfifo(daemon.folder.file("fifo"), 0o600) == 0)
    let rows: [(String, Int)] = [
      (folder, 2002), ("/dev/zero", 2002), (daemon.folder.file("fifo"), 2002), (daemon.folder.file("none"), 2001),
      (daemon.folder.file("a.txt"), 3002),
    ]
    for (index, (path, code)) in rows.enumerated() {
      #expect(try client.reply("asset.open \(path)") == "ok asset=\(index + 1)")
      for request in [
        "load \(index + 1) duration", "load \(index + 1) tracks playable", "tracks \(index + 1)",
        "chapters \(index + 1)",
      ] {
        let reply = try client.reply("asset.\(request)")
        #expect(reply.hasPrefix("error code=\(code) "), "\(path): \(reply)")
      }
      let status = try client.reply("asset.status \(index + 1)")
      print("\(path): \(code), then \(status)")
      #expect(field("status", status) == "failed")
    }
    let bad: [(String, Int)] = [
      ("asset.load 99 duration", 1014), ("asset.status 99", 1014), ("asset.tracks 99", 1014), ("asset.close 0", 6002),
      ("asset.load 1 colour", 6002), ("asset.load 1", 6002), ("asset.open", 6002), ("asset.open gopher://host/a", 2007),
    ]
    for (request, code) in bad {
      let reply = try client.reply(request)
      print("\(request): \(reply)")
      #expect(reply.hasPrefix("error code=\(code) "))
    }
  }

  @Test func closingAnAssetEndsAllItsPendingLoads() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    // The duration requires reading the whole file.
    let path = daemon.folder.file("long.aac")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "anoisesrc=duration=900:sample_rate=48000",
      "-b:a", "64k", path,
    ])
    try client.reply("asset.open \(path) precise")
    try client.send("@a asset.load 1 duration", "@b asset.load 1 tracks", "asset.close 1", "asset.status 1")
    var lines: [String] = []
    while lines.count < 4, let line = try client.line() { if !line.contains("|") { lines.append(line) } }
    print(lines)
    // Either loading or cancelling is first, with the same result for both requests.
    for name in ["@a", "@b"] {
      let reply = lines.first { $0.hasPrefix(name) } ?? ""
      #expect(reply.hasPrefix("\(name) ok") || reply.hasPrefix("\(name) error code=6015"))
    }
    #expect(lines.contains("ok") && lines.contains { $0.hasPrefix("error code=1014") })
    // The end of a connection cancels its loads.
    try client.reply("asset.open \(path) precise")
    try client.send("@c asset.load 2 duration")
    client.finishSending()
    _ = try client.remainingLines()
    #expect(try daemon.connect().reply("ping").hasPrefix("ok now="))
  }

  @Test func selectedAudioTrackContinuesAtTheSameTime() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("append \(try file(daemon)) wait=ready")
    let tracks = try client.ask("item.tracks 1")
    #expect(tracks.last == "ok item=1 count=2 audio=0 subtitles=none")
    #expect(tracks[0].hasSuffix(" selected=true") && tracks[1].hasSuffix(" selected=false"))
    try client.reply("play")
    try client.reply("clock.advance 0.5")
    #expect(try client.reply("item.select 1 audio=de") == "ok item=1 audio=1 subtitles=none")
    try client.reply("clock.advance 0.5")
    let bad: [(String, Int)] = [
      ("audio=7", 1012), ("audio=fr", 1012), ("audio=none", 1003), ("subtitles=0", 1012), ("audio=", 6002),
      ("audio=x", 6002), ("audio=0 subtitles=3", 1012),
    ]
    for (choice, code) in bad {
      let reply = try client.reply("item.select 1 \(choice)")
      print("item.select 1 \(choice): \(reply)")
      #expect(reply.hasPrefix("error code=\(code) "))
      #expect(try client.reply("item.tracks 1") == "ok item=1 count=2 audio=1 subtitles=none")
    }
    #expect(try client.reply("item.select 9 audio=1").hasPrefix("error code=2004"))
    try client.reply("clock.advance 0.5")
    #expect(try client.reply("item.select 1 audio=auto subtitles=none") == "ok item=1 audio=0 subtitles=none")
    try client.reply("clock.advance 0.5")
    try daemon.finish()
    let frames = try Recording.frames(in: daemon.folder.file("out.wav"))
    let runs = TimeCode.runs(in: frames).filter { $0.file != 0 && $0.count > 240 }
    print(runs)
    #expect(runs.map(\.file) == [1, 2, 1])
    for run in runs { #expect(run.firstIndex == run.position) }
  }

  @Test func playerCriteriaApplyToItemsWithoutASelection() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try file(daemon)
    #expect(try client.ask("media-selection") == ["ok automatic=true"])
    let german = "| group=audible languages=fr,de characteristics=\"\" principal=\"\""
    #expect(try client.ask("media-selection audible language=fr,de") == [german, "ok automatic=true"])
    try client.reply("append \(path) wait=ready")
    #expect(try client.reply("item.tracks 1") == "ok item=1 count=2 audio=1 subtitles=none")
    try client.reply("play")
    try client.reply("clock.advance 0.5")
    #expect(try client.ask("media-selection automatic=off") == [german, "ok automatic=false"])
    #expect(try client.reply("item.tracks 1") == "ok item=1 count=2 audio=0 subtitles=none")
    try client.reply("clock.advance 0.5")
    #expect(try client.reply("item.select 1 audio=0") == "ok item=1 audio=0 subtitles=none")
    #expect(try client.reply("media-selection automatic=toggle") == "ok automatic=true")
    #expect(try client.reply("item.tracks 1") == "ok item=1 count=2 audio=0 subtitles=none")
    #expect(try client.reply("item.select 1 audio=auto") == "ok item=1 audio=1 subtitles=none")
    #expect(try client.ask("media-selection audible clear") == ["ok automatic=true"])
    #expect(try client.reply("item.tracks 1") == "ok item=1 count=2 audio=0 subtitles=none")
    #expect(try client.reply("media-selection player=x").hasPrefix("error code=1006"))
    try daemon.finish()
    let frames = try Recording.frames(in: daemon.folder.file("out.wav"))
    let runs = TimeCode.runs(in: frames).filter { $0.file != 0 && $0.count > 240 }
    #expect(runs.prefix(2).map(\.file) == [2, 1])
    for run in runs { #expect(run.firstIndex == run.position) }
  }

  @Test func chaptersOfAnEntryAreListed() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try file(daemon)
    try client.reply("append \(path) wait=ready")
    let rows = [
      "| chapter=1 start=0 end=4 title=\"Part 1\"", "| chapter=2 start=4 end=8 title=\"Part 2\"",
      "| chapter=3 start=8 end=10 title=\"Part 3\"",
    ]
    #expect(try client.ask("item.chapters 1") == rows + ["ok item=1 count=3 next=none"])
    #expect(try client.ask("item.chapters 1 offset=2") == [rows[2], "ok item=1 count=3 next=none"])
    #expect(try client.ask("item.chapters 1 offset=9") == ["ok item=1 count=3 next=none"])
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"item.chapters","params":{"id":1,"offset":1}}"#)
    #expect(
      try client.line()
        == #"{"jsonrpc":"2.0","id":1,"result":{"item":1,"count":3,"next":null,"rows":["#
        + #"{"chapter":2,"start":4,"end":8,"title":"Part 2"},{"chapter":3,"start":8,"end":10,"title":"Part 3"}]}}"#)
    // For a part of a file, the chapters in it, with times relative to the part.
    let sheet = try daemon.folder.write(
      "disc.cue",
      Array("FILE a.mka WAVE\nTRACK 01 AUDIO\nINDEX 01 00:00:00\nTRACK 02 AUDIO\nINDEX 01 00:05:00\n".utf8))
    #expect(try client.reply("load \(sheet) wait=ready") == "ok items=2,3 version=2")
    #expect(
      try client.ask("item.chapters 3") == [
        "| chapter=1 start=0 end=3 title=\"Part 2\"", "| chapter=2 start=3 end=5 title=\"Part 3\"",
        "ok item=3 count=2 next=none",
      ])
    try client.reply("jump 3")
    #expect(try client.reply("next-chapter").hasPrefix("ok finished=true item=3 time=3 "))
    #expect(field("chapter", try client.reply("status")) == "2")
    // No chapters; a removed item; an unreadable file; an item that is not opened yet.
    let plain = try daemon.wave(3, frameCount: 480)
    #expect(try client.reply("load \(plain) wait=ready") == "ok items=4 version=4")
    #expect(try client.ask("item.chapters 4") == ["ok item=4 count=0 next=none"])
    #expect(try client.reply("item.chapters 1").hasPrefix("error code=2004 name=no-such-item"))
    #expect(try client.reply("append /nowhere.flac wait=ready").hasPrefix("error code=2001"))
    #expect(try client.reply("item.chapters 5").hasPrefix("error code=2001 name=file-not-found"))
    #expect(try client.reply("append \(Array(repeating: plain, count: 20).joined(separator: " "))").hasPrefix("ok"))
    #expect(try client.reply("item.chapters 25").hasPrefix("error code=1003 name=invalid-state"))
    #expect(try client.reply("item.chapters 4 player=nobody").hasPrefix("error code=1006"))
  }

  @Test func chapterStartsAreObservedAsBoundaries() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try file(daemon)
    try client.reply("load \(path) \(try daemon.wave(3, frameCount: 4_800)) \(path) wait=ready")
    try client.reply("preroll")
    #expect(try client.reply("at-chapters seeks") == "ok id=1")
    #expect(try client.reply("at-chapters item=3") == "ok id=2")
    try client.reply("play")
    func cues(_ request: String) throws -> [String] {
      try client.ask(request).filter { $0.hasPrefix("* at ") || $0.hasPrefix("* removed ") }.map { line in
        line.split(separator: " ").filter { !$0.hasPrefix("pts=") && !$0.hasPrefix("late=") }.joined(separator: " ")
      }
    }
    let head = "* at id=1 player=main item="
    #expect(
      try cues("clock.advance 5") == [
        "\(head)1 time=0 kind=crossed chapter=1 title=\"Part 1\"",
        "\(head)1 time=4 kind=crossed chapter=2 title=\"Part 2\"",
      ])
    // Over one boundary, then over the end, through an item without chapters, into the third.
    let rest = try cues("seek 9") + cues("clock.advance 6")
    #expect(
      rest.filter { $0.contains(" id=1 ") } == [
        "\(head)1 time=8 kind=skipped direction=forward chapter=3 title=\"Part 3\"",
        "\(head)3 time=0 kind=crossed chapter=1 title=\"Part 1\"",
        "\(head)3 time=4 kind=crossed chapter=2 title=\"Part 2\"",
      ])
    #expect(rest.filter { $0.contains(" id=2 ") }.count == 2)
    #expect(try client.reply("untick 1") == "ok")
    #expect(try cues("clear") == ["* removed id=2 player=main item=3 cause=itemRemoved"])
    #expect(try client.reply("untick 2").hasPrefix("error code=1008"))
    #expect(try client.reply("at-chapters item=99").hasPrefix("error code=2004"))
    #expect(try client.reply("at-chapters player=x").hasPrefix("error code=1006"))
  }

  @Test func chapterTitlesAreInTheRequestedLanguage() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = daemon.folder.file("songs.mka")
    try Fixtures.ffmpeg([
      "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "sine=duration=3:sample_rate=48000", "-c:a",
      "flac", path,
    ])
    func chapter(_ start: String, _ titles: [(text: String, language: String)]) -> String {
      "<ChapterAtom><ChapterTimeStart>00:00:0\(start)</ChapterTimeStart>"
        + titles.map {
          "<ChapterDisplay><ChapterString>\($0.text)</ChapterString><ChapterLanguage>\($0.language)</ChapterLanguage>"
            + "</ChapterDisplay>"
        }.joined() + "</ChapterAtom>"
    }
    let chapters =
      chapter("0.000", [("One", "eng"), ("Eins", "ger"), ("Un", "fre")])
      + chapter("1.500", [("Two", "eng"), ("Zwei", "ger")])
    let list = try daemon.folder.write(
      "chapters.xml",
      Array("<?xml version=\"1.0\"?><Chapters><EditionEntry>\(chapters)</EditionEntry></Chapters>".utf8))
    try ChildProcess.run(["mkvpropedit", "--quiet", path, "--chapters", list])
    try client.reply("append \(path) wait=ready")
    for (languages, titles) in [
      ("de,en", ["Eins", "Zwei"]), ("fr,de", ["Un", "Zwei"]), ("fr", ["Un", "Two"]), ("ja", ["One", "Two"]),
    ] {
      let rows = try client.ask("item.chapters 1 language=\(languages)")
      #expect(rows.last == "ok item=1 count=2 next=none")
      #expect(rows.dropLast().map { field("title", $0) } == titles, "\(languages): \(rows)")
      #expect(rows.dropLast().map { field("start", $0) } == ["0", "1.5"])
    }
    #expect(try client.ask("item.chapters 1").dropLast().map { field("title", $0) } == ["One", "Two"])
  }

  @Test func chapterChangesAreReportedAndChaptersAreSeekable() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("append \(try file(daemon)) wait=ready")
    try client.reply("preroll")
    try client.send("observe item.events")
    #expect(try client.line()?.unnumbered == "ok id=1")
    try client.reply("play")
    let lines = try client.ask("clock.advance 5").filter { $0.hasPrefix("* chapter-changed") }
    #expect(lines.count == 1 && lines[0].hasPrefix("* chapter-changed id=1 player=main item=1 time=4 "))
    #expect(lines[0].unnumbered.hasSuffix(" chapter=2 title=\"Part 2\""))
    let status = try client.reply("status")
    #expect(field("chapter", status) == "2" && status.contains("chapterTitle=\"Part 2\""))
    #expect(try client.reply("next-chapter").hasPrefix("ok finished=true item=1 time=8 "))
    #expect(try client.reply("next-chapter").hasPrefix("error code=1013 name=no-such-chapter"))
    #expect(try client.reply("previous-chapter").hasPrefix("ok finished=true item=1 time=4 "))
    #expect(field("chapter", try client.reply("status")) == "2")
    try client.reply("clear")
    #expect(try client.reply("next-chapter").hasPrefix("error code=1004"))
    #expect(field("chapter", try client.reply("status")) == "none")
  }
}
