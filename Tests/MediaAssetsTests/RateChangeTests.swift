import Foundation
import MediaTesting
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Files whose sample rate or channel count changes in the middle. Audio after the change is converted to the format of
/// the beginning, and playback continues.
@Suite struct RateChangeTests {
  /// A file with a second one after it. The second file has another rate and another channel count.
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var options: [String]
    var rates = (first: 44_100, second: 48_000)
    var channels = (first: 2, second: 1)
    var testDescription: String { name }
  }

  static let rows = [
    Row(name: "a.aac", options: ["-c:a", "aac", "-aac_pns", "0"]),
    Row(name: "a.mp3", options: ["-c:a", "libmp3lame", "-write_xing", "0", "-id3v2_version", "0"]),
    Row(name: "mpeg2.mp3", options: ["-c:a", "libmp3lame", "-write_xing", "0"], rates: (48_000, 22_050)),
    Row(name: "aac.ts", options: ["-c:a", "aac", "-aac_pns", "0"], channels: (2, 2)),
    Row(name: "mp2.ts", options: ["-c:a", "mp2"]),
    Row(name: "ac3.ts", options: ["-c:a", "ac3"], channels: (2, 2)),
    Row(name: "vorbis.ogg", options: ["-c:a", "libvorbis"], channels: (2, 2)),
  ]

  private static func make(_ row: Row, in folder: TemporaryFolder) throws -> (path: String, first: Int, second: Int) {
    var counts: [Int] = []
    var data = Data()
    for (rate, channels, pitch) in [
      (row.rates.first, row.channels.first, 300), (row.rates.second, row.channels.second, 500),
    ] {
      let path = folder.file("\(rate)-\(row.name)")
      try Tool.ffmpeg(
        arguments: [
          "-f", "lavfi", "-i", "aevalsrc=0.4*sin(2*PI*(\(pitch)+50*t)*t)+0.05*random(0):d=4:s=\(rate)", "-ac",
          "\(channels)",
        ] + row.options + [path])
      counts.append(try AudioTrackReader(asset: Asset(path: path)).readToEnd().count / channels)
      data += try Data(contentsOf: URL(fileURLWithPath: path))
    }
    let path = folder.file(row.name)
    try data.write(to: URL(fileURLWithPath: path))
    return (path, counts[0], counts[1])
  }

  @Test(arguments: rows)
  func audioContinuesAfterTheChange(_ row: Row) async throws {
    let folder = try TemporaryFolder()
    let (path, firstCount, secondCount) = try Self.make(row, in: folder)
    let asset = Asset(path: path)
    let reader = try AudioTrackReader(asset: asset)
    #expect(reader.format == AudioFormat(sampleRateHz: row.rates.first, channelCount: row.channels.first))
    let whole = try reader.readToEnd()
    let frameCount = whole.count / row.channels.first
    let expected = firstCount + secondCount * row.rates.first / row.rates.second
    // The first packet of a joined stream may have no audio, and the last packets of TS may be incomplete.
    #expect(abs(frameCount - expected) <= 3_000, "\(frameCount) instead of \(expected)")
    // The second part is audible.
    let tail = whole.suffix(20_000)
    #expect(tail.reduce(0) { $0 + $1 * $1 } / Float(tail.count) > 0.01)

    #expect(try AudioTrackReader(asset: asset).exactFrameCount() == Int64(frameCount))
    var random = SplitMix64(state: 5)
    for number in 0..<16 {
      let seeker = number % 4 == 0 ? try AudioTrackReader(asset: asset) : reader
      let target = Int.random(in: 0..<(frameCount - 3_000), using: &random)
      try seeker.seekExactly(to: MediaTime(frame: Int64(target), rate: row.rates.first))
      #expect(seeker.positionDoubt == nil)
      let (position, samples) = try seeker.readFrames(3_000)
      #expect(position == Int64(target))
      let wanted = whole[(target * row.channels.first)...].prefix(samples.count)
      let worst = SampleComparison.largestDifference(samples, wanted[...])
      #expect(samples.count == 3_000 * row.channels.first && worst <= 1e-4, "target \(target): \(worst)")
    }

    let settings = ExportSettings(.wav, audio: .encode(AudioOutputSettings(.pcm(.float32))))
    let target = folder.file("out.wav")
    _ = try await AssetExportSession(Asset(path: path), to: target, settings).outcome()
    #expect(try AudioTrackReader(asset: Asset(path: target)).readToEnd() == whole)
  }

  /// The information frame of the copy counts frames, and FFmpeg trims the end at the wrong position.
  @Test func anMP3CopyOfTwoRatesHasTheSameAudio() async throws {
    let folder = try TemporaryFolder()
    let row = Row(name: "info.mp3", options: ["-c:a", "libmp3lame", "-id3v2_version", "0"], channels: (2, 2))
    let (path, _, _) = try Self.make(row, in: folder)
    let whole = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
    let target = folder.file("copy.mp3")
    _ = try await AssetExportSession(Asset(path: path), to: target, .passthrough(.mp3)).outcome()
    let copy = try AudioTrackReader(asset: Asset(path: target)).readToEnd()
    #expect(copy.count == whole.count && SampleComparison.largestDifference(copy, whole[...]) <= 1e-4)
  }

  /// MP4 stores the sample rate once.
  @Test func anAACCopyOfTwoRatesIsRefused() async throws {
    let folder = try TemporaryFolder()
    let (path, _, _) = try Self.make(Self.rows[0], in: folder)
    var code: MediaError.Code?
    do throws(MediaError) {
      _ = try await AssetExportSession(Asset(path: path), to: folder.file("a.m4a"), .passthrough(.m4a))
        .outcome()
    } catch { code = error.code }
    #expect(code == .unsupportedAudioFormat)
  }
}
