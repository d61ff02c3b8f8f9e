import PlayheadMediaCore
import RigSupport

/// Ticks every 50 ms: whether they are on the grid, complete and in time, and how often mpv reports the time. Also the
/// cost of a thousand observers.
enum TickFigure {
  static let perSecond = 20

  static func measure(_ players: Players, _ material: Material, seconds: Int, into table: inout Table) throws {
    let path = try material.coded(.flac, number: 1)
    guard let player = players[.playhead] as? PlayheadPlayer else { return }
    try SeekFigure.startPlayback(player, path)
    let socket = try player.connect()
    try socket.send("tick 1/\(perSecond)\n")
    _ = try socket.line()
    let before = try ProcessUsage(player.process.processID)
    let ticks = try collect(socket, milliseconds: Double(seconds) * 1_000).compactMap(Tick.init)
    let after = try ProcessUsage(player.process.processID)
    let grid = ticks.map {
      $0.numerator * perSecond % $0.denominator == 0 ? $0.numerator * perSecond / $0.denominator : nil
    }
    let gridIndexes = grid.compactMap { $0 }
    let steps = zip(gridIndexes, gridIndexes.dropFirst()).map { $1 - $0 }
    let lost = steps.reduce(0) { $0 + max(0, $1 - 1) }
    let repeated = steps.reduce(0) { $0 + max(0, 1 - $1) }
    let late = Sample(ticks.map { $0.late * 1_000 })
    // Compares arrival times with a fitted line, independent of the reported times.
    let offsets = ticks.map {
      Double($0.time.nanoseconds) / 1e6 - 1_000 * Double($0.numerator) / Double($0.denominator)
    }
    let base = Sample(offsets).median ?? 0
    let jitter = Sample(offsets.map { $0 - base })
    table.add(
      "ticks at 50 ms for \(seconds) s", target: "0, 0, 0",
      [
        .playhead:
          "\(ticks.count) ticks, \(grid.count - gridIndexes.count) off the grid, \(lost) lost, \(repeated) doubled"
      ])
    table.add(
      "ticks at 50 ms: reported lateness, p50 / p99 / max", target: "p99 < 10 ms", [.playhead: late.spread()])
    table.add("ticks at 50 ms: jitter as received", [.playhead: jitter.spread()])
    var cells: [PlayerKind: String] = [
      .playhead:
        "\((Double(ticks.count) / Double(seconds)).text()) (\(after.wakeupsPerSecond(since: before).text()) wakeups)"
    ]
    SeekFigure.stop(players)
    cells.merge(players.each([.mpv]) { try notifications($0, path, seconds: seconds / 3) }) { $1 }
    cells.merge(players.each([.mpd]) { _ in "not supported" }) { $1 }
    table.add("time notifications per second (ticks at 50 ms; time-pos)", cells)
    SeekFigure.stop(players)
  }

  static func measureObservers(_ players: Players, _ material: Material, into table: inout Table) throws {
    guard let player = players[.playhead] as? PlayheadPlayer else { return }
    try SeekFigure.startPlayback(player, try material.coded(.flac, number: 1))
    defer { SeekFigure.stop(players) }
    let bare = try percent(player, [])
    var sockets: [LineSocket] = []
    for _ in 0..<4 {
      let socket = try player.connect()
      for _ in 0..<250 { try socket.send("tick 0.1\n") }
      for _ in 0..<250 { _ = try socket.line() }
      sockets.append(socket)
    }
    let loaded = try percent(player, sockets)
    table.add(
      "1,000 observers at 10 Hz on 4 connections: processor, of one core", target: "< 10 %",
      [.playhead: "\(loaded.percent.text(2)) % (\(bare.percent.text(2)) % without; \(loaded.events) events/s)"])
  }

  /// The median processor time of 20 half-second windows while `sockets` are read, and the number of events.
  private static func percent(_ player: any BenchPlayer, _ sockets: [LineSocket]) throws -> (
    percent: Double, events: Int
  ) {
    var sample = Sample()
    var events = Sample()
    for _ in 0..<20 {
      let before = try ProcessUsage(player.process.processID)
      var count = 0
      let end = HostTime.present.advanced(byNanoseconds: 500_000_000)
      if sockets.isEmpty { Pause.milliseconds(500) }
      while !sockets.isEmpty, HostTime.present < end {
        for socket in sockets {
          if try socket.receive(timeOutMilliseconds: 20 / Int32(sockets.count)) {
            while let line = socket.bufferedLine() { count += line.hasPrefix("* tick") ? 1 : 0 }
          }
        }
      }
      sample.add(try ProcessUsage(player.process.processID).percent(since: before))
      events.add(Double(count) * 2)
    }
    return (sample.median ?? 0, Int(events.median ?? 0))
  }

  private static func notifications(_ player: any BenchPlayer, _ path: String, seconds: Int) throws -> String {
    try SeekFigure.startPlayback(player, path)
    guard let mpv = player as? MPVPlayer else { return "-" }
    let socket = try LineSocket.waiting(for: mpv.socketPath)
    try socket.send(#"{"command":["observe_property",1,"time-pos"]}"# + "\n")
    let lines = try collect(socket, milliseconds: Double(seconds) * 1_000)
    return (Double(lines.filter { $0.text.contains("time-pos") }.count) / Double(seconds)).text()
  }

  private static func collect(_ socket: LineSocket, milliseconds: Double) throws -> [(text: String, time: HostTime)] {
    var lines: [(String, HostTime)] = []
    let start = HostTime.present
    while HostTime.present.milliseconds(since: start) < milliseconds {
      guard try socket.receive(timeOutMilliseconds: 200) else { continue }
      let now = HostTime.present
      while let line = socket.bufferedLine() { lines.append((line, now)) }
    }
    return lines
  }

  /// A `tick` event of reason `periodic`.
  private struct Tick {
    var numerator: Int
    var denominator: Int
    var late: Double
    var time: HostTime

    init?(_ line: (text: String, time: HostTime)) {
      var fields: [Substring: Substring] = [:]
      for word in line.text.split(separator: " ") {
        guard let equals = word.firstIndex(of: "=") else { continue }
        fields[word[..<equals]] = word[word.index(after: equals)...]
      }
      let parts = fields["pts"]?.split(separator: "/").compactMap { Int($0) } ?? []
      guard fields["reason"] == "periodic", parts.count == 2, let late = fields["late"].flatMap({ Double($0) }) else {
        return nil
      }
      (numerator, denominator, self.late, time) = (parts[0], parts[1], late, line.time)
    }
  }
}

extension Sample {
  fileprivate init(_ values: [Double]) {
    self.init()
    for value in values { add(value) }
  }

  fileprivate func spread() -> String {
    "\([0.5, 0.99, 1].map { (quantile($0) ?? 0).text(2) }.joined(separator: " / ")) ms"
  }
}
