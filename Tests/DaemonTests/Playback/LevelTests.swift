import DaemonTesting
import RigSupport
import Testing

/// Volume, pan, fades, mixes and meters over the wire, on the virtual clock.
@Suite struct LevelTests {
  /// A daemon that plays two seconds at half of full scale and writes the played audio.
  private func playing() throws -> (TestServer, WireClient) {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = daemon.folder.file("level.wav")
    try TimeCode.writeWAV(path: path, frameCount: 96_000) { _ in StereoFrame(left: 16_384, right: 16_384) }
    try client.reply("append \(path) wait=ready")
    try client.reply("play")
    return (daemon, client)
  }

  @Test func fadeSetsTheVolumeAtOnceAndIsSampleAccurate() throws {
    let (daemon, client) = try playing()
    try client.reply("clock.advance 0.5")
    #expect(try client.reply("fade 0 500ms") == "ok")
    #expect(try client.reply("volume") == "ok volume=0")
    #expect(field("volume", try client.reply("status")) == "0")
    try client.reply("clock.advance 1")
    try daemon.finish()
    let frames = try Recording.frames(in: daemon.folder.file("out.wav"))
    let wrong = frames[..<72_000].enumerated().first { index, frame in
      let gain = index < 24_000 ? 1 : max(0, 1 - Double(index - 24_000) / 24_000)
      return abs(Double(frame.left) - 16_384 * gain) > 1 || frame.left != frame.right
    }
    #expect(wrong == nil, "frame \(wrong?.offset ?? 0)")
  }

  @Test func fadePausesAtTheFrameOfItsEndAndReplies() throws {
    let (_, client) = try playing()
    try client.reply("clock.advance 0.5")
    try client.send("@f fade 0.25 500ms then=pause wait")
    #expect(try client.ask("clock.advance 1") == ["@f ok finished=true", "ok now=1.5"])
    let status = try client.reply("status")
    #expect(field("timeControlStatus", status) == "paused")
    #expect(field("pts", status) == "48000/48000")
    #expect(field("volume", status) == "0.25")
    #expect(field("isFading", status) == "false")
    // The next playback continues with the next sample.
    try client.reply("play")
    try client.reply("clock.advance 0.25")
    #expect(field("pts", try client.reply("status")) == "60000/48000")
  }

  @Test func fadeStopsAtItsEnd() throws {
    let (_, client) = try playing()
    try client.reply("clock.advance 0.5")
    #expect(try client.reply("fade 0 500ms equal-power then=stop") == "ok")
    try client.reply("clock.advance 1")
    let status = try client.reply("status")
    #expect(field("timeControlStatus", status) == "paused")
    #expect(field("time", status) == "0")
  }

  @Test func replacedFadeRepliesAndItsActionIsCancelled() throws {
    let (_, client) = try playing()
    try client.reply("clock.advance 0.5")
    for request in ["volume 1", "fade 1 0"] {
      try client.send("@f fade 0 500ms then=pause wait")
      try client.reply("clock.advance 0.1")
      #expect(try client.ask(request).first == "@f ok finished=false reason=replaced")
    }
    try client.reply("clock.advance 0.6")
    #expect(field("timeControlStatus", try client.reply("status")) == "playing")
  }

  @Test func fadeOfAPlayerThatDoesNotPlayRepliesAtOnce() throws {
    let (_, client) = try playing()
    try client.reply("clock.advance 0.5")
    try client.send("@f fade 0 500ms then=pause wait")
    #expect(try client.ask("pause").first == "@f ok finished=false reason=notPlaying")
    #expect(try client.reply("fade 0 500ms then=pause wait") == "ok finished=false reason=notPlaying")
    // The fade is not lost: it continues with the time of the output.
    try client.reply("play")
    try client.send("@w wait status=paused")
    #expect(try client.ask("clock.advance 1").first?.hasPrefix("@w ok item=1 time=1 ") == true)
    // An empty queue plays nothing.
    try client.reply("player.create empty")
    try client.reply("play player=empty")
    #expect(try client.reply("fade 0 1 wait player=empty") == "ok finished=false reason=notPlaying")
  }

  @Test func fadeOfAClosedPlayerRepliesWithAnError() throws {
    let (daemon, client) = try playing()
    try client.reply("player.create second")
    try client.reply("load \(daemon.folder.file("level.wav")) wait=ready player=second")
    try client.reply("play player=second")
    try client.reply("clock.advance 0.1")
    try client.send("@f fade 0 1 wait player=second")
    #expect(try client.ask("player.close second").first?.hasPrefix("@f error code=6012 name=wait-ended") == true)
  }

  @Test func fadeIsObserved() throws {
    let (_, client) = try playing()
    try client.reply("clock.advance 0.5")
    try client.reply("observe player.isFading")
    #expect(try client.line() == "* changed id=1 player=main key=player.isFading new=false cause=initial initial=true")
    #expect(
      try client.ask("fade 0 100ms").unnumbered == [
        "* changed id=1 player=main key=player.isFading old=false new=true cause=request", "ok",
      ])
    #expect(
      try client.ask("clock.advance 1").unnumbered.first
        == "* changed id=1 player=main key=player.isFading old=true new=false cause=fadeEnded")
  }

  @Test func panIsSetReportedAndObserved() throws {
    let (daemon, client) = try playing()
    #expect(try client.reply("pan") == "ok pan=0")
    try client.reply("observe player.pan")
    #expect(try client.line() == "* changed id=1 player=main key=player.pan new=0 cause=initial initial=true")
    #expect(
      try client.ask("pan -1").unnumbered == [
        "* changed id=1 player=main key=player.pan old=0 new=-1 cause=request", "ok pan=-1",
      ])
    #expect(field("pan", try client.reply("status")) == "-1")
    try client.reply("clock.advance 0.1")
    try daemon.finish()
    let frame = try Recording.frames(in: daemon.folder.file("out.wav"))[4_000]
    #expect(frame == StereoFrame(left: 16_384, right: 0))
  }

  @Test func valuesOutOfRangeAreRejectedAndChangeNothing() throws {
    let (_, client) = try playing()
    try client.reply("clock.advance 0.1")
    let before = try client.reply("status")
    for request in [
      "pan 1.1", "pan -1.1", "pan nan", "pan inf", "volume 1.1", "volume -1.1", "volume nan", "fade 1.1 1",
      "fade nan 1", "fade 0.5", "fade 0.5 1 cubic", "fade 0.5 1 then=play", "fade 0.5 1 wait=end", "meter 0",
      "meter 101", "meter nan", "item.volume 1 2",
      "item.volume 1 0.5 to=0.1", "item.volume 1 to=0.1 over=1", "item.volume 1 at=3",
    ] {
      #expect(try client.reply(request).hasPrefix("error code=6002 name=bad-arguments"), "\(request)")
    }
    for request in ["fade 0.5 -1", "fade 0.5 inf", "fade 0.5 86401", "item.volume 1 0.5 at=-1"] {
      #expect(try client.reply(request).hasPrefix("error code=1002 name=invalid-time"), "\(request)")
    }
    #expect(try client.reply("item.volume 9 0.5").hasPrefix("error code=2004 name=no-such-item"))
    #expect(try client.reply("pan 0 player=unknown").hasPrefix("error code=1006 name=no-such-player"))
    #expect(try client.reply("unmeter 1").hasPrefix("error code=1008 name=no-such-observer"))
    #expect(try client.reply("status") == before)
    #expect(try client.reply("item.volume 1") == "ok item=1 count=0")
  }

  @Test func volumeMixOfAnEntryHasPointsAndRamps() throws {
    let (daemon, client) = try playing()
    #expect(try client.ask("item.volume 1 1") == ["| at=0 volume=1", "ok item=1 count=1"])
    #expect(
      try client.ask("item.volume 1 0.5 at=0.4 to=0.2 over=0.5") == [
        "| at=0 volume=1", "| at=0.4 volume=0.5 to=0.2 over=0.5", "ok item=1 count=2",
      ])
    #expect(try client.reply("item.volume 1 0.5 at=0.5").hasPrefix("error code=1001 name=invalid-argument"))
    #expect(try client.ask("item.volume 1").count == 3)
    try client.reply("clock.advance 1.5")
    #expect(try client.ask("item.volume 1 clear") == ["ok item=1 count=0"])
    try client.reply("clock.advance 1")
    try daemon.finish()
    let frames = try Recording.frames(in: daemon.folder.file("out.wav"))
    for (frame, volume) in [(19_199, 1), (19_200, 0.5), (31_200, 0.35), (43_200, 0.2), (71_999, 0.2), (72_300, 1)] {
      #expect(abs(Double(frames[frame].left) - 16_384 * volume) <= 1, "frame \(frame)")
    }
  }

  @Test func metersFollowTheHeardAudioUntilTheyAreRemoved() throws {
    let (_, client) = try playing()
    #expect(try client.reply("meter 10") == "ok id=1")
    let level = "average=-6.02,-6.02 peak=-6.02,-6.02 averageScale=0.7068,0.7068 peakScale=0.7068,0.7068 late=0"
    #expect(
      try client.ask("clock.advance 0.25") == [
        "* meter id=1 player=main item=1 time=0.1 pts=4800/48000 \(level)",
        "* meter id=1 player=main item=1 time=0.2 pts=9600/48000 \(level)", "ok now=0.25",
      ])
    let silence = "average=-160,-160 peak=-160,-160 averageScale=0,0 peakScale=0,0 late=0"
    #expect(try client.ask("pause") == ["ok"])
    #expect(try client.line() == "* meter id=1 player=main item=1 time=0.25 pts=12000/48000 \(silence)")
    #expect(try client.ask("clock.advance 1") == ["ok now=1.25"])
    #expect(try client.reply("unmeter 1") == "ok")
    #expect(try client.reply("unmeter 1").hasPrefix("error code=1008"))
    #expect(try client.reply("untick 1").hasPrefix("error code=1008"))
    try client.reply("play")
    #expect(try client.ask("clock.advance 0.3") == ["ok now=1.55"])
  }

  @Test func metersAreNotificationsInJSON() throws {
    let (_, client) = try playing()
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"meter","params":{"rate":10}}"#)
    #expect(try client.line() == #"{"jsonrpc":"2.0","id":1,"result":{"id":1}}"#)
    let values = #""average":[-6.02,-6.02],"peak":[-6.02,-6.02],"averageScale":[0.7068,0.7068]"#
    #expect(try client.ask("clock.advance 0.1").first?.contains(values) == true)
  }

  @Test func clippedFramesOfTheMixAreCounted() throws {
    let (daemon, client) = try playing()
    #expect(field("clipped", try client.reply("output.status")) == "0")
    let path = daemon.folder.file("loud.wav")
    try TimeCode.writeWAV(path: path, frameCount: 1_000) { _ in StereoFrame(left: 20_000, right: -20_000) }
    try client.reply("player.create b")
    try client.reply("append \(path) wait=ready player=b")
    try client.reply("play player=b")
    try client.reply("clock.advance 0.5")
    #expect(field("clipped", try client.reply("output.status")) == "1000")
  }

  @Test func watchPrintsMeters() throws {
    let (daemon, client) = try playing()
    let watch = try Program(
      Executables.playhead, ["--socket", daemon.socket, "watch", "--meter", "10", "--observe", "player.pan"])
    #expect(try watch.waitForLine()?.hasPrefix("* changed id=2 ") == true)
    try client.reply("clock.advance 0.15")
    #expect(try watch.waitForLine()?.hasPrefix("* meter id=1 player=main item=1 time=0.1 ") == true)
    try daemon.finish()
    #expect(try watch.waitForEnd().status == 3)
  }
}
