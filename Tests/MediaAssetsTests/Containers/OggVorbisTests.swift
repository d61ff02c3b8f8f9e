import Foundation
import PlayheadLibAV
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Ogg Vorbis: seeks are exact to the sample, and a stream begins and ends according to its granule positions. The
/// reference for a whole read is libvorbis.
@Suite struct OggVorbisTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var encoder: [String]
    var rate = 44_100
    var channelCount = 1
    var seconds = 5.0
    var seekCount = 200
    var testDescription: String {
      "\(encoder.joined(separator: " ")), \(rate) Hz, \(channelCount) channels, \(seconds) s"
    }
  }

  static let rows =
    [
      Row(encoder: ["-q", "3"]), Row(encoder: ["-q", "-1"], channelCount: 2), Row(encoder: ["-q", "10"]),
      Row(encoder: ["-q", "6"], rate: 48_000, channelCount: 2),
      Row(encoder: ["-q", "3"], rate: 32_000), Row(encoder: ["-q", "3"], rate: 22_050, channelCount: 2),
      Row(encoder: ["-q", "3"], rate: 16_000), Row(encoder: ["-q", "3"], rate: 8_000, seconds: 12),
      Row(encoder: ["ffmpeg", "-c:a", "libvorbis"]),
      Row(encoder: ["ffmpeg", "-c:a", "libvorbis", "-page_duration", "20000"], channelCount: 2),
    ]
    // The first page is the last one: FFmpeg counts a packet too many, and removes too much or nothing.
    + [8_000, 16_000, 22_050, 32_000, 48_000].flatMap { rate in
      [
        Row(encoder: ["-q", "3"], rate: rate, seconds: 0.083, seekCount: 10),
        Row(encoder: ["ffmpeg", "-c:a", "libvorbis"], rate: rate, channelCount: 2, seconds: 0.083, seekCount: 10),
      ]
    }
    + [22_050, 44_100, 48_000].map { rate in
      Row(encoder: ["ffmpeg", "-c:a", "libvorbis"], rate: rate, seconds: 1, seekCount: 20)
    }

  @Test(arguments: rows)
  func seeksAreExactAndTheEndIsTheLastGranulePosition(_ row: Row) throws {
    let folder = try TemporaryFolder()
    let path = try OggFile.clicks(
      in: folder, as: "a.ogg", seconds: row.seconds, rate: row.rate, channelCount: row.channelCount, row.encoder)
    let count = Int(try #require(OggFile.pages(readFile(path)).last.map(OggFile.granule)))
    let whole = try read(path)
    let failures = try wrongSeeks(path, whole, row.seekCount)
    print("ogg | \(row) | \(whole.samples.count / row.channelCount) of \(count) frames | wrong seeks \(failures)")
    #expect(whole.samples.count == count * row.channelCount)
    #expect(whole.end == .init(frame: Int64(count), isExact: true))
    #expect(try Asset(path: path).load().duration == MediaTime(frame: Int64(count), rate: row.rate))
    #expect(try differsFromLibvorbis(whole.samples, path) == nil)
    #expect(failures.isEmpty)
  }

  // MARK: - Granule positions

  /// Changed pages, and the number of frames that are missing at the start and at the end, compared with the unchanged
  /// file.
  struct Edit: Sendable, CustomTestStringConvertible {
    var name: String
    var missing: (start: Int, end: Int) = (0, 0)
    /// Whether the audio has as many frames as libvorbis decodes, not as many as the last granule position declares.
    var endsAsInLibvorbis = false
    /// Edits the audio pages, which follow two header pages.
    var apply: @Sendable (inout [[UInt8]]) -> Void
    var testDescription: String { name }
  }

  private static func move(_ pages: inout [[UInt8]], by frames: Int64) {
    pages = pages.map { OggFile.page($0, granule: OggFile.granule($0) + frames) }
  }

  static let edits: [Edit] = [
    Edit(name: "as encoded") { _ in },
    Edit(name: "the stream starts late") { move(&$0, by: 50_000) },
    Edit(name: "the stream starts late by a day") { move(&$0, by: 44_100 * 86_400) },
    Edit(name: "the start is cut", missing: (1_000, 0)) { move(&$0, by: -1_000) },
    Edit(name: "the start is cut by several packets", missing: (7_000, 0)) { move(&$0, by: -7_000) },
    Edit(name: "the end is cut by several packets", missing: (0, 1_500)) { pages in
      let last = pages.removeLast()
      pages.append(OggFile.page(last, granule: OggFile.granule(last) - 1_500))
    },
    Edit(name: "a page without a granule position") { $0[5] = OggFile.page($0[5], granule: -1) },
    Edit(name: "a granule position that is wrong") { pages in
      pages[5] = OggFile.page(pages[5], granule: OggFile.granule(pages[5]) + 128)
    },
    Edit(name: "a granule position that is far too low") { $0[5] = OggFile.page($0[5], granule: 1_000) },
    Edit(name: "granule positions rounded to milliseconds", endsAsInLibvorbis: true) { pages in
      // The first position would move the start.
      for index in pages.indices.dropFirst().dropLast() {
        let granule = OggFile.granule(pages[index])
        pages[index] = OggFile.page(pages[index], granule: (granule * 10 + 220) / 441 * 441 / 10)
      }
    },
  ]

  @Test(arguments: edits)
  func granulePositionsDetermineStartAndEnd(_ edit: Edit) throws {
    let folder = try TemporaryFolder()
    let path = try OggFile.clicks(in: folder, as: "a.ogg", seconds: 8, rate: 44_100, channelCount: 1, ["-q", "3"])
    let original = try read(path).samples
    var pages = OggFile.pages(try readFile(path))
    var audio = Array(pages[2...])
    edit.apply(&audio)
    pages.replaceSubrange(2..., with: audio)
    let edited = try folder.write(pages.flatMap { $0 }, as: "edited.ogg")
    let whole = try read(edited)
    let failures = try wrongSeeks(edited, whole, 60)
    print("ogg | \(edit) | \(whole.samples.count) of \(original.count) frames | wrong seeks \(failures)")
    if edit.endsAsInLibvorbis {
      #expect(try differsFromLibvorbis(whole.samples, edited) == nil)
      #expect(failures.isEmpty)
      return
    }
    #expect(whole.samples == Array(original.dropFirst(edit.missing.start).dropLast(edit.missing.end)))
    #expect(whole.startTrim == EdgeTrim(edit.missing.start))
    #expect(failures.isEmpty)
    let precise = try Asset(path: edited, prefersPreciseDuration: true).load()
    #expect(precise.duration == MediaTime(frame: Int64(whole.samples.count), rate: 44_100))
  }

  /// A last page whose granule position is lower than that of the page before it does not state the end.
  @Test func wrongEndIsIgnored() throws {
    let folder = try TemporaryFolder()
    let path = try OggFile.clicks(in: folder, as: "a.ogg", seconds: 8, rate: 44_100, channelCount: 1, ["-q", "3"])
    let original = try read(path).samples
    var pages = OggFile.pages(try readFile(path))
    let last = pages.removeLast()
    let end = pages.map(OggFile.granule).max() ?? 0
    for granule in [1, 1_000, end - 1] {
      let edited = try folder.write((pages + [OggFile.page(last, granule: granule)]).flatMap { $0 }, as: "edited.ogg")
      let whole = try read(edited)
      #expect(whole.samples.starts(with: original) && whole.samples.count < original.count + 4_096)
      #expect(try wrongSeeks(edited, whole, 20).isEmpty)
      let properties = try Asset(path: edited).load()
      #expect(!properties.providesPreciseDuration && properties.duration == MediaTime(frame: end, rate: 44_100))
      let precise = try Asset(path: edited, prefersPreciseDuration: true).load()
      #expect(precise.duration == MediaTime(frame: Int64(whole.samples.count), rate: 44_100))
    }
  }

  // MARK: - Several streams

  /// The streams of a chain are contiguous, each from its start to its end.
  @Test(arguments: [[0.083, 3], [3, 0.083], [1, 3, 0.083], [3, 3]])
  func chainedStreamsPlayOneAfterAnother(_ lengths: [Double]) throws {
    let folder = try TemporaryFolder()
    var expected: [Float] = []
    var bytes: [UInt8] = []
    for (index, seconds) in lengths.enumerated() {
      let path = try OggFile.clicks(
        in: folder, as: "\(index).ogg", seconds: seconds, rate: 44_100, channelCount: 2,
        ["-q", "\(2 + index)", "-s", "\(11 * (index + 1))"])
      expected += try read(path).samples
      bytes += try readFile(path)
    }
    let chain = try folder.write(bytes, as: "chain.ogg")
    let whole = try read(chain)
    let failures = try wrongSeeks(chain, whole, 30)
    print("ogg | chain \(lengths) | \(whole.samples.count / 2) of \(expected.count / 2) frames | \(failures)")
    #expect(whole.samples == expected)
    #expect(failures.isEmpty)
    let length = MediaTime(frame: Int64(expected.count / 2), rate: 44_100)
    #expect(try !Asset(path: chain).load().providesPreciseDuration)
    #expect(try Asset(path: chain, prefersPreciseDuration: true).load().duration == length)
  }

  @Test func seeksInFilesWithVideoAreExact() throws {
    let folder = try TemporaryFolder()
    let wave = try OggFile.clicks(in: folder, as: "a.ogg", seconds: 8, rate: 44_100, channelCount: 1, ["-q", "3"])
    let path = folder.file("a.ogv")
    try Tool.ffmpeg(
      "-i", wave, "-f", "lavfi", "-i", "testsrc=d=8:s=64x48", "-c:a", "copy", "-c:v", "libtheora", path)
    let whole = try read(path)
    #expect(try whole.samples == read(wave).samples)
    #expect(try wrongSeeks(path, whole, 60).isEmpty)
  }

  // MARK: - Damage

  /// After a missing page the audio follows the granule positions, for a read and for seeks.
  @Test(arguments: [(["-q", "3"], [7]), (["ffmpeg", "-c:a", "libvorbis", "-page_duration", "60000"], Array(30..<42))])
  func missingPageIsSilenceForReadsAndSeeks(_ encoder: [String], _ missing: [Int]) throws {
    let folder = try TemporaryFolder()
    let path = try OggFile.clicks(in: folder, as: "a.ogg", seconds: 8, rate: 44_100, channelCount: 1, encoder)
    let original = try read(path).samples
    for page in missing {
      var pages = OggFile.pages(try readFile(path))
      let end = Int(OggFile.granule(pages[page])) + 20_000
      pages.remove(at: page)
      let damaged = try folder.write(pages.flatMap { $0 }, as: "damaged.ogg")
      let whole = try read(damaged)
      #expect(whole.samples.count == original.count, "page \(page)")
      #expect(whole.samples[end...] == original[end...], "page \(page)")
      #expect(try wrongSeeks(damaged, whole, 20).isEmpty, "page \(page)")
    }
  }

  /// A step of the granule positions that is not a multiple of a block, and shorter than several blocks: the positions
  /// apply.
  @Test func granulePositionStepIsSilenceForReadsAndSeeks() throws {
    let folder = try TemporaryFolder()
    let path = try OggFile.clicks(in: folder, as: "a.ogg", seconds: 8, rate: 44_100, channelCount: 1, ["-q", "3"])
    let original = try read(path).samples
    let pages = OggFile.pages(try readFile(path)).enumerated().map { number, page in
      number < 8 ? page : OggFile.page(page, granule: OggFile.granule(page) + 3_000)
    }
    let stepped = try folder.write(pages.flatMap { $0 }, as: "stepped.ogg")
    let whole = try read(stepped)
    #expect(whole.samples.count == original.count + 3_000)
    #expect(whole.samples.suffix(100_000) == original.suffix(100_000))
    #expect(try wrongSeeks(stepped, whole, 60).isEmpty)
  }

  @Test func truncatedAndChangedFilesAreReadToTheirEnd() throws {
    let folder = try TemporaryFolder()
    let path = try OggFile.clicks(in: folder, as: "a.ogg", seconds: 1, rate: 44_100, channelCount: 1, ["-q", "3"])
    let bytes = try readFile(path)
    let count = try read(path).samples.count
    var random = SplitMix64(state: 3)
    for round in 0..<80 {
      var changed = bytes
      if round % 2 == 0 {
        changed = Array(bytes.prefix(Int.random(in: 3_000..<bytes.count, using: &random)))
      } else {
        for _ in 0..<4 {
          changed[Int.random(in: 30..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
      }
      let file = try folder.write(changed, as: "changed.ogg")
      guard let reader = try? AudioTrackReader(asset: Asset(path: file)) else { continue }
      var samples: [Float] = []
      try? reader.readToEnd(into: &samples)
      // A granule position with changed bits may state a hole of 10 seconds, and so may each packet after it.
      #expect(samples.count < count + 40 * 441_000, "round \(round)")
      _ = try? reader.seekExactly(to: MediaTime(frame: Int64(count / 2), rate: 44_100))
    }
  }

  // MARK: - Cost

  /// A seek reads a few pages: those for the search, and those from which decoding starts.
  @Test func seekReadsOnlyAFewPages() throws {
    let folder = try TemporaryFolder()
    let path = try OggFile.clicks(in: folder, as: "a.ogg", seconds: 60, rate: 44_100, channelCount: 1, ["-q", "6"])
    let asset = Asset(path: path)
    let reader = try AudioTrackReader(asset: asset)
    let byteCount = try readFile(path).count
    let before = reader.media.reader.demuxer.source.readByteCount
    try reader.seekExactly(to: MediaTime(value: 55, timescale: 1))
    let read = reader.media.reader.demuxer.source.readByteCount - before
    print("ogg | a seek reads \(read) of \(byteCount) bytes")
    #expect(read < 400_000 && byteCount > 800_000)
  }

  // MARK: - Export

  /// The exported range has the samples of a whole read.
  @Test func exportedRangeEqualsAWholeRead() async throws {
    let folder = try TemporaryFolder()
    let path = try OggFile.clicks(in: folder, as: "a.ogg", seconds: 8, rate: 44_100, channelCount: 1, ["-q", "3"])
    let whole = try read(path).samples
    var random = SplitMix64(state: 9)
    for start in (0..<12).map({ _ in Int64.random(in: 20_000..<340_000, using: &random) }) {
      var settings = ExportSettings(.wav)
      settings.timeRange = TimeRange(
        start: MediaTime(frame: start, rate: 44_100), duration: MediaTime(frame: 5_000, rate: 44_100))
      let target = folder.file("\(start).wav")
      _ = try await AssetExportSession(Asset(path: path), to: target, settings)
        .outcome(on: AssetExporter())
      let samples = try read(target).samples
      let expected = whole[Int(start)..<(Int(start) + 5_000)]
      let worst = zip(samples, expected).map { abs($0 - max(-1, min(1, $1))) }.max() ?? 2
      #expect(samples.count == 5_000 && worst <= 1.5 / 32_768, "at \(start): \(samples.count) frames, \(worst)")
    }
  }

  // MARK: - Comparison

  private struct WholeRead {
    var samples: [Float]
    var end: MediaTrackReader.TrackEnd?
    var startTrim: EdgeTrim
  }

  private func read(_ path: String) throws -> WholeRead {
    let reader = try AudioTrackReader(asset: Asset(path: path))
    let samples = try reader.readToEnd()
    return WholeRead(samples: samples, end: reader.end, startTrim: reader.startTrim)
  }

  /// The targets of random seeks after which the samples differ from a whole read.
  private func wrongSeeks(_ path: String, _ whole: WholeRead, _ count: Int) throws -> [Int] {
    let reader = try AudioTrackReader(asset: Asset(path: path))
    let (rate, channelCount) = (reader.format.sampleRateHz, reader.format.channelCount)
    let frameCount = whole.samples.count / channelCount
    var random = SplitMix64(state: 5)
    let targets = (0..<count).map { _ in Int.random(in: 0..<frameCount, using: &random) }
    return try targets.filter { target in
      let landed = try reader.seekExactly(to: MediaTime(frame: Int64(target), rate: rate))
      let wanted = min(1_000, frameCount - target)
      let (position, samples) = try reader.readFrames(wanted)
      return landed != MediaTime(frame: Int64(target), rate: rate) || position != Int64(target)
        || !samples.elementsEqual(whole.samples[(target * channelCount)..<((target + wanted) * channelCount)])
    }
  }

  /// The first sample that differs from libvorbis by more than rounding; nil if there is none.
  private func differsFromLibvorbis(_ samples: [Float], _ path: String) throws -> Int? {
    let reference = try OggFile.decodedByLibvorbis(path)
    guard reference.count == samples.count else { return min(reference.count, samples.count) }
    return samples.indices.first { index in
      abs(max(-1, min(1, samples[index])) - Float(reference[index]) / 32_768) > 2 / 32_768
    }
  }
}

extension EdgeTrim {
  fileprivate init(_ frameCount: Int) {
    self = frameCount > 0 ? EdgeTrim(frameCount: Int64(frameCount), source: .granulePosition) : .none
  }
}
