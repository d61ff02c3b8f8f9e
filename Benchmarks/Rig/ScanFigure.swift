import PlayheadMediaCore
import RigSupport

/// The duration of a loudness scan, compared with FFmpeg's filter on the same file in the same round.
enum ScanFigure {
  static func measure(_ players: Players, _ material: Material, rounds: Int, into table: inout Table) throws {
    guard let player = players.all.compactMap({ $0 as? PlayheadPlayer }).first else { return }
    let files = [
      ("five minutes of FLAC", try material.coded(.flac, number: 1)), ("90 s of MP3", try material.noise(.mp3)),
    ]
    for (name, path) in files {
      var ratios = Sample()
      var times = (playhead: Sample(), filter: Sample())
      // The first run of each only fills the caches with programs and files.
      for round in -1..<rounds {
        let playhead = try scan(path, player)
        let reference = try filter(path)
        guard round >= 0 else { continue }
        ratios.add(playhead / reference)
        times.playhead.add(playhead)
        times.filter.add(reference)
      }
      table.add(
        "scan of \(name): loudness, range, true peak (ffmpeg -af ebur128 takes \((times.filter.median ?? 0).text()) ms)",
        target: "<= ffmpeg",
        [.playhead: "\((times.playhead.median ?? 0).text()) ms, ratio \((ratios.median ?? 0).text(2))"])
    }
  }

  /// Milliseconds from the request to the reply.
  private static func scan(_ path: String, _ player: PlayheadPlayer) throws -> Double {
    let socket = try player.connect()
    let start = try socket.send("scan \"\(path)\"\n")
    while true {
      let line = try socket.line(timeOutMilliseconds: 120_000)
      if line.hasPrefix("ok ") { return HostTime.present.milliseconds(since: start) }
      if line.hasPrefix("error ") { throw RigError.programFailed(line) }
    }
  }

  private static func filter(_ path: String) throws -> Double {
    let start = HostTime.present
    try ChildProcess.run([
      "ffmpeg", "-nostdin", "-nostats", "-v", "error", "-i", path, "-map", "0:a", "-af",
      "ebur128=peak=true:framelog=verbose", "-f", "null", "-",
    ])
    return HostTime.present.milliseconds(since: start)
  }
}
