import DaemonTesting
import MediaTesting
import RigSupport
import Testing

/// Events of observed keys, from the view of a client that mirrors a player.
@Suite(.timeLimit(.minutes(5))) struct ReportedValueTests {
  /// The values of a player's keys, updated by `changed` events.
  private struct Mirror {
    /// By key and item.
    var values: [String: String] = [:]
    /// Events with an `old` that differs from the last reported value.
    var contradictions: [String] = []

    mutating func apply(_ line: String) {
      guard line.hasPrefix("* changed "), let key = field("key", line), let new = field("new", line) else { return }
      let name = "\(key) \(field("item", line) ?? "")"
      if let old = field("old", line), let known = values[name], known != old {
        contradictions.append("\(known): \(line)")
      }
      values[name] = new
    }
  }

  /// Applies what has been sent to `watcher` so far.
  private func update(_ mirror: inout Mirror, from watcher: WireClient) throws {
    for line in try watcher.ask("ping") { mirror.apply(line) }
  }

  @Test func bufferOfAFormerCurrentItemIsReportedEmpty() throws {
    let server = try InProcessServer()
    let (client, watcher) = (try server.connectWithQueue(frameCount: 240_000), try server.connect())
    try client.reply("play")
    try client.reply("clock.advance 0.5")
    var mirror = Mirror()
    for line in try watcher.ask("observe item.is*") { mirror.apply(line) }
    for request in ["seek 2", "next", "clock.advance 0.5", "previous", "pause", "clock.advance 0.5"] {
      try client.reply(request)
      try update(&mirror, from: watcher)
    }
    for item in ["1", "2"] {
      let status = try client.reply("item.status \(item)")
      for key in ["isPlaybackLikelyToKeepUp", "isPlaybackBufferFull", "isPlaybackBufferEmpty"] {
        let reported = mirror.values["item.\(key) \(item)"]
        #expect(reported == field(key, status), "\(key) of \(item): \(status)")
      }
    }
    #expect(mirror.contradictions == [])
  }

  @Test func oldValuesOfEventsEqualTheLastReportedValues() throws {
    let server = try InProcessServer()
    let (client, watcher) = (try server.connectWithQueue(frameCount: 24_000, count: 3), try server.connect())
    let paths = (1...3).map { server.folder.file("\($0).wav") }
    var mirror = Mirror()
    try watcher.reply("observe *")
    try update(&mirror, from: watcher)
    try client.reply("play")
    var random = SeededGenerator(seed: 22)
    for number in 0..<1_500 {
      let items = try client.ask("list").dropLast().compactMap { field("item", $0) }
      let item = items.randomElement(using: &random) ?? "1"
      let path = paths.randomElement(using: &random) ?? paths[0]
      let request = [
        "next", "previous", "seek 0.25", "append \(path)", "append \(path) wait=ready", "insert \(path)",
        "remove \(item)", "move \(item) to=0", "load \(paths.joined(separator: " "))", "shuffle toggle", "repeat all",
        "repeat off", "clock.advance 0.2", "clock.advance 1", "jump \(item)", "clear", "play", "rate 2",
      ].randomElement(using: &random)
      try client.ask(request ?? "ping")
      if number % 20 == 0 { try update(&mirror, from: watcher) }
    }
    try update(&mirror, from: watcher)
    #expect(mirror.contradictions == [])
  }

  @Test func editIsReportedBeforeItsEffects() throws {
    let server = try InProcessServer()
    let path = try server.wave(1, frameCount: 4_800)
    let (client, watcher) = (try server.connect(), try server.connect())
    try watcher.reply("observe player.currentItem queue.version item.status")
    try watcher.reply("ping")
    try client.reply("append \(path)")
    let keys = try watcher.ask("ping").compactMap { field("key", $0) }
    #expect(keys.prefix(2) == ["queue.version", "player.currentItem"])
  }

  @Test func moveWithoutEffectDoesNotIncreaseTheVersion() throws {
    let server = try InProcessServer()
    let (client, watcher) = (try server.connectWithQueue(), try server.connect())
    try watcher.reply("observe queue.version")
    try watcher.reply("ping")
    #expect(try client.reply("move 2 to=1") == "ok version=1")
    #expect(field("version", try client.reply("queue.edit \"move 1 to=0\" \"move 2 to=1\"")) == "1")
    #expect(try client.reply("move 2 to=0") == "ok version=2")
    let changes = try watcher.ask("ping").filter { $0.hasPrefix("* changed") }
    #expect(changes.count == 1 && field("changes", changes[0]) == "move:2:1:0", "\(changes)")
  }
}
