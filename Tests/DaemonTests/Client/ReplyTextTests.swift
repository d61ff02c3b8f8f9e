import DaemonTesting
import Glibc
import RigSupport
import Testing

/// Replies for people: sentences, tables that fit the terminal, dates, and all fields with `--verbose`.
@Suite struct ReplyTextTests {
  private func makeDaemon() throws -> TestServer {
    let daemon = try InProcessServer()
    for file in 1...2 { _ = try daemon.wave(file, frameCount: 48_000 * 83) }
    let loaded = try daemon.playhead("load", "1.wav", "2.wav", "wait=ready", folder: daemon.folder.path)
    try #require(loaded.status == 0)
    return daemon
  }

  @Test func repliesThatFitOneLineAreSentences() throws {
    let daemon = try makeDaemon()
    let rows: [(words: [String], output: String)] = [
      (["seek", "12.25"], "0:12.250 of 1:23.000\n"), (["step", "-1"], "0:12.240 of 1:23.000\n"),
      (["seek", "2:00"], "1:23.000 of 1:23.000 (the requested time is outside the entry)\n"),
      (["volume", "0.5"], "Volume: 0.5\n"), (["volume"], "Volume: 0.5\n"), (["rate", "1.5"], "Rate: 1.5\n"),
      (["default-rate"], "Default rate: 1\n"), (["pan", "0"], "Pan: 0\n"), (["repeat", "all"], "Repeat: all\n"),
      (["pitch"], "Pitch: timeDomain\n"), (["end-action"], "At the end: advance\n"),
      (["on-failure"], "On failure: skip\n"), (["mute", "on"], "Muted\n"), (["mute", "off"], "Not muted\n"),
      (["auto-wait", "off"], "Pauses after an underrun\n"), (["pause"], ""), (["preroll"], "Ready to play\n"),
      (["loop", "1", "2.5", "count=2"], "Loop from 0:01.000 to 0:02.500, 2 more times\n"),
      (["loop", "off"], "No loop\n"),
      (["replay-gain"], "Replay gain: off\n"),
      (["next"], "Entry 2: 2.wav\n"), (["jump", "1"], "Entry 1: 1.wav\n"), (["previous"], "Entry 2: 2.wav\n"),
      (["wait", "status=paused"], "Paused at 0:00.000\n"), (["shuffle", "on", "seed=4"], "Shuffled (seed 4)\n"),
      (["shuffle", "off"], "Not shuffled\n"), (["move", "1", "to=0"], "Moved\n"), (["remove", "2"], "Removed\n"),
      (["player.create", "other"], "Created player other\n"), (["clear"], "The queue is empty\n"),
      (["wait", "ended"], "Paused, no entry\n"),
      (["session.active"], "The session is not active\n"),
      (
        ["session.category", "playback", "mode=moviePlayback"],
        "Category: playback, mode moviePlayback, other audio: interrupted\n"
      ),
      (["session.policy"], "After an interruption: resume; fade: 0.5 s\n"),
      (["output.status"], "null: ready, 48000 Hz, 2 channels; selected: default\n"),
    ]
    for (words, output) in rows {
      let result = try daemon.playhead(["--human"] + words)
      #expect(result.status == 0 && result.output == output, "\(words): \(result)")
    }
  }

  @Test func repliesAboutOneEntryAreSentences() throws {
    let daemon = try makeDaemon()
    let rows: [(words: [String], output: String)] = [
      (["item.end-time", "1"], "Entry 1 plays to its end\n"),
      (["item.end-time", "1", "forward=90", "reverse=2"], "Entry 1 ends at 1:30.000, in reverse at 0:02.000\n"),
      (["item.buffer", "2"], "Entry 2, buffer: chosen by the player\n"),
      (["item.buffer", "2", "3.5"], "Entry 2, buffer: 0:03.500\n"),
      (["item.pitch", "2", "varispeed"], "Entry 2, pitch: varispeed\n"),
      (["item.select", "1", "audio=0"], "Entry 1: audio track 0, no subtitles\n"),
      (["item.volume", "1"], "Entry 1 has no volume changes\n"), (["item.copy", "1"], "Added entry 3\n"),
      (["replace", "3", "2.wav"], "Added entry 4\n"),
      (
        ["item.status", "1"],
        """
        Entry     1
        File      \(daemon.folder.file("1.wav"))
        Status    readyToPlay
        Duration  1:23.000
        Ends at   1:30.000

        """
      ),
    ]
    for (words, output) in rows {
      let result = try daemon.playhead(["--human"] + words, folder: daemon.folder.path)
      #expect(result.status == 0 && result.output == output, "\(words): \(result)")
    }
  }

  @Test func chaptersAndBookmarksAreSentences() throws {
    let folder = try TemporaryDirectory("chapters")
    let daemon = try TestDaemon("--clock", "virtual", "--output", "null", "--state", folder.file("state"))
    let chapters = [(0, 30, "One"), (30, 60, "Two"), (60, 83, "Three")].map { start, end, title in
      "[CHAPTER]\nTIMEBASE=1/1\nSTART=\(start)\nEND=\(end)\ntitle=\(title)\n"
    }
    let metadata = try folder.write("chapters.txt", Array((";FFMETADATA1\n" + chapters.joined()).utf8))
    let book = folder.file("book.mka")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-i", try daemon.wave(1, frameCount: 48_000 * 83), "-i", metadata, "-map_metadata",
      "1",
      "-c", "copy", book,
    ])
    for (words, output) in [
      (["load", book, "wait=ready"], "Loaded 1 entry\n"), (["next-chapter"], "0:30.000 of 1:23.000\n"),
      (["next-chapter"], "1:00.000 of 1:23.000\n"), (["previous-chapter"], "0:30.000 of 1:23.000\n"),
      (["bookmark.add", "0:45.5", "name=here"], "Bookmark 1 at 0:45.500: here\n"),
      (["bookmark.go", "1"], "0:45.500 of 1:23.000\n"),
    ] {
      let result = try daemon.playhead(["--human"] + words)
      #expect(result == .init(status: 0, output: output, errors: ""), "\(words)")
    }
  }

  /// The last entry of a CUE sheet extends to the end of the file, which has no number.
  @Test func entriesOfACueSheetHaveTheirPartOfTheFile() throws {
    let daemon = try makeDaemon()
    let tracks = (1...2).map {
      "TRACK 0\($0) AUDIO\nTITLE \"Part \($0)\"\nINDEX 01 \($0 == 1 ? "00:00:00" : "00:40:00")\n"
    }
    try daemon.folder.write("disc.cue", Array("FILE \"1.wav\" WAVE\n\(tracks.joined())".utf8))
    #expect(try daemon.playhead("load", "disc.cue", "wait=ready", folder: daemon.folder.path).status == 0)
    let list = try daemon.playhead("list", "--human").output
    #expect(list.contains("0:40  Part 1 (0:00-0:40)\n") && list.contains("Part 2 (0:40-)\n"), "\(list)")
  }

  /// The entry is opened for its state and for decoding: two requests with the same result.
  @Test func logOfAnEntryHasEachLineOnce() throws {
    let daemon = try makeDaemon()
    let client = try daemon.connect()
    try client.reply("on-failure stop")
    try client.reply("load http://127.0.0.1:9/a.ogg")
    try client.reply("play")
    #expect(try client.reply("wait ready").hasPrefix("error code="))
    let log = try daemon.playhead("item.log", "--human")
    let lines = log.output.split(separator: "\n")
    print(log.output)
    #expect(log.status == 0 && lines.first?.hasPrefix("KIND") == true, "\(log)")
    #expect(lines.contains { $0.hasPrefix("access ") } && lines.contains { $0.hasPrefix("error ") }, "\(log)")
    #expect(Set(lines).count == lines.count, "\(log)")
  }

  @Test func reloadOfTheConfigurationIsDescribed() throws {
    let folder = try TemporaryDirectory("reload")
    try folder.write("a.toml", Array("[limits]\nplayers = 5\n".utf8))
    let daemon = try TestDaemon(
      "--config", folder.file("a.toml"), "--no-state", "--clock", "virtual", "--output", "null")
    #expect(try daemon.playhead("config.reload", "--human").output == "The configuration has not changed\n")
    try folder.write("a.toml", Array("[limits]\nplayers = 6\n".utf8))
    #expect(try daemon.playhead("config.reload", "--human").output == "Changed: limits.players\n")
  }

  @Test func statusShowsWhyTheCurrentItemFailed() throws {
    let daemon = try makeDaemon()
    let client = try daemon.connect()
    #expect(field("error", try client.reply("status")) == nil)
    try client.reply("on-failure stop")
    try client.reply("load \(daemon.folder.file("none.flac"))")
    try client.reply("play")
    #expect(try client.reply("wait ready").hasPrefix("error code="))
    let status = try client.reply("status")
    #expect(field("itemStatus", status) == "failed" && field("error", status) == "file-not-found", "\(status)")
    #expect(status.contains("none.flac"), "\(status)")
    let shown = try daemon.playhead("status", "--human").output
    #expect(shown.contains("\nFile    failed: there is no file \(daemon.folder.file("none.flac"))\n"), "\(shown)")
  }

  @Test func verbosePrintsAllFields() throws {
    let daemon = try makeDaemon()
    let seek = try daemon.playhead("seek", "12.25", "--human", "--verbose").output
    #expect(seek.hasPrefix("finished   true\nitem       1\ntime       0:12.250\npts        588000/48000\n"), "\(seek)")
    let status = try daemon.playhead("--verbose", "--human", "status").output
    #expect(status.contains("timeControlStatus  ") && status.contains("\npts  "), "\(status)")
    let list = try daemon.playhead("--verbose", "--human", "list").output
    #expect(list.hasPrefix("ITEM  INDEX  PATH"), "\(list)")
    let raw = try daemon.playhead("volume", "--verbose")
    #expect(raw.output == "volume=1\n", "\(raw)")
  }

  @Test func stepsOfASeekHaveUnits() throws {
    let daemon = try makeDaemon()
    try daemon.connect().reply("seek 12.25")
    let text = try daemon.playhead("explain", "--human").output
    let lines = text.split(separator: "\n")
    #expect(lines.first == "seek of entry 1 at 0:12.250", "\(text)")
    #expect(lines.count == 10 && lines.dropFirst().allSatisfy { $0.hasSuffix(" ms") }, "\(text)")
    #expect(Set(lines.dropFirst().map(\.count)).count == 1, "\(text)")
  }

  @Test func tablesFitTheTerminal() throws {
    let daemon = try makeDaemon()
    let name = String(repeating: "long ", count: 40) + ".wav"
    try daemon.folder.write(name, try Files.read(daemon.folder.file("1.wav")))
    _ = try daemon.playhead("append", name, "wait=ready", folder: daemon.folder.path)
    for (words, rowCount) in [(["item.tracks", "1"], 4), (["list"], 4)] {
      let terminal = try TerminalProgram(
        Executables.playhead, ["--socket", daemon.socket] + words, environment: ["NO_COLOR": "1", "LC_ALL": "C.UTF-8"],
        columnCount: 40)
      #expect(try terminal.waitForEnd() == 0)
      let lines = terminal.shown.split(separator: "\r\n", omittingEmptySubsequences: true)
      #expect(lines.allSatisfy { $0.count < 40 } && lines.contains { $0.hasSuffix("…") }, "\(terminal.shown)")
      #expect(lines.count >= rowCount, "\(terminal.shown)")
    }
  }

  @Test func datesAreInLocalTime() throws {
    let folder = try TemporaryDirectory("dates")
    let daemon = try TestDaemon("--clock", "virtual", "--output", "null", "--state", folder.file("state"))
    let path = try daemon.wave(1, frameCount: 48_000)
    for words in [["load", path, "wait=ready"], ["queue.save", "party"], ["bookmark.add", "0.5", "name=here"]] {
      let result = try daemon.playhead(words)
      try #require(result.status == 0, "\(result)")
    }
    let date = /\d{4}-\d{2}-\d{2} \d{2}:\d{2}/
    for command in ["queue.saved", "bookmark.list"] {
      let text = try daemon.playhead(command, "--human").output
      #expect(text.contains("SAVED") && text.contains(date), "\(text)")
      #expect(try !daemon.playhead(command).output.contains(date))
    }
    #expect(try daemon.playhead("queue.save", "party", "--human").output == "Saved 1 entry as party\n")
    #expect(try daemon.playhead("queue.load", "party", "--human").output == "Loaded 1 entry of party\n")
    #expect(try daemon.playhead("wait", "ready").status == 0)
    #expect(
      try daemon.playhead("bookmark.add", "0.5", "name=here", "--human").output == "Bookmark 1 at 0:00.500: here\n")
  }

  @Test func shellPrintsRepliesForPeopleOnATerminal() throws {
    let daemon = try makeDaemon()
    func shell(_ arguments: String...) throws -> TerminalProgram {
      let terminal = try TerminalProgram(
        Executables.playhead, ["--socket", daemon.socket, "shell"] + arguments,
        environment: [
          "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "TERM": "xterm", "XDG_STATE_HOME": daemon.folder.file("state"),
        ])
      try terminal.wait(for: "playhead> ")
      return terminal
    }
    let terminal = try shell()
    for (line, output) in [
      ("seek 12.25", "\u{1B}[K0:12.250 of 1:23.000\r\n"), ("bogus", "\u{1B}[Kerror: unknown command 'bogus'"),
      ("volume -0.25", "\u{1B}[KVolume: 0.75\r\n"), ("volume -6dB", "\u{1B}[KVolume: 0.376\r\n"),
      ("volume 0.5", "\u{1B}[KVolume: 0.5\r\n"), ("list", "\n   2   2  1:23  2.wav\r\n"),
      ("@7 volume", "\u{1B}[K@7 ok volume=0.5\r\n"), ("volume \"", "is not closed"),
      ("status", "\r\nTitle   1.wav\r\n"),
      (#"{"jsonrpc":"2.0","id":1,"method":"volume"}"#, #""result":{"volume":0.5}"#), ("pan", "\u{1B}[KPan: 0\r\n"),
      ("queue.begin", "version"), ("remove 2", "\u{1B}[KPending edits: 1\r\n"), ("queue.abort", "version"),
    ] {
      try terminal.type("\(line)\r")
      try terminal.wait(for: output)
    }
    try terminal.type("\u{4}")
    #expect(try terminal.waitForEnd() == 0)
    let raw = try shell("--raw")
    try raw.type("volume\r")
    try raw.wait(for: "\u{1B}[Kok volume=0.5\r\n")
    raw.signal(SIGKILL)
    _ = try raw.waitForEnd()
  }
}
