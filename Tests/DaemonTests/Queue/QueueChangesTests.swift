import DaemonTesting
import MediaTesting
import RigSupport
import Testing

/// The changes of a queue since a version.
@Suite struct QueueChangesTests {
  /// A client's copy of a queue, updated by the reported changes.
  private struct Mirror {
    var items: [String] = []
    var version = "0"

    /// Applies a row of `queue.changes`; false if the row is inconsistent.
    mutating func apply(_ row: String) -> Bool {
      let item = field("item", row) ?? ""
      let index = field("index", row).flatMap { Int($0) } ?? 0
      switch field("op", row) {
      case "insert":
        guard (0...items.count).contains(index) else { return false }
        items.insert(item, at: index)
      case "remove":
        guard items.indices.contains(index), items[index] == item else { return false }
        items.remove(at: index)
      case "move":
        guard let from = field("from", row).flatMap({ Int($0) }), items.indices.contains(from), items[from] == item
        else { return false }
        items.insert(items.remove(at: from), at: index)
      case "rotate":
        guard let count = field("count", row).flatMap({ Int($0) }), items.indices.contains(count) else { return false }
        items = Array(items[count...] + items[..<count])
      default: return false
      }
      version = field("version", row) ?? ""
      return true
    }
  }

  /// The complete queue.
  private func list(_ client: WireClient) throws -> Mirror {
    let lines = try client.ask("list")
    return Mirror(
      items: lines.dropLast().compactMap { field("item", $0) },
      version: try #require(field("version", lines.last ?? "")))
  }

  @Test func rowsListTheChangesInOrder() throws {
    let client = try InProcessServer().connect()
    try client.reply("append /a /b /c")
    try client.reply("move 3 to=0")
    try client.reply("queue.edit \"remove 1\" \"insert /d before=2\"")
    #expect(
      try client.ask("queue.changes 1") == [
        "| version=2 op=move item=3 from=2 index=0", "| version=3 op=remove item=1 index=1",
        "| version=3 op=insert item=4 index=1 path=/d", "ok version=3 count=3 whole=false",
      ])
    #expect(try client.reply("queue.changes 3") == "ok version=3 count=0 whole=false")
    // An entry that was added and removed in between is not reported, and neither is a failed edit.
    #expect(try client.reply("queue.edit \"remove 2\" \"remove 99\"").hasPrefix("error"))
    #expect(try client.reply("queue.changes 3") == "ok version=3 count=0 whole=false")
    let instance = field("instance", try client.reply("hello")) ?? ""
    #expect(try client.reply("queue.changes 1 instance=\(instance)").hasSuffix("count=3 whole=false"))
    for request in ["queue.changes 4", "queue.changes 1 instance=0"] {
      #expect(try client.ask(request) == ["ok version=3 count=0 whole=true"], "\(request)")
    }
    try client.reply("shuffle on")
    #expect(try client.ask("queue.changes 3") == ["ok version=4 count=0 whole=true"])
    #expect(try client.reply("queue.changes").hasPrefix("error code=6002 "))
  }

  @Test func versionEventsListTheChanges() throws {
    let client = try InProcessServer().connect()
    try client.reply("observe queue.*")
    _ = try client.line()
    func changes(_ request: String) throws -> String? {
      try client.ask(request).first { $0.hasPrefix("* changed ") }.flatMap { field("changes", $0) }
    }
    #expect(try changes("append /a /b") == "insert:1:0,insert:2:1")
    #expect(try changes("move 2 to=0") == "move:2:1:0")
    #expect(try changes("remove 1") == "remove:1:1")
    #expect(try changes("append " + Array(repeating: "/c", count: 17).joined(separator: " ")) == "none")
    #expect(try changes("clear") == "none")
  }

  /// A client that applies the rows always has the content of `list`; without rows, the reply requires `list`.
  @Test(arguments: [1, 2, 3]) func appliedChangesReproduceTheQueue(seed: UInt64) throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 480)
    var generator = SeededGenerator(seed: seed)
    try client.reply("append \(Array(repeating: path, count: 20).joined(separator: " "))")
    var mirror = try list(client)
    var (applied, listed) = (0, 0)
    for step in 0..<150 {
      let items = mirror.items
      func some() -> String { items.randomElement(using: &generator) ?? "1" }
      let request =
        switch Int.random(in: 0..<14, using: &generator) {
        case 0, 1: "append \(path) \(path)"
        case 2: "insert \(path) after=\(some())"
        case 3: "insert \(path)"
        case 4: "remove \(some())"
        case 5: "move \(some()) to=\(Int.random(in: 0...max(0, items.count - 1), using: &generator))"
        case 6: "move \(some()) before=\(some())"
        case 7: "replace \(some()) \(path)"
        case 8: "queue.edit \"remove \(some())\" \"append \(path)\" \"move \(some()) to=0\""
        case 9: "queue.edit \"append \(path)\" \"remove \(some())\" \"remove 99999\""
        case 10: "next"
        case 11: "previous"
        case 12: "jump \(some())"
        default:
          ["repeat all", "repeat off", "shuffle on", "shuffle off", "clear", "play", "clock.advance 0.02", "pause"]
            .randomElement(using: &generator) ?? ""
        }
      try client.reply(request)
      if step % 3 == 0 { continue }
      let lines = try client.ask("queue.changes \(mirror.version)")
      if field("whole", lines.last ?? "") == "true" {
        mirror = try list(client)
        listed += 1
        continue
      }
      for row in lines where row.hasPrefix("| ") {
        let isConsistent = mirror.apply(row)
        #expect(isConsistent, "\(request): \(row) of \(mirror.items)")
      }
      let expected = try list(client)
      #expect(mirror.items == expected.items, "\(step): \(request): \(lines)")
      mirror.version = expected.version
      applied += 1
    }
    print("queue changes | seed \(seed) | applied \(applied) | listed again \(listed)")
    #expect(applied > 50)
  }

  /// Measured in processor time: in a queue a hundred times as long, an edit with its observers has the same cost.
  @Test func costOfAnEditDoesNotGrowWithTheQueue() throws {
    func cost(_ length: Int) throws -> (nanoseconds: Int64, edits: Int) {
      let daemon = try TestDaemon("--clock", "virtual")
      let (client, watcher) = (try daemon.connect(), try daemon.connect())
      try client.reply("queue.begin")
      for _ in 0..<(length / 500) {
        try client.reply("append \(Array(repeating: "/no/such.flac", count: 500).joined(separator: " "))")
      }
      try client.reply("queue.commit")
      try watcher.reply("observe *")
      let before = try daemon.processorNanoseconds()
      for number in 0..<200 {
        try client.reply("move \(2 + number) to=\(length / 2)")
        try client.reply("insert /no/such.flac after=\(2 + number)")
        try client.reply("remove \(250 + number)")
      }
      let spent = try daemon.processorNanoseconds() - before
      let eventCount = try watcher.ask("ping").count { $0.contains("key=queue.version") && field("changes", $0) != nil }
      #expect(eventCount == 600)
      return (spent, 600)
    }
    let (short, long) = (try cost(500), try cost(50_000))
    print(
      "queue changes | an edit and its event | 500 entries: \(short.nanoseconds / 600_000) µs | 50,000 entries: \(long.nanoseconds / 600_000) µs"
    )
    #expect(long.nanoseconds < 4 * short.nanoseconds + 100_000_000)
    #expect(long.nanoseconds / 600 < 1_000_000)
  }
}
