import RigSupport

/// The landing positions of exact seeks in lossy files, compared with a decode from the start.
enum LossySeekFigure {
  static func measure(_ players: Players, _ material: Material, rounds: Int, into table: inout Table) throws {
    for kind in Material.Lossy.allCases {
      let path = try material.noise(kind)
      let alignment = Alignment(reference: try material.reference(kind))
      var errors: [PlayerKind: Sample] = [:]
      var wrong: [PlayerKind: Sample] = [:]
      let failures = players.interleave(rounds: rounds + 1) { player, round in
        guard round > 0 else { return try startPlayback(player, path) }
        let target = SeekFigure.target(round, seconds: Material.noiseSeconds)
        try Pause.phase(round: round, of: player.capture)
        let landing = try seekAndWait(player, alignment, target: target).landing
        errors[player.kind, default: Sample()].add(Double(landing.error))
        wrong[player.kind, default: Sample()].add(Double(landing.wrongFrames))
      }
      SeekFigure.stop(players)
      var cells = failures
      for (player, sample) in errors where cells[player] == nil {
        cells[player] =
          "off by \(Int(sample.largestMagnitude ?? 0)), wrong \(Int(wrong[player]?.largestMagnitude ?? 0))"
      }
      table.add(
        "exact seek, \(kind.rawValue): largest error; differing first frames (reference: decode from the start)",
        target: "0, 0", cells)
    }
  }

  /// The first exact seek in an Ogg file after it was loaded, when no part of it is indexed.
  static func measureFirst(_ players: Players, _ material: Material, rounds: Int, into table: inout Table) throws {
    for kind in [Material.Lossy.vorbis, .opus] {
      let path = try material.noise(kind)
      let alignment = Alignment(reference: try material.reference(kind))
      var milliseconds: [PlayerKind: Sample] = [:]
      let failures = players.interleave([.playhead, .mpv], rounds: rounds + 1) { player, round in
        try player.unload()
        try startPlayback(player, path)
        try Pause.phase(round: round, of: player.capture)
        let target = SeekFigure.target(round, seconds: Material.noiseSeconds)
        let landing = try seekAndWait(player, alignment, target: target)
        if round > 0 { milliseconds[player.kind, default: Sample()].add(landing.milliseconds) }
      }
      SeekFigure.stop(players)
      let cells = failures.merging(milliseconds.mapValues { "\(($0.median ?? 0).text()) ms" }) { failure, _ in failure }
      let limit = milliseconds[.mpv]?.median.map { "<= \($0.text()) ms" } ?? "mpv's: none"
      table.add("first exact seek in \(kind.rawValue), to its first sample", target: limit, cells)
    }
  }

  static func startPlayback(_ player: any BenchPlayer, _ path: String) throws {
    try player.load([path])
    let before = player.capture.frameCount
    try player.perform(.play)
    try player.capture.waitForFrame(from: before) { $0 != .silence }
    try player.capture.waitForMoreFrames(9_600)
  }

  /// Seeks, and waits for the audio at the target. Returns the landing, and the milliseconds from the command to its
  /// first sample.
  static func seekAndWait(
    _ player: any BenchPlayer, _ alignment: Alignment, target: Int, timeOutSeconds: Int = 8
  ) throws -> (landing: Alignment.Landing, milliseconds: Double) {
    // The capture includes some audio before the seek, for finding its end.
    let before = player.capture.frameCount - 1_024
    let sent = try player.send(.seek(milliseconds: target))
    let frame = target * Material.sampleRateHz / 1_000
    for _ in 0..<timeOutSeconds * 10 {
      try player.capture.waitForMoreFrames(4_800)
      let captured = player.capture.frames(from: before)
      guard let landing = alignment.landing(in: captured, target: frame) else { continue }
      guard let time = player.capture.arrival(of: before + landing.position) else { continue }
      try player.finish()
      return (landing, time.milliseconds(since: sent))
    }
    // The player reported an error, or landed far from the target.
    try player.finish()
    let captured = player.capture.frames(from: before)
    if let landing = alignment.landing(in: captured, target: frame, searchRadius: alignment.reference.count),
      let time = player.capture.arrival(of: before + landing.position)
    {
      return (landing, time.milliseconds(since: sent))
    }
    throw RigError.timedOut("audio of the new position")
  }
}
