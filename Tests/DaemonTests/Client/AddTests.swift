import DaemonTesting
import Glibc
import RigSupport
import Testing

/// `playhead add`.
@Suite struct AddTests {
  private func folder(_ files: [String]) throws -> TemporaryDirectory {
    let folder = try TemporaryDirectory("add")
    for file in files {
      var path = folder.path
      for part in file.split(separator: "/").dropLast() {
        path += "/\(part)"
        mkdir(path, 0o755)
      }
      // Not empty, and not text.
      try folder.write(file, [0])
    }
    return folder
  }

  /// The paths of the queue's files, relative to the folder.
  private func queue(_ daemon: TestServer, _ folder: TemporaryDirectory) throws -> [String] {
    let prefix = "path=\(folder.path)/"
    return try daemon.playhead("list").output.split(separator: "\n").compactMap { line in
      line.split(separator: " ").first { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }
  }

  @Test func folderExpandsToItsMediaFilesInNaturalOrder() throws {
    let folder = try folder([
      "Disc10/1.flac", "Disc2/10.flac", "Disc2/2.flac", "Disc2/B.mp3", "Disc2/a.ogg", "cover.jpg", "notes.txt",
      ".hidden.flac",
      "Disc2/list.m3u8", "z.wav",
    ])
    try folder.write("noending", Array("fLaC....".utf8))
    try folder.write("other", Array("text".utf8))
    mkfifo(folder.file("pipe"), 0o600)
    let daemon = try InProcessServer()
    let outcome = try daemon.playhead("add", folder.path)
    #expect(outcome.status == 0 && outcome.output == "items=1,2,3,4,5,6,7 version=1 left-out=6\n", "\(outcome)")
    #expect(
      outcome.errors == "playhead: omitted: 4 no media, 1 hidden, 1 playlists; `add --dry-run --verbose` lists them\n",
      "\(outcome)")
    let expected = [
      "Disc2/2.flac", "Disc2/10.flac", "Disc2/a.ogg", "Disc2/B.mp3", "Disc10/1.flac", "noending", "z.wav",
    ]
    #expect(try queue(daemon, folder) == expected)
    let verbose = try daemon.playhead("add", "--dry-run", "--verbose", ".", folder: folder.path)
    #expect(verbose.output == expected.map { "\(folder.path)/\($0)\n" }.joined())
    #expect(verbose.errors.contains("playhead: omitted \(folder.path)/cover.jpg: not a media file\n"), "\(verbose)")
    // All files; then playlists instead of the files next to them.
    #expect(try daemon.playhead("add", "--dry-run", "--all", folder.path).output.contains("/cover.jpg\n"))
    let lists = try daemon.playhead("add", "--dry-run", "--lists", folder.path).output
    #expect(
      lists.contains("/Disc2/list.m3u8\n") && !lists.contains("/Disc2/2.flac") && lists.contains("/z.wav\n"), "\(lists)"
    )
    #expect(try queue(daemon, folder) == expected)
  }

  /// As `load` does it: a file that a user names is checked, also with `--all`.
  @Test func namedFilesThatCannotBeMediaAreRefused() throws {
    let folder = try folder(["1.flac"])
    try folder.write("notes.txt", Array("buy milk\n".utf8))
    try folder.write("empty.flac", [])
    mkfifo(folder.file("pipe"), 0o600)
    let daemon = try InProcessServer()
    for (name, problem) in [
      ("notes.txt", "a text file, not media"), ("empty.flac", "the file is empty"),
      ("pipe", "a pipe, not a file; use - for standard input"), ("missing.flac", "No such file or directory"),
      ("/dev/null", "a device, not a file"),
    ] {
      print("refused: \(name): \(problem)")
      for options in [[], ["--all"], ["--dry-run"]] {
        let outcome = try Program(
          Executables.playhead, ["--socket", daemon.socket, "add"] + options + ["1.flac", name], folder: folder.path
        ).waitForEnd()
        #expect(outcome == .init(status: 1, output: "", errors: "playhead: nothing added: \(name): \(problem)\n"))
      }
    }
    #expect(try daemon.playhead("list").output == "count=0 version=0 next=none\n")
  }

  @Test func optionsChooseTheQueuePositionAndThePlayer() throws {
    let folder = try folder(["1.flac", "2.flac", "3.flac", "4.flac"])
    let daemon = try InProcessServer()
    func add(_ arguments: String...) throws -> [String] {
      let outcome = try Program(
        Executables.playhead, ["--socket", daemon.socket, "add"] + arguments, folder: folder.path
      ).waitForEnd()
      #expect(outcome.status == 0, "\(outcome)")
      return try queue(daemon, folder)
    }
    #expect(try add("1.flac", "2.flac") == ["1.flac", "2.flac"])
    #expect(try add("--next", "4.flac", "3.flac") == ["1.flac", "4.flac", "3.flac", "2.flac"])
    #expect(try add("--replace", "2.flac") == ["2.flac"])
    #expect(try daemon.playhead("player.create", "jingles").status == 0)
    #expect(try add("--player", "jingles", "3.flac") == ["2.flac"])
    #expect(try daemon.playhead("list", "player=jingles").output.contains("3.flac"))
    #expect(
      try daemon.playhead("add", "--player", "unknown", "3.flac", folder: folder.path).errors.contains("no-such-player")
    )
  }

  /// The daemon reads playlists.
  @Test func playlistsAreReadByTheDaemon() throws {
    let folder = try folder(["1.flac", "2.flac"])
    try folder.write("list.m3u8", Array("2.flac\n1.flac\n".utf8))
    let daemon = try InProcessServer()
    #expect(try daemon.playhead("add", "list.m3u8", "2.flac", folder: folder.path).status == 0)
    #expect(try queue(daemon, folder) == ["2.flac", "1.flac", "2.flac"])
  }

  @Test func cyclicLinksAreVisitedOnce() throws {
    let folder = try folder(["a/1.flac", "b/2.flac"])
    for (target, link) in [
      ("..", "a/up"), ("../b", "a/other"), ("../a", "b/back"), (".", "self"), ("nowhere", "broken.flac"),
    ] {
      #expect(symlink(target, folder.file(link)) == 0)
    }
    let outcome = try Program(Executables.playhead, ["add", "--dry-run", "--json", folder.path]).waitForEnd()
    #expect(outcome.status == 0)
    let paths = outcome.output.split(separator: "\"leftOut\"").first ?? ""
    #expect(paths.ranges(of: "/1.flac").count == 1 && paths.ranges(of: "2.flac").count == 1, "\(outcome.output)")
    #expect(outcome.output.contains(#"/broken.flac","reason":"not readable"}"#), "\(outcome.output)")
    #expect(outcome.output.contains(#"/self","reason":"folders already searched"}"#), "\(outcome.output)")
  }

  /// Runs the client without root's permission to read every file.
  private func addWithoutRootPermissions(_ arguments: [String]) throws -> Program.Outcome {
    let words = [Executables.playhead] + arguments
    return geteuid() == 0
      ? try Program("setpriv", ["--bounding-set=-dac_override,-dac_read_search"] + words).waitForEnd()
      : try Program(words[0], Array(words.dropFirst())).waitForEnd()
  }

  @Test func unreadableFoldersAndFilesAreReported() throws {
    let folder = try folder(["closed/1.flac", "names/2.flac", "open/3.flac"])
    let daemon = try InProcessServer()
    // One folder without any access, and one whose names can be read but not its files.
    for (name, mode) in [("closed", 0o000), ("names", 0o444)] as [(String, mode_t)] {
      #expect(chmod(folder.file(name), mode) == 0)
    }
    defer { for name in ["closed", "names"] { chmod(folder.file(name), 0o755) } }
    // Named as an argument: nothing is added.
    let named = try addWithoutRootPermissions([
      "--socket", daemon.socket, "add", folder.file("open"), folder.file("closed"),
    ])
    #expect(
      named
        == .init(
          status: 1, output: "", errors: "playhead: nothing added: \(folder.file("closed")): Permission denied\n"))
    #expect(try daemon.playhead("list").output == "count=0 version=0 next=none\n")
    // Below a named folder: the rest is added, and the missing files are reported.
    let below = try addWithoutRootPermissions(["--socket", daemon.socket, "add", folder.path])
    #expect(below.status == 1 && below.output == "items=1 version=1 left-out=2\n", "\(below)")
    #expect(
      below.errors == """
        playhead: \(folder.file("closed")): Permission denied
        playhead: \(folder.file("names/2.flac")): Permission denied
        playhead: omitted \(folder.file("closed")): not readable
        playhead: omitted \(folder.file("names/2.flac")): not readable

        """, "\(below)")
    #expect(try queue(daemon, folder) == ["open/3.flac"])
    let json = try addWithoutRootPermissions(["add", "--dry-run", "--json", folder.path])
    #expect(json.status == 1 && json.output.contains(#"/closed","reason":"not readable"}"#), "\(json)")
  }

  @Test func linksOutOfTheFolderAreOmittedUnlessFollowed() throws {
    let folder = try folder(["named/1.flac", "named/inside/2.flac", "named-too/3.flac"])
    for (target, link) in [
      ("../named-too", "named/outside"), (folder.file("named/inside"), "named/within"),
      ("../named-too/3.flac", "named/4.flac"),
      ("/proc", "named/processes"),
    ] {
      #expect(symlink(target, folder.file(link)) == 0)
    }
    // The named folder may itself be a link.
    #expect(symlink("named", folder.file("link")) == 0)
    for name in ["named", "link", "named/inside/.."] {
      func add(_ arguments: String...) throws -> (paths: [String], errors: String) {
        let outcome = try Program(
          Executables.playhead, ["add", "--dry-run", "--verbose"] + arguments + [folder.file(name)]
        ).waitForEnd()
        #expect(outcome.status == 0, "\(outcome)")
        return (
          outcome.output.split(separator: "\n").map { String($0.dropFirst(folder.file(name).count)) }, outcome.errors
        )
      }
      let unfollowed = try add()
      #expect(unfollowed.paths == ["/1.flac", "/4.flac", "/inside/2.flac"], "\(name): \(unfollowed)")
      #expect(
        unfollowed.errors == """
          playhead: omitted \(folder.file(name))/outside: a link that leads outside
          playhead: omitted \(folder.file(name))/processes: a folder of the system
          playhead: omitted \(folder.file(name))/within: a folder that was already searched

          """, "\(name)")
      let followed = try add("--follow")
      #expect(
        followed.paths == ["/1.flac", "/4.flac", "/inside/2.flac", "/outside/3.flac"], "\(name): \(followed)")
      #expect(!followed.errors.contains("outside"), "\(followed)")
    }
    let system = try Program(Executables.playhead, ["add", "--dry-run", "/proc"]).waitForEnd()
    #expect(
      system.status == 1 && system.errors.contains("no media files found (omitted: /proc: a folder of the system)"),
      "\(system)"
    )
  }

  @Test func requestsRespectTheLineLimitOfTheDaemon() throws {
    let folder = try folder((1...300).map { "\($0).flac" })
    try folder.write("playhead.toml", Array("[limits]\nline-bytes = 1024\n".utf8))
    let daemon = try TestDaemon("--clock", "virtual", "--config", folder.file("playhead.toml"))
    #expect(
      try daemon.playhead("add", "--human", folder.path)
        == .init(
          status: 0, output: "Added 300 entries\n",
          errors: "playhead: omitted \(folder.path)/playhead.toml: not a media file\n"))
    #expect(try queue(daemon, folder) == (1...300).map { "\($0).flac" })
    #expect(try daemon.playhead("list", "limit=1", "offset=299").output.hasSuffix("count=300 version=1 next=none\n"))
    // A path longer than a request line is rejected, and nothing is added.
    var deep = "deep"
    for _ in 1...5 {
      #expect(mkdir(folder.file(deep), 0o755) == 0)
      deep += "/" + String(repeating: "x", count: 250)
    }
    try folder.write("deep/1.flac", [])
    try folder.write("\(deep).flac", [])
    let rejected = try daemon.playhead("add", folder.file("deep"))
    #expect(rejected.status == 1 && rejected.errors.contains("(line-too-long)"), "\(rejected)")
    #expect(try daemon.playhead("list", "limit=1", "offset=299").output.hasSuffix("count=300 version=1 next=none\n"))
  }

  /// When the other side closes, more data than the socket's buffer holds is pending.
  @Test func reasonForClosingIsReportedEvenIfSendingFails() throws {
    let folder = try folder([String(repeating: "x", count: 240) + ".flac"])
    let path = folder.file(String(repeating: "x", count: 240) + ".flac")
    let socket = try SilentSocket(path: folder.file("control.sock"))
    let client = try Program(
      Executables.playhead,
      ["--socket", folder.file("control.sock"), "add"] + [String](repeating: path, count: 4_000))
    #expect(try socket.replyOnce("ok\n* closing message=\"for a reason\"\n") == "queue.begin\n")
    #expect(try client.waitForEnd() == .init(status: 3, output: "", errors: "playhead: for a reason\n"))
  }

  @Test func filesWithAnyNameAreAdded() throws {
    let folder = try TemporaryDirectory("add")
    let names: [[UInt8]] = [
      Array("new\nline.flac".utf8), [0x66, 0xE9, 0xFF] + Array(".flac".utf8), Array("-dash.flac".utf8),
      Array("a=b.flac".utf8),
      Array("fast".utf8), Array("quote\"'\\.flac".utf8), Array("wait=ready.flac".utf8),
      Array("tab\t\u{1B}[2J.flac".utf8),
    ]
    for name in names { try Files.write(Array("\(folder.path)/".utf8) + name, Array("fLaC".utf8)) }
    let daemon = try InProcessServer()
    let outcome = try daemon.playhead("add", folder.path)
    #expect(outcome.status == 0 && outcome.output == "items=1,2,3,4,5,6,7,8 version=1 left-out=0\n", "\(outcome)")
    let list = try daemon.playhead("list").output
    for text in [
      #"new\nline.flac""#, "file://\(folder.path)/f%E9%FF.flac ", "/-dash.flac ", "/a=b.flac ", "/fast ",
      #"quote\"'\\.flac""#, "/wait=ready.flac ", #"tab\t\x1b[2J.flac""#,
    ] {
      #expect(list.contains(text), "\(text) in \(list)")
    }
    // They are opened by their original names: none is reported as missing.
    #expect(!list.contains("file-not-found"))
  }

  @Test func missingFilesLeaveTheQueueUnchanged() throws {
    let folder = try folder(["1.flac", "empty/readme.txt"])
    let daemon = try InProcessServer()
    for (arguments, message) in [
      (["1.flac", "missing.flac"], "nothing added: missing.flac: No such file or directory"),
      (["empty"], "nothing to add: no media files found (omitted: \(folder.path)/empty/readme.txt: not a media file)"),
      (["-"], "append -"),
    ] {
      let outcome = try Program(
        Executables.playhead, ["--socket", daemon.socket, "add"] + arguments, folder: folder.path
      ).waitForEnd()
      #expect(outcome.status == (arguments == ["-"] ? 2 : 1) && outcome.errors.contains(message), "\(outcome)")
    }
    #expect(try daemon.playhead("list").output == "count=0 version=0 next=none\n")
  }

  /// Far more files than fit in a line, as one edit: one version, in order, or nothing.
  @Test func fiftyThousandFilesAreAddedInOneEdit() throws {
    let folder = try TemporaryDirectory("add")
    for disc in 1...50 {
      mkdir(folder.file("\(disc)"), 0o755)
      for track in 1...1_000 {
        let descriptor = open(folder.file("\(disc)/\(track).flac"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        try #require(descriptor >= 0)
        close(descriptor)
      }
    }
    let daemon = try InProcessServer()
    #expect(try daemon.connect().reply("append /music/first.flac /music/second.flac").hasPrefix("ok "))
    let outcome = try daemon.playhead("add", "--next", "--human", folder.path)
    #expect(outcome == .init(status: 0, output: "Added 50000 entries\n", errors: ""))
    #expect(try daemon.playhead("list", "offset=50001").output.hasSuffix("count=50002 version=2 next=none\n"))
    for (index, name) in [(1, "/1/1.flac"), (1_000, "/1/1000.flac"), (1_001, "/2/1.flac"), (50_000, "/50/1000.flac")] {
      let row = try daemon.playhead("list", "offset=\(index)", "limit=1").output
      #expect(row.contains("path=\(folder.path)\(name) "), "\(index): \(row)")
    }
    // The second time there is no room for all files: none is added.
    let rejected = try daemon.playhead("add", "--json", folder.path)
    #expect(rejected.status == 1 && rejected.errors.contains(#""name":"queue-too-long""#), "\(rejected)")
    #expect(try daemon.playhead("list", "offset=50001").output.hasSuffix("count=50002 version=2 next=none\n"))
    // On a terminal there is a progress bar, and at the end only the result.
    let terminal = try TerminalProgram(
      Executables.playhead, ["--socket", daemon.socket, "add", "--replace", folder.path], environment: ["TERM": "xterm"]
    )
    #expect(try terminal.waitForEnd() == 0)
    #expect(
      terminal.shown.contains("500 files found") && terminal.shown.contains("#-"), "\(terminal.shown.prefix(2_000))")
    #expect(terminal.shown.hasSuffix("\r\u{1B}[KAdded 50000 entries\r\n"), "\(terminal.shown.suffix(200))")
    // The bar has the width of its terminal.
    let narrow = try TerminalProgram(
      Executables.playhead, ["--socket", daemon.socket, "add", "--replace", folder.path],
      environment: ["TERM": "xterm"], columnCount: 24)
    #expect(try narrow.waitForEnd() == 0)
    let lines = narrow.shown.split(separator: "\r\u{1B}[K").map { $0.prefix { !$0.isNewline } }
    #expect(lines.contains { $0.hasPrefix("[#") }, "\(lines.suffix(5))")
    for line in lines where line != "Added 50000 entries" { #expect(line.count < 24, "\(line)") }
    #expect(try daemon.playhead("list", "offset=49999").output.hasSuffix("count=50000 version=4 next=none\n"))
  }

  @Test func interruptionErasesTheProgressLine() throws {
    let folder = try folder((1...600).map { "\($0).flac" })
    let silent = try SilentSocket(path: folder.file("silent.sock"))
    defer { withExtendedLifetime(silent) {} }
    for number in [SIGINT, SIGTERM] {
      let terminal = try TerminalProgram(
        Executables.playhead, ["--socket", folder.file("silent.sock"), "add", folder.path],
        environment: ["TERM": "xterm"])
      try terminal.wait(for: "500 files found")
      terminal.signal(number)
      #expect(try terminal.waitForEnd() == 128 + number)
      #expect(terminal.shown.hasSuffix("\r\u{1B}[K"), "\(terminal.shown.suffix(200))")
    }
  }
}
