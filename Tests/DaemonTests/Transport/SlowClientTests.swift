import DaemonTesting
import Glibc
import RigSupport
import Testing

/// Many clients, including slow and hostile ones: playback and other clients are not affected.
@Suite struct SlowClientTests {
  @Test func thousandClientsAreServedWithEveryTickWhileOthersMisbehave() throws {
    raiseDescriptorLimit()
    let daemon = try TestDaemon.recording()
    let driver = try daemon.connect()
    try driver.reply("load \(try daemon.wave(1, frameCount: 240_000)) wait=ready")
    let idle = try (0..<800).map { _ in try daemon.connect() }
    let watchers = try (0..<200).map { _ in try daemon.connect() }
    for watcher in watchers { #expect(try watcher.reply("tick 0.1") == "ok id=1") }
    // These clients do not read, and get far more data than fits in their sockets.
    let silent = try (0..<5).map { _ in try daemon.connect() }
    for client in silent { try client.send("observe *", "tick 0.001", "meter 100") }
    var endless = try daemon.connect()
    let dripping = try daemon.connect()
    var drops: [UInt8] = []
    let noise = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16)
    #expect(field("connections", try driver.reply("stats")) == "1008")
    try driver.reply("play")
    for step in 0..<60 {
      #expect(try driver.reply("clock.advance 0.1").hasPrefix("ok now="))
      // A line without an end, and another one after the daemon has closed the connection.
      for _ in 0..<4 { try endless.send(bytes: noise) }
      if step % 5 == 4 {
        #expect(try endless.remainingLines().last?.hasPrefix("* closing code=6003 name=line-too-long") == true)
        endless = try daemon.connect()
      }
      if drops.isEmpty { drops = Array("ping\n".utf8) }
      try dripping.send(bytes: [drops.removeFirst()])
      for _ in 0..<5 { _ = try WireClient(daemon.socket) }
    }
    // Each gets exactly the same events.
    var tickLists: Set<[String]> = []
    for watcher in watchers {
      tickLists.insert(try watcher.ask("ping").filter { $0.hasPrefix("* tick ") && field("reason", $0) == "periodic" })
    }
    let ticks = try #require(tickLists.first)
    #expect(tickLists.count == 1)
    #expect(ticks.compactMap { field("time", $0) } == (1...50).map { "\(Double($0) / 10)".replacing(".0", with: "") })
    dripping.finishSending()
    let pings = try dripping.remainingLines()
    #expect(pings.count == 12 && pings.allSatisfy { $0.hasPrefix("ok now=") }, "\(pings)")
    #expect(try idle.allSatisfy { try $0.reply("ping").hasPrefix("ok now=") })
    #expect(try driver.reply("ping").hasPrefix("ok now="))
    let memory = try daemon.memoryKilobytes()
    print("slow clients | 1,008 connections | 5 never read | memory \(memory) kB")
    #expect(try daemon.recorded() == "1[0..<240000]")
  }

  /// On the system's clock: the duration does not matter, only that this client is closed and no other.
  @Test(.timeLimit(.minutes(1))) func clientThatDoesNotReadIsDisconnectedOnTheSystemClock() throws {
    let folder = try TemporaryDirectory("daemon")
    let path = try folder.write("a.toml", Array("[limits]\nunread-seconds = 1\n".utf8))
    let daemon = try TestDaemon(["--config", path, "--output", "null", "--no-state"], folder: folder)
    let driver = try daemon.connect()
    try driver.reply("load \(try daemon.wave(1, frameCount: 480_000)) wait=ready")
    try driver.reply("repeat one")
    let silent = try daemon.connect()
    for _ in 0..<10 { try silent.send("tick 0.001") }
    try driver.reply("play")
    // It gets more data than its socket holds, and reads nothing. A client that reads is served all the while.
    try silent.waitForHangUp()
    #expect(field("connections", try driver.reply("stats")) == "1")
  }

  /// Clients that may only watch cannot use all connections: the last 64 of 512 are reserved for the control socket.
  @Test func lastConnectionsAreReservedForTheOwnerOfTheControlSocket() throws {
    raiseDescriptorLimit()
    let folder = try TemporaryDirectory("daemon")
    let path = try folder.write("a.toml", Array("[limits]\nconnections = 512\n".utf8))
    let daemon = try TestDaemon(["--config", path, "--clock", "virtual"], folder: folder)
    let watch = folder.file("watch.sock")
    let watchers = try (0..<448).map { _ in try daemon.connect(at: watch) }
    func rejection(_ socket: String) throws -> String? { try WireClient(socket).line() }
    let reservation = "of which 64 are reserved for the daemon's user)\""
    #expect(try rejection(watch)?.hasPrefix("* closing code=6007 name=too-many-connections") == true)
    #expect(try rejection(watch)?.contains(reservation) == true)
    let ownerClients = try (0..<64).map { _ in try daemon.connect() }
    let beyond = try rejection(daemon.socket)
    #expect(
      beyond?.hasPrefix("* closing code=6007") == true && beyond?.contains(reservation) == false, "\(beyond ?? "")")
    for client in [ownerClients.last, watchers.last] {
      #expect(try client?.reply("ping").hasPrefix("ok now=") == true)
    }
  }

  @Test func onlyAClientThatNeverReadsIsDisconnectedAfterAMinute() throws {
    let daemon = try TestDaemon("--clock", "virtual")
    let driver = try daemon.connect()
    try driver.reply("load \(try daemon.wave(1, frameCount: 480_000)) wait=ready")
    let (silent, slow) = (try daemon.connect(), try daemon.connect())
    for client in [silent, slow] { try client.send("tick 0.001", "tick 0.001") }
    try driver.reply("play")
    // 20,000 ticks: more than their sockets hold.
    try driver.reply("clock.advance 10")
    #expect(field("connections", try driver.reply("stats")) == "3")
    try driver.reply("clock.advance 45")
    for _ in 0..<10_000 { _ = try slow.line() }
    try driver.reply("clock.advance 14")
    #expect(field("connections", try driver.reply("stats")) == "3")
    try driver.reply("clock.advance 2")
    try silent.waitForHangUp()
    #expect(field("connections", try driver.reply("stats")) == "2")
    #expect(try slow.reply("ping").hasPrefix("ok now="))
  }

  @Test(arguments: ["bye", "half-close"])
  func endingClientThatDoesNotReadIsDisconnected(_ ending: String) throws {
    let daemon = try TestDaemon("--clock", "virtual")
    let driver = try daemon.connect()
    let silent = try daemon.connect()
    // More than its socket holds, and less than the limit at which it is closed immediately.
    for _ in 0..<100 { try silent.send("help") }
    if ending == "bye" { try silent.send("bye") } else { silent.finishSending() }
    #expect(field("connections", try driver.reply("stats")) == "2")
    for _ in 0..<3 { try driver.reply("clock.advance 61") }
    try silent.waitForHangUp()
    #expect(field("connections", try driver.reply("stats")) == "1")
  }

  /// The cost of a client that does not read is measured in processor time: repeated attempts to write would use all of
  /// it.
  @Test func clientsThatDoNotReadUseNoProcessorTime() throws {
    let daemon = try TestDaemon("--output", "null")
    let client = try daemon.connect()
    let greedy = try (0..<5).map { _ in try daemon.connect() }
    let requests = Array(String(repeating: "help\n", count: 2_000).utf8)
    for greedy in greedy {
      var sent = 0
      while true {
        let count = greedy.sendWithoutBlocking(Array(requests.dropFirst(sent % requests.count)))
        #expect(try client.reply("ping").hasPrefix("ok now="))
        if count == 0 { break }
        sent += count
      }
    }
    // All data that fits has been sent.
    try client.reply("wait ready timeout=0.2")
    let before = try daemon.processorNanoseconds()
    #expect(try client.reply("wait ready timeout=1").hasPrefix("error code=6011 name=timed-out"))
    let used = try daemon.processorNanoseconds() - before
    print("slow clients | 5 do not read | processor time of a second: \(used / 1_000) µs")
    #expect(used < 200_000_000)
  }

  @Test func subscriptionEndsWithItsConnection() throws {
    let daemon = try TestDaemon("--clock", "virtual")
    let driver = try daemon.connect()
    try driver.reply("load \(try daemon.wave(1, frameCount: 480_000)) wait=ready")
    try driver.reply("play")
    func eventsOfASecond() throws -> Int {
      let before = Int(field("events", try driver.reply("stats")) ?? "") ?? 0
      try driver.reply("clock.advance 1")
      return (Int(field("events", try driver.reply("stats")) ?? "") ?? 0) - before
    }
    #expect(try eventsOfASecond() == 0)
    for (number, ending) in ["closed", "bye"].enumerated() {
      var watcher: WireClient? = try daemon.connect()
      for request in ["observe *", "tick 0.01", "at 0.5", "meter 20"] { try watcher?.reply(request) }
      #expect(try eventsOfASecond() >= 100)
      if ending == "bye" { #expect(try watcher?.ask("bye").last == "ok") }
      watcher = nil
      // A connection ends when the daemon has detected it.
      while field("connections", try driver.reply("stats")) != "1" {}
      #expect(try eventsOfASecond() == 0, "\(number): \(ending)")
    }
  }
}
