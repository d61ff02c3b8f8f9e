import DaemonTesting
import Glibc
import RigSupport
import Testing

/// `playhead shell` in a separate terminal: keys, history, completion and the end.
@Suite struct ShellTests {
  private func shell(
    _ daemon: TestServer, state: String? = nil, columnCount: Int = 80
  ) throws -> TerminalProgram {
    let terminal = try TerminalProgram(
      Executables.playhead, ["--socket", daemon.socket, "shell"],
      environment: [
        "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "TERM": "xterm", "XDG_STATE_HOME": state ?? daemon.folder.file("state"),
      ], columnCount: columnCount, folder: daemon.folder.path)
    try terminal.wait(for: "playhead> ")
    return terminal
  }

  private func end(_ terminal: TerminalProgram) throws {
    try terminal.type("\u{5}\u{15}\u{4}")
    #expect(try terminal.waitForEnd() == 0, "\(terminal.shown.suffix(300))")
    let flags = tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    #expect(terminal.mode.last.map { $0 & flags } == flags)
    #expect(
      terminal.shown.ranges(of: "\u{1B}[?2004h").count == terminal.shown.ranges(of: "\u{1B}[?2004l").count
        && terminal.shown.contains("\u{1B}[?2004h"))
  }

  @Test func keysEditTheLine() throws {
    let daemon = try InProcessServer()
    let terminal = try shell(daemon)
    for (keys, output) in [
      ("olume 0.25\u{1}v\u{5}\r", "\u{1B}[KVolume: 0.25\r\n"), ("volume 0.5 junk\u{17}\r", "\u{1B}[KVolume: 0.5\r\n"),
      ("volume 0.75x\u{1B}[D\u{B}\r", "\u{1B}[KVolume: 0.75\r\n"), ("junk\u{15}volume 1\r", "\u{1B}[KVolume: 1\r\n"),
      ("volume 0.25\u{1B}[D\u{1B}OD\u{1B}[3~7\r", "\u{1B}[KVolume: 0.75\r\n"),
      ("olume 0.5\u{1B}[Hv\u{1B}[F\r", "\u{1B}[KVolume: 0.5\r\n"), ("vol 1\r", "\u{1B}[KVolume: 1\r\n"),
      // Earlier lines.
      ("\u{1B}[A\u{1B}[A\r", "\u{1B}[KVolume: 0.5\r\n"), ("\u{12}0.7\u{12}\r", "\u{1B}[KVolume: 0.75\r\n"),
    ] {
      try terminal.type(keys)
      try terminal.wait(for: output)
    }
    // Ctrl-C clears the line.
    try terminal.type("bogus\u{3}")
    try terminal.wait(for: "playhead> bogus^C\r\n")
    try terminal.type("\u{3}")
    try terminal.wait(for: "^C\r\nCtrl-D quits the shell.\r\n")
    // The cursor is in the middle of the line.
    try terminal.type("三e\u{301}x\u{1B}[D\u{1B}[D")
    try terminal.wait(for: "\r\u{1B}[Kplayhead> 三e\u{301}x\u{1B}[2D")
    try end(terminal)
    #expect(!terminal.shown.contains("error:"))
  }

  /// Pasted lines are sent after Enter only.
  @Test func pastedLinesAreSentAfterEnter() throws {
    let daemon = try InProcessServer()
    let terminal = try shell(daemon)
    try terminal.type("\u{1B}[200~volume 0.75\npan 0.5\n\u{1B}[201~")
    try terminal.wait(for: "playhead> volume 0.75⏎pan 0.5")
    #expect(try daemon.connect().reply("volume") == "ok volume=1")
    try terminal.type("\r")
    try terminal.wait(for: "Volume: 0.75\r\n")
    try terminal.wait(for: "Pan: 0.5\r\n")
    try end(terminal)
    #expect(
      try String(decoding: Files.read(daemon.folder.file("state/playhead/history")), as: UTF8.self)
        == "volume 0.75\npan 0.5\n")
  }

  @Test func tabCompletesCommandsIdsAndFiles() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    try client.reply("append /music/one.flac /music/two.flac")
    try client.reply("player.create jingles")
    try daemon.folder.write("a b.wav", try Files.read(try daemon.wave(1, frameCount: 48_000)))
    let terminal = try shell(daemon)
    try terminal.type("volum\t")
    try terminal.wait(for: "playhead> volume ")
    try terminal.type("\u{15}remove \t")
    try terminal.wait(for: "one.flac\r\n2  ")
    try terminal.wait(for: "playhead> remove ")
    try terminal.type("2\t\r")
    try terminal.wait(for: "Removed\r\n")
    try terminal.type("load a\t")
    try terminal.wait(for: "playhead> load \"a b.wav\" ")
    try terminal.type("player=j\t")
    try terminal.wait(for: "player=jingles ")
    try terminal.type("wait=ready\r")
    try terminal.wait(for: "Loaded 1 entry")
    #expect(try client.reply("list player=jingles").contains("count=1"))
    try end(terminal)
  }

  /// An event during typing is printed above the line, whose cursor stays.
  @Test func eventsKeepTheLine() throws {
    let daemon = try InProcessServer()
    let terminal = try shell(daemon)
    try terminal.type("observe player.pan\r")
    try terminal.wait(for: "new=0 cause=initial initial=true\r\n")
    try terminal.type("volume 0.5\u{1B}[D\u{1B}[D")
    try terminal.wait(for: "playhead> volume 0.5\u{1B}[2D")
    try daemon.connect().reply("pan 0.5")
    try terminal.wait(for: "\r\u{1B}[K* changed id=1")
    try terminal.wait(for: "\r\n\r\u{1B}[Kplayhead> volume 0.5\u{1B}[2D")
    // A narrower terminal shows the part around the cursor. A change of the size at any moment is noticed.
    for _ in 1...50 {
      terminal.resize(columnCount: 17)
      try terminal.wait(for: "\r\u{1B}[Kplayhead> me 0.5\u{1B}[2D")
      terminal.resize(columnCount: 80)
      try terminal.wait(for: "\r\u{1B}[Kplayhead> volume 0.5\u{1B}[2D")
    }
    try end(terminal)
  }

  /// Waiting requests do not delay the end, and the requests before them have their replies.
  @Test func controlDEndsTheShell() throws {
    let daemon = try InProcessServer()
    let terminal = try shell(daemon)
    try terminal.type("volume 0.5\rwait status=playing\r\u{4}")
    #expect(try terminal.waitForEnd() == 0)
    #expect(terminal.shown.contains("Volume: 0.5\r\n"))
    let second = try shell(daemon)
    try second.type("@1 wait status=playing\rpan 0.5\r\u{4}")
    #expect(try second.waitForEnd() == 0)
    #expect(second.shown.contains("Pan: 0.5\r\n"))
    // The reply to a line after the waiting request does not come.
    let third = try shell(daemon)
    try third.type("wait status=playing\rvolume 1\r\u{4}")
    #expect(try third.waitForEnd() == 0)
    #expect(!third.shown.contains("Volume: 1\r\n"))
    #expect(try daemon.connect().reply("volume") == "ok volume=0.5")
  }

  // MARK: - History

  @Test func historyIsSharedAndPrivate() throws {
    let daemon = try InProcessServer()
    let path = daemon.folder.file("state/playhead/history")
    let first = try shell(daemon)
    for (line, output) in [
      ("volume 0.5", "Volume: 0.5"), ("volume 0.5", "Volume: 0.5"), (" volume 0.25", "Volume: 0.25"),
      ("pan 0.5", "Pan: 0.5"), ("append http://user:secret@127.0.0.1:9/x", "\n"),
      ("append http://127.0.0.1:9/x header=\"A: secret\"", "\n"), ("pan 0", "Pan: 0\r\n"),
    ] {
      try first.type("\(line)\r")
      try first.wait(for: output)
    }
    try end(first)
    #expect(try String(decoding: Files.read(path), as: UTF8.self) == "volume 0.5\npan 0.5\npan 0\n")
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    let second = try shell(daemon)
    try second.type("\u{1B}[A\u{1B}[A")
    try second.wait(for: "playhead> pan 0.5")
    try second.type("\u{3}\u{12}vol")
    try second.wait(for: "(search: vol) volume 0.5")
    try second.type("\r")
    try second.wait(for: "Volume: 0.5\r\n")
    try end(second)
  }

  @Test func historyIsBounded() throws {
    let daemon = try InProcessServer()
    let state = daemon.folder.file("state")
    mkdir(state, 0o755)
    mkdir("\(state)/playhead", 0o755)
    let path = "\(state)/playhead/history"
    // Also without a last line end, with a line of another program, and readable for all.
    let old = (1...1_500).map { "volume 0.\($0)" } + [String(repeating: "x", count: 10_000), "last"]
    try Files.write(Array(path.utf8), Array(old.joined(separator: "\n").utf8))
    chmod(path, 0o644)
    let terminal = try shell(daemon)
    try terminal.type("ping\r")
    try terminal.wait(for: "playhead> ping\r\n")
    try end(terminal)
    let lines = try String(decoding: Files.read(path), as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 1_000 && lines.first == "volume 0.503" && lines.suffix(2) == ["last", "ping"])
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test func severalShellsKeepAllLines() throws {
    let daemon = try InProcessServer()
    let shells = try (1...4).map { _ in try shell(daemon) }
    for line in 1...25 {
      for (index, terminal) in shells.enumerated() { try terminal.type("@s\(index)-\(line) ping\r") }
    }
    for terminal in shells { try end(terminal) }
    let lines = try String(decoding: Files.read(daemon.folder.file("state/playhead/history")), as: UTF8.self)
      .split(separator: "\n").map(String.init)
    let expected = (0...3).flatMap { index in (1...25).map { "@s\(index)-\($0) ping" } }
    #expect(lines.sorted() == expected.sorted())
  }

  @Test func historyThatCannotBeWrittenIsReportedOnce() throws {
    let daemon = try InProcessServer()
    let terminal = try shell(daemon, state: "/dev/null/none")
    for volume in ["0.25", "0.5"] {
      try terminal.type("volume \(volume)\r")
      try terminal.wait(for: "Volume: \(volume)\r\n")
    }
    try terminal.type("\u{1B}[A")
    try terminal.wait(for: "playhead> volume 0.5")
    try end(terminal)
    #expect(
      terminal.shown.ranges(
        of: "playhead: the history /dev/null/none/playhead/history cannot be written: Not a directory"
      ).count == 1)
  }
}
