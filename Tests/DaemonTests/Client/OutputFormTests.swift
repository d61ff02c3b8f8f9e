import DaemonTesting
import Glibc
import Testing

/// The output forms: for people, for scripts, for machines.
@Suite struct OutputFormTests {
  private func daemonWithQueue() throws -> TestServer {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 48_000 * 83)
    let copy = daemon.folder.file("a\u{1B}[2Jb.wav")
    try daemon.folder.write("a\u{1B}[2Jb.wav", try Files.read(path))
    try client.reply("append \(path) wait=ready")
    try client.reply("append \"\(copy.replacing("\u{1B}", with: "\\x1b"))\" wait=ready")
    try client.reply("append /nowhere/三.flac")
    // It is opened in advance; until then the error is unknown.
    try client.reply("observe item.status")
    while let line = try client.line(), !(line.contains("item=3 ") && line.contains("new=failed")) {}
    return daemon
  }

  @Test func outputIsHumanReadableOnTerminalsAndRawElsewhere() throws {
    let daemon = try daemonWithQueue()
    let raw = try daemon.playhead("list").output
    #expect(
      raw.hasPrefix("item=1 index=0 path=\(daemon.folder.path)/1.wav status=readyToPlay duration=83 current=true\n"))
    #expect(try daemon.playhead("--raw", "list").output == raw)
    let human = try daemon.playhead("list", "--human").output
    #expect(
      human == """
           #  ID  TIME  TITLE
        >  1   1  1:23  1.wav
           2   2  1:23  a\u{FFFD}[2Jb.wav
           3   3     -  三.flac (file-not-found)

        """, "\(human)")
    let terminal = try TerminalProgram(
      Executables.playhead, ["--socket", daemon.socket, "list"],
      environment: ["NO_COLOR": "1", "TERM": "xterm", "LC_ALL": "C.UTF-8"])
    #expect(try terminal.waitForEnd() == 0)
    #expect(terminal.shown.replacing("\r\n", with: "\n") == human)
    // In an ASCII locale, other characters are replaced; scripts get them unchanged.
    func ascii(_ form: String) throws -> String {
      try Program(
        Executables.playhead, ["--socket", daemon.socket, "list", form], environment: ["LC_ALL": "C"]
      ).waitForEnd().output
    }
    #expect(try ascii("--human") == human.replacing("\u{FFFD}", with: "?").replacing("三", with: "?"))
    #expect(try ascii("--raw") == raw)
    let rawTerminal = try TerminalProgram(Executables.playhead, ["--socket", daemon.socket, "list", "--raw"])
    #expect(try rawTerminal.waitForEnd() == 0)
    #expect(rawTerminal.shown.replacing("\r\n", with: "\n") == raw)
  }

  @Test func colorsAreUsedOnlyOnSupportingTerminals() throws {
    let daemon = try daemonWithQueue()
    for (environment, isColored) in [
      (["TERM": "xterm", "NO_COLOR": nil], true), (["TERM": "xterm", "NO_COLOR": ""], true),
      (["TERM": "xterm", "NO_COLOR": "1"], false), (["TERM": "dumb", "NO_COLOR": nil], false),
    ] as [([String: String?], Bool)] {
      for arguments in [["list"], ["remove", "99"]] {
        let terminal = try TerminalProgram(
          Executables.playhead, ["--socket", daemon.socket] + arguments, environment: environment)
        #expect(try terminal.waitForEnd() == (arguments == ["list"] ? 0 : 1))
        print("\(environment) \(arguments): \(isColored ? "coloured" : "plain")")
        #expect(terminal.shown.contains("\u{1B}[") == isColored, "\(environment): \(terminal.shown)")
      }
    }
    #expect(!(try daemon.playhead("list", "--human").output.contains("\u{1B}")))
  }

  @Test func humanReadableOutputHasStatesTimesAndTables() throws {
    let daemon = try daemonWithQueue()
    _ = try daemon.playhead("seek", "12.5")
    let status = try daemon.playhead("status", "--human").output
    for line in [
      "State   paused\n", "Title   1.wav\n", "Time    0:12.500 of 1:23.000\n", "Entry   1, the first of 3\n",
      "Volume  1\n",
    ] {
      #expect(status.contains(line), "\(status)")
    }
    let tracks = try daemon.playhead("item.tracks", "1", "--human").output
    #expect(tracks.hasPrefix("TRACK  TYPE   CODEC "), "\(tracks)")
    let lines = tracks.split(separator: "\n")
    #expect(lines.count > 1 && lines[1].contains("audio  pcm_s16le"), "\(tracks)")
    let players = try daemon.playhead("player.list", "--human").output
    #expect(
      players.hasPrefix("PLAYER  TIMECONTROLSTATUS  RATE  ITEM  COUNT  VOLUME  ISMUTED  TEMPORARY\nmain    paused"),
      "\(players)")
    // The columns of texts are shortened to the width of the terminal.
    let narrow = try TerminalProgram(
      Executables.playhead, ["--socket", daemon.socket, "item.tracks", "1"], environment: ["NO_COLOR": "1"],
      columnCount: 40)
    #expect(try narrow.waitForEnd() == 0)
    #expect(narrow.shown.contains("CODEC") && narrow.shown.contains("pcm_s16le"), "\(narrow.shown)")
    #expect(narrow.shown.split(separator: "\r\n").allSatisfy { $0.count < 40 }, "\(narrow.shown)")
    #expect(try daemon.playhead("list", "player=unknown", "--human").status == 1)
    _ = try daemon.playhead("clear")
    #expect(try daemon.playhead("list", "--human").output == "The queue is empty.\n")
  }

  @Test func everyCommandPrintsJSONOnRequest() throws {
    let daemon = try daemonWithQueue()
    let path = daemon.folder.file("1.wav")
    let info = try daemon.playhead("info", "--json", path, "/nowhere")
    #expect(info.status == 1)
    #expect(info.output.hasPrefix(#"{"file":"\#(path)","duration":83,"#), "\(info.output)")
    #expect(info.output.contains(#""tracks":[{"track":0,"type":"audio","codec":"pcm_s16le""#), "\(info.output)")
    #expect(info.output.hasSuffix("\"tags\":[]}\n"), "\(info.output)")
    #expect(info.errors.hasPrefix(#"{"error":{"code":2001,"name":"file-not-found","message":""#), "\(info.errors)")
    #expect(try daemon.playhead("tags", "--json", path).output == "{\"file\":\"\(path)\",\"tags\":[]}\n")
    let list = daemon.folder.file("list.m3u8")
    #expect(try daemon.playhead("save", "--json", list).output == "{\"format\":\"m3u8\",\"count\":3,\"skipped\":0}\n")
    let added = try daemon.playhead("add", "--json", path)
    #expect(added.output == "{\"items\":[4],\"version\":4,\"leftOut\":[]}\n", "\(added)")
    let scan = try daemon.playhead("scan", "--json", path)
    #expect(scan.output.hasPrefix("{"), "\(scan)")
    // Includes all errors of JSON-RPC.
    let rejected = try daemon.playhead("--json", "remove", "99")
    #expect(rejected.status == 1 && rejected.output == "")
    #expect(rejected.errors.hasPrefix(#"{"error":{"code":2004,"name":"no-such-item","message":""#), "\(rejected)")
  }
}
