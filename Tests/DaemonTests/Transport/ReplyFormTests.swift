import DaemonTesting
import RigSupport
import Testing

/// Properties of all replies, for every command.
@Suite struct ReplyFormTests {
  @Test func operationOfAnErrorIsTheCommand() throws {
    let server = try InProcessServer()
    let client = try server.connectWithQueue(count: 1)
    let missing = server.folder.file("missing.wav")
    for request in [
      "seek", "rate-at 1 +0.5", "bookmark.list", "output.set nosuch", "load \(missing) wait=ready",
      "waveform \(missing)",
      "item.status 99", "queue.edit \"move 99 to=0\"", "queue.edit nonsense", "record.delete", "state.save",
      "wait item=9 nonsense",
      "step 1 2", "play-at soon main", "asset.load 7",
    ] {
      let reply = try client.reply(request)
      let command = request.prefix { $0 != " " }
      print("operation: \(request): \(reply)")
      #expect(reply.hasPrefix("error ") && field("operation", reply) == String(command), "\(request): \(reply)")
    }
    try client.send(
      #"{"jsonrpc":"2.0","id":1,"method":"queue.edit","params":{"ops":[{"method":"move","params":{"id":99,"to":0}}]}}"#)
    #expect(try client.line()?.contains(#""operation":"queue.edit""#) == true)
  }

  @Test func jsonResultsOfCommandsWithRowsAlwaysHaveRows() throws {
    let server = try InProcessServer()
    let client = try server.connect()
    let path = try server.wave(1, frameCount: 4_800)
    for (method, params) in [
      ("load", #"{"paths":["\#(path)"]}"#), ("append", #"{"paths":["\#(path)"],"wait":"ready"}"#),
      ("insert", #"{"paths":["\#(path)"]}"#), ("list", #"{"offset":10}"#), ("history", "{}"),
      ("waveform", #"{"path":"\#(path)","file":"\#(server.folder.file("a.json"))"}"#),
    ] {
      try client.send(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#)
      var line = try client.line() ?? ""
      while line.contains(#""method":"scan-progress""#) { line = try client.line() ?? "" }
      #expect(line.contains(#""rows":[]"#), "\(method): \(line)")
    }
  }

  @Test func returnedFileErrorsAreDocumentedForTheirCommands() throws {
    let server = try InProcessServer()
    let client = try server.connect()
    let missing = server.folder.file("missing.wav")
    try client.reply("append \(missing)")
    let document = try ProtocolReference.commands()
    let errors = try ProtocolReference.page("errors")
    let group = errors[try #require(errors.firstRange(of: "- *file errors*: ")).upperBound...]
      .prefix { $0 != "*" }
    #expect(group.contains("`outside-roots`") && group.contains("`file-not-found`"))
    for request in [
      "load \(missing) wait=ready", "wait ready", "loop 0 1", "item.tracks 3", "item.select 3 audio=0",
      "waveform \(missing)", "export \(missing) file=\(server.folder.file("b.wav"))", "seek 1",
    ] {
      let reply = try client.reply(request)
      let command = request.prefix { $0 != " " }
      #expect(field("name", reply) == "file-not-found", "\(request): \(reply)")
      let start = try #require(document.firstRange(of: "\n## `\(command)`\n"))
      let rest = document[start.upperBound...]
      let section = rest[..<(rest.firstRange(of: "\n## ")?.lowerBound ?? rest.endIndex)]
      #expect(section.contains("*file errors*"), "\(command)")
      if request.hasPrefix("load") { #expect(try client.reply("clear").hasPrefix("ok")) }
      if request.hasPrefix("load") { try client.reply("append \(missing)") }
    }
  }
}
