import DaemonTesting
import RigSupport
import Testing

/// `tick` and `at` over the wire: their events on the virtual clock, their timing on the real one.
@Suite struct TickTests {
  private func connected(_ frameCounts: Int...) throws -> (TestServer, WireClient) {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let paths = try frameCounts.enumerated().map { try daemon.wave($0 + 1, frameCount: $1) }
    try client.reply("append \(paths.joined(separator: " ")) wait=ready")
    return (daemon, client)
  }

  @Test func ticksReportStartsJumpsAndStops() throws {
    let (_, client) = try connected(48_000, 9_600)
    try client.reply("tick 0.3")
    try client.reply("play")
    var lines = try client.ask("clock.advance 0.4")
    lines += try client.ask("seek 0.95")
    lines += try client.ask("clock.advance 1")
    #expect(
      lines.filter { $0.hasPrefix("*") } == [
        "* tick id=1 player=main item=1 time=0 pts=0/48000 rate=1 reason=start late=0 hostTime=0",
        "* tick id=1 player=main item=1 time=0.3 pts=3/10 rate=1 reason=periodic late=0 hostTime=0.3",
        "* tick id=1 player=main item=1 time=0.95 pts=45600/48000 rate=1 reason=jump late=0 hostTime=0.4",
        "* tick id=1 player=main item=2 time=0 pts=0/10 rate=1 reason=periodic late=0 hostTime=0.45",
        "* tick id=1 player=main item=2 time=0.2 pts=9600/48000 rate=0 reason=stop late=0 hostTime=none",
      ])
  }

  @Test func boundariesWithSeeksAreCrossedOrSkippedInEveryPass() throws {
    let (_, client) = try connected(48_000)
    #expect(try client.reply("at 0 0.5 1 1.5 seeks=true") == "ok id=1")
    #expect(try client.reply("at 0.5") == "ok id=2")
    try client.reply("seek 0.75")
    // The events of a seek come after its reply.
    var lines = try client.ask("play")
    lines += try client.ask("clock.advance 0.1")
    lines += try client.ask("seek 0.5")
    lines += try client.ask("clock.advance 0.6")
    #expect(
      lines.filter { $0.hasPrefix("*") } == [
        "* at id=1 player=main item=1 time=0 pts=0/1 kind=skipped direction=forward late=0",
        "* at id=1 player=main item=1 time=0.5 pts=5/10 kind=skipped direction=forward late=0",
        "* at id=1 player=main item=1 time=0.5 pts=5/10 kind=skipped direction=backward late=0",
        "* at id=1 player=main item=1 time=0.5 pts=5/10 kind=crossed late=0",
        "* at id=2 player=main item=1 time=0.5 pts=5/10 kind=crossed late=0",
        "* at id=1 player=main item=1 time=1 pts=1/1 kind=crossed late=0",
      ])
  }

  @Test func boundaryObserverEndsWithItsItemAndReportsIt() throws {
    let (_, client) = try connected(4_800, 4_800, 4_800)
    try client.reply("at 0 0.1 item=1")
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"at","params":{"times":0,"item":3,"seeks":true}}"#)
    #expect(try client.line() == #"{"jsonrpc":"2.0","id":1,"result":{"id":2}}"#)
    try client.reply("play")
    let lines = try client.ask("clock.advance 0.15")
    #expect(
      lines.filter { $0.hasPrefix("*") } == [
        "* at id=1 player=main item=1 time=0 pts=0/1 kind=crossed late=0",
        "* at id=1 player=main item=1 time=0.1 pts=1/10 kind=crossed late=0",
        "* removed id=1 player=main item=1 cause=itemRemoved",
      ])
    #expect(try client.reply("untick 1").hasPrefix("error code=1008 name=no-such-observer"))
    try client.send("remove 3")
    #expect(
      try client.line()
        == #"{"jsonrpc":"2.0","method":"removed","params":{"id":2,"player":"main","item":3,"cause":"itemRemoved"}}"#)
    #expect(try client.line()?.hasPrefix("ok") == true)
    #expect(try client.reply("at 0 item=3").hasPrefix("error code=2004 name=no-such-item"))
  }

  @Test func invalidTimesAndFlagsAreRejected() throws {
    let (_, client) = try connected(4_800)
    for (request, error) in [
      ("at", "code=6002"), ("at -1", "code=1002"), ("at soon", "code=1002"), ("at 1 seeks=perhaps", "code=6002"),
      ("at 1 item=9", "code=2004"), ("at 1 player=nobody", "code=1006"), ("tick 0", "code=1002"),
      ("tick 1/1001", "code=1002"), ("tick 0.1 seeks", "code=6002"), ("untick 1", "code=1008"),
    ] {
      #expect(try client.reply(request).hasPrefix("error \(error)"), "\(request)")
    }
    #expect(try client.reply("at 1 seeks") == "ok id=1", "a rejected request uses no id")
  }

  @Test func clientWatchesSeeksAndItems() throws {
    let (daemon, client) = try connected(48_000)
    let watch = try Program(
      Executables.playhead,
      ["--socket", daemon.socket, "watch", "--at", "0.5", "--item", "1", "--seeks", "--observe", "player.rate"])
    #expect(try watch.waitForLine()?.contains("key=player.rate") == true)
    try client.reply("seek 0.75")
    #expect(
      try watch.waitForLine() == "* at id=1 player=main item=1 time=0.5 pts=5/10 kind=skipped direction=forward late=0")
    try client.reply("clear")
    #expect(try watch.waitForLine() == "* removed id=1 player=main item=1 cause=itemRemoved")
    try daemon.finish()
    _ = try watch.waitForEnd()
    let misuse = try daemon.playhead("watch", "--tick", "1", "--seeks")
    #expect(misuse.status == 2)
    #expect(misuse.errors.contains("--at"))
  }

  /// Without latency between rendering and playback, the audio after a seek is available before the seek is reported.
  @Test func seekDuringPlaybackWithoutLatencyDoesNotStop() throws {
    let daemon = try TestDaemon("--output", "null")
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 600_000)) wait=ready")
    try client.reply("tick 1")
    try client.reply("play")
    var lines = try client.ask("wait status=playing")
    for second in 2..<10 { lines += try client.ask("seek \(second).999") + client.ask("wait time>=\(second + 1)") }
    let reasons = lines.filter { $0.hasPrefix("* tick") }.compactMap { field("reason", $0) }
    #expect(reasons.first == "start")
    #expect(reasons.filter { $0 == "jump" }.count == 8)
    #expect(!reasons.contains("stop") && reasons.filter { $0 == "start" }.count == 1, "\(reasons)")
  }
}
