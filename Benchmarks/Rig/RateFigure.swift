import RigSupport

/// The cost of playback at a rate other than 1, with and without pitch correction. Players run one after another, so
/// that they do not compete for the processor. MPD does not support rates, and mpv is not measured with Rubber Band.
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
        table.add("playing FLAC of 44100 Hz at rate \(rate.text(1)), \(pitch.rawValue): CPU, of one core", cells)
      }
    }
  }
}
