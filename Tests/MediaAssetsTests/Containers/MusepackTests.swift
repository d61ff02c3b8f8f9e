import MediaTesting
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// Musepack, compared with its reference decoder, mpcdec.
@Suite struct MusepackTests {
  /// The delay of the synthesis filter, which mpcdec removes and FFmpeg's decoder keeps.
  private static let delayFrames = 481

  /// Lower qualities substitute noise, which is random.
  @Test(arguments: [
    ("--standard", "44100", "2"), ("--extreme", "48000", "2"), ("--insane", "32000", "2"), ("--standard", "44100", "1"),
  ])
  func wholeReadEqualsTheReferenceDecoder(_ quality: String, _ rate: String, _ channels: String) throws {
    let folder = try TemporaryFolder()
    let (source, path, decoded) = (folder.file("a.wav"), folder.file("a.mpc"), folder.file("b.wav"))
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "aevalsrc=0.3*sin(2*PI*(200+90*t)*t)+0.1*random(0)|0.2*sin(900*t*t):d=7:s=\(rate)", "-ac",
      channels, source)
    try Tool.run("mpcenc", ["--silent", quality, source, path])
    try Tool.run("mpcdec", [path, decoded])
    let expected = try Tool.decode(decoded)
    let reader = try AudioTrackReader(asset: Asset(path: path))
    let found = try reader.readToEnd()
    let skipped = Self.delayFrames * reader.format.channelCount
    print("musepack \(quality) \(rate) Hz: \(found.count) samples, \(expected.count) of mpcdec")
    #expect(!expected.isEmpty)
    // After the end, FFmpeg returns the rest of the last block.
    let rest = found.count - skipped - expected.count
    #expect(rest >= 0 && rest < 1_152 * reader.format.channelCount)
    // Both decoders round to 16 bits.
    let worst = SampleComparison.largestDifference(expected, found[skipped...])
    #expect(worst <= 3 / 32_768, "\(worst * 32_768) steps")
  }

  /// FFmpeg's duration is a whole number of the packets of SV8, of 73,728 samples.
  @Test func exportHasAllAudioDespiteTheDurationInPackets() async throws {
    let folder = try TemporaryFolder()
    let (source, path, target) = (folder.file("a.wav"), folder.file("a.mpc"), folder.file("b.wav"))
    try Tool.ffmpeg("-f", "lavfi", "-i", "aevalsrc=0.3*sin(2*PI*(200+90*t)*t)+0.1*random(0):d=9:s=44100", source)
    try Tool.run("mpcenc", ["--silent", source, path])
    let estimate = try await Asset(path: path).load(.duration)
    let whole = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
    print("musepack: estimated \(estimate.seconds) s, \(whole.count) frames")
    #expect(whole.count >= 9 * 44_100)
    // The second range starts after the estimated end.
    for range in [0..<whole.count, (whole.count - 5_000)..<whole.count] {
      var settings = ExportSettings(.wav, audio: .encode(AudioOutputSettings(.pcm(.float32))))
      settings.timeRange = TimeRange(
        start: MediaTime(frame: Int64(range.lowerBound), rate: 44_100), duration: .positiveInfinity)
      let outcome = try await AssetExportSession(
        Asset(path: path), to: target, settings, replacesFile: true
      ).outcome()
      #expect(outcome.fault == nil)
      let exported = try AudioTrackReader(asset: Asset(path: target)).readToEnd()
      #expect(exported.count == range.count && exported.elementsEqual(whole[range]))
    }
  }
}
