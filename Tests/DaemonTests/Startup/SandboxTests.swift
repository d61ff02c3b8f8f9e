import DaemonTesting
import Glibc
import RigSupport
import Testing

/// The sandbox of a complete daemon, which is also enabled in all other suites.
@Suite(.serialized, .timeLimit(.minutes(3))) struct SandboxTests {
  /// A folder with `music`, `out`, `config` and `elsewhere`, and a configuration in `config`.
  private struct Fixture {
    let folder: TemporaryDirectory
    var music: String { folder.file("music") }
    var out: String { folder.file("out") }
    var configuration: String { folder.file("config/a.toml") }

    init() throws {
      // The sandbox allows /dev/shm, which may be the folder of temporary files.
      folder = try TemporaryDirectory("sandbox", in: "/tmp")
      for name in ["music", "music/sub", "out", "config", "elsewhere", "state"] {
        try #require(mkdir(folder.file(name), 0o700) == 0)
      }
      try TimeCode.writeWAV(path: "\(music)/1.wav", file: 1, frameCount: 48_000 * 10)
      try TimeCode.writeWAV(path: "\(music)/sub/2.wav", file: 2, frameCount: 4_800)
      try TimeCode.writeWAV(path: folder.file("elsewhere/3.wav"), file: 3, frameCount: 4_800)
    }

    func configure(_ text: String) throws { try folder.write("config/a.toml", Array(text.utf8)) }

    /// The text of `roots`.
    func roots(read: [String], write: [String] = []) -> String {
      func list(_ paths: [String]) -> String { "[\(paths.map { "\"\($0)\"" }.joined(separator: ", "))]" }
      return "[roots]\nread = \(list(read))\nwrite = \(list(write))\n"
    }

    /// A daemon that may read `music` only and write `out` only.
    func daemon(_ arguments: String...) throws -> TestDaemon {
      try configure(roots(read: [music], write: [out]))
      return try TestDaemon(["--config", configuration] + arguments, folder: folder)
    }
  }

  @Test func statsReportTheSandboxAndEveryThreadHasIt() throws {
    let fixture = try Fixture()
    let daemon = try fixture.daemon("--output", "null", "--state", fixture.folder.file("state"))
    let client = try daemon.connect()
    // Starts the threads for decoding, state, playlists and scans.
    try client.reply("load \(fixture.music)/1.wav wait=ready")
    try client.reply("play")
    try client.ask("scan \(fixture.music)/1.wav")
    let stats = try client.reply("stats")
    #expect(field("noNewPrivileges", stats) == "true" && field("landlock", stats) == "active", "\(stats)")
    #expect(Int(field("landlockVersion", stats) ?? "") ?? 0 > 0, "\(stats)")
    let states = try daemon.threadStates()
    #expect(states.count >= 4)
    for state in states { #expect(state.contains("NoNewPrivs:\t1"), "\(state)") }
  }

  @Test func landlockCanBeDisabled() throws {
    let fixture = try Fixture()
    for (arguments, text) in [(["--no-landlock"], ""), ([], "[sandbox]\nlandlock = false\n")] {
      try fixture.configure(text)
      let daemon = try TestDaemon(
        ["--config", fixture.configuration, "--clock", "virtual"] + arguments, folder: fixture.folder)
      let stats = try daemon.connect().reply("stats")
      #expect(stats.hasSuffix("noNewPrivileges=true landlock=off landlockVersion=0"), "\(stats)")
      try daemon.finish()
    }
  }

  /// Simulates a kernel without Landlock: a system call filter returns EPERM for landlock_create_ruleset(2), like an
  /// older container.
  @Test func missingLandlockIsReportedAndNotFatal() throws {
    let fixture = try Fixture()
    let script = """
      import ctypes, os, struct, sys
      rows = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (6, 0, 0, 0x50001), (6, 0, 0, 0x7FFF0000)]
      code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
      program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(rows), ctypes.addressof(code)))
      libc = ctypes.CDLL(None, use_errno=True)
      assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
      os.execv(sys.argv[1], sys.argv[1:])
      """
    let socket = fixture.folder.file("control.sock")
    let daemon = try Program(
      "python3", ["-c", script, Executables.playheadd, "--socket", socket, "--output", "null", "--no-state"])
    #expect(try daemon.waitForLine() == "playheadd ready socket=\(socket)")
    _ = try daemon.waitForErrors(containing: "Landlock is unavailable")
    let client = try WireClient(socket)
    _ = try client.line()
    let stats = try client.reply("stats")
    #expect(stats.hasSuffix("noNewPrivileges=true landlock=unavailable landlockVersion=0"), "\(stats)")
    daemon.signal(SIGTERM)
    #expect(try daemon.waitForEnd().status == 0)
  }

  /// The configuration file is opened without the check of the roots, so the error is from the kernel.
  @Test(arguments: [true, false]) func kernelDeniesTheDaemonAFileOutsideTheSandbox(_ isOn: Bool) throws {
    let fixture = try Fixture()
    try fixture.folder.write("elsewhere/b.toml", Array(fixture.roots(read: [fixture.music], write: [fixture.out]).utf8))
    let daemon = try isOn ? fixture.daemon("--clock", "virtual") : fixture.daemon("--clock", "virtual", "--no-landlock")
    let client = try daemon.connect()
    #expect(try client.reply("config.reload") == #"ok changed="" restart="""#)
    try #require(unlink(fixture.configuration) == 0)
    try #require(symlink("../elsewhere/b.toml", fixture.configuration) == 0)
    let reply = try client.reply("config.reload")
    if isOn {
      #expect(reply.hasPrefix("error code=1015") && reply.contains("Permission denied"), "\(reply)")
    } else {
      #expect(reply == #"ok changed="" restart="""#)
    }
    // A new file in the folder of the old one, as editors write it.
    try fixture.folder.write("config/new.toml", Array(fixture.roots(read: [fixture.music], write: [fixture.out]).utf8))
    try #require(rename(fixture.folder.file("config/new.toml"), fixture.configuration) == 0)
    #expect(try client.reply("config.reload") == #"ok changed="" restart="""#)
  }

  @Test func narrowerRootsApplyAtOnceAndWiderOnesAfterARestart() throws {
    let fixture = try Fixture()
    let daemon = try fixture.daemon("--clock", "virtual", "--output", "null")
    let client = try daemon.connect()
    let (inside, below) = ("load \(fixture.music)/1.wav wait=ready", "load \(fixture.music)/sub/2.wav wait=ready")
    let outside = "load \(fixture.folder.file("elsewhere/3.wav")) wait=ready"
    #expect(try client.reply(inside).hasPrefix("ok"))
    try fixture.configure(fixture.roots(read: ["\(fixture.music)/sub"], write: [fixture.out]))
    #expect(try client.reply("config.reload") == #"ok changed=roots.read restart="""#)
    #expect(try client.reply(inside).hasPrefix("error code=2008"))
    #expect(try client.reply(below).hasPrefix("ok"))
    // The roots of the start again.
    try fixture.configure(fixture.roots(read: [fixture.music], write: [fixture.out]))
    #expect(try client.reply("config.reload") == #"ok changed=roots.read restart="""#)
    #expect(try client.reply(inside).hasPrefix("ok"))
    // Wider roots: the option does not change.
    try fixture.configure(
      fixture.roots(read: ["\(fixture.music)/sub", fixture.folder.file("elsewhere")], write: [fixture.folder.path]))
    #expect(try client.reply("config.reload") == #"ok changed="" restart=roots.read,roots.write"#)
    #expect(try client.reply(inside).hasPrefix("ok"))
    #expect(try client.reply(outside).hasPrefix("error code=2008"))
    #expect(try client.reply("config.reload") == #"ok changed="" restart=roots.read,roots.write"#)
    try daemon.finish()
    let next = try TestDaemon(["--config", fixture.configuration, "--clock", "virtual"], folder: fixture.folder)
    #expect(try next.connect().reply(outside).hasPrefix("ok"))
  }

  @Test func narrowRootsDoNotRestrictOtherFeatures() throws {
    let fixture = try Fixture()
    try #require(mkdir(fixture.folder.file("tls"), 0o700) == 0)
    let (certificate, key) = (fixture.folder.file("tls/certificate.pem"), fixture.folder.file("elsewhere/key.pem"))
    try ChildProcess.run([
      "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
      "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
    ])
    let web = try HTTPServer(certificate: certificate, key: key)
    try TimeCode.writeWAV(path: web.files.file("1.wav"), file: 1, frameCount: 4_800)
    let audioServer = try PulseServer()
    let daemon = try fixture.daemon(
      "--output", "pulse:\(audioServer.sinkName)", "--pulse-server", audioServer.address, "--ca-file", certificate,
      "--state", fixture.folder.file("state/made/by-the-daemon"))
    let client = try daemon.connect()
    try client.reply("observe output.state")
    while field("new", try client.line() ?? "") != "ready" {}
    for request in [
      "load \(web.address)/1.wav wait=ready", "asset.open \(fixture.music)/1.wav",
      "waveform \(fixture.music)/1.wav file=\(fixture.out)/1.json",
      "export \(fixture.music)/1.wav file=\(fixture.out)/1.flac end=1",
      "load \(fixture.music)/1.wav wait=ready", "state.save",
    ] {
      let reply = try client.ask(request).last ?? ""
      #expect(reply.hasPrefix("ok"), "\(request): \(reply)")
    }
    #expect(try client.ask("scan \(fixture.music)/1.wav").last?.hasPrefix("ok") == true)
    try client.reply("play")
    try audioServer.capture.waitForCode(file: 1, index: 24_000)
    audioServer.kill()
    while field("new", try client.line() ?? "") != "lost" {}
    let again = try PulseServer(directory: audioServer.directory)
    try again.capture.waitForCode(file: 1, index: 48_000)
    try daemon.finish()
    again.stop()
    #expect(Files.mode(fixture.folder.file("state/made/by-the-daemon/state.sqlite")).map { $0 & S_IFMT } == S_IFREG)
  }

  @Test func outputFilesAreWrittenOutsideTheRoots() throws {
    let fixture = try Fixture()
    for kind in ["wav", "pipe"] {
      let path = fixture.folder.file("elsewhere/out.\(kind)")
      let daemon = try fixture.daemon("--clock", "virtual", "--output", "\(kind):\(path)")
      let client = try daemon.connect()
      #expect(field("state", try client.reply("output.status")) == "ready")
      #expect(Files.mode(path).map { $0 & S_IFMT } == (kind == "wav" ? S_IFREG : S_IFIFO))
      try daemon.finish()
    }
  }

  @Test func missingRootIsLogged() throws {
    let fixture = try Fixture()
    let daemon = try Program(
      Executables.playheadd,
      [
        "--socket", fixture.folder.file("control.sock"), "--output", "null", "--no-state", "--read-root",
        fixture.folder.file("none"),
      ])
    let log = try daemon.waitForErrors(containing: "the sandbox cannot allow a path before the next start")
    #expect(log.contains("path=\(fixture.folder.file("none"))"), "\(log)")
    daemon.signal(SIGTERM)
    #expect(try daemon.waitForEnd().status == 0)
  }
}
