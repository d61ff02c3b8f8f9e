import RigSupport

/// What it costs to play at another rate than 1, with and without the pitch. One player after another, so that none waits for
/// the processor; MPD has no rates, and mpv is not asked for Rubber Band.
enum RateFigure {
  static func measure(_ players: Players, _ material: Material, rounds: Int, into table: inout Table) throws {
    for player in players.all { try player.unload() }
    let path = try material.music(rate: 44_100)
    for rate in [2.0, 0.5] {
      for pitch in [PlayerCommand.Pitch.timeDomain, .spectral, .varispeed] {
        let kinds: [PlayerKind] = pitch == .spectral ? [.playhead] : [.playhead, .mpv]
        let cells = players.each(kinds) { player in
          try player.load([path])
          try player.perform(.rate(rate, pitch))
          try player.perform(.play)
          Pause.milliseconds(2_000)
          let before = try ProcessUsage(player.process.processID)
          Pause.milliseconds(Double(max(1, rounds)) * 1_000)
          let percent = try ProcessUsage(player.process.processID).percent(since: before)
          try player.perform(.rate(1, .timeDomain))
          try player.unload()
          return "\(percent.text(2)) %"
        }
        table.add("playing FLAC of 44100 Hz at rate \(rate.text(1)), \(pitch.rawValue): processor, of one core", cells)
      }
    }
  }
}
