import RigSupport

/// An HLS stream of time-coded audio in FLAC segments.
package enum TimeCodedStream {
  /// The number of frames of the stream.
  package static let frameCount = 48_000 * 12

  /// Starts an HTTP server with two time-coded files. `a.m3u8` has the first file in segments of about one second. The
  /// second file is `2.wav`. Returns the server and the lines of `a.m3u8`.
  package static func serve() throws -> (server: HTTPServer, lines: [String]) {
    let server = try HTTPServer()
    try Fixtures.files(["TimeCodedStream \(frameCount)"], in: server.files.path) { folder in
      try TimeCode.writeWAV(path: "\(folder)/1.wav", file: 1, frameCount: frameCount)
      try TimeCode.writeWAV(path: "\(folder)/2.wav", file: 2, frameCount: 24_000)
      try Fixtures.ffmpeg([
        "-nostdin", "-loglevel", "error", "-i", "\(folder)/1.wav", "-c:a", "flac", "-strict", "-2", "-f", "hls",
        "-hls_time", "1", "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4", "-hls_segment_filename",
        "\(folder)/s%d.m4s", "\(folder)/a.m3u8",
      ])
    }
    let text = String(decoding: try Files.read(server.files.file("a.m3u8")), as: UTF8.self)
    return (server, text.split(separator: "\n").map(String.init))
  }
}
