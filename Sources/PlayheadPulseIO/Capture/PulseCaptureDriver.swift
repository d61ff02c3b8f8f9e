import CPlayheadPulse
import PlayheadMediaCore
import PlayheadRealtimeAudio

// The part of a record stream that runs on libpulse's loop: reads the server's audio and writes it to the queue.
// Playhead's part of a callback neither allocates nor locks.

/// The callbacks of one record stream.
///
/// Threading: under the loop's lock.
final class PulseCaptureDriver: @unchecked Sendable {
  // `@unchecked Sendable`: everything is protected by the loop's lock.
  private let stream: PulseCaptureStream
  private let queue: CaptureQueue
  private let signal: EventSignal
  private let onFailure: @Sendable (MediaError) -> Void
  private let runRequest: CaptureRunRequest
  private var signalEvent: OpaquePointer?
  private var isRunning = false
  private var isCorkAcknowledged = true
  private var hasFailed = false
  private let bytesPerFrame: Int
  /// The device's latency, in µs, as reported by the server when the stream started.
  private var deviceLatencyMicroseconds: UInt64 = 0
  /// The number of frames read.
  private(set) var frameCount: Int64 = 0
  /// Counts the frames that the server dropped while this process read nothing.
  private var gap: CaptureGap
  /// Whether the server's counters for `gap` were requested and have not arrived.
  private var isTimingPending = false

  init(
    stream: PulseCaptureStream, queue: CaptureQueue, signal: EventSignal, runRequest: CaptureRunRequest,
    onFailure: @escaping @Sendable (MediaError) -> Void
  ) {
    (self.stream, self.queue, self.signal) = (stream, queue, signal)
    (self.onFailure, self.runRequest) = (onFailure, runRequest)
    bytesPerFrame = stream.format.bytesPerFrame
    gap = CaptureGap(
      sampleRateHz: stream.format.sampleRateHz, bufferFrames: stream.serverBufferFrameCount,
      countsDroppedFrames: stream.isGraphNode)
  }

  private var userdata: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  private static func from(_ pointer: UnsafeMutableRawPointer?) -> PulseCaptureDriver? {
    pointer.map { Unmanaged<PulseCaptureDriver>.fromOpaque($0).takeUnretainedValue() }
  }

  // MARK: - Lifecycle

  /// Registers the callbacks; the owner keeps this object alive until `end`.
  func begin() {
    let api = stream.connection.mainloop.api
    pa_stream_set_read_callback(
      stream.pointer, { _, _, userdata in PulseCaptureDriver.from(userdata)?.read() }, userdata)
    pa_stream_set_state_callback(
      stream.pointer, { _, userdata in PulseCaptureDriver.from(userdata)?.streamStateChanged() }, userdata)
    stream.connection.onLoss = { [unowned self] in fail("the connection to the sound server was lost") }
    signalEvent = api.pointee.io_new(
      api, signal.descriptor, PA_IO_EVENT_INPUT,
      { _, _, _, _, userdata in PulseCaptureDriver.from(userdata)?.runRequestChanged() }, userdata)
    if signalEvent == nil { return fail("the main loop cannot add an event source") }
    // The stream or the connection may have failed between `open` and now.
    streamStateChanged()
    if pa_context_get_state(stream.connection.context) != PA_CONTEXT_READY {
      fail("the connection to the sound server was lost")
    }
  }

  /// Unregisters everything; afterwards no callback is called.
  func end() {
    stream.connection.onLoss = nil
    if let signalEvent { stream.connection.mainloop.api.pointee.io_free(signalEvent) }
    signalEvent = nil
    pa_stream_set_read_callback(stream.pointer, nil, nil)
    pa_stream_set_state_callback(stream.pointer, nil, nil)
    hasFailed = true
  }

  /// Corks the stream, and reads the audio that the server had captured until then. Waits for at most half a second.
  func drain() {
    guard !hasFailed else { return }
    setCorked(true)
    let deadline = HostTime.now.advanced(byNanoseconds: 500_000_000)
    // The server sends all captured audio before its reply. If the server does not reply, no more audio is expected.
    _ = try? stream.connection.wait(until: deadline, for: "pa_stream_cork") { isCorkAcknowledged || hasFailed }
    read()
    // After a pause of this process the server may still have much audio, and some may be missing.
    while gap.isPending, isTimingPending, !hasFailed {
      do throws(PulseFailure) {
        try stream.connection.wait(until: deadline, for: "pa_stream_update_timing_info") {
          !isTimingPending || hasFailed
        }
      } catch { return }
      read()
    }
  }

  private func streamStateChanged() {
    if pa_stream_get_state(stream.pointer) != PA_STREAM_READY {
      fail("the sound server closed the stream: its source no longer exists")
    }
  }

  private func fail(_ message: String) {
    guard !hasFailed else { return }
    // Earlier audio belongs to the recording.
    read()
    hasFailed = true
    if let signalEvent { stream.connection.mainloop.api.pointee.io_enable(signalEvent, PA_IO_EVENT_NULL) }
    stream.connection.mainloop.signal()
    onFailure(PulseFailure("pa_stream", context: stream.connection.context).mediaError(.sourceLost, message))
  }

  // MARK: - Running

  private func runRequestChanged() {
    signal.clear()
    guard !hasFailed, runRequest.isRunning.load(ordering: .relaxed) != isRunning else { return }
    setCorked(isRunning)
  }

  private func setCorked(_ isCorked: Bool) {
    isRunning = !isCorked
    if isRunning { gap.reset() }
    isCorkAcknowledged = false
    let operation = pa_stream_cork(
      stream.pointer, isCorked ? 1 : 0,
      { _, _, userdata in PulseCaptureDriver.from(userdata)?.corkAcknowledged() }, userdata)
    guard let operation else { return fail("the stream cannot be \(isCorked ? "stopped" : "started")") }
    pa_operation_unref(operation)
  }

  private func corkAcknowledged() {
    isCorkAcknowledged = true
    stream.connection.mainloop.signal()
    guard isRunning, !hasFailed else { return }
    // Once per start. While the stream runs, only `checkGap` requests timings.
    let operation = pa_stream_update_timing_info(
      stream.pointer, { _, _, userdata in PulseCaptureDriver.from(userdata)?.startTimingReceived() }, userdata)
    if let operation { pa_operation_unref(operation) }
  }

  private func startTimingReceived() {
    guard let timing = pa_stream_get_timing_info(stream.pointer) else { return }
    deviceLatencyMicroseconds = min(timing.pointee.source_usec, 10_000_000)
    gap.streamStarted(readFrames: timing.pointee.read_index / Int64(bytesPerFrame), receivedFrames: frameCount)
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
        let age = Int64(count) * 1_000_000_000 / Int64(stream.format.sampleRateHz)
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
    guard gap.didRead(frameCount, at: now), !isTimingPending else { return }
    let operation = pa_stream_update_timing_info(
      stream.pointer, { _, _, userdata in PulseCaptureDriver.from(userdata)?.countersReceived() }, userdata)
    guard let operation else { return }
    isTimingPending = true
    pa_operation_unref(operation)
  }

  private func countersReceived() {
    isTimingPending = false
    stream.connection.mainloop.signal()
    guard !hasFailed, let timing = pa_stream_get_timing_info(stream.pointer) else { return }
    let lost = gap.evaluate(
      writtenFrames: timing.pointee.write_index / Int64(bytesPerFrame),
      readFrames: timing.pointee.read_index / Int64(bytesPerFrame))
    queue.recordLoss(frameCount: lost ?? 0)
  }
}
