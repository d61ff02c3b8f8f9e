import Testing

/// `step`, `preroll`, `auto-wait`, `play-immediately`, `item.end-time`, `item.buffer` and what `item.status` tells, on the
/// virtual clock.
@Suite struct ItemCommandTests {
  private func ready(frameCount: Int = 48_000, count: Int = 2) throws -> (TestDaemon, WireClient) {
    let daemon = try TestDaemon.recording()
    let client = try daemon.connect()
    let paths = try (1...count).map { try daemon.wave($0, frameCount: frameCount) }
    try client.reply("append \(paths.joined(separator: " ")) wait=ready")
    return (daemon, client)
  }

  @Test func anItemEndsWhereItIsToAndTheNextFollowsThere() throws {
    let (daemon, client) = try ready()
    #expect(
      try client.reply("item.end-time 1") == "ok item=1 forwardPlaybackEndTime=none reversePlaybackEndTime=none")
    #expect(
      try client.reply("item.end-time 1 forward=0.25 reverse=100ms")
        == "ok item=1 forwardPlaybackEndTime=0.25 reversePlaybackEndTime=0.1")
    try client.send("observe item.events")
    #expect(try client.line() == "ok id=1")
    try client.reply("play")
    let lines = try client.ask("clock.advance 0.5").filter { $0.hasPrefix("* played-to-end") }
    #expect(lines == ["* played-to-end id=1 player=main item=1 time=0.25 pts=12000/48000"])
    #expect(field("item", try client.reply("status")) == "2")
    #expect(try client.reply("item.end-time 2 forward=0.5 reverse=none").hasPrefix("ok item=2"))
    try client.reply("clock.advance 2")
    #expect(try daemon.recorded(withSilences: false) == "1[0..<12000] 2[0..<24000]")
  }

  @Test func endsThatAreNoneAreRefused() throws {
    let (_, client) = try ready(count: 1)
    #expect(try client.reply("item.end-time 1 forward=-1").hasPrefix("error code=1002"))
    #expect(try client.reply("item.end-time 1 forward=x").hasPrefix("error code=1002"))
    #expect(try client.reply("item.end-time 9 forward=1").hasPrefix("error code=2004"))
    #expect(try client.reply("item.buffer 9").hasPrefix("error code=2004"))
    #expect(try client.reply("item.buffer 1 -1").hasPrefix("error code=1002"))
    #expect(
      try client.reply("item.end-time 1") == "ok item=1 forwardPlaybackEndTime=none reversePlaybackEndTime=none")
    #expect(try client.reply("item.buffer 1 3") == "ok item=1 preferredForwardBufferDuration=3")
  }

  @Test func anEntryTellsWhatCanBeDoneWithIt() throws {
    let (_, client) = try ready(count: 1)
    let status = try client.reply("item.status 1")
    #expect(field("canPlayFastForward", status) == "true")
    #expect(field("canPlayReverse", status) == "true")
    #expect(field("canStepBackward", status) == "true")
    #expect(field("seekableTimeRanges", status) == "0-1")
    try client.reply("preroll")
    #expect(field("isPlaybackBufferEmpty", try client.reply("item.status 1")) == "false")
    #expect(try client.reply("load /nowhere/at-all.flac").hasPrefix("ok"))
    #expect(field("seekableTimeRanges", try client.reply("item.status 2")) == "none")
    #expect(field("canStepForward", try client.reply("item.status 2")) == "false")
  }

  @Test func stepsAreExactAndStopAtTheEnds() throws {
    let (_, client) = try ready(count: 1)
    #expect(try client.reply("step 5").hasPrefix("ok finished=true item=1 time=0.05 pts=2400/48000 requested=0.05"))
    #expect(field("time", try client.reply("step -2")) == "0.03")
    let back = try client.reply("step -10")
    #expect(field("time", back) == "0")
    #expect(field("clamped", back) == "true")
    try client.reply("play")
    #expect(try client.reply("step 1").hasPrefix("error code=1003"))
    #expect(try client.reply("step x").hasPrefix("error code=6002"))
  }

  @Test func aPrerollAnswersWhenPlayingCanBeHeardAtOnce() throws {
    let (_, client) = try ready(count: 1)
    #expect(try client.reply("preroll") == "ok ready=true")
    try client.reply("play")
    #expect(try client.reply("preroll").hasPrefix("error code=1003"))
    try client.reply("pause")
    try client.reply("clear")
    #expect(try client.reply("preroll").hasPrefix("error code=1004"))
  }

  @Test func whetherAStallEndsByItselfIsSetToldAndObserved() throws {
    let (_, client) = try ready(count: 1)
    try client.send("observe player.automaticallyWaitsToMinimizeStalling")
    #expect(try client.line() == "ok id=1")
    #expect(try client.line()?.hasSuffix("new=true cause=initial initial=true") == true)
    #expect(
      try client.ask("auto-wait off") == [
        "* changed id=1 player=main key=player.automaticallyWaitsToMinimizeStalling old=true new=false cause=request",
        "ok automaticallyWaitsToMinimizeStalling=false",
      ])
    #expect(field("automaticallyWaitsToMinimizeStalling", try client.reply("status")) == "false")
    try client.reply("preroll")
    #expect(try client.reply("play-immediately") == "ok")
    #expect(field("rate", try client.reply("status")) == "1")
  }
}
