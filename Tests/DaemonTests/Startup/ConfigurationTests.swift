import DaemonTesting
import Foundation
import PlayheadDaemonConfiguration
import RigSupport
import Testing

/// The configuration file, from the administrator's view.
@Suite(.timeLimit(.minutes(3))) struct ConfigurationTests {
  private func check(_ text: String) throws -> (outcome: Program.Outcome, path: String) {
    let folder = try TemporaryDirectory("config")
    let path = try folder.write("a.toml", Array(text.utf8))
    return (try Program(Executables.playheadd, ["--check-config", path]).waitForEnd(), path)
  }

  /// The positions are those of the real parser.
  @Test func faultsAreReportedWithLineAndColumn() throws {
    let rows: [(text: String, positions: [String])] = [
      ("", []), ("# nothing\n[log]\nlevel = 'debug'\n", []), ("log.level = \"info\"\n", []),
      ("log = { level = \"info\" }\nlimits.connections = 1_000\n", []),
      ("[log]\nlevel = \"loud\"\n", [":2:9: log.level: "]),
      ("[log]\nlevel = \"debgu\"\n", [":2:9: log.level: unknown value; did you mean debug?"]),
      (
        "[log]\nlvel = \"info\"\n[limits]\nplayrs = 2\nplayers = 0\n",
        [
          ":2:1: unknown option log.lvel; did you mean log.level?",
          ":4:1: unknown option limits.playrs; did you mean limits.players?",
          ":5:11: limits.players: 0 is out of range",
        ]
      ),
      ("[log]\nlevel = \"info\"\nlevel = \"debug\"\n", [":3:"]), ("[log]\nlevel = \n", [":2:"]), ("[log\n", [":1:"]),
      ("# x\n[[[", [":2:3: the name of a table is expected here"]),
      ("[.a]\n", [":1:2: "]), ("[a.]\n", [":1:"]), (" = 1\n", [":1:2: "]),
      ("log..level = 1\n", [":1:"]),
      ("?\n", [":1:1: "]), ("log = { , }\n", [":1:"]),
      ("level = \"unended\n", [":1:"]), ("[log]\n[log]\n", [":2:"]),
      ("[limits]\nplayers = 99999999999999999999\n", [":2:"]),
      ("[limits]\nplayers = inf\n", [":2:11: limits.players: "]),
      ("[limits]\nplayers = 2022-11-22\n", [":2:11: limits.players: "]),
      ("[access]\nusers = [\"nobody-of-that-name\"]\n", [":2:9: access.users: unknown user nobody-of-that-name"]),
      ("[socket]\nmode = \"0999\"\n", [":2:8: socket.mode: "]), ("[socket]\nmode = 0o600\n", [":2:8: socket.mode: "]),
      ("[state]\nfolder = \"x\"\n", [":2:10: state.folder: x is not an absolute path"]),
      ("[output]\ndevice = \"nonsense\"\n", [":2:10: output.device: "]),
      (
        "[output]\ndevice = \"pulse\"\nclock = \"virtual\"\n[log]\nlevel = 1\n",
        [":3:9: output.clock: a virtual clock needs an output without a device", ":5:9: log.level: "]
      ),
      ("[roots]\nread = [\"/ok\", \"../x\"]\n", [":2:8: roots.read: "]),
      ("[network]\nca-file = \"/no/such\"\n", [":2:11: network.ca-file: /no/such cannot be read"]),
      ("[socket]\npath = \"\\uD83D\"\n", [":2:"]),
      ("\u{FEFF}[log]\nlevel = 'debug'\n", []), ("\u{FEFF}lvel = 1\n", [":1:1: unknown option lvel"]),
      ("[log]\n\"é\" = \"\u{0}\"\nlevel = \"loud\"\n", [":2:8: "]),
      ("é = 1\n", [":1:1: a character outside ASCII must be in a string or a comment"]),
      ("[log]\nlevel = " + String(repeating: "[", count: 100_000), [":2:17: "]),
      ("[socket]\ngroup = \"\u{1F3B5}\"\n", [":2:9: socket.group: unknown group \u{1F3B5}"]),
    ]
    for (text, positions) in rows {
      let (outcome, path) = try check(text)
      let lines = outcome.errors.split(separator: "\n").map(String.init)
      print(
        "config: \(text.debugDescription): \(outcome.status) \(lines.map { $0.replacingOccurrences(of: path, with: "FILE") })"
      )
      #expect(outcome.status == (positions.isEmpty ? 0 : 2), "\(text): \(outcome)")
      #expect(lines.count == positions.count, "\(text): \(outcome)")
      for (line, position) in zip(lines, positions) { #expect(line.hasPrefix(path + position), "\(line)") }
      if positions.isEmpty { #expect(outcome.output == "\(path): ok\n") }
    }
  }

  @Test func unreadableFilesAreReported() throws {
    let folder = try TemporaryDirectory("config")
    let binary = try folder.write("binary.toml", Array("[log]\n".utf8) + [0xFF])
    let large = try folder.write("large.toml", [UInt8](repeating: UInt8(ascii: "#"), count: 1_100_000))
    for (path, message) in [
      (folder.file("missing"), ": cannot read the file: No such file"), (folder.path, ": not a regular file"),
      ("/dev/zero", ": not a regular file"),
      (binary, ":2:1: a character outside ASCII"), (large, ": the file has more than"),
    ] {
      for arguments in [["--check-config", path], ["--config", path, "--output", "null", "--no-state"]] {
        let outcome = try Program(Executables.playheadd, arguments).waitForEnd()
        #expect(outcome.status == 2 && outcome.errors.hasPrefix(path + message), "\(arguments): \(outcome)")
      }
    }
    #expect(try Program(Executables.playheadd, ["x.toml"]).waitForEnd().status == 2)
    let none = try Program(
      Executables.playheadd, ["--check-config"], environment: ["XDG_CONFIG_HOME": folder.path]
    ).waitForEnd()
    #expect(
      none.status == 0 && none.output == "\(folder.path)/playhead/playheadd.toml: not found; the defaults apply\n")
  }

  /// The file of the user has priority over those of the system, and relative folders are ignored.
  @Test func fileOfTheSystemIsReadWithoutAFileOfTheUser() throws {
    let folder = try TemporaryDirectory("config")
    for name in ["user", "first", "second"] {
      try #require(mkdir(folder.file(name), 0o755) == 0 && mkdir(folder.file("\(name)/playhead"), 0o755) == 0)
    }
    let environment = [
      "XDG_CONFIG_HOME": folder.file("user"),
      "XDG_CONFIG_DIRS": "relative:\(folder.file("none")):\(folder.file("first")):\(folder.file("second"))",
    ]
    for (name, expected) in [("second", "second"), ("first", "first"), ("user", "user")] {
      try folder.write("\(name)/playhead/playheadd.toml", Array("[output]\ndevice = \"null\"\n".utf8))
      let outcome = try Program(Executables.playheadd, ["--check-config"], environment: environment).waitForEnd()
      #expect(outcome.output == "\(folder.path)/\(expected)/playhead/playheadd.toml: ok\n", "\(outcome)")
    }
    // A file of the user that cannot be used is an error: the daemon does not skip it.
    try folder.write("user/playhead/playheadd.toml", Array("x".utf8))
    let outcome = try Program(Executables.playheadd, ["--check-config"], environment: environment).waitForEnd()
    #expect(outcome.status == 2 && outcome.errors.hasPrefix("\(folder.path)/user/playhead/playheadd.toml:"))
  }

  /// The tests do not use the developer's configuration.
  @Test func testsDoNotReadTheConfigurationOfTheUser() throws {
    let userEnvironment = [
      "HOME=/users/me", "XDG_CONFIG_HOME=/users/me/.config", "NOTIFY_SOCKET=@x", "LISTEN_FDS=1", "LISTEN_PID=7",
    ]
    #expect(
      Program.variables(["A": "b"], of: userEnvironment).sorted() == [
        "A=b", "HOME=/users/me", "XDG_CONFIG_DIRS=/dev/null/none", "XDG_CONFIG_HOME=/dev/null/none",
      ])
    let outcome = try Program(Executables.playheadd, ["--check-config"]).waitForEnd()
    #expect(
      outcome.output == "/dev/null/none/playhead/playheadd.toml: not found; the defaults apply\n", "\(outcome)")
  }

  /// The example unchanged, and with every option set to the default in its comment.
  @Test func exampleFileIsValidAndEqualsTheDefaults() throws {
    let example = ExampleFile.text
    let lines = example.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      // A commented option has no space after its #.
      line.hasPrefix("#") && line.dropFirst().first?.isLetter == true ? line.dropFirst() : line
    }
    let whole = lines.joined(separator: "\n")
    #expect(lines.count { $0.contains(" = ") && !$0.hasPrefix("#") } == OptionTable.all.count)
    let folder = try TemporaryDirectory("config")
    for (name, text) in [("example.toml", example), ("whole.toml", whole)] {
      let path = try folder.write(name, Array(text.utf8))
      let outcome = try Program(Executables.playheadd, ["--check-config", path]).waitForEnd()
      #expect(outcome == .init(status: 0, output: "\(path): ok\n", errors: ""))
      // It does not change the daemon.
      let daemon = try TestDaemon("--config", path, "--output", "null")
      #expect(try daemon.connect().reply("hello").hasSuffix("rights=read,control,write,administer"))
    }
  }

  @Test func commandLineOptionsOverrideTheFile() throws {
    let folder = try TemporaryDirectory("daemon")
    try #require(mkdir(folder.file("playhead"), 0o755) == 0)
    try folder.write(
      "playhead/playheadd.toml",
      Array(
        "[output]\ndevice = \"null\"\nclock = \"virtual\"\n[limits]\nplayers = 2\n[roots]\nread = [\"/nowhere\"]\n".utf8
      ))
    let wave = folder.file("1.wav")
    try TimeCode.writeWAV(path: wave, file: 1, frameCount: 480)
    for (options, isRead) in [([], false), (["--read-root", folder.path], true)] {
      let process = try Program(
        Executables.playheadd, ["--socket", folder.file("control.sock"), "--no-state"] + options,
        environment: ["XDG_CONFIG_HOME": folder.path])
      #expect(try process.waitForLine()?.hasPrefix("playheadd ready") == true)
      let client = try WireClient(folder.file("control.sock"))
      _ = try client.line()
      #expect(try client.reply("clock.advance 1").hasPrefix("ok"))
      #expect(try client.reply("player.create a").hasPrefix("ok"))
      #expect(try client.reply("player.create b").hasPrefix("error code=6014"))
      #expect(try client.reply("load \(wave) wait=ready").hasPrefix(isRead ? "ok" : "error code=2008"))
      process.signal(SIGTERM)
      #expect(try process.waitForEnd().status == 0)
    }
  }

  /// Changeable options change, others are reported, and an invalid file is rejected completely.
  @Test func hangupReloadsTheFile() throws {
    let folder = try TemporaryDirectory("daemon")
    let path = folder.file("a.toml")
    func write(_ text: String) throws { try folder.write("a.toml", Array(text.utf8)) }
    try write("[limits]\nplayers = 2\n")
    let daemon = try TestDaemon(["--config", path, "--clock", "virtual", "--log-level", "notice"], folder: folder)
    let client = try daemon.connect()
    let wave = try daemon.wave(1, frameCount: 480)
    func reload(_ expected: String) throws -> String {
      daemon.process.signal(SIGHUP)
      return try daemon.process.waitForErrors(containing: expected)
    }
    #expect(try client.reply("player.create a").hasPrefix("ok"))
    #expect(try client.reply("player.create b").hasPrefix("error code=6014"))
    try write(
      "[limits]\nplayers = 3\n[roots]\nread = [\"/nowhere\"]\n[output]\ndevice = \"wav:/tmp/x.wav\"\n[access]\nusers = [4242]\n"
    )
    let output = try reload("output.device")
    #expect(output.contains("the configuration was reloaded"), "\(output)")
    #expect(output.contains("changed=access.users roots.read limits.players"), "\(output)")
    #expect(output.contains("an option takes effect at the next start"), "\(output)")
    #expect(try client.reply("player.create b").hasPrefix("ok"))
    #expect(try client.reply("load \(wave) wait=ready").hasPrefix("error code=2008"))
    // Two errors: both are reported, and the whole file is rejected.
    try write("[limits]\nplayers = 0\nassets = 1\n[roots]\nraed = []\n")
    let faults = try reload("roots.raed")
    #expect(faults.contains("\(path):2:11: limits.players") && faults.contains("nothing was changed"), "\(faults)")
    #expect(try client.reply("load \(wave) wait=ready").hasPrefix("error code=2008"))
    #expect(
      try client.reply("asset.open \(wave)").hasPrefix("ok") && client.reply("asset.open \(wave)").hasPrefix("ok"))
    try write("[[[")
    _ = try reload("\(path):1:3: the name of a table is expected here")
    #expect(try client.reply("ping").hasPrefix("ok now="))
    // A valid file restores the previous values.
    try write("")
    _ = try reload("changed=access.users roots.read limits.players")
    #expect(try client.reply("load \(wave) wait=ready").hasPrefix("ok"))
    #expect(try client.reply("player.create c").hasPrefix("ok"))
    #expect(try daemon.stop().status == 0)
  }

  /// Like SIGHUP, and the client gets the result.
  @Test func reloadReplyListsTheChangedOptions() throws {
    let folder = try TemporaryDirectory("daemon")
    let path = folder.file("a.toml")
    func write(_ text: String) throws { try folder.write("a.toml", Array(text.utf8)) }
    try write("[limits]\nplayers = 2\n")
    let daemon = try TestDaemon(["--config", path, "--clock", "virtual"], folder: folder)
    let client = try daemon.connect()
    #expect(try client.reply("config.reload") == "ok changed=\"\" restart=\"\"")
    #expect(try client.reply("player.create a").hasPrefix("ok"))
    #expect(try client.reply("player.create b").hasPrefix("error code=6014"))
    try write("[limits]\nplayers = 3\n[roots]\nread = [\"/nowhere\"]\n[socket]\nmode = \"0640\"\n")
    for changed in ["roots.read,limits.players", "\"\""] {
      // Options that need a restart are reported as long as they differ.
      #expect(try client.reply("config.reload") == "ok changed=\(changed) restart=socket.mode")
    }
    #expect(try client.reply("player.create b").hasPrefix("ok"))
    try write("[limits]\nplayers = 0\nassets = 1\n[roots]\nraed = []\n")
    try client.send("@r config.reload")
    let faults = try client.line() ?? ""
    #expect(
      faults.hasPrefix("@r error code=1015 name=wrong-configuration message=\"\(path):2:11: limits.players: "),
      "\(faults)")
    #expect(faults.contains("; \(path):5:1: unknown option roots.raed"), "\(faults)")
    // The file was rejected completely.
    let wave = try daemon.wave(1, frameCount: 480)
    #expect(try client.reply("load \(wave) wait=ready").hasPrefix("error code=2008"))
    try write("[log]\n" + (0..<100).map { "x\($0) = 1\n" }.joined())
    #expect(try client.reply("config.reload").contains("; and 80 more\""))
    // Several concurrent requests all get a reply, and the file is valid for the last of them.
    try write("")
    let others = try (0..<4).map { _ in try daemon.connect() }
    for other in others { try other.send("config.reload") }
    for other in others { #expect(try other.line()?.hasPrefix("ok changed=") == true) }
    #expect(try client.reply("load \(wave) wait=ready").hasPrefix("ok"))
    let watcher = try daemon.connect(at: folder.file("watch.sock"))
    #expect(
      try watcher.reply("config.reload").hasPrefix(
        "error code=6010 name=not-allowed message=\"the request needs the right to administer"))
  }

  /// A client of another user, which requires root.
  private final class OtherUser {
    private let program: Program
    private let input: RigSupport.Pipe

    /// - Parameter groups: the option of setpriv for the user's groups.
    init(groups: String, _ socket: String) throws {
      input = try RigSupport.Pipe()
      program = try Program(
        "setpriv",
        ["--reuid=65533", "--regid=65532", groups, "socat", "-t", "20", "-", "UNIX-CONNECT:\(socket)"],
        input: input.readEnd)
    }

    func send(_ text: String) {
      _ = Array(text.utf8).withUnsafeBytes { Glibc.write(input.writeEnd, $0.baseAddress, $0.count) }
    }

    func line() throws -> String? { try program.waitForLine() }

    /// Closes the input of the client, and waits until it ends.
    func end() throws -> Program.Outcome {
      input.closeWriteEnd()
      return try program.waitForEnd()
    }
  }

  /// Starts a daemon with a configuration in `a.toml`, and connects as another user. Needs root.
  private func otherUser(
    configuration: String, groups: String
  ) throws -> (folder: TemporaryDirectory, daemon: TestDaemon, peer: OtherUser) {
    let folder = try TemporaryDirectory("daemon")
    let path = try folder.write("a.toml", Array(configuration.utf8))
    let daemon = try TestDaemon(["--config", path, "--output", "null", "--no-state"], folder: folder)
    chmod(folder.path, 0o755)
    chmod(daemon.socket, 0o666)
    let peer = try OtherUser(groups: groups, daemon.socket)
    #expect(try peer.line()?.hasPrefix("* hello") == true)
    return (folder, daemon, peer)
  }

  /// A client that loses its permission gets a message, and its connection is closed. Only root can start a process of
  /// another user.
  @Test(.enabled(if: geteuid() == 0)) func clientThatLosesItsAccessIsDisconnected() throws {
    let (folder, daemon, peer) = try otherUser(
      configuration: "[access]\nwatching-groups = [65534]\n", groups: "--groups=65534")
    peer.send("@w wait status=playing\nhello\nplay\n")
    #expect(try peer.line()?.hasSuffix(" rights=read") == true)
    #expect(try peer.line()?.hasPrefix("error code=6010") == true)
    try folder.write("a.toml", [])
    daemon.process.signal(SIGHUP)
    #expect(try peer.line()?.hasPrefix("@w error code=6010 name=not-allowed") == true)
    #expect(try peer.line()?.hasPrefix("* closing code=6010 name=not-allowed") == true)
    #expect(try peer.end().status == 0)
  }

  /// A client that kept only rights that a reload removes is disconnected, although its user may still connect.
  @Test(.enabled(if: geteuid() == 0)) func clientWithoutAnyRemainingRightIsDisconnected() throws {
    let (folder, daemon, peer) = try otherUser(configuration: "[access]\nusers = [65533]\n", groups: "--clear-groups")
    peer.send("hello rights=read\n")
    #expect(try peer.line()?.hasSuffix(" rights=read") == true)
    try folder.write("a.toml", Array("[access]\nusers = [65533]\nrights = [\"control\"]\n".utf8))
    daemon.process.signal(SIGHUP)
    #expect(
      try peer.line()?.hasPrefix(
        "* closing code=6010 name=not-allowed message=\"user 65533 no longer has the right to read\"") == true)
    #expect(try peer.end().status == 0)
  }

  /// A client that may control but not observe any more keeps its connection, and loses its observations.
  @Test(.enabled(if: geteuid() == 0)) func clientThatLosesTheReadRightLosesItsObservations() throws {
    let (folder, daemon, peer) = try otherUser(configuration: "[access]\nusers = [65533]\n", groups: "--clear-groups")
    let driver = try daemon.connect()
    peer.send("@w wait status=playing\nobserve player.volume\n")
    var line = try peer.line() ?? ""
    while line.hasPrefix("*") { line = try peer.line() ?? "" }
    #expect(line.hasPrefix("ok id="), "\(line)")
    try folder.write("a.toml", Array("[access]\nusers = [65533]\nrights = [\"control\"]\n".utf8))
    daemon.process.signal(SIGHUP)
    line = try peer.line() ?? ""
    while line.hasPrefix("* changed") { line = try peer.line() ?? "" }
    #expect(
      line.hasPrefix("@w error code=6010 name=not-allowed message=\"the request needs the right to read"), "\(line)")
    #expect(try driver.reply("volume 0.25").hasPrefix("ok"))
    // No event precedes the next reply, or the one after it.
    peer.send("mute on\nlist\n")
    #expect(try peer.line()?.hasPrefix("ok") == true)
    #expect(try peer.line()?.hasPrefix("error code=6010 name=not-allowed") == true)
    #expect(try peer.end().status == 0)
  }

  /// In both directions: the message about the change precedes a level that would hide it.
  @Test func reloadIsLoggedWhateverTheNewLogLevel() throws {
    let folder = try TemporaryDirectory("daemon")
    let path = try folder.write("a.toml", Array("[log]\nlevel = \"notice\"\n".utf8))
    let daemon = try Program(
      Executables.playheadd,
      ["--config", path, "--socket", folder.file("control.sock"), "--output", "null", "--no-state"])
    #expect(try daemon.waitForLine()?.hasPrefix("playheadd ready") == true)
    for level in ["critical", "notice"] {
      try folder.write("a.toml", Array("[log]\nlevel = \"\(level)\"\n[socket]\nmode = \"0640\"\n".utf8))
      daemon.signal(SIGHUP)
      let output = try daemon.waitForErrors(containing: "changed=log.level")
      #expect(output.contains("the configuration was reloaded"), "\(level): \(output)")
      // The option that needs a restart is reported after it.
      if !output.contains("option=socket.mode") { _ = try daemon.waitForErrors(containing: "option=socket.mode") }
    }
    daemon.signal(SIGTERM)
    #expect(try daemon.waitForEnd().status == 0)
  }

  /// A group that this user may assign; not the group of new files, if there is another one.
  private var assignableGroup: gid_t {
    if geteuid() == 0 { return 65_534 }
    var groups = [gid_t](repeating: 0, count: 256)
    let count = Int(getgroups(Int32(groups.count), &groups))
    return groups.prefix(max(0, count)).first { $0 != getegid() } ?? getegid()
  }

  @Test func socketsHaveTheConfiguredModeAndGroup() throws {
    let folder = try TemporaryDirectory("daemon")
    let group = assignableGroup
    let path = try folder.write("a.toml", Array("[socket]\nmode = \"0660\"\ngroup = \"\(group)\"\n".utf8))
    let daemon = try TestDaemon(["--config", path, "--output", "null", "--no-state"], folder: folder)
    for name in ["control.sock", "watch.sock", "handoff.sock"] {
      #expect(Files.mode(folder.file(name)) == S_IFSOCK | 0o660, "\(name)")
      #expect(Files.group(folder.file(name)) == group, "\(name)")
    }
    #expect(try daemon.stop().status == 0)
  }

  /// The daemon's folder is accessible to the group, too. Only root can start a process of another user.
  @Test(.enabled(if: geteuid() == 0)) func membersOfTheSocketGroupCanConnect() throws {
    let folder = try TemporaryDirectory("daemon")
    chmod(folder.path, 0o755)
    let text = "[socket]\nmode = \"0660\"\ngroup = \"65534\"\n[access]\ngroups = [65534]\nrights = [\"read\"]\n"
    let path = try folder.write("a.toml", Array(text.utf8))
    let daemon = try Program(
      Executables.playheadd, ["--config", path, "--output", "null", "--no-state"],
      environment: ["XDG_RUNTIME_DIR": folder.path, "PLAYHEAD_SOCKET": nil])
    let socket = folder.file("playhead/control.sock")
    #expect(try daemon.waitForLine() == "playheadd ready socket=\(socket)")
    #expect(Files.mode(folder.file("playhead")) == S_IFDIR | 0o710)
    func hello(_ user: String, _ group: String) throws -> String {
      try Program(
        "setpriv",
        [
          "--reuid=\(user)", "--regid=\(group)", "--clear-groups", "sh", "-c",
          "printf 'hello\\nplay\\n' | socat -t 10 - UNIX-CONNECT:\(socket)",
        ]
      ).waitForEnd().output
    }
    let member = try hello("65533", "65534").split(separator: "\n").map(String.init)
    #expect(
      member.count == 3 && member[1].hasSuffix(" rights=read") && member[2].hasPrefix("error code=6010"), "\(member)")
    // A user outside the group cannot reach the socket.
    #expect(try hello("65533", "65533") == "")
    daemon.signal(SIGTERM)
    #expect(try daemon.waitForEnd().status == 0)
  }
}
