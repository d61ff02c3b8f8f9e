import Foundation
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadMediaAssets

extension AudioOutputSettings {
  /// Settings in one expression.
  fileprivate static func of(
    _ codec: Codec, rate: Int? = nil, channels: Int? = nil, bits: Int? = nil, bitRate: Int? = nil
  ) -> AudioOutputSettings {
    var settings = AudioOutputSettings(codec)
    (settings.sampleRateHz, settings.channelCount) = (rate, channels)
    (settings.bitsPerSample, settings.bitRate) = (bits, bitRate)
    return settings
  }
}

/// Writing audio files.
@Suite struct AssetWriterTests {
  private static let source: FormatDescription = .pcm(.signed16, sampleRateHz: 48_000, channelCount: 2)

  /// Frames that encode their index, from the start of `range` on.
  private static func samples(_ range: Range<Int>) -> [UInt8] {
    range.flatMap { index -> [UInt8] in
      let value = UInt16(truncatingIfNeeded: index &* 7)
      return [UInt8(truncatingIfNeeded: value), UInt8(value >> 8), UInt8(truncatingIfNeeded: index), 1]
    }
  }

  private static func buffer(_ range: Range<Int>, at frame: Int? = nil) throws -> SampleBuffer {
    try SampleBuffer(
      pcm: samples(range), format: source,
      presentationTime: MediaTime(value: Int64(frame ?? range.lowerBound), timescale: 48_000))
  }

  private static func input(_ codec: AudioOutputSettings.Codec = .flac, language: String? = nil) -> AssetWriterInput {
    AssetWriterInput(
      settings: AudioOutputSettings(codec), sourceFormat: source, languageCode: language)
  }

  /// A started writer, whose session starts at 0.
  private static func writer(
    _ path: String, _ container: WritableContainer, _ inputs: [AssetWriterInput],
    options: AssetWriter.Options = AssetWriter.Options(), start: MediaTime = .zero
  ) throws -> AssetWriter {
    let writer = AssetWriter(path: path, container: container, options: options)
    for input in inputs { try writer.add(input) }
    try writer.startWriting()
    try writer.startSession(atSourceTime: start)
    return writer
  }

  /// The audio of a file, as 16-bit samples.
  private static func decoded(_ path: String, stream: Int = 0) throws -> [UInt8] {
    try Tool.ffmpeg("-i", path, "-map", "0:a:\(stream)", "-f", "s16le", path + ".pcm")
    return try readFile(path + ".pcm")
  }

  private static func fileNames(in folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  // MARK: - Written audio

  @Test(
    "lossless files have every sample",
    arguments: [
      (WritableContainer.wav, AudioOutputSettings.Codec.pcm(.signed16)), (.caf, .alac), (.flac, .flac), (.m4a, .alac),
      (.mov, .pcm(.signed24)), (.matroska, .flac), (.ogg, .flac), (.mp4, .alac), (.matroska, .pcm(.float32)),
    ])
  func losslessFilesHaveEverySample(_ container: WritableContainer, _ codec: AudioOutputSettings.Codec) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("audio")
    let input = Self.input(codec)
    let writer = try Self.writer(path, container, [input])
    for start in stride(from: 0, to: 50_000, by: 1_000) {
      try input.append(waiting: Self.buffer(start..<start + 1_000))
    }
    #expect(try Self.fileNames(in: folder).allSatisfy { $0 != "audio" }, "the file gets its name when it is complete")
    try writer.finishWriting()
    #expect(writer.status == .completed)
    #expect(try Self.decoded(path) == Self.samples(0..<50_000))
    #expect(try Self.fileNames(in: folder) == ["audio", "audio.pcm"])
  }

  @Test("a late first sample has silence before it, an early one is cut off, and gaps are silence")
  func gapsAreSilenceAndSamplesBeforeTheSessionAreCut() throws {
    let folder = try TemporaryFolder()
    let (late, early) = (Self.input(), Self.input())
    let path = folder.file("audio.mka")
    let start = MediaTime(value: 5, timescale: 1)
    let writer = try Self.writer(path, .matroska, [late, early], start: start)
    let second = 48_000
    try late.append(Self.buffer(0..<1_000, at: 6 * second))
    try late.append(Self.buffer(2_000..<3_000, at: 6 * second + 2_000))
    try early.append(Self.buffer(0..<second, at: 4 * second))
    try early.append(Self.buffer(second..<second + 3_000, at: 5 * second))
    try writer.finishWriting()
    let silence = [UInt8](repeating: 0, count: 4 * second)
    #expect(
      try Self.decoded(path, stream: 0)
        == silence + Self.samples(0..<1_000) + silence.prefix(4_000) + Self.samples(2_000..<3_000))
    #expect(try Self.decoded(path, stream: 1) == Self.samples(second..<second + 3_000))
  }

  @Test("the end of a session is filled with silence, and samples that attachments trim are not written")
  func endOfSessionIsFilledWithSilenceAndTrimsAreNotWritten() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("audio.flac")
    let input = Self.input()
    let writer = try Self.writer(path, .flac, [input])
    let trims = SampleBuffer.Attachments(
      trimAtStart: MediaTime(value: 100, timescale: 48_000), trimAtEnd: MediaTime(value: 50, timescale: 48_000))
    // Audible audio starts with the session.
    try input.append(
      SampleBuffer(
        pcm: Self.samples(0..<1_000), format: Self.source, presentationTime: MediaTime(value: -100, timescale: 48_000),
        attachments: trims))
    expectError(.invalidTime) { try writer.endSession(atSourceTime: .zero) }
    try writer.endSession(atSourceTime: MediaTime(value: 2_000, timescale: 48_000))
    let more = try Self.buffer(1_000..<2_000, at: 2_000)
    expectError(.invalidState) { try input.append(more) }
    try writer.finishWriting()
    let silence = [UInt8](repeating: 0, count: 4 * 1_150)
    #expect(try Self.decoded(path) == Self.samples(100..<950) + silence)
  }

  @Test("an idle input does not block another input", .timeLimit(.minutes(2)))
  func idleInputDoesNotBlockAnotherInput() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("audio.mka")
    let (busy, idle) = (Self.input(), Self.input())
    let writer = try Self.writer(path, .matroska, [busy, idle])
    // More than the writer and FFmpeg buffer for interleaving: ten seconds.
    for index in 0..<12 { try busy.append(waiting: Self.buffer(index * 48_000..<(index + 1) * 48_000)) }
    busy.markAsFinished()
    try idle.append(waiting: Self.buffer(0..<500))
    try writer.finishWriting()
    #expect(try Self.decoded(path).count == 12 * 48_000 * 4)
    #expect(try Self.decoded(path, stream: 1) == Self.samples(0..<500))
  }

  @Test("an input requests samples until it is finished", .timeLimit(.minutes(2)))
  func inputRequestsSamplesUntilItIsFinished() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("audio.wav")
    let input = Self.input(.pcm(.signed16))
    let writer = try Self.writer(path, .wav, [input])
    let next = Mutex(0)
    let isFinished = DispatchSemaphore(value: 0)
    try input.requestMediaDataWhenReady { input in
      while input.isReadyForMoreMediaData {
        let start = next.withLock { next in
          defer { next += 10_000 }
          return next
        }
        guard start < 400_000, let buffer = try? Self.buffer(start..<start + 10_000) else {
          input.markAsFinished()
          isFinished.signal()
          return
        }
        try? input.append(buffer)
      }
    }
    isFinished.wait()
    try writer.finishWriting()
    #expect(try Self.decoded(path) == Self.samples(0..<400_000))
    #expect(!input.isReadyForMoreMediaData)
  }

  @Test("tags, languages, rates and channels are written as requested")
  func tagsLanguageRateAndChannelsAreWrittenAsRequested() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("audio.m4a")
    var settings = AudioOutputSettings(.aac)
    settings.sampleRateHz = 32_000
    settings.channelCount = 1
    settings.bitRate = 64_000
    let input = AssetWriterInput(settings: settings, sourceFormat: Self.source, languageCode: "deu")
    var options = AssetWriter.Options()
    options.metadata = ["title": "Ein Lied"]
    options.shouldOptimizeForNetworkUse = true
    let writer = try Self.writer(path, .m4a, [input], options: options)
    try input.append(Self.buffer(0..<48_000))
    try writer.finishWriting()
    let track = try #require(try Asset(path: path).load().audioTrack)
    #expect(track.audioFormat == AudioFormat(sampleRateHz: 32_000, channelCount: 1))
    #expect(track.languageCode == "deu")
    let text = String(decoding: try readFile(path), as: Unicode.ASCII.self)
    let index = try #require(text.range(of: "moov"))
    let media = try #require(text.range(of: "mdat"))
    #expect(index.lowerBound < media.lowerBound)
    #expect(text.contains("Ein Lied"))
  }

  @Test("24-bit, big-endian and planar samples are converted to native samples")
  func samplesOfOtherLayoutsAreConvertedToNativeSamples() {
    let big = PCMEncoding(.signedInteger, bitsPerSample: 16, isBigEndian: true)
    #expect(NativeSamples.bytes([1, 2, 3, 4], big, channelCount: 2) == [2, 1, 4, 3])
    #expect(NativeSamples.bytes([1, 2, 3, 4, 5, 6], .signed24, channelCount: 2) == [0, 1, 2, 3, 0, 4, 5, 6])
    let planar = PCMEncoding(.signedInteger, bitsPerSample: 16, isInterleaved: false)
    #expect(NativeSamples.bytes([1, 2, 3, 4, 5, 6, 7, 8], planar, channelCount: 2) == [1, 2, 5, 6, 3, 4, 7, 8])
  }

  // MARK: - Errors

  @Test(
    "settings that do not fit the container or the codec are rejected",
    arguments: [
      (WritableContainer.caf, AudioOutputSettings(.aac)), (.mp3, AudioOutputSettings(.flac)),
      (.webm, AudioOutputSettings(.aac)),
      (.wav, AudioOutputSettings(.pcm(PCMEncoding(.signedInteger, bitsPerSample: 8)))),
      (.ogg, AudioOutputSettings.of(.opus, rate: 44_100)), (.mp3, AudioOutputSettings.of(.mp3, channels: 6)),
      (.flac, AudioOutputSettings.of(.flac, bits: 12)), (.m4a, AudioOutputSettings.of(.aac, bits: 16)),
      (.m4a, AudioOutputSettings.of(.aac, bitRate: -5)), (.m4a, AudioOutputSettings.of(.aac, channels: 0)),
    ])
  func settingsThatDoNotFitTheContainerOrCodecAreRejected(
    _ container: WritableContainer, _ settings: AudioOutputSettings
  ) throws {
    let folder = try TemporaryFolder()
    let writer = AssetWriter(path: folder.file("audio"), container: container)
    let input = AssetWriterInput(settings: settings, sourceFormat: Self.source)
    expectError(.invalidArgument) { try writer.add(input) }
    #expect(try Self.fileNames(in: folder) == [])
  }

  @Test("calls out of order are rejected")
  func callsOutOfOrderAreRejected() throws {
    let folder = try TemporaryFolder()
    let path = Array(folder.file("audio.flac").utf8)
    let buffer = try Self.buffer(0..<1_000)
    let (writer, input) = (AssetWriter(path: path, container: .flac), Self.input())
    expectError(.invalidState, "without an input") { try writer.startWriting() }
    expectError(.invalidState, "without a writer") { try input.append(buffer) }
    try writer.add(input)
    expectError(.invalidArgument, "a second track") { try writer.add(Self.input()) }
    expectError(.invalidState, "not started") { try writer.finishWriting() }
    try writer.startWriting()
    expectError(.invalidState, "twice") { try writer.startWriting() }
    expectError(.invalidState, "before the session") { try input.append(buffer) }
    #expect(!input.isReadyForMoreMediaData)
    try writer.startSession(atSourceTime: .zero)
    expectError(.invalidState) { try writer.startSession(atSourceTime: .zero) }
    try input.append(buffer)
    expectError(.invalidTime, "the same time again") { try input.append(buffer) }
    let foreign = try SampleBuffer(
      pcm: [0, 0], format: .pcm(.signed16, sampleRateHz: 48_000, channelCount: 1),
      presentationTime: MediaTime(value: 1, timescale: 1))
    expectError(.invalidArgument, "another format") { try input.append(foreign) }
    try input.append(Self.buffer(1_000..<2_000))
    input.markAsFinished()
    let more = try Self.buffer(2_000..<3_000)
    expectError(.invalidState) { try input.append(more) }
    try writer.finishWriting()
    expectError(.invalidState, "twice") { try writer.finishWriting() }
    #expect(try Self.decoded(folder.file("audio.flac")) == Self.samples(0..<2_000))
  }

  @Test("an existing file is kept unless it is to be replaced")
  func existingFileIsKeptUnlessItIsReplaced() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write([1, 2, 3], as: "audio.wav")
    let writer = AssetWriter(path: path, container: .wav)
    try writer.add(Self.input(.pcm(.signed16)))
    expectError(.fileExists) { try writer.startWriting() }
    #expect(writer.status == .failed && writer.error?.code == .fileExists)
    #expect(try readFile(path) == [1, 2, 3])
    var options = AssetWriter.Options()
    options.replacesFile = true
    let input = Self.input(.pcm(.signed16))
    let second = try Self.writer(path, .wav, [input], options: options)
    try input.append(Self.buffer(0..<10))
    #expect(try readFile(path) == [1, 2, 3])
    try second.finishWriting()
    #expect(try Self.decoded(path) == Self.samples(0..<10))
  }

  @Test("a missing folder is an error")
  func missingFolderReportsWriteFailed() throws {
    let folder = try TemporaryFolder()
    let writer = AssetWriter(path: folder.file("no/audio.wav"), container: .wav)
    try writer.add(Self.input(.pcm(.signed16)))
    expectError(.writeFailed) { try writer.startWriting() }
  }

  @Test("times of whole seconds are exact: gaps are silence, and a repeated time is rejected")
  func timesOfWholeSecondsAreExact() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("audio.flac")
    let input = Self.input()
    let writer = try Self.writer(path, .flac, [input])
    func buffer(_ range: Range<Int>, atSecond second: Int64) throws -> SampleBuffer {
      try SampleBuffer(
        pcm: Self.samples(range), format: Self.source, presentationTime: MediaTime(value: second, timescale: 1))
    }
    let half = 24_000
    try input.append(waiting: buffer(0..<half, atSecond: 0))
    try input.append(waiting: buffer(2 * half..<4 * half, atSecond: 1))
    let again = try buffer(2 * half..<4 * half, atSecond: 1)
    expectError(.invalidTime) { try input.append(waiting: again) }
    try writer.finishWriting()
    let silence = [UInt8](repeating: 0, count: 4 * half)
    #expect(try Self.decoded(path) == Self.samples(0..<half) + silence + Self.samples(2 * half..<4 * half))
  }

  @Test("cancellation ends the writing of a day of silence", .timeLimit(.minutes(2)))
  func cancellationEndsTheWritingOfADayOfSilence() throws {
    let folder = try TemporaryFolder()
    let input = Self.input(.pcm(.signed16))
    let writer = try Self.writer(folder.file("audio.wav"), .wav, [input])
    try input.append(waiting: Self.buffer(0..<10, at: 48_000 * 86_000))
    writer.cancelWriting()
    expectError(.cancelled) { try writer.finishWriting() }
    #expect(try Self.fileNames(in: folder) == [])
  }

  @Test("cancellation leaves no file and ends all waiting calls", .timeLimit(.minutes(2)))
  func cancellationLeavesNoFileAndEndsWaitingCalls() throws {
    let folder = try TemporaryFolder()
    let input = Self.input()
    let writer = try Self.writer(folder.file("audio.flac"), .flac, [input])
    for index in 0..<10 { try input.append(waiting: Self.buffer(index * 10_000..<(index + 1) * 10_000)) }
    writer.cancelWriting()
    expectError(.cancelled) { try writer.finishWriting() }
    #expect(writer.status == .cancelled && writer.error == nil)
    let more = try Self.buffer(200_000..<200_010)
    expectError(.cancelled) { try input.append(waiting: more) }
    #expect(try Self.fileNames(in: folder) == [])
    let idle = AssetWriter(path: folder.file("idle.flac"), container: .flac)
    idle.cancelWriting()
    #expect(idle.status == .cancelled)
  }

  @Test("a full disk is an error and leaves no file", .timeLimit(.minutes(2)))
  func fullDiskReportsWriteFailedAndLeavesNoFile() throws {
    let folder = try TemporaryFolder()
    let disk = folder.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    try #require(mount("none", disk, "tmpfs", 0, "size=64k") == 0, "a tmpfs needs root")
    defer { umount2(disk, Int32(2)) }
    let input = Self.input(.pcm(.signed16))
    let writer = try Self.writer(disk + "/audio.wav", .wav, [input])
    var failure: MediaError?
    do throws(MediaError) {
      for index in 0..<10_000 {
        guard let buffer = try? Self.buffer(index * 1_000..<(index + 1) * 1_000) else { break }
        try input.append(waiting: buffer)
      }
    } catch { failure = error }
    #expect(failure?.code == .writeFailed)
    #expect(failure?.underlying?.contains("No space left") == true)
    expectError(.writeFailed) { try writer.finishWriting() }
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk) == [])
  }
}
