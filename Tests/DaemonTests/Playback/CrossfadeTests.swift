import DaemonTesting
import Testing

/// `crossfade`, on the virtual clock.
@Suite struct CrossfadeTests {
  @Test func crossfadeIsSetReportedObservedAndHeard() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connectWithQueue()
    #expect(try client.reply("crossfade") == "ok crossfade=none curve=none fadeOut=none fadeIn=none")
    try client.send("observe player.crossfade item.events")
    #expect(try client.line()?.unnumbered == "ok id=1")
    #expect(try client.line()?.contains("key=player.crossfade new=none") == true)
    #expect(
      try client.ask("crossfade 0.25 curve=linear").unnumbered == [
        "* changed id=1 player=main key=player.crossfade old=none new=0.25 cause=request",
        "ok crossfade=0.25 curve=linear fadeOut=0.25 fadeIn=0.25",
      ])
    #expect(field("crossfade", try client.reply("status")) == "0.25")
    try client.reply("play")
    #expect(
      try client.ask("clock.advance 1").unnumbered == [
        "* played-to-end id=1 player=main item=1 time=0.75 pts=36000/48000",
        "* transition id=1 player=main from=1 to=2 time=0 pts=0/1 trimmedEnd=0 trimmedEndBy=none trimmedStart=0"
          + " trimmedStartBy=none inserted=0 hostTime=0.75 overlap=12000 curve=linear",
        "ok now=1",
      ])
    let status = try client.reply("status")
    #expect(["item", "time"].map { field($0, status) } == ["2", "0.25"])
    #expect(try client.reply("crossfade none") == "ok crossfade=none curve=none fadeOut=none fadeIn=none")
  }

  @Test func optionsChangeThePresentCrossfade() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    #expect(try client.reply("crossfade 5") == "ok crossfade=5 curve=equal-power fadeOut=5 fadeIn=5")
    #expect(try client.reply("crossfade curve=s-curve") == "ok crossfade=5 curve=s-curve fadeOut=5 fadeIn=5")
    #expect(
      try client.reply("crossfade fade-out=2 fade-in=0") == "ok crossfade=5 curve=s-curve fadeOut=2 fadeIn=0")
    #expect(try client.reply("crossfade 3") == "ok crossfade=3 curve=equal-power fadeOut=3 fadeIn=3")
    #expect(
      try client.reply("crossfade 4 fade-in=1.5") == "ok crossfade=4 curve=equal-power fadeOut=4 fadeIn=1.5")
  }

  @Test(arguments: [
    ("crossfade 0", "more than 0 s"), ("crossfade 30.1", "at most 30 s (got 30.1)"), ("crossfade -1", "-1"),
    ("crossfade soon", "soon"), ("crossfade 2 fade-out=3", "the fade-out must be between 0 s and the 2 s"),
    ("crossfade 2 fade-in=2.1", "the fade-in must be between 0 s and the 2 s"),
    ("crossfade 2 curve=round", "round"), ("crossfade none curve=linear", "`none` has no curve"),
    ("crossfade 2 player=other", "other"), ("crossfade 2 3", "3"),
  ])
  func invalidCrossfadeChangesNothing(_ command: String, _ message: String) throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("crossfade 1.5")
    let reply = try client.reply(command)
    #expect(reply.hasPrefix("error ") && reply.contains(message), "\(reply)")
    #expect(try client.reply("crossfade") == "ok crossfade=1.5 curve=equal-power fadeOut=1.5 fadeIn=1.5")
    print("\(command): \(reply)")
  }

  @Test func optionWithoutACrossfadeIsAnError() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    #expect(try client.reply("crossfade curve=linear").contains("set a duration"))
    #expect(try client.reply("crossfade") == "ok crossfade=none curve=none fadeOut=none fadeIn=none")
  }
}
