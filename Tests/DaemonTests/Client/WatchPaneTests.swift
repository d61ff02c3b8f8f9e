import DaemonTesting
import Glibc
import Testing

/// The queue and the keys of `playhead watch`, in a separate terminal.
@Suite struct WatchPaneTests {
  private func watch(
    _ socket: String, _ arguments: [String] = [], rowCount: Int = 24, locale: String = "C.UTF-8"
  ) throws -> TerminalProgram {
    try TerminalProgram(
      Executables.playhead, ["--socket", socket, "watch"] + arguments,
      environment: ["TERM": "xterm", "NO_COLOR": "1", "LC_ALL": locale], columnCount: 60, rowCount: rowCount)
  }

  /// A daemon with a queue of readable files.
  private func makeDaemon(fileCount: Int = 3) throws -> (TestServer, WireClient) {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let files = try (1...fileCount).map { try daemon.wave($0, frameCount: 48_000 * 100) }
    try client.reply("append \(files.joined(separator: " ")) wait=ready")
    return (daemon, client)
  }

  /// Waits for a screen that satisfies a condition. Returns its rows, without spaces at their ends.
  @discardableResult
  private func screen(
    of terminal: TerminalProgram, where isExpected: ([String]) -> Bool
  ) throws -> [String] {
    while true {
      let frame = try terminal.wait(for: "\u{1B}[J\u{1B}[?7h")
      guard let start = frame.ranges(of: "\u{1B}[?7l\u{1B}[H").last?.upperBound else { continue }
      let text = frame[start...].replacing("\u{1B}[K", with: "").replacing("\u{1B}[J\u{1B}[?7h", with: "")
      let rows = text.split(separator: "\r\n", omittingEmptySubsequences: false).map { row in
        String(row.reversed().drop { $0 == " " }.reversed())
      }
      if isExpected(rows) { return rows }
    }
  }

  private func isRestored(_ terminal: TerminalProgram) -> Bool {
    let flags = tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    let shown = terminal.shown
    return terminal.mode.last.map { $0 & flags } == flags && shown.contains("\n\u{1B}[?25h")
      && shown.ranges(of: "\u{1B}[?1049h").count == shown.ranges(of: "\u{1B}[?1049l").count
  }

  @Test func paneFollowsTheQueue() throws {
    let (daemon, client) = try makeDaemon()
    let terminal = try watch(daemon.socket, rowCount: 10)
    let end = String(repeating: " ", count: 45) + "1:40"
    var rows = try screen(of: terminal) { $0[2].hasSuffix("1:40") && $0[0].hasPrefix("⏸ 1.wav ╸") }
    #expect(rows.count == 10)
    #expect(
      rows[1...] == [
        "", "⏸ 1  1.wav\(end)", "  2  2.wav\(end)", "  3  3.wav\(end)", "", "", "", "", "?: help. q: quit.",
      ])
    try client.reply("next")
    rows = try screen(of: terminal) { $0[3].contains("2.wav") && $0[0].hasPrefix("⏸ 2.wav ╸") }
    #expect(rows[2...4].map { $0.prefix(11) } == ["  -1  1.wav", "⏸  1  2.wav", "   2  3.wav"])
    // Each change of the queue is displayed.
    let paths = (1...20).map { "/nowhere/entry-\($0).wav" }
    try client.reply("append \(paths.joined(separator: " "))")
    rows = try screen(of: terminal) { $0[8] == "17 more" }
    #expect(rows[4...5].map { $0.prefix(10) } == ["   2  3.wa", "   3  entr"])
    try client.reply("play")
    try screen(of: terminal) { $0[3].hasPrefix("▶  1  2.wav") }
    try client.reply("load /nowhere/other.wav")
    try screen(of: terminal) { $0.contains { $0.contains("other.wav (file-not-found)") } }
    try client.reply("clear")
    rows = try screen(of: terminal) { $0[2] == "The queue is empty." }
    #expect(rows[0].contains("nothing to play"))
    try terminal.type("q")
    #expect(try terminal.waitForEnd() == 0)
    #expect(isRestored(terminal), "\(terminal.shown.suffix(200))")
  }

  /// The client requests only the entries that it displays.
  @Test func paneOfALargeQueueHasOneScreen() throws {
    let (daemon, client) = try makeDaemon(fileCount: 1)
    let list = try daemon.folder.write("list.m3u", Array((1...20_000).map { "/nowhere/\($0).wav\n" }.joined().utf8))
    try client.reply("append \(list)")
    let terminal = try watch(daemon.socket, rowCount: 12)
    let rows = try screen(of: terminal) { $0[10] == "19993 more" }
    #expect(rows[9].contains("7.wav"))
    #expect(terminal.shown.ranges(of: "9.wav").isEmpty)
  }

  @Test func keysControlThePlayer() throws {
    let (daemon, client) = try makeDaemon()
    let terminal = try watch(daemon.socket)
    func press(_ keys: String, _ isExpected: ([String]) -> Bool) throws {
      try terminal.type(keys)
      try screen(of: terminal, where: isExpected)
    }
    try screen(of: terminal) { $0[0].hasPrefix("⏸ 1.wav ╸") && $0[4].hasPrefix("  3  3.wav") }
    // A seek counts from the target of the pending one.
    try press("\u{1B}[C\u{1B}OC") { $0[0].hasSuffix("0:10 / 1:40") }
    try press("\u{1B}[C") { $0[0].hasSuffix("0:15 / 1:40") }
    try press("\u{1B}[D") { $0[0].hasSuffix("0:10 / 1:40") }
    try press("\u{1B}[C\u{1B}[C\u{1B}[C\u{1B}[C\u{1B}[D\u{1B}[D") { $0[0].hasSuffix("0:20 / 1:40") }
    try press("\u{1B}[B") { $0[0].hasSuffix(" 95%") }
    try press("--") { $0[0].hasSuffix(" 85%") }
    try press("+") { $0[0].hasSuffix(" 90%") }
    try press("\u{1B}[A") { $0[0].hasSuffix(" 95%") }
    #expect(try client.reply("volume") == "ok volume=0.95")
    try press("m") { $0[0].hasSuffix(" muted") }
    try press("m") { $0[0].hasSuffix(" 95%") }
    try press("n") { $0[0].hasPrefix("⏸ 2.wav") }
    try press("p") { $0[0].hasPrefix("⏸ 1.wav") }
    try press(" ") { $0[0].hasPrefix("▶ 1.wav") }
    try press(" ") { $0[0].hasPrefix("⏸ 1.wav") }
    // Unknown keys have no effect.
    try press("xyz\t\u{1B}[15~\u{1B}[B") { $0[0].hasSuffix(" 90%") }
    try press("?") { $0.contains("Space: pause or play") && !$0.contains { $0.contains("3.wav") } }
    try press("?") { $0[4].hasPrefix("  3  3.wav") }
    // Escape alone closes the help, and does not change the next key.
    try press("?") { $0.contains("Space: pause or play") }
    try press("\u{1B}") { $0[4].hasPrefix("  3  3.wav") }
    try press("m") { $0[0].hasSuffix(" muted") }
    try press("m") { $0[0].hasSuffix(" 90%") }
    // The error of a request is displayed until the next key.
    try client.reply("clear")
    try press("n") { $0[23].contains("(no-current-item)") }
    try press("?") { $0[23] == "?: close the help. q: quit." }
    try terminal.type("q")
    #expect(try terminal.waitForEnd() == 0)
    #expect(isRestored(terminal))
    #expect(!terminal.shown.contains("xyz"))
  }

  @Test func keysApplyToTheSelectedPlayer() throws {
    let (daemon, client) = try makeDaemon()
    try client.reply("player.create other")
    let terminal = try watch(daemon.socket, ["--player", "other"], rowCount: 7)
    try terminal.wait(for: "nothing to play")
    try terminal.type("-")
    try client.reply("wait volume<=0.95 player=other")
    #expect(try client.reply("volume") == "ok volume=1")
    // Without a pane, errors and the help replace the line.
    try terminal.type("n")
    try terminal.wait(for: "(no-current-item)")
    try terminal.type("?")
    try terminal.wait(for: "\rSpace n p m q, arrows: seek and volume")
    try terminal.type("q")
    #expect(try terminal.waitForEnd() == 0)
    #expect(isRestored(terminal) && !terminal.shown.contains("?1049"))
  }

  @Test func pastedTextHasNoEffect() throws {
    let (daemon, client) = try makeDaemon()
    let terminal = try watch(daemon.socket, rowCount: 7)
    try terminal.wait(for: "\u{1B}[?2004h")
    try terminal.wait(for: "1.wav ╸")
    try terminal.type("\u{1B}[200~---q\u{1B}[201~-")
    try terminal.wait(for: " 95%")
    #expect(try client.reply("volume") == "ok volume=0.95")
    try terminal.type("q")
    #expect(try terminal.waitForEnd() == 0)
    #expect(isRestored(terminal) && terminal.shown.contains("\u{1B}[?2004l"))
  }

  @Test func heightSelectsThePane() throws {
    let (daemon, _) = try makeDaemon()
    let terminal = try watch(daemon.socket, rowCount: 7)
    try terminal.wait(for: "\r⏸ 1.wav ╸")
    terminal.resize(columnCount: 60, rowCount: 8)
    try terminal.wait(for: "\r\u{1B}[J\u{1B}[?1049h")
    try screen(of: terminal) { $0.count == 8 && $0[3].hasPrefix("  2  2.wav") && $0[3].hasSuffix("1:40") }
    terminal.resize(columnCount: 20, rowCount: 9)
    try screen(of: terminal) { $0.count == 9 && $0[3] == "  2  2.wav" }
    terminal.resize(columnCount: 60, rowCount: 3)
    try terminal.wait(for: "\u{1B}[?1049l\u{1B}[?7l\r⏸ 1.wav ╸")
    terminal.signal(SIGTERM)
    #expect(try terminal.waitForEnd() == 128 + SIGTERM)
    #expect(isRestored(terminal))
  }

  @Test func terminalIsRestoredAfterEveryKindOfExit() throws {
    for (name, end, status) in [
      ("SIGTERM", { $0.signal(SIGTERM) }, 128 + SIGTERM), ("SIGHUP", { $0.signal(SIGHUP) }, 128 + SIGHUP),
      ("Ctrl-C", { try $0.type("\u{3}") }, 128 + SIGINT), ("q", { try $0.type("q") }, 0), ("daemon", nil, 3),
    ] as [(String, ((TerminalProgram) throws -> Void)?, Int32)] {
      let (daemon, _) = try makeDaemon(fileCount: 1)
      let terminal = try watch(daemon.socket)
      try screen(of: terminal) { $0[0].hasSuffix("0:00 / 1:40") }
      if let end { try end(terminal) } else { try daemon.finish() }
      #expect(try terminal.waitForEnd() == status, "\(name)")
      #expect(isRestored(terminal), "\(name): \(terminal.shown.suffix(200))")
      // The normal screen has the last status line.
      let remaining = terminal.shown.split(separator: "\u{1B}[?1049l").last ?? ""
      #expect(
        remaining.hasPrefix("\u{1B}[?7l\r⏸ 1.wav ╸") && remaining.contains("0:00 / 1:40"), "\(name): \(remaining)")
    }
  }

  /// In a shell: Ctrl-Z and `fg`, and a job in the background, which must neither read keys nor use the screen.
  @Test func stoppedAndBackgroundJobsLeaveTheTerminalToTheShell() throws {
    let (daemon, _) = try makeDaemon(fileCount: 1)
    let shell = try TerminalProgram(
      "bash", ["--noprofile", "--norc", "-i"],
      environment: ["TERM": "xterm", "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "PS1": "ready> "], folder: daemon.folder.path
    )
    try shell.wait(for: "ready> ")
    try shell.type("\(Executables.playhead) --socket \(daemon.socket) watch\r")
    try screen(of: shell) { $0[0].hasSuffix("0:00 / 1:40") }
    try shell.type("\u{1A}")
    try shell.wait(for: "\u{1B}[?1049l")
    try shell.wait(for: "Stopped")
    try shell.wait(for: "ready> ")
    try shell.type("stty -a | grep -o ' echo '\r")
    try shell.wait(for: "\r echo \r\n")
    try shell.type("fg\r")
    try screen(of: shell) { $0[0].hasSuffix("0:00 / 1:40") }
    try shell.type("-")
    try screen(of: shell) { $0[0].hasSuffix(" 95%") }
    try shell.type("q")
    try shell.wait(for: "\u{1B}[?1049l")
    try shell.wait(for: "ready> ")
    let hidingCount = shell.shown.ranges(of: "\u{1B}[?25l").count
    try shell.type("\(Executables.playhead) --socket \(daemon.socket) watch &\r")
    try shell.wait(for: "\r⏸ 1.wav ╸")
    try shell.type("jobs\r")
    try shell.wait(for: "Running")
    #expect(shell.shown.ranges(of: "\u{1B}[?1049h").count == shell.shown.ranges(of: "\u{1B}[?1049l").count)
    // The shell needs the cursor.
    #expect(shell.shown.ranges(of: "\u{1B}[?25l").count == hidingCount)
    try shell.type("kill %1; wait $!; echo status=$?\r")
    try shell.wait(for: "status=\(128 + SIGTERM)\r\n")
  }

  @Test func keysWithoutADaemonAreReported() throws {
    let (daemon, _) = try makeDaemon(fileCount: 1)
    let terminal = try watch(daemon.socket, ["--reconnect"])
    try screen(of: terminal) { $0[0].hasSuffix("0:00 / 1:40") }
    try daemon.finish()
    try screen(of: terminal) { $0[0].contains("; waiting for it") || $0[0].hasSuffix("…") }
    try terminal.type(" ")
    try screen(of: terminal) { $0[23] == "the key has no effect, because no daemon is connected" }
    try terminal.type("q")
    #expect(try terminal.waitForEnd() == 0)
    #expect(isRestored(terminal))
  }

  @Test func inputThatIsNoTerminalHasNoKeys() throws {
    let (daemon, client) = try makeDaemon(fileCount: 1)
    let terminal = try TerminalProgram(
      "sh", ["-c", "exec '\(Executables.playhead)' --socket '\(daemon.socket)' watch </dev/null"],
      environment: ["TERM": "xterm", "NO_COLOR": "1", "LC_ALL": "C"], columnCount: 60)
    try screen(of: terminal) { $0[0].hasPrefix("= 1.wav >-") }
    try terminal.type("- q")
    try client.reply("volume 0.5")
    try screen(of: terminal) { $0[0].hasSuffix(" 50%") }
    #expect(terminal.shown.utf8.allSatisfy { $0 < 0x80 })
    terminal.signal(SIGTERM)
    #expect(try terminal.waitForEnd() == 128 + SIGTERM)
    #expect(isRestored(terminal))
  }
}
