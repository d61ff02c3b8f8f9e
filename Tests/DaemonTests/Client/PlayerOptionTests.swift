import DaemonTesting
import Glibc
import Testing

/// `--player` before the command, and `PLAYHEAD_PLAYER`.
@Suite struct PlayerOptionTests {
  /// A server with the players `main`, `a` and `b`. The volumes of `a` and `b` are 0.25 and 0.5.
  private func makeDaemon() throws -> TestServer {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    for (name, volume) in [("a", "0.25"), ("b", "0.5")] {
      try client.reply("player.create \(name)")
      #expect(try client.reply("volume \(volume) player=\(name)") == "ok volume=\(volume)")
    }
    return daemon
  }

  private func run(
    _ daemon: TestServer, _ words: [String], variable: String? = nil, input: Int32? = nil
  ) throws -> Program.Outcome {
    try Program(
      Executables.playhead, ["--socket", daemon.socket] + words, environment: ["PLAYHEAD_PLAYER": variable],
      input: input, folder: daemon.folder.path
    ).waitForEnd()
  }

  @Test func playerIsThatOfTheMostSpecificChoice() throws {
    let daemon = try makeDaemon()
    let table: [(words: [String], variable: String?, volume: String)] = [
      ([], nil, "1"), ([], "", "1"), ([], "a", "0.25"), (["--player", "b"], nil, "0.5"),
      (["--player=b"], "a", "0.5"),
    ]
    for (words, variable, volume) in table {
      #expect(try run(daemon, words + ["volume"], variable: variable).output == "volume=\(volume)\n")
      #expect(try run(daemon, words + ["get", "volume"], variable: variable).output == "\(volume)\n")
      for own in [["volume", "player=a"], ["volume", "--player", "a"]] {
        #expect(try run(daemon, words + own, variable: variable).output == "volume=0.25\n")
      }
      #expect(try run(daemon, words + ["get", "volume", "--player", "a"], variable: variable).output == "0.25\n")
    }
    // Commands without a player ignore it, but not as their own option.
    #expect(try run(daemon, ["--player", "b", "ping"], variable: "a").output == "now=0\n")
    for words in [["ping", "--player", "b"], ["--player"], ["--player=", "volume"], ["--player", "", "volume"]] {
      #expect(try run(daemon, words).status == 2, "\(words)")
    }
    #expect(try run(daemon, ["volume"], variable: "a b").status == 2)
    #expect(try run(daemon, ["volume"], variable: "unknown").errors.contains("(no-such-player)"))
  }

  @Test func subcommandsUseThePlayer() throws {
    let daemon = try makeDaemon()
    _ = try daemon.wave(1, frameCount: 4_800)
    #expect(try run(daemon, ["load", "1.wav"], variable: "a").status == 0)
    #expect(try run(daemon, ["--player", "b", "add", "1.wav", "1.wav"]).status == 0)
    #expect(try run(daemon, ["save", "list.m3u8"], variable: "b").status == 0)
    #expect(String(decoding: try Files.read(daemon.folder.file("list.m3u8")), as: UTF8.self).hasSuffix("1.wav\n"))
    for (player, count) in [("main", "0"), ("a", "1"), ("b", "2")] {
      #expect(try run(daemon, ["get", "count"], variable: player).output == "\(count)\n")
    }
    let watch = try Program(
      Executables.playhead, ["--socket", daemon.socket, "--player", "b", "watch", "--observe", "player.volume"])
    #expect(try watch.waitForLine()?.contains(" player=b key=player.volume new=0.5 ") == true)
  }

  @Test func linesOfTheShellUseThePlayer() throws {
    let daemon = try makeDaemon()
    try daemon.folder.write("script", Array("volume\n@x volume 0.75\nvolume player=a\nping\n".utf8))
    let script = open(daemon.folder.file("script"), O_RDONLY | O_CLOEXEC)
    defer { close(script) }
    let outcome = try run(daemon, ["--player", "b", "shell"], input: script)
    let lines = outcome.output.split(separator: "\n").dropFirst()
    #expect(Array(lines) == ["ok volume=0.5", "@x ok volume=0.75", "ok volume=0.25", "ok now=0"], "\(outcome)")
  }

  @Test func playerIsDocumentedAndCompleted() throws {
    let daemon = try makeDaemon()
    func complete(_ words: String..., variable: String? = nil) throws -> [String] {
      try run(daemon, ["complete", "--", "--socket", daemon.socket] + words, variable: variable).output
        .split(separator: "\n").dropFirst().map { String($0.prefix { $0 != "\t" }) }
    }
    #expect(try complete("--pl") == ["--player"])
    #expect(try complete("--player", "") == ["main", "a", "b"])
    #expect(try complete("--player", "a", "paus") == ["pause"])
    #expect(try daemon.connect().reply("append /music/one.flac player=b").hasPrefix("ok "))
    #expect(try complete("remove", "1", variable: "b") == ["1"])
    #expect(try complete("--player", "b", "remove", "1") == ["1"] && complete("remove", "1") == [])
    let manual = try run(daemon, ["manual", "playhead"]).output
    for text in try [run(daemon, ["--help"]).output, manual] {
      #expect(text.contains("PLAYHEAD_PLAYER"))
    }
    #expect(manual.contains(".B \"\\-\\-player NAME\"\n"))
  }
}
