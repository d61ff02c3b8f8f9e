import DaemonTesting
import Testing

/// Edits of several changes, shuffling and previous items, over the wire.
@Suite struct QueueEditTests {
  /// A daemon on virtual time with `count` entries of 0.1 s.
  private func connected(_ count: Int, recording: Bool = false) throws -> (TestServer, WireClient, [String]) {
    let daemon = recording ? try InProcessServer.recording() : try InProcessServer()
    let client = try daemon.connect()
    let paths = try (1...max(1, count)).map { try daemon.wave($0, frameCount: 4_800) }
    if count > 0 { try client.reply("append \(paths.joined(separator: " ")) wait=ready") }
    return (daemon, client, paths)
  }

  private func items(_ client: WireClient) throws -> [String] {
    try client.ask("list").dropLast().compactMap { field("item", $0) }
  }

  @Test func editIsAppliedCompletelyOrNotAtAll() throws {
    let (daemon, client, paths) = try connected(5)
    #expect(try client.reply(#"queue.edit if-version=1 "move 5 to=1" "remove 3""#) == "ok version=2")
    #expect(try items(client) == ["1", "5", "2", "4"])
    #expect(
      try client.reply(
        "queue.edit 'append \(paths[0]) \(paths[0])' 'insert \(paths[1]) after=5' 'replace 2 \(paths[2])'")
        == "ok items=6,7,8,9 version=3")
    #expect(try items(client) == ["1", "5", "8", "9", "4", "6", "7"])
    let before = try (items(client), client.reply("list limit=0"))
    for (line, code) in [
      (#"queue.edit "remove 4" "remove 3""#, 2004), (#"queue.edit "remove 4" if-version=2"#, 1011),
      (#"queue.edit "append /x" "move 1 to=8""#, 1001), (#"queue.edit "clear" "remove 4 4""#, 2004),
      (#"queue.edit "remove 4 4""#, 1001), (#"queue.edit "move 1 to=1" "play""#, 6002), ("move 4 to=7", 1001),
      ("move 99 to=0", 2004), ("move 4 after=4", 1001), ("replace 99 /x", 2004), ("remove 4 if-version=1", 1011),
      ("move 4 to=0 if-version=1", 1011), ("replace 4 /x if-version=1", 1011), ("clear if-version=1", 1011),
      ("load /x if-version=1", 1011), ("append /x if-version=1", 1011), ("insert /x if-version=1", 1011),
      ("next if-version=1", 1011), ("previous if-version=1", 1011), ("jump 4 if-version=1", 1011),
      ("shuffle on if-version=1", 1011), ("jump 99", 2004), ("jump index=7", 1001), ("previous", 2004),
      ("shuffle on seed=one", 6002),
    ] {
      #expect(try client.reply(line).hasPrefix("error code=\(code) "), "\(line)")
      #expect(try items(client) == before.0, "\(line)")
      #expect(try client.reply("list limit=0") == before.1, "\(line)")
    }
    #expect(try client.reply("append \(paths[0])") == "ok items=10 version=4", "no id was lost")
    let line =
      #"{"jsonrpc":"2.0","id":1,"method":"queue.edit","params":{"ops":["move 10 to=0",{"method":"remove","params":{"ids":[1]}}]}}"#
    try client.send(line)
    #expect(try client.line() == #"{"jsonrpc":"2.0","id":1,"result":{"version":5}}"#)
    #expect(try items(client).first == "10")
    _ = daemon
  }

  @Test func pendingEditsAreAppliedAtTheCommit() throws {
    let (daemon, client, paths) = try connected(3)
    let other = try daemon.connect()
    #expect(try client.reply("queue.begin if-version=1") == "ok version=1")
    #expect(try client.reply("append \(paths[0]) \(paths[1])") == "ok pending=1")
    #expect(try client.reply("move 3 to=0") == "ok pending=2")
    #expect(try client.reply(#"queue.edit "remove 2" "move 1 to=1""#) == "ok pending=4")
    #expect(try client.reply("queue.begin").hasPrefix("error code=1003"))
    #expect(try client.reply("remove 1 if-version=1").hasPrefix("error code=1001"))
    #expect(try client.reply("append \(paths[0]) wait=ready").hasPrefix("error code=1003"))
    #expect(try items(other) == ["1", "2", "3"], "nothing has changed yet")
    #expect(try client.reply("queue.commit") == "ok items=4,5 version=2")
    #expect(try items(other) == ["3", "1", "4", "5"])
    #expect(try client.reply("queue.commit").hasPrefix("error code=1003"))
    #expect(try client.reply("queue.abort").hasPrefix("error code=1003"))

    // A conflicting change or an impossible command makes the edit fail. It ends in both cases.
    try client.reply("queue.begin if-version=2")
    try client.reply("clear")
    #expect(try other.reply("remove 4") == "ok version=3")
    #expect(try client.reply("queue.commit").hasPrefix("error code=1011"))
    try client.reply("queue.begin")
    try client.reply("clear")
    try client.reply("remove 5")
    #expect(try client.reply("queue.commit").hasPrefix("error code=2004"))
    #expect(try client.reply("queue.begin if-version=2").hasPrefix("error code=1011"))
    try client.reply("queue.begin")
    try client.reply("clear")
    #expect(try client.reply("queue.abort") == "ok version=3")
    #expect(try client.reply("queue.commit").hasPrefix("error code=1003"))
    #expect(try items(other) == ["3", "1", "5"])

    // New entries get their IDs when they are added to the edit. IDs of an edit that is not committed are used again,
    // unless later IDs have been assigned since.
    try client.reply("queue.begin")
    #expect(try client.reply("append \(paths[0])") == "ok pending=1")
    #expect(try other.reply("append \(paths[1])") == "ok items=7 version=4")
    #expect(try client.reply("queue.commit") == "ok items=6 version=5")
    try client.reply("queue.begin")
    try client.reply("append \(paths[0])")
    #expect(try other.reply("append \(paths[1])") == "ok items=9 version=6")
    #expect(try client.reply("queue.abort") == "ok version=6")
    try client.reply("queue.begin")
    try client.reply("append \(paths[0])")
    #expect(try client.reply("queue.abort") == "ok version=6")
    #expect(try client.reply("append \(paths[1])") == "ok items=10 version=7")
    #expect(try items(other) == ["3", "1", "5", "7", "6", "9", "10"])
    #expect(try client.reply("remove 7 6 9 10") == "ok version=8")

    // The end of a connection discards its uncommitted edit.
    try client.reply("queue.begin")
    try client.send("clear")
    #expect(try client.line() == "ok pending=1")
    client.finishSending()
    #expect(try client.remainingLines() == [])
    #expect(try items(other) == ["3", "1", "5"])
  }

  @Test func pendingEditsOfAConnectionAreLimited() throws {
    let (_, client, _) = try connected(0)
    try client.reply("queue.begin")
    let line = "append " + repeatElement("/a", count: 20_000).joined(separator: " ")
    for number in 1...10 { #expect(try client.reply(line) == "ok pending=\(number)") }
    #expect(try client.reply("append /a").hasPrefix("error code=6018 name=edit-too-large"))
    #expect(try client.reply("queue.commit").hasPrefix("error code=6013 name=queue-too-long"))
    #expect(try client.ask("list") == ["ok count=0 version=0 next=none"])
    try client.reply("queue.begin")
    for _ in 0..<5 { try client.reply(line) }
    #expect(try client.reply("queue.commit").hasSuffix(" version=1"))
    #expect(try client.reply("list limit=0").hasPrefix("ok count=100000 version=1"))
    try client.reply("queue.begin")
    let long = "append" + String(repeating: " /" + String(repeating: "a", count: 4_095), count: 15)
    for number in 1...273 { #expect(try client.reply(long) == "ok pending=\(number)") }
    #expect(try client.reply(long).hasPrefix("error code=6018"))
    #expect(try client.reply("append /a") == "ok pending=274", "a rejected change is not retained")
  }

  @Test func commitWaitsUntilTheEntriesAreReady() throws {
    let (daemon, client, paths) = try connected(3)
    let other = try daemon.connect()
    for _ in 1...2 {
      try client.reply("queue.begin")
      try client.reply("append \(paths[0]) \(paths[1])")
      try client.reply("remove #1")
      let reply = try client.reply("queue.commit wait=ready")
      let ids = try #require(field("items", reply)).split(separator: ",")
      for id in ids { #expect(try client.reply("item.status \(id)").contains(" status=readyToPlay "), "\(reply)") }
    }
    // An entry that fails is an error, after which the edit stays.
    try client.reply("queue.begin")
    try client.reply("append \(paths[0]) /missing.wav")
    #expect(try client.reply("queue.commit wait=ready").hasPrefix("error code=2001"))
    #expect(try items(other) == ["3", "4", "5", "6", "7", "8", "9"])
    // Entries that the same edit removes are not waited for.
    try client.reply("queue.begin")
    try client.reply("append /missing.wav")
    try client.reply("load /missing.wav \(paths[0])")
    try client.reply("remove 11")
    #expect(try client.reply("queue.commit wait=ready") == "ok items=10,11,12 version=5")
    // Without an edit that adds entries, the reply comes at once.
    try client.reply("queue.begin")
    try client.reply("clear")
    #expect(try client.reply("queue.commit wait=ready") == "ok version=6")
  }

  @Test func pendingEditsOfAllConnectionsAreLimited() throws {
    let (daemon, client, _) = try connected(0)
    let line = "append " + repeatElement("/a", count: 20_000).joined(separator: " ")
    let others = try (0..<4).map { _ in try daemon.connect() }
    for other in others {
      try other.reply("queue.begin")
      for number in 1...10 { #expect(try other.reply(line) == "ok pending=\(number)") }
    }
    try client.reply("queue.begin")
    #expect(try client.reply("append /a").hasPrefix("error code=6018 name=edit-too-large"))
    // Each way of ending an edit frees its space.
    #expect(try others[0].reply("queue.abort") == "ok version=0")
    for number in 1...10 { #expect(try client.reply(line) == "ok pending=\(number)") }
    try others[0].reply("queue.begin")
    #expect(try others[0].reply("append /a").hasPrefix("error code=6018"))
    #expect(try others[1].reply("queue.commit").hasPrefix("error code=6013"))
    for number in 1...10 { #expect(try others[0].reply(line) == "ok pending=\(number)") }
    try others[1].reply("queue.begin")
    #expect(try others[1].reply("append /a").hasPrefix("error code=6018"))
    others[2].finishSending()
    #expect(try others[2].remainingLines() == [])
    for number in 1...10 { #expect(try others[1].reply(line) == "ok pending=\(number)") }
    let last = try daemon.connect()
    try last.reply("queue.begin")
    #expect(try last.reply("append /a").hasPrefix("error code=6018"))
  }

  @Test func closingAPlayerDiscardsItsPendingEdits() throws {
    let (daemon, client, paths) = try connected(1)
    let other = try daemon.connect()
    try client.reply("player.create a")
    #expect(try client.reply("queue.begin player=a") == "ok version=0")
    #expect(try client.reply("append \(paths[0]) player=a") == "ok pending=1")
    try other.reply("player.close a")
    #expect(try client.reply("queue.commit player=a").hasPrefix("error code=1006"))
    try other.reply("player.create a")
    #expect(try client.reply("queue.commit player=a").hasPrefix("error code=1003"))
    #expect(try client.reply("append \(paths[0]) player=a") == "ok items=2 version=1")
    #expect(try client.reply("queue.begin") == "ok version=1", "no edit is open")
    #expect(try client.reply("clear") == "ok pending=1")
    try other.reply("player.close a")
    #expect(try client.reply("queue.commit") == "ok version=2", "the edit of another player is unchanged")
  }

  @Test func shuffledQueuePlaysInItsOrderAndOffRestoresTheOriginal() throws {
    let (daemon, client, paths) = try connected(10, recording: true)
    #expect(try client.reply("shuffle") == "ok shuffle=off version=1")
    try client.send("observe player.shuffle queue.version")
    _ = try (0..<3).map { _ in try client.line() }
    #expect(
      try client.ask("shuffle on seed=42").unnumbered == [
        "* changed id=1 player=main key=queue.version old=1 new=2 cause=request changes=none",
        "* changed id=1 player=main key=player.shuffle old=none new=42 cause=request",
        "ok shuffle=on seed=42 version=2",
      ])
    // A seed shuffles, unless the new state is off.
    #expect(try client.reply("shuffle off") == "ok shuffle=off version=3")
    #expect(try client.reply("shuffle toggle seed=7") == "ok shuffle=on seed=7 version=4")
    #expect(try client.reply("shuffle toggle seed=7") == "ok shuffle=off version=5")
    #expect(try client.reply("shuffle off seed=7").contains("name=bad-arguments"))
    #expect(try client.reply("shuffle seed=9007199254740992").contains("name=bad-arguments"))
    #expect(try client.reply("shuffle seed=42") == "ok shuffle=on seed=42 version=6")
    try client.reply("unobserve 1")
    #expect(try items(client) == ["1", "9", "6", "10", "4", "7", "8", "2", "5", "3"])
    #expect(field("shuffle", try client.reply("status")) == "42")
    try client.reply("play")
    try client.reply("clock.advance 0.25")
    #expect(try client.reply("shuffle off").hasPrefix("ok shuffle=off version="))
    #expect(try items(client) == ["6", "7", "8", "10", "2", "3", "4", "5"])
    #expect(try client.reply("append \(paths[0])").hasPrefix("ok items=11 "))
    try client.reply("clock.advance 1")
    let heard = try daemon.recorded(withSilences: false)
    #expect(heard == [1, 9, 6, 7, 8, 10, 2, 3, 4, 5, 1].map { "\($0)[0..<4800]" }.joined(separator: " "))
  }

  @Test func previousAndJumpChangeTheCurrentItem() throws {
    let (daemon, client, _) = try connected(4, recording: true)
    try client.reply("play")
    try client.reply("clock.advance 0.15")
    #expect(try client.reply("previous") == "ok item=1 version=3")
    try client.reply("clock.advance 0.05")
    #expect(try client.reply("jump 4") == "ok item=4 version=4")
    #expect(
      try client.ask("history").map { field("item", $0) ?? $0 } == ["3", "2", "1", "ok count=3 version=4"])
    try client.reply("clock.advance 0.05")
    #expect(try client.reply("jump 2") == "ok item=2 version=5")
    #expect(try items(client) == ["2", "3", "4"])
    #expect(try client.reply("jump index=1") == "ok item=3 version=6")
    #expect(try client.reply("previous restart-after=3") == "ok item=2 version=7")
    try client.reply("clock.advance 0.5")
    #expect(try client.ask("history limit=1").first?.hasPrefix("| item=4 path=") == true)
    try client.reply("pause")
    #expect(try client.reply("clear").hasPrefix("ok version="))
    #expect(try client.reply("previous").hasPrefix("error code=2004"), "a new queue, a new history")
    let heard = try daemon.recorded(withSilences: false)
    #expect(heard.hasSuffix("2[0..<4800] 3[0..<4800] 4[0..<4800]"), "\(heard)")
    #expect(heard.hasPrefix("1[0..<4800] 2[0..<"), "\(heard)")
  }

  @Test func failuresAreReportedAndCanStopThePlayer() throws {
    let (_, client, paths) = try connected(1)
    #expect(try client.reply("on-failure") == "ok onFailure=skip")
    try client.reply("append /nowhere.wav \(paths[0])")
    try client.send("observe item.events")
    #expect(try client.line()?.unnumbered == "ok id=1")
    try client.reply("play")
    let events = try client.ask("clock.advance 0.5").filter { $0.hasPrefix("* item-skipped") }
    #expect(events.count == 1)
    #expect(
      events.first?.hasPrefix("* item-skipped id=1 player=main item=2 code=2001 name=file-not-found")
        == true, "\(events)")
    #expect(try client.reply("on-failure stop") == "ok onFailure=stop")
    try client.reply("append /nowhere.wav \(paths[0])")
    try client.ask("clock.advance 0.5")
    let status = try client.reply("status")
    #expect(field("rate", status) == "0")
    #expect(field("item", status) == "4")
    #expect(field("onFailure", status) == "stop")
  }
}
