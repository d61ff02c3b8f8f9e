import PlayheadMediaCore
import RigSupport

/// The time from `pause` to the first silent sample of the sink, and the samples that pausing and resuming loses or
/// repeats.
enum PauseFigure {
  static func measure(_ players: Players, _ material: Material, rounds: Int, into table: inout Table) throws {
    let path = try material.coded(.flac, number: 1)
    var durations: [PlayerKind: Sample] = [:]
    var startFrames: [PlayerKind: Int] = [:]
    let failures = players.interleave(rounds: rounds + 1) { player, round in
      guard round > 0 else {
        startFrames[player.kind] = player.capture.frameCount
        return try SeekFigure.startPlayback(player, path)
      }
      try Pause.phase(round: round, of: player.capture)
      let before = player.capture.frameCount
      let sent = try player.send(.pause)
      let position = try player.capture.waitForSilence(1, from: before)
      try player.finish()
      guard let time = player.capture.arrival(of: position) else { return }
      durations[player.kind, default: Sample()].add(time.milliseconds(since: sent))
      try player.capture.waitForSilence(4_800, from: position)
      try player.perform(.play)
      try player.capture.waitForCode(file: 1, from: position)
      try player.capture.waitForMoreFrames(7_200)
    }
    SeekFigure.stop(players)
    var silence = failures
    var changes = failures
    for (kind, sample) in durations where silence[kind] == nil {
      silence[kind] = "\((sample.median ?? 0).text()) ms (max \((sample.quantile(1) ?? 0).text()))"
      guard let runs = players[kind]?.capture.runs(from: startFrames[kind] ?? 0) else { continue }
      let jumps = zip(runs, runs.dropFirst()).map { $1.firstIndex - $0.endIndex }
      changes[kind] = "\(jumps.filter { $0 > 0 }.reduce(0, +)) lost, \(-jumps.filter { $0 < 0 }.reduce(0, +)) repeated"
    }
    table.add("pause while playing FLAC, to first silent sample out", target: "<= 30 ms", silence)
    table.add("samples lost and repeated by \(rounds) pauses", target: "0, 0", changes)
  }
}
