import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Playback that continues in the next daemon (`--resume-playback`).
@Suite(.timeLimit(.minutes(5))) struct ResumePlaybackTests {
  private typealias StateDirectory = StateTests.StateDirectory

  /// Ends a daemon by a signal. A killed daemon needs an explicit save; a terminated one saves by itself.
  private static func end(_ daemon: TestDaemon, _ signal: Int32) throws {
    if signal == SIGKILL { #expect(try daemon.connect().reply("state.save").hasPrefix("ok writes=")) }
    daemon.process.signal(signal)
    _ = try daemon.process.waitForEnd()
  }

  private static func values(_ names: [String], _ client: WireClient, _ player: String = "main") throws -> [String?] {
    let status = try client.reply("status player=\(player)")
    return names.map { field($0, status) }
  }

  @Test(arguments: [SIGKILL, SIGTERM])
  func playersThatPlayedContinueAndOthersStayPaused(_ signal: Int32) throws {
    let directory = try StateDirectory()
    let files = try (1...2).map { try directory.wave($0, frameCount: 480_000) }
    let first = try directory.start("--resume-playback")
    let client = try first.connect()
    for request in [
      "load \(files[0]) \(files[1]) wait=ready", "seek 2.5", "play-immediately 2", "player.create paused",
      "load \(files[1]) player=paused wait=ready", "play player=paused", "player.create reverse",
      "load \(files[1]) player=reverse wait=ready", "seek 8 player=reverse", "play-immediately -1 player=reverse",
      "clock.advance 1", "pause player=paused",
    ] { #expect(try client.reply(request).hasPrefix("ok"), "\(request)") }
    #expect(try Self.values(["item", "time", "rate"], client) == ["1", "4.5", "2"])
    try Self.end(first, signal)

    let second = try directory.start("--resume-playback")
    let other = try second.connect()
    for player in ["main", "reverse", "paused"] { try other.reply("wait ready player=\(player) timeout=20") }
    #expect(try other.reply("clock.advance 1").hasPrefix("ok"))
    let names = ["item", "time", "rate", "timeControlStatus"]
    #expect(try Self.values(names, other) == ["1", "6.5", "2", "playing"])
    #expect(try Self.values(names, other, "reverse") == ["4", "6", "-1", "playing"])
    #expect(try Self.values(names, other, "paused") == ["3", "1", "0", "paused"])
    // The queue continues, too.
    #expect(try other.reply("clock.advance 2").hasPrefix("ok"))
    #expect(try Self.values(names, other) == ["2", "0.5", "2", "playing"])
    // A player that was paused before its daemon ended stays paused in the next one.
    #expect(try other.reply("pause").hasPrefix("ok"))
    try Self.end(second, signal)
    let third = try directory.start("--resume-playback")
    #expect(try Self.values(["rate", "timeControlStatus"], third.connect()) == ["0", "paused"])
  }

  @Test func playersStayPausedWithoutTheOption() throws {
    let directory = try StateDirectory()
    let file = try directory.wave(1, frameCount: 480_000)
    let first = try directory.start()
    let client = try first.connect()
    for request in ["load \(file) wait=ready", "play-immediately 2", "clock.advance 1"] {
      #expect(try client.reply(request).hasPrefix("ok"), "\(request)")
    }
    try Self.end(first, SIGKILL)
    let next = try directory.start()
    let second = try next.connect()
    #expect(try Self.values(["time", "rate"], second) == ["2", "0"])
    // The rate of the next `play` is still restored.
    #expect(try second.reply("play").hasPrefix("ok"))
    #expect(try Self.values(["rate"], second) == ["2"])
  }

  /// A player at the end of its queue keeps its rate, but has nothing to continue.
  @Test func playerAtTheEndOfItsQueueStaysPaused() throws {
    let directory = try StateDirectory()
    let file = try directory.wave(1, frameCount: 48_000)
    let first = try directory.start("--resume-playback")
    let client = try first.connect()
    for request in ["load \(file) wait=ready", "play", "clock.advance 2"] {
      #expect(try client.reply(request).hasPrefix("ok"), "\(request)")
    }
    #expect(try Self.values(["item", "rate"], client) == ["none", "1"])
    try Self.end(first, SIGTERM)
    let next = try directory.start("--resume-playback")
    let second = try next.connect()
    #expect(try Self.values(["item", "rate"], second) == ["none", "0"])
  }

  /// Otherwise an entry that crashes the daemon would crash each daemon that the service manager starts.
  @Test func playersStayPausedAfterACrashWhileAnEntryWasOpened() throws {
    let directory = try StateDirectory()
    let server = try HTTPServer()
    let file = try directory.wave(1, frameCount: 480_000)
    let first = try directory.start("--resume-playback")
    let client = try first.connect()
    for request in ["load \(server.address)/1.wav?hold=never \(file)", "play"] {
      #expect(try client.reply(request).hasPrefix("ok"), "\(request)")
    }
    // The entry is opened for its state and for decoding.
    for _ in 0..<2 { try server.wait("gate never") }
    #expect(try client.reply("state.save").hasPrefix("ok"))
    try Self.end(first, SIGKILL)
    let next = try directory.start("--resume-playback")
    let second = try next.connect()
    #expect(field("crashed", try second.reply("state")) == "1")
    #expect(try Self.values(["item", "rate", "timeControlStatus"], second) == ["1", "0", "paused"])
  }

  /// The entry is opened ahead of its turn.
  @Test func appendedEntryThatWasBeingOpenedIsReportedAfterACrash() throws {
    let directory = try StateDirectory()
    let server = try HTTPServer()
    let file = try directory.wave(1, frameCount: 480_000)
    let first = try directory.start("--resume-playback")
    let client = try first.connect()
    // The first entry plays: its decoder is not being opened any more.
    let requests = [
      "load \(file) wait=ready", "play", "wait status=playing", "append \(server.address)/1.wav?hold=never",
    ]
    for request in requests {
      #expect(try client.reply(request).hasPrefix("ok"), "\(request)")
    }
    try server.wait("gate never")
    // The queue is saved on another thread. A daemon that crashes before loses the entry with its mark.
    #expect(try client.reply("state.save").hasPrefix("ok"))
    try Self.end(first, SIGKILL)
    let next = try directory.start("--resume-playback")
    let second = try next.connect()
    let state = try second.reply("state")
    #expect(field("crashed", state) == "2", "\(state)")
    #expect(try Self.values(["item", "rate", "timeControlStatus"], second) == ["1", "0", "paused"])
  }

  @Test func optionNeedsASavedState() throws {
    let outcome = try Program(Executables.playheadd, ["--no-state", "--resume-playback"]).waitForEnd()
    #expect(outcome.status == 2 && outcome.errors.contains("--resume-playback and --no-state exclude"), "\(outcome)")
  }
}
