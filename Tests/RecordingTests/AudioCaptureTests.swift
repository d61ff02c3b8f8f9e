import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadRecording

/// Captured audio as sample buffers.
@Suite struct AudioCaptureTests {
  private static let format = AudioFormat(sampleRateHz: 48_000, channelCount: 2)

  /// Waits until the capture has started its source.
  private func waitUntilRunning(_ source: ManualSource) async { while !source.isRunning { await Task.yield() } }

  private func samples(_ buffer: AudioCapture.Buffer) -> [Float] {
    buffer.samples.data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
  }

  @Test func buffersHaveTheSamplesAndTheirTimes() async throws {
    let source = ManualSource(format: Self.format)
    let iterator = AudioCapture(source: { source }).makeAsyncIterator()
    await waitUntilRunning(source)
    source.deliver([0.5, -0.5, 0.25, -0.25], hostTime: HostTime(nanoseconds: 1_000))
    source.deliver([1, 0], hostTime: HostTime(nanoseconds: 43_000))
    let first = try #require(try await iterator.next(isolation: nil))
    #expect(samples(first) == [0.5, -0.5, 0.25, -0.25])
    #expect(first.hostTime == HostTime(nanoseconds: 1_000))
    #expect(first.samples.presentationTime == .zero)
    #expect(first.samples.duration == MediaTime(value: 2, timescale: 48_000))
    #expect(first.samples.format == .pcm(.float32, sampleRateHz: 48_000, channelCount: 2))
    let second = try #require(try await iterator.next(isolation: nil))
    #expect(samples(second) == [1, 0])
    #expect(second.samples.presentationTime == MediaTime(value: 2, timescale: 48_000))
    #expect(second.hostTime == HostTime(nanoseconds: 43_000))
  }

  @Test func lostFramesAreCountedInTimesAndMarked() async throws {
    let source = ManualSource(format: Self.format)
    let iterator = AudioCapture(source: { source }).makeAsyncIterator()
    await waitUntilRunning(source)
    source.deliver([0, 0])
    source.recordLoss(frameCount: 99)
    source.deliver([0, 0])
    #expect(try await iterator.next(isolation: nil)?.lostFrameCount == 0)
    let second = try #require(try await iterator.next(isolation: nil))
    #expect(second.lostFrameCount == 99 && second.samples.attachments.isDiscontinuity)
    #expect(second.samples.presentationTime == MediaTime(value: 100, timescale: 48_000))
  }

  @Test func consumerThatFallsBehindLosesAudioAndLearnsHowMuch() async throws {
    let source = ManualSource(format: Self.format)
    let iterator = AudioCapture(maximumDelay: .milliseconds(10), source: { source }).makeAsyncIterator()
    await waitUntilRunning(source)
    let block = [Float](repeating: 0.5, count: 2 * 480)
    for _ in 0..<100 { source.deliver(block) }
    var frames: Int64 = 0
    repeat {
      let buffer = try #require(try await iterator.next(isolation: nil))
      #expect(buffer.samples.presentationTime == MediaTime(value: frames + buffer.lostFrameCount, timescale: 48_000))
      frames += buffer.lostFrameCount + Int64(buffer.samples.sampleCount)
      // The frames lost at the end precede the next delivery.
      if frames < 48_480 { source.deliver(block) }
    } while frames < 48_480
  }

  /// PulseAudio delivers 50 ms at once.
  @Test func chunkThatIsLongerThanTheDelayIsNotLost() async throws {
    let source = ManualSource(format: Self.format)
    let iterator = AudioCapture(maximumDelay: .milliseconds(10), source: { source }).makeAsyncIterator()
    await waitUntilRunning(source)
    for _ in 0..<20 {
      source.deliver([Float](repeating: 0.5, count: 2 * 2_400))
      let buffer = try #require(try await iterator.next(isolation: nil))
      #expect(buffer.lostFrameCount == 0 && buffer.samples.sampleCount == 2_400)
    }
  }

  @Test func captureEndsWithTheErrorOfItsSourceAfterAllAudio() async throws {
    let source = ManualSource(format: Self.format)
    let iterator = AudioCapture(source: { source }).makeAsyncIterator()
    await waitUntilRunning(source)
    source.deliver([0, 0])
    source.fail(MediaError(.sourceUnavailable, "unplugged"))
    #expect(try await iterator.next(isolation: nil) != nil)
    await expectError(.sourceUnavailable) { _ = try await iterator.next(isolation: nil) }
    #expect(try await iterator.next(isolation: nil) == nil)
    while !source.isClosed { await Task.yield() }
  }

  @Test func sourceThatCannotOpenIsReported() async throws {
    let error = MediaError(.sourceConfiguration, "no such source")
    let source = ManualSource(format: Self.format, openingError: error)
    let iterator = AudioCapture(source: { source }).makeAsyncIterator()
    await expectError(.sourceConfiguration) { _ = try await iterator.next(isolation: nil) }
  }

  @Test(arguments: [MediaTime.zero, .milliseconds(9), .seconds(61), .indefinite, .positiveInfinity, .invalid])
  func delaysOutOfRangeAreRefused(delay: MediaTime) async throws {
    let source = ManualSource(format: Self.format)
    let iterator = AudioCapture(maximumDelay: delay, source: { source }).makeAsyncIterator()
    await expectError(.invalidTime) { _ = try await iterator.next(isolation: nil) }
  }

  @Test func cancellationAndReleaseCloseTheSource() async throws {
    let sources = [ManualSource(format: Self.format), ManualSource(format: Self.format)]
    let task = Task {
      var count = 0
      for try await _ in AudioCapture(source: { sources[0] }) { count += 1 }
      return count
    }
    await waitUntilRunning(sources[0])
    task.cancel()
    #expect(try await task.value == 0)
    do {
      let iterator = AudioCapture(source: { sources[1] }).makeAsyncIterator()
      await waitUntilRunning(sources[1])
      withExtendedLifetime(iterator) {}
    }
    for source in sources { while !source.isClosed { await Task.yield() } }
  }
}
