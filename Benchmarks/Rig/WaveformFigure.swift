import PlayheadMediaCore
import RigSupport

/// The duration of a waveform scan, compared with a decode by FFmpeg's program in the same round.
enum WaveformFigure {
  /// Uses a fresh daemon, whose memory is measured, too.
  ///
  /// - Parameter length: the duration of the file, as text.
  static func measure(
    _ programs: Programs, _ path: String, _ length: String, rounds: Int, into table: inout Table
  ) throws {
    let player = try PlayheadPlayer(program: programs.playheadd)
    var ratios = Sample()
    var times = (playhead: Sample(), ffmpeg: Sample())
    // The first run of each only fills the caches with programs and files.
    for round in -1..<rounds {
      // A different request each time, because results may be cached.
      let playhead = try waveform(path, binCount: 500 + round, player)
      let ffmpeg = try decode(path)
      guard round >= 0 else { continue }
      ratios.add(playhead / ffmpeg)
      times.playhead.add(playhead)
      times.ffmpeg.add(ffmpeg)
    }
    let memory = try ProcessUsage.proportionalMegabytes(player.process.processID)
    table.add(
      "waveform of \(length) of FLAC (ffmpeg -f null: \((times.ffmpeg.median ?? 0).text()) ms); memory afterwards",
      target: "<= 1.15 x ffmpeg, < 60 MB",
      [
        .playhead:
          "\((times.playhead.median ?? 0).text()) ms, ratio \((ratios.median ?? 0).text(2)); \(memory.text()) MB"
      ])
  }

  /// Milliseconds from the request to the reply.
  private static func waveform(_ path: String, binCount: Int, _ player: PlayheadPlayer) throws -> Double {
    let socket = try player.connect()
    let start = try socket.send("waveform \"\(path)\" bins=\(binCount)\n")
    while true {
      let line = try socket.line(timeOutMilliseconds: 600_000)
      if line.hasPrefix("ok ") { return HostTime.present.milliseconds(since: start) }
      if line.hasPrefix("error ") { throw RigError.programFailed(line) }
    }
  }

  private static func decode(_ path: String) throws -> Double {
    let start = HostTime.present
    try ChildProcess.run([
      "ffmpeg", "-nostdin", "-nostats", "-v", "error", "-threads", "1", "-i", path, "-map", "0:a", "-f", "null", "-",
    ])
    return HostTime.present.milliseconds(since: start)
  }
}
