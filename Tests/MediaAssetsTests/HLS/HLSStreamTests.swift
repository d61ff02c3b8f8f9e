import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Streams in segments, made by FFmpeg's HLS muxer.
@Suite(.timeLimit(.minutes(5))) struct HLSStreamTests {
  private static let frameCount = 44_100 * 20

  private struct Row {
    var name: String
    /// The arguments of the muxer.
    var arguments: [String]
    /// The same audio in one file without segments: how it is made from the segments.
    var whole: String
  }

  private static let rows = [
    Row(name: "ts", arguments: ["-c:a", "aac", "-aac_pns", "0"], whole: "ts"),
    Row(name: "fmp4", arguments: ["-c:a", "aac", "-aac_pns", "0", "-hls_segment_type", "fmp4"], whole: "mp4"),
    Row(name: "flac", arguments: ["-c:a", "flac", "-strict", "-2", "-hls_segment_type", "fmp4"], whole: "mp4"),
    Row(name: "mp3", arguments: ["-c:a", "libmp3lame", "-b:a", "128k"], whole: "ts"),
    Row(
      name: "ranges",
      arguments: ["-c:a", "aac", "-aac_pns", "0", "-hls_flags", "single_file"], whole: "ts"),
    Row(
      name: "map",
      arguments: ["-c:a", "aac", "-aac_pns", "0", "-hls_flags", "single_file", "-hls_segment_type", "fmp4"],
      whole: "mp4"),
  ]

  /// A server with a stream of time-coded audio, and its concatenated segments as one file.
  private func serve(_ row: Row) throws -> (HTTPServer, whole: String) {
    let server = try HTTPServer()
    let wav = server.files.file("source.wav")
    try server.write(IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: Self.frameCount), to: "source.wav")
    try Tool.ffmpeg(
      arguments: ["-i", wav] + row.arguments + [
        "-f", "hls", "-hls_time", "3", "-hls_playlist_type", "vod", server.files.file("a.m3u8"),
      ])
    let text = String(decoding: try readFile(server.files.file("a.m3u8")), as: UTF8.self)
    var names = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
    if row.arguments.contains("single_file") { names = [names[0]] }
    if row.name == "fmp4" || row.name == "flac" { names.insert("init.mp4", at: 0) }
    let whole = try names.flatMap { try readFile(server.files.file($0)) }
    try server.write(whole, to: "whole.\(row.whole)")
    return (server, server.files.file("whole.\(row.whole)"))
  }

  @Test func streamEqualsItsSegmentsInOneFileAndSeeksAreExact() throws {
    for row in Self.rows {
      let (server, whole) = try serve(row)
      let reference = try AudioTrackReader(asset: Asset(path: whole)).readToEnd()
      let asset = try Asset(url: "\(server.address)/a.m3u8")
      let reader = try AudioTrackReader(asset: asset)
      let properties = try asset.load()
      let samples = try reader.readToEnd()
      print(
        "\(row.name): \(samples.count / 2) frames, one file has \(reference.count / 2); declared duration",
        properties.duration.decimalDescription)
      #expect(properties.formatName == "hls" && properties.isSeekable)
      #expect(samples.count == reference.count, "\(row.name)")
      #expect(samples == reference, "\(row.name)")
      #expect(abs(properties.duration.seconds - Double(samples.count / 2) / 44_100) < 0.2)
      let end = try #require(reader.end)
      #expect(end.isExact && end.frame == Int64(samples.count / 2), "\(row.name)")
      #expect(reader.popWarning() == nil && reader.popSkippedPackets() == nil, "\(row.name)")
      #expect(asset.networkLog.errorEvents.isEmpty && asset.networkLog.accessEvents.count == 1)
      #expect(asset.networkLog.accessEvents.first?.playbackType == "vod")

      let fresh = try AudioTrackReader(asset: try Asset(url: "\(server.address)/a.m3u8"))
      let targets: [Int64] = [485_117, 2_000, 661_500, 132_299, 837_905, 0, 396_900]
      for target in targets {
        for reader in [reader, fresh] {
          let reached = try reader.seekExactly(to: MediaTime(frame: target, rate: 44_100))
          #expect(
            reached == MediaTime(frame: target, rate: 44_100) && reader.positionDoubt == nil, "\(row.name) \(target)")
          let (position, found) = try reader.readFrames(5_000)
          #expect(position == target, "\(row.name)")
          let first = Int(target) * 2
          let expected = Array(reference[first..<min(reference.count, first + 10_000)])
          #expect(found == expected, "\(row.name) at \(target)")
        }
      }
    }
  }
}
