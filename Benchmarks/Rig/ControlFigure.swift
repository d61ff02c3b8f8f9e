import Glibc
import PlayheadMediaCore
import RigSupport

/// The control socket alone: round trips and pipelined lines compared with MPD, the delay of a change at another
/// client, and the cost of idle clients.
enum ControlFigure {
  private static let runCount = 5
  private static let pipelinedCount = 100_000
  private static let clientCount = 1_000
  private static let longQueueCount = 50_000

  // MARK: - Round trips

  /// Five runs of each player in turn, so that disturbances of the machine affect all: with client and player on one
  /// processor, and on two.
  static func measureRoundTrips(_ players: Players, rounds: Int, into table: inout Table) throws {
    guard let playhead = players[.playhead] as? PlayheadPlayer else { return }
    let mpd = players[.mpd] as? MPDPlayer
    let clients = Clients(
      text: try LineCounter(playhead.socketPath, greetingLines: 1),
      json: try LineCounter(playhead.socketPath, greetingLines: 1),
      mpd: try mpd.map { try LineCounter($0.socketPath, greetingLines: 1) })
    let processors = try Processors.available()
    let processes = [playhead.process.processID] + (mpd.map { [$0.process.processID] } ?? [])
    func confine(client: [Int], players: [Int]) throws {
      try Processors.confine(getpid(), to: client)
      for process in processes { try Processors.confine(process, to: players) }
    }
    // Also after an error: later measurements use all processors.
    defer { try? confine(client: processors, players: processors) }
    let missing = players.missing[.mpd] ?? "-"
    for (name, processor) in [("one processor", processors.first), ("two processors", processors.dropFirst().first)] {
      guard let first = processors.first, let processor else { continue }
      try confine(client: [first], players: [processor])
      try addRoundTrips(clients, "on \(name)", missing, rounds: rounds, into: &table)
    }
    try confine(client: processors, players: processors)
    try addPipelines(clients, missing, into: &table)
  }

  private struct Clients {
    var text: LineCounter
    var json: LineCounter
    var mpd: LineCounter?
  }

  private static let pingText = Array("ping\n".utf8)
  private static let pingJSON = Array((#"{"jsonrpc":"2.0","id":1,"method":"ping"}"# + "\n").utf8)

  private static func addRoundTrips(
    _ clients: Clients, _ processors: String, _ missing: String, rounds: Int, into table: inout Table
  ) throws {
    var playheadRuns = Runs()
    var mpdRuns = Runs()
    var jsonRuns = Runs()
    var ratios = Sample()
    // The first run only fills the caches.
    for run in -1..<runCount {
      let playheadMedian = try playheadRuns.addRoundTrips(clients.text, pingText, rounds: rounds, isCounted: run >= 0)
      if let mpd = clients.mpd {
        let mpdMedian = try mpdRuns.addRoundTrips(mpd, pingText, rounds: rounds, isCounted: run >= 0)
        if run >= 0 { ratios.add(playheadMedian / mpdMedian) }
      }
      _ = try jsonRuns.addRoundTrips(clients.json, pingJSON, rounds: rounds, isCounted: run >= 0)
    }
    table.add(
      "control: round trip of ping in text form, \(processors), median of \(runCount) runs", target: "<= 1.1 x MPD's",
      [
        .playhead: "\(playheadRuns.median) µs (\(ratios.median.map { "\($0.text(2)) x" } ?? missing))",
        .mpd: clients.mpd == nil ? missing : "\(mpdRuns.median) µs",
      ])
    table.add(
      "control: round trip of ping in text form, \(processors), p99 of all runs", target: "< 200 µs",
      [.playhead: "\(playheadRuns.slow) µs", .mpd: clients.mpd == nil ? missing : "\(mpdRuns.slow) µs"])
    table.add(
      "control: round trip of ping in JSON, \(processors), median of \(runCount) runs (p99)", target: "<= 120 µs",
      [.playhead: "\(jsonRuns.median) µs (\(jsonRuns.slow))"])
  }

  private static func addPipelines(_ clients: Clients, _ missing: String, into table: inout Table) throws {
    var playheadRuns = Runs()
    var mpdRuns = Runs()
    var jsonRuns = Runs()
    for run in -1..<runCount {
      try playheadRuns.addPipeline(clients.text, pingText, isCounted: run >= 0)
      if let mpd = clients.mpd { try mpdRuns.addPipeline(mpd, pingText, isCounted: run >= 0) }
      try jsonRuns.addPipeline(clients.json, pingJSON, isCounted: run >= 0)
    }
    table.add(
      "control: ping in text form, pipelined, per second", target: ">= 300 k",
      [.playhead: "\(playheadRuns.perSecond) k", .mpd: clients.mpd == nil ? missing : "\(mpdRuns.perSecond) k"])
    table.add(
      "control: ping in JSON, pipelined, per second", target: ">= 25 k", [.playhead: "\(jsonRuns.perSecond) k"])
  }

  /// The runs of one request with one player.
  private struct Runs {
    private var medians = Sample()
    private var all = Sample()
    private var rates = Sample()

    /// Runs a number of round trips. Returns their median in microseconds.
    mutating func addRoundTrips(_ client: LineCounter, _ line: [UInt8], rounds: Int, isCounted: Bool) throws -> Double {
      var run = Sample()
      for _ in 0..<rounds { run.add(try client.roundTrip(line) * 1_000) }
      guard isCounted, let median = run.median else { return 0 }
      medians.add(median)
      for value in run.values { all.add(value) }
      return median
    }

    /// Runs one batch of pipelined lines.
    mutating func addPipeline(_ client: LineCounter, _ line: [UInt8], isCounted: Bool) throws {
      let milliseconds = try client.pipeline(line, count: pipelinedCount)
      if isCounted { rates.add(Double(pipelinedCount) / milliseconds) }
    }

    var median: String { (medians.median ?? 0).text(1) }
    var slow: String { (all.quantile(0.99) ?? 0).text(1) }
    /// In thousands.
    var perSecond: String { (rates.median ?? 0).text(0) }
  }

  // MARK: - Changes

  static func measureChanges(_ players: Players, rounds: Int, into table: inout Table) throws {
    guard let player = players[.playhead] as? PlayheadPlayer else { return }
    for player in players.all { try player.unload() }
    let socket = try player.connect()
    try sendAndWait(socket, "append" + String(repeating: " /x", count: 3))
    try addChanges(player, rounds, "a queue of 3", into: &table)
    for _ in 0..<longQueueCount / 10_000 { try sendAndWait(socket, "append" + String(repeating: " /x", count: 10_000)) }
    try addChanges(player, rounds, "a queue of \(longQueueCount)", into: &table)
    try addEdits(player, rounds, into: &table)
    try player.unload()
  }

  /// The delay until another client has an event, from the first byte of the command that caused it.
  private static func addChanges(_ player: PlayheadPlayer, _ rounds: Int, _ queue: String, into table: inout Table)
    throws
  {
    let actor = try LineCounter(player.socketPath, greetingLines: 1)
    // The reply and the current value.
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
      "control: latency of a change to another client, \(queue), p99 (median)", target: "< 500 µs",
      [.playhead: "\((sample.quantile(0.99) ?? 0).text(0)) µs (\((sample.median ?? 0).text(0)))"])
  }

  /// The duration of one edit of a long queue, until the reply and another client's event arrive.
  private static func addEdits(_ player: PlayheadPlayer, _ rounds: Int, into table: inout Table) throws {
    let actor = try player.connect()
    let watcher = try LineCounter(player.socketPath, greetingLines: 1)
    try watcher.send(Array("observe queue.version\n".utf8))
    try watcher.wait(forLines: 2)
    try actor.send("list limit=1 offset=\(longQueueCount / 2)\n")
    let row = try actor.line()
    _ = try actor.line()
    guard let field = row.split(separator: " ").first(where: { $0.hasPrefix("item=") }) else {
      throw RigError.programFailed("playheadd: \(row)")
    }
    let item = field.dropFirst("item=".count)
    for (name, lines) in [
      ("move to an end", ["move \(item) to=1", "move \(item) to=\(longQueueCount - 1)"]),
      ("insert in the middle", ["insert /y after=\(item)", "insert /y before=\(item)"]),
    ] {
      var sample = Sample()
      for round in 0..<rounds {
        let start = HostTime.present
        try sendAndWait(actor, lines[round & 1])
        try watcher.wait(forLines: 1)
        sample.add(HostTime.present.milliseconds(since: start) * 1_000)
      }
      table.add(
        "control: \(name) in a queue of \(longQueueCount), reply and event, median (p99)", target: "< 1,000 µs",
        [.playhead: "\((sample.median ?? 0).text(0)) µs (\((sample.quantile(0.99) ?? 0).text(0)))"])
    }
  }

  private static func sendAndWait(_ socket: LineSocket, _ line: String) throws {
    try socket.send(line + "\n")
    while true {
      let reply = try socket.line()
      if reply == "ok" || reply.hasPrefix("ok ") { return }
      guard reply.hasPrefix("| ") else { throw RigError.programFailed("playheadd: \(reply.prefix(200))") }
    }
  }

  // MARK: - Clients

  /// The cost of a thousand clients that sent one request and are idle since.
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
      "control: memory (PSS) of \(clients.count) idle clients", target: "< 20 MB",
      [.playhead: "\((after - before).text()) MB (baseline \(before.text()))"])
  }
}
