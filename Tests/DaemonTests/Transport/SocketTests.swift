import DaemonTesting
import Glibc
import RigSupport
import Testing

/// The socket file, the clients that may connect, and their number.
@Suite struct SocketTests {
  @Test func folderAndSocketAreAccessibleToTheUserOnly() throws {
    let runtime = try TemporaryDirectory("runtime")
    let old = umask(0)
    let daemon = try Program(
      Executables.playheadd, ["--no-state", "--output", "null"],
      environment: ["XDG_RUNTIME_DIR": runtime.path, "PLAYHEAD_SOCKET": nil])
    umask(old)
    let socket = runtime.file("playhead/control.sock")
    #expect(try daemon.waitForLine() == "playheadd ready socket=\(socket)")
    #expect(Files.mode(runtime.file("playhead")) == S_IFDIR | 0o700)
    #expect(Files.mode(socket) == S_IFSOCK | 0o600)
    #expect(Files.mode(socket + ".lock") == S_IFREG | 0o600)
    daemon.signal(SIGTERM)
    #expect(try daemon.waitForEnd().status == 0)
  }

  /// The control socket accepts connections first and sends its greetings last. A client that has read the greeting can
  /// connect to the other sockets.
  @Test func otherSocketsExistBeforeTheGreeting() throws {
    for _ in 0..<5 {
      let folder = try TemporaryDirectory("greeting")
      let socket = folder.file("control.sock")
      let watch = inotify_init1(Int32(IN_CLOEXEC))
      defer { close(watch) }
      inotify_add_watch(watch, folder.path, UInt32(IN_CREATE))
      let daemon = try Program(
        Executables.playheadd, ["--no-state", "--output", "null", "--socket", socket])
      while Files.mode(socket) == nil {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        _ = read(watch, &buffer, buffer.count)
      }
      // Refused between bind(2) and listen(2).
      var client: WireClient?
      while client == nil { client = try? WireClient(socket) }
      #expect(try client?.line()?.contains("playhead") == true)
      #expect(Files.mode(folder.file("watch.sock")) == S_IFSOCK | 0o600)
      #expect(Files.mode(folder.file("handoff.sock")) == S_IFSOCK | 0o600)
      daemon.signal(SIGTERM)
      #expect(try daemon.waitForEnd().status == 0)
    }
  }

  @Test func missingFolderOfANamedSocketIsNotCreated() throws {
    let folder = try TemporaryDirectory("socket")
    for (arguments, environment) in [
      (["--socket", folder.file("no/such.sock")], [:]), ([], ["PLAYHEAD_SOCKET": folder.file("no/such.sock")]),
    ] as [([String], [String: String?])] {
      let outcome = try Program(
        Executables.playheadd, ["--no-state", "--output", "null"] + arguments, environment: environment
      ).waitForEnd()
      #expect(outcome.status == 1)
      #expect(outcome.output == "")
      #expect(
        outcome.errors.contains("the folder \(folder.file("no")) for the socket does not exist"), "\(outcome.errors)")
      #expect(Files.mode(folder.file("no")) == nil)
    }
  }

  /// A daemon that cannot play and has no device to wait for does not start, and leaves no files.
  @Test(arguments: ["wav:", "pipe:"], ["real", "virtual"])
  func unwritableOutputIsAnErrorAtStart(kind: String, clock: String) throws {
    let folder = try TemporaryDirectory("output")
    let socket = folder.file("control.sock")
    // A missing folder, and a path that is neither a file nor a FIFO.
    for path in [folder.file("no/such"), folder.path] {
      let outcome = try Program(
        Executables.playheadd, ["--no-state", "--socket", socket, "--clock", clock, "--output", kind + path]
      ).waitForEnd()
      #expect(outcome.status == 1)
      #expect(outcome.output == "")
      #expect(outcome.errors.hasPrefix("playheadd: "), "\(outcome.errors)")
      #expect(outcome.errors.contains(path))
      #expect(Files.mode(socket) == nil)
      #expect(Files.mode(socket + ".lock") == nil)
      #expect(Files.mode(folder.file("no")) == nil)
    }
  }

  @Test func secondDaemonDoesNotChangeTheOutputFileOfTheFirst() throws {
    let folder = try TemporaryDirectory("output")
    let path = folder.file("out.wav")
    let daemon = try TestDaemon("--clock", "virtual", "--output", "wav:\(path)", folder: folder)
    let client = try daemon.connect()
    try client.reply("load \(try daemon.wave(1, frameCount: 4_800)) wait=ready")
    try client.reply("play")
    try client.reply("clock.advance 1")
    let second = try Program(
      Executables.playheadd, ["--no-state", "--socket", daemon.socket, "--output", "wav:\(path)"]
    ).waitForEnd()
    #expect(second.status == 1)
    #expect(try daemon.recorded() == "1[0..<4800]")
  }

  @Test func stoppingIsLoggedWithItsReason() throws {
    for (signal, name) in [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")] {
      let daemon = try TestDaemon("--output", "null", "--log-level", "info")
      daemon.process.signal(signal)
      let outcome = try daemon.process.waitForEnd()
      #expect(outcome.status == 0)
      let line = outcome.errors.split(separator: "\n").first { $0.contains("stopping") }
      #expect(line?.contains(" info playhead.daemon: ") == true, "\(outcome.errors)")
      #expect(line?.contains("signal=\(name)") == true, "\(outcome.errors)")
    }
  }

  @Test func stoppingRemovesTheSocketAndNotifiesAllClients() throws {
    for signal in [SIGTERM, SIGINT] {
      let daemon = try TestDaemon("--output", "null")
      let client = try daemon.connect()
      try client.send("@w wait ready")
      let silent = try daemon.connect()
      #expect(try daemon.connect().reply("ping").hasPrefix("ok now="))
      daemon.process.signal(signal)
      let outcome = try daemon.process.waitForEnd()
      #expect(outcome.status == 0)
      let lines = try client.remainingLines()
      #expect(lines.first?.hasPrefix("@w error code=6017 name=shutting-down") == true)
      #expect(lines.last?.hasPrefix("* closing code=6017 name=shutting-down") == true)
      #expect(try silent.remainingLines().last?.hasPrefix("* closing code=6017") == true)
      #expect(Files.mode(daemon.socket) == nil)
      #expect(Files.mode(daemon.socket + ".lock") == nil)
    }
  }

  @Test func secondDaemonOnTheSamePathFailsAndTheFirstContinues() throws {
    let daemon = try TestDaemon("--output", "null")
    let second = try Program(Executables.playheadd, ["--no-state", "--socket", daemon.socket, "--output", "null"])
      .waitForEnd()
    #expect(second.status == 1)
    #expect(second.errors.contains("another playheadd listens at \(daemon.socket)"))
    #expect(try daemon.connect().reply("ping").hasPrefix("ok now="))
  }

  @Test func staleSocketIsReplaced() throws {
    let daemon = try TestDaemon("--output", "null")
    daemon.process.signal(SIGKILL)
    #expect(try daemon.process.waitForEnd().status == 128 + SIGKILL)
    #expect(Files.mode(daemon.socket) == S_IFSOCK | 0o600)
    let next = try TestDaemon("--output", "null", folder: daemon.folder)
    #expect(try next.connect().reply("ping").hasPrefix("ok now="))
  }

  @Test func socketOfAnotherProgramIsNotReplaced() throws {
    let daemon = try TestDaemon("--output", "null")
    // Without its lock file it looks like another program's socket.
    unlink(daemon.socket + ".lock")
    let second = try Program(Executables.playheadd, ["--no-state", "--socket", daemon.socket, "--output", "null"])
      .waitForEnd()
    #expect(second.status == 1)
    #expect(try daemon.connect().reply("ping").hasPrefix("ok now="))
  }

  @Test func fileThatIsNotASocketIsNotReplaced() throws {
    let folder = try TemporaryDirectory("socket")
    let path = try folder.write("precious", Array("data".utf8))
    for occupiedPath in [path, folder.path] {
      let outcome = try Program(Executables.playheadd, ["--no-state", "--socket", occupiedPath, "--output", "null"])
        .waitForEnd()
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("is not a socket"))
    }
    #expect(try Files.read(path) == Array("data".utf8))
  }

  @Test func invalidCommandLineGivesStatus2() throws {
    for arguments in [
      ["--output", "nonsense"], ["--bogus"], ["--clock", "virtual", "--output", "pulse"], ["--log-level", "loud"],
      ["--socket", ""], ["--output", "wav:"], ["--output", "pipe:,rate=48000"],
    ] {
      #expect(try Program(Executables.playheadd, arguments).waitForEnd().status == 2, "\(arguments)")
    }
    let version = try Program(Executables.playheadd, ["--version"]).waitForEnd()
    #expect(version.status == 0)
    #expect(version.output.hasPrefix("playheadd "))
  }

  /// Only root can start a process of another user; otherwise there is no such peer.
  @Test(.enabled(if: geteuid() == 0)) func otherUserIsRejectedUnlessAllowed() throws {
    for (options, isAllowed) in [([], false), (["--allow-uid", "65534"], true)] {
      let folder = try TemporaryDirectory("peers")
      let socket = folder.file("control.sock")
      let daemon = try Program(Executables.playheadd, ["--no-state", "--socket", socket, "--output", "null"] + options)
      #expect(try daemon.waitForLine() != nil)
      // The modes alone would exclude the other user, so they are opened: only the check of the peer remains.
      chmod(folder.path, 0o755)
      chmod(socket, 0o666)
      let peer = try Program(
        "setpriv",
        [
          "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c",
          "printf 'asset.open /x\\nasset.artwork 1 file=\(folder.file("x.png"))\\nping\\n'"
            + " | socat -t 10 - UNIX-CONNECT:\(socket)",
        ]
      ).waitForEnd()
      let lines = peer.output.split(separator: "\n")
      if isAllowed {
        #expect(lines.last?.hasPrefix("ok now=") == true)
        // The file would be written as the daemon's user.
        #expect(lines.contains { $0.hasPrefix("error code=6010 name=not-allowed") })
      } else {
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("* closing code=6010 name=not-allowed") == true)
      }
      daemon.signal(SIGTERM)
      #expect(try daemon.waitForEnd().status == 0)
    }
  }

  @Test func connectionsBeyondTheLimitAreClosedWithAReason() throws {
    let folder = try TemporaryDirectory("socket")
    let socket = folder.file("control.sock")
    // Limits cannot be raised beyond the process's maximum: 128 descriptors are for files.
    let daemon = try Program(
      "prlimit", ["--nofile=384:384", Executables.playheadd, "--no-state", "--socket", socket, "--output", "null"])
    #expect(try daemon.waitForLine() == "playheadd ready socket=\(socket)")
    let clients = try (0..<300).map { _ in try WireClient(socket) }
    let greetings = try clients.map { try $0.line() ?? "" }
    #expect(greetings.count { $0.hasPrefix("* hello ") } == 256)
    #expect(greetings.count { $0.hasPrefix("* closing code=6007 name=too-many-connections") } == 44)
    #expect(try clients[0].reply("ping").hasPrefix("ok now="))
  }

  @Test func clientThatDoesNotReadLosesEventsAndGetsTheirNumber() throws {
    let daemon = try TestDaemon("--clock", "virtual")
    let driver = try daemon.connect()
    let slow = try daemon.connect()
    try driver.reply("append \(try daemon.wave(1, frameCount: 480_000)) wait=ready")
    try slow.reply("observe player.volume")
    for _ in 0..<10 { try slow.send("tick 0.001") }
    for _ in 0..<10 { while try slow.line()?.hasPrefix("ok id=") == false {} }
    try driver.reply("play")
    // 100,000 ticks of about 90 bytes: twice the buffer limit.
    try driver.reply("clock.advance 10")
    for step in 0...10 { try driver.reply("volume \(Double(step) / 10)") }
    #expect(try driver.reply("ping").hasPrefix("ok now="))
    try slow.send("@end ping")
    var lines: [String] = []
    while let line = try slow.line() {
      lines.append(line)
      if line.hasPrefix("@end ok ") { break }
    }
    // The reply was not dropped. The overflow event and the newest volume arrive once there is room.
    while !lines.contains(where: { $0.hasPrefix("* overflow dropped=") }), let line = try slow.line() {
      lines.append(line)
    }
    let dropped = lines.first { $0.hasPrefix("* overflow ") }.flatMap { field("dropped", $0) }.flatMap { Int($0) } ?? 0
    let ticks = lines.count { $0.hasPrefix("* tick ") && field("reason", $0) == "periodic" }
    #expect(dropped > 0)
    #expect(ticks + dropped >= 100_000)
  }

  @Test func requestsAreNotReadWhileRepliesAreUnread() throws {
    let daemon = try TestDaemon("--output", "null")
    let client = try daemon.connect()
    let greedy = try daemon.connect()
    let requests = Array(String(repeating: "help\n", count: 2_000).utf8)
    var sent = 0
    // Sends until the daemon stops reading; other clients are served all the while.
    while true {
      let count = greedy.sendWithoutBlocking(Array(requests.dropFirst(sent % requests.count)))
      #expect(try client.reply("ping").hasPrefix("ok now="))
      if count == 0 { break }
      sent += count
    }
    #expect(field("connections", try client.reply("stats")) == "2")
    // When the client reads, it gets a reply to each complete request.
    greedy.finishSending()
    #expect(try greedy.remainingLines().count { $0 == "ok" } == sent / 5)
  }
}
