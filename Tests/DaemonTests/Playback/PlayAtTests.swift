import DaemonTesting
import Foundation
import Glibc
import RigSupport
import Testing

/// `play-at` and `rate-together`: players that start or change their rate at the same sample, over the wire.
@Suite(.serialized) struct PlayAtTests {
  /// Three players with constant values 1,000, 2,000 and 4,000, so that each sum identifies the audible players.
  private func threePlayers(frameCount: Int = 48_000) throws -> (TestServer, WireClient) {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    for (index, name) in ["a", "b", "c"].enumerated() {
      try client.reply("player.create \(name)")
      let path = try level(1_000 << index, frameCount: frameCount, in: daemon.folder)
      try client.reply("load \(path) wait=ready player=\(name)")
    }
    return (daemon, client)
  }

  private func level(_ value: Int, frameCount: Int, in folder: TemporaryDirectory) throws -> String {
    let path = folder.file("level-\(value).wav")
    let sample = Int16(value)
    try TimeCode.writeWAV(path: path, frameCount: frameCount) { _ in StereoFrame(left: sample, right: sample) }
    return path
  }

  /// The recorded values with their counts, without silence at the end.
  private func levels(_ daemon: TestServer) throws -> [String] {
    try daemon.finish()
    var runs: [(value: StereoFrame, count: Int)] = []
    for frame in try Recording.frames(in: daemon.folder.file("out.wav")) {
      if runs.last?.value == frame { runs[runs.count - 1].count += 1 } else { runs.append((frame, 1)) }
    }
    return runs.map { "\($0.value.left)/\($0.value.right)*\($0.count)" }
  }

  @Test func playersStartAtOneSampleAfterADelay() throws {
    let (daemon, client) = try threePlayers()
    try client.send("@1 play-at +0.25 a b c")
    #expect(try client.reply("clock.advance 0.1") == "ok now=0.1")
    #expect(field("reasonForWaitingToPlay", try client.reply("status player=b")) == "startTimeNotReached")
    try client.send("clock.advance 0.4")
    #expect(try client.line() == "@1 ok frame=12000 hostTime=0.25 late=0 spread=0")
    #expect(try client.line() == "ok now=0.5")
    #expect(field("timeControlStatus", try client.reply("status player=c")) == "playing")
    #expect(field("time", try client.reply("status player=a")) == "0.25")
    try client.reply("clock.advance 1")
    #expect(try levels(daemon).prefix(2) == ["0/0*12000", "7000/7000*48000"])
  }

  @Test func playersStartNowAtAnInstantAndAtAFrame() throws {
    let (daemon, client) = try threePlayers()
    #expect(try client.reply("play-at now a") == "ok frame=0 hostTime=0 late=0 spread=0")
    try client.send("@1 play-at 0.1 b", "@2 play-at frame:9600 c", "clock.advance 0.5")
    let replies = Set(try (0..<3).map { _ in try client.line() ?? "" })
    #expect(
      replies == [
        "@1 ok frame=4800 hostTime=0.1 late=0 spread=0", "@2 ok frame=9600 hostTime=0.2 late=0 spread=0", "ok now=0.5",
      ])
    #expect(try levels(daemon).prefix(3) == ["1000/1000*4800", "3000/3000*4800", "7000/7000*14400"])
  }

  @Test func instantsAreTimesOfTheVirtualClock() throws {
    let (_, client) = try threePlayers()
    #expect(try client.reply("clock.advance 0.55") == "ok now=0.55")
    try client.send("@1 play-at 1.05 a", "clock.advance 0.55")
    #expect(try client.line() == "@1 ok frame=24000 hostTime=1.05 late=0 spread=0")
    #expect(try client.line() == "ok now=1.1")
    #expect(field("time", try client.reply("status player=a")) == "0.05")
    #expect(try client.reply("play-at 1.1 b").contains("name=invalid-time"))
  }

  /// The wall clock of a virtual daemon is 1970-01-01T00:00:00Z at time 0, and its local time is UTC.
  @Test func playersStartAtADateAndAtATimeOfDay() throws {
    let (daemon, client) = try threePlayers(frameCount: 96_000)
    try client.send("@1 play-at 1970-01-01T01:00:05+01:00 a b", "@2 play-at 00:00:05.1 c")
    #expect(try client.reply("clock.advance 2") == "ok now=2")
    #expect(field("timeControlStatus", try client.reply("status player=a")) == "paused")
    #expect(try client.reply("clock.advance 2") == "ok now=4")
    #expect(field("reasonForWaitingToPlay", try client.reply("status player=c")) == "startTimeNotReached")
    try client.send("clock.advance 2")
    let replies = try (0..<3).map { _ in try client.line() ?? "" }
    #expect(replies.map { field("hostTime", $0) } == ["5", "5.1", nil], "\(replies)")
    #expect(replies.prefix(2).allSatisfy { $0.hasSuffix("late=0 spread=0") }, "\(replies)")
    #expect(replies.last == "ok now=6")
    #expect(field("time", try client.reply("status player=b")) == "1")
    #expect(try levels(daemon).contains("3000/3000*4800"))
  }

  @Test func rateChangesAtADate() throws {
    let (_, client) = try threePlayers()
    try client.reply("auto-wait off player=a")
    #expect(try client.reply("rate-at 1 00:00:03 from=0.25 player=a") == "ok rate=1")
    try client.reply("clock.advance 3.5")
    #expect(field("time", try client.reply("status player=a")) == "0.75")
    #expect(try client.reply("rate-at 1 1970-01-01T00:00:03Z player=a").contains("name=invalid-time"))
  }

  @Test func playerThatGetsAnotherCommandLeavesTheGroup() throws {
    let (daemon, client) = try threePlayers()
    try client.send("@1 play-at +0.25 a b c")
    try client.reply("pause player=a")
    try client.reply("seek 0.5 player=b")
    try client.send("clock.advance 0.3")
    #expect(try client.line() == "@1 ok frame=12000 hostTime=0.25 late=0 spread=0")
    #expect(try client.line() == "ok now=0.3")
    #expect(field("time", try client.reply("status player=b")) == "0.55")
    try client.send("@2 play-at +1 a")
    try client.send("stop player=a")
    let replies = try (0..<2).map { _ in try client.line() ?? "" }.sorted()
    #expect(replies[0].hasPrefix("@2 error code=6012 name=wait-ended") && replies[1] == "ok", "\(replies)")
    #expect(try levels(daemon).prefix(2) == ["0/0*12000", "6000/6000*2400"])
  }

  @Test func impossibleStartsAreRejectedAndChangeNothing() throws {
    let (_, client) = try threePlayers()
    try client.reply("player.create empty")
    try client.reply("clock.advance 1")
    let before = try client.ask("player.list")
    for (request, error) in [
      ("play-at", "6002 name=bad-arguments"), ("play-at now", "6002 name=bad-arguments"),
      ("play-at soon a", "1002 name=invalid-time"), ("play-at -1 a", "1002 name=invalid-time"),
      ("play-at 50% a", "1002 name=invalid-time"), ("play-at end a", "1002 name=invalid-time"),
      ("play-at 0.5 a", "1002 name=invalid-time"), ("play-at 1000000 a", "1002 name=invalid-time"),
      ("play-at +86401 a", "1002 name=invalid-time"), ("play-at 00:00.5 a", "1002 name=invalid-time"),
      ("play-at 1970-01-01T00:00:01 a", "1002 name=invalid-time"), ("play-at 24:00 a", "1002 name=invalid-time"),
      ("play-at 1971-01-03T00:00Z a", "1002 name=invalid-time"), ("play-at frame: a", "1002 name=invalid-time"),
      ("play-at frame:-1 a", "1002 name=invalid-time"), ("play-at frame:9999999999999 a", "1002 name=invalid-time"),
      ("play-at now a nobody", "1006 name=no-such-player"), ("play-at now a b a", "1001 name=invalid-argument"),
      ("play-at now a empty", "1004 name=no-current-item"), ("play-at now a main", "1004 name=no-current-item"),
    ] {
      #expect(try client.reply(request).hasPrefix("error code=\(error)"), "\(request)")
    }
    #expect(try client.ask("player.list") == before)
    // The message states what was read, and how to write a time of day.
    let past = try client.reply("play-at 0.5 a")
    #expect(
      past.contains("start time must be after 1 s, the current time of the monotonic clock (got 0.5 s)")
        && past.contains("a time of day has the form 08:00"), "\(past)")
    #expect(
      try client.reply("play-at 1970-01-01T00:00:00Z a").contains(
        "start date must be after 1970-01-01T00:00:01.000Z, the current date (got 1970-01-01T00:00:00.000Z)"))
    try client.reply("play player=c")
    #expect(try client.reply("play-at now a c").hasPrefix("error code=1003 name=invalid-state"))
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"play-at","params":{"time":"+1","players":[]}}"#)
    #expect(try client.line()?.contains("-32602") == true)
  }

  @Test func rateOfSeveralPlayersChangesAtOneSample() throws {
    let (_, client) = try threePlayers(frameCount: 96_000)
    for name in ["a", "b", "c"] { try client.reply("pitch varispeed player=\(name)") }
    #expect(try client.reply("rate-together 0.5 a b c") == "ok frame=none hostTime=none spread=0")
    #expect(try client.reply("rate player=b") == "ok rate=0.5")
    #expect(try client.reply("rate-together 1 a b c") == "ok frame=none hostTime=none spread=0")
    try client.reply("play-at now a b c")
    try client.reply("clock.advance 0.5")
    try client.send("@9 rate-together 2 a b c")
    #expect(
      try client.ask("clock.advance 0.5") == ["@9 ok frame=26880 hostTime=0.56 spread=0", "ok now=1"])
    let times = try ["a", "b", "c"].map { field("time", try client.reply("status player=\($0)")) }
    #expect(Set(times).count == 1, "\(times)")
    #expect(field("timebaseRate", try client.reply("status player=c")) == "2")
    for (request, error) in [
      ("rate-together", "6002 name=bad-arguments"), ("rate-together 2", "6002 name=bad-arguments"),
      ("rate-together fast a", "6002 name=bad-arguments"), ("rate-together 0 a", "6002 name=bad-arguments"),
      ("rate-together 33 a", "6002 name=bad-arguments"), ("rate-together 0.01 a b", "1005 name=unsupported-rate"),
      ("rate-together 2 a nobody", "1006 name=no-such-player"), ("rate-together 2 a a", "1001 name=invalid-argument"),
    ] {
      #expect(try client.reply(request).hasPrefix("error code=\(error)"), "\(request)")
    }
    #expect(field("rate", try client.reply("status player=a")) == "2")
    // 0.56 s at rate 1 and 0.71 s at rate 2.
    try client.reply("clock.advance 0.27")
    for name in ["a", "b", "c"] { #expect(field("time", try client.reply("status player=\(name)")) == "1.98") }
  }

  @Test func loopLastEndsTheLoopAfterTheCurrentPass() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let paths = try (1...2).map { try daemon.wave($0, frameCount: 48_000) }
    try client.reply("append \(paths.joined(separator: " ")) wait=ready")
    #expect(try client.reply("loop last").hasPrefix("error code=1003 name=invalid-state"))
    #expect(try client.reply("loop 0.25 0.5") == "ok item=1 start=0.25 end=0.5 count=none passes=0")
    try client.reply("play")
    try client.reply("clock.advance 0.6")
    #expect(try client.reply("loop last") == "ok item=1 start=0.25 end=0.5 count=none passes=1")
    #expect(try client.reply("loop last off").hasPrefix("error code=6002 name=bad-arguments"))
    try client.reply("clock.advance 2")
    #expect(
      try daemon.recorded(withSilences: false) == "1[0..<24000] 1[12000..<24000] 2[0..<48000]")
  }

  /// `clients/sh/examples/loops`: three loops, each with a volume and a position.
  @Test func loopsExampleStartsItsLoopsAtOneSample() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    for value in [1_000, 2_000, 4_000] { _ = try level(value, frameCount: 4_800, in: daemon.folder) }
    let list = daemon.folder.file("list")
    try """
    # three loops
    level-1000.wav | 1   | 0
    level-2000.wav | 0.5 | -1

    level-4000.wav | 1   | 1
    """.write(toFile: list, atomically: true, encoding: .utf8)
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let script = root.appendingPathComponent("clients/sh/examples/loops").path
    var keys: [Int32] = [-1, -1]
    try #require(pipe(&keys) == 0)
    defer { close(keys[1]) }
    let example = try Program(
      "/bin/sh", [script, "--play", list].map { Array($0.utf8) }, environment: ["PLAYHEAD_SOCKET": daemon.socket],
      input: keys[0])
    close(keys[0])
    func type(_ line: String) { #expect(write(keys[1], line, line.utf8.count) == line.utf8.count) }
    #expect(try example.waitForLine() == "frame=0 hostTime=0 late=0 spread=0")
    // Ten passes without a gap. The first frame of a volume ramp has the previous volume.
    try client.reply("clock.advance 1")
    let statuses = try client.ask("player.list").filter { $0.contains("loop-") }
    #expect(statuses.count == 3 && statuses.allSatisfy { $0.contains("timeControlStatus=playing") })
    type("p 1 9\nv 1 0.25\n")
    try example.waitForText("volume=0.25\n[Enter v p r q] ")
    // One rate for all, without a pause: 60 ms after the second that was played.
    let name = try #require(statuses.compactMap { field("player", $0) }.first)
    try client.reply("observe player.rate player=\(name)")
    type("r 2\n")
    while field("new", try client.line() ?? "") != "2" {}
    try client.reply("clock.advance 0.5")
    try example.waitForText("frame=50880 hostTime=1.06 spread=0\n[Enter v p r q] ")
    #expect(try client.ask("player.list").filter { $0.contains("loop-") }.allSatisfy { $0.contains("rate=2") })
    type("q\n")
    #expect(try example.waitForEnd().status == 0)
    #expect(try client.ask("player.list").filter { $0.hasPrefix("|") && $0.contains("loop-") } == [])
    let heard = try levels(daemon)
    #expect(heard.first == "2000/5000*48001")
    #expect(heard.contains { $0.hasPrefix("1250/4250*") })
  }
}
