import DaemonTesting
import Foundation
import RigSupport
import Testing

/// The limit `queue-bytes`: the bytes that describe the entries of a queue, with their header fields.
@Suite(.timeLimit(.minutes(2))) struct QueueBytesTests {
  private static let limit = 4_096
  private static let tooLong = "error code=6013 name=queue-too-long "

  /// Daemons that save their state in one folder, one after another.
  private struct Rig {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory("queue-bytes") }

    /// Starts a daemon with a limit; nil: the default.
    func start(limit: Int?) throws -> TestDaemon {
      let text = limit.map { "[limits]\nqueue-bytes = \($0)\n" } ?? ""
      let configuration = try folder.write("a.toml", Array(text.utf8))
      return try TestDaemon(
        "--clock", "virtual", "--output", "null", "--state", folder.file("state"), "--config", configuration,
        folder: folder)
    }
  }

  /// An address that is not opened, with a header field: `byteCount` bytes in all.
  private static func entry(_ name: String, _ byteCount: Int) -> String {
    let address = "http://127.0.0.1:1/\(name)"
    let value = String(repeating: "x", count: byteCount - address.utf8.count - "X-Api-Key".utf8.count)
    return "\(address) network=false header=\"X-Api-Key: \(value)\""
  }

  private static func count(_ client: WireClient, player: String = "main") throws -> Int {
    try client.ask("list player=\(player)").count - 1
  }

  @Test func headerFieldsCountForEveryCommandThatAddsEntries() throws {
    let client = try Rig().start(limit: Self.limit).connect()
    let path = "http://127.0.0.1:1/a"
    // Without its header field, an entry has 20 bytes.
    #expect(try client.reply("append \(path) network=false").hasPrefix("ok items=1 "))
    let (fitting, exceeding) = (Self.entry("b", 4_000), Self.entry("c", 100))
    #expect(try client.reply("append \(fitting)").hasPrefix("ok items=2 "))
    for request in [
      "append \(exceeding)", "insert \(exceeding)", "append \(exceeding) wait=ready",
      "queue.edit 'append \(exceeding)'",
      "replace 1 \(exceeding)", "load \(Self.entry("d", 5_000))", "load \(path) \(Self.entry("d", 2_100))",
      "item.copy 2",
    ] {
      let reply = try client.reply(request)
      let excerpt = request.count > 60 ? "\(request.prefix(60))..." : request
      print("queue-bytes | \(Self.limit) | \(excerpt) | \(reply.prefix(45))")
      #expect(reply.hasPrefix(Self.tooLong), "\(excerpt): \(reply)")
      #expect(try Self.count(client) == 2, "\(excerpt)")
    }
    try client.reply("queue.begin")
    #expect(try client.reply("append \(exceeding)").hasPrefix("ok"))
    #expect(try client.reply("queue.commit").hasPrefix(Self.tooLong))
    // A removed entry frees its bytes.
    #expect(try client.reply("remove 2").hasPrefix("ok"))
    #expect(try client.reply("append \(exceeding)").hasPrefix("ok"))
    #expect(try Self.count(client) == 2)
    // Each player has its own limit.
    #expect(try client.reply("player.create b").hasPrefix("ok"))
    #expect(try client.reply("append \(Self.entry("d", 4_000)) player=b").hasPrefix("ok"))
  }

  /// The end of a restored queue is omitted. Every player has its own limit, and a named queue is loaded completely or
  /// not at all.
  @Test func restoredQueueWithALowerLimitOmitsItsEnd() throws {
    let rig = try Rig()
    let first = try rig.start(limit: nil)
    let client = try first.connect()
    for name in ["a", "b", "c", "d"] {
      #expect(try client.reply("append \(Self.entry(name, 1_500))").hasPrefix("ok items="))
    }
    #expect(try client.reply("queue.save all").hasPrefix("ok name=all count=4"))
    #expect(try client.reply("player.create other").hasPrefix("ok"))
    for name in ["e", "f"] {
      #expect(try client.reply("append \(Self.entry(name, 2_000)) player=other").hasPrefix("ok"))
    }
    #expect(try first.stop().status == 0)

    let second = try rig.start(limit: Self.limit)
    let limited = try second.connect()
    let rows = try limited.ask("list").dropLast()
    #expect(rows.compactMap { field("path", $0) } == ["http://127.0.0.1:1/a", "http://127.0.0.1:1/b"], "\(rows)")
    #expect(rows.compactMap { field("item", $0) } == ["1", "2"])
    #expect(try Self.count(limited, player: "other") == 2)
    let exceeding = try limited.reply("append \(Self.entry("g", 1_500))")
    #expect(exceeding.hasPrefix(Self.tooLong), "\(exceeding)")
    #expect(try limited.reply("queue.load all").hasPrefix(Self.tooLong))
    #expect(try Self.count(limited) == 2)
    let added = try limited.reply("append \(Self.entry("g", 1_000))")
    let item = try #require(field("items", added), "\(added)")
    #expect(try limited.reply("state.save").hasPrefix("ok"))
    let log = try second.stop().errors
    print("queue-bytes | restored with \(Self.limit) | \(log)")
    let lines = log.split(separator: "\n").filter { $0.contains("the end of a saved queue was omitted") }
    #expect(lines.count == 1 && lines[0].contains("player=main") && lines[0].contains("entries=2"), "\(log)")
    #expect(log.contains("queue-too-long") || log.contains("6013"), "\(log)")

    // The omitted entries are lost, the named queue is not.
    let third = try rig.start(limit: nil)
    let again = try third.connect()
    #expect(try again.ask("list").dropLast().compactMap { field("item", $0) } == ["1", "2", item])
    #expect(try again.reply("queue.load all").hasPrefix("ok name=all count=4"))
    #expect(try third.stop().errors.isEmpty)
  }

  /// The current entry may be beyond the limit: the queue is then empty.
  @Test func restoredQueueCanBeEmpty() throws {
    let rig = try Rig()
    let first = try rig.start(limit: nil)
    #expect(try first.connect().reply("append \(Self.entry("a", 5_000))").hasPrefix("ok"))
    #expect(try first.stop().status == 0)
    let second = try rig.start(limit: Self.limit)
    let client = try second.connect()
    let status = try client.reply("status")
    #expect(field("item", status) == "none" && field("count", status) == "0", "\(status)")
    #expect(try client.reply("append \(Self.entry("b", 4_000))") == "ok items=2 version=2")
    #expect(try second.stop().errors.contains("the end of a saved queue was omitted"))
  }
}
