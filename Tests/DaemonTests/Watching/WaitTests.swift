import DaemonTesting
import Foundation
import RigSupport
import Testing

/// `wait` and `observe`, on the virtual clock.
@Suite struct WaitTests {
  private func playing(frameCount: Int = 96_000) throws -> (TestServer, WireClient) {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let paths = try [1, 2].map { try daemon.wave($0, frameCount: frameCount) }
    try client.reply("append \(paths.joined(separator: " ")) wait=ready")
    try client.reply("play")
    try client.reply("clock.advance 0.1")
    return (daemon, client)
  }

  @Test func satisfiedWaitRepliesAtOnce() throws {
    let (_, client) = try playing()
    #expect(
      try client.reply("wait status=playing time>=0.05 item=1 ready")
        == "ok item=1 time=0.1 pts=4800/48000 timeControlStatus=playing hostTime=0.1")
  }

  @Test func waitForATimeRepliesWhenItIsHeard() throws {
    let (_, client) = try playing()
    try client.send("@w wait time>=0.75")
    let lines = try client.ask("clock.advance 1")
    #expect(lines == ["@w ok item=1 time=0.75 pts=36000/48000 timeControlStatus=playing hostTime=0.75", "ok now=1.1"])
  }

  @Test func changeOfItemEndsAWaitForATime() throws {
    let (_, client) = try playing()
    try client.send("@w wait time>=1.9", "@v wait item=2 time>=0.05")
    try client.send("next")
    #expect(try client.line()?.hasPrefix("@w error code=6012 name=wait-ended") == true)
    #expect(try client.line() == "ok item=2 version=2")
    #expect(try client.ask("clock.advance 0.2").first?.hasPrefix("@v ok item=2 time=0.05 ") == true)
  }

  @Test func waitTimesOut() throws {
    let (_, client) = try playing()
    try client.send("@w wait status=paused timeout=0.5")
    let lines = try client.ask("clock.advance 1")
    #expect(lines.first == "@w error code=6011 name=timed-out message=\"not within 0.5 seconds\" operation=wait")
  }

  /// In both forms, by the ID as sent: a connection can cancel only its pending requests.
  @Test func waitIsCancelledOnlyByItsConnection() throws {
    let (daemon, client) = try playing()
    let other = try daemon.connect()
    try client.send("@w wait ended", "@v wait time>=0.75", "@e events wait")
    #expect(try other.reply("cancel w").hasPrefix("error code=6020 name=no-such-request"))
    let ended = "error code=6015 name=cancelled message=\"ended by `cancel`\" operation="
    try client.send("cancel w", "@c cancel e")
    #expect(try client.line() == "@w \(ended)wait")
    #expect(try client.line() == "ok")
    #expect(try client.line() == "@e \(ended)events")
    #expect(try client.line() == "@c ok")
    // It got its reply, and its ID is free again.
    #expect(try client.reply("cancel w").hasPrefix("error code=6020"))
    try client.send("@w cancel w")
    #expect(try client.line()?.hasPrefix("@w error code=6020") == true)
    #expect(try client.reply("cancel").hasPrefix("error code=6002"))
    #expect(try client.reply("cancel \"a b\"").hasPrefix("error code=6002"))
    // The other waits continue.
    #expect(try client.ask("clock.advance 1").first?.hasPrefix("@v ok item=1 time=0.75 ") == true)
  }

  @Test func jsonCancelDistinguishesNumbersAndStrings() throws {
    let (_, client) = try playing()
    func request(_ id: String, _ method: String, _ params: String) -> String {
      #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
    }
    let ends = #"{"conditions":["ended"]}"#
    try client.send(request("5", "wait", ends), request(#""5""#, "wait", ends))
    for (id, requestID) in [(#""5""#, 6), ("5", 7), ("5", 8)] {
      try client.send(request("\(requestID)", "cancel", #"{"id":\#(id)}"#))
      if requestID < 8 {
        #expect(try client.line()?.hasPrefix(#"{"jsonrpc":"2.0","id":\#(id),"error":{"code":6015,"#) == true)
        #expect(try client.line() == #"{"jsonrpc":"2.0","id":\#(requestID),"result":{}}"#)
      } else {
        #expect(try client.line()?.hasPrefix(#"{"jsonrpc":"2.0","id":8,"error":{"code":6020,"#) == true)
      }
    }
    // A notification gets no reply; the cancelled wait does.
    try client.send(
      request("9", "wait", ends), #"{"jsonrpc":"2.0","method":"cancel","params":{"id":9}}"#,
      #"{"jsonrpc":"2.0","method":"cancel","params":{"id":9}}"#)
    #expect(try client.line()?.hasPrefix(#"{"jsonrpc":"2.0","id":9,"error":{"code":6015,"#) == true)
    try client.send(request("10", "cancel", #"{"id":true}"#))
    #expect(try client.line()?.contains(#""code":-32602"#) == true)
    #expect(try client.reply("ping").hasPrefix("ok now="))
  }

  /// A wait without an ID blocks its connection, which the daemon does not read then. The daemon still detects that the
  /// client has disconnected.
  @Test(.timeLimit(.minutes(1))) func waitOfAnInterruptedClientEnds() throws {
    let (daemon, client) = try playing()
    let waiting = try Program(Executables.playhead, ["--socket", daemon.socket, "wait", "ended"])
    while field("connections", try client.reply("stats")) != "2" {}
    waiting.signal(SIGINT)
    _ = try waiting.waitForEnd()
    while field("connections", try client.reply("stats")) != "1" {}
  }

  @Test func waitForTheEndRepliesAtTheEndOfTheQueue() throws {
    let (_, client) = try playing(frameCount: 9_600)
    try client.send("@w wait ended")
    let lines = try client.ask("clock.advance 1")
    #expect(lines.first?.hasPrefix("@w ok item=none time=0 ") == true)
  }

  @Test func stoppedAtTheEndCountsAsEnded() throws {
    let (_, client) = try playing(frameCount: 9_600)
    try client.reply("end-action pause")
    try client.send("@w wait ended", "@x wait time>=5")
    let lines = try client.ask("clock.advance 1").filter { $0.hasPrefix("@") }.sorted()
    #expect(lines.first?.hasPrefix("@w ok item=1 time=0.2 pts=9600/48000 timeControlStatus=paused") == true)
    #expect(lines.last?.hasPrefix("@x error code=6012") == true)
  }

  @Test func waitForATimeInReverseRepliesWhenItIsHeard() throws {
    let (_, client) = try playing()
    #expect(
      try client.reply("wait time<=0.1")
        == "ok item=1 time=0.1 pts=4800/48000 timeControlStatus=playing hostTime=0.1")
    try client.reply("pause")
    try client.reply("seek 1.5")
    try client.reply("rate -1")
    try client.reply("play")
    try client.send("@w wait time<=0.75", "@b wait time>=0.5 time<=1.25", "@z wait time<=0.2 timeout=0.9")
    let lines = try client.ask("clock.advance 1")
    #expect(
      lines == [
        "@b ok item=1 time=1.25 pts=60000/48000 timeControlStatus=playing hostTime=0.35",
        "@w ok item=1 time=0.75 pts=36000/48000 timeControlStatus=playing hostTime=0.85",
        "@z error code=6011 name=timed-out message=\"not within 0.9 seconds\" operation=wait", "ok now=1.1",
      ])
    try client.send("@w wait time<=0.1", "@n wait time<=0.1 item=1")
    try client.send("next")
    #expect(try client.line()?.hasPrefix("@w error code=6012 name=wait-ended") == true)
    #expect(try client.line()?.hasPrefix("@n error code=2004 name=no-such-item") == true)
    #expect(try client.line() == "ok item=2 version=2")
    #expect(try client.reply("wait time>=2 time<=1").contains("time>=2 and time<=1 cannot both hold"))
  }

  @Test func stoppedAtAnEndTimeCountsAsEnded() throws {
    let (_, client) = try playing(frameCount: 48_000)
    try client.reply("end-action pause")
    try client.reply("item.end-time 1 forward=0.2500001")
    try client.send("@w wait ended", "@x wait time>=0.5")
    let lines = try client.ask("clock.advance 1").filter { $0.hasPrefix("@") }.sorted()
    #expect(
      lines.first?.hasPrefix("@w ok item=1 time=0.25 pts=12000/48000 timeControlStatus=paused") == true, "\(lines)")
    #expect(lines.last?.hasPrefix("@x error code=6012") == true)
  }

  @Test func beginningCountsAsTheEndInReverse() throws {
    let (_, client) = try playing(frameCount: 48_000)
    try client.reply("rate -1")
    try client.send("@w wait ended")
    let lines = try client.ask("clock.advance 1").filter { $0.hasPrefix("@") }
    #expect(lines.first?.hasPrefix("@w ok item=1 time=0 pts=0/") == true, "\(lines)")
  }

  @Test func errorThatStopsThePlayerIsReportedAndFailsWaits() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 9_600)
    try client.reply("on-failure stop")
    try client.reply("append \(path) /nowhere.wav \(path)")
    try client.send("observe player.error")
    #expect(try client.line()?.unnumbered == "ok id=1")
    #expect(try client.line() == "* changed id=1 player=main key=player.error new=none cause=initial initial=true")
    try client.reply("play")
    try client.send("@p wait item=2 status=playing", "@t wait item=2 time>=1")
    let lines = try client.ask("clock.advance 1")
    #expect(
      lines.contains {
        $0.hasPrefix("* changed id=1 player=main key=player.error old=none new=file-not-found cause=")
      }, "\(lines)")
    for id in ["@p", "@t"] {
      #expect(lines.contains { $0.hasPrefix("\(id) error code=2001 name=file-not-found") }, "\(lines)")
    }
    #expect(try client.reply("wait ended").hasPrefix("error code=2001"))
    #expect(field("timeControlStatus", try client.reply("status")) == "paused")
    // When playback continues after it, nothing stops the player any more.
    let more = try client.ask("play")
    #expect(more.contains { $0.hasPrefix("* changed id=1 player=main key=player.error old=file-not-found new=none") })
  }

  @Test func seekPastATimeSatisfiesTheWait() throws {
    let (_, client) = try playing()
    try client.send("@w wait time>=1")
    try client.send("@s seek 1.5")
    let replies = try [client.line() ?? "", client.line() ?? ""].sorted()
    #expect(replies[0].hasPrefix("@s ok finished=true"))
    #expect(replies[1].hasPrefix("@w ok item=1 time=1.5"))
  }

  @Test func waitForAMissingItemIsAnError() throws {
    let (_, client) = try playing()
    #expect(try client.reply("wait item=77").hasPrefix("error code=2004 name=no-such-item"))
    try client.send("@w wait item=2")
    try client.send("remove 2")
    let replies = try [client.line() ?? "", client.line() ?? ""].sorted()
    #expect(replies[0].hasPrefix("@w error code=2004"))
  }

  @Test func observerGetsTheValueFirstAndThenChangesWithCauses() throws {
    let (_, client) = try playing()
    try client.send("observe player.rate player.timeControlStatus")
    #expect(try client.line()?.unnumbered == "ok id=1")
    #expect(
      try client.line()
        == "* changed id=1 player=main key=player.timeControlStatus new=playing cause=initial initial=true")
    #expect(try client.line() == "* changed id=1 player=main key=player.rate new=1 cause=initial initial=true")
    let lines = try client.ask("pause")
    #expect(
      Set(lines.dropLast().map(\.unnumbered)) == [
        "* changed id=1 player=main key=player.timeControlStatus old=playing new=paused cause=request",
        "* changed id=1 player=main key=player.rate old=1 new=0 cause=request",
      ])
    #expect(try client.reply("unobserve 1") == "ok")
    #expect(try client.ask("play") == ["ok"])
    #expect(try client.reply("unobserve 1").hasPrefix("error code=1008 name=no-such-observer"))
  }

  @Test func eventsOfAnAdvancePrecedeItsReply() throws {
    let (_, client) = try playing(frameCount: 9_600)
    try client.send("observe item.events")
    #expect(try client.line()?.unnumbered == "ok id=1")
    let lines = try client.ask("clock.advance 1").unnumbered
    #expect(
      lines == [
        "* played-to-end id=1 player=main item=1 time=0.2 pts=9600/48000",
        "* transition id=1 player=main from=1 to=2 time=0 pts=0/1 trimmedEnd=0 trimmedEndBy=none trimmedStart=0"
          + " trimmedStartBy=none inserted=0 hostTime=0.2",
        "* played-to-end id=1 player=main item=2 time=0.2 pts=9600/48000", "ok now=1.1",
      ])
  }

  @Test func systemClockCannotBeAdvanced() throws {
    let daemon = try TestDaemon("--output", "null")
    #expect(try daemon.connect().reply("clock.advance 1").hasPrefix("error code=5004 name=not-virtual-clock"))
  }
}
