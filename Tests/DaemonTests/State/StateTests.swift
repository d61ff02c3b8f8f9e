import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Restored state after the daemon has ended in any way.
@Suite(.timeLimit(.minutes(5))) struct StateTests {
  /// A folder in which several daemons save their state, one after another.
  final class StateDirectory {
    let folder: TemporaryDirectory
    var path: String { folder.file("state") }
    var database: String { folder.file("state/state.sqlite") }

    init() throws { folder = try TemporaryDirectory("state") }

    /// A daemon on the virtual clock, so that every position is exact.
    func start(_ arguments: String...) throws -> TestDaemon {
      try TestDaemon(["--clock", "virtual", "--output", "null", "--state", path] + arguments, folder: folder)
    }

    func wave(_ number: Int, frameCount: Int) throws -> String {
      let path = folder.file("\(number).wav")
      try TimeCode.writeWAV(path: path, file: number, frameCount: frameCount)
      return path
    }

    /// Waits until a daemon opens no entries: an entry that is being opened when a daemon is killed fails in the next
    /// one. Entries may still be opened when they are ready, for their status or for decoding.
    func waitUntilNothingIsOpened(by daemon: TestDaemon) throws {
      // Time passes when the entries are decoded.
      #expect(try daemon.connect().reply("clock.advance 0").hasPrefix("ok"))
      // The marks of entries that are being opened follow two other words of 8 bytes.
      while try Files.read(folder.file("state/state.lock")).dropFirst(16).contains(where: { $0 != 0 }) {}
    }
  }

  /// The expected state after a restart: all of `list` and `status` except properties of open files.
  static func persistentState(_ client: WireClient, players: [String] = ["main"]) throws -> [String] {
    var lines: [String] = []
    for player in players {
      try client.reply("wait ready player=\(player) timeout=20")
      let status = try client.reply("status player=\(player)")
      // Properties of closed files are unknown, and the timescale of 0 depends on the file.
      if field("time", status) != "0" { lines.append("\(player) pts=\(field("pts", status) ?? "?")") }
      for name in [
        "player", "rate", "item", "count", "time", "volume", "isMuted", "pan", "actionAtItemEnd", "repeat",
        "loop", "passes", "passesLeft", "version", "defaultRate", "shuffle", "onFailure",
        "automaticallyWaitsToMinimizeStalling", "audioTimePitchAlgorithm", "replayGain",
      ] { lines.append("\(player) \(name)=\(field(name, status) ?? "?")") }
      for command in ["list", "history", "replay-gain", "media-selection", "rate", "silence", "crossfade"] {
        lines += try client.ask("\(command) player=\(player)").map { row in
          let known = row.split(separator: " ").filter { word in
            !["status=", "duration=", "error="].contains { word.hasPrefix($0) }
          }
          return "\(player) \(command): \(known.joined(separator: " "))"
        }
      }
    }
    return lines
  }

  static func kill(_ daemon: TestDaemon) throws {
    daemon.process.signal(SIGKILL)
    #expect(try daemon.process.waitForEnd().status == 128 + SIGKILL)
  }

  @Test(arguments: [SIGKILL, SIGTERM]) func temporaryPlayersAreNotSaved(_ signal: Int32) throws {
    let directory = try StateDirectory()
    let first = try directory.start()
    let client = try first.connect()
    try client.reply("player.create cue temporary")
    try client.reply("append \(try directory.wave(1, frameCount: 9_600)) wait=ready player=cue")
    try client.reply("player.create bell")
    #expect(try client.reply("state.save").hasPrefix("ok writes="))
    first.process.signal(signal)
    _ = try first.process.waitForEnd()
    let second = try directory.start()
    let rows = try second.connect().ask("player.list").compactMap { field("player", $0) }
    #expect(rows == ["main", "bell"])
  }

  @Test(arguments: [SIGKILL, SIGTERM])
  func stateIsRestoredPausedAtTheHeardPosition(_ signal: Int32) throws {
    let directory = try StateDirectory()
    let files = try (1...5).map { try directory.wave($0, frameCount: 480_000) }
    let first = try directory.start()
    let client = try first.connect()
    for request in [
      "load \(files[0]) \(files[1]) \(files[2]) \(files[3]) wait=ready", "volume 0.25", "mute on", "pan -0.5",
      "default-rate 1.5", "repeat all", "end-action pause", "on-failure stop", "pitch varispeed", "auto-wait off",
      "replay-gain track pre-amp=3 fallback=-6", "silence 5 threshold=-50", "crossfade 2.5 curve=s-curve fade-out=1",
      "media-selection audible language=de,en",
      "item.volume 2 0.5 at=1",
      "item.pitch 3 spectral", "item.end-time 4 forward=3", "item.buffer 2 3", "next", "end-action advance",
      "player.create Kueche", "append \(files[4]) /no/such/file player=Kueche wait=ready",
      "append \(files[4]) title=News player=Kueche", "end-action stop player=Kueche", "volume 0.75 player=Kueche",
      "shuffle on seed=7", "append \(files[0])", "on-failure retry player=Kueche", "remove 3",
      "seek 2.5", "loop 2 4 count=3", "play", "clock.advance 0.75", "pause",
    ] { #expect(try client.reply(request).hasPrefix(request.contains("/no/such") ? "error" : "ok"), "\(request)") }
    let players = ["main", "Kueche"]
    let before = try Self.persistentState(client, players: players)
    let version = try client.reply("queue.begin")
    try client.reply("queue.abort")
    // A killed daemon needs an explicit save; a terminated one saves by itself.
    if signal == SIGKILL { #expect(try client.reply("state.save").hasPrefix("ok writes=")) }
    first.process.signal(signal)
    _ = try first.process.waitForEnd()

    let second = try directory.start()
    let other = try second.connect()
    let after = try Self.persistentState(other, players: players)
    #expect(after.count == before.count)
    for (old, new) in zip(before, after) { #expect(new == old) }
    #expect(try other.reply("queue.begin") == version)
    try other.reply("queue.abort")
    #expect(before.contains { $0.hasPrefix("main pts=") } && before.contains { $0.hasPrefix("main loop=2") })
    #expect(field("timeControlStatus", try other.reply("status")) == "paused")
    #expect(try other.ask("item.volume 2").contains { $0.contains("volume=0.5") })
    #expect(try other.reply("item.pitch 3").hasPrefix("error code=2004"))
    #expect(try other.reply("item.end-time 4").contains("3"))
    #expect(try other.reply("item.buffer 2").contains("=3"))
    // An assigned ID is never used again.
    let item = field("items", try other.reply("append \(files[0])"))
    #expect(item == "9", "\(item ?? "none")")
    #expect(try other.ask("player.list").filter { $0.contains("player=") }.count == 2)
  }

  @Test func positionOfAnEntrySurvivesAMissingFile() throws {
    let directory = try StateDirectory()
    let file = try directory.wave(1, frameCount: 480_000)
    let first = try directory.start()
    let client = try first.connect()
    for request in ["load \(file) wait=ready", "seek 4.5", "state.save"] {
      #expect(try client.reply(request).hasPrefix("ok"), "\(request)")
    }
    try directory.waitUntilNothingIsOpened(by: first)
    try Self.kill(first)
    try FileManager.default.moveItem(atPath: file, toPath: file + ".away")
    let second = try directory.start()
    let other = try second.connect()
    #expect(field("error", try other.reply("wait ready timeout=20")) == nil)
    let status = try other.reply("status")
    #expect(field("time", status) == "4.5", "\(status)")
    #expect(try other.reply("volume 0.5").hasPrefix("ok"))
    #expect(try other.reply("state.save").hasPrefix("ok"))
    try directory.waitUntilNothingIsOpened(by: second)
    try Self.kill(second)
    try FileManager.default.moveItem(atPath: file + ".away", toPath: file)
    let third = try directory.start().connect()
    #expect(try third.reply("wait ready timeout=20").hasPrefix("ok"))
    let restored = try third.reply("status")
    #expect(field("time", restored) == "4.5" && field("volume", restored) == "0.5", "\(restored)")
  }

  @Test func idsOfRemovedEntriesAreNeverReused() throws {
    let directory = try StateDirectory()
    let file = try directory.wave(1, frameCount: 4_800)
    var last = 0
    for round in 1...5 {
      let daemon = try directory.start()
      let client = try daemon.connect()
      let ids = (field("items", try client.reply("append \(file) \(file)")) ?? "").split(separator: ",").compactMap {
        Int($0)
      }
      #expect(ids == [last + 1, last + 2], "round \(round)")
      last = ids.last ?? 0
      try client.reply("clear")
      // Immediately: this may or may not have been written yet.
      try Self.kill(daemon)
    }
  }

  @Test func secondDaemonRunsWithoutSavingAndReportsIt() throws {
    let directory = try StateDirectory()
    let file = try directory.wave(1, frameCount: 4_800)
    let first = try directory.start()
    try first.connect().reply("load \(file)")
    let second = try TestDaemon("--output", "null", "--state", directory.path)
    let client = try second.connect()
    let state = try client.reply("state")
    #expect(
      state.hasPrefix("ok saving=false") && field("code", state) == "2111" && field("error", state) == "state-in-use")
    #expect(try client.reply("load \(file) wait=ready") == "ok items=1 version=1")
    #expect(try client.reply("state.save").hasPrefix("error code=2111 name=state-in-use"))
    #expect(try first.connect().reply("state.save").hasPrefix("ok writes="))
  }

  @Test func withoutStateNothingIsWrittenAndTheErrorIsReported() throws {
    let home = try TemporaryDirectory("home")
    let socket = home.file("control.sock")
    let daemon = try Program(
      Executables.playheadd, ["--no-state", "--output", "null", "--socket", socket],
      environment: ["XDG_STATE_HOME": home.path, "HOME": home.path])
    #expect(try daemon.waitForLine() != nil)
    let client = try WireClient(socket)
    _ = try client.line()
    #expect(try client.reply("append /nowhere") == "ok items=1 version=1")
    #expect(try client.reply("state").contains("saving=false folder=none writes=0 code=2116 error=state-not-saved"))
    #expect(try client.reply("state.save").hasPrefix("error code=2116 name=state-not-saved"))
    daemon.signal(SIGTERM)
    #expect(try daemon.waitForEnd().status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.path) == [])
  }

  /// The message of `state-not-saved` names each option that disables saving.
  @Test func errorNamesTheOptionsThatDisableSaving() throws {
    let folder = try TemporaryDirectory("virtual")
    for options in [["--no-state"], ["--clock", "virtual"]] {
      let socket = folder.file("control.sock")
      let daemon = try Program(
        Executables.playheadd, options + ["--output", "null", "--socket", socket],
        environment: ["XDG_STATE_HOME": folder.path, "HOME": folder.path])
      #expect(try daemon.waitForLine() != nil)
      let client = try WireClient(socket)
      _ = try client.line()
      let reply = try client.reply("state.save")
      #expect(reply.hasPrefix("error code=2116 name=state-not-saved"))
      #expect(reply.contains("--no-state, or with --clock virtual and without --state"), "\(reply)")
      daemon.signal(SIGTERM)
      #expect(try daemon.waitForEnd().status == 0)
    }
  }

  @Test func stateFilesAreAccessibleToTheUserOnly() throws {
    let home = try TemporaryDirectory("home")
    let socket = home.file("control.sock")
    let old = umask(0)
    let daemon = try Program(
      Executables.playheadd, ["--output", "null", "--socket", socket], environment: ["XDG_STATE_HOME": home.file("a/b")]
    )
    umask(old)
    #expect(try daemon.waitForLine() != nil)
    let client = try WireClient(socket)
    _ = try client.line()
    #expect(
      try client.reply("append http://zoe:secret@127.0.0.1:1/x network=false header=\"Cookie: secret\"")
        == "ok items=1 version=1")
    // The entry fails at once, which may have been saved by now.
    #expect(try client.reply("state.save").hasPrefix("ok writes="))
    #expect(try client.reply("state").contains("folder=\(home.file("a/b/playhead"))"))
    var modes: [String: Int] = [:]
    for name in ["a", "a/b", "a/b/playhead"] + ["", "-wal", "-shm"].map({ "a/b/playhead/state.sqlite\($0)" }) + [
      "a/b/playhead/state.lock"
    ] {
      var status = stat()
      #expect(stat(home.file(name), &status) == 0, "\(name)")
      modes[name] = Int(status.st_mode & 0o777)
    }
    #expect(modes.allSatisfy { $0.value == ($0.key.contains("state.") ? 0o600 : 0o700) }, "\(modes)")
    daemon.signal(SIGKILL)
    _ = try daemon.waitForEnd()
  }

  @Test func handedOverEntryIsRestoredAsNotRestorable() throws {
    let directory = try StateDirectory()
    let daemon = try directory.start()
    let client = try daemon.connect()
    let path = try directory.wave(1, frameCount: 4_800)
    let file = open(path, O_RDONLY | O_CLOEXEC)
    try #require(file >= 0)
    defer { close(file) }
    let token = try daemon.passDescriptor(file)
    #expect(try client.reply("load \(token) \(path) wait=ready") == "ok items=1,2 version=1")
    try client.reply("state.save")
    // SIGTERM, because item 2 may still be decoding: an item that is being opened when the daemon is killed fails.
    daemon.process.signal(SIGTERM)
    #expect(try daemon.process.waitForEnd().status == 0)
    let again = try directory.start().connect()
    #expect(try again.reply("wait ready timeout=20").hasPrefix("error code=2117 name=not-restorable"))
    let rows = try again.ask("list")
    #expect(rows[0].contains("item=1") && rows[0].contains("error=not-restorable"), "\(rows)")
    #expect(rows[1].contains("item=2"), "\(rows)")
  }

  @Test func queuesAreSavedLoadedListedAndForgottenByName() throws {
    let directory = try StateDirectory()
    let files = try (1...3).map { try directory.wave($0, frameCount: 48_000) }
    let daemon = try directory.start()
    let client = try daemon.connect()
    try client.reply("load \(files[0]) \(files[1]) wait=ready")
    try client.reply("item.volume 2 0.5 at=0.25")
    #expect(try client.reply("queue.save \"Sunday morning\"") == "ok name=\"Sunday morning\" count=2")
    #expect(try client.reply("queue.save empty player=none").hasPrefix("error code=1006"))
    try client.reply("player.create b")
    #expect(try client.reply("queue.save empty player=b") == "ok name=empty count=0")
    try client.reply("load \(files[2])")
    // Killed immediately: confirmed changes are restored.
    try Self.kill(daemon)

    let again = try directory.start().connect()
    let rows = try again.ask("queue.saved")
    #expect(rows.count == 3 && rows[0].hasPrefix("| name=\"Sunday morning\" count=2 saved=") && rows[2] == "ok count=2")
    #expect(rows[1].hasPrefix("| name=empty count=0 "))
    let version = field("version", try again.reply("status")) ?? ""
    #expect(try again.reply("queue.load \"Sunday morning\" if-version=9999").hasPrefix("error code=1011"))
    #expect(try again.reply("queue.load nothing").hasPrefix("error code=2118 name=no-such-saved-queue"))
    let loaded = try again.reply("queue.load \"Sunday morning\" if-version=\(version)")
    #expect(loaded.hasPrefix("ok name=\"Sunday morning\" count=2 first=4 last=5 version="), "\(loaded)")
    #expect(try again.reply("wait ready timeout=20").hasPrefix("ok"))
    let list = try again.ask("list")
    #expect(
      list[0].contains("item=4") && list[0].contains(files[0]) && list[1].contains("item=5")
        && list[1].contains(files[1]))
    #expect(try again.ask("item.volume 5").first?.contains("volume=0.5") == true)
    #expect(try again.reply("queue.load empty player=b").hasPrefix("ok name=empty count=0 version="))
    #expect(try again.reply("queue.save \"Sunday morning\" player=b") == "ok name=\"Sunday morning\" count=0")
    #expect(try again.reply("queue.forget empty") == "ok")
    #expect(try again.reply("queue.forget empty").hasPrefix("error code=2118 name=no-such-saved-queue"))
    #expect(try again.reply("queue.saved") == "ok count=1")
  }

  /// A request with a reply has ended, though the store already has the operation.
  @Test func cancelledRequestNeitherLoadsNorSavesAQueue() throws {
    let directory = try StateDirectory()
    let files = try (1...2).map { try directory.wave($0, frameCount: 48_000) }
    let daemon = try directory.start()
    let client = try daemon.connect()
    try client.reply("load \(files[0]) wait=ready")
    #expect(try client.reply("queue.save kept").hasPrefix("ok"))
    try client.reply("load \(files[1]) wait=ready")
    let version = try #require(field("version", try client.reply("status")))
    for request in ["queue.load kept", "queue.save kept", "queue.save other"] {
      try client.send("@l \(request)", "cancel l")
      #expect(try client.line()?.hasPrefix("@l error code=6015 name=cancelled") == true, "\(request)")
      #expect(try client.line() == "ok", "\(request)")
      // The store has completed all earlier operations.
      #expect(try client.reply("state.save").hasPrefix("ok"))
      #expect(field("version", try client.reply("status")) == version, "\(request)")
    }
    #expect(try client.reply("queue.saved") == "ok count=1")
    #expect(try client.reply("queue.load kept").hasPrefix("ok name=kept count=1"))
    #expect(try client.ask("list").first?.contains(files[0]) == true)
  }

  @Test func damagedDatabaseIsReportedAndPlaybackWorks() throws {
    let directory = try StateDirectory()
    let file = try directory.wave(1, frameCount: 48_000)
    let first = try directory.start()
    try first.connect().reply("load \(file) wait=ready")
    try first.stop()
    var bytes = try Files.read(directory.database)
    for index in 0..<100 { bytes[index] = 0x55 }
    try Data(bytes).write(to: URL(fileURLWithPath: directory.database))
    let second = try directory.start()
    let client = try second.connect()
    let state = try client.reply("state")
    #expect(state.contains("saving=true") && field("code", state) == "2112" && field("error", state) == "state-damaged")
    #expect(state.contains("state.sqlite.damaged-1"))
    // The last ID before the damage is stored separately.
    #expect(try client.reply("load \(file) wait=ready") == "ok items=2 version=1")
    try client.reply("play")
    #expect(try client.reply("clock.advance 0.5").hasPrefix("ok"))
    #expect(field("time", try client.reply("status")) == "0.5")
    #expect(try client.reply("state.save").hasPrefix("ok"))
    try Self.kill(second)
    #expect(field("item", try directory.start().connect().reply("status")) == "2")
  }
}
