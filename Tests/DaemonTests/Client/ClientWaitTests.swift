import DaemonTesting
import Glibc
import RigSupport
import Testing

/// `wait` with the conditions of the client, `--wait`, and commands that need `watch`.
@Suite struct ClientWaitTests {
  private func makeDaemon() throws -> (TestServer, WireClient) {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 48_000 * 10)) wait=ready")
    try client.reply("append \(try daemon.wave(2, frameCount: 48_000 * 10)) wait=ready")
    return (daemon, client)
  }

  @Test func conditionsThatHoldEndTheWait() throws {
    let (daemon, _) = try makeDaemon()
    for conditions in [
      ["volume=1"], ["volume>0.5", "volume<=1"], ["player.volume>=1.0"], ["item!=2"], ["chapter=none"],
      ["isMuted=false"],
      ["timeControlStatus!=playing"], ["volume=1", "status=paused", "ready"], ["daemon"], ["daemon", "status=paused"],
      ["daemon", "volume<2", "item.status=readyToPlay"], ["player.currentItem=1", "player.currentItem<2"],
      ["session.category=playAndRecord", "session.isActive!=true", "output.state!=lost"], ["queue.version>=2"],
      ["item.currentMediaSelection=audible=0", "item.duration>=10", "status=paused"],
      ["player.loop=none", "player.rate=0", "volume=1"], ["item=current"], ["time<1", "item=1"],
      ["item!=next"], ["item!=#2", "item!=+1"], ["player.currentItem=current"], ["player.currentItem!=next"],
      ["count>1", "player=main", "timeout=5"],
    ] {
      let result = try daemon.playhead(["wait"] + conditions)
      #expect(result.status == 0 && result.errors.isEmpty, "\(conditions): \(result)")
    }
  }

  /// The keys of the reference, each with its own condition.
  @Test func everyObservableKeyWithAValueHasConditions() throws {
    let (daemon, _) = try makeDaemon()
    let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let reference = String(decoding: try Files.read("\(root)/docs/protocol/reference/keys.md"), as: UTF8.self)
    let rows = reference.split(separator: "\n").filter { $0.contains(/^\| `[a-z]+\.[A-Za-z.]+` \| [^W]/) }
    #expect(rows.count >= 47)
    for row in rows {
      let key = row.split(separator: "`")[1]
      let hasValue = !row.contains("| no value")
      // No value is 999.
      let other = try daemon.playhead("wait", "\(key)!=999", "timeout=5")
      #expect(other.status == (hasValue ? 0 : 2), "\(key): \(other)")
      print("\(key): \(hasValue ? "compared" : "refused")")
      guard hasValue else { continue }
      let equal = try daemon.playhead("wait", "\(key)=999", "timeout=0")
      #expect(equal.status == 1 && equal.errors.contains("timed-out"), "\(key): \(equal)")
    }
  }

  /// Starts a wait of the client. It has observed the player and requested its status.
  private func startedWait(_ conditions: [String], _ daemon: TestServer, _ client: WireClient) throws -> Program {
    let requests = try field("requests", client.reply("stats")).flatMap { Int($0) } ?? 0
    let wait = try Program(Executables.playhead, ["--socket", daemon.socket, "wait"] + conditions)
    // The requests of this loop count, too.
    var ownCount = 1
    while try (field("requests", client.reply("stats")).flatMap { Int($0) } ?? 0) - requests - ownCount < 2 {
      ownCount += 1
    }
    return wait
  }

  @Test func waitEndsAtTheStartAndTheEndOfAFade() throws {
    let (daemon, client) = try makeDaemon()
    try client.reply("play")
    try client.reply("clock.advance 0.1")
    let start = try startedWait(["isFading=true"], daemon, client)
    try client.reply("fade 0 1")
    #expect(try start.waitForEnd().status == 0)
    let end = try startedWait(["isFading=false"], daemon, client)
    try client.reply("clock.advance 0.5")
    #expect(field("isFading", try client.reply("status")) == "true")
    try client.reply("clock.advance 1")
    #expect(try end.waitForEnd().status == 0)
  }

  /// `fade --wait` returns when the end of the fade was heard.
  @Test func fadeWaitsForItsEnd() throws {
    let (daemon, client) = try makeDaemon()
    try client.reply("play")
    try client.reply("clock.advance 0.1")
    let requests = try field("requests", client.reply("stats")).flatMap { Int($0) } ?? 0
    let fade = try Program(
      Executables.playhead, ["--socket", daemon.socket, "--human", "fade", "0", "1", "--then", "pause", "--wait"])
    var ownCount = 1
    while try (field("requests", client.reply("stats")).flatMap { Int($0) } ?? 0) - requests - ownCount < 1 {
      ownCount += 1
    }
    #expect(field("isFading", try client.reply("status")) == "true")
    try client.reply("clock.advance 1.5")
    #expect(try fade.waitForEnd() == .init(status: 0, output: "The fade has ended\n", errors: ""))
    #expect(field("timeControlStatus", try client.reply("status")) == "paused")
  }

  @Test func waitEndsWithTheChange() throws {
    let (daemon, client) = try makeDaemon()
    for (conditions, change) in [
      (["volume<0.5"], "volume 0.25"), (["item!=1"], "next"), (["pan=1", "status=paused"], "pan 1"),
      (["isMuted=true", "pan>0", "--timeout", "100"], "mute on"), (["player.currentItem=none"], "clear"),
      (["player.actionAtItemEnd=pause", "player.currentItem=none", "volume<1"], "end-action pause"),
      (["session.mode=spokenAudio", "session.category!=ambient"], "session.category playback mode=spokenAudio"),
    ] {
      let wait = try startedWait(conditions, daemon, client)
      try client.reply(change)
      let result = try wait.waitForEnd()
      #expect(result.status == 0 && result.output.isEmpty, "\(conditions): \(result)")
    }
  }

  /// The keys `item.*` are those of the current entry, also after a change of it.
  @Test func keysOfEntriesFollowTheCurrentEntry() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 48_000)) wait=ready")
    try client.reply("append \(try daemon.wave(2, frameCount: 96_000)) wait=ready")
    #expect(try daemon.playhead("wait", "item.duration=1").status == 0)
    #expect(try daemon.playhead("wait", "item.duration=2", "timeout=0").status == 1)
    let wait = try startedWait(["item.duration=2", "player.currentItem=2", "ready"], daemon, client)
    try client.reply("next")
    #expect(try wait.waitForEnd().status == 0)
    try client.reply("clear")
    #expect(try daemon.playhead("wait", "item.duration=none", "item.status=none").status == 0)
  }

  /// A time that is excluded, and an entry by its position.
  @Test func timesAndPositionsAreConditionsOfTheDaemon() throws {
    let (_, client) = try makeDaemon()
    try client.reply("seek 5")
    for (condition, isTrue) in [
      ("time>=5", true), ("time>5", false), ("time<=5", true), ("time<5", false), ("time>4.9", true),
      ("time<0:05.1", true), ("item=current", true), ("item=#1", true), ("item=next", false), ("item=+1", false),
    ] {
      let reply = try client.reply("wait \(condition) timeout=0")
      print("\(condition): \(reply)")
      #expect(
        reply.hasPrefix(isTrue ? "ok item=1 time=5 " : "error code=6011 name=timed-out"), "\(condition): \(reply)")
    }
    #expect(try client.reply("wait item=previous").contains("name=no-such-item"))
    // Playback from that time on makes the condition true at its next frame.
    try client.send("@1 wait time>5 item=current")
    try client.send("@2 wait item=next")
    try client.reply("play")
    try client.send("clock.advance 1")
    let first = try client.line() ?? ""
    #expect(first.hasPrefix("@1 ok item=1 time=5."), "\(first)")
    #expect(try client.line()?.hasPrefix("ok now=") == true)
    try client.send("next")
    let replies = try (0..<2).map { _ in try client.line() ?? "" }
    #expect(replies.contains { $0.hasPrefix("@2 ok item=2 ") }, "\(replies)")
  }

  @Test func failuresOfAWaitAreReported() throws {
    let (daemon, _) = try makeDaemon()
    let rows: [(words: [String], status: Int32, message: String)] = [
      (["volume=0", "timeout=0"], 1, "timed-out"), (["volume=0", "timeout=20ms"], 1, "timed-out"),
      (["volume=1", "status=playing", "timeout=0"], 1, "timed-out"),
      (["volume=1", "player=none"], 1, "no-such-player"),
      (["loudness=1"], 2, "unknown value loudness; the values are: "), (["volume"], 2, "unknown condition volume"),
      (["volume<loud"], 2, "< needs a number"), (["time=5"], 2, "time>=TIME"),
      (["time!=5"], 2, "time>=TIME"), (["time>soon"], 2, "conditions must be"),
      (["session.loudness=1"], 2, "or a key of `observe`"), (["item.events=1"], 2, "item.events has no value"),
      (["player.currentItem!=last"], 2, "none, current, next, previous"), (["item!=+9"], 1, "no-such-item"),
      (["player.currentItem!=none5"], 2, "none, current, next, previous"),
      (["session.isActive=true", "timeout=0"], 1, "timed-out"),
      (["session.mode>1", "timeout=0"], 1, "timed-out"), (["item=next2"], 2, "conditions must be"),
      (["volume=1", "timeout=x"], 2, "timeout"),
    ]
    for (words, status, message) in rows {
      let result = try daemon.playhead(["wait"] + words)
      #expect(result.status == status && result.errors.contains(message), "\(words): \(result)")
    }
  }

  @Test func commandsWaitForTheDaemon() throws {
    let folder = try TemporaryDirectory("wait")
    let socket = folder.file("control.sock")
    for words in [["wait", "daemon"], ["--wait", "volume"], ["volume", "--wait=60"]] {
      let early = try Program(Executables.playhead, ["--socket", socket] + words)
      let daemon = try Program(
        Executables.playheadd, ["--socket", socket, "--no-state", "--output", "null", "--clock", "virtual"])
      let result = try early.waitForEnd()
      #expect(result.status == 0 && result.errors.isEmpty, "\(words): \(result)")
      daemon.signal(SIGTERM)
      #expect(try daemon.waitForEnd().status == 0)
    }
    for words in [["--wait=0", "volume"], ["wait", "daemon", "--timeout", "0.05"]] {
      let result = try Program(Executables.playhead, ["--socket", socket] + words).waitForEnd()
      #expect(result.status == 3 && result.errors.contains("no daemon at"), "\(words): \(result)")
    }
    for words in [["--wait=soon", "volume"], ["volume", "--wait=-1"]] {
      let result = try Program(Executables.playhead, ["--socket", socket] + words).waitForEnd()
      #expect(result.status == 2 && result.errors.contains("--wait needs a number of seconds"), "\(words): \(result)")
    }
    // Without a daemon, the help needs no wait.
    #expect(try Program(Executables.playhead, ["--socket", socket, "--wait", "help"]).waitForEnd().status == 0)
  }

  @Test func parametersNamedWaitKeepTheirMeaning() throws {
    let (daemon, _) = try makeDaemon()
    let path = try daemon.wave(3, frameCount: 48_000)
    for words in [
      ["append", path, "--wait", "ready"], ["append", path, "--wait=ready"], ["--wait=5", "append", path],
    ] {
      let result = try daemon.playhead(words)
      #expect(result.status == 0 && result.output.hasPrefix("items="), "\(words): \(result)")
    }
  }

  @Test func subscriptionsNameWatch() throws {
    let (daemon, _) = try makeDaemon()
    for (words, alternative) in [
      (["at", "5"], "--at "), (["at-chapters"], "--chapters"), (["tick", "1"], "--tick "), (["meter"], "--meter "),
      (["observe", "player.volume"], "--observe "),
    ] {
      let result = try daemon.playhead(words)
      #expect(
        result.status == 2 && result.output.isEmpty && result.errors.contains("use `playhead watch \(alternative)"),
        "\(words): \(result)")
    }
  }
}
