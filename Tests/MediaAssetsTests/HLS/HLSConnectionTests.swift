import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// The connections that a stream in segments needs.
@Suite(.timeLimit(.minutes(2))) struct HLSConnectionTests {
  @Test func streamOf100SegmentsNeedsOneTLSHandshake() throws {
    let folder = try TemporaryDirectory("tls")
    let (certificate, key) = try HTTPServer.makeCertificate(in: folder)
    let server = try HTTPServer(certificate: certificate, key: key)
    try server.write(
      IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: 44_100 * 21), to: "source.wav")
    try Tool.ffmpeg(
      arguments: [
        "-i", server.files.file("source.wav"), "-c:a", "aac", "-aac_pns", "0", "-f", "hls", "-hls_time", "0.2",
        "-hls_playlist_type", "vod", server.files.file("a.m3u8"),
      ])
    var options = HTTPOptions()
    options.certificateAuthorityFile = certificate
    let asset = Asset(url: try HTTPURL("\(server.address)/a.m3u8"), options: options)
    let samples = try AudioTrackReader(asset: asset).readToEnd()
    let segmentCount = Set(try server.drain().filter { $0.contains(".ts ") }).count
    let connections = try server.connections()
    print(
      "\(segmentCount) segments, \(samples.count / 2) frames: \(connections.count) handshakes,",
      "\(connections.resumedCount) resumed")
    #expect(segmentCount >= 100 && samples.count / 2 >= 44_100 * 21)
    #expect(connections.count == 1)
  }
}
