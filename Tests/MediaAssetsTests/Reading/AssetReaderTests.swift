import Foundation
import MediaTesting
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Reading an asset's audio as sample buffers.
@Suite(.timeLimit(.minutes(3))) struct AssetReaderTests {
  private static let s16 = AudioReadSettings(.signed16)

  /// A WAV file whose frames encode their index.
  private static func wave(_ folder: TemporaryFolder, frameCount: Int, rate: Int = 48_000) throws -> String {
    try folder.write(IndexedAudio.wav(.signed16, sampleRateHz: rate, frameCount: frameCount), as: "\(frameCount).wav")
  }

  /// A started reader with one output.
  private static func reader(
    _ asset: Asset, _ output: AssetReaderTrackOutput, _ range: TimeRange? = nil
  ) throws -> AssetReader {
    let reader = AssetReader(asset: asset)
    if let range { try reader.setTimeRange(range) }
    try reader.add(output)
    try reader.startReading()
    return reader
  }

  /// The remaining data of an output. Checks that times are contiguous.
  private static func rest(_ output: AssetReaderTrackOutput) -> (start: MediaTime?, bytes: [UInt8]) {
    var bytes: [UInt8] = []
    var start: MediaTime?
    var next: MediaTime?
    while let buffer = output.copyNextSampleBuffer() {
      if let next, !buffer.attachments.isDiscontinuity { #expect(buffer.presentationTime == next) }
      start = start ?? buffer.presentationTime
      next = buffer.endTime
      bytes += buffer.data
    }
    return (start, bytes)
  }

  private static func all(_ path: String, _ settings: AudioReadSettings, _ range: TimeRange? = nil) throws -> [UInt8] {
    let output = AssetReaderTrackOutput(settings: settings)
    let reader = try reader(Asset(path: path), output, range)
    let bytes = rest(output).bytes
    #expect(reader.status == .completed && reader.error == nil && output.fault == nil)
    return bytes
  }

  private static func time(_ frame: Int, _ rate: Int32 = 48_000) -> MediaTime {
    MediaTime(value: Int64(frame), timescale: rate)
  }

  // MARK: - Decoded audio

  /// Formats, with the options that convert a 16-bit WAV file. FFmpeg decodes too little of an Ogg Vorbis stream with
  /// one page.
  private static let sources: [(name: String, options: [String])] = [
    ("wav", []), ("w24.wav", ["-c:a", "pcm_s24le"]), ("f.wav", ["-c:a", "pcm_f32le"]), ("u8.wav", ["-c:a", "pcm_u8"]),
    ("aiff", []), ("flac", []), ("f24.flac", ["-sample_fmt", "s32"]), ("wv", []), ("alac.m4a", ["-c:a", "alac"]),
    ("mp3", ["-c:a", "libmp3lame"]), ("ogg", ["-c:a", "libvorbis", "-page_duration", "100000"]),
    ("opus", ["-c:a", "libopus"]),
    ("mono.flac", ["-ac", "1"]),
  ]

  /// FFmpeg's muxer names of the encodings.
  private static let encodings: [(name: String, encoding: PCMEncoding)] = [
    ("s16le", .signed16), ("s24le", .signed24), ("s32le", .signed32), ("f32le", .float32),
    ("f64le", PCMEncoding(.float, bitsPerSample: 64)), ("u8", PCMEncoding(.unsignedInteger, bitsPerSample: 8)),
    ("s16be", PCMEncoding(.signedInteger, bitsPerSample: 16, isBigEndian: true)),
    ("s24be", PCMEncoding(.signedInteger, bitsPerSample: 24, isBigEndian: true)),
    ("f32be", PCMEncoding(.float, bitsPerSample: 32, isBigEndian: true)),
  ]

  @Test(arguments: sources.indices)
  func decodedSamplesEqualFFmpegsInEveryEncoding(_ row: Int) throws {
    let (name, options) = Self.sources[row]
    let folder = try TemporaryFolder()
    let noise = folder.file("noise.wav")
    try Tool.ffmpeg("-f", "lavfi", "-i", "anoisesrc=seed=\(row):r=48000:d=0.7,aformat=channel_layouts=stereo", noise)
    let path = folder.file("a.\(name)")
    try Tool.ffmpeg(arguments: ["-i", noise] + options + [path])
    for (format, encoding) in Self.encodings {
      let raw = folder.file("raw")
      try Tool.ffmpeg("-i", path, "-map", "0:a", "-c:a", "pcm_\(format)", "-f", format, raw)
      let (expected, found) = (try readFile(raw), try Self.all(path, AudioReadSettings(encoding)))
      print("read | \(name) | \(format) | \(expected.count) bytes by ffmpeg, \(found.count) read")
      #expect(found == expected, "\(name) as \(format)")
    }
  }

  @Test func rangeEqualsTheSameSamplesOfTheWholeFile() throws {
    let folder = try TemporaryFolder()
    let path = try Self.wave(folder, frameCount: 48_000)
    let whole = try Self.all(path, Self.s16)
    #expect(whole.count == 4 * 48_000)
    for (start, end) in [(0, 1), (1, 2), (4_801, 33_333), (47_999, 48_000), (100, 100)] {
      let output = AssetReaderTrackOutput(settings: Self.s16)
      let reader = try Self.reader(
        Asset(path: path), output, TimeRange(start: Self.time(start), end: Self.time(end)))
      let (first, bytes) = Self.rest(output)
      #expect(bytes == Array(whole[(4 * start)..<(4 * end)]), "\(start) to \(end)")
      #expect(first == (start < end ? Self.time(start) : nil) && reader.status == .completed)
    }
    // A time between frames belongs to the frame that contains it. A range after the end is empty.
    let between = TimeRange(
      start: MediaTime(value: 10_007, timescale: 480_000), end: MediaTime(value: 20_009, timescale: 480_000))
    #expect(try Self.all(path, Self.s16, between) == Array(whole[(4 * 1_000)..<(4 * 2_000)]))
    let long = TimeRange(start: Self.time(47_000), duration: .positiveInfinity)
    #expect(try Self.all(path, Self.s16, long) == Array(whole[(4 * 47_000)...]))
    let afterEnd = TimeRange(start: MediaTime(value: 2, timescale: 1), duration: .positiveInfinity)
    #expect(try Self.all(path, Self.s16, afterEnd).isEmpty)
  }

  @Test(arguments: [(44_100, 2), (48_000, 1), (16_000, 1), (96_000, 2), (8_000, 6)])
  func resampledRangeEqualsTheSameRangeOfTheResampledFile(_ rate: Int, _ channelCount: Int) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("noise.flac")
    try Tool.ffmpeg("-f", "lavfi", "-i", "anoisesrc=seed=7:r=48000:d=3,aformat=channel_layouts=stereo", path)
    let settings = AudioReadSettings(.float32, sampleRateHz: rate, channelCount: channelCount)
    let whole = try Self.all(path, settings)
    let frameByteCount = 4 * channelCount
    // A resampler may return a few frames more or less at the end.
    #expect(abs(whole.count / frameByteCount - 3 * rate) <= 64)
    for (start, end) in [(0, rate / 3), (rate / 7, rate), (rate + 11, 2 * rate + 1_013)] {
      let range = TimeRange(start: Self.time(start, Int32(rate)), end: Self.time(end, Int32(rate)))
      let part = try Self.all(path, settings, range)
      #expect(
        part == Array(whole[(frameByteCount * start)..<(frameByteCount * end)]), "\(start) to \(end) at \(rate)")
    }
    let afterEnd = TimeRange(start: MediaTime(value: 4, timescale: 1), duration: .positiveInfinity)
    #expect(try Self.all(path, settings, afterEnd).isEmpty)
  }

  @Test func buffersReportTheirFormatCountAndTime() throws {
    let folder = try TemporaryFolder()
    let output = AssetReaderTrackOutput(
      settings: AudioReadSettings(PCMEncoding(.float, bitsPerSample: 32, isInterleaved: false)))
    let reader = try Self.reader(Asset(path: try Self.wave(folder, frameCount: 10_000)), output)
    let buffer = try #require(output.copyNextSampleBuffer())
    #expect(buffer.format.audio?.sampleRateHz == 48_000 && buffer.format.audio?.channelCount == 2)
    #expect(buffer.sampleCount == AudioTrackSource.chunkFrames && buffer.presentationTime == .zero)
    // First the left channel, then the right one.
    let left = buffer.data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 4 * 77, as: Float.self) }
    #expect(left == Float(77) / 32_768)
    reader.cancelReading()
  }

  @Test func outputsOfOneReaderDoNotWaitForEachOther() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("two.mka")
    let (first, second) = (try Self.wave(folder, frameCount: 400_000), try Self.wave(folder, frameCount: 300_000))
    try Tool.ffmpeg("-i", first, "-i", second, "-map", "0", "-map", "1", "-c", "flac", path)
    let asset = Asset(path: path)
    let tracks = try asset.load().tracks.map(\.id)
    let outputs = tracks.map { AssetReaderTrackOutput(trackID: $0, settings: Self.s16) }
    let reader = AssetReader(asset: asset)
    for output in outputs { try reader.add(output) }
    try reader.startReading()
    // The second output completely before the first.
    #expect(Self.rest(outputs[1]).bytes.count == 4 * 300_000)
    #expect(reader.status == .reading && reader.error == nil)
    #expect(Self.rest(outputs[0]).bytes.count == 4 * 400_000)
    #expect(reader.status == .completed)
    #expect(outputs[0].copyNextSampleBuffer() == nil && reader.status == .completed)
  }

  @Test func silenceOfAnEmptyEditIsSilentInEveryEncoding() throws {
    let folder = try TemporaryFolder()
    let wave = try Self.wave(folder, frameCount: 48_000)
    // The audio starts after half a second, because of an empty edit.
    try Tool.ffmpeg("-itsoffset", "0.5", "-i", wave, "-c", "copy", folder.file("late.mov"))
    for (name, encoding) in Self.encodings {
      let silence: UInt8 = encoding.kind == .unsignedInteger ? 0x80 : 0
      let bytes = try Self.all(folder.file("late.mov"), AudioReadSettings(encoding))
      let late = 24_000 * encoding.byteCount(channelCount: 2)
      #expect(bytes.count == 3 * late && bytes.prefix(late).allSatisfy { $0 == silence }, "\(name)")
      #expect(!bytes.dropFirst(late).allSatisfy { $0 == silence })
      // A range across the start of the audio.
      let range = TimeRange(start: Self.time(23_990), end: Self.time(30_000))
      let part = try Self.all(folder.file("late.mov"), AudioReadSettings(encoding), range)
      #expect(part == Array(bytes[(late / 24_000 * 23_990)..<(late / 24_000 * 30_000)]), "\(name)")
    }
  }

  @Test func unseekableSourceIsReadForwardWithCorrectTimes() throws {
    let wave = IndexedAudio.wav(.signed16, sampleRateHz: 48_000, frameCount: 200_000)
    func asset() -> Asset { ForwardBytes(wave).asset }
    let whole = Array(wave.dropFirst(44))
    // Reads up to the start of a later range.
    let output = AssetReaderTrackOutput(settings: Self.s16, supportsRandomAccess: true)
    let reader = try Self.reader(asset(), output, TimeRange(start: Self.time(96_000), end: Self.time(96_010)))
    let (start, bytes) = Self.rest(output)
    #expect(start == Self.time(96_000) && bytes == Array(whole[384_000..<384_040]))
    // An earlier range has passed: output starts at the current position.
    try output.reset(forReadingTimeRanges: [TimeRange(start: .zero, end: Self.time(100_000))])
    let (later, rest) = Self.rest(output)
    if let later {
      let frame = Int(later.value) * 48_000 / Int(later.timescale)
      #expect(frame > 0 && rest == Array(whole[(4 * frame)..<400_000]))
    } else {
      #expect(reader.status == .failed && reader.error?.code == .onlyInOrder)
    }
    reader.cancelReading()
  }

  // MARK: - Random access

  @Test func resetReadsOtherRangesAfterTheFirstIsRead() throws {
    let folder = try TemporaryFolder()
    let path = try Self.wave(folder, frameCount: 100_000)
    let whole = try Self.all(path, Self.s16)
    let output = AssetReaderTrackOutput(settings: Self.s16, supportsRandomAccess: true)
    let reader = try Self.reader(Asset(path: path), output, TimeRange(start: .zero, end: Self.time(100)))
    func range(_ start: Int, _ end: Int) -> TimeRange { TimeRange(start: Self.time(start), end: Self.time(end)) }
    expectError(.invalidState) { try output.reset(forReadingTimeRanges: []) }
    #expect(Self.rest(output).bytes == Array(whole[..<400]))
    #expect(reader.status == .reading)
    for wrong in [[range(5, 9), range(8, 10)], [range(9, 10), range(5, 6)], [range(5, 5), range(5, 5)]] {
      expectError(.invalidTime) { try output.reset(forReadingTimeRanges: wrong) }
    }
    try output.reset(forReadingTimeRanges: [range(90_000, 90_010), range(99_990, 200_000)])
    #expect(Self.rest(output).bytes == Array(whole[360_000..<360_040]) + Array(whole[399_960...]))
    // Earlier audio is available, too.
    try output.reset(forReadingTimeRanges: [range(7, 20_000)])
    #expect(Self.rest(output).bytes == Array(whole[28..<80_000]))
    output.markConfigurationAsFinal()
    #expect(reader.status == .completed && output.copyNextSampleBuffer() == nil)
    expectError(.invalidState) { try output.reset(forReadingTimeRanges: [range(0, 1)]) }
  }

  @Test func resetWithoutRandomAccessReportsInvalidState() throws {
    let folder = try TemporaryFolder()
    let output = AssetReaderTrackOutput(settings: Self.s16)
    let reader = try Self.reader(Asset(path: try Self.wave(folder, frameCount: 100)), output)
    #expect(Self.rest(output).bytes.count == 400)
    expectError(.invalidState) { try output.reset(forReadingTimeRanges: []) }
    #expect(reader.status == .completed)
  }

  // MARK: - Errors

  @Test func invalidReaderCallsReportTheirErrors() throws {
    let folder = try TemporaryFolder()
    let path = try Self.wave(folder, frameCount: 100)
    let output = AssetReaderTrackOutput(settings: Self.s16)
    let reader = AssetReader(asset: Asset(path: path))
    expectError(.invalidState, "without outputs") { try reader.startReading() }
    for range in [
      TimeRange(start: .invalid, duration: .zero), TimeRange(start: .positiveInfinity, duration: .zero),
      TimeRange(start: MediaTime(value: -1, timescale: 1), duration: .positiveInfinity),
      TimeRange(start: .zero, duration: MediaTime(value: -1, timescale: 1)),
      TimeRange(start: .zero, duration: .indefinite),
    ] {
      expectError(.invalidTime, "\(range)") { try reader.setTimeRange(range) }
    }
    for settings in [
      AudioReadSettings(PCMEncoding(.signedInteger, bitsPerSample: 12)),
      AudioReadSettings(PCMEncoding(.signedInteger, bitsPerSample: 64)), AudioReadSettings(sampleRateHz: 0),
      AudioReadSettings(sampleRateHz: .max), AudioReadSettings(channelCount: 0), AudioReadSettings(channelCount: 1_000),
    ] {
      let refused = AssetReaderTrackOutput(settings: settings)
      expectError(.invalidArgument, "\(settings)") { try reader.add(refused) }
    }
    try reader.add(output)
    expectError(.invalidState) { try reader.add(output) }
    let other = AssetReader(asset: reader.asset)
    expectError(.invalidState, "the output has a reader") { try other.add(output) }
    #expect(output.copyNextSampleBuffer() == nil && reader.status == .unknown)
    try reader.startReading()
    #expect(reader.status == .reading)
    expectError(.invalidState) { try reader.startReading() }
    expectError(.invalidState) { try reader.setTimeRange(.zero) }
    expectError(.invalidState) { try reader.add(AssetReaderTrackOutput()) }
    #expect(Self.rest(output).bytes.count == 400 && reader.status == .completed)
    reader.cancelReading()
    #expect(reader.status == .completed, "a completed reader stays completed")
  }

  @Test func startOnAnUnreadableSourceReportsItsError() throws {
    let folder = try TemporaryFolder()
    try Tool.ffmpeg("-f", "lavfi", "-i", "testsrc=d=0.2:s=64x48", "-c:v", "mpeg4", folder.file("silent.mp4"))
    let noMedia = try folder.write(Array("no media".utf8), as: "text.wav")
    let wave = try Self.wave(folder, frameCount: 100)
    for (path, track, expected) in [
      (folder.file("none.wav"), nil, MediaError.Code.fileNotFound), (noMedia, nil, .unknownFormat),
      (folder.file("silent.mp4"), nil, .noPlayableTracks), (wave, 7, .noSuchTrack),
    ] as [(String, AssetTrack.ID?, MediaError.Code)] {
      let reader = AssetReader(asset: Asset(path: path))
      let output = AssetReaderTrackOutput(trackID: track)
      try reader.add(output)
      expectError(expected) { try reader.startReading() }
      print("read | \(path.split(separator: "/").last ?? "") | \(expected.rawValue)")
      #expect(reader.status == .failed && reader.error?.code == expected)
      #expect(output.copyNextSampleBuffer() == nil)
    }
  }

  @Test func truncatedFileFailsAfterItsLastSample() throws {
    let folder = try TemporaryFolder()
    let wave = try Self.wave(folder, frameCount: 441_000)
    try Tool.ffmpeg("-i", wave, folder.file("whole.flac"))
    let bytes = try readFile(folder.file("whole.flac"))
    let path = try folder.write(Array(bytes.prefix(bytes.count / 3)), as: "cut.flac")
    let output = AssetReaderTrackOutput(settings: Self.s16)
    let reader = try Self.reader(Asset(path: path), output)
    let found = Self.rest(output).bytes
    #expect(reader.status == .failed && reader.error?.code == .damagedFile)
    #expect(found.count > 4 * 100_000 && found.count < 4 * 200_000)
    #expect(found == Array(try Self.all(folder.file("whole.flac"), Self.s16).prefix(found.count)))
  }

  @Test func undecodablePacketIsSilentAndReportedAsAFault() throws {
    let folder = try TemporaryFolder()
    try Tool.ffmpeg("-i", try Self.wave(folder, frameCount: 200_000), folder.file("whole.flac"))
    var bytes = try readFile(folder.file("whole.flac"))
    for offset in 0..<40 { bytes[bytes.count / 2 + offset] ^= 0x5a }
    let output = AssetReaderTrackOutput(settings: Self.s16)
    let reader = try Self.reader(Asset(path: try folder.write(bytes, as: "hit.flac")), output)
    #expect(Self.rest(output).bytes.count == 4 * 200_000)
    #expect(reader.status == .completed && output.fault != nil)
  }

  @Test func truncatedMatroskaFileWithArtworkReportsDamage() throws {
    let folder = try TemporaryFolder()
    let noise = folder.file("noise.wav")
    try Tool.ffmpeg("-f", "lavfi", "-i", "anoisesrc=r=48000:d=6", noise)
    try Tool.ffmpeg("-f", "lavfi", "-i", "color=red:s=64x64", "-frames:v", "1", folder.file("cover.png"))
    try Tool.ffmpeg(
      "-i", noise, "-c:a", "flac", "-attach", folder.file("cover.png"), "-metadata:s:t", "mimetype=image/png",
      folder.file("whole.mka"))
    let bytes = try readFile(folder.file("whole.mka"))
    let path = try folder.write(Array(bytes.prefix(bytes.count / 2)), as: "cut.mka")
    let output = AssetReaderTrackOutput(settings: Self.s16)
    let reader = try Self.reader(Asset(path: path), output)
    #expect(!Self.rest(output).bytes.isEmpty)
    #expect(reader.status == .failed && reader.error?.code == .damagedFile)
  }

  @Test func resampledOutputDeliversItsLastSampleBeforeItFails() throws {
    let folder = try TemporaryFolder()
    try Tool.ffmpeg("-i", try Self.wave(folder, frameCount: 441_000), folder.file("whole.flac"))
    let bytes = try readFile(folder.file("whole.flac"))
    let path = try folder.write(Array(bytes.prefix(bytes.count / 3)), as: "cut.flac")
    func frameCount(_ settings: AudioReadSettings) throws -> Int {
      let output = AssetReaderTrackOutput(settings: settings)
      let reader = try Self.reader(Asset(path: path), output)
      let count = Self.rest(output).bytes.count / 4
      #expect(reader.status == .failed && reader.error?.code == .damagedFile)
      return count
    }
    let (plain, half) = try (frameCount(Self.s16), frameCount(AudioReadSettings(.signed16, sampleRateHz: 24_000)))
    #expect(abs(plain - 2 * half) <= 2, "\(plain), and \(half) at half the rate")
  }

  // MARK: - Cancellation

  @Test func cancellationDuringOpeningEndsStartReading() throws {
    let bytes = HangingBytes()
    let reader = AssetReader(asset: bytes.asset())
    let output = AssetReaderTrackOutput()
    try reader.add(output)
    let canceller = Thread {
      bytes.waitUntilRead(1)
      reader.cancelReading()
    }
    canceller.start()
    expectError(.cancelled) { try reader.startReading() }
    #expect(reader.status == .cancelled && output.copyNextSampleBuffer() == nil)
    bytes.release()
  }

  @Test func releasingAReaderEndsAWaitingCopy() throws {
    let bytes = StallingBytes(IndexedAudio.wav(.signed16, sampleRateHz: 48_000, frameCount: 400_000), stallsAt: 800_000)
    let output = AssetReaderTrackOutput(settings: Self.s16)
    let copied = ConditionMutex((byteCount: 0, isFinished: false))
    var reader: AssetReader? = try Self.reader(bytes.asset, output)
    let consumer = Thread {
      while let buffer = output.copyNextSampleBuffer() { copied.update { $0.byteCount += buffer.data.count } }
      copied.update { $0.isFinished = true }
    }
    consumer.start()
    bytes.waitUntilStalled()
    #expect(reader?.status == .reading)
    reader = nil
    let deadline = HostTime.now.advanced(byNanoseconds: 60_000_000_000)
    let isFinished: Bool? = copied.wait(until: deadline) { $0.isFinished ? true : nil }
    #expect(isFinished == true)
    bytes.waitUntilCancelled()
  }

  @Test func cancellationEndsABlockedRead() throws {
    let bytes = StallingBytes(IndexedAudio.wav(.signed16, sampleRateHz: 48_000, frameCount: 400_000), stallsAt: 800_000)
    let output = AssetReaderTrackOutput(settings: Self.s16)
    let reader = try Self.reader(bytes.asset, output)
    let canceller = Thread {
      // Only cancellation ends the read for which the next buffers wait.
      bytes.waitUntilStalled()
      reader.cancelReading()
    }
    canceller.start()
    let found = Self.rest(output).bytes
    #expect(found.count < 800_000 && reader.status == .cancelled && reader.error == nil)
    #expect(output.copyNextSampleBuffer() == nil)
    bytes.waitUntilCancelled()
  }

  @Test func releasingAReaderEndsItsReads() throws {
    let bytes = StallingBytes(IndexedAudio.wav(.signed16, sampleRateHz: 48_000, frameCount: 400_000), stallsAt: 800_000)
    let output = AssetReaderTrackOutput(settings: Self.s16)
    do {
      let reader = try Self.reader(bytes.asset, output)
      #expect(output.copyNextSampleBuffer() != nil)
      bytes.waitUntilStalled()
      #expect(reader.status == .reading)
    }
    bytes.waitUntilCancelled()
    #expect(output.copyNextSampleBuffer() == nil)
  }

  @Test func readerCancelledBeforeItStartsCannotStart() throws {
    let folder = try TemporaryFolder()
    let reader = AssetReader(asset: Asset(path: try Self.wave(folder, frameCount: 100)))
    let output = AssetReaderTrackOutput()
    try reader.add(output)
    reader.cancelReading()
    expectError(.invalidState) { try reader.startReading() }
    #expect(reader.status == .cancelled && output.copyNextSampleBuffer() == nil)
  }
}

/// A file in memory as a stream that cannot seek.
final class ForwardBytes: Sendable {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var asset: Asset { Asset(location: .source(name: "forward.wav") { [self] () throws(MediaError) in Source(bytes) }) }

  private final class Source: ByteSource {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var byteCount: Int64? { Int64(bytes.count) }
    var isSeekable: Bool { false }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
      let count = min(buffer.count, bytes.count - Int(offset))
      buffer.copyBytes(from: bytes[Int(offset)..<(Int(offset) + count)])
      return count
    }

    func cancel() {}
    func resume() {}
  }
}

/// A file in memory whose bytes after an offset do not arrive.
final class StallingBytes: Sendable {
  private struct State {
    var isStalled = false
    var cancelledReadCount = 0
  }

  private let bytes: [UInt8]
  private let limit: Int64
  private let state = ConditionMutex(State())

  init(_ bytes: [UInt8], stallsAt limit: Int64) { (self.bytes, self.limit) = (bytes, limit) }

  var asset: Asset {
    Asset(location: .source(name: "stalling.wav") { [self] () throws(MediaError) in Source(self) })
  }

  func waitUntilStalled() { wait("for a read that stalls") { $0.isStalled } }
  func waitUntilCancelled() { wait("for a read that is cancelled") { $0.cancelledReadCount > 0 } }

  private func wait(_ event: Comment, _ condition: (State) -> Bool) {
    let deadline = HostTime.now.advanced(byNanoseconds: 60_000_000_000)
    let isMet: Bool? = state.wait(until: deadline) { condition($0) ? true : nil }
    #expect(isMet == true, event)
  }

  private final class Source: ByteSource {
    private let owner: StallingBytes
    private let isCancelled = ConditionMutex(false)

    init(_ owner: StallingBytes) { self.owner = owner }

    var byteCount: Int64? { Int64(owner.bytes.count) }
    var isSeekable: Bool { true }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
      guard offset < owner.limit else {
        owner.state.update { $0.isStalled = true }
        _ = isCancelled.wait { $0 ? true : nil } as Bool?
        owner.state.update { $0.cancelledReadCount += 1 }
        throw MediaError(.cancelled, "cancelled")
      }
      let count = min(buffer.count, Int(owner.limit - offset), owner.bytes.count - Int(offset))
      buffer.copyBytes(from: owner.bytes[Int(offset)..<(Int(offset) + count)])
      return count
    }

    func cancel() { isCancelled.update { $0 = true } }
    func resume() { isCancelled.update { $0 = false } }
  }
}
