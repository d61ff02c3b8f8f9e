import Glibc
@_exported import PlayheadTimeCode

extension TimeCode {
  /// Writes the frames as FLAC, encoded by the `ffmpeg` command.
  package static func writeFLAC(
    path: String, file: Int, frameCount: Int, sampleRateHz: Int = 48_000, firstIndex: Int = 0
  ) throws {
    let wav = path + ".wav"
    try writeWAV(
      path: wav, file: file, frameCount: frameCount, sampleRateHz: sampleRateHz,
      firstIndex: firstIndex)
    defer { unlink(wav) }
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-y", "-i", wav, "-c:a", "flac", "-f", "flac", path])
  }
}
