import DaemonTesting
import Testing

/// The protocol: order, IDs, both forms, and invalid input.
@Suite struct ProtocolTests {
  private func connected() throws -> (TestServer, WireClient) {
    let daemon = try InProcessServer()
    return (daemon, try daemon.connect())
  }

  // MARK: - Order

  /// A client that reads its replies is never closed, for any number of requests in one line.
  @Test func repliesToALargeBatchAreLimitedInSize() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    func batch(_ count: Int) -> String {
      "[" + (1...count).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"help"}"# }.joined(separator: ",") + "]"
    }
    // Several batches at once, beyond the size of a client's reply buffer.
    try client.send(batch(1_000), batch(1_000), "ping")
    for _ in 0..<2 {
      let line = try client.line() ?? ""
      #expect(line.utf8.count < 2_097_152)
      #expect(line.ranges(of: #""jsonrpc":"2.0","id":"#).count == 1_000)
      #expect(line.hasPrefix(#"[{"jsonrpc":"2.0","id":1,"result":"#))
      #expect(line.hasSuffix(#""number":6023,"name":"batch-too-large","operation":"help"}}}]"#), "\(line.suffix(200))")
    }
    #expect(try client.line()?.hasPrefix("ok") == true)
    // A small batch gets a complete reply.
    try client.send(batch(20))
    #expect(try client.line()?.contains("6023") == false)
  }

  @Test func repliesAreSentInTheOrderOfRequests() throws {
    let (_, client) = try connected()
    try client.send("@1 ping", "@2 volume", "@3 bogus", "@4 ping")
    #expect(try client.line() == "@1 ok now=0")
    #expect(try client.line() == "@2 ok volume=1")
    #expect(try client.line()?.hasPrefix("@3 error code=6001 name=unknown-command") == true)
    #expect(try client.line() == "@4 ok now=0")
  }

  @Test func waitingRequestWithoutAnIDBlocksLaterRequests() throws {
    let (daemon, client) = try connected()
    let other = try daemon.connect()
    try client.send("wait item=1 timeout=1", "wait ready timeout=1", "ping")
    #expect(try client.line()?.hasPrefix("error code=2004") == true)
    // The request waits for an item, and so does the later ping, but not the other connection.
    #expect(try other.reply("ping").hasPrefix("ok now="))
    try other.reply("clock.advance 2")
    #expect(try client.line()?.hasPrefix("error code=6011") == true)
    #expect(try client.line()?.hasPrefix("ok") == true)
  }

  @Test func waitingRequestWithAnIDBlocksNoOther() throws {
    let (_, client) = try connected()
    try client.send("@w wait ready timeout=1", "@p ping", "@a clock.advance 2")
    #expect(try client.line() == "@p ok now=0")
    #expect(try client.line()?.hasPrefix("@w error code=6011") == true)
    #expect(try client.line() == "@a ok now=2")
  }

  @Test func idIsReusableOnlyAfterItsReply() throws {
    let (_, client) = try connected()
    try client.send("@w wait ready timeout=1", "@w ping")
    #expect(try client.line()?.hasPrefix("@w error code=6006 name=id-in-use") == true)
    #expect(try client.ask("clock.advance 1").first?.hasPrefix("@w error code=6011") == true)
    try client.send("@w ping")
    #expect(try client.line() == "@w ok now=1")
  }

  @Test func requestsAreNotReadWhile256RequestsWait() throws {
    let (daemon, client) = try connected()
    let other = try daemon.connect()
    for number in 0..<256 { try client.send("@\(number) wait ready timeout=\(number == 7 ? 1 : 2)") }
    try client.send("@last ping")
    try other.reply("ping")
    try other.reply("clock.advance 1")
    #expect(try client.line()?.hasPrefix("@7 error code=6011") == true)
    #expect(try client.line() == "@last ok now=1")
  }

  // MARK: - Closing connections

  @Test func halfClosedConnectionGetsAllRepliesBeforeTheEnd() throws {
    let (daemon, client) = try connected()
    try client.send("ping", "@w wait ready timeout=1", "volume")
    try client.send(bytes: Array("mute on".utf8))
    client.finishSending()
    let other = try daemon.connect()
    try other.reply("ping")
    try other.reply("clock.advance 1")
    let lines = try client.remainingLines()
    #expect(lines.prefix(2) == ["ok now=0", "ok volume=1"])
    #expect(lines.last?.hasPrefix("@w error code=6011") == true)
    #expect(lines.count == 3)
    // The line without a line end was dropped.
    #expect(try other.reply("mute") == "ok isMuted=false")
  }

  @Test func allRequestsBeforeAHalfCloseGetReplies() throws {
    let (_, client) = try connected()
    try client.send(bytes: Array(String(repeating: "ping\n", count: 20_000).utf8))
    client.finishSending()
    let lines = try client.remainingLines()
    #expect(lines.count == 20_000)
    #expect(lines.allSatisfy { $0 == "ok now=0" })
  }

  @Test func byeRepliesAndClosesTheConnection() throws {
    let (_, client) = try connected()
    try client.send("@w wait ready", "bye", "mute on")
    let lines = try client.remainingLines()
    #expect(lines.count == 2)
    #expect(lines.first?.hasPrefix("@w error code=6015 name=cancelled") == true)
    #expect(lines.last == "ok")
  }

  @Test func disconnectInTheMiddleOfALineDoesNotAffectOthers() throws {
    let (daemon, client) = try connected()
    do {
      let leaving = try daemon.connect()
      try leaving.send("wait ready")
      try leaving.send(bytes: Array("vol".utf8))
    }
    do { _ = try WireClient(daemon.socket) }
    #expect(try client.reply("ping").hasPrefix("ok now="))
    #expect(try client.reply("volume") == "ok volume=1")
  }

  @Test func requestSentBeforeADisconnectIsCarriedOut() throws {
    let (daemon, client) = try connected()
    do {
      let leaving = try daemon.connect()
      try leaving.send("volume 0.5")
    }
    // The kernel keeps the order within a connection. A request of another connection may overtake it, so ask until it
    // has arrived.
    while try client.reply("volume") != "ok volume=0.5" {}
  }

  /// More than is read in one turn or by one read call.
  @Test func allRequestsSentBeforeADisconnectAreCarriedOut() throws {
    let (daemon, client) = try connected()
    #expect(try client.ask("observe player.volume").last?.hasPrefix("ok") == true)
    var lines = try [client.line() ?? ""]
    do {
      let leaving = try daemon.connect()
      try leaving.send(bytes: Array((String(repeating: "help\n", count: 8_000) + "volume 0.5\n").utf8))
    }
    while lines.last?.contains(" new=0.5 ") != true { lines.append(try #require(try client.line(), "\(lines)")) }
  }

  @Test func silentClientDoesNotBlockOthers() throws {
    let (daemon, client) = try connected()
    let silent = try WireClient(daemon.socket)
    #expect(try client.reply("ping").hasPrefix("ok now="))
    #expect(try silent.line()?.hasPrefix("* hello ") == true)
  }

  /// All entries of a command share its HTTP options.
  @Test func entriesOfOneCommandShareTheirHeader() throws {
    let daemon = try TestDaemon("--clock", "virtual")
    let client = try daemon.connect()
    let before = try daemon.memoryKilobytes()
    let header = String(repeating: "a:\\n", count: 3_000)
    #expect(
      try client.reply("load header=\"\(header)\" \(String(repeating: "/ ", count: 20_000))").hasPrefix("ok items="))
    let grown = try daemon.memoryKilobytes() - before
    print("20,000 entries with 3,000 header fields: +\(grown) kB")
    #expect(grown < 128 << 10)
  }

  // MARK: - Invalid input

  @Test func invalidLinesAreErrorsAndReadingContinues() throws {
    let (_, client) = try connected()
    #expect(try client.reply("seek tomorrow").hasPrefix("error code=1002 name=invalid-time"))
    #expect(try client.reply("seek").hasPrefix("error code=6002 name=bad-arguments"))
    #expect(try client.reply("append \"/a").hasPrefix("error code=6005 name=bad-quoting"))
    #expect(try client.reply("append relative.flac").hasPrefix("error code=6002 name=bad-arguments"))
    for command in ["load", "append", "insert"] {
      for path in [#""""#, "''", "file://", #"/a.flac """#] {
        #expect(
          try client.reply("\(command) \(path)").hasPrefix("error code=6002 name=bad-arguments"), "\(command) \(path)")
      }
      try client.send(#"{"jsonrpc":"2.0","id":1,"method":"\#(command)","params":{"paths":[""]}}"#)
      #expect(try client.line()?.contains(#""number":6002,"name":"bad-arguments""#) == true)
    }
    #expect(try client.reply("list") == "ok count=0 version=0 next=none")
    #expect(
      try client.reply("append gopher://example.org/a.mp3").hasPrefix("error code=2007 name=unsupported-location"))
    try client.send(bytes: Array("append /\u{ff}".utf8.dropLast()) + [0xff, 0x0a])
    #expect(try client.line()?.hasPrefix("error code=6004 name=invalid-utf8") == true)
    #expect(try client.reply("volume 2").hasPrefix("error code=6002"))
    #expect(try client.reply("rate 0.03").hasPrefix("error code=1005 name=unsupported-rate"))
    #expect(try client.reply("play player=unknown").hasPrefix("error code=1006 name=no-such-player"))
    #expect(try client.reply("observe player.nothing").hasPrefix("error code=1009 name=no-such-property"))
    #expect(try client.reply("seek 5").hasPrefix("error code=1004 name=no-current-item"))
    #expect(try client.reply("next").hasPrefix("error code=1004"))
    #expect(try client.reply("remove 1").hasPrefix("error code=2004 name=no-such-item"))
    #expect(try client.reply("ping").hasPrefix("ok now="))
  }

  @Test func overlongLineIsOneErrorAndTheNextLineIsRead() throws {
    let (_, client) = try connected()
    try client.send(bytes: [UInt8](repeating: UInt8(ascii: "x"), count: 70_000) + Array("\nping\n".utf8))
    #expect(try client.line()?.hasPrefix("error code=6003 name=line-too-long") == true)
    #expect(try client.line()?.hasPrefix("ok") == true)
  }

  @Test func mebibyteWithoutALineFeedClosesTheConnection() throws {
    let (daemon, client) = try connected()
    // The line gets one reply, when it is too long. The closing message has the reason, in the same form.
    for (byte, error, closing) in [
      ("x", "error code=6003 name=line-too-long", "* closing code=6003 name=line-too-long"),
      (
        "{", #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"#,
        #"{"jsonrpc":"2.0","method":"closing","params":{"code":6003,"#
      ),
    ] {
      let endless = try daemon.connect()
      try endless.send(bytes: Array(String(repeating: byte, count: 1_100_000).utf8))
      let lines = try endless.remainingLines()
      #expect(lines.count == 2)
      #expect(lines.first?.hasPrefix(error) == true, "\(lines)")
      #expect(lines.last?.hasPrefix(closing) == true, "\(lines)")
    }
    #expect(try client.reply("ping").hasPrefix("ok now="))
  }

  @Test func numbersMayHaveAnExponent() throws {
    let (daemon, client) = try connected()
    try client.reply("load \(try daemon.wave(1, frameCount: 96_000)) wait=ready")
    #expect(field("pts", try client.reply("seek 15e-1")) == "72000/48000")
    #expect(field("pts", try client.reply("seek 1E3ms")) == "48000/48000")
    #expect(try client.reply("volume 5e-1") == "ok volume=0.5")
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"seek","params":{"time":0.15e1}}"#)
    #expect(try client.line()?.contains(#""pts":"72000/48000""#) == true)
    // A whole number has no fraction, and neither does a part of another form.
    for line in ["seek 1e0:30", "seek 48e3/48000"] {
      #expect(try client.reply(line).hasPrefix("error code=1002 name=invalid-time"), "\(line)")
    }
    #expect(try client.reply("item.status 1e0").hasPrefix("error code=6002 name=bad-arguments"))
  }

  @Test func randomBytesGetErrorReplies() throws {
    let (daemon, client) = try connected()
    let noisy = try daemon.connect()
    var state: UInt64 = 88_172_645_463_325_252
    var garbage: [UInt8] = []
    for _ in 0..<40_000 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      garbage.append(UInt8(truncatingIfNeeded: state))
    }
    try noisy.send(bytes: garbage + Array("\nping\n".utf8))
    noisy.finishSending()
    let lines = try noisy.remainingLines()
    #expect(lines.last?.hasPrefix("ok now=") == true)
    #expect(lines.dropLast().allSatisfy { $0.contains("error") })
    #expect(try client.reply("ping").hasPrefix("ok now="))
  }

  // MARK: - JSON

  @Test func jsonRequestsGetJSONReplies() throws {
    let (daemon, client) = try connected()
    let path = try daemon.wave(1, frameCount: 48_000)
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"append","params":{"paths":["\#(path)"],"wait":"ready"}}"#)
    #expect(try client.line() == #"{"jsonrpc":"2.0","id":1,"result":{"items":[1],"version":1,"rows":[]}}"#)
    try client.send(#"{"jsonrpc":"2.0","id":"s","method":"seek","params":{"time":0.5}}"#)
    #expect(
      try client.line()
        == #"{"jsonrpc":"2.0","id":"s","result":{"finished":true,"item":1,"time":0.5,"pts":"24000/48000","requested":0.5,"before":0,"after":0,"exact":true,"clamped":false,"us":0,"hostTime":null}}"#
    )
    try client.send(#"{"jsonrpc":"2.0","id":2,"method":"bogus"}"#)
    #expect(try client.line()?.contains(#""error":{"code":-32601,"#) == true)
    try client.send(#"{"jsonrpc":"2.0","method":"volume","params":{"volume":0.5}}"#, "volume")
    #expect(try client.line() == "ok volume=0.5")
  }

  @Test func jsonEventsAreNotifications() throws {
    let (_, client) = try connected()
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"observe","params":{"keys":"player.rate"}}"#)
    #expect(try client.line()?.hasPrefix(#"{"jsonrpc":"2.0","id":1,"result":{"id":1,"seq":"#) == true)
    #expect(
      try client.line()
        == #"{"jsonrpc":"2.0","method":"changed","params":{"id":1,"player":"main","key":"player.rate","new":0,"cause":"initial","initial":true}}"#
    )
  }

  @Test func batchReplyIsSentWhenItsLastMemberCompletes() throws {
    let (_, client) = try connected()
    try client.send(
      #"[{"jsonrpc":"2.0","id":1,"method":"wait","params":{"conditions":["ready"],"timeout":1}},{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","method":"ping"},7]"#,
      "ping", "clock.advance 1")
    #expect(try client.line()?.hasPrefix("ok") == true)
    let batch = try client.line() ?? ""
    #expect(batch.hasPrefix(#"[{"jsonrpc":"2.0","id":2,"result":{"now":0}},"#))
    #expect(batch.contains(#"{"jsonrpc":"2.0","id":1,"error":{"code":6011,"#))
    #expect(batch.hasSuffix("]"))
    #expect(try client.line() == "ok now=1")
  }

  // MARK: - Subscriptions and players

  @Test func numberOfSubscriptionsIsLimited() throws {
    let (_, client) = try connected()
    for number in 1...1_024 { #expect(try client.reply("tick 1") == "ok id=\(number)") }
    #expect(try client.reply("tick 1").hasPrefix("error code=6008 name=too-many-subscriptions"))
    #expect(try client.reply("untick 3") == "ok")
    #expect(try client.reply("tick 1") == "ok id=1025")
  }

  @Test func numberOfPlayersIsLimitedAndMainCannotBeClosed() throws {
    let (_, client) = try connected()
    for number in 1...63 { #expect(try client.reply("player.create p\(number)") == "ok player=p\(number)") }
    #expect(try client.reply("player.create more").hasPrefix("error code=6014 name=too-many-players"))
    #expect(try client.reply("player.create main").hasPrefix("error code=1007 name=player-exists"))
    try client.reply("volume 0.25 player=main")
    #expect(try client.reply("player.create main if-missing") == "ok player=main")
    #expect(try client.reply("volume player=main") == "ok volume=0.25", "an existing player does not change")
    #expect(try client.reply("player.close main").hasPrefix("error code=1001"))
    #expect(try client.ask("player.list").count == 65)
    #expect(try client.reply("player.close p1") == "ok")
    #expect(try client.reply("player.create more") == "ok player=more")
  }

  @Test func closingAPlayerEndsItsSubscriptionsAndWaits() throws {
    let (_, client) = try connected()
    try client.reply("player.create other")
    #expect(try client.reply("tick 1 player=other") == "ok id=1")
    try client.send("@w wait ready player=other", "player.close other")
    #expect(try client.line() == "* removed id=1 player=other cause=playerClosed")
    #expect(try client.line()?.hasPrefix("@w error code=6012 name=wait-ended") == true)
    #expect(try client.line()?.hasPrefix("ok") == true)
    #expect(try client.reply("untick 1").hasPrefix("error code=1008"))
  }
}
