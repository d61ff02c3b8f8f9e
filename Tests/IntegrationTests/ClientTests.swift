import Glibc
import Testing

/// `playhead`, the client, against a daemon.
@Suite struct ClientTests {
  @Test func answersGoToStandardOutputWithoutTheirOk() throws {
    let daemon = try TestDaemon("--clock", "virtual")
    let path = try daemon.wave(1, frameCount: 48_000)
    #expect(try daemon.playhead("ping") == .init(status: 0, output: "", errors: ""))
    #expect(
      try daemon.playhead("append", path, "wait=ready") == .init(status: 0, output: "items=1 version=1\n", errors: ""))
    #expect(
      try daemon.playhead("list").output
        == "item=1 index=0 path=\(path) status=readyToPlay duration=1 current=true\ncount=1 version=1\n")
    #expect(try daemon.playhead("--json", "volume", "0.5").output == "{\"volume\":0.5}\n")
    #expect(try daemon.playhead("volume", "--json").output == "{\"volume\":0.5}\n")
    #expect(
      try daemon.playhead("seek", "0.5").output == "finished=true item=1 time=0.5 pts=24000/48000 requested=0.5\n")
    #expect(try daemon.playhead("seek", "-0.25").output.contains("time=0.25 "))
  }

  @Test func theStatusSaysWhatHappened() throws {
    let daemon = try TestDaemon("--clock", "virtual")
    let refused = try daemon.playhead("seek", "5")
    #expect(refused.status == 1)
    #expect(refused.output == "")
    #expect(refused.errors.contains("no current item"))
    #expect(try daemon.playhead("no-such-command").status == 1)
    #expect(try daemon.playhead("--json", "seek", "5").status == 1)
    #expect(try daemon.playhead("wait", "ready", "--timeout", "0").status == 1)
    #expect(try daemon.playhead("wait", "ended").status == 0)
    #expect(try daemon.playhead("wait", "status=paused", "--timeout=0").status == 0)
    for misuse in [[], ["--bogus"], ["status", "--bogus"], ["wait", "ready", "--timeout"], ["watch", "--tick"]] {
      let outcome = try Program(Executables.playhead, ["--socket", daemon.socket] + misuse).waitForEnd()
      #expect(outcome.status == 2, "\(misuse)")
      #expect(!outcome.errors.isEmpty)
    }
    let nobody = try Program(Executables.playhead, ["--socket", "/nowhere/socket", "ping"]).waitForEnd()
    #expect(nobody.status == 3)
    #expect(nobody.errors.contains("no daemon at /nowhere/socket"))
  }

  @Test func relativePathsAreMadeAbsolute() throws {
    let daemon = try TestDaemon("--clock", "virtual")
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

  @Test func watchPrintsEventsAsTheyCome() throws {
    let daemon = try TestDaemon("--clock", "virtual")
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
    try daemon.stop()
    let outcome = try watch.waitForEnd()
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("stopping"))
  }

  @Test func watchSaysWhatItCannotWatch() throws {
    let daemon = try TestDaemon("--output", "null")
    let outcome = try daemon.playhead("watch", "--observe", "player.nothing")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("player.nothing"))
  }

  @Test func theShellRunsWhatItReads() throws {
    let daemon = try TestDaemon("--clock", "virtual")
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
    #expect(lines.dropFirst().prefix(2) == ["ok items=1 version=1", "@x ok"])
    #expect(lines.last?.hasPrefix("ok finished=true item=1 time=0.5 ") == true)
  }
}
