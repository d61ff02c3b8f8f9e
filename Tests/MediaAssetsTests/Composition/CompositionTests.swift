import Foundation
import MediaTesting
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Synchronization
import Testing

@testable import PlayheadMediaAssets

/// Compositions of parts of assets.
@Suite struct CompositionTests {
  static let s16 = AudioReadSettings(.signed16)

  static func time(_ frame: Int, _ rate: Int = 48_000) -> MediaTime {
    MediaTime(frame: Int64(frame), rate: rate)
  }

  static func range(_ start: Int, _ end: Int, _ rate: Int = 48_000) -> TimeRange {
    TimeRange(start: time(start, rate), end: time(end, rate))
  }

  /// A WAV file of noise, different for each seed.
  static func noise(
    _ folder: TemporaryFolder, _ seed: Int, frames: Int, rate: Int = 48_000, channels: Int = 2, ending: String = "wav"
  ) throws -> Asset {
    let path = folder.file("\(seed)-\(rate)-\(channels).\(ending)")
    let layout = ["mono", "stereo", "2.1", "quad", "5.0", "5.1", "6.1", "7.1"][channels - 1]
    let source = "anoisesrc=seed=\(seed):r=\(rate):a=0.3,aformat=channel_layouts=\(layout),atrim=end_sample=\(frames)"
    // Without noise substitution, because its noise differs in every decode.
    let options = ending == "m4a" ? ["-aac_pns", "0"] : ["-sample_fmt", "s16"]
    try Tool.ffmpeg(arguments: ["-f", "lavfi", "-i", source] + options + [path])
    return Asset(path: path)
  }

  static func all(
    _ asset: Asset, _ settings: AudioReadSettings = s16, trackID: AssetTrack.ID? = nil, _ range: TimeRange? = nil
  ) throws -> [UInt8] {
    let output = AssetReaderTrackOutput(trackID: trackID, settings: settings)
    let reader = AssetReader(asset: asset)
    if let range { try reader.setTimeRange(range) }
    try reader.add(output)
    try reader.startReading()
    var bytes: [UInt8] = []
    while let buffer = output.copyNextSampleBuffer() { bytes += buffer.data }
    #expect(reader.status == .completed && reader.error == nil && output.fault == nil)
    return bytes
  }

  static func mixed(
    _ asset: Asset, _ settings: AudioReadSettings, _ mix: AudioMix? = nil, trackIDs: [AssetTrack.ID]? = nil,
    _ range: TimeRange? = nil
  ) throws -> [UInt8] {
    let output = AssetReaderAudioMixOutput(trackIDs: trackIDs, settings: settings, audioMix: mix)
    let reader = AssetReader(asset: asset)
    if let range { try reader.setTimeRange(range) }
    try reader.add(output)
    try reader.startReading()
    var bytes: [UInt8] = []
    while let buffer = output.copyNextSampleBuffer() { bytes += buffer.data }
    #expect(reader.status == .completed && reader.error == nil)
    return bytes
  }

  static func floats(_ bytes: [UInt8]) -> [Float] {
    bytes.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count - 3, by: 4).map { bytes.loadUnaligned(fromByteOffset: $0, as: Float.self) }
    }
  }

  static func code(_ body: () throws(MediaError) -> Void) -> MediaError.Code? {
    do throws(MediaError) { try body() } catch { return error.code }
    return nil
  }

  // MARK: - Editing

  /// The audio of each millisecond: its asset, and the millisecond in the asset.
  private struct Model {
    var cells: [[Int]?] = []

    mutating func insert(_ new: [[Int]?], at position: Int) {
      while cells.count < position { cells.append(nil) }
      cells.insert(contentsOf: new, at: position)
      trim()
    }

    mutating func remove(_ start: Int, _ end: Int) {
      cells.removeSubrange(min(start, cells.count)..<min(end, cells.count))
      trim()
    }

    private mutating func trim() { while let last = cells.last, last == nil { cells.removeLast() } }
  }

  @Test func randomEditsEqualThoseOfAMillisecondModel() throws {
    let folder = try TemporaryFolder()
    let assets = try (0..<3).map { try Self.noise(folder, $0, frames: 48_000) }
    var generator = SeededGenerator(seed: 43)
    for _ in 0..<40 {
      var composition = Composition()
      let id = try composition.addTrack(.audio)
      var model = Model()
      for _ in 0..<30 {
        let position = Int.random(in: 0...model.cells.count + 50, using: &generator)
        let length = Int.random(in: 1...300, using: &generator)
        switch Int.random(in: 0..<5, using: &generator) {
        case 0...2:
          let asset = Int.random(in: 0..<3, using: &generator)
          let start = Int.random(in: 0...1_000 - length, using: &generator)
          try composition.insertTimeRange(
            Self.range(start, start + length, 1_000), ofTrack: nil, of: assets[asset], at: Self.time(position, 1_000),
            inTrack: id)
          model.insert((start..<start + length).map { [asset, $0] }, at: position)
        case 3:
          try composition.insertEmptyTimeRange(Self.range(position, position + length, 1_000), inTrack: id)
          model.insert(Array(repeating: nil, count: length), at: position)
        default:
          try composition.removeTimeRange(Self.range(position, position + length, 1_000), fromTrack: id)
          model.remove(position, position + length)
        }
        let track = try #require(composition.track(id))
        var found: [[Int]?] = []
        var end = MediaTime.zero
        for segment in track.segments {
          #expect(segment.timeRange.start == end && segment.timeRange.duration > .zero)
          end = segment.timeRange.end
          let count = Int(segment.timeRange.duration.convertScale(1_000).value)
          let first = segment.isEmpty ? 0 : Int(segment.sourceRange.start.convertScale(1_000).value)
          let asset = assets.firstIndex { $0 === segment.source?.asset }
          found += (0..<count).map { cell in asset.map { [$0, first + cell] } }
        }
        #expect(difference(found, model.cells) == nil)
        #expect(track.duration == Self.time(model.cells.count, 1_000))
      }
    }
  }

  @Test func insertingAWholeAssetShiftsEveryTrackAfterIt() throws {
    let folder = try TemporaryFolder()
    let (first, second) = (try Self.noise(folder, 1, frames: 48_000), try Self.noise(folder, 2, frames: 48_000))
    var composition = Composition()
    try composition.insertTimeRange(Self.range(0, 48_000), of: first, at: .zero)
    let other = try composition.addTrack(.audio)
    try composition.insertTimeRange(
      Self.range(0, 24_000), ofTrack: nil, of: second, at: Self.time(12_000), inTrack: other)
    try composition.insertTimeRange(Self.range(0, 4_800), of: second, at: Self.time(24_000))
    #expect(composition.tracks.map(\.duration) == [Self.time(52_800), Self.time(40_800)])
    #expect(composition.tracks[1].segments.map(\.isEmpty) == [true, false, true, false])
    try composition.removeTimeRange(Self.range(24_000, 28_800))
    // Adjacent parts of one segment are joined again.
    #expect(composition.tracks[0].segments.count == 1 && composition.tracks[1].segments.count == 2)
    try composition.insertEmptyTimeRange(Self.range(0, 480))
    try composition.scaleTimeRange(Self.range(0, 480), toDuration: Self.time(960))
    #expect(composition.tracks.map(\.duration) == [Self.time(48_960), Self.time(36_960)])
    let properties = try Asset(composition: composition).load()
    #expect(properties.duration == Self.time(48_960) && properties.providesPreciseDuration && properties.isPlayable)
    #expect(properties.tracks.map(\.mediaType) == [.audio, .audio] && properties.formatName == "composition")
    #expect(properties.audioTrack?.audioFormat == AudioFormat(sampleRateHz: 48_000, channelCount: 2))
  }

  @Test func scaledVideoSegmentMapsItsTimes() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.mp4")
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=2", "-f", "lavfi", "-i", "sine=duration=2", "-c:v",
      "libx264", "-c:a",
      "aac", path)
    let asset = Asset(path: path)
    var composition = Composition()
    try composition.insertTimeRange(Self.range(0, 2, 1), of: asset, at: .zero)
    #expect(composition.tracks.map(\.mediaType) == [.audio, .video])
    expectError(.unsupportedEdit) {
      try composition.scaleTimeRange(Self.range(0, 1, 1), toDuration: Self.time(2, 1))
    }
    let video = composition.tracks[1].id
    try composition.scaleTimeRange(Self.range(1, 2, 1), toDuration: Self.time(4, 1), inTrack: video)
    let track = try #require(composition.track(video))
    #expect(track.segments.count == 2 && track.duration == Self.time(5, 1))
    #expect(track.segments[1].sourceTime(at: Self.time(3, 1)) == Self.time(3, 2))
    #expect(track.segments[1].time(ofSourceTime: Self.time(3, 2)) == Self.time(3, 1))
    let properties = try Asset(composition: composition).load()
    #expect(properties.hasVideo && properties.tracks[1].codedWidth == 64)
  }

  // MARK: - Audio

  @Test func segmentsAreContiguousToTheSample() throws {
    let folder = try TemporaryFolder()
    let assets = try [("wav", 1), ("flac", 2), ("m4a", 3)].map {
      try Self.noise(folder, $0.1, frames: 60_000, ending: $0.0)
    }
    // Decoded AAC has the length that the file declares.
    let decoded = try assets.map { try Self.all($0) }
    var generator = SeededGenerator(seed: 7)
    for round in 0..<6 {
      var composition = Composition()
      let id = try composition.addTrack(.audio)
      var expected: [UInt8] = []
      for _ in 0..<12 {
        let choice = Int.random(in: 0..<4, using: &generator)
        let start = Int.random(in: 0..<50_000, using: &generator)
        let length = Int.random(in: 1..<9_000, using: &generator)
        let end = expected.count / 4
        if choice == 3 {
          try composition.insertEmptyTimeRange(Self.range(end, end + length), inTrack: id)
        } else {
          try composition.insertTimeRange(
            Self.range(start, start + length), ofTrack: nil, of: assets[choice], at: Self.time(end), inTrack: id)
          expected += decoded[choice][(4 * start)..<(4 * (start + length))]
        }
        // Silence at the end does not count.
        if choice == 3, composition.track(id)?.duration != Self.time(end) {
          expected += [UInt8](repeating: 0, count: 4 * length)
        }
      }
      let found = try Self.all(Asset(composition: composition))
      print(
        "composition \(round): \(composition.tracks[0].segments.count) segments, \(expected.count / 4) frames, \(found.count / 4) read"
      )
      #expect(difference(found, expected) == nil)
      for _ in 0..<6 {
        let first = Int.random(in: 0..<expected.count / 4, using: &generator)
        let last = Int.random(in: first...expected.count / 4, using: &generator)
        let part = try Self.all(Asset(composition: composition), Self.s16, Self.range(first, last))
        #expect(difference(part, Array(expected[(4 * first)..<(4 * last)])) == nil, "\(first) to \(last)")
      }
    }
  }

  @Test func compositionsNestUpToTheMaximumDepth() throws {
    let folder = try TemporaryFolder()
    var asset = try Self.noise(folder, 1, frames: 48_000)
    let audio = try Self.all(asset)
    for depth in 1...Composition.maximumDepth {
      var composition = Composition()
      try composition.insertTimeRange(Self.range(100, 48_000 - 100 * (depth - 1)), of: asset, at: .zero)
      asset = Asset(composition: composition)
      #expect(asset.compositionDepth == depth)
      #expect(difference(try Self.all(asset), Array(audio[(400 * depth)..<(4 * 48_000)])) == nil)
    }
    var tooDeep = Composition()
    expectError(.mediaLimitExceeded) { try tooDeep.insertTimeRange(Self.range(0, 100), of: asset, at: .zero) }
  }

  @Test func propertiesOfNestedCompositionsAreComputedOncePerAsset() throws {
    let folder = try TemporaryFolder()
    var asset = try Self.noise(folder, 1, frames: 48_000)
    // Visiting all of them would take 64 to the power of 8 steps.
    for _ in 1...Composition.maximumDepth {
      var composition = Composition()
      for number in 0..<64 {
        try composition.insertTimeRange(Self.range(0, 100), of: asset, at: Self.time(100 * number))
      }
      #expect(composition.tracks[0].segments.count == 64 && composition.assets.count == 1)
      asset = Asset(composition: composition)
    }
    #expect(asset.compositionDepth == Composition.maximumDepth && !asset.isRemote && !asset.mayUseNetwork)
    let remote = Asset(path: folder.file("a.m3u8"))
    #expect(remote.mayUseNetwork && !remote.isRemote && remote.compositionDepth == 0)
  }

  @Test func mixOfTooManyTracksReportsLimitExceeded() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("many.mka")
    let maps = (0...AssetReaderAudioMixOutput.maximumTrackCount).flatMap { _ in ["-map", "0:a"] }
    try Tool.ffmpeg(
      arguments: ["-f", "lavfi", "-i", "sine=r=8000:d=0.1"] + maps + ["-c:a", "pcm_s16le", path])
    func code(_ output: AssetReaderAudioMixOutput) -> MediaError.Code? {
      Self.code { () throws(MediaError) in
        let reader = AssetReader(asset: Asset(path: path))
        try reader.add(output)
        try reader.startReading()
      }
    }
    #expect(code(AssetReaderAudioMixOutput()) == .mediaLimitExceeded)
    #expect(code(AssetReaderAudioMixOutput(trackIDs: Array(1...3))) == nil)
  }

  /// Rates and channel counts of segments before conversion to 48 kHz.
  private static let formats = zip([8_000, 11_025, 16_000, 22_050, 44_100, 88_200, 96_000, 192_000], 1...8).map {
    ($0, $1)
  }

  @Test(arguments: formats)
  func segmentsOfOtherFormatsAreConvertedAsByAReader(_ rate: Int, _ channels: Int) throws {
    let folder = try TemporaryFolder()
    let (first, other) = (
      try Self.noise(folder, 1, frames: 9_600), try Self.noise(folder, 2, frames: rate, rate: rate, channels: channels)
    )
    var composition = Composition()
    let id = try composition.addTrack(.audio)
    let channelCount = max(2, channels)
    try composition.insertTimeRange(Self.range(0, 9_600), ofTrack: nil, of: first, at: .zero, inTrack: id)
    let part = Self.range(rate / 7, rate / 2, rate)
    try composition.insertTimeRange(part, ofTrack: nil, of: other, at: Self.time(9_600), inTrack: id)
    try composition.insertTimeRange(
      Self.range(100, 200), ofTrack: nil, of: first, at: Self.time(9_600) + part.duration, inTrack: id)
    let settings = AudioReadSettings(.float32, sampleRateHz: 48_000, channelCount: channelCount)
    let (whole, converted) = (try Self.all(first, settings), try Self.all(other, settings))
    let frame = 4 * channelCount
    let begin = Int(try #require(part.start.frameIndex(rate: 48_000, rounding: .halfAwayFromZero)))
    let end = 9_600 + Int(try #require(part.duration.frameIndex(rate: 48_000, rounding: .halfAwayFromZero)))
    var expected = whole
    expected += converted[(begin * frame)..<((begin + end - 9_600) * frame)]
    expected += whole[(100 * frame)..<(200 * frame)]
    let asset = Asset(composition: composition)
    #expect(try asset.load().audioTrack?.audioFormat == AudioFormat(sampleRateHz: 48_000, channelCount: channelCount))
    let found = try Self.all(asset, AudioReadSettings())
    print(
      "composition | \(rate) Hz, \(channels) channels | \(expected.count / frame) frames, \(found.count / frame) read")
    // The resampled middle may differ by one frame at its end.
    #expect(abs(found.count - expected.count) <= frame)
    #expect(difference(Array(found.prefix(end * frame)), Array(expected.prefix(end * frame))) == nil)
    let inside = TimeRange(start: Self.time(9_700), end: Self.time(12_000))
    #expect(
      difference(try Self.all(asset, AudioReadSettings(), inside), Array(expected[(9_700 * frame)..<(12_000 * frame)]))
        == nil)
  }

  /// Counts the open sources of a file.
  private final class CountedFile: Sendable {
    struct Counts {
      var open = 0
      var peak = 0
      var opened = 0
    }
    let counts: ConditionMutex<Counts>
    private let bytes: [UInt8]

    init(_ bytes: [UInt8], _ counts: ConditionMutex<Counts>) { (self.bytes, self.counts) = (bytes, counts) }

    var asset: Asset { Asset(name: "counted.wav") { [self] () throws(MediaError) in Source(self) } }

    private final class Source: ByteSource {
      private let file: CountedFile

      init(_ file: CountedFile) {
        self.file = file
        file.counts.update {
          $0.open += 1
          $0.opened += 1
          $0.peak = max($0.peak, $0.open)
        }
      }

      deinit { file.counts.update { $0.open -= 1 } }

      var byteCount: Int64? { Int64(file.bytes.count) }
      var isSeekable: Bool { true }

      func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
        let count = max(0, min(buffer.count, file.bytes.count - Int(offset)))
        buffer.copyBytes(from: file.bytes[Int(offset)..<(Int(offset) + count)])
        return count
      }

      func cancel() {}
      func resume() {}
    }
  }

  @Test func fewFilesAreOpenAtOnce() throws {
    let counts = ConditionMutex(CountedFile.Counts())
    let bytes = IndexedAudio.wav(.signed16, sampleRateHz: 48_000, frameCount: 4_800)
    let files = (0..<20).map { _ in CountedFile(bytes, counts).asset }
    var composition = Composition()
    for track in 0..<2 {
      let id = try composition.addTrack(.audio)
      for index in 0..<10 {
        try composition.insertTimeRange(
          Self.range(0, 4_800), ofTrack: nil, of: files[track * 10 + index], at: Self.time(4_800 * index), inTrack: id)
      }
    }
    counts.update { $0.peak = $0.open }
    _ = try Self.all(Asset(composition: composition))
    // The ending and the starting segment of each track.
    #expect(counts.withState { $0.peak } <= 4)
    let isClosed: Bool? = counts.wait(until: .now.advanced(byNanoseconds: 60_000_000_000)) { $0.open == 0 ? true : nil }
    #expect(isClosed == true)
  }

  // MARK: - Mixing

  @Test func tracksAreSummedWithTheirVolumes() throws {
    let folder = try TemporaryFolder()
    let (first, second) = (try Self.noise(folder, 1, frames: 30_000), try Self.noise(folder, 2, frames: 30_000))
    var composition = Composition()
    let ids = [try composition.addTrack(.audio), try composition.addTrack(.audio)]
    try composition.insertTimeRange(Self.range(0, 30_000), ofTrack: nil, of: first, at: .zero, inTrack: ids[0])
    try composition.insertTimeRange(
      Self.range(5, 25_000), ofTrack: nil, of: second, at: Self.time(10_001), inTrack: ids[1])
    let asset = Asset(composition: composition)
    let (one, other) = (
      Self.floats(try Self.all(first, AudioReadSettings())), Self.floats(try Self.all(second, AudioReadSettings()))
    )
    var expected = one + [Float](repeating: 0, count: 2 * (10_001 + 24_995) - one.count)
    for sample in 0..<2 * 24_995 { expected[2 * 10_001 + sample] += other[10 + sample] }
    #expect(difference(Self.floats(try Self.all(asset, AudioReadSettings())), expected) == nil)
    #expect(difference(Self.floats(try Self.mixed(asset, AudioReadSettings())), expected) == nil)
    // A single track is unchanged.
    #expect(difference(Self.floats(try Self.all(asset, AudioReadSettings(), trackID: ids[0])), one) == nil)
    #expect(difference(Self.floats(try Self.mixed(asset, AudioReadSettings(), trackIDs: [ids[0]])), one) == nil)
    // Each track with a volume, and all tracks with the mix's volume.
    var mix = AudioMix()
    var parameters = AudioMixInputParameters()
    try parameters.setVolumeRamp(fromStartVolume: 1, toEndVolume: 0, timeRange: Self.range(3_000, 20_000))
    mix.inputParameters[ids[0]] = parameters
    try mix.setVolume(0.5, at: Self.time(24_000))
    for frame in 0..<expected.count / 2 {
      let time = Self.time(frame)
      for channel in 0..<2 {
        let sample = 2 * frame + channel
        let left = sample < one.count ? one[sample] * parameters.volume(at: time) : 0
        let right = expected[sample] - (sample < one.count ? one[sample] : 0)
        expected[sample] = (left + right) * mix.volume(at: time)
      }
    }
    let found = Self.floats(try Self.mixed(asset, AudioReadSettings(), mix))
    #expect(found.count == expected.count)
    #expect(zip(found, expected).allSatisfy { abs($0 - $1) < 1e-5 })
    let part = Self.floats(try Self.mixed(asset, AudioReadSettings(), mix, Self.range(4_321, 30_123)))
    #expect(difference(part, Array(found[(2 * 4_321)..<(2 * 30_123)])) == nil)
  }

  @Test(arguments: [(48_000, 2), (44_100, 1), (16_000, 6)])
  func mixOfOneTrackEqualsThatTrack(_ rate: Int, _ channels: Int) throws {
    let folder = try TemporaryFolder()
    let asset = try Self.noise(folder, 3, frames: 50_000, ending: "flac")
    for settings in [
      AudioReadSettings(), AudioReadSettings(.float32, sampleRateHz: rate, channelCount: channels),
      AudioReadSettings(.signed24, sampleRateHz: rate, channelCount: channels),
    ] {
      #expect(difference(try Self.mixed(asset, settings), try Self.all(asset, settings)) == nil)
      let range = Self.range(1_234, 40_000)
      #expect(difference(try Self.mixed(asset, settings, nil, range), try Self.all(asset, settings, range)) == nil)
    }
  }

  @Test func mixOfAFilesTracksEqualsFFmpegsMix() throws {
    let folder = try TemporaryFolder()
    let paths = try (1...3).map { try Self.noise(folder, $0, frames: 51_000).path ?? "" }
    // FFmpeg loses some audio when times are rounded to milliseconds, like those of FLAC here.
    let path = folder.file("three.mka")
    try Tool.ffmpeg(
      arguments: paths.flatMap { ["-i", $0] } + [
        "-map", "0:a", "-map", "1:a", "-map", "2:a", "-c:a", "pcm_s16le", path,
      ])
    let raw = folder.file("raw")
    try Tool.ffmpeg(
      "-i", path, "-filter_complex",
      "[0:0][0:1][0:2]amix=inputs=3:normalize=0:duration=longest,aresample=osf=s16:dither_method=none",
      "-f", "s16le", raw)
    let expected = try readFile(raw)
    let found = try Self.mixed(Asset(path: path), Self.s16)
    #expect(found.count == expected.count && found.count == 4 * 51_000)
    func numbers(_ bytes: [UInt8]) -> [Int] {
      bytes.withUnsafeBytes { bytes in
        stride(from: 0, to: bytes.count - 1, by: 2).map { Int(bytes.loadUnaligned(fromByteOffset: $0, as: Int16.self)) }
      }
    }
    let largest = zip(numbers(found), numbers(expected)).map { abs($0 - $1) }.max() ?? 0
    print("mix of three tracks: largest difference to ffmpeg's amix \(largest)")
    #expect(largest <= 1)
  }
}
