import PlayheadMediaAssets
import PlayheadMediaCore
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel
@testable import PlayheadRealtimeAudio

/// The last frames of streams that another stream follows.
@Suite struct UnfinishedStreamsTests {
  private static let format = AudioFormat(sampleRateHz: 48_000, channelCount: 1)

  /// A converter that retains its input. It fails when it is drained, or returns frames of 0.5.
  private final class RetainingConverter: SampleConverter {
    let input = UnfinishedStreamsTests.format
    private let fails: Bool

    init(fails: Bool) { self.fails = fails }

    func convert(
      _ samples: UnsafePointer<Float>, frameCount: Int, into output: UnsafeMutablePointer<Float>, capacityFrames: Int
    ) throws(MediaError) -> Int { 0 }

    func drain(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> Int {
      guard !fails else { throw MediaError(.conversionFailed, "no memory") }
      output.update(repeating: 0.5, count: capacityFrames)
      return capacityFrames
    }
  }

  /// A stream of `capacity` frames, of which `silenceFrames` are written, and 1,000 more are in a converter.
  private func writer(capacity: Int = 8_192, silenceFrames: Int = 0, fails: Bool = false) throws -> (
    RenderStream, StreamWriter
  ) {
    let stream = RenderStream(capacityFrames: capacity, channelCount: 1)
    let writer = StreamWriter(stream: stream, format: Self.format)
    writer.startSilence(itemID: 7, at: .zero)
    while writer.passedFrame < silenceFrames { writer.writeSilence() }
    writer.converter = RetainingConverter(fails: fails)
    writer.advance(by: 1_000)
    return (stream, writer)
  }

  private func finished(_ streams: inout UnfinishedStreams) -> [UInt64] {
    var ids: [UInt64] = []
    streams.write { ids.append($0.streamID) }
    return ids
  }

  @Test func missingFramesAreWrittenAtOnceIfTheRingHasSpace() throws {
    let (stream, writer) = try writer()
    var streams = UnfinishedStreams()
    streams.add(writer, ofGeneration: 1, upTo: 1_000)
    #expect(finished(&streams) == [stream.id])
    #expect(stream.writtenFrame == 1_000 && writer.popDrainError() == nil)
    #expect(finished(&streams) == [])
  }

  @Test func missingFramesOfAFullRingAreWrittenWhenItHasSpace() throws {
    let (stream, writer) = try writer(capacity: 4_096, silenceFrames: 4_096)
    var streams = UnfinishedStreams()
    streams.add(writer, ofGeneration: 1, upTo: 5_096)
    #expect(finished(&streams) == [])
    let isSpaceRequested = stream.storage.pointee.isSpaceRequested.load(ordering: .relaxed)
    #expect(isSpaceRequested)
    stream.storage.pointee.ring.release(before: 600)
    #expect(finished(&streams) == [])
    #expect(stream.writtenFrame == 4_696)
    stream.storage.pointee.ring.release(before: 2_000)
    #expect(finished(&streams) == [stream.id])
    #expect(stream.writtenFrame == 5_096)
  }

  @Test func silenceReplacesTheFramesOfAConverterThatFails() throws {
    let (stream, writer) = try writer(fails: true)
    var streams = UnfinishedStreams()
    streams.add(writer, ofGeneration: 1, upTo: 1_000)
    #expect(finished(&streams) == [stream.id])
    let samples = stream.storage.pointee.ring.readableRegion(from: 0, atMost: 1_000)
    #expect(samples.count == 1_000 && (0..<1_000).allSatisfy { samples.samples[$0] == 0 })
    #expect(writer.popDrainError()?.code == .conversionFailed && writer.itemID == 7)
    #expect(writer.popDrainError() == nil, "the error is reported once")
  }

  @Test func streamsOfDiscardedGenerationsAreRemoved() throws {
    var streams = UnfinishedStreams()
    var kept: RenderStream?
    for generation in [1, 2, 3] as [UInt64] {
      let (stream, writer) = try writer(capacity: 4_096, silenceFrames: 4_096)
      streams.add(writer, ofGeneration: generation, upTo: 5_096)
      if generation == 1 { kept = stream }
      stream.storage.pointee.ring.release(before: 4_096)
    }
    streams.removeAll(after: 1)
    #expect(finished(&streams) == [kept?.id])
  }

  @Test func completeStreamIsNotAdded() throws {
    let (_, writer) = try writer()
    var streams = UnfinishedStreams()
    streams.add(writer, ofGeneration: 1, upTo: 0)
    #expect(finished(&streams) == [] && writer.passedFrame == 0)
  }
}
