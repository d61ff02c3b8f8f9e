import RigSupport

/// Exact seeks in ten hours of MP3 without a header: the first has to find out where everything lies, the second knows.
enum LongFileFigure {
  /// How often the peer, whose first seek takes seconds, is asked.
  private static let peerRounds = 3
  /// Milliseconds in which the first seeks land: late in the file, but within it however many rounds there are.
  private static let firstPlaces = 30_000_000..<35_000_000
  /// Milliseconds in which the second seeks land.
  private static let secondPlaces = 3_000_000..<23_000_000

  /// The place of one round: the rounds spread over `places`, no two at the same place of the repeated noise.
  private static func target(_ round: Int, in places: Range<Int>) -> Int {
    places.lowerBound + (40_000 + round * 631_111) % places.count
  }

  static func measure(
    _ players: Players, _ material: Material, rounds: Int, flacSeeks: [PlayerKind: Sample], into table: inout Table
  ) throws {
    let path = try material.longMP3()
    // In the cache, for all.
    try ChildProcess.run(["cat", path])
    let alignment = Alignment(reference: try material.reference(.mp3Bare), isPeriodic: true)
    var first: [PlayerKind: Sample] = [:]
    var second: [PlayerKind: Sample] = [:]
    let failures = players.interleave([.playhead, .mpv], rounds: rounds) { player, round in
      let isFresh = player.kind == .playhead || round < peerRounds
      if isFresh {
        // As if it had never been opened.
        try player.unload()
        try LossySeekFigure.begin(player, path)
        first[player.kind, default: Sample()].add(try land(player, alignment, target(round, in: firstPlaces)))
      }
      try Pause.phase(round: round, of: player.capture)
      second[player.kind, default: Sample()].add(try land(player, alignment, target(round, in: secondPlaces)))
    }
    SeekFigure.stop(players)
    func cells(_ samples: [PlayerKind: Sample]) -> [PlayerKind: String] {
      failures.merging(samples.mapValues { "\(($0.median ?? 0).text()) ms (\($0.values.count))" }) { failure, _ in
        failure
      }
    }
    table.add("ten-hour MP3 without a header: first exact seek", asked: "<= 500 ms", cells(first))
    let limit = flacSeeks[.mpv]?.median.map { "<= \((1.5 * $0).text()) ms" } ?? "mpv's FLAC seek: none"
    table.add("ten-hour MP3 without a header: second exact seek", asked: limit, cells(second))
  }

  private static func land(_ player: any BenchPlayer, _ alignment: Alignment, _ target: Int) throws -> Double {
    try LossySeekFigure.land(player, alignment, target: target).milliseconds
  }
}
