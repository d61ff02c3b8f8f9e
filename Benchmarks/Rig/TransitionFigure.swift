import RigSupport

/// The transition between two queued files: surplus samples (positive) or missing samples (negative).
enum TransitionFigure {
  private static let formats: [(name: String, file: String, encoding: [String])] = [
    ("WAV", "wav", ["-c:a", "pcm_s16le"]), ("FLAC", "flac", ["-c:a", "flac", "-sample_fmt", "s16"]),
    ("MP3", "mp3", ["-c:a", "libmp3lame", "-b:a", "160k"]), ("AAC in M4A", "m4a", ["-c:a", "aac", "-b:a", "160k"]),
    ("Opus", "opus", ["-c:a", "libopus", "-b:a", "128k"]), ("Vorbis", "ogg", ["-c:a", "libvorbis", "-q:a", "5"]),
  ]
  /// The frame at which the noise is cut.
  private static let cutFrame = 100_800

  static func measure(_ players: Players, _ material: Material, into table: inout Table) throws {
    for format in formats {
      let paths = try material.halves(format.file, format.encoding)
      let alignments = try paths.map { Alignment(reference: try material.decoded($0)) }
      let cells = players.each { player in
        let extra = try measure(player, paths, alignments)
        return extra == 0 ? "0" : extra > 0 ? "+\(extra)" : "\(extra)"
      }
      table.add("samples between two queued halves of one recording, \(format.name)", target: "0", cells)
    }
  }

  private static func measure(_ player: any BenchPlayer, _ paths: [String], _ halves: [Alignment]) throws -> Int {
    try player.unload()
    try player.load(paths)
    let before = player.capture.frameCount
    try player.perform(.play)
    let start = try player.capture.waitForFrame(from: before) { $0 != .silence }
    try player.capture.waitForFrames(start + 4 * Material.sampleRateHz)
    let captured = player.capture.frames(from: start)
    try player.unload()
    try player.capture.waitForSilence(4_800, from: player.capture.frameCount)
    // The capture positions of audio from the middle of each half determine the positions of the halves.
    let halfStarts = try zip(halves, [48_000, 150_000]).map { half, position in
      guard let index = half.index(of: captured, at: position, count: 256, from: nil, to: nil) else {
        throw RigError.programFailed("the output differs from the queued audio")
      }
      return position - index
    }
    return halfStarts[1] - halfStarts[0] - cutFrame
  }
}
