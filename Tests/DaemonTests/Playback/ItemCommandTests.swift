import DaemonTesting
import RigSupport
import Testing

/// `step`, `preroll`, `auto-wait`, `play-immediately`, `item.end-time`, `item.buffer` and the fields of `item.status`,
/// on the virtual clock.
@Suite struct ItemCommandTests {
  @Test func itemEndsAtItsEndTimeAndTheNextFollows() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connectWithQueue()
    #expect(
      try client.reply("item.end-time 1") == "ok item=1 forwardPlaybackEndTime=none reversePlaybackEndTime=none")
    #expect(
      try client.reply("item.end-time 1 forward=0.25 reverse=100ms")
        == "ok item=1 forwardPlaybackEndTime=0.25 reversePlaybackEndTime=0.1")
    try client.send("observe item.events")
    #expect(try client.line()?.unnumbered == "ok id=1")
    try client.reply("play")
    let lines = try client.ask("clock.advance 0.5").filter { $0.hasPrefix("* played-to-end") }
    #expect(lines.unnumbered == ["* played-to-end id=1 player=main item=1 time=0.25 pts=12000/48000"])
    #expect(field("item", try client.reply("status")) == "2")
    #expect(try client.reply("item.end-time 2 forward=0.5 reverse=none").hasPrefix("ok item=2"))
    try client.reply("clock.advance 2")
    #expect(try daemon.recorded(withSilences: false) == "1[0..<12000] 2[0..<24000]")
  }

  @Test func copyOfAnEntryHasItsSettingsButNotItsPosition() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connectWithQueue()
    try client.reply("item.end-time 1 forward=0.25")
    try client.reply("item.pitch 1 varispeed")
    #expect(try client.reply("item.copy 1") == "ok items=3 version=2")
    #expect(try client.reply("item.copy 2 before=3 if-version=2") == "ok items=4 version=3")
    #expect(try client.ask("list").compactMap { field("item", $0) } == ["1", "4", "3", "2"])
    let copied = try client.reply("item.status 3")
    #expect(field("forwardPlaybackEndTime", copied) == "0.25")
    #expect(field("ownAudioTimePitchAlgorithm", copied) == "varispeed")
    #expect(field("path", copied) == field("path", try client.reply("item.status 1")))
    try client.reply("play")
    try client.reply("clock.advance 5")
    #expect(try daemon.recorded(withSilences: false) == "1[0..<12000] 2[0..<48000] 1[0..<12000] 2[0..<48000]")
  }

  @Test func invalidCopiesAreRejectedAndChangeNothing() throws {
    let client = try InProcessServer.recording().connectWithQueue(count: 1)
    let rejections = [
      ("item.copy 9", "error code=2004"), ("item.copy 1 after=9", "error code=2004"),
      ("item.copy 1 after=1 before=1", "error code=6002"), ("item.copy 1 if-version=7", "error code=1011"),
      ("item.copy copy", "error code=6002"), ("item.copy #2", "error code=2004"),
      ("item.copy after=previous", "error code=2004"),
    ]
    for (request, error) in rejections { #expect(try client.reply(request).hasPrefix(error), "\(request)") }
    #expect(field("version", try client.reply("status")) == "1")
    // The ID of a rejected item is used again.
    #expect(try client.reply("item.copy 1") == "ok items=2 version=2")
  }

  /// In one batch, so that nothing is opened in between.
  @Test func pendingSeeksAndPrerollsAreCancelled() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.send(
      "append \(try daemon.wave(1, frameCount: 48_000))\n@1 seek 0.5\n@2 preroll\npreroll.cancel\nseek.cancel")
    let lines = try (0..<5).compactMap { _ in try client.line() }
    #expect(lines[0] == "ok items=1 version=1")
    #expect(lines.contains { $0.hasPrefix("@1 ok finished=false") && field("reason", $0) == "cancelled" })
    #expect(lines.contains("@2 ok ready=false"))
    #expect(lines.filter { $0 == "ok" }.count == 2)
    #expect(try client.reply("preroll.cancel player=unknown").hasPrefix("error code=1006"))
  }

  @Test func rateStartsAtAnInstantFromATimeOfTheItem() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connectWithQueue(count: 1)
    #expect(try client.reply("rate-at 1 +0.5 from=0.25").hasPrefix("error code=1003"), "while auto-wait is on")
    try client.reply("auto-wait off")
    #expect(try client.reply("rate-at 1 frame:5").hasPrefix("error code=6002"))
    #expect(try client.reply("rate-at 99 now").hasPrefix("error code=6002"))
    #expect(try client.reply("rate-at 1 50%").hasPrefix("error code=1002"))
    #expect(try client.reply("rate-at 1 +0.5 from=0.25") == "ok rate=1")
    #expect(field("reasonForWaitingToPlay", try client.reply("status")) == "startTimeNotReached")
    try client.reply("clock.advance 2")
    try daemon.finish()
    let runs = TimeCode.runs(in: try Recording.frames(in: daemon.folder.file("out.wav")))
    // Half a second after the start of the clock, exact to the sample.
    #expect(runs.map { [$0.position, $0.firstIndex, $0.endIndex] } == [[24_000, 12_000, 48_000]])
  }

  @Test func invalidEndTimesAndBuffersAreRejected() throws {
    let client = try InProcessServer.recording().connectWithQueue(count: 1)
    #expect(try client.reply("item.end-time 1 forward=-1").hasPrefix("error code=1002"))
    #expect(try client.reply("item.end-time 1 forward=x").hasPrefix("error code=1002"))
    #expect(try client.reply("item.end-time 9 forward=1").hasPrefix("error code=2004"))
    #expect(try client.reply("item.buffer 9").hasPrefix("error code=2004"))
    #expect(try client.reply("item.buffer 1 -1").hasPrefix("error code=1002"))
    #expect(
      try client.reply("item.end-time 1") == "ok item=1 forwardPlaybackEndTime=none reversePlaybackEndTime=none")
    #expect(try client.reply("item.buffer 1 3") == "ok item=1 preferredForwardBufferDuration=3")
  }

  @Test func itemStatusReportsCapabilitiesAndBuffers() throws {
    let client = try InProcessServer.recording().connectWithQueue(count: 1)
    let status = try client.reply("item.status 1")
    #expect(field("canPlayFastForward", status) == "true")
    #expect(field("canPlayReverse", status) == "true")
    #expect(field("canStepBackward", status) == "true")
    #expect(field("seekableTimeRanges", status) == "0-1")
    try client.reply("preroll")
    let prerolled = try client.reply("item.status 1")
    #expect(field("isPlaybackBufferEmpty", prerolled) == "false")
    #expect(field("isPlaybackLikelyToKeepUp", prerolled) == "true")
    #expect(field("loadedTimeRanges", prerolled)?.hasPrefix("0-") == true, "\(prerolled)")
    // The same values as observed, including the end of decoding.
    try client.send("observe item.isPlayback*")
    #expect(try client.line()?.unnumbered == "ok id=1")
    var values: [String: String] = [:]
    while values.count < 3 || values["item.isPlaybackBufferFull"] != "true" {
      let line = try #require(try client.line())
      let key = try #require(field("key", line))
      values[key] = field("new", line)
    }
    #expect(
      values == [
        "item.isPlaybackBufferEmpty": "false", "item.isPlaybackBufferFull": "true",
        "item.isPlaybackLikelyToKeepUp": "true",
      ])
    #expect(try client.reply("load /nowhere/at-all.flac").hasPrefix("ok"))
    #expect(field("seekableTimeRanges", try client.reply("item.status 2")) == "none")
    #expect(field("canStepForward", try client.reply("item.status 2")) == "false")
  }

  @Test func stepsAreExactAndStopAtTheEnds() throws {
    let client = try InProcessServer.recording().connectWithQueue(count: 1)
    #expect(try client.reply("step 5").hasPrefix("ok finished=true item=1 time=0.05 pts=2400/48000 requested=0.05"))
    #expect(field("time", try client.reply("step -2")) == "0.03")
    let back = try client.reply("step -10")
    #expect(field("time", back) == "0")
    #expect(field("clamped", back) == "true")
    try client.reply("play")
    #expect(try client.reply("step 1").hasPrefix("error code=1003"))
    #expect(try client.reply("step x").hasPrefix("error code=6002"))
  }

  @Test func prerollRepliesWhenPlaybackCanStart() throws {
    let client = try InProcessServer.recording().connectWithQueue(count: 1)
    #expect(try client.reply("preroll") == "ok ready=true")
    #expect(try client.reply("preroll 2") == "ok ready=true")
    #expect(try client.reply("preroll 0.5") == "ok ready=true")
    for command in ["preroll", "play-immediately"] {
      for rate in ["0", "33", "fast"] {
        #expect(try client.reply("\(command) \(rate)").hasPrefix("error code=6002 name=bad-arguments"))
      }
      #expect(try client.reply("\(command) 0.01").hasPrefix("error code=1005 name=unsupported-rate"))
    }
    try client.reply("play")
    #expect(try client.reply("preroll").hasPrefix("error code=1003"))
    try client.reply("pause")
    try client.reply("clear")
    #expect(try client.reply("preroll").hasPrefix("error code=1004"))
  }

  @Test func automaticWaitingIsSetReportedAndObserved() throws {
    let client = try InProcessServer.recording().connectWithQueue(count: 1)
    try client.send("observe player.automaticallyWaitsToMinimizeStalling")
    #expect(try client.line()?.unnumbered == "ok id=1")
    #expect(try client.line()?.hasSuffix("new=true cause=initial initial=true") == true)
    #expect(
      try client.ask("auto-wait off").unnumbered == [
        "* changed id=1 player=main key=player.automaticallyWaitsToMinimizeStalling old=true new=false cause=request",
        "ok automaticallyWaitsToMinimizeStalling=false",
      ])
    #expect(field("automaticallyWaitsToMinimizeStalling", try client.reply("status")) == "false")
    try client.reply("preroll")
    #expect(try client.reply("play-immediately") == "ok")
    #expect(field("rate", try client.reply("status")) == "1")
    #expect(try client.reply("play-immediately 1.5") == "ok")
    #expect(field("rate", try client.reply("status")) == "1.5")
    #expect(try client.reply("play-immediately") == "ok")
    #expect(field("rate", try client.reply("status")) == "1.5")
  }
}
