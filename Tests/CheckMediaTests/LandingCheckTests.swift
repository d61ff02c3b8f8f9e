import MediaTesting
import PlayheadMediaCore
import Synchronization
import Testing

@testable import check_media

/// The comparison of the audio after a seek with a whole decode.
@Suite struct LandingCheckTests {
  private static let frameCount = 20_000

  /// Lines of a report.
  private final class Lines: Sendable {
    let all = Mutex<[String]>([])
  }

  /// Digital silence in the audio, as in place of missing packets.
  private static let silence = 12_000..<16_000

  /// Stereo noise with a range of silence.
  private static func audio(codecName: String) throws -> (DecodedAudio, [Float]) {
    var random = SeededGenerator(seed: 5)
    let samples = (0..<frameCount * 2).map { index in
      let sample = Float.random(in: -0.5...0.5, using: &random)
      return silence.contains(index / 2) ? 0 : sample
    }
    let store = try SampleStore(channelCount: 2)
    try samples.withUnsafeBufferPointer { try store.append(#require($0.baseAddress), frameCount: frameCount) }
    try store.seal()
    let audio = DecodedAudio(
      format: AudioFormat(sampleRateHz: 48_000, channelCount: 2), trackID: 0, codecName: codecName, samples: store,
      error: nil, hasFaults: false)
    return (audio, samples)
  }

  /// One landing: the origin of its samples, the claim of the seek, and the first words of the report line.
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var codecName = "vorbis"
    var target = 5_000
    /// Nil: `target`.
    var reportedFrame: Int?
    /// The first frame of the samples, and their number.
    var source = 5_000
    var count = 4_096
    var added: Float = 0
    var isExact = true
    var expected: [String] = []
    var testDescription: String { name }
  }

  static let rows = [
    Row(name: "right samples"),
    Row(name: "right samples without a claim", isExact: false),
    Row(name: "rounding in a lossy codec", added: 0.00005),
    Row(
      name: "rounding in a lossless codec", codecName: "flac", added: 0.00005,
      expected: ["fail\tfalse-exact\tseek: after a seek to frame 5000 sample "]),
    Row(
      name: "samples from a later position", source: 5_448,
      expected: ["fail\tfalse-exact\tseek: after a seek to frame 5000 sample ", "belong to frame 5448 (448 late)"]),
    Row(
      name: "the same without a claim", source: 4_872, isExact: false,
      expected: ["inexact\tseek\tafter a seek to frame 5000 sample ", "belong to frame 4872 (128 early)"]),
    Row(name: "noise of AAC", codecName: "aac", added: 0.05, expected: ["noise\tseek\tafter a seek to frame 5000 "]),
    Row(
      name: "another position in AAC", codecName: "aac", source: 6_024,
      expected: ["fail\tfalse-exact\tseek: after a seek to frame 5000 sample "]),
    Row(
      name: "noise of AAC before silence", codecName: "aac", target: 9_000, source: 9_000, added: 0.05,
      expected: ["noise\tseek\tafter a seek to frame 9000 "]),
    Row(
      name: "noise of AAC after silence", codecName: "aac", target: 15_000, source: 15_000, added: 0.05,
      expected: ["noise\tseek\tafter a seek to frame 15000 "]),
    Row(
      name: "silence of AAC that ends too early", codecName: "aac", target: 15_000, source: 15_100, added: 0.05,
      expected: ["fail\tfalse-exact\tseek: after a seek to frame 15000 sample "]),
    Row(
      name: "another landing", reportedFrame: 5_001, source: 5_001,
      expected: ["fail\tseek\ta landing at frame 5000\tframe 5001"]),
    Row(
      name: "another landing without a claim", reportedFrame: 4_096, source: 4_096, isExact: false,
      expected: ["inexact\tseek\ta landing at frame 5000\tframe 4096"]),
    Row(
      name: "too few frames", count: 100, expected: ["fail\tseek\t4096 frames after a seek to frame 5000\t100"]),
    Row(name: "the end of the audio", target: 19_900, reportedFrame: 19_900, source: 19_900, count: 100),
  ]

  @Test(arguments: rows) func wrongSampleIsReportedWithItsKind(_ row: Row) throws {
    let (audio, samples) = try Self.audio(codecName: row.codecName)
    let lines = Lines()
    let report = CheckReport(only: nil) { line in lines.all.withLock { $0.append(line) } }
    let heard = samples[row.source * 2..<(row.source + row.count) * 2].map { $0 == 0 ? 0 : $0 + row.added }
    LandingCheck(whole: audio, report: report, check: .seek).compare(
      heard, target: row.target, reportedFrame: row.reportedFrame ?? row.target, isExact: row.isExact,
      expectedFrameCount: 4_096)
    let found = lines.all.withLock { $0 }
    print(row.name, found)
    #expect(found.count == min(1, row.expected.count), "\(found)")
    for (index, text) in row.expected.enumerated() {
      #expect(found.first.map { index == 0 ? $0.hasPrefix(text) : $0.contains(text) } == true, "\(found)")
    }
  }
}
