import DaemonTesting
import Glibc
import Testing

/// `playhead watch` as a live line, in a separate terminal. `WatchPaneTests` has terminals that are higher.
@Suite struct LiveWatchTests {
  private func watch(
    _ socket: String, _ arguments: [String] = [], columnCount: Int = 80, locale: String = "C.UTF-8"
  ) throws -> TerminalProgram {
    try TerminalProgram(
      Executables.playhead, ["--socket", socket, "watch"] + arguments,
      environment: ["TERM": "xterm", "NO_COLOR": "1", "LC_ALL": locale], columnCount: columnCount,
      rowCount: 7)
  }

  private func daemonWithFile() throws -> (TestServer, WireClient) {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 48_000 * 100)) wait=ready")
    return (daemon, client)
  }

  @Test func lineShowsTitlePositionTimeStateAndLevels() throws {
    let (daemon, client) = try daemonWithFile()
    let terminal = try watch(daemon.socket)
    try terminal.wait(for: "⏸ 1.wav ╸")
    try terminal.wait(for: "0:00 / 1:40")
    try client.reply("play")
    try terminal.wait(for: "▶ 1.wav")
    try client.reply("clock.advance 50")
    // At the middle: half a bar, and the time code's noise in both channels' levels.
    let line = try terminal.wait(for: "0:50 / 1:40")
    let bar = line.split(separator: "▶").last ?? ""
    let (done, rest) = (bar.count { $0 == "━" }, bar.count { $0 == "─" })
    #expect(done > 15 && abs(done - rest) <= 2, "\(done) and \(rest) in \(bar)")
    #expect(terminal.shown.contains { "▁▂▃▄▅▆▇█".contains($0) }, "\(terminal.shown.suffix(300))")
    try client.reply("rate 2")
    try terminal.wait(for: "0:50 / 1:40 x2")
    try client.reply("mute on")
    try terminal.wait(for: "x2 muted")
    try client.reply("pause")
    try terminal.wait(for: "⏸ 1.wav")
    try client.reply("seek 25")
    try terminal.wait(for: "0:25 / 1:40")
    try client.reply("clear")
    try terminal.wait(for: "nothing to play")
    terminal.signal(SIGINT)
    #expect(try terminal.waitForEnd() == 128 + SIGINT)
  }

  @Test func titleComesFromTheTags() throws {
    let daemon = try InProcessServer()
    let path = daemon.folder.file("1.flac")
    let made = try Program(
      "ffmpeg",
      [
        "-v", "error", "-f", "lavfi", "-i", "sine=d=9", "-metadata", "title=Tune\u{1B}[2J", "-metadata",
        "artist=Nobody", path,
      ]
    ).waitForEnd()
    try #require(made.status == 0, "\(made)")
    let terminal = try watch(daemon.socket)
    try terminal.wait(for: "nothing to play")
    let client = try daemon.connect()
    try client.reply("append \(path) wait=ready")
    try terminal.wait(for: "Nobody - Tune\u{FFFD}[2J")
    try terminal.wait(for: "0:00 / 0:09")
  }

  @Test func terminalIsRestoredAfterEveryKindOfExit() throws {
    for (name, end, status) in [
      ("SIGINT", { $0.signal(SIGINT) }, 128 + SIGINT), ("SIGTERM", { $0.signal(SIGTERM) }, 128 + SIGTERM),
      ("SIGHUP", { $0.signal(SIGHUP) }, 128 + SIGHUP), ("SIGQUIT", { $0.signal(SIGQUIT) }, 128 + SIGQUIT),
      ("Ctrl-C", { try $0.type("\u{3}") }, 128 + SIGINT), ("Ctrl-\\", { try $0.type("\u{1C}") }, 128 + SIGQUIT),
      ("daemon", nil, 3),
    ] as [(String, ((TerminalProgram) throws -> Void)?, Int32)] {
      let (daemon, _) = try daemonWithFile()
      let terminal = try watch(daemon.socket)
      try terminal.wait(for: "0:00 / 1:40")
      if let end { try end(terminal) } else { try daemon.finish() }
      #expect(try terminal.waitForEnd() == status, "\(name)")
      #expect(terminal.shown.hasPrefix("\u{1B}[?25l"), "\(name)")
      #expect(
        terminal.shown.contains("\u{1B}[J\r\n\u{1B}[?25h") || terminal.shown.contains("\n\u{1B}[?25h"),
        "\(name): \(terminal.shown.suffix(100))")
      #expect(terminal.shown.components(of: "\u{1B}[?25h") == 1, "\(name)")
      #expect(terminal.shown.contains("playhead: ") == (end == nil), "\(name)")
      print("\(name): status \(status)")
    }
    let unreachable = try watch("/nowhere/socket")
    #expect(try unreachable.waitForEnd() == 3)
    #expect(unreachable.shown.contains("no daemon at /nowhere/socket"))
  }

  /// As after Ctrl-Z and `fg` in a shell.
  @Test func suspendedWatchRestoresTheTerminalAndRedrawsAfterResuming() throws {
    let (daemon, _) = try daemonWithFile()
    let shell = try TerminalProgram(
      "bash", ["--noprofile", "--norc", "-i"],
      environment: ["TERM": "xterm", "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "PS1": "ready> "], folder: daemon.folder.path
    )
    try shell.wait(for: "ready> ")
    try shell.type("\(Executables.playhead) --socket \(daemon.socket) watch\r")
    for turn in 1...2 {
      try shell.wait(for: "\u{1B}[?25l")
      try shell.wait(for: "⏸ 1.wav ╸")
      try shell.wait(for: "0:00 / 1:40")
      try shell.type("\u{1A}")
      try shell.wait(for: "\n\u{1B}[?25h")
      try shell.wait(for: "Stopped")
      try shell.wait(for: "ready> ")
      print("stopped \(turn)")
      try shell.type("fg\r")
    }
    try shell.wait(for: "\u{1B}[?25l")
    try shell.wait(for: "0:00 / 1:40")
    try shell.type("\u{3}")
    try shell.wait(for: "\n\u{1B}[?25h")
    try shell.wait(for: "ready> ")
    try shell.type("echo status=$?\r")
    try shell.wait(for: "status=\(128 + SIGINT)\r\n")
  }

  @Test func lineFitsTheWidthOfTheTerminal() throws {
    let (daemon, _) = try daemonWithFile()
    let terminal = try watch(daemon.socket, columnCount: 60)
    try terminal.wait(for: "0:00 / 1:40")
    for (columnCount, line) in [
      (40, "⏸ 1.wav ╸\(String(repeating: "─", count: 18)) 0:00 / 1:40"),
      (120, "⏸ 1.wav ╸\(String(repeating: "─", count: 59)) 0:00 / 1:40"), (24, "⏸ 1.wav 0:00 / 1:40"), (12, "⏸ 1.wav"),
      (5, "⏸ 1…"), (3, "⏸"),
    ] {
      terminal.resize(columnCount: columnCount)
      try terminal.wait(for: "\r\(line)\u{1B}[J")
      print("\(columnCount) columns: \(line)")
    }
    // Of wide characters (two columns), half as many fit.
    let client = try daemon.connect()
    let path = daemon.folder.file("1.wav")
    let wide = try daemon.folder.write("三四五六七八九十三四五六七八九十.wav", try Files.read(path))
    terminal.resize(columnCount: 24)
    try client.reply("load \(wide) wait=ready")
    try terminal.wait(for: "\r⏸ 三四五六… 0:00 / 1:40\u{1B}[J")
    // Emoji, full-width characters, and combining characters.
    for (name, shown) in [
      ("⌚⚡⛔✅⭐⏰☔♿⚓.wav", "⌚⚡⛔✅…"), ("🟢🪕🩰🫠🤌🥷🛖🚀🎵.wav", "🟢🪕🩰🫠…"), ("ＡＢＣＤＥＦ.wav", "ＡＢＣＤ…"),
      ("한국어노래.wav", "한국어노…"), ("e\u{301}tudes 12.wav", "e\u{301}tudes 1…"),
      ("\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}.wav", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}.wav"),
    ] {
      let file = try daemon.folder.write(name, try Files.read(path))
      try client.reply("load \"\(file)\" wait=ready")
      try terminal.wait(for: "\u{1B}[?7l\r⏸ \(shown) 0:00 / 1:40\u{1B}[J\u{1B}[?7h")
      print("\(name): \(shown)")
    }
  }

  /// An event that does not change the line draws nothing.
  @Test func unchangedLineIsNotDrawnAgain() throws {
    let (daemon, client) = try daemonWithFile()
    let terminal = try watch(daemon.socket)
    try terminal.wait(for: "0:00 / 1:40")
    // A pan does not change the line; a mute does. Between them nothing is drawn.
    try client.reply("status")
    let before = terminal.shown.components(of: "\u{1B}[J")
    for pan in ["0.5", "-0.5", "0"] { try client.reply("pan \(pan)") }
    try client.reply("mute on")
    try terminal.wait(for: "muted")
    #expect(terminal.shown.components(of: "\u{1B}[J") <= before + 2, "\(terminal.shown)")
    var lines = terminal.shown.split(separator: "\r").map(String.init)
    lines.removeAll { $0.contains("[?25l") }
    for (one, other) in zip(lines, lines.dropFirst()) { #expect(one != other) }
  }

  @Test func terminalWithoutUnicodeGetsASCIIOnly() throws {
    let (daemon, _) = try daemonWithFile()
    let terminal = try watch(daemon.socket, locale: "C")
    try terminal.wait(for: "= 1.wav >--")
    try terminal.wait(for: "0:00 / 1:40")
    let client = try daemon.connect()
    let file = try daemon.folder.write("één 三四 \u{FF21}e\u{301} long.wav", try Files.read(daemon.folder.file("1.wav")))
    terminal.resize(columnCount: 24)
    try client.reply("load \"\(file)\" wait=ready")
    try terminal.wait(for: "\r= ??n ??... 0:00 / 1:40\u{1B}[J")
    try daemon.finish()
    #expect(try terminal.waitForEnd() == 3)
    #expect(terminal.shown.utf8.allSatisfy { $0 < 0x80 })
  }

  @Test func watchReconnectsToARestartedDaemon() throws {
    let (daemon, _) = try daemonWithFile()
    let folder = daemon.folder
    let live = try watch(daemon.socket, ["--reconnect"])
    try live.wait(for: "1.wav")
    try live.wait(for: "0:00 / 1:40")
    let lines = try Program(
      Executables.playhead, ["--socket", daemon.socket, "watch", "--reconnect", "--observe", "player.rate"])
    #expect(try lines.waitForLine()?.hasPrefix("* changed ") == true)
    try daemon.finish()
    try live.wait(for: "waiting for it")
    let restarted = try TestDaemon("--clock", "virtual", folder: folder)
    #expect(restarted.socket == daemon.socket)
    try live.wait(for: "nothing to play")
    let client = try restarted.connect()
    try client.reply("append \(folder.file("1.wav")) wait=ready")
    try live.wait(for: "0:00 / 1:40")
    #expect(try lines.waitForLine()?.contains("key=player.rate new=0 cause=initial") == true)
    lines.signal(SIGTERM)
    let outcome = try lines.waitForEnd()
    #expect(outcome.errors.contains("; waiting for it\n"), "\(outcome)")
    live.signal(SIGTERM)
    #expect(try live.waitForEnd() == 128 + SIGTERM)
  }

  @Test func linesArePrintedWithoutATerminalAndOnRequest() throws {
    let (daemon, _) = try daemonWithFile()
    let lines = try Program(Executables.playhead, ["--socket", daemon.socket, "watch"])
    #expect(
      try lines.waitForLine()?.hasPrefix("* changed id=1 player=main key=player.timeControlStatus new=paused") == true)
    let json = try Program(Executables.playhead, ["--socket", daemon.socket, "--json", "watch"])
    #expect(try json.waitForLine()?.hasPrefix(#"{"jsonrpc":"2.0","method":"changed""#) == true)
    for arguments in [["--lines"], ["--raw"], ["--observe", "player.rate"]] {
      let terminal = try watch(daemon.socket, arguments)
      try terminal.wait(for: "* changed id=1 player=main key=player.")
      #expect(!terminal.shown.contains("\u{1B}"), "\(arguments)")
    }
    let dumb = try TerminalProgram(
      Executables.playhead, ["--socket", daemon.socket, "watch"], environment: ["TERM": "dumb"])
    try dumb.wait(for: "* changed id=1 ")
  }
}

extension String {
  /// The number of occurrences of a text.
  fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
