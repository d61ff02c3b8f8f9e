import DaemonTesting
import RigSupport
import Testing

/// Entries from a web server, over the wire, on the virtual clock.
@Suite(.timeLimit(.minutes(3))) struct HTTPTests {
  private func serve(frameCount: Int = 48_000) throws -> (HTTPServer, TestServer, WireClient) {
    let server = try HTTPServer()
    for number in 1...2 {
      try TimeCode.writeWAV(path: server.files.file("\(number).wav"), file: number, frameCount: frameCount)
    }
    let daemon = try InProcessServer.recording()
    return (server, daemon, try daemon.connect())
  }

  @Test func httpEntriesPlayWithoutAGap() throws {
    let (server, daemon, client) = try serve()
    let (one, two) = ("\(server.address)/1.wav", "\(server.address)/2.wav")
    #expect(try client.reply("load \(one) \(two) wait=ready") == "ok items=1,2 version=1")
    #expect(try client.ask("list").compactMap { field("path", $0) } == [one, two])
    let status = try client.reply("item.status 1")
    #expect(field("duration", status) == "1" && field("seekableTimeRanges", status) == "0-1")
    try client.send("observe item.events")
    #expect(try client.line()?.unnumbered == "ok id=1")
    try client.reply("play")
    try client.reply("clock.advance 1.5")
    let log = try client.ask("item.log 2")
    try client.reply("clock.advance 2")
    #expect(log.contains { $0.hasPrefix("| kind=access uri=\(two) address=127.0.0.1 type=file startup=") }, "\(log)")
    #expect(try daemon.recorded(withSilences: false) == "1[0..<48000] 2[0..<48000]")
  }

  @Test func requestOptionsAreSentAndForbiddenRequestsAreNotMade() throws {
    let (server, _, client) = try serve()
    let one = "\(server.address)/1.wav"
    #expect(
      try client.reply(
        #"load \#(one) wait=ready header="X-Test: a b\nAuthorization: Bearer x" user-agent="Me/1" timeout=5"#
      )
      .hasPrefix("ok"))
    let headers = try server.drain().filter { $0.hasPrefix("header") }
    #expect(
      Set(headers) == [
        "header User-Agent: Me/1", "header Icy-MetaData: 1", "header X-Test: a b", "header Authorization: Bearer x",
      ])
    let rejections = [
      ("load \(one) wait=ready network=false", "error code=2030"),
      ("load \(one) wait=ready interface=playhead-none0", "error code=2031"),
      ("load \(server.address)/none wait=ready", "error code=2043"),
      ("load \(one)?status=403 wait=ready", "error code=2042"),
      ("load \(one)?redirect=1&to=file:///etc/passwd wait=ready", "error code=2007"),
      ("load \(one)?redirect=loop wait=ready", "error code=2037"),
      ("load http://127.0.0.1:1/a wait=ready", "error code=2033"),
      ("load http:// wait=ready", "error code=6002"), ("load rtsp://127.0.0.1/a", "error code=2007"),
      ("load \(one) header=nonsense", "error code=6002"), ("load \(one) network=maybe", "error code=6002"),
      ("load \(one) timeout=0", "error code=1002"),
    ]
    for (request, error) in rejections {
      let reply = try client.reply(request)
      #expect(reply.hasPrefix(error), "\(request): \(reply)")
    }
    #expect(try client.reply("load \(one)?unasked wait=ready network=false").contains("network access is disabled"))
    #expect(try server.drain().allSatisfy { !$0.contains("unasked") })
  }

  @Test func credentialsAreNotReported() throws {
    let (server, _, client) = try serve()
    let hostAndPath = "127.0.0.1:\(server.port)/1.wav"
    #expect(try client.reply("load http://me:secret@\(hostAndPath) wait=ready").hasPrefix("ok"))
    #expect(try server.drain().contains("header Authorization: Basic bWU6c2VjcmV0"))
    let reported = try client.ask("list") + client.ask("item.log 1") + [try client.reply("item.status 1")]
    #expect(!reported.joined().contains("secret") && reported.joined().contains("http://\(hostAndPath)"))
  }

  @Test func hangingServerDoesNotBlockOtherEntries() throws {
    let (server, daemon, client) = try serve()
    try client.reply("load \(server.address)/1.wav?hold=never \(server.address)/2.wav")
    try client.reply("play")
    try server.wait("gate never")
    #expect(field("reasonForWaitingToPlay", try client.reply("status")) == "evaluatingBufferingRate")
    try client.reply("pause")
    try client.reply("stop")
    #expect(try client.reply("next").hasPrefix("ok item=2"))
    try client.reply("play")
    try client.reply("wait ready")
    try client.reply("clock.advance 2")
    // Another entry whose server does not reply, while the daemon ends.
    try client.reply("load \(server.address)/1.wav?hold=again")
    try server.wait("gate again")
    #expect(try daemon.recorded(withSilences: false) == "2[0..<48000]")
  }

  @Test func icyHeadersOfAStationAreMetadata() throws {
    let (server, _, client) = try serve()
    try Fixtures.ffmpeg([
      "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "sine=d=20", "-b:a", "128k",
      server.files.file("radio.mp3"),
    ])
    #expect(try client.reply("asset.open \(server.address)/radio.mp3?icy=16000&gate=end&at=200000") == "ok asset=1")
    let rows = try client.ask("asset.metadata 1 space=icy")
    #expect(
      rows.dropLast() == [
        "| identifier=icy/name key=name commonKey=title type=string value=\"Test Radio\"",
        "| identifier=icy/genre key=genre commonKey=type type=string value=Test",
        "| identifier=icy/url key=url commonKey=relation type=string value=http://radio.test/",
        "| identifier=icy/br key=br type=number value=128",
      ], "\(rows)")
  }

  @Test func streamTitlesAreReportedWhenHeard() throws {
    let (server, _, client) = try serve()
    let folder = server.files
    try Fixtures.ffmpeg([
      "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "sine=d=20", "-b:a", "128k",
      folder.file("radio.mp3"),
    ])
    func hex(_ text: String) -> String { text.utf8.map { String($0, radix: 16) }.joined() }
    let titles = ["StreamTitle='One';StreamUrl='http://x/';", "StreamTitle='It's two';"].map { "&title=\(hex($0))" }
      .joined()
    try client.send("observe item.events")
    #expect(try client.line()?.unnumbered == "ok id=1")
    #expect(
      try client.ask("load \(server.address)/radio.mp3?icy=16000\(titles)&gate=end&at=200000 wait=ready").last?
        .hasPrefix("ok")
        == true)
    try client.reply("play")
    let early = try client.ask("clock.advance 0.5")
    #expect(!early.contains { $0.hasPrefix("* stream-title") })
    #expect(field("streamTitle", try client.reply("status")) == nil)
    let lines = try client.ask("clock.advance 3").filter { $0.hasPrefix("* stream-title") }
    print(lines)
    #expect(lines.count == 2)
    #expect(lines.first?.contains("title=One url=http://x/") == true)
    #expect(lines.last?.contains("title=\"It's two\"") == true)
    let status = try client.reply("item.status 1")
    #expect(field("seekableTimeRanges", status) == "none" && field("duration", status) == "indefinite")
    #expect(status.contains("streamTitle=\"It's two\""))
    #expect(try client.reply("status").contains("streamTitle=\"It's two\""))
    #expect(field("canPlayFastForward", status) == "true")
    for name in ["canPlayReverse", "canPlaySlowReverse", "canPlayFastReverse", "canStepForward", "canStepBackward"] {
      #expect(field(name, status) == "false", "\(name)")
    }
    #expect(try client.ask("observe item.events").last?.unnumbered == "ok id=2")
    let first = try #require(try client.line())
    #expect(first.hasPrefix("* stream-title id=2 player=main item=1 ") && first.hasSuffix("title=\"It's two\""))
    for request in ["seek 1", "rate -1", "play-immediately -1", "rate-together -1 main"] {
      #expect(try client.reply(request).hasPrefix("error code=2039 name=ranges-not-supported"), "\(request)")
    }
    #expect(field("rate", try client.reply("status")) == "1")
    try client.reply("pause")
    try client.reply("default-rate -1")
    for request in ["play", "toggle", "preroll -1", "play-at now main"] {
      #expect(try client.reply(request).hasPrefix("error code=2039 name=ranges-not-supported"), "\(request)")
    }
    #expect(field("rate", try client.reply("status")) == "0")
    #expect(try client.reply("item.log 1").contains("stationName=\"Test Radio\""))
  }

  /// On the system's clock, because audio on the virtual clock never arrives late.
  @Test func pausingServerStallsThePlayerOnceAndTheLogHasTheDuration() throws {
    let server = try HTTPServer()
    // At most as long as the audio that is decoded before playback resumes, and larger than the data that FFmpeg
    // probes.
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=duration=0.5:sample_rate=192000", "-ac", "2",
      "-c:a", "pcm_s32le", server.files.file("large.wav"),
    ])
    let byteCount = try Files.read(server.files.file("large.wav")).count
    let daemon = try TestDaemon("--output", "null")
    let client = try daemon.connect()
    #expect(try client.reply("observe item.events").unnumbered == "ok id=1")
    try client.reply("end-action pause")
    let address = "\(server.address)/large.wav?redirect=1&to=/large.wav%3Fgate=stop%26at=\(byteCount * 3 / 5)"
    var lines = try client.ask("load \(address) wait=ready") + client.ask("play")
    while lines.last?.hasPrefix("* stalled ") != true { lines.append(try #require(try client.line())) }
    #expect(field("reasonForWaitingToPlay", try client.reply("status")) == "toMinimizeStalls")
    // The item may have been opened twice: for probing and for playback.
    func played() throws -> String {
      let rows = try client.ask("item.log 1").filter { $0.hasPrefix("| kind=access") && field("stalls", $0) != "0" }
      #expect(rows.count == 1, "\(rows)")
      return try #require(rows.first)
    }
    #expect(field("stalls", try played()) == "1")
    server.open(gate: "stop")
    while lines.last?.hasPrefix("* played-to-end ") != true { lines.append(try #require(try client.line())) }
    let row = try played()
    #expect(lines.count { $0.hasPrefix("* stalled ") } == 1, "\(lines)")
    #expect(field("stalls", row) == "1" && field("bytes", row) == "\(byteCount)")
    #expect((field("stallDuration", row).flatMap(Double.init) ?? 0) > 0)
    #expect((field("observedBitrate", row).flatMap(Int.init) ?? 0) > 0)
  }

  /// A copy of an entry shares the file, but not the network log.
  @Test func copyOfAnEntryHasASeparateLog() throws {
    let (server, _, client) = try serve()
    try Fixtures.ffmpeg([
      "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "sine=d=60", server.files.file("long.flac"),
    ])
    try client.send("observe item.events")
    #expect(try client.line()?.unnumbered == "ok id=1")
    #expect(try client.ask("load \(server.address)/long.flac wait=ready").last?.hasPrefix("ok") == true)
    #expect(try client.reply("item.copy 1").contains("items=2"))
    let before = try client.ask("seek 30") + client.ask("clock.advance 1")
    let after = try client.ask("item.log 1")
    #expect(after.contains { $0.hasPrefix("| kind=access") })
    #expect(try client.ask("item.log 2").filter { !$0.hasPrefix("*") } == ["ok item=2 count=0"])
    #expect(!(before + after).contains { $0.hasPrefix("* new-access-log-entry") && field("item", $0) == "2" })
  }
}
