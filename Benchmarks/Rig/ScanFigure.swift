import MediaCore
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
      var times = (ours: Sample(), theirs: Sample())
      // The first run of each only fills the caches with programs and files.
      for round in -1..<rounds {
        let ours = try scan(path, player)
        let theirs = try filter(path)
        guard round >= 0 else { continue }
        ratios.add(ours / theirs)
        times.ours.add(ours)
        times.theirs.add(theirs)
      }
      table.add(
        "scan of \(name): loudness, range, true peak (ffmpeg -af ebur128 takes \((times.theirs.median ?? 0).text()) ms)",
        asked: "<= ffmpeg",
        [.playhead: "\((times.ours.median ?? 0).text()) ms, ratio \((ratios.median ?? 0).text(2))"])
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
