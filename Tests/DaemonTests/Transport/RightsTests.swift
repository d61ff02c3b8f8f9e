import DaemonTesting
import Foundation
import RigSupport
import Testing

/// The rights of a connection, by its socket and by the user of its peer.
@Suite(.timeLimit(.minutes(3))) struct RightsTests {
  @Test func helloDropsRightsUntilTheConnectionEnds() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    #expect(try client.reply("hello rights=read").hasSuffix(" rights=read"))
    for request in ["play", "bookmark.add 1", "record.prepare /tmp/a.wav", "config.reload"] {
      let reply = try client.reply(request)
      #expect(reply.hasPrefix("error code=6010 name=not-allowed "), "\(request): \(reply)")
    }
    #expect(try client.reply("status").hasPrefix("ok "))
    // Dropped rights do not come back.
    let refusal = try client.reply("hello rights=read,control")
    #expect(refusal.hasPrefix("error code=6010 name=not-allowed "), "\(refusal)")
    #expect(refusal.contains("does not have the right to control (it has: read)"), "\(refusal)")
    #expect(try client.reply("hello").hasSuffix(" rights=read"))
    for rights in ["", "nosuch", "read,", "Read"] {
      let reply = try client.reply("hello rights='\(rights)'")
      #expect(
        reply.hasPrefix("error code=6002 name=bad-arguments ") && reply.contains("(got '\(rights)')"),
        "\(rights): \(reply)")
    }
    #expect(try daemon.connect().reply("hello").hasSuffix(" rights=read,control,write,administer"))
    try daemon.finish()
  }

  @Test func subscriptionsEndWhenHelloDropsTheRightToRead() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    #expect(try client.ask("observe player.volume").last?.hasPrefix("ok id=") == true)
    var event = try client.line() ?? ""
    while !event.hasPrefix("* changed ") { event = try client.line() ?? "* changed " }
    #expect(
      try client.ask("volume 0.25").contains { $0.hasPrefix("* changed ") } || client.line()?.hasPrefix("* ") == true)
    #expect(try client.reply("hello rights=control").hasSuffix(" rights=control"))
    #expect(try client.reply("status").hasPrefix("error code=6010 name=not-allowed "))
    // No event precedes the replies.
    try client.send("volume 0.5", "volume 0.75")
    #expect(try client.line() == "ok volume=0.5")
    #expect(try client.line() == "ok volume=0.75")
    try daemon.finish()
  }

  @Test func waitingRequestsThatNeedADroppedRightFail() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 48_000)
    #expect(try client.reply("load \(path) wait=ready").hasPrefix("ok"))
    try client.send("@e wait status=playing", "@x play-at +0.5 main", "hello rights=read")
    let lines = try (0..<2).map { _ in try client.line() ?? "" }
    #expect(lines.contains { $0.hasPrefix("@x error code=6010 name=not-allowed ") }, "\(lines)")
    #expect(lines.contains { $0.hasSuffix(" rights=read") }, "\(lines)")
    // The other request still waits.
    let driver = try daemon.connect()
    try driver.reply("play")
    try driver.reply("clock.advance 0.1")
    #expect(try client.line()?.hasPrefix("@e ok") == true)
    try daemon.finish()
  }

  @Test func reloadDoesNotRestoreDroppedRights() throws {
    let folder = try TemporaryDirectory("daemon")
    let path = try folder.write("a.toml", Array("[limits]\nplayers = 3\n".utf8))
    let daemon = try TestDaemon(["--config", path, "--output", "null", "--no-state"], folder: folder)
    let (client, administrator) = (try daemon.connect(), try daemon.connect())
    #expect(try client.reply("hello rights=read").hasSuffix(" rights=read"))
    try folder.write("a.toml", Array("[limits]\nplayers = 4\n".utf8))
    #expect(try administrator.reply("config.reload").hasPrefix("ok changed=limits.players"))
    #expect(try client.reply("hello").hasSuffix(" rights=read"))
    #expect(try client.reply("play").hasPrefix("error code=6010 name=not-allowed "))
  }

  @Test func watchSocketAllowsReadingOnly() throws {
    let daemon = try InProcessServer()
    let driver = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 48_000)
    // All properties of the item are loaded, so nothing changes by itself any more.
    for request in ["load \(path)", "play", "clock.advance 0.1", "pause", "item.metadata 1"] {
      #expect(try driver.reply(request).hasPrefix("ok"), "\(request)")
    }
    let watcher = try daemon.connect(at: daemon.folder.file("watch.sock"))
    #expect(Files.mode(daemon.folder.file("watch.sock")) == S_IFSOCK | 0o600)
    #expect(
      try watcher.reply("hello")
        == driver.reply("hello").replacingOccurrences(of: ",control,write,administer", with: ""))
    for request in [
      "ping", "status", "list", "item.status 1", "item.metadata 1", "history", "player.list", "output.list",
      "output.status", "stats",
      "session.status", "help load", "playlist.export format=m3u8", "wait ready", "observe player.rate", "tick 0.5",
      "meter",
    ] {
      let reply = try watcher.reply(request)
      print("watch: \(request): \(reply)")
      #expect(reply.hasPrefix("ok"), "\(request): \(reply)")
    }
    let before = try [driver.reply("status"), driver.ask("list").joined()]
    for request in [
      "play", "pause", "stop", "toggle", "seek 0.5", "rate 2", "volume 0.5", "mute on", "load \(path)",
      "append \(path) wait=ready", "clear", "remove 1", "next", "jump 1", "shuffle on", "queue.begin", "queue.commit",
      "queue.edit clear", "item.volume 1 0.5", "item.copy 1", "asset.open \(path)", "asset.load 1 tracks",
      "scan \(path)", "player.create a", "player.close main", "clock.advance 1", "play-at now main", "on-failure skip",
      "session.category playback", "session.active off", "session.resume", "session.policy timeout=1",
      "item.end-time 1 forward=none", "item.volume 1 clear", "media-selection automatic=on", "output.set null",
      "item.artwork 1 file=\(daemon.folder.file("x.png"))", "image \(path) 0 file=\(daemon.folder.file("x.png"))",
    ] {
      let reply = try watcher.reply(request)
      print("watch: \(request): \(reply)")
      #expect(
        reply.hasPrefix("error code=6010 name=not-allowed message=\"the request needs the right to "),
        "\(request): \(reply)")
    }
    try watcher.send("@x seek 0.5")
    #expect(try watcher.line()?.hasPrefix("@x error code=6010 name=not-allowed") == true)
    try watcher.send(#"{"jsonrpc":"2.0","id":1,"method":"play"}"#, #"{"jsonrpc":"2.0","id":2,"method":"status"}"#)
    try watcher.send(
      #"[{"jsonrpc":"2.0","id":3,"method":"volume","params":{"volume":0.5}},{"jsonrpc":"2.0","id":4,"method":"ping"}]"#)
    let replies = try (0..<3).map { _ in try watcher.line() ?? "" }
    #expect(replies[0].hasPrefix(#"{"jsonrpc":"2.0","id":1,"error":{"code":6010,"#), "\(replies)")
    #expect(replies[1].hasPrefix(#"{"jsonrpc":"2.0","id":2,"result":{"#), "\(replies)")
    #expect(
      replies[2].contains(#""id":3,"error":{"code":6010,"#) && replies[2].contains(#""id":4,"result""#), "\(replies)")
    #expect(try [driver.reply("status"), driver.ask("list").joined()] == before)
    #expect(try driver.ask("player.list").count == 2)
    // The watcher sees the driver's changes.
    try driver.reply("rate-at 2 now")
    try driver.reply("play")
    var line = try watcher.line() ?? ""
    while !line.hasPrefix("* changed ") { line = try watcher.line() ?? "* changed never" }
    #expect(line.contains("rate"), "\(line)")
    try daemon.finish()
    #expect(Files.mode(daemon.folder.file("watch.sock")) == nil)
  }

  /// Commands for clients that may only watch. A new command in this list must change nothing, and needs an entry here.
  private static let watching: Set<String> = [
    "at", "at-chapters", "bookmark.list", "bye", "cancel", "events", "explain", "hello", "help", "history",
    "item.artwork", "item.chapters", "item.log", "item.metadata", "item.selection", "item.status", "item.tracks",
    "list", "meter", "observe",
    "output.list", "output.status", "ping", "player.list", "playlist.export", "queue.changes", "queue.saved",
    "record.list",
    "record.status", "record.unwatch", "record.watch", "rpc.discover", "session.status", "state", "stats", "status",
    "tick", "unmeter",
    "unobserve", "untick", "wait",
  ]

  /// A request for each command by its name, from its section in the reference, without the ID.
  private static func examples() throws -> [String: String] {
    var (examples, section): ([String: String], String) = ([:], "")
    for line in try ProtocolReference.commands().split(separator: "\n") {
      if line.hasPrefix("## `") { section = String(line.dropFirst(4).prefix { $0 != "`" }) }
      let words = line.split(separator: " ").dropFirst().drop { $0.hasPrefix("@") }
      guard line.hasPrefix("> "), words.first.map(String.init) == section, examples[section] == nil else { continue }
      examples[section] = words.joined(separator: " ")
    }
    return examples
  }

  /// `help` states the required right of every command. The server enforces that right: it rejects the example of each
  /// command that is not for watching.
  @Test func helpReportsTheRequiredRightOfEveryCommand() throws {
    let daemon = try InProcessServer()
    let watcher = try daemon.connect(at: daemon.folder.file("watch.sock"))
    var rights: [String: String] = [:]
    for row in try watcher.ask("help").dropLast() {
      let name = try #require(field("command", row))
      rights[name] = field("right", try watcher.ask("help \(name)").first ?? "")
    }
    #expect(Set(rights.filter { $0.value == "read" }.keys) == Self.watching)
    let examples = try Self.examples()
    #expect(examples.count > 60 && Set(examples.keys).isSuperset(of: rights.keys))
    for (name, right) in rights.sorted(by: { $0.key < $1.key }) where !Self.watching.contains(name) {
      #expect(["control", "write", "administer"].contains(right), "\(name): \(right)")
      let request = try #require(examples[name], "\(name) has no example")
      let reply = try watcher.reply(request)
      print("right: \(name): \(right): \(request): \(reply)")
      #expect(
        reply.hasPrefix("error code=6010 name=not-allowed message=\"the request needs the right to \(right)"),
        "\(request): \(reply)")
    }
  }

  /// A command that sets a value only reads it without an argument, which requires only the right to read.
  @Test func readRightAllowsReadingSettings() throws {
    let daemon = try InProcessServer()
    let driver = try daemon.connectWithQueue(count: 1)
    let watcher = try daemon.connect(at: daemon.folder.file("watch.sock"))
    var (names, section): ([String], String) = ([], "")
    for line in try ProtocolReference.commands().split(separator: "\n") {
      if line.hasPrefix("## `") { section = String(line.dropFirst(4).prefix { $0 != "`" }) }
      if line == "Right: `control`; without a value `read`." { names.append(section) }
    }
    #expect(names.count == 29, "\(names)")
    let version = try driver.reply("list")
    for name in names {
      let request = name.hasPrefix("item.") ? "\(name) 1" : name
      let (reply, expected) = (try watcher.ask(request), try driver.ask(request))
      print("read: \(request): \(reply)")
      #expect(reply.last?.hasPrefix("ok ") == true && reply == expected, "\(request): \(reply)")
    }
    #expect(try watcher.reply("media-selection audible").hasPrefix("ok"))
    #expect(try driver.reply("list") == version)
  }

  /// Only root can start a process of another user.
  @Test(.enabled(if: geteuid() == 0)) func handedOverDescriptorsBelongToTheirUser() throws {
    let daemon = try TestDaemon("--output", "null", "--allow-uid", "65534")
    let path = try daemon.wave(1, frameCount: 4_800)
    chmod(daemon.folder.path, 0o755)
    chmod(daemon.socket, 0o666)
    let file = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    let token = try daemon.passDescriptor(file)
    let peer = try Program(
      "setpriv",
      [
        "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c",
        "printf 'hello\\nload \(token) wait=ready\\nload \(path) wait=ready\\n' | socat -t 10 - UNIX-CONNECT:\(daemon.socket)",
      ]
    ).waitForEnd()
    let lines = peer.output.split(separator: "\n").map(String.init)
    #expect(lines.contains { $0.hasSuffix(" rights=read,control") }, "\(lines)")
    #expect(lines.contains { $0.hasPrefix("error code=2051 name=no-such-descriptor") }, "\(lines)")
    // The descriptor is still available for its owner, and is then used up.
    let client = try daemon.connect()
    #expect(try client.reply("load \(token) wait=ready").hasPrefix("ok items="))
    #expect(try client.reply("append \(token) wait=ready").hasPrefix("error code=2051"))
    // A token is 128 random bits: one with a different digit is invalid.
    let other = try daemon.passDescriptor(file)
    let wrong = String(other.dropLast()) + (other.hasSuffix("0") ? "1" : "0")
    #expect(try client.reply("append \(wrong) wait=ready").hasPrefix("error code=2051"))
    #expect(try client.reply("append \(other) wait=ready").hasPrefix("ok items="))
  }

  /// A client that connects and sends nothing delays no other client, and is disconnected.
  @Test func silentHandoffConnectionsDoNotBlockOthers() throws {
    let daemon = try TestDaemon("--output", "null")
    let path = try daemon.wave(1, frameCount: 480)
    let file = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    // Three times the maximum: the oldest connections are closed at once, with a message.
    let silent = try (0..<48).map { _ in try daemon.connectToHandoff() }
    defer { for descriptor in silent { close(descriptor) } }
    _ = try daemon.passDescriptor(file)
    var reply = [UInt8](repeating: 0, count: 1_024)
    let count = recv(silent[0], &reply, reply.count, 0)
    #expect(
      String(decoding: reply.prefix(max(0, count)), as: UTF8.self).hasPrefix(
        #"error code=2050 name=not-readable message="closed: more than 16 pending connections""#))
  }

  @Test func numberOfDescriptorsInQueuesIsLimited() throws {
    // In a process of its own: the limit is for all descriptors of a process, and other tests pass some meanwhile.
    let daemon = try TestDaemon("--output", "null")
    let client = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 480)
    let file = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    for _ in 0..<256 { #expect(try client.reply("append \(daemon.passDescriptor(file))").hasPrefix("ok items=")) }
    #expect(try daemon.passDescriptors([file]).hasPrefix("error code=2052 name=too-many-descriptors"))
    // A removed entry frees a slot as soon as it is not being opened any more.
    try client.reply("remove 200")
    var reply = ""
    for _ in 1...100_000 {
      reply = try daemon.passDescriptors([file])
      if reply.hasPrefix("ok") { break }
    }
    let token = try #require(field("path", reply), "\(reply)")
    #expect(try client.reply("append \(token)").hasPrefix("ok items="))
  }

  @Test func closingALingeringSocketDoesNotBlockTheDaemon() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let (handed, other) = try Self.connectedPair()
    defer { close(other) }
    // Unread data fills the connection; closing it would wait an hour for the data to be read.
    var lingers = linger(l_onoff: 1, l_linger: 3_600)
    setsockopt(handed, SOL_SOCKET, SO_LINGER, &lingers, socklen_t(MemoryLayout<linger>.size))
    let bytes = [UInt8](repeating: 0, count: 65_536)
    while send(handed, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
    let token = try daemon.passDescriptor(handed)
    close(handed)
    let opened = try client.reply("asset.open \(token)")
    #expect(opened.hasPrefix("ok"), "\(opened)")
    try client.reply("asset.close 1")
    #expect(try client.reply("ping").hasPrefix("ok now="))
  }

  @Test func readRightDoesNotLoadTags() throws {
    let daemon = try InProcessServer()
    let driver = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 48_000)
    try driver.reply("append \(path) \(path)")
    let watcher = try daemon.connect(at: daemon.folder.file("watch.sock"))
    for request in ["item.metadata 2", "item.artwork 2", "item.artwork 2 index=0 offset=0"] {
      let reply = try watcher.reply(request)
      #expect(reply.hasPrefix("error code=6010 name=not-allowed"), "\(request): \(reply)")
    }
    #expect(try driver.reply("item.metadata 2").hasPrefix("ok"))
    #expect(try watcher.reply("item.metadata 2").hasPrefix("ok"))
  }

  @Test func costOfSubscriptionsIsLimitedForAllConnections() throws {
    let daemon = try InProcessServer()
    let rejection = "error code=6008 name=too-many-subscriptions"
    var clients: [WireClient] = []
    for _ in 0..<3 {
      let client = try daemon.connect(at: daemon.folder.file("watch.sock"))
      for _ in 0..<10 { #expect(try client.reply("tick 0.001").hasPrefix("ok")) }
      #expect(try client.reply("tick 0.001").hasPrefix(rejection))
      #expect(try client.reply("meter 20").hasPrefix(rejection))
      clients.append(client)
    }
    // Together they use all ticks of connections without the right to control: a quarter is reserved for others.
    #expect(try daemon.connect(at: daemon.folder.file("watch.sock")).reply("tick 1").hasPrefix(rejection))
    let owner = try daemon.connect()
    for _ in 0..<10 { #expect(try owner.reply("tick 0.001").hasPrefix("ok")) }
    // All connections together have the maximum.
    let other = try daemon.connect()
    #expect(try other.reply("tick 1").hasPrefix(rejection))
    #expect(try clients[0].reply("untick 1").hasPrefix("ok"))
    #expect(try other.reply("tick 1").hasPrefix("ok"))
    let times = (0..<10_000).map { "\($0)" }.joined(separator: " ")
    #expect(try other.reply("at \(times)").hasPrefix("ok"))
    #expect(try other.reply("at \(times)").hasPrefix("ok"))
    #expect(try other.reply("at 1").hasPrefix(rejection))
    #expect(try other.reply("observe *").hasPrefix("ok"))
    #expect(try other.reply("status").hasPrefix("ok"))
  }

  /// The two ends of a TCP connection.
  private static func connectedPair() throws -> (Int32, Int32) {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let listener = socket(AF_INET, kind, 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var byteCount = socklen_t(MemoryLayout<sockaddr_in>.size)
    return try withUnsafeMutablePointer(to: &address) { pointer in
      try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        try #require(bind(listener, address, byteCount) == 0 && listen(listener, 1) == 0)
        try #require(getsockname(listener, address, &byteCount) == 0)
        let connected = socket(AF_INET, kind, 0)
        try #require(connect(connected, address, byteCount) == 0)
        return (connected, accept(listener, nil, nil))
      }
    }
  }
}
