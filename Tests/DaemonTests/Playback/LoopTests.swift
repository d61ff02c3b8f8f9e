import DaemonTesting
import Testing

/// `repeat` and `loop`, on the virtual clock.
@Suite struct LoopTests {
  @Test func loopIsSetReportedObservedAndEnded() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connectWithQueue()
    try client.send("observe player.loop player.repeat item.events")
    #expect(try client.line()?.unnumbered == "ok id=1")
    #expect(try client.line()?.contains("key=player.repeat new=off") == true)
    #expect(try client.line()?.contains("key=player.loop new=none") == true)
    #expect(
      try client.ask("loop 0.25 0.5 count=2").unnumbered == [
        "* changed id=1 player=main key=player.loop old=none new=0.25-0.5 cause=request",
        "ok item=1 start=0.25 end=0.5 count=2 passes=0",
      ])
    let status = try client.reply("status")
    #expect(["loop", "passes", "passesLeft"].map { field($0, status) } == ["0.25-0.5", "0", "2"])
    try client.reply("play")
    let lines = try client.ask("clock.advance 0.8").unnumbered
    #expect(
      lines == [
        "* transition id=1 player=main from=1 to=1 time=0.25 pts=12000/48000 trimmedEnd=0 trimmedEndBy=none trimmedStart=0"
          + " trimmedStartBy=none inserted=0 hostTime=0.5",
        "* changed id=1 player=main key=player.loop old=0.25-0.5 new=none cause=looped",
        "* transition id=1 player=main from=1 to=1 time=0.25 pts=12000/48000 trimmedEnd=0 trimmedEndBy=none trimmedStart=0"
          + " trimmedStartBy=none inserted=0 hostTime=0.75",
        "ok now=0.8",
      ])
    #expect(try client.reply("loop") == "ok item=1 start=none end=none count=none passes=none")
    let over = try client.reply("status")
    #expect(["loop", "passes", "passesLeft"].map { field($0, over) } == ["none", "none", "none"])
    #expect(try client.reply("loop +0.1 end") == "ok item=1 start=0.4 end=1 count=none passes=0")
    #expect(try client.reply("loop off") == "ok item=1 start=none end=none count=none passes=none")
    try client.reply("clock.advance 2")
    #expect(
      try daemon.recorded(withSilences: false)
        == "1[0..<24000] 1[12000..<24000] 1[12000..<48000] 2[0..<48000]")
  }

  @Test func repeatModeIsSetReportedAndPlayed() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connectWithQueue(frameCount: 9_600)
    #expect(try client.reply("repeat") == "ok repeat=off")
    #expect(try client.reply("repeat one") == "ok repeat=one")
    #expect(field("repeat", try client.reply("status")) == "one")
    try client.reply("play")
    try client.reply("clock.advance 0.5")
    #expect(try client.reply("repeat all") == "ok repeat=all")
    try client.reply("clock.advance 0.5")
    let rows = try client.ask("list").compactMap { field("item", $0) }
    #expect(rows == ["2", "1"])
    #expect(try client.reply("next").hasPrefix("ok item=1 version="))
    #expect(try client.reply("repeat off") == "ok repeat=off")
    try client.reply("clock.advance 1")
    #expect(
      try daemon.recorded(withSilences: false)
        == "1[0..<9600] 1[0..<9600] 1[0..<9600] 2[0..<9600] 1[0..<9600] 1[0..<9600] 2[0..<9600]")
  }

  @Test func invalidLoopsAreRejectedAndChangeNothing() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    #expect(try client.reply("loop 1 2").hasPrefix("error code=1004 name=no-current-item"))
    #expect(try client.reply("loop off").hasPrefix("error code=1004 name=no-current-item"))
    try client.reply("append \(try daemon.wave(1, frameCount: 48_000)) wait=ready")
    try client.reply("loop 0.1 0.2")
    for bad in ["0.2 0.2", "0.3 0.2", "0.2 0.209", "0.5 1.5", "-1 0.5", "0 200%"] {
      #expect(try client.reply("loop \(bad)").hasPrefix("error code=1002 name=invalid-time"), "\(bad)")
    }
    #expect(try client.reply("loop 0 1 item=9").hasPrefix("error code=2004 name=no-such-item"))
    for bad in ["loop 0", "loop 0 1 off", "loop count=2", "loop 0 1 count=0", "repeat twice"] {
      #expect(try client.reply(bad).hasPrefix("error code=6002 name=bad-arguments"), "\(bad)")
    }
    #expect(try client.reply("loop") == "ok item=1 start=0.1 end=0.2 count=none passes=0")
  }

  @Test func loopRequestWaitsUntilTheItemIsReady() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 48_000)
    try client.send("load \(path)", "@a loop 50% end")
    #expect(try client.line() == "ok items=1 version=1")
    #expect(try client.line() == "@a ok item=1 start=0.5 end=1 count=none passes=0")
    try client.send("load /nonexistent.wav", "@c loop 1 2")
    #expect(try client.line() == "ok items=2 version=2")
    #expect(try client.line()?.hasPrefix("@c error code=2001 name=file-not-found") == true)
  }
}
