import CPlayheadPulse
import PlayheadMediaCore
import PlayheadRealtimeAudio

// The part of a record stream that runs on libpulse's loop: reads the server's audio and writes it to the queue.
// Playhead's part of a callback neither allocates nor locks.

/// The callbacks of one record stream.
///
/// Threading: under the loop's lock.
final class PulseCaptureDriver: StreamDriver {
  private typealias Box = CallbackBox<PulseCaptureDriver>

  private let stream: PulseStream
  private let queue: CaptureQueue
  private let signal: EventSignal
  private let onFailure: @Sendable (MediaError) -> Void
  private let runRequest: CaptureRunRequest
  private var isRunning = false
  private var hasFailed = false
  private let bytesPerFrame: Int
  /// The device's latency, in µs, as reported by the server when the stream started.
  private var deviceLatencyMicroseconds: UInt64 = 0
  /// The number of frames read.
  private(set) var frameCount: Int64 = 0
  /// Counts the frames that the server dropped while this process read nothing.
  private var gap: CaptureGap
  /// The pending request of the server's counters for `gap`.
  private var counterRequest: PulseOperation?
  private lazy var userdata = stream.mainloop.userdata(for: self)

  init(
    stream: PulseStream, queue: CaptureQueue, signal: EventSignal, runRequest: CaptureRunRequest,
    onFailure: @escaping @Sendable (MediaError) -> Void
  ) {
    (self.stream, self.queue, self.signal) = (stream, queue, signal)
    (self.onFailure, self.runRequest) = (onFailure, runRequest)
    let properties = stream.properties
    bytesPerFrame = properties.format.bytesPerFrame
    gap = CaptureGap(
      sampleRateHz: properties.format.sampleRateHz, bufferFrames: properties.bufferFrameCount,
      countsDroppedFrames: properties.isGraphNode)
  }

  // MARK: - Lifecycle

  func begin() {
    pa_stream_set_read_callback(stream.pointer, { _, _, userdata in Box.target(userdata)?.read() }, userdata)
    stream.attach(self, signal: signal)
  }

  /// Unregisters everything; afterwards no callback is called.
  func end() {
    stream.detach()
    pa_stream_set_read_callback(stream.pointer, nil, nil)
    counterRequest = nil
    hasFailed = true
  }

  /// Corks the stream, and reads the audio that the server had captured until then. Waits for at most half a second.
  func drain() {
    guard !hasFailed else { return }
    let deadline = HostTime.now.advanced(byNanoseconds: 500_000_000)
    // The server sends all captured audio before its reply. If the server does not reply, no more audio is expected.
    if let cork = setCorked(true) { try? cork.wait(on: stream.connection, until: deadline, for: "pa_stream_cork") }
    read()
    // After a pause of this process the server may still have much audio, and some may be missing.
    while gap.isPending, counterRequest != nil, !hasFailed {
      do throws(PulseFailure) {
        try stream.connection.wait(until: deadline, for: "pa_stream_update_timing_info") {
          counterRequest == nil || hasFailed
        }
      } catch { return }
      read()
    }
  }

  func streamEnded() { fail("the sound server closed the stream: its source no longer exists") }

  func fail(_ message: String) {
    guard !hasFailed else { return }
    // Earlier audio belongs to the recording.
    read()
    hasFailed = true
    stream.disableSignal()
    stream.mainloop.signal()
    onFailure(PulseFailure("pa_stream", context: stream.connection.context).mediaError(.sourceLost, message))
  }

  // MARK: - Running

  func signalRaised() {
    signal.clear()
    guard !hasFailed, runRequest.isRunning.load(ordering: .relaxed) != isRunning else { return }
    setCorked(isRunning)?.release()
  }

  private func setCorked(_ isCorked: Bool) -> PulseOperation? {
    isRunning = !isCorked
    if isRunning { gap.reset() }
    return stream.setCorked(isCorked, userdata) { _, _, userdata in Box.target(userdata)?.corkAcknowledged() }
  }

  private func corkAcknowledged() {
    guard isRunning, !hasFailed else { return }
    // Once per start. While the stream runs, only `checkGap` requests timings.
    stream.requestTiming(userdata) { _, _, userdata in Box.target(userdata)?.startTimingReceived() }?.release()
  }

  private func startTimingReceived() {
    guard let timing = stream.timing else { return }
    deviceLatencyMicroseconds = min(timing.source_usec, 10_000_000)
    gap.streamStarted(readFrames: timing.read_index / Int64(bytesPerFrame), receivedFrames: frameCount)
  }

  // MARK: - Audio

  /// Reads all available audio.
  private func read() {
    guard !hasFailed else { return }
    let now = HostTime.now
    defer { checkGap(at: now) }
    while true {
      var (data, byteCount): (UnsafeRawPointer?, Int) = (nil, 0)
      guard pa_stream_peek(stream.pointer, &data, &byteCount) == 0, byteCount > 0 else { return }
      let count = byteCount / bytesPerFrame
      if let data {
        let age = Int64(count) * 1_000_000_000 / Int64(stream.properties.format.sampleRateHz)
        queue.write(
          data.assumingMemoryBound(to: Float.self), frameCount: count,
          hostTime: now.advanced(byNanoseconds: -age - Int64(deviceLatencyMicroseconds) * 1_000))
      } else {
        // A hole in the stream: the server has no audio for these frames.
        queue.recordLoss(frameCount: count)
      }
      frameCount += Int64(count)
      guard pa_stream_drop(stream.pointer) == 0 else { return }
    }
  }

  // MARK: - Frames dropped by the server

  /// Requests the server's counters after a long time without audio.
  private func checkGap(at now: HostTime) {
    guard gap.didRead(frameCount, at: now), counterRequest == nil else { return }
    counterRequest = stream.requestTiming(userdata) { _, _, userdata in Box.target(userdata)?.countersReceived() }
  }

  private func countersReceived() {
    counterRequest.take()?.release()
    stream.mainloop.signal()
    guard !hasFailed, let timing = stream.timing else { return }
    let lost = gap.evaluate(
      writtenFrames: timing.write_index / Int64(bytesPerFrame), readFrames: timing.read_index / Int64(bytesPerFrame))
    queue.recordLoss(frameCount: lost ?? 0)
  }
}
