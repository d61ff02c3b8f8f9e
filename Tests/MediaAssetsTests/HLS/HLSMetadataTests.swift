import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// The metadata of HLS streams.
@Suite(.timeLimit(.minutes(5))) struct HLSMetadataTests {
  @Test func sessionDataBecomesTheMetadataOfTheAsset() throws {
    let rig = try HLSRig()
    try rig.write("list.m3u8", 0..<3)
    let lines = [
      "#EXTM3U", "#EXT-X-SESSION-DATA:DATA-ID=\"com.apple.hls.title\",VALUE=\"Das Lied\",LANGUAGE=\"de\"",
      "#EXT-X-SESSION-DATA:DATA-ID=\"com.apple.hls.title\",VALUE=\"The Song\",LANGUAGE=\"en\"",
      "#EXT-X-SESSION-DATA:DATA-ID=\"com.example.more\",URI=\"more.json\"",
      "#EXT-X-SESSION-DATA:DATA-ID=\"com.example.raw\",URI=\"raw\",FORMAT=RAW",
      "#EXT-X-SESSION-DATA:DATA-ID=\"com.example.huge\",URI=\"huge\",FORMAT=RAW",
      "#EXT-X-SESSION-DATA:DATA-ID=\"com.example.gone\",URI=\"gone.json\"", "#EXT-X-STREAM-INF:BANDWIDTH=100000",
      "list.m3u8",
    ]
    try rig.server.write(Array(lines.joined(separator: "\n").utf8), to: "master.m3u8")
    try rig.server.write(Array("{\"a\": 1}".utf8), to: "more.json")
    try rig.server.write([0, 1, 0xFF], to: "raw")
    try rig.server.write([UInt8](repeating: 0, count: 2 << 20), to: "huge")
    let asset = try Asset(url: "\(rig.server.address)/master.m3u8")
    let metadata = try asset.loadMetadata(interrupt: Interrupt())
    #expect(
      metadata.items.map(\.identifier.rawValue) == [
        "hls/com.apple.hls.title", "hls/com.apple.hls.title", "hls/com.example.more", "hls/com.example.raw",
      ])
    #expect(
      metadata.items.map(\.value) == [
        .string("Das Lied"), .string("The Song"), .string("{\"a\": 1}"), .data([0, 1, 0xFF]),
      ])
    #expect(metadata.items.map(\.extendedLanguageTag) == ["de", "en", nil, nil])
    #expect(metadata.items[2].extraAttributes == [.mediaType: "application/json"])
    #expect(metadata.strings(.title) == ["Das Lied", "The Song"])
    // Oversized or missing data causes a warning, and does not affect other data.
    #expect(metadata.warnings.map(\.subject) == ["com.example.huge", "com.example.gone"])
    #expect(metadata.warnings.map(\.error.code) == [.streamLimitExceeded, .httpNotFound])
    #expect(try asset.load().hasAudio)
  }
}
