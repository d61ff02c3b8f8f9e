/// Ten seconds of noise and a sine in several formats, for tests that compare two measurements of the same audio.
package enum EncodedNoise {
  /// The extensions, with the options of `ffmpeg`.
  private static let formats: [(suffix: String, encoding: [String])] = [
    ("wav", ["-c:a", "pcm_s24le"]), ("flac", ["-c:a", "flac"]), ("mp3", ["-c:a", "libmp3lame", "-b:a", "128k"]),
    ("m4a", ["-c:a", "aac"]), ("ogg", ["-c:a", "libvorbis"]), ("opus", ["-c:a", "libopus"]), ("mka", ["-c:a", "ac3"]),
  ]

  /// Writes one file of each format to `folder`. Returns their extensions and paths.
  package static func files(in folder: TemporaryDirectory) throws -> [(suffix: String, path: String)] {
    try formats.map { suffix, encoding in
      let path = folder.file("a.\(suffix)")
      let audio = "aevalsrc=0.4*sin(997*t*6.2832)|0.2*random(0):s=48000:d=10"
      try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-f", "lavfi", "-i", audio] + encoding + [path])
      return (suffix, path)
    }
  }
}
