import PlayheadMediaCore
import RigSupport

/// Exact seeks during playback, in files in which each sample encodes its index.
enum SeekFigure {
  /// The target of a round: far from the previous one, on a whole millisecond, which every player supports.
  static func target(_ round: Int, seconds: Int) -> Int { (round + 1) * 37_777 % ((seconds - 20) * 1_000) + 5_000 }

  /// The milliseconds until the target is heard, by player. Other figures compare with them.
  @discardableResult
  static func measure(
    _ players: Players, _ material: Material, _ kind: Material.Coded, rounds: Int, into table: inout Table
  ) throws -> [PlayerKind: Sample] {
    let path = try material.coded(kind, number: 1)
    var durations: [PlayerKind: Sample] = [:]
    var errors: [PlayerKind: Sample] = [:]
    let failures = players.interleave(rounds: rounds + 1) { player, round in
      // The first round only starts playback.
      guard round > 0 else { return try startPlayback(player, path) }
      let target = target(round, seconds: Material.codedSeconds)
      try Pause.phase(round: round, of: player.capture)
      let before = player.capture.frameCount
      let sent = try player.send(.seek(milliseconds: target))
      let landing = try waitForTarget(player.capture, from: before, near: target * Material.sampleRateHz / 1_000)
      try player.finish()
      durations[player.kind, default: Sample()].add(landing.time.milliseconds(since: sent))
      errors[player.kind, default: Sample()].add(Double(landing.error))
      // Waits until the queued audio is that of the target.
      try player.capture.waitForMoreFrames(9_600)
    }
    stop(players)
    var cells = failures
    for (player, sample) in durations where cells[player] == nil {
      cells[player] =
        "\((sample.median ?? 0).text()) ms (p90 \((sample.quantile(0.9) ?? 0).text())),"
        + " error \(Int(errors[player]?.largestMagnitude ?? 0))"
    }
    table.add(
      "exact seek while playing, \(kind.rawValue), to first sample out; error in samples", target: "<= mpv, 0", cells)
    return durations
  }

  static func startPlayback(_ player: any BenchPlayer, _ path: String) throws {
    try player.load([path])
    let before = player.capture.frameCount
    try player.perform(.play)
    try player.capture.waitForCode(file: 1, from: before)
    try player.capture.waitForMoreFrames(14_400)
  }

  static func stop(_ players: Players) {
    for player in players.all {
      do {
        try player.unload()
        try player.capture.waitForSilence(4_800, from: player.capture.frameCount)
      } catch {
        // The player's next figure fails, and the table shows the error.
        Progress.report("\(player.kind.rawValue) cannot be stopped: \(error)")
      }
    }
  }

  /// The first frame after the seek: its arrival time, and its distance from `target`.
  private static func waitForTarget(
    _ capture: Capture, from: Int, near target: Int
  ) throws -> (time: HostTime, error: Int) {
    var previous: Int?
    var found = 0
    let position = try capture.waitForFrame(from: from, timeOutSeconds: 10) { frame in
      guard let code = TimeCode.decode(frame) else { return false }
      defer { previous = code.index }
      found = code.index
      return previous.map { $0 + 1 != code.index } ?? true && abs(code.index - target) < 2 * Material.sampleRateHz
    }
    guard let time = capture.arrival(of: position) else { throw RigError.programFailed("a frame without a time") }
    return (time, found - target)
  }
}
