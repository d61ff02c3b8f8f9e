import DaemonTesting
import Glibc
import Testing

/// Shell completion: the client's output, and the results in the shells.
@Suite struct CompletionTests {
  private func completions(_ words: String..., socket: String = "/nowhere/socket") throws -> [String] {
    let outcome = try Program(
      Executables.playhead, ["complete", "--"] + words, environment: ["PLAYHEAD_SOCKET": socket]
    ).waitForEnd()
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(words): \(outcome)")
    return outcome.output.split(separator: "\n").map {
      String($0.split(separator: "\t", omittingEmptySubsequences: false)[0])
    }
  }

  @Test func everyCommandOfTheHelpIsCompleted() throws {
    let help = try Program(Executables.playhead, ["help"]).waitForEnd().output
    let names = help.split(separator: "\n").filter { $0.hasPrefix("  ") }.compactMap { $0.split(separator: " ").first }
    #expect(names.count > 90)
    let offered = Set(try completions(""))
    for name in names { #expect(offered.contains(String(name)), "\(name)") }
    #expect(!offered.contains("complete"))
  }

  @Test func completionsFitTheArgumentPosition() throws {
    let table: [(words: [String], offered: [String])] = [
      (["tog"], ["words", "toggle"]), (["--js"], ["words", "--json"]), (["--socket", ""], ["files"]),
      (["--json", "tog"], ["words", "toggle"]), (["--socket", "/x", "tog"], ["words", "toggle"]),
      (["seek", "10", "fa"], ["words", "fast"]), (["seek", "e"], ["words", "end"]),
      (["mute", "t"], ["words", "toggle"]),
      (["seek", "10", "--aft"], ["words", "--after"]), (["pitch", "s"], ["words", "spectral"]),
      (["replay-gain", "--protect", "o"], ["words", "on", "off"]), (["load", ""], ["files"]),
      (["load", "wa"], ["files", "wait="]),
      (["export", "a", "-o", ""], ["files"]), (["export", "a", "-o"], ["words", "-o"]),
      (["load", "wait="], ["words", "wait=ready"]), (["load", "--", "wa"], ["files"]),
      (["item.artwork", "1", "file="], ["files"]), (["queue.edit", "re"], ["words", "remove", "replace"]),
      (["wait", "sta"], ["words", "status=playing", "status=paused", "status=waiting"]),
      (["help", "item.tr"], ["words", "item.tracks"]), (["observe", "queue."], ["words", "queue.*", "queue.version"]),
      (["observe", "player.rate", "queue.v"], ["words", "queue.version"]),
      (["watch", "--observe", "player.rate", "player.isM"], ["words", "player.isMuted"]),
      (["watch", "--rec"], ["words", "--reconnect"]),
      (["save", "--format", "p"], ["words", "pls"]), (["save", "--format=x"], ["words", "--format=xspf"]),
      (["save", ""], ["files"]),
      (["add", "--n"], ["words", "--next"]), (["completions", ""], ["words", "bash", "zsh", "fish"]),
      (["info", "--prec"], ["words", "--precise"]), (["tags", "--prec"], ["words"]),
      (["jump", ""], ["words", "index=", "if-version=", "player="]), (["no-such-command", ""], ["words"]),
    ]
    for row in table {
      let outcome = try Program(
        Executables.playhead, ["complete", "--"] + row.words, environment: ["PLAYHEAD_SOCKET": "/nowhere/socket"]
      ).waitForEnd()
      let offered = outcome.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
      print("\(row.words) -> \(offered)")
      #expect(offered == row.offered && outcome.status == 0 && outcome.errors == "", "\(row.words)")
    }
  }

  @Test func idsAndPlayersOfTheDaemonAreCompleted() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    try client.reply("append /music/one.flac /music/two.flac")
    try client.reply("player.create jingles")
    try client.reply("append /music/three.flac player=jingles")
    let offered = try completions("remove", "", socket: daemon.socket)
    #expect(offered.prefix(3) == ["words", "1", "2"], "\(offered)")
    let descriptions = try Program(
      Executables.playhead, ["complete", "--", "--socket", daemon.socket, "remove", "2"]
    ).waitForEnd().output
    #expect(descriptions == "words\t\n2\ttwo.flac\n")
    #expect(try completions("jump", "player=jingles", "", socket: daemon.socket).contains("3"))
    #expect(try completions("jump", "--player", "jingles", "3", socket: daemon.socket) == ["words", "3"])
    #expect(try completions("move", "1", "before=", socket: daemon.socket) == ["words", "before=1", "before=2"])
    #expect(try completions("status", "player=", socket: daemon.socket) == ["words", "player=main", "player=jingles"])
    #expect(try completions("player.close", "j", socket: daemon.socket) == ["words", "jingles"])
    #expect(try completions("watch", "--item", "", socket: daemon.socket) == ["words", "1", "2"])
  }

  /// Completion must not delay typing for long, nor show errors.
  @Test func completionDoesNotWaitForAHangingDaemon() throws {
    let folder = try InProcessServer().folder
    let path = folder.file("silent.sock")
    let silent = try SilentSocket(path: path)
    defer { withExtendedLifetime(silent) {} }
    #expect(try completions("jump", "", socket: path) == [])
    // Completions that need no daemon do not connect to one.
    #expect(try completions("tog", socket: path) == ["words", "toggle"])
  }

  // MARK: - Shells

  /// A shell in a terminal, with the script sourced as in normal use.
  private func shell(_ name: String, socket: String, folder: String) throws -> TerminalProgram {
    var environment: [String: String?] = [
      "PATH": "\(Executables.folder):/usr/bin:/bin", "PLAYHEAD_SOCKET": socket, "HOME": folder, "TERM": "xterm",
      "LC_ALL": "C.UTF-8",
      "XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": folder,
    ]
    // Types nothing before the shell shows its prompt, because it may discard earlier input.
    let arguments: [String]
    switch name {
    case "bash":
      let setUp = "source <(playhead completions bash); PS1='ready> '\n"
      try Files.write(Array("\(folder)/.start".utf8), Array(setUp.utf8))
      arguments = ["--noprofile", "--rcfile", "\(folder)/.start", "-i"]
    case "zsh":
      let setUp =
        "bindkey -e; autoload -U compinit; compinit -u -D; source <(playhead completions zsh); PS1='ready> '\n"
      try Files.write(Array("\(folder)/.zshrc".utf8), Array(setUp.utf8))
      arguments = ["-d", "-i"]
    default:
      arguments = [
        "--no-config", "-i", "-C", "playhead completions fish | source; function fish_prompt; echo 'ready> '; end",
      ]
    }
    environment["ZDOTDIR"] = folder
    let shell = try TerminalProgram(name, arguments, environment: environment, columnCount: 400, folder: folder)
    try shell.wait(for: "ready> ")
    return shell
  }

  /// The words of a typed line, which may contain completion keys.
  private func words(_ line: String, in shell: TerminalProgram) throws -> String {
    try shell.type("\(line)\u{1}printf '<%s>' \u{5} END\r")
    let shown = try shell.wait(for: "<END>")
    try shell.wait(for: "ready> ")
    // The last line is the result.
    let line = shown.split(whereSeparator: \.isNewline).last ?? ""
    return line.firstIndex(of: "<").map { String(line[$0...].dropLast("<END>".count)) } ?? shown
  }

  @Test(arguments: ["bash", "zsh", "fish"]) func shellCompletesTypedWords(name: String) throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    try client.reply("append \((1...12).map { "/music/\($0).flac" }.joined(separator: " "))")
    try client.reply("remove \((1...11).map { "\($0)" }.joined(separator: " "))")
    try client.reply("player.create jingles")
    try daemon.folder.write("first one.wav", [])
    try daemon.folder.write("waltz.flac", [])
    mkdir(daemon.folder.file("bin"), 0o755)
    #expect(symlink(Executables.playhead, daemon.folder.file("bin/playhead")) == 0)
    let home = daemon.folder.path
    let socket = daemon.socket.split(separator: "/").last ?? ""
    #expect(daemon.socket == "\(home)/\(socket)")
    let shell = try shell(name, socket: daemon.socket, folder: daemon.folder.path)
    for (line, expected) in [
      ("playhead tog\t", "<playhead><toggle>"), ("playhead compl\t", "<playhead><completions>"),
      ("playhead seek 10 fa\t", "<playhead><seek><10><fast>"), ("playhead pitch spe\t", "<playhead><pitch><spectral>"),
      ("playhead watch --rec\t", "<playhead><watch><--reconnect>"),
      ("playhead watch --observe player.isM\t", "<playhead><watch><--observe><player.isMuted>"),
      // No space after the `=`, because the value follows directly.
      ("playhead append x wai\trea\t", "<playhead><append><x><wait=ready>"),
      ("playhead jump 1\t", "<playhead><jump><12>"), ("playhead move 1\tbef\t1\t", "<playhead><move><12><before=12>"),
      ("playhead status player=jin\t", "<playhead><status><player=jingles>"),
      ("playhead status --player jin\t", "<playhead><status><--player><jingles>"),
      ("playhead load fir\t", "<playhead><load><first one.wav>"),
      ("playhead item.artwork 12 file=fir\t", "<playhead><item.artwork><12><file=first one.wav>"),
      // The name of an option hides no file.
      ("playhead load wa\tl\t", "<playhead><load><waltz.flac>"),
      ("playhead load wai\trea\t", "<playhead><load><wait=ready>"),
      ("playhead load 'fir\t", "<playhead><load><first one.wav>"),
      ("playhead load \"fir\t", "<playhead><load><first one.wav>"),
      ("playhead load first\\ o\t", "<playhead><load><first one.wav>"),
      ("playhead load ~/fir\t", "<playhead><load><\(home)/first one.wav>"),
      ("~/bin/playhead tog\t", "<\(home)/bin/playhead><toggle>"),
      ("playhead --socket ~/\(socket) jump 1\t", "<playhead><--socket><\(home)/\(socket)><jump><12>"),
    ] {
      let words = try words(line, in: shell)
      print("\(name): \(line.split(separator: "\t").joined(separator: "[Tab]")) -> \(words)")
      #expect(words == expected, "\(name): \(line)")
    }
    #expect(!shell.shown.contains("playhead: "), "\(shell.shown)")
  }

  /// Characters for redirection or file patterns are quoted.
  @Test func bashQuotesSpecialCharactersInCompletions() throws {
    let folder = try InProcessServer().folder
    let shell = try shell("bash", socket: "/nowhere/socket", folder: folder.path)
    #expect(try words("playhead wait ti\t\\>\t90", in: shell) == "<playhead><wait><time>=90>")
    #expect(try words("playhead observe 'output.st\t", in: shell) == "<playhead><observe><output.state>")
    try folder.write("item.star", [])
    #expect(try words("playhead observe item.*\t", in: shell) == "<playhead><observe><item.*>")
  }

  @Test(arguments: ["bash", "zsh", "fish"]) func completionWithoutADaemonPrintsNoError(name: String) throws {
    let folder = try InProcessServer().folder
    let shell = try shell(name, socket: "/nowhere/socket", folder: folder.path)
    #expect(try words("playhead jump 1\t", in: shell) == "<playhead><jump><1>")
    #expect(try words("playhead tog\t", in: shell) == "<playhead><toggle>")
    #expect(!shell.shown.contains("nowhere"), "\(shell.shown)")
  }
}

extension String {
  /// The last occurrence of the text.
  func range(of text: String) -> Range<String.Index>? { ranges(of: text).last }
}
