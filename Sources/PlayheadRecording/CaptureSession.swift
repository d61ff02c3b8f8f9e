import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization

/// One run of a source for `AudioCapture`. Audio waits in a bounded queue until the consumer requests it.
///
/// Threading: any thread. A thread of the session opens, reads and closes the source.
final class CaptureSession: Sendable {
  typealias Result = Swift.Result<AudioCapture.Buffer?, MediaError>

  private struct State {
    /// The consumer that waits for a buffer.
    var waiter: CheckedContinuation<Result, Never>?
    var queue: CaptureQueue?
    /// The reason why no more audio will arrive, until it is reported.
    var failure: MediaError?
    var hasEnded = false
  }

  private let state = Mutex(State())

  init(maximumDelay: MediaTime, source makeSource: @escaping @Sendable () -> any AudioSource) {
    NamedThread.detached(name: "capture") { [self] in run(maximumDelay, makeSource) }
  }

  /// Requests the next buffer.
  func next(_ waiter: CheckedContinuation<Result, Never>) {
    let (queue, result) = state.withLock { state -> (CaptureQueue?, Result?) in
      if state.hasEnded {
        defer { state.failure = nil }
        return (nil, state.failure.map(Result.failure) ?? .success(nil))
      }
      precondition(state.waiter == nil, "an iterator of AudioCapture serves one task at a time")
      state.waiter = waiter
      return (state.queue, nil)
    }
    if let result { waiter.resume(returning: result) }
    queue?.wake()
  }

  /// Ends the capture.
  func stop() { end(nil) }

  private func end(_ failure: MediaError?) {
    let (queue, waiter) = state.withLock { state in
      guard !state.hasEnded else { return (CaptureQueue?.none, CheckedContinuation<Result, Never>?.none) }
      state.hasEnded = true
      if state.waiter == nil { state.failure = failure }
      defer { state.waiter = nil }
      return (state.queue, state.waiter)
    }
    waiter?.resume(returning: failure.map(Result.failure) ?? .success(nil))
    queue?.wake()
  }

  // MARK: - Thread

  private func run(_ maximumDelay: MediaTime, _ makeSource: () -> any AudioSource) {
    guard maximumDelay.isNumeric, AudioCapture.supportedDelays.contains(maximumDelay) else {
      return end(
        MediaError(.invalidTime, "delay must be between 0.01 and 60 s (got \(maximumDelay))", operation: "capture"))
    }
    let source = makeSource()
    defer { source.close() }
    do throws(MediaError) {
      let format = try source.open()
      // Sources deliver up to about 100 ms at once, which must fit beside the audio that waits.
      let frames = maximumDelay.frameIndex(rate: format.sampleRateHz, rounding: .towardPositiveInfinity) ?? 0
      let queue = CaptureQueue(format: format, capacityFrames: Int(frames) + format.sampleRateHz / 2)
      let hasEnded = state.withLock { state in
        state.queue = queue
        return state.hasEnded
      }
      guard !hasEnded else { return }
      let failure = Failure()
      source.start(into: queue) { error in
        failure.error.withLock { $0 = error }
        queue.wake()
      }
      source.setRunning(true)
      try deliver(from: queue, until: failure)
      source.setRunning(false)
    } catch {
      end(error)
    }
  }

  /// The error with which the source was lost.
  private final class Failure: Sendable {
    let error = Mutex<MediaError?>(nil)
  }

  /// Delivers the audio of the queue until the capture ends.
  ///
  /// - Throws: The error of the source, after all audio before it; `invalidArgument`.
  private func deliver(from queue: CaptureQueue, until failure: Failure) throws(MediaError) {
    let description = FormatDescription.pcm(
      .float32, sampleRateHz: queue.format.sampleRateHz, channelCount: queue.format.channelCount)
    var lostFrames: Int64 = 0
    while true {
      let (hasEnded, isWaiting) = state.withLock { ($0.hasEnded, $0.waiter != nil) }
      if hasEnded { return }
      // Read before the queue: no audio arrives after a failure.
      let error = failure.error.withLock { $0 }
      if isWaiting, let buffer = try Self.nextBuffer(from: queue, description, &lostFrames) {
        let waiter = state.withLock { state in
          defer { state.waiter = nil }
          return state.waiter
        }
        waiter?.resume(returning: .success(buffer))
      } else if isWaiting, let error {
        throw error
      } else {
        queue.wait()
      }
    }
  }

  private static func nextBuffer(
    from queue: CaptureQueue, _ description: FormatDescription, _ lostFrames: inout Int64
  ) throws(MediaError) -> AudioCapture.Buffer? {
    var bytes: [UInt8] = []
    var chunk: CaptureQueue.Chunk?
    let isRead = queue.readChunk { samples, frameCount, part, _ in
      chunk = part
      let count = frameCount * queue.format.channelCount
      bytes += UnsafeRawBufferPointer(start: samples, count: count * MemoryLayout<Float>.size)
    }
    guard isRead, let chunk else { return nil }
    lostFrames += chunk.lostFrameCount
    let samples = try SampleBuffer(
      pcm: bytes, format: description,
      presentationTime: MediaTime(frame: chunk.firstFrame + lostFrames, rate: queue.format.sampleRateHz),
      attachments: .init(isDiscontinuity: chunk.lostFrameCount > 0))
    return AudioCapture.Buffer(samples: samples, hostTime: chunk.hostTime, lostFrameCount: chunk.lostFrameCount)
  }
}
