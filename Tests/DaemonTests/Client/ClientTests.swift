import DaemonTesting
import Glibc
import Testing

/// `playhead`, the client, against a daemon.
@Suite struct ClientTests {
  @Test func repliesArePrintedWithoutTheirOK() throws {
    let daemon = try InProcessServer()
    let path = try daemon.wave(1, frameCount: 48_000)
    #expect(try daemon.playhead("ping") == .init(status: 0, output: "now=0\n", errors: ""))
    #expect(
      try daemon.playhead("append", path, "wait=ready") == .init(status: 0, output: "items=1 version=1\n", errors: ""))
    #expect(
      try daemon.playhead("list").output
        == "item=1 index=0 path=\(path) status=readyToPlay duration=1 current=true\ncount=1 version=1 next=none\n")
    #expect(try daemon.playhead("--json", "volume", "0.5").output == "{\"volume\":0.5}\n")
    #expect(try daemon.playhead("volume", "--json").output == "{\"volume\":0.5}\n")
    #expect(
      try daemon.playhead("seek", "0.5").output
        == "finished=true item=1 time=0.5 pts=24000/48000 requested=0.5 before=0 after=0 exact=true clamped=false us=0"
        + " hostTime=none\n"
    )
    #expect(
      try daemon.playhead("explain").output
        == "player=main kind=seek item=1 requested=0.5 reached=0.5 wait=0 open=0 index=0 demux=0 decode=0 resample=0"
        + " commit=0 device=none total=0\n")
    #expect(try daemon.playhead("seek", "0.5", "--chase").output.contains("finished=true"))
    #expect(try daemon.playhead("seek", "-0.25").output.contains("time=0.25 "))
  }

  @Test func exitStatusDistinguishesErrorsFromAMissingDaemon() throws {
    let daemon = try InProcessServer()
    let rejected = try daemon.playhead("seek", "5")
    #expect(rejected.status == 1)
    #expect(rejected.output == "")
    #expect(rejected.errors.contains("no current item"))
    #expect(try daemon.playhead("--json", "seek", "5").status == 1)
    #expect(try daemon.playhead("wait", "ready", "--timeout", "0").status == 1)
    #expect(try daemon.playhead("wait", "ended").status == 0)
    #expect(try daemon.playhead("wait", "status=paused", "--timeout=0").status == 0)
    let unreachable = try Program(Executables.playhead, ["--socket", "/nowhere/socket", "ping"]).waitForEnd()
    #expect(unreachable.status == 3)
    #expect(unreachable.errors.contains("no daemon at /nowhere/socket"))
  }

  @Test func invalidArgumentsAreRejectedWithoutADaemon() throws {
    for arguments in [
      [], ["--bogus"], ["status", "--bogus"], ["wait", "ready", "--timeout"], ["watch", "--tick"], ["seek"], ["wait"],
      ["wait", "forever"], ["seek", "tomorrow"], ["volume", "2"], ["remove"], ["remove", "one"],
      ["observe", "player.nothing"],
      ["play", ""], ["play", "wait=ready"], ["play", "a.flac", "--bogus"], ["load"], ["load", ""],
      ["append", "a.flac", ""], ["insert", ""], ["load", "a.flac", "wait=never"],
      ["load", "gopher://example.org/a.mp3"],
      ["watch", "--tick", "0"], ["watch", "--at", "-1"], ["watch", "--observe", "player.nothing"], ["--json", "seek"],
      ["--json", "load", ""], ["--socket"], ["--socket", "", "ping"], ["--socket=", "ping"], ["status", "player=a b"],
      ["append", String(repeating: "a", count: 70_000)],
    ] {
      let outcome = try Program(
        Executables.playhead, ["--socket", "/nowhere/socket"] + arguments, folder: "/"
      ).waitForEnd()
      #expect(outcome.status == 2, "\(arguments.map { $0.prefix(80) }): \(outcome)")
      #expect(outcome.errors.hasPrefix(arguments.contains("--json") ? #"{"error":{"# : "playhead: "))
      #expect(outcome.output == "")
    }
  }

  /// With and without a daemon.
  @Test func unknownCommandsAreWrongUse() throws {
    let daemon = try InProcessServer()
    for (word, hint) in [
      ("levitate", "playhead help lists the commands"), ("paus", "did you mean pause?"),
      ("wach", "did you mean watch?"),
      ("current", "use playhead get --format '{artist} - {title}'"), ("title", "use playhead get title"),
      ("quit", "playhead stop ends playback; the signal SIGTERM ends playheadd"),
    ] {
      for words in [[word], ["help", word]] {
        for socket in [daemon.socket, "/nowhere/socket"] {
          let outcome = try Program(Executables.playhead, ["--socket", socket] + words).waitForEnd()
          #expect(
            outcome == .init(status: 2, output: "", errors: "playhead: unknown command '\(word)'; \(hint)\n"))
        }
      }
    }
  }

  @Test func aliasesHaveTheEffectOfTheirCommands() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connectWithQueue()
    #expect(try client.reply("play") == "ok")
    #expect(try daemon.playhead("ls", "limit=1") == daemon.playhead("list", "limit=1"))
    #expect(try daemon.playhead("vol", "0.5").output == "volume=0.5\n")
    #expect(try daemon.playhead("skip").status == 0)
    #expect(try daemon.playhead("get", "item").output == "2\n")
    #expect(try daemon.playhead("prev").status == 0)
    #expect(try daemon.playhead("help", "prev").output == daemon.playhead("previous", "--help").output)
    #expect(
      try daemon.playhead("help").output.hasSuffix("ls for list, prev for previous, skip for next, vol for volume.\n"))
  }

  /// A waiting client exits with a specific status when the daemon ends, for any reason.
  @Test(arguments: [SIGTERM, SIGKILL], [[], ["--json"]])
  func endOfTheDaemonGivesStatus3(signal: Int32, form: [String]) throws {
    let daemon = try TestDaemon("--clock", "virtual")
    let observer = try daemon.connect()
    let waiting = try [["wait", "status=playing"], ["clock.advance", "1"], ["wait", "time>=1", "--timeout", "1000"]].map
    {
      try Program(Executables.playhead, ["--socket", daemon.socket] + form + $0)
    }
    let watch = try Program(Executables.playhead, ["--socket", daemon.socket] + form + ["watch", "--tick", "1"])
    // Until the daemon has received the requests: two of the three wait, `clock.advance` has finished.
    #expect(try waiting[1].waitForEnd().status == 0)
    while field("requests", try observer.reply("stats")).flatMap({ Int($0) }) ?? 0 < 5 {}
    daemon.process.signal(signal)
    for program in [waiting[0], waiting[2], watch] {
      let outcome = try program.waitForEnd()
      #expect(outcome.status == 3, "\(outcome)")
      #expect(outcome.errors.hasPrefix(form.isEmpty ? "playhead: " : #"{"error":{"#))
    }
  }

  @Test func relativePathsAreMadeAbsolute() throws {
    let daemon = try InProcessServer()
    let folder = daemon.folder.path
    let source = try Files.read(try daemon.wave(1, frameCount: 480))
    for name in ["plain.wav", "-dash.wav", "a=b.wav", "two words.wav"] { try daemon.folder.write(name, source) }
    let outcome = try daemon.playhead(
      "load", "--wait", "ready", "--", "plain.wav", "./two words.wav", "-dash.wav", "a=b.wav", folder: folder)
    #expect(outcome == .init(status: 0, output: "items=1,2,3,4 version=1\n", errors: ""))
    let list = try daemon.playhead("list").output
    for path in ["path=\(folder)/plain.wav ", "path=\"\(folder)/two words.wav\" ", "path=\(folder)/-dash.wav "] {
      #expect(list.contains(path), "\(path)")
    }
    // A name that is not UTF-8.
    let name: [UInt8] = Array("caf".utf8) + [0xe9] + Array(".wav".utf8)
    try Files.write(Array("\(folder)/".utf8) + name, source)
    let arguments = ["--socket", daemon.socket, "append", "wait=ready"].map { Array($0.utf8) } + [name]
    #expect(try Program(Executables.playhead, arguments, folder: folder).waitForEnd().output == "items=5 version=2\n")
    // The same within edits.
    let edit = try daemon.playhead("queue.edit", "insert plain.wav", "append 'two words.wav'", folder: folder)
    #expect(edit == .init(status: 0, output: "items=6,7 version=3\n", errors: ""))
    let edited = try daemon.playhead("list", "offset=1").output
    #expect(edited.contains("item=6 index=1 path=\(folder)/plain.wav "))
    #expect(edited.contains("item=7 index=6 path=\"\(folder)/two words.wav\" "))
  }

  @Test func helpNeedsNoDaemon() throws {
    for arguments in [
      ["--help"], ["help"], ["help", "seek"], ["seek", "--help"], ["watch", "--help"], ["--version"],
    ] {
      let outcome = try Program(Executables.playhead, ["--socket", "/nowhere"] + arguments).waitForEnd()
      #expect(outcome.status == 0, "\(arguments)")
      #expect(!outcome.output.isEmpty)
    }
    #expect(try Program(Executables.playhead, ["help", "no-such"]).waitForEnd().status == 2)
  }

  @Test func watchPrintsEventsAsTheyOccur() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 48_000)) wait=ready")
    let watch = try Program(
      Executables.playhead,
      ["--socket", daemon.socket, "watch", "--tick", "0.25", "--at", "0.3", "0.6", "--observe", "player.rate"])
    #expect(try watch.waitForLine()?.hasPrefix("* changed id=3 player=main key=player.rate new=0 ") == true)
    try client.reply("play")
    try client.reply("clock.advance 0.6")
    #expect(try watch.waitForLine()?.contains("key=player.rate old=0 new=1 cause=request") == true)
    var times: [String] = []
    while times.last != "0.6", let line = try watch.waitForLine() {
      if field("reason", line) != "start", let time = field("time", line) { times.append(time) }
    }
    #expect(times == ["0.25", "0.3", "0.5", "0.6"])
    try daemon.finish()
    let outcome = try watch.waitForEnd()
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("stopping"))
  }

  @Test func watchReportsAnUnknownPlayer() throws {
    let daemon = try TestDaemon("--output", "null")
    let outcome = try daemon.playhead("watch", "--observe", "player.rate", "--player", "unknown")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("no-such-player"))
  }

  @Test func shellRunsTheCommandsThatItReads() throws {
    let daemon = try InProcessServer()
    try daemon.folder.write("script", Array("load 1.wav wait=ready\n@x ping\nbogus\nseek 0.5".utf8))
    _ = try daemon.wave(1, frameCount: 48_000)
    let script = open(daemon.folder.file("script"), O_RDONLY | O_CLOEXEC)
    defer { close(script) }
    let shell = try Program(
      Executables.playhead, ["--socket", daemon.socket, "shell"], input: script, folder: daemon.folder.path)
    let outcome = try shell.waitForEnd()
    #expect(outcome.status == 1)
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 5)
    #expect(lines.dropFirst().prefix(2) == ["ok items=1 version=1", "@x ok now=0"])
    #expect(lines.last?.hasPrefix("ok finished=true item=1 time=0.5 ") == true)
  }

  @Test func exitStatusOfTheShellReportsTheEndOfTheDaemon() throws {
    for (script, signal, status) in [
      ("@w wait status=playing\n", SIGTERM, 3), ("@w wait status=playing\n", SIGKILL, 3), ("ping\nbye\nping\n", 0, 0),
    ] {
      let daemon = try TestDaemon("--clock", "virtual")
      try daemon.folder.write("script", Array(script.utf8))
      let input = open(daemon.folder.file("script"), O_RDONLY | O_CLOEXEC)
      defer { close(input) }
      let shell = try Program(Executables.playhead, ["--socket", daemon.socket, "shell"], input: input)
      #expect(try shell.waitForLine()?.hasPrefix("* hello ") == true)
      let observer = try daemon.connect()
      if signal != 0 {
        while field("requests", try observer.reply("stats")).flatMap({ Int($0) }) ?? 0 < 2 {}
        daemon.process.signal(Int32(signal))
      }
      let outcome = try shell.waitForEnd()
      #expect(Int(outcome.status) == status, "\(outcome)")
    }
  }

  /// Output during typing is printed above the line, which is then drawn again.
  @Test func shellRedrawsTheTypedLineAfterOutput() throws {
    let daemon = try InProcessServer()
    let other = try daemon.connect()
    let terminal = try Terminal()
    let before = terminal.mode
    let shell = try Program(
      Executables.playhead, ["--socket", daemon.socket, "shell"],
      environment: ["XDG_STATE_HOME": daemon.folder.file("state")], input: terminal.keyboard)
    #expect(try shell.waitForLine()?.contains("* hello ") == true)
    try terminal.type("observe player.volume\r")
    #expect(try shell.waitForLine()?.hasSuffix("playhead> observe player.volume") == true)
    #expect(try shell.waitForLine()?.unnumbered.hasSuffix("ok id=1") == true)
    #expect(try shell.waitForLine()?.contains("new=1 cause=initial") == true)
    // A partial line with editing keys: é is two bytes and one character; the arrow shows the previous line.
    try terminal.type("bogus é\u{7f}\u{17}\u{1b}[Avolume 0.\u{15}volume 0.")
    try shell.waitForText("\r\u{1b}[Kplayhead> volume 0.")
    try other.reply("volume 0.5")
    #expect(try shell.waitForLine()?.contains("\r\u{1b}[K* changed id=1") == true)
    try shell.waitForText("\r\u{1b}[Kplayhead> volume 0.")
    try terminal.type("25\r")
    #expect(try shell.waitForLine()?.hasSuffix("playhead> volume 0.25") == true)
    while try shell.waitForLine()?.hasSuffix("ok volume=0.25") == false {}
    #expect(try other.reply("volume") == "ok volume=0.25")
    // For a line wider than the terminal (80 columns by default), only its end is shown, on one row.
    try terminal.type(String(repeating: "é", count: 100))
    try shell.waitForText("\r\u{1b}[Kplayhead> " + String(repeating: "é", count: 69))
    try terminal.type("\u{15}\u{4}")
    let outcome = try shell.waitForEnd()
    #expect(outcome.status == 0, "\(outcome)")
    #expect(terminal.mode == before)
  }

  @Test func shellRestoresTheTerminalMode() throws {
    for (keys, signal, status) in [("play\u{3}\u{4}", nil, 0), ("play", SIGTERM, 128 + SIGTERM)] {
      let daemon = try InProcessServer()
      let terminal = try Terminal()
      let before = terminal.mode
      let shell = try Program(
        Executables.playhead, ["--socket", daemon.socket, "shell"],
        environment: ["XDG_STATE_HOME": daemon.folder.file("state")], input: terminal.keyboard)
      #expect(try shell.waitForLine()?.contains("* hello ") == true)
      #expect(terminal.mode != before)
      try terminal.type(keys)
      if let signal {
        try shell.waitForText("playhead> play")
        shell.signal(signal)
      }
      #expect(try shell.waitForEnd().status == status)
      #expect(terminal.mode == before)
    }
  }

  /// For each output: a table, file information, a message.
  @Test(arguments: ["scan", "info", "tags"])
  func controlCharactersInFileNamesAreNotPrinted(command: String) throws {
    let daemon = try InProcessServer()
    let source = try Files.read(try daemon.wave(1, frameCount: 48_000))
    let name = "a\u{1B}[2Jb\u{7}\u{9B}\u{202E}c\u{2067}d.wav"
    try daemon.folder.write(name, source)
    let shown = "a\u{FFFD}[2Jb\u{FFFD}\u{FFFD}\u{FFFD}c\u{FFFD}d.wav"
    let outcome = try daemon.playhead(command, name, folder: daemon.folder.path)
    #expect(outcome.status == 0 && outcome.output.contains(shown), "\(outcome)")
    let missing = try daemon.playhead(command, "no\u{1B}[2J.wav", folder: daemon.folder.path)
    #expect(missing.status == 1 && (missing.output + missing.errors).contains("no\u{FFFD}[2J.wav"), "\(missing)")
    for text in [outcome.output, missing.output, missing.errors] {
      #expect(
        !text.unicodeScalars.contains {
          ($0.properties.generalCategory == .control && $0 != "\n") || "\u{202E}\u{2067}".unicodeScalars.contains($0)
        }, "\(text)")
    }
  }
}
