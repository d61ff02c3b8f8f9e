import Foundation
import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// Reading stored samples.
@Suite struct StoredSampleTests {
  /// Audio formats, with the options that convert a WAV file of noise.
  private static let sources: [(name: String, options: [String])] = [
    ("16.wav", []), ("24.wav", ["-c:a", "pcm_s24le"]), ("be.aiff", []), ("alaw.wav", ["-c:a", "pcm_alaw"]),
    ("adpcm.wav", ["-c:a", "adpcm_ima_wav"]), ("flac", []), ("wv", []), ("alac.m4a", ["-c:a", "alac"]),
    ("alac.caf", ["-c:a", "alac"]), ("cbr.mp3", ["-c:a", "libmp3lame"]),
    ("vbr.mp3", ["-c:a", "libmp3lame", "-q:a", "4"]),
    ("bare.mp3", ["-c:a", "libmp3lame", "-write_xing", "0", "-id3v2_version", "0"]),
    ("m4a", ["-c:a", "aac", "-aac_pns", "0"]), ("aac", ["-c:a", "aac", "-aac_pns", "0"]),
    ("frag.mp4", ["-c:a", "aac", "-aac_pns", "0", "-movflags", "frag_keyframe+empty_moov"]),
    ("ogg", ["-c:a", "libvorbis"]),
    ("opus", ["-c:a", "libopus"]), ("opus.mka", ["-c:a", "libopus"]), ("vorbis.mka", ["-c:a", "libvorbis"]),
    ("aac.mka", ["-c:a", "aac", "-aac_pns", "0"]), ("flac.mka", ["-c:a", "flac"]), ("mp3.mka", ["-c:a", "libmp3lame"]),
    ("oga", ["-c:a", "flac", "-f", "ogg"]), ("ac3", ["-c:a", "ac3"]), ("ac3.mka", ["-c:a", "ac3"]), ("mp2", []),
    ("tta", []),
    ("late.m4a", ["-af", "adelay=0", "-c:a", "aac", "-aac_pns", "0", "-output_ts_offset", "0.3"]),
  ]

  private static func make(_ row: Int, in folder: TemporaryFolder, seconds: Double, rate: Int = 44_100) throws -> String
  {
    let (name, options) = sources[row]
    let noise = folder.file("noise.wav")
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "anoisesrc=seed=\(row):r=\(rate):d=\(seconds),aformat=channel_layouts=stereo", noise)
    let path = folder.file("a.\(name)")
    try Tool.ffmpeg(arguments: ["-i", noise] + options + [path])
    return path
  }

  /// The decoded audio.
  private static func decoded(_ path: String) throws -> (samples: [Float], format: AudioFormat) {
    let reader = try AudioTrackReader(asset: Asset(path: path))
    let samples = try reader.readFrames(Int.max / 64).samples
    return (samples, reader.format)
  }

  @Test(arguments: sources.indices)
  func storedAudioPacketsEqualThoseOfFFprobe(_ row: Int) throws {
    let folder = try TemporaryFolder()
    let path = try Self.make(row, in: folder, seconds: 1.3)
    let reading = try StoredReading(Asset(path: path))
    let (packets, timeBase, start) = try ProbedPacket.all(path, stream: 0)
    #expect(reading.status == .completed && reading.fault == nil)
    let found = reading.buffers.map(\.data.count)
    print("stored | \(Self.sources[row].name) | \(packets.count) packets by ffprobe, \(found.count) read")
    #expect(found == packets.map(\.byteCount))
    #expect(reading.buffers.map { ProbedPacket.checksum($0.data) } == packets.map(\.checksum))
    #expect(reading.buffers.map(\.attachments.isSync) == packets.map(\.isSync))
    let rate = try #require(reading.format?.audio?.sampleRateHz)
    let origin = Self.sources[row].name.contains(".m") && !Self.sources[row].name.hasSuffix("mp3") ? 0 : start ?? 0
    // Exact to the frame or a tick. FFmpeg's count of raw AC-3 drifts, and timestamps of Vorbis in Matroska are late by
    // a block.
    let isLoose = ["ac3", "vorbis.mka"].contains(Self.sources[row].name)
    let tick = Double(timeBase.numerator) / Double(timeBase.denominator)
    let tolerance = isLoose ? 0.02 : max(1.001 / Double(rate), 1.5 * tick)
    for (buffer, packet) in zip(reading.buffers, packets) {
      guard let pts = packet.pts else { continue }
      let expected = Double(pts - origin) * Double(timeBase.numerator) / Double(timeBase.denominator)
      #expect(
        abs(buffer.presentationTime.seconds - expected) <= tolerance, "\(buffer.presentationTime.seconds) \(expected)")
      if packet.isDiscarded { #expect(buffer.outputDuration == .zero) }
    }
    let needsSetup =
      ["flac", "alac", "aac", "vorbis", "opus"].contains(reading.format?.codecName) && !path.hasSuffix(".aac")
    #expect(!needsSetup || reading.format?.setupData.isEmpty == false)
  }

  @Test(arguments: sources.indices)
  func storedPacketsDecodeToTheAudioOfTheReader(_ row: Int) throws {
    let folder = try TemporaryFolder()
    let path = try Self.make(row, in: folder, seconds: 4.1)
    let (whole, format) = try Self.decoded(path)
    let frameCount = whole.count / format.channelCount
    let rate = format.sampleRateHz
    let ranges = [
      (0, frameCount), (0, 1_000), (rate / 3, rate), (2 * rate + 77, 3 * rate + 1_013), (3 * rate + 5, frameCount),
      (7, 8),
    ]
    for (first, end) in ranges {
      let range = TimeRange(
        start: MediaTime(frame: Int64(first), rate: rate), end: MediaTime(frame: Int64(end), rate: rate))
      let reading = try StoredReading(Asset(path: path), first == 0 && end == frameCount ? nil : range)
      let found = try reading.decodedSamples(from: first, to: end)
      let expected = Array(whole[(first * format.channelCount)..<(end * format.channelCount)])
      let different = SampleComparison.inequalities(found, expected).count
      print(
        "stored | \(Self.sources[row].name) | \(first)..<\(end) | \(reading.buffers.count) packets | \(different) of \(expected.count) samples differ"
      )
      #expect(different == 0)
      #expect(reading.status == .completed)
    }
  }

  // MARK: - Edges

  private static func range(_ start: Int64, _ end: Int64, _ rate: Int = 44_100) -> TimeRange {
    TimeRange(start: MediaTime(frame: start, rate: rate), end: MediaTime(frame: end, rate: rate))
  }

  @Test(arguments: ["wav", "flac", "cbr.mp3", "m4a", "ogg", "opus.mka"])
  func resetReadsFurtherRanges(_ name: String) throws {
    let folder = try TemporaryFolder()
    let row = try #require(Self.sources.firstIndex { $0.name == name || $0.name == "16." + name })
    let path = try Self.make(row, in: folder, seconds: 3)
    let (whole, format) = try Self.decoded(path)
    let rate = format.sampleRateHz
    let output = AssetReaderStoredOutput(supportsRandomAccess: true)
    let reader = AssetReader(asset: Asset(path: path))
    try reader.setTimeRange(Self.range(100, 5_000, rate))
    try reader.add(output)
    try reader.startReading()
    for (first, end) in [
      (100, 5_000), (2 * rate, 2 * rate + 4_000), (0, 3_000), (rate, rate + 1), (10 * rate, 11 * rate),
      (rate, 2 * rate),
    ] {
      if first != 100 { try output.reset(forReadingTimeRanges: [Self.range(Int64(first), Int64(end), rate)]) }
      var reading = try StoredReading(reading: output)
      reading.format = output.format
      let (from, to) = (min(first, whole.count / 2), min(end, whole.count / 2))
      #expect(
        difference(try reading.decodedSamples(from: from, to: to), Array(whole[(2 * from)..<(2 * to)])) == nil,
        "\(name) \(first) to \(end)")
      #expect(first == 100 || reading.buffers.first.map { $0.attachments.isDiscontinuity } ?? (from == to))
    }
    output.markConfigurationAsFinal()
    #expect(reader.status == .completed && output.fault == nil)
  }

  @Test func readAfterTheEndIsEmptyAndTruncationIsReported() throws {
    let folder = try TemporaryFolder()
    for (row, source) in Self.sources.enumerated() where !source.name.contains("adpcm") {
      let path = try Self.make(row, in: folder, seconds: 1)
      let reading = try StoredReading(
        Asset(path: path), TimeRange(start: MediaTime(value: 5, timescale: 1), duration: .positiveInfinity))
      #expect(
        reading.status == .completed && reading.buffers.allSatisfy { $0.outputDuration == .zero }, "\(source.name)")
    }
    for name in ["16.wav", "flac", "mp3.mka", "ogg"] {
      let row = try #require(Self.sources.firstIndex { $0.name == name })
      let path = try Self.make(row, in: folder, seconds: 6)
      let bytes = try readFile(path)
      let cut = try folder.write(Array(bytes.prefix(bytes.count / 2)), as: "cut." + name)
      let reading = try StoredReading(Asset(path: cut))
      print(
        "stored | half of \(name) | \(reading.buffers.count) packets | \(reading.error.map { "\($0)" } ?? "no error")")
      #expect(reading.status == .failed && reading.error?.code == .damagedFile && reading.buffers.count > 3)
    }
  }

  @Test(arguments: ["16.wav", "flac", "cbr.mp3", "ogg", "opus.mka"])
  func forwardOnlyStreamEqualsTheFile(_ name: String) throws {
    let folder = try TemporaryFolder()
    let path = try Self.make(try #require(Self.sources.firstIndex { $0.name == name }), in: folder, seconds: 2)
    let (file, stream) = (
      try StoredReading(Asset(path: path)), try StoredReading(ForwardBytes(readFile(path)).asset)
    )
    #expect(stream.status == .completed && difference(stream.buffers, file.buffers) == nil)
  }

  @Test func rangesOfAnEditListAreReadInOrder() throws {
    let folder = try TemporaryFolder()
    let source = try folder.write(
      IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: 88_200), as: "source.wav")
    for codec in ["pcm_s16le", "alac", "aac"] {
      let plain = folder.file("plain.mov")
      try Tool.ffmpeg("-i", source, "-c:a", codec, "-aac_pns", "0", "-movie_timescale", "44100", plain)
      let edits = [(30_000, 50_000, 0x1_0000), (5_000, -1, 0x1_0000), (30_000, 10, 0x1_0000)]
      let path = try folder.write(MovieBoxes.withRatedEdits(edits, in: readFile(plain)), as: "edited.mov")
      let (whole, _) = try Self.decoded(path)
      for (first, end) in [(0, 65_000), (29_990, 35_010), (40_000, 50_000)] {
        let reading = try StoredReading(Asset(path: path), Self.range(Int64(first), Int64(end)))
        // Two ranges of a codec with state across packets are decoded separately.
        guard codec != "aac" || first == 40_000 else { continue }
        #expect(
          difference(try reading.decodedSamples(from: first, to: end), Array(whole[(2 * first)..<(2 * end)])) == nil,
          "\(codec) \(first)")
      }
    }
  }
}
