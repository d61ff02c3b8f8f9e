import DaemonTesting
import Glibc
import RigSupport
import Testing

/// Playback over the wire, on the virtual clock: every played sample is compared.
@Suite struct PlaybackTests {
  @Test func filePlaysEverySampleOnce() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    #expect(try client.reply("load \(try daemon.wave(1, frameCount: 30_000)) wait=ready") == "ok items=1 version=1")
    #expect(try client.reply("play") == "ok")
    #expect(try client.reply("clock.advance 0.25") == "ok now=0.25")
    let status = try client.reply("status")
    #expect(field("time", status) == "0.25")
    #expect(field("pts", status) == "12000/48000")
    #expect(field("timeControlStatus", status) == "playing")
    #expect(try client.reply("clock.advance 10") == "ok now=10.25")
    #expect(field("item", try client.reply("status")) == "none")
    let heard = try daemon.recorded()
    #expect(heard == "1[0..<30000]")
  }

  @Test func itemsFollowEachOtherWithoutAGap() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let paths = try [1, 2, 3].map { try daemon.wave($0, frameCount: 9_999 + $0) }
    try client.reply("append \(paths.joined(separator: " ")) wait=ready")
    try client.reply("play")
    try client.reply("clock.advance 5")
    let heard = try daemon.recorded()
    #expect(heard == "1[0..<10000] 2[0..<10001] 3[0..<10002]")
  }

  @Test func pausingLosesAndRepeatsNoSample() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 20_000)) wait=ready")
    for _ in 0..<5 {
      try client.reply("play")
      try client.reply("clock.advance 1/48000")
      try client.reply("clock.advance 0.05")
      try client.reply("pause")
      try client.reply("clock.advance 1")
    }
    let status = try client.reply("status")
    #expect(field("timeControlStatus", status) == "paused")
    try client.reply("play")
    try client.reply("clock.advance 1")
    let heard = try daemon.recorded(withSilences: false)
    #expect(heard == "1[0..<20000]")
  }

  @Test func seekDuringPlaybackLandsOnTheExactSample() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 48_000)) wait=ready")
    try client.reply("play")
    try client.reply("clock.advance 0.1")
    #expect(
      try client.reply("seek 23456/48000")
        == "ok finished=true item=1 time=0.488666667 pts=23456/48000 requested=0.488666667 before=0 after=0 exact=true"
        + " clamped=false us=0 hostTime=0.1")
    try client.reply("clock.advance 0.1")
    #expect(try client.reply("seek end").hasPrefix("ok finished=true item=1 time=1 pts=48000/48000"))
    try client.reply("clock.advance 0.1")
    let heard = try daemon.recorded()
    #expect(heard == "1[0..<4800] 1[23456..<28256]")
  }

  @Test func playbackStartsAtTheSampleOfAPausedSeek() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 10_000)) wait=ready")
    #expect(try client.reply("seek 50%").hasPrefix("ok finished=true item=1 time=0.104166667 pts=5000/48000"))
    try client.reply("play")
    try client.reply("clock.advance 1")
    let heard = try daemon.recorded()
    #expect(heard == "1[5000..<10000]")
  }

  @Test func ticksOccurOnTheirGridAndBoundariesAtTheirTimes() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 48_000)) wait=ready")
    #expect(try client.reply("tick 0.1") == "ok id=1")
    #expect(try client.reply("at 0.25 0.15") == "ok id=2")
    try client.reply("play")
    let lines = try client.ask("clock.advance 0.35")
    #expect(
      lines.filter { field("reason", $0) != "start" } == [
        "* tick id=1 player=main item=1 time=0.1 pts=1/10 rate=1 reason=periodic late=0 hostTime=0.1",
        "* at id=2 player=main item=1 time=0.15 pts=15/100 kind=crossed late=0",
        "* tick id=1 player=main item=1 time=0.2 pts=2/10 rate=1 reason=periodic late=0 hostTime=0.2",
        "* at id=2 player=main item=1 time=0.25 pts=25/100 kind=crossed late=0",
        "* tick id=1 player=main item=1 time=0.3 pts=3/10 rate=1 reason=periodic late=0 hostTime=0.3",
        "ok now=0.35",
      ])
    #expect(try client.reply("untick 1") == "ok")
    #expect(try client.reply("untick 2") == "ok")
    #expect(try client.ask("clock.advance 0.35") == ["ok now=0.7"])
  }

  @Test func mutedPlayerIsSilent() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 9_600)) wait=ready")
    #expect(try client.reply("mute on") == "ok isMuted=true")
    try client.reply("play")
    try client.reply("clock.advance 1")
    let heard = try daemon.recorded()
    #expect(heard == "")
  }

  @Test func mutePersistsAcrossEntriesAndUnmutingLosesNoTime() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let paths = try [1, 2].map { try daemon.wave($0, frameCount: 48_000) }
    try client.reply("append \(paths.joined(separator: " ")) wait=ready")
    try client.reply("play")
    try client.reply("clock.advance 0.25")
    #expect(try client.reply("mute on") == "ok isMuted=true")
    try client.reply("clock.advance 0.25")
    #expect(try client.reply("next") == "ok item=2 version=2")
    #expect(field("isMuted", try client.reply("status")) == "true")
    try client.reply("clock.advance 0.25")
    #expect(try client.reply("mute off") == "ok isMuted=false")
    #expect(field("isMuted", try client.reply("status")) == "false")
    try client.reply("clock.advance 2")
    try daemon.finish()
    let runs = TimeCode.runs(in: try Recording.frames(in: daemon.folder.file("out.wav"))).filter { $0.count > 240 }
    #expect(runs.map(\.file) == [1, 2])
    // Silent after at most 5 ms, silent in between, and audible again within 5 ms at the current position.
    let first = try #require(runs.first)
    #expect(first.position == 0 && first.firstIndex == 0 && (12_000...12_240).contains(first.endIndex))
    let second = try #require(runs.last)
    #expect((36_000...36_240).contains(second.position) && second.endIndex == 48_000)
    #expect(second.position - second.firstIndex == 24_000)
  }

  @Test func playerStopsAfterTheLastEntryWithTheEndActionStop() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let paths = try [1, 2].map { try daemon.wave($0, frameCount: 9_600) }
    try client.reply("append \(paths.joined(separator: " ")) wait=ready")
    try client.reply("observe player.actionAtItemEnd player.rate")
    for _ in 0..<2 { _ = try client.line() }
    #expect(
      try client.ask("end-action stop").unnumbered == [
        "* changed id=1 player=main key=player.actionAtItemEnd old=advance new=stop cause=request",
        "ok actionAtItemEnd=stop",
      ])
    _ = try client.ask("play")
    #expect(
      try client.ask("clock.advance 1").unnumbered == [
        "* changed id=1 player=main key=player.rate old=1 new=0 cause=itemEnded", "ok now=1",
      ])
    let status = try client.reply("status")
    let fields = ["timeControlStatus", "rate", "item", "count", "actionAtItemEnd"].map { field($0, status) }
    #expect(fields == ["paused", "0", "none", "0", "stop"])
    // A new entry does not play by itself.
    try client.reply("append \(paths[0]) wait=ready")
    try client.reply("clock.advance 1")
    #expect(field("time", try client.reply("status")) == "0")
    #expect(try daemon.recorded(withSilences: false) == "1[0..<9600] 2[0..<9600]")
  }

  @Test func playerStopsAtALastEntryThatFailsWithTheEndActionStop() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 9_600)) \(daemon.folder.file("missing.wav"))")
    try client.reply("end-action stop")
    try client.reply("play")
    try client.reply("clock.advance 1")
    let status = try client.reply("status")
    #expect(["timeControlStatus", "itemStatus"].map { field($0, status) } == ["paused", "failed"])
  }

  @Test func timeContinuesPastTheEndUntilAnotherEndActionIsSet() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 9_600)) wait=ready")
    #expect(try client.reply("end-action none") == "ok actionAtItemEnd=none")
    try client.send("observe item.events")
    #expect(try client.line()?.unnumbered == "ok id=1")
    try client.reply("play")
    let lines = try client.ask("clock.advance 1")
    #expect(lines.filter { $0.hasPrefix("* played-to-end ") }.count == 1)
    func playerState() throws -> [String?] {
      let status = try client.reply("status")
      return ["item", "time", "rate", "timeControlStatus"].map { field($0, status) }
    }
    #expect(try playerState() == ["1", "1", "1", "playing"])
    #expect(field("duration", try client.reply("item.status 1")) == "0.2")
    #expect(try client.ask("end-action pause") == ["ok actionAtItemEnd=pause"])
    let jump = try #require(try client.line())
    #expect(jump.hasPrefix("* time-jumped id=1 player=main item=1 ") && field("cause", jump) == "endAction", "\(jump)")
    #expect(try playerState() == ["1", "0.2", "0", "paused"])
    #expect(try client.ask("clock.advance 1") == ["ok now=2"])
    #expect(try playerState() == ["1", "0.2", "0", "paused"])
    #expect(try daemon.recorded() == "1[0..<9600]")
  }

  @Test func requestForAllPlayersChangesEachOfThemAtTheSameTime() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("player.create second")
    for (number, name) in [(1, "main"), (2, "second")] {
      try client.reply("append \(try daemon.wave(number, frameCount: 96_000)) wait=ready player=\(name)")
    }
    func states(_ names: String...) throws -> [[String?]] {
      try ["main", "second"].map { player in
        let status = try client.reply("status player=\(player)")
        return names.map { field($0, status) }
      }
    }
    #expect(try client.reply("play player=*") == "ok players=main,second")
    try client.reply("clock.advance 0.5")
    #expect(try states("timeControlStatus", "time") == [["playing", "0.5"], ["playing", "0.5"]])
    #expect(try client.reply("volume 0.5 player=second") == "ok volume=0.5")
    #expect(try client.reply("volume -0.25 player=*") == "ok volume=0.75 players=main,second")
    #expect(try client.reply("mute on player=*") == "ok isMuted=true players=main,second")
    #expect(try client.reply("rate 2 player=*") == "ok rate=2 players=main,second")
    #expect(try client.reply("pan 1 player=*") == "ok pan=1 players=main,second")
    #expect(
      try states("volume", "isMuted", "rate", "pan") == [["0.75", "true", "2", "1"], ["0.25", "true", "2", "1"]])
    #expect(try client.reply("fade 0 0.1 then=pause player=*") == "ok players=main,second")
    try client.reply("clock.advance 0.5")
    #expect(try states("timeControlStatus", "volume") == [["paused", "0"], ["paused", "0"]])
    try client.reply("play player=*")
    #expect(try daemon.playhead("--player", "*", "pause", "--human").output == "Players: main, second\n")
    #expect(try states("timeControlStatus") == [["paused"], ["paused"]])
    #expect(try client.reply("stop player=*") == "ok players=main,second")
    try client.reply("clock.advance 0.1")
    #expect(try states("time") == [["0"], ["0"]])
    for request in ["volume", "mute", "seek 1", "fade 0 1 wait", "play to=1", "status", "toggle", "load /a"] {
      let reply = try client.reply("\(request) player=*")
      #expect(reply.hasPrefix("error code=6002 name=bad-arguments") && reply.contains("all"), "\(request): \(reply)")
    }
  }

  @Test func requestForAllPlayersThatFailsForOneChangesTheOthers() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    try client.reply("player.create second")
    let bytes = try Files.read(try daemon.wave(1, frameCount: 9_600))
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let token = try daemon.passDescriptor(ends[0])
    close(ends[0])
    try client.reply("load \(token)")
    try #require(bytes.withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) } == bytes.count)
    close(ends[1])
    try client.reply("wait ready")
    try client.reply("load \(try daemon.wave(2, frameCount: 96_000)) wait=ready player=second")
    try client.reply("seek 1 player=second")
    // A pipe cannot play in reverse.
    let reply = try client.reply("rate -1 player=*")
    #expect(reply.hasPrefix("error code=2049 name=only-in-order"), "\(reply)")
    #expect(reply.contains("1 of 2 players failed; main: "), "\(reply)")
    try client.reply("play player=second")
    #expect(field("rate", try client.reply("status player=second")) == "-1")
  }

  @Test func temporaryPlayerClosesWithTheConnectionThatCreatedIt() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    var owner: WireClient? = try daemon.connect()
    #expect(try owner?.reply("player.create cue temporary") == "ok player=cue")
    #expect(try client.ask("player.list").compactMap { field("temporary", $0) } == ["false", "true"])
    // An existing player stays as it is, and another connection is not its owner.
    #expect(try owner?.reply("player.create main temporary if-missing") == "ok player=main")
    #expect(try client.reply("player.create cue temporary if-missing") == "ok player=cue")
    #expect(try client.reply("player.create cue temporary").contains("name=player-exists"))
    try client.reply("append \(try daemon.wave(1, frameCount: 9_600)) wait=ready player=cue")
    try client.send("@w wait status=playing player=cue")
    owner = nil
    #expect(try client.line()?.hasPrefix("@w error code=6012 name=wait-ended") == true)
    #expect(try client.reply("player.list") == "ok count=1")
    #expect(try client.reply("status player=cue").contains("name=no-such-player"))
    #expect(try client.reply("player.create cue") == "ok player=cue")
    // A temporary player that was closed by a command.
    var second: WireClient? = try daemon.connect()
    #expect(try second?.reply("player.create bell temporary") == "ok player=bell")
    #expect(try client.reply("player.close bell") == "ok")
    #expect(try client.reply("player.create bell") == "ok player=bell")
    second = nil
    while field("connections", try client.reply("stats")) != "1" {}
    #expect(try client.reply("player.list") == "ok count=3")
    // A command of the client has a separate connection, which closes at once.
    let misuse = try daemon.playhead("player.create", "chime", "--temporary")
    #expect(misuse.status == 2 && misuse.errors.contains("use `playhead shell`"), "\(misuse)")
  }

  @Test func twoPlayersPlayIndependently() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    #expect(try client.reply("player.create other") == "ok player=other")
    try client.reply("append \(try daemon.wave(1, frameCount: 4_800)) wait=ready")
    try client.reply("append \(try daemon.wave(2, frameCount: 4_800)) wait=ready player=other")
    #expect(try client.reply("mute on player=other") == "ok isMuted=true")
    try client.reply("play")
    try client.reply("play player=other")
    try client.reply("clock.advance 1")
    #expect(field("item", try client.reply("status player=other")) == "none")
    #expect(try client.reply("player.close other") == "ok")
    #expect(try client.reply("status player=other").hasPrefix("error code=1006 name=no-such-player"))
    let heard = try daemon.recorded()
    #expect(heard == "1[0..<4800]")
  }

  @Test func nextStartsTheNextItemAtOnce() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let paths = try [1, 2].map { try daemon.wave($0, frameCount: 24_000) }
    try client.reply("append \(paths.joined(separator: " ")) wait=ready")
    try client.reply("play")
    try client.reply("clock.advance 0.1")
    #expect(try client.reply("next") == "ok item=2 version=2")
    try client.reply("clock.advance 0.1")
    try client.reply("pause")
    let heard = try daemon.recorded()
    #expect(heard == "1[0..<4800] 2[0..<4800]")
  }
}
