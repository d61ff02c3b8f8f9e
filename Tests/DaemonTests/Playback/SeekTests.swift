import DaemonTesting
import Glibc
import RigSupport
import Testing

/// Seeks over the wire, on the virtual clock: their replies and the played audio.
@Suite struct SeekTests {
  /// A daemon with two items of 2 s, of which the first is ready. With `isPlaying`, 0.1 s of it have been played.
  private func loaded(isPlaying: Bool = false) throws -> (TestServer, WireClient) {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let paths = try [1, 2].map { try daemon.wave($0, frameCount: 96_000) }
    try client.reply("append \(paths.joined(separator: " ")) wait=ready")
    if isPlaying {
      try client.reply("play")
      try client.reply("clock.advance 0.1")
    }
    return (daemon, client)
  }

  /// Sends lines so that the daemon reads them at once. Returns `replyCount` reply lines.
  private func exchange(_ client: WireClient, _ lines: [String], replyCount: Int) throws -> [String] {
    try client.send(bytes: Array(lines.map { $0 + "\n" }.joined().utf8))
    return try (0..<replyCount).map { _ in try client.line() ?? "" }
  }

  /// The ID of a reply, and whether it finished or the reason why not.
  private func outcome(_ reply: String) -> String {
    let id = reply.split(separator: " ").first.map(String.init) ?? ""
    return field("finished", reply) == "true"
      ? "\(id) \(field("time", reply) ?? "")" : "\(id) \(field("reason", reply) ?? reply)"
  }

  // MARK: - Replies to seeks

  /// When the name is removed, the next item is already being decoded, so the seek needs another reader.
  @Test func seekAfterRemovalOfTheFileUsesTheOpenFile() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 96_000)
    try client.reply("append \(path) \(try daemon.wave(2, frameCount: 96_000)) wait=ready")
    try client.reply("play")
    try client.reply("clock.advance 1.5")
    try #require(unlink(path) == 0)
    #expect(try client.reply("seek 0.5").hasPrefix("ok finished=true item=1 time=0.5 "))
    try client.reply("clock.advance 0.5")
    let status = try client.reply("status")
    #expect(
      field("item", status) == "1" && field("time", status) == "1" && field("error", status) ?? "none" == "none",
      "\(status)")
  }

  @Test(arguments: [
    ("0.5", "time=0.5 pts=24000/48000 requested=0.5 before=0 after=0 exact=true clamped=false"),
    // Between two samples: the one that contains the time.
    ("0.00001", "time=0 pts=0/48000 requested=0.00001 before=0 after=0 exact=true clamped=false"),
    ("1/3", "time=0.333333333 pts=16000/48000 requested=0.333333333 before=0 after=0 exact=true clamped=false"),
    ("7", "time=2 pts=96000/48000 requested=7 before=0 after=0 exact=true clamped=true"),
    ("-1", "time=0 pts=0/48000 requested=-1 before=0 after=0 exact=true clamped=true"),
    ("end", "time=2 pts=96000/48000 requested=2 before=0 after=0 exact=true clamped=false"),
    ("25%", "time=0.5 pts=24000/48000 requested=0.5 before=0 after=0 exact=true clamped=false"),
  ]) func replyHasTheRequestedAndReachedTime(_ position: String, _ fields: String) throws {
    let (_, client) = try loaded()
    let reply = try client.reply("seek \(position)")
    #expect(reply == "ok finished=true item=1 \(fields) us=0 hostTime=none")
  }

  @Test func tolerancesAreRespectedAndReported() throws {
    let (_, client) = try loaded()
    let near = try client.reply("seek 0.5 before=0.1 after=0.25")
    #expect(field("before", near) == "0.1" && field("after", near) == "0.25")
    let time = try #require(field("time", near).flatMap(Double.init))
    #expect((0.4...0.75).contains(time))
    let fast = try client.reply("seek 0.5 fast")
    #expect(field("before", fast) == "inf" && field("after", fast) == "inf" && field("finished", fast) == "true")
  }

  /// A cheaper position on a running clock: the reported position is the played one.
  @Test func replyReportsAnInexactPositionAndItsDuration() throws {
    let folder = try TemporaryDirectory("daemon")
    let daemon = try TestDaemon("--output", "wav:\(folder.file("out.wav"))", folder: folder)
    let client = try daemon.connect()
    let path = folder.file("1.flac")
    try TimeCode.writeFLAC(path: path, file: 1, frameCount: 480_000)
    #expect(try client.reply("append \(path) wait=ready").hasPrefix("ok"))
    let exact = try client.reply("seek 3.0123")
    #expect(field("pts", exact) == "144590/48000" && field("exact", exact) == "true")
    #expect(try #require(field("us", exact).flatMap(Int.init)) > 0)
    let near = try client.reply("seek 7.0123 before=0.5 after=0.5")
    #expect(field("finished", near) == "true" && field("exact", near) == "false")
    #expect(field("requested", near) == "7.0123" && field("before", near) == "0.5" && field("after", near) == "0.5")
    #expect(try #require(field("us", near).flatMap(Int.init)) > 0)
    let position = try #require(field("pts", near)?.split(separator: "/").first.flatMap { Int($0) })
    #expect(position != 336_590 && (312_591...360_590).contains(position))
    try client.reply("at \(Double(position + 4_800) / 48_000)")
    try client.send("play")
    while let line = try client.line(), !line.hasPrefix("* at ") {}
    #expect(try daemon.recorded().hasPrefix("1[\(position)..<"))
  }

  /// The file has no index: the position is found by iterating over frames.
  @Test(arguments: ["", " before=0.5 after=0.5", " fast"])
  func exactnessIsReportedCorrectlyInAnMP3WithoutAnIndex(_ tolerances: String) throws {
    let daemon = try TestDaemon("--output", "null")
    let client = try daemon.connect()
    let path = daemon.folder.file("plain.mp3")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "anoisesrc=r=48000:a=0.4:seed=1:c=pink:d=60", "-c:a",
      "libmp3lame", "-q:a", "4", "-write_xing", "0", "-id3v2_version", "0", path,
    ])
    #expect(try client.reply("append \(path) wait=ready").hasPrefix("ok"))
    for requested in [40.0123, 20.0077] {
      let reply = try client.reply("seek \(requested)\(tolerances)")
      #expect(field("finished", reply) == "true" && field("clamped", reply) == "false")
      #expect(try #require(field("us", reply).flatMap(Int.init)) > 0)
      let position = try #require(field("pts", reply)?.split(separator: "/").first.flatMap { Int($0) })
      let expected = Int(requested * 48_000)
      #expect(field("exact", reply) == (position == expected ? "true" : "false"), "\(reply)")
      #expect(tolerances == " fast" || abs(position - expected) <= (tolerances.isEmpty ? 0 : 24_000))
    }
  }

  @Test func invalidSeeksChangeNothing() throws {
    let (_, client) = try loaded()
    try client.reply("seek 0.5")
    for line in ["seek nan", "seek inf", "seek 1 before=-1", "seek 1 after=nan", "seek 101%", "seek 1 item=2"] {
      #expect(try client.reply(line).hasPrefix("error "), "\(line)")
    }
    #expect(field("time", try client.reply("status")) == "0.5")
  }

  // MARK: - Several seeks

  @Test func onlyTheLastOfThreeRapidSeeksFinishes() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 96_000)) wait=ready")
    try client.reply("play")
    try client.reply("clock.advance 0.1")
    try client.send("@a seek 0.5", "@b seek 1", "@c seek 1.5")
    let replies = try (0..<3).map { _ in try client.line() ?? "" }.sorted()
    #expect(replies.map { field("finished", $0) } == ["false", "false", "true"])
    #expect(replies.map { $0.prefix(2) } == ["@a", "@b", "@c"])
    #expect(field("time", replies[2]) == "1.5")
    try client.reply("clock.advance 0.1")
    let heard = try daemon.recorded()
    #expect(heard == "1[0..<4800] 1[72000..<76800]")
  }

  @Test func simultaneousRelativeSeeksAddUp() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 96_000)) wait=ready")
    try client.send("@a seek +0.25", "@b seek +0.25", "@c seek -0.1")
    let replies = try (0..<3).map { _ in try client.line() ?? "" }
    let last = replies.first { $0.hasPrefix("@c") } ?? ""
    #expect(field("finished", last) == "true")
    #expect(field("time", last) == "0.4")
  }

  @Test func chasingSeekWaitsForThePreviousOneAndTheNewestFollows() throws {
    let (daemon, client) = try loaded(isPlaying: true)
    let replies = try exchange(
      client, ["@a seek 0.5", "@b seek 1 chase", "@c seek 1.2 chase", "@d seek +0.1 chase"], replyCount: 4)
    #expect(replies.map(outcome) == ["@b superseded", "@c superseded", "@a 0.5", "@d 1.3"])
    #expect(field("requested", replies[3]) == "1.3")
    try client.reply("clock.advance 0.1")
    #expect(try daemon.recorded() == "1[0..<4800] 1[62400..<67200]")
  }

  @Test func plainSeekSupersedesChasingSeeks() throws {
    let (_, client) = try loaded(isPlaying: true)
    let replies = try exchange(client, ["@a seek 0.5", "@b seek 1 chase", "@c seek 1.5"], replyCount: 3)
    #expect(replies.map(outcome) == ["@a superseded", "@b superseded", "@c 1.5"])
  }

  // MARK: - Interrupted seeks

  @Test(arguments: [
    ("next", "itemChanged"), ("remove 1", "itemChanged"), ("clear", "itemChanged"), ("seek 0", "superseded"),
    ("stop", "superseded"),
  ]) func interveningCommandEndsPendingSeeksInOrder(_ command: String, _ reason: String) throws {
    let (_, client) = try loaded(isPlaying: true)
    let replies = try exchange(client, ["@a seek 0.5", "@b seek 1 chase", command], replyCount: 3)
    #expect(replies.filter { $0.hasPrefix("@") }.map(outcome) == ["@a \(reason)", "@b \(reason)"])
  }

  @Test func closingThePlayerEndsItsSeeks() throws {
    let (daemon, client) = try loaded()
    try client.reply("player.create other")
    try client.reply("append \(try daemon.wave(3, frameCount: 48_000)) wait=ready player=other")
    let replies = try exchange(
      client, ["@a seek 0.5 player=other", "@b seek 1 chase player=other", "player.close other"], replyCount: 3)
    #expect(replies.filter { $0.hasPrefix("@") }.map(outcome) == ["@a closed", "@b closed"])
  }

  // MARK: - Before the item is ready

  @Test(arguments: [
    ("50%", "0.5"), ("end", "1"), ("+0.25", "0.25"), ("0.75", "0.75"), ("-3", "0"), ("9", "1"),
  ]) func seekBeforeTheItemIsReadySetsTheStart(_ position: String, _ time: String) throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 48_000)
    let replies = try exchange(client, ["append \(path)", "play", "@a seek \(position)"], replyCount: 3)
    #expect(outcome(replies[2]) == "@a \(time)")
    try client.reply("clock.advance 2")
    let frame = try Int(#require(Double(time)) * 48_000)
    #expect(try daemon.recorded() == (frame == 48_000 ? "" : "1[\(frame)..<48000]"))
  }

  @Test func seeksBeforeTheItemIsReadyKeepTheirOrderAndAddUp() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 48_000)
    let replies = try exchange(
      client, ["append \(path)", "@a seek 50%", "@b seek 0.1", "@c seek end", "@d seek -0.25"], replyCount: 5)
    #expect(replies.dropFirst().map(outcome) == ["@a superseded", "@b superseded", "@c superseded", "@d 0.75"])
    let chasing = try exchange(client, ["@a seek 50%", "@b seek +0.25 chase"], replyCount: 2)
    #expect(chasing.map(outcome) == ["@a 0.5", "@b 0.75"])
  }

  @Test(arguments: ["50%", "end", "0.5", "+1"]) func seekInAFailingItemEnds(_ position: String) throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let replies = try exchange(
      client, ["append /nonexistent/file.wav", "@a seek \(position)", "@b seek 1 chase"], replyCount: 3)
    #expect(replies.dropFirst().map(outcome) == ["@a itemFailed", "@b itemFailed"])
    #expect(try client.reply("seek \(position)").hasPrefix("error code=2001 name=file-not-found"))
  }

  // MARK: - Events of seeks

  @Test func jumpToTheEndIsReportedBeforeTheEnd() throws {
    let (_, client) = try loaded(isPlaying: true)
    try client.reply("observe item.events")
    try client.send("@a seek end")
    let lines = try client.ask("clock.advance 0.1").filter { !$0.hasPrefix("ok") }.unnumbered
    #expect(
      lines == [
        "@a ok finished=true item=1 time=2 pts=96000/48000 requested=2 before=0 after=0 exact=true clamped=false us=0"
          + " hostTime=0.1",
        "* time-jumped id=1 player=main item=1 time=2 pts=96000/48000 cause=seek hostTime=0.1",
        "* played-to-end id=1 player=main item=1 time=2 pts=96000/48000",
        "* transition id=1 player=main from=1 to=2 time=0 pts=0/1 trimmedEnd=0 trimmedEndBy=none trimmedStart=0"
          + " trimmedStartBy=none inserted=0 hostTime=0.1",
      ])
  }

  @Test func explainReportsTheLastStartOrSeek() throws {
    let none = try InProcessServer.recording().connect()
    #expect(try none.reply("explain").hasPrefix("error code=1003 name=invalid-state"))
    let parts = "wait=0 open=0 index=0 demux=0 decode=0 resample=0 commit=0"
    let (_, client) = try loaded()
    try client.reply("clock.advance 0")
    let startFields = "kind=start item=1 requested=0 reached=0 \(parts)"
    #expect(try client.reply("explain") == "ok player=main \(startFields) device=none total=0")
    try client.reply("play")
    try client.reply("clock.advance 0.1")
    #expect(try client.reply("explain") == "ok player=main \(startFields) device=0 total=0")
    try client.reply("seek 0.00001")
    #expect(
      try client.reply("explain")
        == "ok player=main kind=seek item=1 requested=0.00001 reached=0 \(parts) device=0 total=0")
    try client.reply("next")
    try client.reply("clock.advance 0.1")
    #expect(try client.reply("explain").hasPrefix("ok player=main kind=start item=2 requested=0 reached=0 "))
  }

  @Test func partsOfAStartAreMeasuredOnTheSystemClock() throws {
    let daemon = try TestDaemon("--output", "null")
    let client = try daemon.connect()
    try client.reply("load \(try daemon.wave(1, frameCount: 480_000))")
    try client.reply("play")
    try client.reply("wait time>=0.02")
    let start = try client.reply("explain")
    try client.reply("seek 5")
    try client.reply("wait time>=5.02")
    let seek = try client.reply("explain")
    for (kind, report) in [("start", start), ("seek", seek)] {
      #expect(field("kind", report) == kind, "\(report)")
      func value(_ name: String) throws -> Int { try #require(field(name, report).flatMap { Int($0) }, "\(report)") }
      let parts = try ["wait", "open", "index", "demux", "decode", "resample", "commit", "device"].map(value)
      #expect(parts.allSatisfy { $0 >= 0 })
      // Each is rounded down to a microsecond.
      #expect((0...parts.count).contains(try value("total") - parts.reduce(0, +)), "\(report)")
      #expect(try value("decode") > 0)
    }
    #expect(field("open", start).flatMap { Int($0) } ?? 0 > 0, "the file had to be opened")
    #expect(field("requested", seek) == "5" && field("reached", seek) == "5")
  }
}
