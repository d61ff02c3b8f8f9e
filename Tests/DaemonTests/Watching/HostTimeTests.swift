import DaemonTesting
import RigSupport
import Testing

/// `hostTime` of positions, and `now` of `ping`: a client computes the position at any instant. The virtual clock and
/// its sink without latency make every value exact.
@Suite struct HostTimeTests {
  private func connected(_ frameCounts: Int...) throws -> (TestServer, WireClient) {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let paths = try frameCounts.enumerated().map { try daemon.wave($0 + 1, frameCount: $1) }
    try client.reply("append \(paths.joined(separator: " ")) wait=ready")
    // The timescale of the position is that of the audio once the audio is prepared.
    #expect(try client.reply("preroll").hasPrefix("ok"))
    return (daemon, client)
  }

  /// The position that a client computes for the time of the daemon's clock: time + rate x (now - hostTime).
  private func position(from line: String, at now: Double, rate: String = "timebaseRate") throws -> Double {
    let values = try ["time", rate, "hostTime"].map { try #require(field($0, line).flatMap(Double.init), "\(line)") }
    return values[0] + values[1] * (now - values[2])
  }

  @Test func pingStatesTheTimeOfTheDaemonsClock() throws {
    let (_, client) = try connected(4_800)
    #expect(try client.reply("ping") == "ok now=0")
    try client.reply("clock.advance 1.000000001")
    #expect(try client.reply("ping") == "ok now=1.000000001")
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
    #expect(try client.line() == #"{"jsonrpc":"2.0","id":1,"result":{"now":1.000000001}}"#)
  }

  @Test func positionFollowsFromAnEarlierStatus() throws {
    let (_, client) = try connected(480_000)
    #expect(field("hostTime", try client.reply("status")) == "none", "a paused player")
    try client.reply("clock.advance 0.75")
    try client.reply("play")
    try client.reply("clock.advance 0.5")
    let first = try client.reply("status")
    #expect(field("time", first) == "0.5" && field("hostTime", first) == "1.25", "\(first)")
    try client.reply("clock.advance 2.125")
    let second = try client.reply("status")
    #expect(try field("time", second).flatMap(Double.init) == position(from: first, at: 3.375))
    try client.reply("pause")
    let paused = try client.reply("status")
    #expect(field("time", paused) == "2.625" && field("hostTime", paused) == "none", "\(paused)")
  }

  @Test func changeOfRateStatesThePositionFromWhichItApplies() throws {
    let (_, client) = try connected(480_000)
    try client.reply("observe player.timebaseRate")
    let initial = try client.line()
    #expect(
      initial == "* changed id=1 player=main key=player.timebaseRate new=0 cause=initial time=0 pts=0/48000"
        + " hostTime=none initial=true")
    try client.reply("clock.advance 1")
    var lines = try client.ask("play") + client.ask("clock.advance 1")
    lines += try client.ask("rate 2") + client.ask("clock.advance 1")
    let status = try client.reply("status")
    lines += try client.ask("rate -1") + client.ask("clock.advance 1")
    let reverse = try client.reply("status")
    lines += try client.ask("pause")
    let changes = lines.filter { $0.hasPrefix("* changed") }.unnumbered
    try #require(changes.count == 4, "\(changes)")
    // A change is heard 60 ms after its request, and reported with the position of the report.
    let prefix = "* changed id=1 player=main key=player.timebaseRate"
    #expect(changes[0] == "\(prefix) old=0 new=1 cause=request time=0 pts=0/48000 hostTime=1")
    #expect(changes[1].hasPrefix("\(prefix) old=1 new=2 cause=request time=1."), "\(changes)")
    #expect(changes[2].hasPrefix("\(prefix) old=2 new=-1 cause=request time=2."), "\(changes)")
    #expect(changes[3] == "\(prefix) old=-1 new=0 cause=request time=2.12 pts=101760/48000 hostTime=none")
    // The client computes the position of the daemon: both values are rounded to nanoseconds.
    for (change, status, now, time) in [(changes[1], status, 3, 2.94), (changes[2], reverse, 4, 2.12)] {
      #expect(field("time", status).flatMap(Double.init) == time)
      #expect(try abs(position(from: change, at: Double(now), rate: "new") - time) < 4e-9, "\(change)")
    }
  }

  @Test func jumpsAndTransitionsStateWhenTheirTimeIsHeard() throws {
    let (_, client) = try connected(48_000, 48_000)
    try client.reply("observe item.events")
    try client.reply("clock.advance 2")
    let paused = try client.ask("seek 0.25") + client.ask("ping")
    #expect(paused.contains { $0.hasPrefix("ok finished=true") && $0.hasSuffix("us=0 hostTime=none") }, "\(paused)")
    #expect(paused.contains { $0.hasPrefix("* time-jumped") && field("hostTime", $0) == "none" }, "\(paused)")
    try client.reply("play")
    try client.reply("clock.advance 0.25")
    let playing = try client.ask("seek 0.75") + client.ask("clock.advance 0.5")
    #expect(playing.contains { $0.hasPrefix("ok finished=true") && $0.hasSuffix("us=0 hostTime=2.25") }, "\(playing)")
    #expect(playing.contains { $0.hasPrefix("* time-jumped") && field("hostTime", $0) == "2.25" }, "\(playing)")
    #expect(playing.contains { $0.hasPrefix("* transition") && field("hostTime", $0) == "2.5" }, "\(playing)")
  }

  @Test func jsonHasNumbersAndNull() throws {
    let (_, client) = try connected(48_000)
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"status"}"#)
    #expect(try client.line()?.contains(#""time":0,"pts":"0/48000","hostTime":null,"duration":1,"#) == true)
    try client.send(#"{"jsonrpc":"2.0","id":2,"method":"tick","params":{"interval":0.5}}"#)
    _ = try client.line()
    try client.reply("clock.advance 0.125")
    try client.reply("play")
    let ticks = try client.ask("clock.advance 0.5").filter { $0.contains(#""method":"tick""#) }
    #expect(ticks.count == 2)
    #expect(ticks.first?.hasSuffix(#""reason":"start","late":0,"hostTime":0.125}}"#) == true, "\(ticks)")
    #expect(ticks.last?.hasSuffix(#""reason":"periodic","late":0,"hostTime":0.625}}"#) == true, "\(ticks)")
  }
}
