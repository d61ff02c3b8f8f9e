import DaemonTesting
import Foundation
import RigSupport
import Testing

/// The daemon under a simulated systemd: its environment, its sockets, and its notifications.
@Suite(.timeLimit(.minutes(3))) struct ServiceTests {
  /// The socket on which a service manager receives notifications.
  private final class Manager {
    let descriptor: Int32
    let address: String

    /// At a path, or with an abstract name, which begins with @.
    init(_ address: String) throws {
      self.address = address
      descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var socketAddress = sockaddr_un()
      socketAddress.sun_family = sa_family_t(AF_UNIX)
      var bytes = Array(address.utf8)
      if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
      withUnsafeMutableBytes(of: &socketAddress.sun_path) { $0.copyBytes(from: bytes) }
      let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
      let status = withUnsafePointer(to: &socketAddress) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
      }
      try #require(status == 0)
    }

    deinit { close(descriptor) }

    /// The next notification.
    func next() throws -> String {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      try #require(poll(&entry, 1, Program.timeoutMilliseconds) > 0, "no notification")
      var bytes = [UInt8](repeating: 0, count: 4_096)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// Fills the socket's buffer with other data.
    func fill() throws {
      let other = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      defer { close(other) }
      var socketAddress = sockaddr_un()
      socketAddress.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &socketAddress.sun_path) { $0.copyBytes(from: Array(address.utf8)) }
      let size = socklen_t(MemoryLayout<sockaddr_un>.size)
      let status = withUnsafePointer(to: &socketAddress) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(other, $0, size) }
      }
      try #require(status == 0)
      while send(other, "filled", 6, Int32(MSG_DONTWAIT)) == 6 {}
      try #require(errno == EAGAIN)
    }

    /// All notifications that have not been read.
    func rest() -> [String] {
      var notifications: [String] = []
      var bytes = [UInt8](repeating: 0, count: 4_096)
      while true {
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { return notifications }
        notifications.append(String(decoding: bytes.prefix(count), as: UTF8.self))
      }
    }
  }

  @Test(arguments: ["path", "abstract"]) func serviceManagerIsNotifiedOfTheState(_ kind: String) throws {
    let folder = try TemporaryDirectory("service")
    let path = kind == "path" ? folder.file("notify") : "@playhead-\(folder.path)"
    let manager = try Manager(path)
    let socket = folder.file("control.sock")
    let daemon = try Program(
      Executables.playheadd, ["--socket", socket, "--output", "null", "--no-state"],
      environment: ["NOTIFY_SOCKET": path])
    #expect(try manager.next() == "READY=1\nSTATUS=Listening at \(socket)")
    // The daemon accepts connections by then.
    let client = try WireClient(socket)
    #expect(try client.line()?.hasPrefix("* hello") == true)
    daemon.signal(SIGHUP)
    let reloading = try manager.next()
    #expect(reloading.hasPrefix("RELOADING=1\nMONOTONIC_USEC="), "\(reloading)")
    #expect(try manager.next() == "READY=1")
    daemon.signal(SIGTERM)
    #expect(try manager.next().hasPrefix("STOPPING=1\n"))
    #expect(try daemon.waitForEnd().status == 0)
    // No watchdog was requested.
    #expect(manager.rest().isEmpty)
  }

  /// The daemon's state is reported in any case.
  @Test func stateReachesAManagerWithAFullSocketBuffer() throws {
    let folder = try TemporaryDirectory("service")
    let manager = try Manager(folder.file("notify"))
    try manager.fill()
    let socket = folder.file("control.sock")
    let daemon = try Program(
      Executables.playheadd, ["--socket", socket, "--output", "null", "--no-state"],
      environment: ["NOTIFY_SOCKET": manager.address])
    #expect(try daemon.waitForLine()?.hasPrefix("playheadd ready") == true)
    // The daemon accepts connections meanwhile.
    let client = try WireClient(socket)
    #expect(try client.line()?.hasPrefix("* hello") == true)
    var notification = try manager.next()
    while notification == "filled" { notification = try manager.next() }
    #expect(notification.hasPrefix("READY=1"))
    daemon.signal(SIGTERM)
    #expect(try manager.next().hasPrefix("STOPPING=1"))
    #expect(try daemon.waitForEnd().status == 0)
  }

  /// The thread of the control loop, by its name, of which Linux keeps 15 bytes.
  private func controlThread(of daemon: Program) throws -> String {
    let tasks = "/proc/\(daemon.id)/task"
    return try #require(
      FileManager.default.contentsOfDirectory(atPath: tasks).first { thread in
        // A temporary thread may have ended since.
        (try? Files.read("\(tasks)/\(thread)/comm")) == Array("playhead-contro\n".utf8)
      })
  }

  /// Stops one thread until this process ends; all other threads continue.
  private static let holder = """
    import ctypes, os, signal, sys
    libc, thread = ctypes.CDLL(None, use_errno=True), int(sys.argv[1])
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    SEIZE, INTERRUPT, ALL = 0x4206, 0x4207, 0x40000000
    for request in SEIZE, INTERRUPT:
        if libc.ptrace(request, thread, None, None):
            sys.exit(os.strerror(ctypes.get_errno()))
    os.waitpid(thread, ALL)
    print("held", flush=True)
    signal.pause()
    """

  /// Only the control loop is stopped, as by a call that does not return; all other threads continue. The stopping
  /// process must be root or the parent.
  @Test(.enabled(if: geteuid() == 0)) func hangingControlLoopSendsNoWatchdogNotification() throws {
    let folder = try TemporaryDirectory("service")
    let manager = try Manager(folder.file("notify"))
    let socket = folder.file("control.sock")
    let daemon = try Program(
      Executables.playheadd, ["--socket", socket, "--output", "null", "--no-state"],
      environment: ["NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "20000"])
    #expect(try manager.next().hasPrefix("READY=1"))
    let client = try WireClient(socket)
    _ = try client.line()
    let thread = try controlThread(of: daemon)
    let holder = try Program("/usr/bin/python3", ["-c", Self.holder, thread])
    #expect(try holder.waitForLine() == "held")
    _ = manager.rest()
    // Fifty times the interval of notifications. It can be too long for the test's purpose, never too short.
    var entry = pollfd(fd: manager.descriptor, events: Int16(POLLIN), revents: 0)
    #expect(poll(&entry, 1, 500) == 0, "\(manager.rest())")
    holder.signal(SIGKILL)
    _ = try holder.waitForEnd()
    #expect(try manager.next() == "WATCHDOG=1")
    #expect(try client.reply("ping").hasPrefix("ok now="))
    daemon.signal(SIGTERM)
    #expect(try daemon.waitForEnd().status == 0)
  }

  @Test func watchdogNotificationsAreSentOnlyOnRequest() throws {
    let folder = try TemporaryDirectory("service")
    let manager = try Manager(folder.file("notify"))
    for (pid, isEnabled) in [("$$", true), ("1", false)] {
      let script = "export WATCHDOG_PID=\(pid); exec \"$0\" --socket \"$1\" --output null --no-state"
      let daemon = try Program(
        "/bin/sh", ["-c", script, Executables.playheadd, folder.file("control.sock")],
        environment: ["NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "20000"])
      #expect(try manager.next().hasPrefix("READY=1"))
      if isEnabled { for _ in 0..<5 { #expect(try manager.next() == "WATCHDOG=1") } }
      daemon.signal(SIGTERM)
      var last = try manager.next()
      while last == "WATCHDOG=1" {
        #expect(isEnabled)
        last = try manager.next()
      }
      #expect(last.hasPrefix("STOPPING=1"))
      #expect(try daemon.waitForEnd().status == 0)
    }
  }

  @Test func missingServiceManagerIsIgnored() throws {
    let folder = try TemporaryDirectory("service")
    for address in [folder.file("nobody"), "@nobody", "relative", "", "/" + String(repeating: "x", count: 200)] {
      let daemon = try Program(
        Executables.playheadd, ["--socket", folder.file("control.sock"), "--output", "null", "--no-state"],
        environment: ["NOTIFY_SOCKET": address, "WATCHDOG_USEC": "garbage", "LISTEN_FDS": "7", "LISTEN_PID": "1"])
      #expect(try daemon.waitForLine()?.hasPrefix("playheadd ready") == true)
      daemon.signal(SIGTERM)
      #expect(try daemon.waitForEnd().status == 0)
    }
  }

  /// A listening socket that a child inherits.
  private func listening(_ path: String, _ type: __socket_type) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(type.rawValue), 0)
    var socketAddress = sockaddr_un()
    socketAddress.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &socketAddress.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let status = withUnsafePointer(to: &socketAddress) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(descriptor >= 0 && status == 0 && listen(descriptor, 16) == 0)
    return descriptor
  }

  @Test(arguments: ["", "playheadd.socket:playheadd.socket:playheadd.socket", "handoff:watch:control"])
  func inheritedSocketsAreServedAndNotRemoved(_ names: String) throws {
    let folder = try TemporaryDirectory("service")
    // The order of names differs from the order in the unit.
    let order: [(String, __socket_type)] = [
      ("control.sock", SOCK_STREAM), ("watch.sock", SOCK_STREAM), ("handoff.sock", SOCK_SEQPACKET),
    ]
    let sockets = names.hasPrefix("handoff") ? order.reversed() : order
    let descriptors = try sockets.map { try listening(folder.file($0.0), $0.1) }
    defer { for descriptor in descriptors { close(descriptor) } }
    func start() throws -> Program {
      // Via unused numbers, because 3 to 5 may be among the moved descriptors.
      let aside = zip(200..., descriptors).map { "\($0)<&\($1)" }.joined(separator: " ")
      let back = zip(3..., 200...).prefix(3).map { "\($0)<&\($1) \($1)<&-" }.joined(separator: " ")
      return try Program(
        "/bin/bash",
        [
          "-c", "exec \(aside); exec \(back); export LISTEN_PID=$$ LISTEN_FDS=3; exec \"$0\" --output null --no-state",
          Executables.playheadd,
        ],
        environment: names.isEmpty ? [:] : ["LISTEN_FDNAMES": names])
    }
    for _ in 0..<2 {
      let daemon = try start()
      #expect(try daemon.waitForLine() == "playheadd ready socket=\(folder.file("control.sock"))")
      let (client, watcher) = (try WireClient(folder.file("control.sock")), try WireClient(folder.file("watch.sock")))
      _ = try (client.line(), watcher.line())
      #expect(try client.reply("hello").hasSuffix("rights=read,control,write,administer"))
      #expect(try watcher.reply("hello").hasSuffix("rights=read"))
      let wave = folder.file("1.wav")
      try TimeCode.writeWAV(path: wave, file: 1, frameCount: 480)
      let input = open(wave, O_RDONLY | O_CLOEXEC)
      defer { close(input) }
      let handed = try Program(
        Executables.playhead, ["--socket", folder.file("control.sock"), "load", "-", "wait=ready"], input: input
      ).waitForEnd()
      #expect(handed.status == 0, "\(handed)")
      daemon.signal(SIGTERM)
      #expect(try daemon.waitForEnd().status == 0)
      // The daemon does not remove them: the next daemon gets them again.
      for (name, _) in sockets { #expect(Files.mode(folder.file(name)).map { $0 & S_IFMT } == S_IFSOCK, "\(name)") }
      #expect(Files.mode(folder.file("control.sock.lock")) == nil)
    }
  }

  @Test func invalidInheritedDescriptorsAreClosedAndReported() throws {
    let folder = try TemporaryDirectory("service")
    let daemon = try Program(
      "/bin/bash",
      [
        "-c",
        "exec 3</dev/null 4</dev/null; export LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=control:x; exec \"$0\" --socket \"$1\" --output null --no-state",
        Executables.playheadd, folder.file("control.sock"),
      ])
    #expect(try daemon.waitForLine() == "playheadd ready socket=\(folder.file("control.sock"))")
    daemon.signal(SIGTERM)
    let outcome = try daemon.waitForEnd()
    #expect(
      outcome.status == 0 && outcome.errors.contains("socket=3 control") && outcome.errors.contains("socket=4 x"),
      "\(outcome)")
  }
}
