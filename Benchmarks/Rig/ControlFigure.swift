import MediaCore
import RigSupport

/// The control socket by itself: round trips and lines in a row beside MPD's, how soon a change reaches another client, and what
/// clients that do nothing cost.
enum ControlFigure {
  private static let runCount = 5
  private static let pipelinedCount = 100_000
  private static let clientCount = 1_000
  private static let longQueue = 50_000

  // MARK: - Round trips

  /// Five runs of each in turn, so that what disturbs the machine disturbs all.
  static func measureRoundTrips(_ players: Players, rounds: Int, into table: inout Table) throws {
    let words = Array("ping\n".utf8)
    let json = Array((#"{"jsonrpc":"2.0","id":1,"method":"ping"}"# + "\n").utf8)
    guard let playhead = players[.playhead] as? PlayheadPlayer else { return }
    let ownWords = try LineCounter(playhead.socketPath, greetingLines: 1)
    let ownJSON = try LineCounter(playhead.socketPath, greetingLines: 1)
    let mpd = try (players[.mpd] as? MPDPlayer).map { try LineCounter($0.socketPath, greetingLines: 1) }
    var own = Runs()
    var others = Runs()
    var inJSON = Runs()
    var ratios = Sample()
    // The first only brings everything into the caches.
    for run in -1..<runCount {
      let ownMedian = try own.add(ownWords, words, rounds: rounds, isCounted: run >= 0)
      if let mpd {
        let median = try others.add(mpd, words, rounds: rounds, isCounted: run >= 0)
        if run >= 0 { ratios.add(ownMedian / median) }
      }
      _ = try inJSON.add(ownJSON, json, rounds: rounds, isCounted: run >= 0)
    }
    let missing = players.missing[.mpd] ?? "-"
    table.add(
      "control: round trip of ping in words, median of \(runCount) runs", asked: "<= 1.1 x MPD's",
      [
        .playhead: "\(own.median) µs (\(ratios.median.map { "\($0.text(2)) x" } ?? missing))",
        .mpd: mpd == nil ? missing : "\(others.median) µs",
      ])
    table.add(
      "control: round trip of ping in words, p99 of all runs", asked: "< 200 µs",
      [.playhead: "\(own.slow) µs", .mpd: mpd == nil ? missing : "\(others.slow) µs"])
    table.add(
      "control: ping in words, pipelined, a second", asked: ">= 300 k",
      [.playhead: "\(own.perSecond) k", .mpd: mpd == nil ? missing : "\(others.perSecond) k"])
    table.add(
      "control: round trip of ping in JSON, median of \(runCount) runs (p99)", asked: "<= 120 µs",
      [.playhead: "\(inJSON.median) µs (\(inJSON.slow))"])
    table.add(
      "control: ping in JSON, pipelined, a second", asked: ">= 25 k", [.playhead: "\(inJSON.perSecond) k"])
  }

  /// The runs of one question with one player.
  private struct Runs {
    private var medians = Sample()
    private var all = Sample()
    private var rates = Sample()

    /// One run: so many round trips, and then lines in a row. Answers the median of the round trips, in microseconds.
    mutating func add(_ client: LineCounter, _ line: [UInt8], rounds: Int, isCounted: Bool) throws -> Double {
      var run = Sample()
      for _ in 0..<rounds { run.add(try client.roundTrip(line) * 1_000) }
      let milliseconds = try client.pipeline(line, count: pipelinedCount)
      guard isCounted, let median = run.median else { return 0 }
      medians.add(median)
      for value in run.values { all.add(value) }
      rates.add(Double(pipelinedCount) / milliseconds)
      return median
    }

    var median: String { (medians.median ?? 0).text(1) }
    var slow: String { (all.quantile(0.99) ?? 0).text(1) }
    /// Thousands.
    var perSecond: String { (rates.median ?? 0).text(0) }
  }

  // MARK: - Changes

  static func measureChanges(_ players: Players, rounds: Int, into table: inout Table) throws {
    guard let player = players[.playhead] as? PlayheadPlayer else { return }
    for player in players.all { try player.unload() }
    let socket = try player.connect()
    try ask(socket, "append" + String(repeating: " /x", count: 3))
    try addChanges(player, rounds, "a queue of 3", into: &table)
    for _ in 0..<longQueue / 10_000 { try ask(socket, "append" + String(repeating: " /x", count: 10_000)) }
    try addChanges(player, rounds, "a queue of \(longQueue)", into: &table)
    try addEdits(player, rounds, into: &table)
    try player.unload()
  }

  /// How soon another client has an event, from the first byte of the command that brought it.
  private static func addChanges(_ player: PlayheadPlayer, _ rounds: Int, _ queue: String, into table: inout Table)
    throws
  {
    let actor = try LineCounter(player.socketPath, greetingLines: 1)
    // The answer, and the present value.
    let watcher = try LineCounter(player.socketPath, greetingLines: 1)
    try watcher.send(Array("observe player.volume\n".utf8))
    try watcher.wait(forLines: 2)
    let lines = ["volume 0.25\n", "volume 0.75\n"].map { Array($0.utf8) }
    var sample = Sample()
    for round in -rounds / 10..<rounds {
      let start = HostTime.present
      try actor.send(lines[round & 1])
      try watcher.wait(forLines: 1)
      if round >= 0 { sample.add(HostTime.present.milliseconds(since: start) * 1_000) }
      try actor.wait(forLines: 1)
    }
    table.add(
      "control: a change reaches another client, \(queue), p99 (median)", asked: "< 500 µs",
      [.playhead: "\((sample.quantile(0.99) ?? 0).text(0)) µs (\((sample.median ?? 0).text(0)))"])
  }

  /// One edit of a long queue, until its answer and another client's event are there.
  private static func addEdits(_ player: PlayheadPlayer, _ rounds: Int, into table: inout Table) throws {
    let actor = try player.connect()
    let watcher = try LineCounter(player.socketPath, greetingLines: 1)
    try watcher.send(Array("observe queue.version\n".utf8))
    try watcher.wait(forLines: 2)
    try actor.send("list limit=1 offset=\(longQueue / 2)\n")
    let row = try actor.line()
    _ = try actor.line()
    guard let field = row.split(separator: " ").first(where: { $0.hasPrefix("item=") }) else {
      throw RigError.programFailed("playheadd: \(row)")
    }
    let item = field.dropFirst("item=".count)
    for (name, lines) in [
      ("move to an end", ["move \(item) to=1", "move \(item) to=\(longQueue - 1)"]),
      ("insert in the middle", ["insert /y after=\(item)", "insert /y before=\(item)"]),
    ] {
      var sample = Sample()
      for round in 0..<rounds {
        let start = HostTime.present
        try ask(actor, lines[round & 1])
        try watcher.wait(forLines: 1)
        sample.add(HostTime.present.milliseconds(since: start) * 1_000)
      }
      table.add(
        "control: \(name) in a queue of \(longQueue), answer and event, median (p99)", asked: "< 1,000 µs",
        [.playhead: "\((sample.median ?? 0).text(0)) µs (\((sample.quantile(0.99) ?? 0).text(0)))"])
    }
  }

  private static func ask(_ socket: LineSocket, _ line: String) throws {
    try socket.send(line + "\n")
    while true {
      let answer = try socket.line()
      if answer == "ok" || answer.hasPrefix("ok ") { return }
      guard answer.hasPrefix("| ") else { throw RigError.programFailed("playheadd: \(answer.prefix(200))") }
    }
  }

  // MARK: - Clients

  /// What a thousand clients cost that have asked something once and then are silent.
  static func measureClients(_ programs: Programs, into table: inout Table) throws {
    let player = try PlayheadPlayer(program: programs.playheadd)
    Pause.milliseconds(500)
    let before = try ProcessUsage.proportionalMegabytes(player.process.processID)
    var clients: [LineSocket] = []
    for _ in 0..<clientCount {
      let client = try player.connect()
      try client.send("ping\n")
      _ = try client.line()
      clients.append(client)
    }
    Pause.milliseconds(500)
    let after = try ProcessUsage.proportionalMegabytes(player.process.processID)
    table.add(
      "control: memory (PSS) of \(clients.count) idle clients", asked: "< 20 MB",
      [.playhead: "\((after - before).text()) MB (\(before.text()) without)"])
  }
}
