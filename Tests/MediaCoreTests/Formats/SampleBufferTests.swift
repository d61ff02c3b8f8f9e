import PlayheadMediaCore
import RigSupport
import Testing

@Suite("Sample buffers")
struct SampleBufferTests {
  private static let stereo = FormatDescription.pcm(.signed16, sampleRateHz: 48_000, channelCount: 2)
  private static let coded = FormatDescription(
    mediaType: .audio, codecName: "aac",
    audio: .init(sampleRateHz: 44_100, channelCount: 2, framesPerPacket: 1_024, initialPaddingFrames: 1_024))

  @Test("a PCM buffer has a frame count and a duration")
  func pcmBufferHasFrameCountAndDuration() throws {
    let start = MediaTime(value: 10, timescale: 48_000)
    let buffer = try SampleBuffer(pcm: [UInt8](repeating: 0, count: 400), format: Self.stereo, presentationTime: start)
    #expect(buffer.sampleCount == 100)
    #expect(buffer.frameCount == 100)
    #expect(buffer.duration == MediaTime(value: 100, timescale: 48_000))
    #expect(buffer.endTime == MediaTime(value: 110, timescale: 48_000))
    #expect(buffer.sampleRanges[99] == 396..<400)
    #expect(Self.stereo.audio?.bytesPerPacket == 4)
  }

  @Test("packets have individual sizes, and trims shorten the output")
  func packetSizesAreKeptAndTrimsShortenTheOutput() throws {
    let attachments = SampleBuffer.Attachments(
      trimAtStart: MediaTime(value: 1_024, timescale: 44_100), trimAtEnd: MediaTime(value: 24, timescale: 44_100))
    let buffer = try SampleBuffer(
      format: Self.coded, data: [1, 2, 3, 4, 5], sampleCount: 2, sampleByteCounts: [2, 3], presentationTime: .zero,
      duration: MediaTime(value: 2_048, timescale: 44_100), attachments: attachments)
    #expect(buffer.sampleRanges == [0..<2, 2..<5])
    #expect(buffer.frameCount == 2_048)
    #expect(buffer.outputPresentationTime == MediaTime(value: 1_024, timescale: 44_100))
    #expect(buffer.outputDuration == MediaTime(value: 1_000, timescale: 44_100))
  }

  @Test("an empty buffer is valid")
  func emptyBufferIsValid() throws {
    let buffer = try SampleBuffer(pcm: [], format: Self.stereo, presentationTime: .zero)
    #expect(buffer.sampleRanges.isEmpty)
    #expect(buffer.duration == .zero)
  }

  @Test("the duration gives the frame count if packets do not")
  func durationGivesTheFrameCountIfPacketsDoNot() throws {
    var format = Self.coded
    format.audio?.framesPerPacket = nil
    let known = try SampleBuffer(
      format: format, data: [1], presentationTime: .zero, duration: MediaTime(value: 1, timescale: 10))
    #expect(known.frameCount == 4_410)
    #expect(try SampleBuffer(format: format, data: [1], presentationTime: .zero).frameCount == nil)
    #expect(try SampleBuffer(format: format, data: [1], presentationTime: .zero).outputDuration == .invalid)
  }

  @Test("sizes that differ from the data are rejected", arguments: [[2], [2, 4], [6, -1], [.max, .max]])
  func sizesThatDifferFromTheDataAreRejected(_ sizes: [Int]) {
    expectError(.invalidArgument) {
      try SampleBuffer(
        format: Self.coded, data: [1, 2, 3, 4, 5], sampleCount: 2, sampleByteCounts: sizes, presentationTime: .zero)
    }
  }

  @Test("partial frames and invalid formats are rejected")
  func partialFramesAndInvalidFormatsAreRejected() {
    func code(_ format: FormatDescription, _ byteCount: Int) -> MediaError.Code? {
      do throws(MediaError) {
        _ = try SampleBuffer(
          pcm: [UInt8](repeating: 0, count: byteCount), format: format, presentationTime: .zero)
        return nil
      } catch { return error.code }
    }
    #expect(code(Self.stereo, 6) == .invalidArgument)
    #expect(code(Self.coded, 8) == .invalidArgument)
    #expect(code(.pcm(.signed16, sampleRateHz: 0, channelCount: 2), 8) == .invalidArgument)
    #expect(code(.pcm(.signed16, sampleRateHz: 48_000, channelCount: .max), 8) == .invalidArgument)
    #expect(
      code(.pcm(PCMEncoding(.float, bitsPerSample: 16), sampleRateHz: 48_000, channelCount: 2), 8) == .invalidArgument)
  }

  @Test("times that are not numeric are rejected", arguments: [MediaTime.invalid, .indefinite, .positiveInfinity])
  func nonNumericTimesAreRejected(_ time: MediaTime) {
    expectError(.invalidTime) { try SampleBuffer(pcm: [], format: Self.stereo, presentationTime: time) }
    expectError(.invalidTime) {
      try SampleBuffer(
        pcm: [], format: Self.stereo, presentationTime: .zero, attachments: .init(trimAtEnd: time))
    }
  }

  @Test(
    "FFmpeg's names of PCM codecs round-trip",
    arguments: ["pcm_s16le", "pcm_s16be", "pcm_u8", "pcm_s24le", "pcm_f32be", "pcm_f64le", "pcm_s8"])
  func pcmCodecNamesRoundTrip(_ name: String) throws {
    #expect(try #require(PCMEncoding(codecName: name)).codecName == name)
  }

  @Test("names of other codecs have no PCM encoding", arguments: ["aac", "pcm_alaw", "pcm_s16", ""])
  func otherCodecNamesHaveNoPCMEncoding(_ name: String) { #expect(PCMEncoding(codecName: name) == nil) }
}
