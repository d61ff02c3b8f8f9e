import DaemonTesting
import RigSupport
import Testing

/// `playhead get`.
@Suite struct GetTests {
  @Test func valuesArePrintedInLines() throws {
    let daemon = try TaggedQueue.makeServer(title: "One \"More\" {Time}")
    let client = try daemon.connect()
    try client.reply("seek 83.5")
    let rows: [(words: [String], output: String)] = [
      (["title", "time", "duration"], "One \"More\" {Time}\n83.5\n100\n"),
      (["isMuted", "item", "volume"], "false\n1\n1\n"),
      (["path", "canPlayReverse"], "\(daemon.folder.file("one.flac"))\ntrue\n"),
      (["chapter", "title"], "\nOne \"More\" {Time}\n"),
      (["tags.albumName", "tags.ALBUM", "tags.nothing"], "First\nFirst\n\n"), (["seekableTimeRanges"], "0-100\n"),
      (
        ["--format", "{artist} - {title} [{time:clock}/{duration:clock}]"],
        "The Band - One \"More\" {Time} [1:23/1:40]\n"
      ),
      (["--format={{{item}}} {chapter}{tags.albumName:clock}"], "{1} First\n"), (["--format", ""], ""),
      (
        ["--json", "title", "chapter", "time"],
        "{\"title\":\"One \\\"More\\\" {Time}\",\"chapter\":null,\"time\":83.5}\n"
      ),
      (["title", "--player", "main"], "One \"More\" {Time}\n"),
    ]
    for (words, output) in rows {
      let result = try daemon.playhead(["get"] + words)
      print("get \(words): \(result.output.debugDescription)")
      if output.isEmpty {
        #expect(result.status == 2 && result.errors.contains("requires the name"), "\(words): \(result)")
      } else {
        #expect(result.status == 0 && result.output == output, "\(words): \(result)")
      }
    }
    try client.reply("next")
    #expect(try daemon.playhead(["get", "title", "artist", "item"]).output == "\n\n2\n")
    try client.reply("clear")
    #expect(try daemon.playhead(["get", "title", "path", "tags.albumName", "count"]).output == "\n\n\n0\n")
  }

  @Test func invalidArgumentsAreExplained() throws {
    let daemon = try InProcessServer()
    let rows: [(words: [String], status: Int32, message: String)] = [
      ([], 2, "requires the name of a value"), (["nonsense"], 2, "unknown value nonsense"),
      (["tags."], 2, "unknown value tags."), (["title", "--format", "{time}"], 2, "cannot be combined"),
      (["--json", "--format", "{time}"], 2, "cannot be combined"), (["--format", "{time"], 2, "has no }"),
      (["--format", "time}"], 2, "has no {"), (["--format", "{time:x}"], 2, "unknown format x"),
      (["--format", "{}"], 2, "unknown value"), (["--format", "text"], 2, "requires the name"),
      (["--format"], 2, "needs a value"),
      (["--nonsense"], 2, "no option --nonsense"), (["title", "--player", "none"], 1, "unknown player none"),
    ]
    for (words, status, message) in rows {
      let result = try daemon.playhead(["get"] + words)
      print("get \(words): \(result.errors)")
      #expect(
        result.status == status && result.output.isEmpty && result.errors.contains(message), "\(words): \(result)")
    }
  }
}
