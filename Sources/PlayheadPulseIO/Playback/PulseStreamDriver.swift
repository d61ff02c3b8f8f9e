import CPlayheadPulse
import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization

// The sink's side of a RenderCore on a PulseAudio stream. The driver does the following:
// - writes audio when the server requests it,
// - applies commands by overwriting buffered audio, and keeps the output's clock (PulseStreamDriver+Timing),
// - corks the stream when no input is active.
//
// The decisions are those of values without side effects: StreamClock, DeviceWatch, StreamSplice and
// StreamInterruption. The driver passes libpulse's events to them, and carries out the results.
//
// Everything here runs under the main loop's lock, nearly all of it in callbacks of the loop's thread. The driver never
// logs, never waits and never flushes the stream.

/// Drives one playback stream.
final class PulseStreamDriver: StreamDriver {
  typealias Box = CallbackBox<PulseStreamDriver>

  /// The state of the stream.
  enum Phase: Hashable {
    /// Nothing runs, and no thread wakes. The device is paused at `readFrame`.
    case corked(readFrame: Int64)
    /// The device reads the stream, or soon will.
    case running
    /// The stream is being corked. The reply to `timing` reports its position; nil until the cork is acknowledged.
    /// Pending commands (`hasCommands`) are applied afterwards.
    case corking(timing: UInt64?, hasCommands: Bool)
    /// The stream no longer exists.
    case failed
  }

  let stream: PulseStream
  let core: RenderCore
  let counters: PulseCounters
  let requests: StreamRequests
  private let signal: EventSignal
  private let wakeControl: @Sendable () -> Void
  let onNotice: @Sendable (DeviceNotice) -> Void
  private let onFailure: @Sendable (MediaError) -> Void
  /// The observer of the server's interruptions; nil if there is none, and the stream follows the server.
  let onSharing: (@Sendable (SharingNotice) -> Void)?
  private(set) lazy var userdata = stream.mainloop.userdata(for: self)
  private var hasReportedFailure = false

  var phase: Phase
  /// The clock. Its written frame differs from `core.renderedFrame` only between a rewind and the writes that follow.
  var clock: StreamClock
  var timings = TimingRequests()
  var watch: DeviceWatch
  var splice = StreamSplice()
  /// Whether the server has interrupted the stream (PulseStreamDriver+Interruption).
  var interruption = StreamInterruption()
  var isDucked = false
  private var roles: RoleWatch?
  /// Starts or pauses the clock.
  var clockTimer: LoopEvent?
  /// The timer of `watch`.
  var watchTimer: LoopEvent?

  /// Takes a corked stream that is ready.
  init(
    stream: PulseStream, core: RenderCore, signal: EventSignal, counters: PulseCounters, requests: StreamRequests,
    onSharing: (@Sendable (SharingNotice) -> Void)?, wakeControl: @escaping @Sendable () -> Void,
    onNotice: @escaping @Sendable (DeviceNotice) -> Void, onFailure: @escaping @Sendable (MediaError) -> Void
  ) {
    (self.stream, self.core, self.signal) = (stream, core, signal)
    (self.counters, self.requests, self.onSharing) = (counters, requests, onSharing)
    (self.wakeControl, self.onNotice, self.onFailure) = (wakeControl, onNotice, onFailure)
    let frame = core.renderedFrame
    phase = .corked(readFrame: frame)
    clock = StreamClock(
      sampleRateHz: core.format.sampleRateHz, bytesPerFrame: core.format.bytesPerFrame, frame: frame)
    watch = DeviceWatch(sampleRateHz: core.format.sampleRateHz, isGraphNode: stream.properties.isGraphNode)
    // By the user, or by a role module whose cork request was lost.
    if stream.properties.isMuted { interruption.beginUnconfirmed() }
  }

  var pointer: OpaquePointer { stream.pointer }
  var connection: PulseConnection { stream.connection }
  var context: OpaquePointer { stream.connection.context }
  var bytesPerFrame: Int { core.format.bytesPerFrame }
  var isSuspended: Bool { pa_stream_is_suspended(pointer) > 0 }
  var isCorking: Bool { if case .corking = phase { true } else { false } }

  // MARK: - Lifecycle

  func begin() {
    _ = watch.moved(to: pa_stream_get_device_index(pointer))
    core.clock.publish(heardFrame: clock.baseFrame, at: .now, isRunning: false)
    pa_stream_set_write_callback(
      pointer, { _, byteCount, userdata in Box.target(userdata)?.audioRequested(byteCount: byteCount) }, userdata)
    pa_stream_set_underflow_callback(pointer, { _, userdata in Box.target(userdata)?.deviceUnderran() }, userdata)
    pa_stream_set_started_callback(pointer, { _, userdata in Box.target(userdata)?.deviceStarted() }, userdata)
    pa_stream_set_suspended_callback(
      pointer, { _, userdata in Box.target(userdata)?.deviceSuspensionChanged() }, userdata)
    pa_stream_set_moved_callback(pointer, { _, userdata in Box.target(userdata)?.deviceMoved() }, userdata)
    pa_stream_set_event_callback(
      pointer, { _, name, _, userdata in Box.target(userdata)?.eventArrived(name) }, userdata)
    stream.attach(self, signal: signal)
    let roles = RoleWatch(connection: connection, streamIndex: pa_stream_get_index(pointer)) {
      [weak self] state, hasChanged in
      self?.rolesChanged(state, hasChanged: hasChanged)
    }
    self.roles = roles
    roles.begin()
  }

  /// Unregisters everything; afterwards no callback is called. Under the loop's lock.
  func end() {
    stream.detach()
    roles?.end()
    roles = nil
    clockTimer = nil
    cancelWatchTimer()
    pa_stream_set_write_callback(pointer, nil, nil)
    pa_stream_set_underflow_callback(pointer, nil, nil)
    pa_stream_set_started_callback(pointer, nil, nil)
    pa_stream_set_suspended_callback(pointer, nil, nil)
    pa_stream_set_moved_callback(pointer, nil, nil)
    pa_stream_set_event_callback(pointer, nil, nil)
    if phase != .failed { stopClock(at: nil) }
    phase = .failed
  }

  func fail(_ message: String) { fail(message, code: .outputLost) }

  /// Reports the failure to the owner, once, and stops using the stream.
  func fail(_ message: String, code: MediaError.Code) {
    halt()
    guard !hasReportedFailure else { return }
    hasReportedFailure = true
    onFailure(PulseFailure("pa_stream", context: context).mediaError(code, message))
  }

  /// Stops using the stream. Pauses the clock at the last frame that has certainly been heard, so that later audio may
  /// be heard twice but is never lost.
  func halt() {
    guard phase != .failed else { return }
    stopClock(at: certainlyHeardFrame)
    phase = .failed
    cancelWatchTimer()
    stream.disableSignal()
  }

  // MARK: - Commands

  func signalRaised() {
    signal.clear()
    handleRequests()
    switch phase {
    case .corked(let readFrame): startIfActive(readFrame: readFrame)
    case .running: applyCommandsWhileRunning()
    case .corking(let timing, _): phase = .corking(timing: timing, hasCommands: true)
    case .failed: break
    }
  }

  private func applyCommandsWhileRunning() {
    switch core.pendingEffect(fromFrame: unreadFrame) {
    case .replaces: jump()
    case .silences: cork(hasCommands: true)  // A corked stream reports exactly where everything stopped.
    case .mixes:
      splice.request()
      requestTiming()
    }
  }

  /// Applies the commands to the corked stream, and starts it if an input is active and the server permits it.
  func startIfActive(readFrame: Int64) {
    _ = core.rewind(toFrame: readFrame)
    core.applyCommands()
    if core.isActive, !interruption.isPaused {
      phase = .running
      stopClock(at: readFrame)
      watch.streamStarted(at: .now)
      renderAndWrite()
      if phase == .running {
        setCorked(false) { _, _, userdata in Box.target(userdata)?.uncorked() }
        waitForRead()
      }
    }
    wakeControlIfNeeded()
  }

  private func uncorked() {
    if phase == .running { requestTiming() }
  }

  // MARK: - Audio

  private func audioRequested(byteCount: Int) {
    deviceDidRead()
    guard phase == .running else { return }
    let now = HostTime.now
    if !watch.mayHaveStalled, let frame = clock.heardFrame(at: now), frame >= Double(clock.writtenFrame) {
      // All written audio was heard before this request arrived: the device underruns.
      stopClock(at: clock.writtenFrame)
    }
    // After a jump the server also requests the audio that the jump skipped.
    if splice.jumpTiming == nil {
      watch.recordRead(frames: splice.blocks.recordRead(room: byteCount / bytesPerFrame), at: now)
      if let duration = watch.possibleLossNanoseconds {
        counters.possibleLossNanoseconds.store(duration, ordering: .relaxed)
      }
    }
    // A pending splice will replace this audio: rendering now would apply the splice's commands too early. (During a
    // stall a splice waits, so audio is written.)
    if !splice.isPending || watch.mayHaveStalled {
      renderAndWrite()
      corkIfSilent(at: now)
    }
    replayIfDue()
    requestTimingIfDue(at: now)
    wakeControlIfNeeded()
  }

  /// Renders from `core.renderedFrame` to the capacity of the server's buffer (see `DeviceBlocks`), and at least over
  /// all buffered audio. The first frame is written at its own position, or at the device's next read (`isJump`).
  func renderAndWrite(isJump: Bool = false) {
    var isJump = isJump
    let writable = pa_stream_writable_size(pointer)
    guard writable != Int.max else { return fail("the stream cannot be written") }  // (size_t) -1
    let queued = Int(clock.writtenFrame - core.renderedFrame)
    var remaining = splice.blocks.frameCountToWrite(
      room: queued + writable / bytesPerFrame, minimum: queued, bufferFrameCount: bufferFrameCount)
    if remaining <= 0 { core.applyCommands() }
    while remaining > 0 {
      var memory: UnsafeMutableRawPointer?
      var byteCount = remaining * bytesPerFrame
      guard pa_stream_begin_write(pointer, &memory, &byteCount) == 0, let memory,
        byteCount >= bytesPerFrame
      else {
        return fail("the sound server provides no memory for audio")
      }
      let frameCount = splice.blocks.chunkFrameCount(of: remaining, room: byteCount / bytesPerFrame)
      let offset = (core.renderedFrame - clock.writtenFrame) * Int64(bytesPerFrame)
      core.render(into: memory.assumingMemoryBound(to: Float.self), frameCount: frameCount)
      let status =
        isJump
        ? pa_stream_write(pointer, memory, frameCount * bytesPerFrame, nil, 0, PA_SEEK_RELATIVE_ON_READ)
        : pa_stream_write(pointer, memory, frameCount * bytesPerFrame, nil, offset, PA_SEEK_RELATIVE)
      guard status == 0 else { return fail("the stream cannot be written") }
      isJump = false
      clock.writtenFrame = core.renderedFrame
      remaining -= frameCount
      counters.writeCount.wrappingAdd(1, ordering: .relaxed)
    }
  }

  /// The capacity of the server's buffer; it may change when the stream moves to another device.
  var bufferFrameCount: Int {
    Int(pa_stream_get_buffer_attr(pointer)?.pointee.tlength ?? 0) / bytesPerFrame
  }

  /// Wakes the engine when events are pending.
  func wakeControlIfNeeded() {
    if core.consumeWakeRequest() { wakeControl() }
  }

  /// Wakes the engine because the clock started, stopped or jumped.
  func notifyClockChange() {
    _ = core.consumeWakeRequest()
    wakeControl()
  }

  // MARK: - Corking

  /// Corks the stream once no input is active and all audible frames have been heard.
  func corkIfSilent(at now: HostTime) {
    guard phase == .running, !core.isActive, !splice.isPending else { return }
    let frame = clock.heardFrame(at: now) ?? Double(clock.minimumHeardFrame)
    guard frame >= Double(core.lastAudibleFrame) else { return }
    cork(hasCommands: false)
  }

  /// Corks the stream. If it `hasCommands`, they are applied at the position of the corked stream.
  func cork(hasCommands: Bool) {
    if hasCommands { splice.cancel() }
    phase = .corking(timing: nil, hasCommands: hasCommands)
    watch.endStall()
    setCorked(true) { _, _, userdata in Box.target(userdata)?.corked() }
  }

  private func corked() {
    guard isCorking else { return }
    // Some devices return consumed audio when they are corked, so the position is queried after the cork.
    requestTiming()
    awaitPosition()
  }

  /// Waits for the last requested timing, which reports the position of the corked stream.
  func awaitPosition() {
    guard case .corking(_, let hasCommands) = phase else { return }
    phase = .corking(timing: timings.requested, hasCommands: hasCommands)
  }

  /// Records that the corked stream is paused at `corkedFrame`; it may resume from an earlier frame.
  func corkCompleted(readFrame corkedFrame: Int64, hasCommands: Bool) {
    let readFrame = resumeFrame(readFrame: corkedFrame)
    phase = .corked(readFrame: readFrame)
    splice.discardVerification()
    cancelWatchTimer()
    core.release(heardFrame: readFrame)
    stopClockWhenHeard(readFrame)
    if hasCommands { startIfActive(readFrame: readFrame) }
  }

  private func setCorked(_ isCorked: Bool, _ done: @escaping pa_stream_success_cb_t) {
    stream.setCorked(isCorked, userdata, done)?.release()
  }
}
