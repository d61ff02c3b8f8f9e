import DaemonTesting
import Glibc
import RigSupport
import Testing

/// `--format` of `status`, `list`, `tags` and `watch`.
@Suite struct FormatTests {
  @Test func statusAndListArePrintedInATemplate() throws {
    let daemon = try TaggedQueue.makeServer(title: "One {Time}")
    try daemon.connect().reply("seek 83.5")
    let rows: [(words: [String], output: String)] = [
      (["status", "--format", "{artist} - {title} [{time:clock}]"], "The Band - One {Time} [1:23]\n"),
      (["status", "--format={tags.albumName} {count}", "--player", "main"], "First 2\n"),
      (["status", "player=main", "--format", "{status} {volume}"], "readyToPlay 1\n"),
      (
        ["list", "--format", "{index} {item} {title} {duration:clock} {error}"],
        "0 1 One {Time} 1:40 \n1 2  0:01 \n"
      ),
      (["list", "--format", "{path}", "--limit", "1"], "\(daemon.folder.file("one.flac"))\n"),
      (["list", "--format", "{path}", "--offset=1"], "\(daemon.folder.file("two.wav"))\n"),
      (["list", "player=main", "offset=2", "--format", "{path}"], ""), (["list", "--format", "-"], "-\n-\n"),
    ]
    for (words, output) in rows {
      let result = try daemon.playhead(words)
      #expect(result.status == 0 && result.output == output, "\(words): \(result)")
    }
    try daemon.connect().reply("clear")
    #expect(try daemon.playhead("list", "--format", "{item}").output == "")
    #expect(try daemon.playhead("status", "--format", "{title}").output == "\n")
  }

  @Test func listInATemplateHasAllPages() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 4_800)
    for _ in 0..<13 { try client.reply("append " + Array(repeating: path, count: 100).joined(separator: " ")) }
    let whole = try daemon.playhead("list", "--format", "{index}").output.split(separator: "\n")
    #expect(whole == (0..<1_300).map { "\($0)" })
    let rest = try daemon.playhead("list", "--format", "{index}", "--offset", "200").output.split(separator: "\n")
    #expect(rest == (200..<1_300).map { "\($0)" })
  }

  @Test func tagsArePrintedInATemplate() throws {
    let daemon = try TaggedQueue.makeServer(title: "One {Time}")
    let folder = daemon.folder.path
    let template = "{file}: {artist} - {title} ({tags.albumName}, {ALBUM}) {nothing}"
    let result = try daemon.playhead("tags", "one.flac", "none", "two.wav", "--format", template, folder: folder)
    #expect(result.status == 1 && result.errors.hasPrefix("playhead: "), "\(result)")
    #expect(
      result.output == "one.flac: The Band - One {Time} (First, First) \ntwo.wav:  -  (, ) \n", "\(result.output)")
  }

  @Test func invalidTemplatesAreExplained() throws {
    let daemon = try InProcessServer()
    let rows: [(words: [String], message: String)] = [
      (["status", "--format", "{nonsense}"], "unknown value nonsense; the values are: player timeControlStatus "),
      (["list", "--format", "{time}"], "unknown value time; the values are: item index path status duration "),
      (["watch", "--format", "{nonsense}"], "unknown value nonsense; the values are: player "),
      (["list", "--format", "{tags.artist}"], "unknown value tags.artist"),
      (["list", "--format", "{path"], "has no }"),
      (["list", "--format"], "needs a value"), (["list", "--json", "--format", "{path}"], "cannot be combined"),
      (["tags", "a.flac", "--format", "{title}", "--json"], "cannot be combined"),
      (["info", "a.flac", "--format", "{title}"], "no option --format"),
      (["volume", "--format", "{volume}"], "no option --format"),
      (["status", "all", "--format", "{time}"], "only with --player"),
      (["watch", "--format", "{time}", "--at", "3"], "only with --tick"),
      (["watch", "--format", "{time}", "--lines"], "only with --tick"),
      (["watch", "--raw", "--format", "{time}"], "cannot be combined"),
      (["watch", "--format", "text"], "requires the name"),
    ]
    for (words, message) in rows {
      let result = try daemon.playhead(words)
      #expect(result.status == 2 && result.output.isEmpty && result.errors.contains(message), "\(words): \(result)")
    }
    #expect(try daemon.playhead("status", "--format", "{time}", "--player", "none").status == 1)
    #expect(try daemon.playhead("watch", "--format", "{time}", "--player", "none").status == 1)
  }

  @Test func watchPrintsALineForEachChangeOfTheText() throws {
    let daemon = try TaggedQueue.makeServer(title: "One {Time}")
    let client = try daemon.connect()
    let watch = try Program(
      Executables.playhead,
      ["--socket", daemon.socket, "watch", "--format", "{timeControlStatus} {title} {time:clock} {volume}"])
    #expect(try watch.waitForLine() == "paused One {Time} 0:00 1")
    // The pan is not in the text.
    try client.reply("pan 0.5")
    try client.reply("volume 0.5")
    #expect(try watch.waitForLine() == "paused One {Time} 0:00 0.5")
    try client.reply("play")
    try client.reply("clock.advance 3.5")
    var lines: [String] = []
    while let line = try watch.waitForLine() {
      lines.append(line)
      if line == "playing One {Time} 0:03 0.5" { break }
    }
    #expect(Set(lines).count == lines.count, "\(lines)")
    try client.reply("pause")
    #expect(try watch.waitForLine() == "paused One {Time} 0:03 0.5")
    try client.reply("next")
    while let line = try watch.waitForLine(), line != "paused  0:00 0.5" {
      #expect(line.hasPrefix("paused "), "\(line)")
    }
    watch.signal(SIGTERM)
    #expect(try watch.waitForEnd().status == 128 + SIGTERM)
  }

  @Test func helpDescribesTheTemplate() throws {
    for command in ["status", "list", "tags", "watch", "get"] {
      let help = try Program(Executables.playhead, ["help", command]).waitForEnd()
      #expect(help.output.contains("--format TEMPLATE"), "\(command): \(help.output)")
    }
  }
}
