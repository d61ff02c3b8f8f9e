import DaemonTesting
import Foundation
import Glibc
import RigSupport
import Testing

/// Every limit, set low by the configuration and exceeded. Each test prints its row; a limit without a row fails.
@Suite struct LimitTests {
  /// A limit, its value, and the effect on a client that exceeds it.
  struct Row: Sendable {
    var name: String
    var value: Int
    /// Other limits that are set so that this one applies first.
    var otherLimits: [String: Int] = [:]
    var check: @Sendable (TestServer, WireClient) throws -> String?
  }

  /// A row with requests within the limit, and the reply to the request beyond it.
  private static func within(
    _ name: String, _ value: Int, otherLimits: [String: Int] = [:], before: [String], beyond: String,
    expectedText: String
  ) -> Row {
    Row(name: name, value: value, otherLimits: otherLimits) { _, client in
      for request in before {
        let reply = try client.reply(request)
        guard reply.hasPrefix("ok") else { return "before: \(request.prefix(60)): \(reply)" }
      }
      let reply = try client.reply(beyond)
      return reply.contains(expectedText) ? nil : reply
    }
  }

  private static func append(_ count: Int) -> String {
    "append " + Array(repeating: "/no/such.flac", count: count).joined(separator: " ")
  }

  private static let rows: [Row] = [
    within(
      "line-bytes", 256, before: ["ping"], beyond: "append /\(String(repeating: "a", count: 260))",
      expectedText: "code=6003 "),
    Row(name: "unterminated-bytes", value: 1_000, otherLimits: ["line-bytes": 256]) { _, client in
      try client.send(bytes: Array(repeating: 97, count: 1_200))
      return try client.remainingLines().last?.hasPrefix("* closing code=6003 ") == true ? nil : "not closed"
    },
    Row(name: "id-bytes", value: 4) { _, client in
      try client.send("@abcd ping", "@abcde ping")
      let replies = try [client.line() ?? "", client.line() ?? ""]
      return replies[0] == "@abcd ok now=0" && replies[1].contains("code=6002 ") ? nil : "\(replies)"
    },
    Row(name: "json-depth", value: 4) { _, client in
      try client.send(#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[[[[[]]]]]}"#)
      let reply = try client.line() ?? ""
      return reply.contains("-32700") ? nil : reply
    },
    Row(name: "batch-members", value: 2) { _, client in
      let member = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
      try client.send("[\(member),\(member)]", "[\(member),\(member),\(member)]")
      let replies = try [client.line() ?? "", client.line() ?? ""]
      return replies[0].hasPrefix(#"[{"jsonrpc""#) && replies[1].contains("-32600") ? nil : "\(replies)"
    },
    Row(name: "waiting-requests", value: 2) { daemon, client in
      // The third request is read only after a reply to one of the others, so its reply follows.
      try client.send("@a wait ready timeout=1", "@b wait ready timeout=30", "@c ping")
      try daemon.connect().reply("clock.advance 2")
      let replies = try [client.line() ?? "", client.line() ?? ""]
      return replies[0].hasPrefix("@a error code=6011 ") && replies[1] == "@c ok now=1" ? nil : "\(replies)"
    },
    Row(name: "connections", value: 2) { daemon, _ in
      let second = try daemon.connect()
      let third = try WireClient(daemon.socket).line() ?? ""
      return try third.hasPrefix("* closing code=6007 ") && second.reply("ping").hasPrefix("ok now=") ? nil : third
    },
    within("subscriptions", 2, before: ["tick 1", "observe *"], beyond: "meter", expectedText: "code=6008 "),
    within("event-rate", 10, before: ["tick 0.2", "meter 5"], beyond: "meter 1", expectedText: "code=6008 "),
    Row(name: "total-event-rate", value: 10) { daemon, client in
      try client.reply("tick 0.1")
      let reply = try daemon.connect().reply("meter 1")
      return reply.contains("code=6008 ") ? nil : reply
    },
    within("times", 3, before: ["at 1 2 3"], beyond: "at 4", expectedText: "code=6008 "),
    Row(name: "total-times", value: 3) { daemon, client in
      try client.reply("at 1 2 3")
      let reply = try daemon.connect().reply("at 4")
      return reply.contains("code=6008 ") ? nil : reply
    },
    within("patterns", 2, before: ["observe * *"], beyond: "observe * * *", expectedText: "code=6002 "),
    Row(name: "output-bytes", value: 65_536) { _, client in
      for _ in 0..<250 { try client.reply("insert /\(String(repeating: "p", count: 900))") }
      // A reply has a maximum size, so the list comes in parts.
      let reply = try client.reply("list")
      return field("next", reply) == "none" ? reply : nil
    },
    within("queue-length", 3, before: [append(3)], beyond: append(1), expectedText: "code=6013 "),
    within("queue-bytes", 4_096, before: [append(300)], beyond: append(30), expectedText: "code=6013 "),
    within("edit-changes", 3, before: ["queue.begin", append(3)], beyond: append(1), expectedText: "code=6018 "),
    within("edit-bytes", 4_096, before: ["queue.begin", append(300)], beyond: append(30), expectedText: "code=6018 "),
    Row(name: "gathered-changes", value: 3) { daemon, client in
      try client.reply("queue.begin")
      try client.reply(append(3))
      let other = try daemon.connect()
      try other.reply("queue.begin")
      let reply = try other.reply(append(1))
      return reply.contains("code=6018 ") ? nil : reply
    },
    Row(name: "gathered-bytes", value: 4_096) { daemon, client in
      try client.reply("queue.begin")
      try client.reply(append(300))
      let other = try daemon.connect()
      try other.reply("queue.begin")
      let reply = try other.reply(append(30))
      return reply.contains("code=6018 ") ? nil : reply
    },
    Row(name: "list-rows", value: 2) { _, client in
      try client.reply(append(3))
      let lines = try client.ask("list")
      return lines.count == 3 && field("next", lines[2]) == "2" ? nil : "\(lines)"
    },
    within("assets", 1, before: ["asset.open /a"], beyond: "asset.open /b", expectedText: "code=6019 "),
    Row(name: "descriptors", value: 1) { daemon, _ in
      var ends: [Int32] = [0, 0]
      pipe(&ends)
      defer { for end in ends { close(end) } }
      let replies = try [daemon.passDescriptors([ends[0]]), daemon.passDescriptors([ends[0]])]
      return replies[0].hasPrefix("ok ") && replies[1].contains("code=2052 ") ? nil : "\(replies)"
    },
    Row(name: "open-descriptors", value: 1) { daemon, client in
      var ends: [Int32] = [0, 0]
      pipe(&ends)
      defer { for end in ends { close(end) } }
      let first = try daemon.passDescriptors([ends[0]])
      try client.reply("append \(field("path", first) ?? "")")
      let second = try daemon.passDescriptors([ends[0]])
      return first.hasPrefix("ok ") && second.contains("code=2052 ") ? nil : "\(first) \(second)"
    },
    within("players", 2, before: ["player.create a"], beyond: "player.create b", expectedText: "code=6014 "),
    Row(name: "event-log", value: 3) { _, client in
      for step in 1...9 { try client.reply("volume 0.\(step)") }
      let reply = try client.reply("events since=0")
      return field("count", reply) == "3" && field("missed", reply) != "0" ? nil : reply
    },
    Row(name: "event-log-bytes", value: 65_536) { _, client in
      for step in 1...600 { try client.reply("volume 0.\(step % 9 + 1)") }
      let reply = try client.reply("events since=0")
      return (field("count", reply).flatMap { Int($0) } ?? 600) < 300 && field("missed", reply) != "0" ? nil : reply
    },
    Row(name: "queue-changes", value: 3) { _, client in
      try client.reply(append(3))
      let kept = try client.reply("queue.changes 0")
      try client.reply(append(1))
      let forgotten = try client.reply("queue.changes 0")
      return field("whole", kept) == "false" && field("whole", forgotten) == "true" ? nil : "\(kept) \(forgotten)"
    },
    Row(name: "kept-values", value: 1, otherLimits: ["output-bytes": 65_536]) { daemon, client in
      let slow = try daemon.connect()
      try slow.send("observe player.volume player.pan player.rate")
      // Enough changes to fill the buffer, and then one more of another key.
      for step in 0..<20_000 {
        try client.send("volume 0.\(step % 9 + 1)")
        _ = try client.line()
      }
      try client.reply("pan 0.5")
      var line = ""
      while !line.hasPrefix("* overflow ") { line = try #require(try slow.line()) }
      return field("dropped", line) == "1" ? nil : line
    },
    Row(name: "unread-seconds", value: 5) { daemon, client in
      let silent = try daemon.connect()
      for _ in 0..<2 { try silent.send("tick 0.001") }
      try client.reply("load \(try daemon.wave(1, frameCount: 480_000)) wait=ready")
      try client.reply("play")
      try client.reply("clock.advance 10")
      try client.reply("clock.advance 6")
      try silent.waitForHangUp()
      return nil
    },
    Row(name: "opening-bytes", value: 1_048_576) { daemon, client in
      // An ID3 tag that claims 3 MiB, and audio after it.
      let size = 3 << 20
      let lengths = [21, 14, 7, 0].map { UInt8(size >> $0 & 0x7F) }
      let tag = Array("ID3".utf8) + [4, 0, 0] + lengths + [UInt8](repeating: 0, count: size + 10_000)
      let path = daemon.folder.file("tag.mp3")
      try Data(tag).write(to: URL(fileURLWithPath: path))
      let reply = try client.reply("load \(path) wait=ready")
      return reply.contains("name=media-limit-exceeded") ? nil : reply
    },
  ]

  @Test func everyConfiguredLimitIsEnforced() throws {
    // Another test compares the names in the reference with the code.
    let section = try ProtocolReference.page("limits")
    let names = section.split(separator: "\n").filter { $0.hasPrefix("| `") }.compactMap {
      $0.split(separator: "`").dropFirst().first.map { String($0) }
    }
    #expect(names == Self.rows.map(\.name))
    for row in Self.rows {
      let folder = try TemporaryDirectory("limits")
      let values = row.otherLimits.merging([row.name: row.value]) { $1 }
      let text = "[limits]\n" + values.map { "\($0.key) = \($0.value)\n" }.sorted().joined()
      let configuration = try folder.write("playheadd.toml", Array(text.utf8))
      let daemon = try TestDaemon("--clock", "virtual", "--config", configuration, folder: folder)
      let failure = try row.check(daemon, try daemon.connect())
      print("limits | \(row.name) | \(row.value) | \(failure ?? "holds")")
      #expect(failure == nil, "\(row.name)")
      #expect(row.name == "connections" ? true : try daemon.connect().reply("ping").hasPrefix("ok now="), "\(row.name)")
    }
  }
}
