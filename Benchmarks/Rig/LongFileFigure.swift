import RigSupport

/// Exact seeks in ten hours of MP3 without a header. The first seek has to index the file, the second uses the index.
enum LongFileFigure {
  /// Rounds of the other player, whose first seek takes seconds.
  private static let mpvRounds = 3
  /// The range of the first seeks in milliseconds: late in the file, but within it for any number of rounds.
  private static let firstTargets = 30_000_000..<35_000_000
  /// The range of the second seeks in milliseconds.
  private static let secondTargets = 3_000_000..<23_000_000

  /// The target of one round. Rounds are spread over `range`, each at a different position of the repeated noise.
  private static func target(_ round: Int, in range: Range<Int>) -> Int {
    range.lowerBound + (40_000 + round * 631_111) % range.count
  }

  static func measure(
    _ players: Players, _ material: Material, rounds: Int, flacSeeks: [PlayerKind: Sample], into table: inout Table
  ) throws {
    let path = try material.longMP3()
    // Reads the file into the cache, for all players.
    try ChildProcess.run(["cat", path])
    let alignment = Alignment(reference: try material.reference(.mp3Bare), isPeriodic: true)
    var first: [PlayerKind: Landings] = [:]
    var second: [PlayerKind: Landings] = [:]
    var scans = Sample()
    let failures = players.interleave([.playhead, .mpv], rounds: rounds) { player, round in
      let isFresh = player.kind == .playhead || round < mpvRounds
      if isFresh {
        // As if the file had never been opened.
        try player.unload()
        try LossySeekFigure.startPlayback(player, path)
        let landing = try LossySeekFigure.seekAndWait(player, alignment, target: target(round, in: firstTargets))
        first[player.kind, default: Landings()].add(landing)
        if let milliseconds = try (player as? PlayheadPlayer)?.indexMilliseconds() { scans.add(milliseconds) }
      }
      try Pause.phase(round: round, of: player.capture)
      let landing = try LossySeekFigure.seekAndWait(player, alignment, target: target(round, in: secondTargets))
      second[player.kind, default: Landings()].add(landing)
    }
    SeekFigure.stop(players)
    func cells(_ landings: [PlayerKind: Landings]) -> [PlayerKind: String] {
      failures.merging(landings.mapValues(\.text)) { failure, _ in failure }
    }
    table.add(
      "ten-hour MP3 without a header: first exact seek; error; differing first frames", target: "<= 500 ms, 0, 0",
      cells(first))
    table.add(
      "ten-hour MP3 without a header: header scan before the position of the first seek, from `explain`",
      target: "<= 150 ms",
      [
        .playhead: "\((scans.median ?? 0).text()) ms (\(scans.values.count), max \((scans.quantile(1) ?? 0).text()))"
      ].filter { _ in !scans.values.isEmpty })
    let limit = flacSeeks[.mpv]?.median.map { "<= \((1.5 * $0).text()) ms, 0, 0" } ?? "mpv's FLAC seek: none"
    table.add(
      "ten-hour MP3 without a header: second exact seek; error; differing first frames", target: limit, cells(second))
  }

  /// The seeks of one kind by one player.
  private struct Landings {
    private var milliseconds = Sample()
    private var errors = Sample()
    private var wrongFrames = Sample()

    mutating func add(_ landed: (landing: Alignment.Landing, milliseconds: Double)) {
      milliseconds.add(landed.milliseconds)
      errors.add(Double(landed.landing.error))
      wrongFrames.add(Double(landed.landing.wrongFrames))
    }

    /// The median of the times, their number, and the largest errors.
    var text: String {
      "\((milliseconds.median ?? 0).text()) ms (\(milliseconds.values.count)), off by \(Int(errors.largestMagnitude ?? 0)),"
        + " wrong \(Int(wrongFrames.largestMagnitude ?? 0))"
    }
  }
}
