import RigSupport

/// Resource usage of players: idle, playing, paused. All are measured at the same time.
enum UsageFigure {
  /// The length of one window. The result is the median of one window per round.
  private static let windowMilliseconds = 1_000.0

  static func measure(_ players: Players, _ material: Material, rounds: Int, into table: inout Table) throws {
    for player in players.all { try player.unload() }
    Pause.milliseconds(1_000)
    try add(players, "nothing loaded", rounds: rounds / 2, target: ["", ""], into: &table)
    for (rate, target) in [(44_100, ["<= 0.6 %", ""]), (48_000, ["", ""])] {
      let path = try material.music(rate: rate)
      for player in players.all {
        try player.load([path])
        try player.perform(.play)
      }
      Pause.milliseconds(2_000)
      try add(players, "playing FLAC of \(rate) Hz", rounds: rounds, target: target, into: &table)
    }
    for player in players.all { try player.perform(.pause) }
    Pause.milliseconds(2_000)
    try add(players, "paused", rounds: rounds / 2, target: ["", ""], into: &table)
    SeekFigure.stop(players)
  }

  /// `target`: the limits for processor time and wakeups.
  private static func add(
    _ players: Players, _ state: String, rounds: Int, target: [String], into table: inout Table
  ) throws {
    var processor: [PlayerKind: Sample] = [:]
    var server: [PlayerKind: Sample] = [:]
    var wakeups: [PlayerKind: Sample] = [:]
    for _ in 0..<max(1, rounds) {
      let before = try players.all.map {
        (try ProcessUsage($0.process.processID), try ProcessUsage($0.server.process.processID))
      }
      Pause.milliseconds(windowMilliseconds)
      for (player, before) in zip(players.all, before) {
        let now = try ProcessUsage(player.process.processID)
        processor[player.kind, default: Sample()].add(now.percent(since: before.0))
        wakeups[player.kind, default: Sample()].add(now.wakeupsPerSecond(since: before.0))
        server[player.kind, default: Sample()].add(
          try ProcessUsage(player.server.process.processID).percent(since: before.1))
      }
    }
    table.add(
      "\(state): processor, of one core (of the sound server)", target: target[0],
      players.each { player in
        "\((processor[player.kind]?.median ?? 0).text(2)) % (\((server[player.kind]?.median ?? 0).text(2)) %)"
      })
    table.add(
      "\(state): wakeups per second", target: target[1], players.each { (wakeups[$0.kind]?.median ?? 0).text() })
  }

  /// Processor time of the daemon with its workers, by the process that decodes: the daemon (the default), or a worker.
  static func measureIsolation(_ programs: Programs, _ material: Material, rounds: Int, into table: inout Table) throws
  {
    let levels = ["opening", "playback"]
    let path = try material.music(rate: 44_100)
    let players = try levels.map { try PlayheadPlayer(program: programs.playheadd, options: ["--isolate", $0]) }
    for player in players {
      try player.load([path])
      try player.perform(.play)
    }
    Pause.milliseconds(2_000)
    var processor = levels.map { _ in Sample() }
    var wakeups = levels.map { _ in Sample() }
    for _ in 0..<rounds {
      let before = try players.map { try ProcessUsage(family: $0.process.processID) }
      Pause.milliseconds(windowMilliseconds)
      for (index, player) in players.enumerated() {
        let now = try ProcessUsage(family: player.process.processID)
        processor[index].add(now.percent(since: before[index]))
        wakeups[index].add(now.wakeupsPerSecond(since: before[index]))
      }
    }
    let cells = levels.indices.map { index in
      "\(levels[index]) \((processor[index].median ?? 0).text(2)) %, \((wakeups[index].median ?? 0).text()) wakeups/s"
    }
    table.add(
      "playing FLAC of 44100 Hz with --isolate: processor, of one core, with workers",
      [.playhead: cells.joined(separator: "; ")])
  }

  /// Memory during playback, measured for each player alone: players that run together share the pages of FFmpeg's
  /// libraries, and none would be charged for all of them. For a player with several processes, the sum.
  static func measureMemory(_ programs: Programs, _ material: Material, into table: inout Table) throws {
    let path = try material.music(rate: 44_100)
    var cells: [PlayerKind: String] = [:]
    for kind in PlayerKind.allCases {
      do {
        let player = try Players.start(kind, programs)
        Pause.milliseconds(500)
        let idle = try ProcessUsage.proportionalMegabytes(player.process.processID)
        try player.load([path])
        try player.perform(.play)
        var playing = Sample()
        for _ in 0..<20 {
          Pause.milliseconds(200)
          playing.add(try ProcessUsage.proportionalMegabytes(player.process.processID))
        }
        cells[kind] = "\((playing.median ?? 0).text()) MB (nothing loaded: \(idle.text()))"
      } catch RigError.missingTool(let name) {
        cells[kind] = "NOT MEASURED: no \(name)"
      } catch {
        cells[kind] = "FAILED: \(error)"
      }
    }
    table.add("memory (PSS) of a player alone, playing FLAC of 44100 Hz", target: "<= 40 MB", cells)
  }
}
