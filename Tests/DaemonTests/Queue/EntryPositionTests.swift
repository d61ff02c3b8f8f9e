import DaemonTesting
import Testing

/// Entries by their position relative to the current entry, over the wire.
@Suite struct EntryPositionTests {
  /// A daemon on virtual time with 6 entries of 0.1 s. Entry 3 is current: 1 and 2 were played.
  private func connected() throws -> (InProcessServer, WireClient) {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let paths = try (1...6).map { try daemon.wave($0, frameCount: 4_800) }
    try client.reply("append \(paths.joined(separator: " ")) wait=ready")
    try client.reply("next")
    try client.reply("next")
    return (daemon, client)
  }

  private func items(_ client: WireClient) throws -> [String] {
    try client.ask("list").dropLast().compactMap { field("item", $0) }
  }

  @Test(
    arguments: [
      ("item.status", "3"), ("item.status current", "3"), ("item.status next", "4"), ("item.status +3", "6"),
      ("item.status '#1'", "3"), ("item.status '#4'", "6"), ("item.chapters", "3"), ("item.tracks next", "4"),
      ("item.volume", "3"), ("item.volume next 0.5", "4"), ("item.end-time '#2' forward=0.05", "4"),
      ("item.buffer +1 3", "4"), ("item.pitch current varispeed", "3"), ("item.log", "3"), ("item.select next", "4"),
      ("item.metadata next", "4"), ("item.artwork", "3"), ("jump next", "4"), ("jump '#3'", "5"), ("jump +2", "5"),
      ("jump previous", "2"), ("jump -2", "1"), ("seek 0.05 item=current", "3"), ("seek 0.05 item='#1'", "3"),
      ("wait item=current timeout=0", "3"), ("bookmark.list item=next", nil),
    ] as [(String, String?)])
  func positionSelectsTheEntry(_ row: (line: String, item: String?)) throws {
    let (daemon, client) = try connected()
    let reply = try client.ask(row.line).last ?? ""
    #expect(reply.hasPrefix("ok") || row.item == nil && reply.contains("bookmark"), "\(reply)")
    if let item = row.item { #expect(field("item", reply) == item, "\(row.line): \(reply)") }
    _ = daemon
  }

  @Test(arguments: [
    ("remove next '#3'", ["3", "6"]), ("move next to=2", ["3", "5", "4", "6"]),
    ("move '#4' before=next", ["3", "6", "4", "5"]),
    ("move current after='#2'", ["4", "3", "5", "6"]), ("move to=1", ["4", "3", "5", "6"]),
    ("item.copy next after=+3", ["3", "4", "5", "6", "7"]), ("item.copy", ["3", "7", "4", "5", "6"]),
    // The positions of all edits are those before the first one.
    (#"queue.edit "remove next" "move '#4' to=0" "remove '#3'""#, ["6", "3"]),
  ])
  func editsUseThePositionsBeforeThem(_ row: (line: String, items: [String])) throws {
    let (daemon, client) = try connected()
    #expect(try client.reply(row.line).hasPrefix("ok"), "\(row.line)")
    #expect(try items(client) == row.items, "\(row.line)")
    _ = daemon
  }

  @Test func insertedAndReplacedEntriesHavePositions() throws {
    let (daemon, client) = try connected()
    let path = try daemon.wave(9, frameCount: 4_800)
    try client.reply("insert \(path) before='#2'")
    try client.reply("replace +3 \(path)")
    #expect(try items(client) == ["3", "7", "4", "8", "6"])
    try client.reply("queue.begin")
    try client.reply("remove next")
    try client.reply("remove next")
    // Both are the entry that follows the current one before the commit.
    #expect(try client.reply("queue.commit").hasPrefix("error code=1001") || items(client).count == 5)
  }

  @Test(arguments: [
    ("item.status '#5'", "the queue has only 4 entries (got #5)"), ("jump +4", "the queue has only 4 entries (got #5)"),
    ("remove next '#9'", "the queue has only 4 entries (got #9)"),
    ("move '#9' to=0", "the queue has only 4 entries (got #9)"),
    (#"queue.edit "remove next" "remove '#9'""#, "the queue has only 4 entries (got #9)"),
    ("jump -3", "only 2 entries were played before (got -3)"),
    ("seek 0.05 item=next", "item 4 is not the current item, which is 3"),
    ("seek 0.05 item=+9", "the queue has only 4 entries (got #10)"),
    ("wait item=+9", "the queue has only 4 entries (got #10)"), ("wait item=-3", "only 2 entries were played before"),
    ("item.status previous", "there is no item 2 in the queue"), ("at 0.05 item=-3", "only 2 entries"),
  ])
  func missingPositionChangesNothing(_ row: (line: String, message: String)) throws {
    let (daemon, client) = try connected()
    let before = try items(client)
    let reply = try client.reply(row.line)
    #expect(reply.hasPrefix("error code=2004") && reply.contains(row.message), "\(row.line): \(reply)")
    #expect(try items(client) == before)
    _ = daemon
  }

  @Test func emptyQueueHasNoCurrentEntry() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    for line in ["item.status", "item.chapters current", "jump next", "remove current", "move to=0"] {
      let reply = try client.reply(line)
      #expect(reply.hasPrefix("error code=2004") && reply.contains("the queue is empty"), "\(line): \(reply)")
    }
    #expect(try client.reply("jump previous").contains("no entry was played before"))
  }
}
