import PlayheadMediaCore
import RigSupport

/// The time from `load` and `play`, sent together to an empty player, to the first sample of the sink.
enum LoadFigure {
  static func measure(_ players: Players, _ material: Material, rounds: Int, into table: inout Table) throws {
    let paths = try [1, 2].map { try material.coded(.flac, number: $0) }
    var durations: [PlayerKind: Sample] = [:]
    var losses: [PlayerKind: Sample] = [:]
    let failures = players.interleave(rounds: rounds) { player, round in
      let file = round % 2 + 1
      try player.unload()
      try player.capture.waitForSilence(4_800, from: player.capture.frameCount)
      try Pause.phase(round: round, of: player.capture)
      let before = player.capture.frameCount
      let sent = try player.send(.start(paths[file - 1]))
      var first = 0
      let position = try player.capture.waitForFrame(from: before) { frame in
        guard let code = TimeCode.decode(frame), code.file == file else { return false }
        first = code.index
        return true
      }
      try player.finish()
      guard let time = player.capture.arrival(of: position) else { return }
      durations[player.kind, default: Sample()].add(time.milliseconds(since: sent))
      losses[player.kind, default: Sample()].add(Double(first))
      try player.capture.waitForMoreFrames(4_800)
    }
    SeekFigure.stop(players)
    let cells = failures.merging(
      durations.map { kind, sample in
        (
          kind,
          "\((sample.median ?? 0).text()) ms (p90 \((sample.quantile(0.9) ?? 0).text())), lost \(Int(losses[kind]?.largestMagnitude ?? 0))"
        )
      }
    ) { failure, _ in failure }
    // A device reads audio in blocks. On average half a block passes before the next one, for each player. This is part
    // of the time.
    let block = try blockMilliseconds(players.all[0].capture)
    table.add(
      "load and play a FLAC, to first sample out (the device takes a block every \(block.text()) ms)",
      target: "<= 15 ms", cells)
  }

  /// The duration of the audio that the device reads at once.
  private static func blockMilliseconds(_ capture: Capture) throws -> Double {
    var gaps = Sample()
    let start = capture.frameCount
    try capture.waitForMoreFrames(Material.sampleRateHz / 2)
    var last: HostTime?
    for position in start..<capture.frameCount {
      guard let time = capture.arrival(of: position), time != last else { continue }
      if let last { gaps.add(time.milliseconds(since: last)) }
      last = time
    }
    return gaps.median ?? 0
  }
}
