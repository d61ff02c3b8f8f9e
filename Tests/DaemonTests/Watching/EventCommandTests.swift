import DaemonTesting
import RigSupport
import Testing

/// Events by their numbers: a client that reconnects, is slow or uses short connections misses no event, or is informed
/// about the loss.
@Suite struct EventCommandTests {
  private func connected() throws -> (daemon: TestServer, client: WireClient, instance: String) {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    return (daemon, client, try #require(field("instance", try client.reply("hello"))))
  }

  @Test func greetingNamesTheInstanceWhichDiffersBetweenDaemons() throws {
    let (daemon, client, instance) = try connected()
    let greeting = try #require(try WireClient(daemon.socket).line())
    #expect(field("instance", greeting) == instance)
    #expect(field("instance", try client.reply("stats")) == instance)
    let other = try connected()
    #expect(other.instance != instance)
    let rejected = try other.client.reply("events since=0 instance=\(instance)")
    #expect(rejected.hasPrefix("error code=6030 name=other-instance"), "\(rejected)")
    let future = try client.reply("events since=99 instance=\(instance)")
    #expect(future.hasPrefix("error code=6031 name=no-such-event"), "\(future)")
    #expect(try client.reply("events nothing.*").hasPrefix("error code=1009 "))
    #expect(try client.reply("events player=nobody").hasPrefix("error code=1006 "))
    #expect(try client.reply("events since=-1").hasPrefix("error code=6002 "))
    #expect(try client.reply("events timeout=1").hasPrefix("error code=6002 "))
    #expect(try client.reply("events limit=0").hasPrefix("error code=6002 "))
  }

  @Test func allObserversAndTheLogHaveTheSameNumberedEvents() throws {
    let (daemon, client, _) = try connected()
    let others = try [daemon.connect(), daemon.connect()]
    let start = try #require(field("seq", try client.reply("events")).flatMap { Int($0) })
    for other in others { #expect(try other.reply("observe *") == "ok id=1 seq=\(start)") }
    try client.reply(
      "load \(try daemon.wave(1, frameCount: 4_800)) \(try daemon.wave(2, frameCount: 4_800)) wait=ready")
    try client.reply("tick 0.01")
    try client.reply("meter 100")
    for request in ["volume 0.5", "play", "clock.advance 1", "repeat all"] { try client.reply(request) }
    func numbered(_ lines: [String]) -> [String] {
      lines.filter { $0.hasPrefix("* ") && field("seq", $0) != nil && field("initial", $0) == nil }
    }
    let seen = try others.map { numbered(try $0.ask("ping")) }
    #expect(seen[0] == seen[1])
    let numbers = seen[0].compactMap { field("seq", $0).flatMap { Int($0) } }
    #expect(numbers == Array((start + 1)...(start + numbers.count)) && numbers.count > 10, "\(seen[0])")
    // A row is the event with its number first, and without the subscription.
    let rows = try client.ask("events since=\(start)")
    #expect(
      rows.last?.hasSuffix("seq=\(start + numbers.count) count=\(numbers.count) missed=0 more=false") == true, "\(rows)"
    )
    let events = rows.dropLast().filter { $0.hasPrefix("| ") }.map { row in
      let words = row.split(separator: " ", maxSplits: 3).map(String.init)
      return "* \(words[2].dropFirst(6)) id=1 \(words[3]) \(words[1])"
    }
    #expect(events == seen[0])
    // Periodic events are not included.
    #expect(!events.contains { $0.hasPrefix("* tick") || $0.hasPrefix("* meter") })
  }

  @Test func reconnectedClientGetsMissedEventsOrTheNumberOfLostOnes() throws {
    let (daemon, client, instance) = try connected()
    try client.reply("volume 0.5")
    // Earlier events of the output.
    let start = try #require(field("seq", try client.reply("events")).flatMap { Int($0) })
    #expect(try client.reply("events") == "ok instance=\(instance) seq=\(start) count=0 missed=0 more=false")
    try client.reply("player.create b")
    for request in ["volume 0.25", "pan 0.5", "volume 1 player=b", "volume 0.75 player=b", "mute on"] {
      try client.reply(request)
    }
    let reconnected = try daemon.connect()
    #expect(
      try reconnected.ask("events *.volume since=\(start) instance=\(instance)") == [
        "| seq=\(start + 1) event=changed player=main key=player.volume old=0.5 new=0.25 cause=request",
        "| seq=\(start + 3) event=changed player=b key=player.volume old=1 new=0.75 cause=request",
        "ok instance=\(instance) seq=\(start + 4) count=2 missed=0 more=false",
      ])
    #expect(
      try reconnected.ask("events since=\(start) player=b").dropLast().compactMap { field("seq", $0) }
        == ["\(start + 3)"])
    #expect(
      try reconnected.ask("events since=\(start) limit=2").compactMap { field("seq", $0) }
        == [1, 2, 2].map { "\(start + $0)" })
    #expect(field("more", try reconnected.reply("events since=\(start) limit=2")) == "true")
    let parameters = #"{"since":\#(start + 3),"keys":"player.isMuted"}"#
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"events","params":\#(parameters)}"#)
    let head = #""instance":"\#(instance)","seq":\#(start + 4),"count":1,"missed":0,"more":false"#
    let row =
      #"{"seq":\#(start + 4),"event":"changed","player":"main","key":"player.isMuted","old":false,"new":true,"cause":"request"}"#
    #expect(try client.line() == #"{"jsonrpc":"2.0","id":1,"result":{\#(head),"rows":[\#(row)]}}"#)
    // The daemon keeps 4,096 events.
    for batch in 0..<50 {
      try client.send(bytes: Array((0..<100).map { "volume 0.\(10 + (batch + $0) % 80)\n" }.joined().utf8))
      for _ in 0..<100 { _ = try client.line() }
    }
    let late = try reconnected.ask("events since=1 limit=1000")
    let missed = try #require(field("missed", late.last ?? "").flatMap { Int($0) })
    let last = try #require(field("seq", try client.reply("events")).flatMap { Int($0) })
    #expect(missed == last - 4_096 - 1)
    #expect(field("seq", late[0]) == "\(missed + 2)")
    #expect(late.count == 1_001)
  }

  @Test func clientWithShortConnectionsReceivesEventsByWaiting() throws {
    let (daemon, client, instance) = try connected()
    var seq = "0"
    var values: [String] = []
    for request in ["volume 0.5", "pan 0.25", "mute on"] {
      // Like a shell script: one connection, one request.
      let shell = try daemon.connect()
      try shell.send("events player.volume player.isMuted since=\(seq) instance=\(instance) wait")
      try client.reply(request)
      // Other events do not end the wait.
      if request.hasPrefix("pan") { try client.reply("volume 0.75") }
      shell.finishSending()
      let lines = try shell.remainingLines()
      values += lines.dropLast().compactMap { field("new", $0) }
      seq = try #require(field("seq", lines.last ?? ""))
    }
    #expect(values == ["0.5", "0.75", "true"])
    // Without an event, the reply is a timeout, with the number to continue from.
    try client.send("@w events since=\(seq) wait timeout=2.5")
    try client.reply("clock.advance 2")
    #expect(
      try client.ask("clock.advance 1").first == "@w ok instance=\(instance) seq=\(seq) count=0 missed=0 more=false")
    try client.reply("player.create b")
    try client.send("@b events wait player=b")
    #expect(try client.ask("player.close b").first?.hasPrefix("@b error code=6012 name=wait-ended") == true)
  }

  @Test func eventsLostInAnOverflowCanBeRequested() throws {
    let (daemon, client, _) = try connected()
    let slow = try daemon.connect()
    try slow.reply("observe player.volume player.pan")
    _ = try (0..<2).map { _ in try slow.line() }
    try client.reply("load \(try daemon.wave(1, frameCount: 480_000)) wait=ready")
    for _ in 0..<3 { try slow.reply("tick 0.001") }
    try client.reply("volume 0.5")
    try client.reply("play")
    try client.reply("clock.advance 10")
    for step in 1...50 { try client.reply("volume 0.\(10 + step)") }
    try client.reply("pan 0.5")
    var lines: [String] = []
    while lines.last?.hasPrefix("* overflow ") != true { lines.append(try #require(try slow.line())) }
    let since = try #require(field("since", lines.last ?? ""))
    #expect(field("merged", lines.last ?? "") == "49")
    #expect((field("dropped", lines.last ?? "").flatMap { Int($0) } ?? 0) > 0)
    // The newest values follow it.
    let newest = try (0..<2).map { _ in try #require(try slow.line()) }
    #expect(
      newest.compactMap { field("old", $0) } == ["0.5", "0"]
        && newest.compactMap { field("new", $0) } == ["0.6", "0.5"])
    let rows = try slow.ask("events player.volume player.pan since=\(since)").filter { $0.hasPrefix("| ") }
    #expect(
      rows.compactMap { field("new", $0) } == (1...50).map { "0.\(10 + $0)".replacing(/0+$/, with: "") } + ["0.5"])
  }
}
