import CPulse
import MediaCore
import RealtimeAudio

// What runs on libpulse's loop for a record stream: takes what the server sends, and gives it to the queue. Our part of a callback neither
// allocates nor locks.

/// The callbacks of one record stream.
///
/// Threading: inside the loop's lock.
final class PulseCaptureDriver: @unchecked Sendable {
  // `@unchecked Sendable`: everything is protected by the loop's lock.
  private let stream: PulseCaptureStream
  private let queue: CaptureQueue
  private let signal: EventSignal
  private let onFailure: @Sendable (MediaError) -> Void
  private let wish: CaptureWish
  private var signalEvent: OpaquePointer?
  private var isRunning = false
  private var isAcknowledged = true
  private var hasFailed = false
  private let bytesPerFrame: Int
  /// What the device holds before it is captured here, in µs, as the server said it when the stream began to run.
  private var deviceMicroseconds: UInt64 = 0
  /// Frames that were taken.
  private(set) var frameCount: Int64 = 0
  /// What the server dropped while nobody took anything, and whether it is being asked.
  private var gap: CaptureGap
  private var isAsking = false

  init(
    stream: PulseCaptureStream, queue: CaptureQueue, signal: EventSignal, wish: CaptureWish,
    onFailure: @escaping @Sendable (MediaError) -> Void
  ) {
    (self.stream, self.queue, self.signal) = (stream, queue, signal)
    (self.onFailure, self.wish) = (onFailure, wish)
    bytesPerFrame = stream.format.bytesPerFrame
    gap = CaptureGap(
      sampleRateHz: stream.format.sampleRateHz, heldFrames: stream.heldFrameCount, countsDropped: stream.isGraphNode)
  }

  private var own: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  private static func from(_ pointer: UnsafeMutableRawPointer?) -> PulseCaptureDriver? {
    pointer.map { Unmanaged<PulseCaptureDriver>.fromOpaque($0).takeUnretainedValue() }
  }

  // MARK: - Life

  /// Registers the callbacks; the owner keeps this object alive until `end`.
  func begin() {
    let api = stream.connection.mainloop.api
    pa_stream_set_read_callback(stream.pointer, { _, _, own in PulseCaptureDriver.from(own)?.read() }, own)
    pa_stream_set_state_callback(stream.pointer, { _, own in PulseCaptureDriver.from(own)?.streamStateChanged() }, own)
    stream.connection.onLoss = { [unowned self] in fail("the connection to the sound server was lost") }
    signalEvent = api.pointee.io_new(
      api, signal.descriptor, PA_IO_EVENT_INPUT,
      { _, _, _, _, own in PulseCaptureDriver.from(own)?.wishChanged() }, own)
    if signalEvent == nil { return fail("the main loop has no room for an event") }
    // Either may have gone wrong between `open` and now.
    streamStateChanged()
    if pa_context_get_state(stream.connection.context) != PA_CONTEXT_READY {
      fail("the connection to the sound server was lost")
    }
  }

  /// Unregisters everything; afterwards no callback comes here.
  func end() {
    stream.connection.onLoss = nil
    if let signalEvent { stream.connection.mainloop.api.pointee.io_free(signalEvent) }
    signalEvent = nil
    pa_stream_set_read_callback(stream.pointer, nil, nil)
    pa_stream_set_state_callback(stream.pointer, nil, nil)
    hasFailed = true
  }

  /// Lets the stream stand, and waits for what the server had captured until then: half a second at most.
  func takeRest() {
    guard !hasFailed else { return }
    setCorked(true)
    let deadline = HostTime.now.advanced(byNanoseconds: 500_000_000)
    // What the server sends comes in order: with the answer everything is here. One that does not answer has no more.
    _ = try? stream.connection.wait(until: deadline, for: "pa_stream_cork") { isAcknowledged || hasFailed }
    read()
    // Where the process stood, much may still be with the server, and something may be missing.
    while gap.isOpen, isAsking, !hasFailed {
      do throws(PulseFailure) {
        try stream.connection.wait(until: deadline, for: "pa_stream_update_timing_info") { !isAsking || hasFailed }
      } catch { return }
      read()
    }
  }

  private func streamStateChanged() {
    if pa_stream_get_state(stream.pointer) != PA_STREAM_READY {
      fail("the sound server closed the stream: its source is gone")
    }
  }

  private func fail(_ message: String) {
    guard !hasFailed else { return }
    // What came before is the recording's.
    read()
    hasFailed = true
    if let signalEvent { stream.connection.mainloop.api.pointee.io_enable(signalEvent, PA_IO_EVENT_NULL) }
    stream.connection.mainloop.signal()
    onFailure(PulseFailure("pa_stream", context: stream.connection.context).mediaError(.sourceLost, message))
  }

  // MARK: - Running

  private func wishChanged() {
    signal.clear()
    guard !hasFailed, wish.isRunning.load(ordering: .relaxed) != isRunning else { return }
    setCorked(isRunning)
  }

  private func setCorked(_ isCorked: Bool) {
    isRunning = !isCorked
    if isRunning { gap.forget() }
    isAcknowledged = false
    let operation = pa_stream_cork(
      stream.pointer, isCorked ? 1 : 0, { _, _, own in PulseCaptureDriver.from(own)?.corkAcknowledged() }, own)
    guard let operation else { return fail("the stream cannot be \(isCorked ? "stopped" : "started")") }
    pa_operation_unref(operation)
  }

  private func corkAcknowledged() {
    isAcknowledged = true
    stream.connection.mainloop.signal()
    guard isRunning, !hasFailed else { return }
    // Once each time: nothing asks again while it runs.
    let operation = pa_stream_update_timing_info(
      stream.pointer, { _, _, own in PulseCaptureDriver.from(own)?.timingAnswered() }, own)
    if let operation { pa_operation_unref(operation) }
  }

  private func timingAnswered() {
    guard let timing = pa_stream_get_timing_info(stream.pointer) else { return }
    deviceMicroseconds = min(timing.pointee.source_usec, 10_000_000)
    gap.began(readFrames: timing.pointee.read_index / Int64(bytesPerFrame), takenFrames: frameCount)
  }

  // MARK: - Sound

  /// Takes all that there is.
  private func read() {
    guard !hasFailed else { return }
    let now = HostTime.now
    defer { noteGap(at: now) }
    while true {
      var (data, byteCount): (UnsafeRawPointer?, Int) = (nil, 0)
      guard pa_stream_peek(stream.pointer, &data, &byteCount) == 0, byteCount > 0 else { return }
      let count = byteCount / bytesPerFrame
      if let data {
        let age = Int64(count) * 1_000_000_000 / Int64(stream.format.sampleRateHz)
        queue.write(
          data.assumingMemoryBound(to: Float.self), frameCount: count,
          hostTime: now.advanced(byNanoseconds: -age - Int64(deviceMicroseconds) * 1_000))
      } else {
        // A hole: the server had nothing to send in its place.
        queue.lose(frameCount: count)
      }
      frameCount += Int64(count)
      guard pa_stream_drop(stream.pointer) == 0 else { return }
    }
  }

  // MARK: - What the server dropped

  /// Where nothing was taken for long the server is asked how much there was.
  private func noteGap(at now: HostTime) {
    guard gap.took(frameCount, at: now), !isAsking else { return }
    let operation = pa_stream_update_timing_info(
      stream.pointer, { _, _, own in PulseCaptureDriver.from(own)?.countAnswered() }, own)
    guard let operation else { return }
    isAsking = true
    pa_operation_unref(operation)
  }

  private func countAnswered() {
    isAsking = false
    stream.connection.mainloop.signal()
    guard !hasFailed, let timing = pa_stream_get_timing_info(stream.pointer) else { return }
    let lost = gap.answered(
      writtenFrames: timing.pointee.write_index / Int64(bytesPerFrame),
      readFrames: timing.pointee.read_index / Int64(bytesPerFrame))
    queue.lose(frameCount: lost ?? 0)
  }
}
