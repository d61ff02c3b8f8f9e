import Foundation
import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// Exact seeks in containers without exact positions: counted, found in pages, or derived from coarse timestamps.
@Suite struct CountedSeekTests {
  /// The options for a file, and its permitted differences from a read from the start.
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var options: [String]
    /// Maximum difference of a sample; nil if the decoder has persistent state, so that only the position is compared.
    var allowedDeviation: Float? = 0
    var testDescription: String { "\(name) \(options.joined(separator: " "))" }
  }

  static let rows: [Row] = [
    Row(name: "a.mp2", options: ["-c:a", "mp2"]),
    Row(name: "a.mp3", options: ["-c:a", "libmp3lame", "-q:a", "5"]),
    Row(name: "a.aac", options: ["-c:a", "aac", "-aac_pns", "0"]),
    Row(name: "thin.mp3", options: ["-c:a", "libmp3lame", "-b:a", "8k", "-ar", "24000"]),
    Row(name: "a.wav", options: ["-c:a", "adpcm_ima_wav"]),
    Row(name: "ms.wav", options: ["-c:a", "adpcm_ms"]),
    Row(name: "mp3.wav", options: ["-c:a", "libmp3lame"]),
    Row(name: "flac.oga", options: ["-c:a", "flac"]),
    Row(name: "a.opus", options: ["-c:a", "libopus"], allowedDeviation: 1 / 32_768),
    Row(name: "pages.ogg", options: ["-c:a", "libvorbis", "-page_duration", "20000"]),
    Row(name: "flac.mka", options: ["-c:a", "flac"]),
    Row(name: "pcm.mka", options: ["-c:a", "pcm_s16le"]),
    Row(name: "vorbis.mka", options: ["-c:a", "libvorbis"]),
    Row(name: "opus.mka", options: ["-c:a", "libopus"], allowedDeviation: 1 / 32_768),
    Row(name: "aac.mka", options: ["-c:a", "aac", "-aac_pns", "0"]),
    Row(name: "mp3.mka", options: ["-c:a", "libmp3lame"]),
    Row(name: "alac.mka", options: ["-c:a", "alac"]),
    Row(name: "alac.caf", options: ["-c:a", "alac"]),
    Row(name: "a.ac3", options: ["-c:a", "ac3"], allowedDeviation: nil),
    Row(name: "a.eac3", options: ["-c:a", "eac3"], allowedDeviation: nil),
    Row(name: "a.dts", options: ["-c:a", "dca", "-strict", "-2"], allowedDeviation: nil),
    Row(name: "ima4.aiff", options: ["-c:a", "adpcm_ima_qt", "-f", "aiff"], allowedDeviation: nil),
    Row(name: "a.tta", options: ["-c:a", "tta"]),
    Row(name: "a.ts", options: ["-c:a", "aac", "-aac_pns", "0"]),
    Row(name: "a.flv", options: ["-c:a", "aac", "-aac_pns", "0"]),
  ]

  @Test(arguments: rows)
  func audioAfterASeekEqualsAReadFromTheStart(_ row: Row) throws {
    let folder = try TemporaryFolder()
    let path = folder.file(row.name)
    let source = "aevalsrc=0.4*sin(2*PI*(200+150*t)*t)+0.1*random(0):d=9:s=44100"
    try Tool.ffmpeg(arguments: ["-f", "lavfi", "-i", source] + row.options + [path])
    let asset = Asset(path: path)
    let reference = try AudioTrackReader(asset: asset).readToEnd()
    let reader = try AudioTrackReader(asset: asset)
    let rate = reader.format.sampleRateHz
    #expect(reference.count > 8 * rate)
    var random = SplitMix64(state: 31)
    // The first packets repeatedly, from far away: FFmpeg may confuse them with the start of the file.
    let edges = [
      0, 1, 1_151, 1_152, 200_000, 2_000, 200_000, 3_500, 200_000, 6_000, 200_000, 8_000, reference.count - 1_000,
    ]
    for target in edges + (0..<25).map({ _ in Int.random(in: 0..<(reference.count - 3_000), using: &random) }) {
      let landed = try reader.seekExactly(to: MediaTime(frame: Int64(target), rate: rate))
      #expect(landed == MediaTime(frame: Int64(target), rate: rate))
      let (position, samples) = try reader.readFrames(min(3_000, reference.count - target))
      #expect(position == Int64(target))
      guard samples.count == min(3_000, reference.count - target) else {
        Issue.record("target \(target): \(samples.count) samples")
        continue
      }
      if let allowed = row.allowedDeviation {
        let worst = SampleComparison.largestDifference(samples, reference[target...])
        #expect(
          worst <= allowed,
          "target \(target), whose best match is at \(bestMatchingShift(of: samples, in: reference, at: target))")
      } else {
        #expect(bestMatchingShift(of: samples, in: reference, at: target) == 0, "target \(target)")
      }
    }
  }

  /// FFmpeg counts raw AC-3 in ticks of 1/90,000 s, rounded down: at 44.1 kHz the error is a third of a frame per
  /// packet.
  @Test func rawAC3HasTheSamplesOfAllItsPackets() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.ac3")
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=duration=200:sample_rate=44100", "-c:a", "ac3", "-b:a", "64k", path)
    let demuxer = try Demuxer(source: FileSource(path: Array(path.utf8), interrupt: Interrupt()))
    let packet = try Packet()
    var count = 0
    while try demuxer.readPacket(into: packet) == .packet { count += 1 }
    let samples = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
    #expect(samples.count == count * 1_536)
  }

  /// The shift, up to 100 frames, at which the samples match the reference best.
  private func bestMatchingShift(of samples: [Float], in reference: [Float], at target: Int) -> Int {
    SampleComparison.bestOffset(
      of: samples, from: 0, in: reference, at: target, channelCount: 1, frames: samples.count, maximumOffset: 100)
  }
}
