import Foundation
import MediaTesting
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Edit lists with several ranges: unusual properties are reported, and the file's properties are correct.
@Suite struct EditedTrackTests {
  private static let frameCount = 88_200

  private func make(_ folder: TemporaryFolder, _ edits: [(duration: Int, start: Int, rate: Int)]) throws -> String {
    let source = try folder.write(
      IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: Self.frameCount), as: "source.wav")
    let plain = folder.file("plain.mov")
    try Tool.ffmpeg("-i", source, "-c:a", "pcm_s16le", "-movie_timescale", "44100", plain)
    return try folder.write(MovieBoxes.withRatedEdits(edits, in: readFile(plain)), as: "edited.mov")
  }

  /// The indexes of time-coded frames; -1 for silence other than index 0.
  private func indices(_ samples: [Float]) -> [Int64] {
    stride(from: 0, to: samples.count, by: 2).map {
      IndexedAudio.index(left: samples[$0], right: samples[$0 + 1]) ?? -1
    }
  }

  @Test func editsWithOtherRatesAreReportedAndKeepTheirDuration() throws {
    let folder = try TemporaryFolder()
    let path = try make(
      folder, [(10_000, 20_000, 0x2_0000), (1_000, 40_000, 0), (5_000, 60_000, 0x1_0000)])
    let asset = Asset(path: path)
    let reader = try AudioTrackReader(asset: asset)
    let warning = try #require(reader.popWarning())
    #expect(warning.error.code == .unsupportedEdit && warning.time == .zero)
    #expect(reader.popWarning() == nil)
    let expected = Array(20_000..<30_000) + [Int64](repeating: 0, count: 1_000) + Array(60_000..<65_000)
    #expect(try indices(reader.readToEnd()) == expected)
    #expect(reader.end == AudioTrackReader.TrackEnd(frame: 16_000, isExact: true))
    #expect(try asset.load().duration == MediaTime(frame: 16_000, rate: 44_100))
    #expect(try asset.load().providesPreciseDuration)
    #expect(reader.startTrim == EdgeTrim(frameCount: 20_000, source: .editList))
    #expect(reader.endTrim == EdgeTrim(frameCount: Int64(Self.frameCount) - 65_000, source: .editList))
  }

  /// An edit in the middle that extends beyond the media's end is silent there. The last edit ends with the media.
  @Test func editBeyondTheMediaIsSilentUnlessItIsTheLast() throws {
    let folder = try TemporaryFolder()
    let path = try make(
      folder,
      [(2_000, Self.frameCount - 500, 0x1_0000), (3_000, 7, 0x1_0000), (9_000, Self.frameCount - 100, 0x1_0000)])
    let reader = try AudioTrackReader(asset: Asset(path: path))
    let last = Int64(Self.frameCount)
    let expected =
      Array((last - 500)..<last) + [Int64](repeating: 0, count: 1_500) + Array(7..<3_007) + Array((last - 100)..<last)
    #expect(try indices(reader.readToEnd()) == expected)
    #expect(reader.popWarning() == nil)
    // Into the silence, and out of it.
    #expect(try reader.seekExactly(to: MediaTime(frame: 1_990, rate: 44_100)) == MediaTime(frame: 1_990, rate: 44_100))
    #expect(try indices(reader.readFrames(20).samples) == Array(expected[1_990..<2_010]))
    #expect(try reader.exactFrameCount() == 5_100)
    #expect(try reader.readFrames(1).position == nil)
  }

  @Test func seeksAcrossEditsStayWithinTheirTolerances() throws {
    let folder = try TemporaryFolder()
    let reader = try AudioTrackReader(
      asset: Asset(path: make(folder, [(30_000, 50_000, 0x1_0000), (5_000, -1, 0x1_0000), (30_000, 10, 0x1_0000)])))
    let second = MediaTime(value: 1, timescale: 1)
    for target: Int64 in [0, 29_999, 30_000, 34_999, 35_000, 64_999, 12_345] {
      let time = MediaTime(frame: target, rate: 44_100)
      let landed = try reader.seek(to: time, toleranceBefore: second, toleranceAfter: second)
      #expect(landed >= time - second && landed <= time + second)
      #expect(landed == MediaTime(frame: reader.position, rate: 44_100))
      let position = reader.position
      let index = try #require(try indices(reader.readFrames(1).samples).first)
      let expected = position < 30_000 ? 50_000 + position : position < 35_000 ? 0 : 10 + position - 35_000
      #expect(index == expected)
    }
    #expect(try reader.seekExactly(to: .positiveInfinity) == MediaTime(frame: 65_000, rate: 44_100))
    #expect(try reader.readFrames(1).position == nil)
    expectError(.invalidTime) { try reader.seekExactly(to: .invalid) }
    #expect(reader.position == 65_000)
  }

  /// A time-coded file that is cut off in its last range, and its missing bytes.
  private func makeTruncated(_ folder: TemporaryFolder) throws -> (path: String, rest: [UInt8]) {
    let edits = [(1_000, 500, 0x1_0000), (70_000, 10_000, 0x1_0000)]
    let bytes = try MovieBoxes.withHeaderFirst(in: readFile(make(folder, edits)))
    // Four bytes per frame.
    let keptByteCount = bytes.count - 4 * 40_000
    return (try folder.write(Array(bytes[..<keptByteCount]), as: "cut.mov"), Array(bytes[keptByteCount...]))
  }

  @Test func seekBeyondACutReportsTheDamageAgain() throws {
    let folder = try TemporaryFolder()
    let (path, _) = try makeTruncated(folder)
    let reader = try AudioTrackReader(asset: Asset(path: path))
    var samples: [Float] = []
    expectError(.damagedFile) { try reader.readToEnd(into: &samples) }
    let end = try #require(reader.end)
    #expect(end.frame == Int64(samples.count / 2) && end.frame > 30_000 && end.frame < 45_000)
    // One reader that has reached the cut, and one that has not.
    for reader in [reader, try AudioTrackReader(asset: Asset(path: path))] {
      for _ in 0..<2 {
        for time in [MediaTime(frame: 60_000, rate: 44_100), MediaTime(value: 1_000, timescale: 1)] {
          #expect(try reader.seekExactly(to: time) == MediaTime(frame: end.frame, rate: 44_100))
          expectError(.damagedFile) { try reader.readFrames(10) }
          #expect(try reader.readFrames(10).position == nil, "reported once")
          #expect(reader.end?.frame == end.frame && reader.position == end.frame)
        }
      }
      try reader.seekExactly(to: MediaTime(frame: 2_000, rate: 44_100))
      #expect(try indices(reader.readFrames(10).samples) == Array(11_000..<11_010))
    }
  }

  @Test func grownFileIsReadToItsNewEnd() throws {
    let folder = try TemporaryFolder()
    let (path, rest) = try makeTruncated(folder)
    let reader = try AudioTrackReader(asset: Asset(path: path))
    var samples: [Float] = []
    expectError(.damagedFile) { try reader.readToEnd(into: &samples) }
    try reader.seekExactly(to: .zero)
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data(rest))
    try file.close()
    let time = MediaTime(frame: 60_000, rate: 44_100)
    #expect(try reader.seekExactly(to: time) == time)
    #expect(try indices(reader.readFrames(100_000).samples) == Array(69_000..<80_000))
    #expect(reader.end?.frame == 71_000)
  }

  /// The header has no duration.
  @Test func seekBeyondAnUndeclaredEndLandsAtTheEnd() throws {
    let folder = try TemporaryFolder()
    var bytes = try readFile(make(folder, [(10, 700, 0x1_0000), (0, Self.frameCount - 20_000, 0x1_0000)]))
    let header = try MovieBoxes.range(of: ["moov", "trak", "mdia", "mdhd"], in: bytes).lowerBound
    bytes.replaceSubrange((header + 24)..<(header + 28), with: [0, 0, 0, 0])
    let reader = try AudioTrackReader(asset: Asset(path: folder.write(bytes, as: "open.mov")))
    try #require(reader.edited?.timeline.endFrame == nil)
    for seconds: Int64 in [1_000, 1 << 40] {
      let landed = try reader.seekExactly(to: MediaTime(value: seconds, timescale: 1))
      #expect(landed == MediaTime(frame: 20_010, rate: 44_100))
      #expect(try reader.readFrames(1).position == nil)
      #expect(reader.end?.frame == 20_010)
    }
    try reader.seekExactly(to: MediaTime(frame: 20_000, rate: 44_100))
    let last = Int64(Self.frameCount)
    #expect(try indices(reader.readFrames(100).samples) == Array((last - 10)..<last))
  }

  @Test func readContinuesAfterACancellation() throws {
    let folder = try TemporaryFolder()
    let reader = try AudioTrackReader(
      asset: Asset(path: make(folder, [(1_000, 50_000, 0x1_0000), (1_000, 10, 0x1_0000)])))
    #expect(try indices(reader.readFrames(900).samples) == Array(50_000..<50_900))
    reader.cancel()
    #expect(try reader.readFrames(1).position == nil)
    expectError(.cancelled) { try reader.seekExactly(to: .zero) }
    reader.resetCancellation()
    #expect(try indices(reader.readFrames(1_000).samples) == Array(50_900..<51_000) + Array(10..<910))
  }

  @Test func onlyEditListsThatFFmpegCannotFollowAreApplied() throws {
    let folder = try TemporaryFolder()
    let plain: [[(duration: Int, start: Int, rate: Int)]] = [
      [], [(80_000, 100, 0x1_0000)], [(500, -1, 0x1_0000), (80_000, 100, 0x1_0000)],
    ]
    for edits in plain {
      #expect(try AudioTrackReader(asset: Asset(path: make(folder, edits))).edited == nil)
    }
    // The last edit continues to the end of the media.
    let open = try AudioTrackReader(
      asset: Asset(path: make(folder, [(10, 700, 0x1_0000), (0, Self.frameCount - 20, 0x1_0000)])))
    let last = Int64(Self.frameCount)
    #expect(try indices(open.readToEnd()) == Array(700..<710) + Array((last - 20)..<last))
  }
}
