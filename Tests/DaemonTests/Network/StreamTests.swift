import DaemonTesting
import RigSupport
import Testing

/// HLS streams over the wire: time-coded audio in FLAC segments, so that every sample shows its position.
@Suite(.timeLimit(.minutes(5))) struct StreamTests {
  private static let master =
    "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=2\nnone.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n"

  /// Writes a playlist of some segments, to which more may be added.
  private func write(_ lines: [String], _ segments: Range<Int>, to server: HTTPServer, isEnded: Bool = false) throws {
    let segmentLines = lines.filter { $0.hasPrefix("#EXTINF") || !$0.hasPrefix("#") }
    var live = [
      "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:1", "#EXT-X-MEDIA-SEQUENCE:\(segments.lowerBound)",
    ]
    live += lines.filter { $0.hasPrefix("#EXT-X-MAP") }
    for index in segments {
      if index == 2 { live.append("#EXT-X-PROGRAM-DATE-TIME:2026-11-22T09:00:02Z") }
      live += segmentLines[(2 * index)..<(2 * index + 2)]
    }
    if isEnded { live.append("#EXT-X-ENDLIST") }
    try server.write(Array(live.joined(separator: "\n").utf8), to: "live.m3u8")
  }

  @Test func streamSeekIsSampleAccurateAndTheNextItemFollowsWithoutAGap() throws {
    let (server, _) = try TimeCodedStream.serve()
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    #expect(
      try client.reply("load \(server.address)/a.m3u8 \(server.address)/2.wav wait=ready") == "ok items=1,2 version=1")
    let status = try client.reply("item.status 1")
    #expect(field("seekableTimeRanges", status)?.hasPrefix("0-12") == true, "\(status)")
    try client.reply("play")
    try client.reply("clock.advance 2")
    let reply = try client.reply("seek 400001/48000")
    #expect(reply.contains(" pts=400001/48000 ") && reply.contains(" exact=true clamped=false "), "\(reply)")
    try client.reply("clock.advance 1")
    let log = try client.ask("item.log 1")
    try client.reply("clock.advance 20")
    #expect(log.contains { $0.hasPrefix("| kind=access") && $0.contains(" type=vod ") }, "\(log)")
    #expect(!log.contains { $0.hasPrefix("| kind=error") })
    #expect(
      try daemon.recorded(withSilences: false) == "1[0..<96000] 1[400001..<\(TimeCodedStream.frameCount)] 2[0..<24000]")
  }

  /// A stream in two languages, in which each sample identifies the language, and subtitles.
  private func serveLanguages(isLive: Bool = false) throws -> HTTPServer {
    let server = try HTTPServer()
    for (file, name) in [(1, "en"), (2, "de")] {
      try TimeCode.writeWAV(path: server.files.file("\(name).wav"), file: file, frameCount: TimeCodedStream.frameCount)
      try Fixtures.ffmpeg([
        "-nostdin", "-loglevel", "error", "-i", server.files.file("\(name).wav"), "-c:a", "flac", "-strict",
        "-2", "-f", "hls", "-hls_time", "1", "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4",
        "-hls_fmp4_init_filename", "\(name).mp4", "-hls_segment_filename", server.files.file("\(name)%d.m4s"),
        server.files.file("\(name).m3u8"),
      ])
      if isLive {
        let text = String(decoding: try Files.read(server.files.file("\(name).m3u8")), as: UTF8.self)
        let live = text.replacing("#EXT-X-ENDLIST", with: "").replacing("#EXT-X-PLAYLIST-TYPE:VOD\n", with: "")
        try server.write(Array(live.utf8), to: "\(name).m3u8")
      }
    }
    let media = "#EXT-X-MEDIA:GROUP-ID=\"g\",TYPE="
    let lines = [
      "#EXTM3U", media + "AUDIO,NAME=\"English\",LANGUAGE=\"en\",DEFAULT=YES",
      media + "AUDIO,NAME=\"Deutsch\",LANGUAGE=\"de\",URI=\"de.m3u8\",CHARACTERISTICS=\"public.translation.dubbed\"",
      media + "SUBTITLES,NAME=\"Texte\",LANGUAGE=\"de\",URI=\"s.m3u8\"",
      "#EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO=\"g\",SUBTITLES=\"g\"", "en.m3u8",
    ]
    try server.write(Array(lines.joined(separator: "\n").utf8), to: "m.m3u8")
    return server
  }

  private func codes(_ daemon: TestServer) throws -> [TimeCode.Run] {
    let frames = try Recording.frames(in: daemon.folder.file("out.wav"))
    return TimeCode.runs(in: frames).filter { $0.file != 0 && $0.count > 240 }
  }

  @Test func renditionsAreSelectedLikeTracksOfFiles() throws {
    let server = try serveLanguages()
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("append \(server.address)/m.m3u8 wait=ready")
    let tracks = try client.ask("item.tracks 1")
    #expect(tracks.last == "ok item=1 count=3 audio=0 subtitles=none")
    #expect(tracks[0].contains(" default=true ") && tracks[0].contains(" language=en title=English selected=true"))
    #expect(tracks[1].contains(" language=de title=Deutsch characteristics=is-dubbed-translation selected=false"))
    #expect(
      tracks[2].hasPrefix("| track=2 type=subtitle codec=webvtt playable=") && tracks[2].contains(" language=de "))
    try client.reply("play")
    try client.reply("clock.advance 1")
    #expect(try client.reply("item.select 1 audio=de subtitles=de") == "ok item=1 audio=1 subtitles=2")
    try client.reply("clock.advance 2")
    for (choice, code) in [("audio=7", 1012), ("audio=fr", 1012), ("audio=none", 1003), ("subtitles=0", 1012)] {
      #expect(try client.reply("item.select 1 \(choice)").hasPrefix("error code=\(code) "), "\(choice)")
      #expect(try client.reply("item.tracks 1") == "ok item=1 count=3 audio=1 subtitles=2")
    }
    #expect(try client.reply("item.select 1 audio=auto subtitles=none") == "ok item=1 audio=0 subtitles=none")
    try client.reply("clock.advance 1")
    // The player's criteria apply to an item without a selection.
    try client.reply("media-selection audible language=de")
    #expect(try client.reply("item.tracks 1") == "ok item=1 count=3 audio=1 subtitles=none")
    try client.reply("clock.advance 20")
    try daemon.finish()
    let runs = try codes(daemon)
    print(runs)
    #expect(runs.map(\.file) == [1, 2, 1, 2] && runs.last?.endIndex == TimeCodedStream.frameCount)
    for run in runs { #expect(run.firstIndex == run.position) }
  }

  @Test func renditionIsSelectableBeforePlaybackAndInALiveStream() throws {
    let ended = try serveLanguages()
    let live = try serveLanguages(isLive: true)
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("append \(ended.address)/m.m3u8 wait=ready")
    #expect(try client.reply("item.select 1 audio=de") == "ok item=1 audio=1 subtitles=none")
    try client.reply("play")
    try client.reply("clock.advance 13")
    try client.reply("pause")
    #expect(try client.reply("load \(live.address)/m.m3u8 wait=ready").hasPrefix("ok items=2 "))
    // The playlist does not grow. The played range is far enough from its end that the player does not wait.
    try client.reply("item.buffer 2 1")
    #expect(try client.reply("seek 0.5").contains(" pts=24000/48000 "))
    try client.reply("play")
    try client.reply("clock.advance 1")
    #expect(try client.reply("item.select 2 audio=de") == "ok item=2 audio=1 subtitles=none")
    try client.reply("clock.advance 1")
    #expect(field("live", try client.reply("item.status 2")) == "true")
    try daemon.finish()
    let runs = try codes(daemon)
    print(runs)
    #expect(runs.map(\.file) == [2, 1, 2])
    #expect(runs.first.map { $0.firstIndex == 0 && $0.endIndex == TimeCodedStream.frameCount } == true)
    let (english, german) = (runs[1], runs[2])
    #expect(english.firstIndex == 24_000)
    #expect(german.firstIndex - english.firstIndex == german.position - english.position, "at the same time")
  }

  @Test func sessionDataOfAMasterPlaylistIsMetadata() throws {
    let (server, _) = try TimeCodedStream.serve()
    let lines = [
      "#EXTM3U", "#EXT-X-SESSION-DATA:DATA-ID=\"com.apple.hls.title\",VALUE=\"Das Lied\",LANGUAGE=\"de\"",
      "#EXT-X-SESSION-DATA:DATA-ID=\"com.apple.hls.title\",VALUE=\"The Song\",LANGUAGE=\"en\"",
      "#EXT-X-SESSION-DATA:DATA-ID=\"com.example.raw\",URI=\"raw\",FORMAT=RAW",
      "#EXT-X-STREAM-INF:BANDWIDTH=1", "a.m3u8",
    ]
    try server.write([1, 2, 3], to: "raw")
    try server.write(Array(lines.joined(separator: "\n").utf8), to: "master.m3u8")
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    #expect(try client.reply("load \(server.address)/master.m3u8 wait=ready") == "ok items=1 version=1")
    #expect(try client.reply("asset.open \(server.address)/master.m3u8") == "ok asset=1")
    for command in ["item.metadata 1 space=hls", "asset.metadata 1 space=hls"] {
      let rows = try client.ask(command)
      #expect(
        rows.dropLast() == [
          "| identifier=hls/com.apple.hls.title key=com.apple.hls.title commonKey=title type=string value=\"Das Lied\""
            + " language=de",
          "| identifier=hls/com.apple.hls.title key=com.apple.hls.title commonKey=title type=string value=\"The Song\""
            + " language=en",
          "| identifier=hls/com.example.raw key=com.example.raw type=data bytes=3",
        ], "\(rows)")
    }
  }

  @Test func timedMetadataIsReportedWhenHeard() throws {
    let (server, lines) = try TimeCodedStream.serve()
    var list = lines
    let first = try #require(list.firstIndex { $0.hasPrefix("#EXTINF") })
    list.insert(
      contentsOf: [
        "#EXT-X-PROGRAM-DATE-TIME:2026-11-22T09:00:00Z",
        "#EXT-X-DATERANGE:ID=\"ad\",START-DATE=\"2026-11-22T09:00:01.500Z\",DURATION=2,SCTE35-OUT=0xFC30,X-A=\"b\"",
      ], at: first)
    try server.write(Array(list.joined(separator: "\n").utf8), to: "a.m3u8")
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.send("observe item.events")
    #expect(try client.line()?.unnumbered == "ok id=1")
    #expect(try client.ask("load \(server.address)/a.m3u8 wait=ready").last?.hasPrefix("ok") == true)
    try client.reply("play")
    #expect(try client.ask("clock.advance 1.4").contains { $0.hasPrefix("* timed-metadata") } == false)
    let reported = try client.ask("clock.advance 0.2").filter { $0.hasPrefix("* timed-metadata") }
    #expect(
      reported.count == 5 && reported.allSatisfy { $0.contains(" item=1 time=1.5 ") && $0.contains(" info=ad") },
      "\(reported)")
    #expect(
      reported.first?.contains(" duration=2 identifier=hls/ID key=ID type=string value=ad") == true, "\(reported)")
    #expect(
      reported.contains {
        $0.contains(" identifier=hls/SCTE35-OUT ") && $0.contains(" type=data bytes=2 ")
          && $0.unnumbered.hasSuffix(" data=/DA=")
      }, "\(reported)")
    // A later observer gets the current metadata, and so does a seek back to it.
    #expect(try client.ask("observe item.events").last?.unnumbered == "ok id=2")
    for _ in reported {
      #expect(try client.line()?.hasPrefix("* timed-metadata id=2 player=main item=1 time=1.5") == true)
    }
    try client.reply("seek 0.5")
    let afterSeek = try client.ask("clock.advance 0.5").filter { $0.hasPrefix("* timed-metadata") }
    #expect(afterSeek == [])
    try client.reply("seek 2.5")
    let current = try client.ask("clock.advance 0.2").filter { $0.hasPrefix("* timed-metadata id=1") }
    #expect(
      current.count == 5 && current.allSatisfy { $0.contains(" time=1.5 ") && $0.contains(" held=true ") },
      "\(current)")
    try client.reply("stop")
  }

  @Test func liveStreamHasASeekableWindowAndDates() throws {
    let (server, lines) = try TimeCodedStream.serve()
    try write(lines, 0..<8, to: server)
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    #expect(try client.reply("load \(server.address)/live.m3u8 wait=ready").hasPrefix("ok items=1 "))
    let status = try client.reply("item.status 1")
    #expect(field("duration", status) == "indefinite" && field("seekableTimeRanges", status)?.hasPrefix("0-") == true)
    // Three segments before its end.
    let live = try #require(field("seekableTimeRanges", status)?.split(separator: "-").last.flatMap { Double($0) })
    #expect(live > 4 && live < 6)
    for (position, time, isClamped) in [
      ("end", live, false), ("11", live, true), ("0.5", 0.5, false), ("-30", 0, true),
    ] {
      let reply = try client.reply("seek \(position)")
      #expect(reply.contains(" clamped=\(isClamped) "), "\(position): \(reply)")
      #expect(abs((field("time", reply).flatMap(Double.init) ?? -1) - time) < 0.001, "\(position): \(reply)")
    }
    let segmentStart = try #require(Double(field("time", try client.reply("seek date=2026-11-22T09:00:02Z")) ?? ""))
    let later = try client.reply("seek date=2026-11-22T09:00:03.5Z")
    #expect(abs((Double(field("time", later) ?? "") ?? 0) - segmentStart - 1.5) < 0.001, "\(later)")
    #expect(try client.reply("seek date=2026-11-22T08:00:00Z").hasPrefix("error code=2070"))
    #expect(try client.reply("seek date=yesterday").hasPrefix("error code=6002"))
    // New segments are played after the existing ones. Segments that left the window cannot be reached any more.
    try client.reply("seek 0")
    try client.reply("play")
    _ = try server.drain()
    try write(lines, 3..<12, to: server, isEnded: true)
    try server.wait("request GET /live.m3u8")
    try client.reply("clock.advance 1")
    let log = try client.ask("item.log 1")
    #expect(log.contains { $0.hasPrefix("| kind=access") && $0.contains(" type=live ") }, "\(log)")
    try client.reply("clock.advance 30")
    let heard = try daemon.recorded(withSilences: false)
    #expect(heard.hasSuffix("..<\(TimeCodedStream.frameCount)]"), "\(heard)")
  }

  @Test func invalidStreamsAreRejectedWithTheirCodes() throws {
    let (server, lines) = try TimeCodedStream.serve()
    try server.write(Array(Self.master.utf8), to: "m.m3u8")
    try server.write(Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nm2.m3u8\n".utf8), to: "m2.m3u8")
    try server.write(Array("#EXTM3U\n#EXT-X-TARGETDURATION:soon\n".utf8), to: "bad.m3u8")
    let text = lines.joined(separator: "\n")
    try server.write(
      Array(text.replacing("#EXT-X-MAP", with: "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n#EXT-X-MAP").utf8),
      to: "drm.m3u8")
    try server.write(Array(text.replacing("s0.m4s", with: "file:///etc/passwd").utf8), to: "closed.m3u8")
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    for (name, code) in [("bad", 2060), ("m2", 2062), ("drm", 2065), ("closed", 2063), ("none", 2043)] {
      let reply = try client.reply("load \(server.address)/\(name).m3u8 wait=ready")
      print("\(name).m3u8: \(reply)")
      #expect(reply.hasPrefix("error code=\(code) "), "\(name): \(reply)")
    }
    // The better variant is missing: the other one is played, and the log has the error.
    let loaded = try client.reply("load \(server.address)/m.m3u8 wait=ready")
    let id = try #require(field("items", loaded), "\(loaded)")
    #expect(try client.ask("item.log \(id)").contains { $0.hasPrefix("| kind=error") && $0.contains("/none.m3u8") })
    try client.reply("play")
    try client.reply("clock.advance 20")
    #expect(try daemon.recorded(withSilences: false) == "1[0..<\(TimeCodedStream.frameCount)]")
  }
}
