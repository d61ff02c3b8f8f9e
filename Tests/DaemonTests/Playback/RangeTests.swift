import DaemonTesting
import Glibc
import RigSupport
import Testing

/// `play` with a range of the current item, on the virtual clock.
@Suite struct RangeTests {
  /// Two files of two seconds.
  private func makeDaemon() throws -> (TestServer, WireClient) {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let paths = try [1, 2].map { try daemon.wave($0, frameCount: 96_000) }
    try client.reply("append \(paths.joined(separator: " ")) wait=ready")
    return (daemon, client)
  }

  private func state(_ client: WireClient) throws -> [String?] {
    let status = try client.reply("status")
    return ["item", "time", "rate"].map { field($0, status) }
  }

  @Test func rangeIsPlayedToItsExactEndAndPlaybackContinuesThere() throws {
    let (daemon, client) = try makeDaemon()
    try client.send("@p play from=0.5 to=0.75")
    let reply = try #require(try client.ask("clock.advance 1").first)
    #expect(reply.hasPrefix("@p ok item=1 time=0.75 "), "\(reply)")
    #expect(try state(client) == ["1", "0.75", "0"])
    // No setting of the entry changes.
    #expect(try client.reply("item.end-time 1").contains("forwardPlaybackEndTime=none"))
    try client.reply("play")
    try client.reply("clock.advance 0.25")
    #expect(try state(client) == ["1", "1", "1"])
    try client.reply("pause")
    #expect(try daemon.recorded(withSilences: false) == "1[24000..<48000]")
  }

  @Test func severalRangesWhilePlaying() throws {
    let (daemon, client) = try makeDaemon()
    for (request, end) in [("from=1 to=+0.1", "1.1"), ("from=0.2 to=0.201", "0.201"), ("to=+0.3", "0.501")] {
      try client.send("@p play \(request)")
      let reply = try #require(try client.ask("clock.advance 1").first)
      #expect(reply.hasPrefix("@p ok item=1 time=\(end) "), "\(request): \(reply)")
    }
    #expect(try state(client) == ["1", "0.501", "0"])
    #expect(try daemon.recorded(withSilences: false) == "1[48000..<52800] 1[9600..<24048]")
  }

  @Test func rangeHasPriorityOverLoopRepeatAndEndAction() throws {
    let (daemon, client) = try makeDaemon()
    try client.reply("repeat one")
    try client.reply("loop 0.5 0.6")
    try client.send("@p play from=0.4 to=0.75")
    #expect(try client.ask("clock.advance 1").first?.hasPrefix("@p ok item=1 time=0.75 ") == true)
    // The end of the item is a valid end of a range.
    try client.reply("loop off")
    try client.send("@q play from=1.9 to=end")
    #expect(try client.ask("clock.advance 1").first?.hasPrefix("@q ok item=1 time=2 ") == true)
    #expect(try state(client) == ["1", "2", "0"])
    #expect(try daemon.recorded(withSilences: false) == "1[19200..<36000] 1[91200..<96000]")
  }

  /// Longer than what is decoded ahead. Half of the file is removed during playback.
  @Test func itemThatFailsBeforeTheEndOfTheRangeIsAnError() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 960_000)
    try client.reply("load \(path) wait=ready")
    try client.send("@p play from=0 to=19")
    try client.reply("clock.advance 0.5")
    #expect(truncate(path, 44 + 480_000 * 4) == 0)
    let reply = try #require(try client.ask("clock.advance 22").first { $0.hasPrefix("@p ") })
    #expect(reply.hasPrefix("@p error code=") && reply.contains("the item failed before the end"), "\(reply)")
    let status = try client.reply("status")
    #expect(field("rate", status) == "0" && field("item", status) == "1")
    #expect((10.0..<19).contains(Double(field("time", status) ?? "") ?? 0), "\(status)")
  }

  @Test func anotherItemOrARestartEndsTheRange() throws {
    let (_, client) = try makeDaemon()
    #expect(try client.reply("play to=1 item=2").contains("name=no-such-item"))
    try client.reply("repeat all")
    try client.reply("remove 2")
    try client.send("@p play from=0.5 to=1")
    try client.reply("clock.advance 0.1")
    let lines = try client.ask("next") + client.ask("clock.advance 1.5")
    #expect(lines.contains { $0.hasPrefix("@p error ") && $0.contains("name=wait-ended") }, "\(lines)")
    #expect(try state(client) == ["1", "1.5", "1"])
  }

  @Test func pauseDoesNotEndTheRange() throws {
    let (_, client) = try makeDaemon()
    try client.send("@p play from=0.5 to=0.75")
    try client.reply("clock.advance 0.1")
    try client.reply("pause")
    #expect(try client.ask("clock.advance 1") == ["ok now=1.1"])
    try client.reply("play")
    #expect(try client.ask("clock.advance 1").first?.hasPrefix("@p ok item=1 time=0.75 ") == true)
  }

  @Test func interruptedRangeRepliesWithAnErrorAndLeavesNoEnd() throws {
    for (request, message) in [
      ("seek 0.1", "a seek or another range replaced the range"),
      ("next", "another item became current before the end of the range"),
      ("cancel p", "ended by `cancel`"),
    ] {
      let (_, client) = try makeDaemon()
      try client.send("@p play from=0.5 to=0.75")
      try client.reply("clock.advance 0.1")
      let lines = try client.ask(request)
      #expect(lines.first?.contains("@p error") == true && lines.first?.contains(message) == true, "\(lines)")
      try client.reply("clock.advance 1")
      #expect(field("rate", try client.reply("status")) == "1", "\(request)")
    }
  }

  @Test func anotherRangeReplacesTheRange() throws {
    let (_, client) = try makeDaemon()
    try client.send("@p play from=0.5 to=0.75")
    try client.reply("clock.advance 0.1")
    try client.send("@q play from=1 to=1.25")
    #expect(try client.line()?.hasPrefix("@p error code=6012 name=wait-ended") == true)
    #expect(try client.ask("clock.advance 1").first?.hasPrefix("@q ok item=1 time=1.25 ") == true)
  }

  @Test func closedConnectionLeavesNoEnd() throws {
    let (daemon, client) = try makeDaemon()
    var other: WireClient? = try daemon.connect()
    try other?.send("play from=0.5 to=0.75")
    try client.send("@w wait status=playing")
    #expect(try client.line()?.hasPrefix("@w ok") == true)
    other = nil
    while field("connections", try client.reply("stats")) != "1" {}
    try client.reply("clock.advance 1")
    #expect(try state(client)[2] == "1")
  }

  @Test func invalidRangesAreErrorsAndChangeNothing() throws {
    let (_, client) = try makeDaemon()
    for (request, error) in [
      ("play from=0.75 to=0.5", "invalid-time"), ("play from=0.5 to=0.5", "invalid-time"),
      ("play from=0.5 to=2.5", "invalid-time"), ("play from=-1 to=0.5", "invalid-time"),
      ("play from=0.5", "bad-arguments"), ("play item=1", "bad-arguments"), ("play to=soon", "invalid-time"),
      ("play to=0.5 item=2", "no-such-item"),
    ] { #expect(try client.reply(request).contains("name=\(error)"), "\(request)") }
    #expect(try state(client) == ["1", "0", "0"])
    try client.reply("default-rate -1")
    #expect(try client.reply("play to=0.5").contains("name=unsupported-rate"))
    try client.reply("clear")
    #expect(try client.reply("play to=0.5").contains("name=no-current-item"))
  }

  @Test func rangeMayEndAfterAnEstimatedDuration() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let wave = try daemon.wave(1, frameCount: 480_000)
    let path = daemon.folder.file("plain.mp3")
    // Without a header that states its duration.
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-i", wave, "-write_xing", "0", path])
    for (request, reply) in [
      ("play from=0.5 to=0.75", "@p ok item=1 time=0.75 "),
      ("play from=9.5 to=60", "@p error code=6012 name=wait-ended"),
    ] {
      try client.reply("load \(path) wait=ready")
      #expect(field("providesPreciseDuration", try client.reply("status")) == "false")
      try client.send("@p \(request)")
      let lines = try client.ask("clock.advance 2")
      #expect(lines.contains { $0.hasPrefix(reply) }, "\(request): \(lines)")
      #expect(try state(client)[2] == "0", "\(request)")
    }
  }

  @Test func clientReturnsAtTheEndOfTheRange() throws {
    let (daemon, client) = try makeDaemon()
    for (words, output) in [
      (["play", "0.5..0.75"], "time=0.75 "), (["play", "..+0.25", "--human"], "Paused at 0:01.000\n"),
    ] {
      let play = try Program(Executables.playhead, ["--socket", daemon.socket] + words)
      try client.send("@w wait status=playing")
      #expect(try client.line()?.hasPrefix("@w ok") == true)
      try client.reply("clock.advance 1")
      let result = try play.waitForEnd()
      #expect(result.status == 0 && result.output.contains(output), "\(words): \(result)")
    }
    #expect(try state(client) == ["1", "1", "0"])
    #expect(try daemon.recorded(withSilences: false) == "1[24000..<48000]")
  }

  @Test func clientRejectsInvalidRanges() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 96_000)) wait=ready")
    let rows: [(words: [String], status: Int32, message: String)] = [
      (["0.75..0.5"], 1, "invalid-time"), (["0:01..0:99"], 2, "invalid range 0:01..0:99"),
      (["0..0.1", "a.flac"], 2, "either files or a range"), (["../no-such.flac"], 1, "No such file"),
      (["0..9"], 1, "the range must end by 2"),
    ]
    for (words, status, message) in rows {
      let result = try daemon.playhead(["play"] + words)
      #expect(result.status == status && result.errors.contains(message), "\(words): \(result)")
    }
  }
}
