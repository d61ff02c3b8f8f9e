import CPlayheadPulse
import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization

// The sink's side of a RenderCore on a PulseAudio stream. The driver does the following:
// - writes audio when the server requests it,
// - applies commands by overwriting buffered audio (PulseStreamDriver+Splice),
// - updates the output's clock (PulseStreamDriver+Timing),
// - corks the stream when no input is active.
//
// Everything here runs under the main loop's lock, nearly all of it in callbacks of the loop's thread. The driver never
// logs, never waits and never flushes the stream.

/// Drives one playback stream.
///
/// Frames: the stream's byte 0 is output frame `baseFrame`; read and write indexes are converted to output frames. A
/// jump (PulseStreamDriver+Splice) may change `baseFrame`.
final class PulseStreamDriver: StreamDriver {
  typealias Box = CallbackBox<PulseStreamDriver>

  /// The state of the stream.
  enum Phase: Hashable {
    /// Nothing runs, and no thread wakes. The device is paused at `readFrame`.
    case corked(readFrame: Int64)
    /// The device reads the stream, or soon will.
    case running
    /// The stream is being corked; its position is not known yet.
    case corking
    /// The stream no longer exists.
    case failed
  }

  let stream: PulseStream
  let core: RenderCore
  let counters: PulseCounters
  let bytesPerFrame: Int
  let sampleRateHz: Int
  var baseFrame: Int64
  private let signal: EventSignal
  private let wakeControl: @Sendable () -> Void
  let onNotice: @Sendable (DeviceNotice) -> Void
  private let onFailure: @Sendable (MediaError) -> Void
  /// The observer of the server's interruptions; nil if there is none, and the stream follows the server.
  let onSharing: (@Sendable (SharingNotice) -> Void)?
  let requests: StreamRequests
  private(set) lazy var userdata = stream.mainloop.userdata(for: self)
  private var hasReportedFailure = false

  var phase: Phase
  /// The output frame of the server's write index. The frame differs from `core.renderedFrame` only between a rewind
  /// and the writes that follow it.
  var writtenFrame: Int64

  /// Whether the buffered audio must be overwritten at the next fresh timing.
  var isSplicePending = false
  /// Whether commands arrived while the stream was being corked.
  var hasCommandsAfterCork = false
  /// Whether the server has interrupted the stream (PulseStreamDriver+Interruption).
  var interruption = StreamInterruption()
  var isDucked = false
  private var roles: RoleWatch?
  /// The first frame of the last splice, until a timing shows whether it was in time.
  var unverifiedSpliceFrame: Int64?
  /// The timing that reports the position of the last jump; nil when it is known.
  var jumpTiming: UInt64?

  // Timing. Requests are numbered; the server replies in order.
  var timingsRequested: UInt64 = 0
  var timingsReceived: UInt64 = 0
  var lastTimingRequest: HostTime
  /// The longest recent reply time; it decays by an eighth with each reply.
  var slowestReplyNanoseconds: Int64 = 0
  /// The timing that reports the position of the corked stream; nil until the cork is acknowledged.
  var corkTiming: UInt64?
  var heardClock: HeardClock
  /// The first frame that can be heard from now on: the frame at which the stream began, resumed or underran.
  var minimumHeardFrame: Int64
  var isClockRunning = false
  var clockEvent: LoopEvent?
  var lastReadFrame: Int64

  // The reads of the device: a request for audio follows directly after a read. The block size stays valid across a
  // cork, the times of the reads do not.
  var blockFrames: Int64 = 0
  var lastRead: HostTime
  var blocks = DeviceBlocks()

  // The device itself (PulseStreamDriver+Device).
  var deviceIndex: UInt32 = 0
  var lastActivity = HostTime(nanoseconds: 0)
  var watchdogEvent: LoopEvent?
  /// The time at which `watchdogEvent` is due.
  var watchdogTime = HostTime(nanoseconds: 0)
  /// Whether `watchdogEvent` is due when a block is late; otherwise the event is due when all written audio should have
  /// been heard.
  var isWatchingBlocks = false
  var isHanging = false
  /// The suspected or confirmed stall of a graph (PulseStreamDriver+Stall).
  var stall = GraphStall()
  /// Whether the device reads from the stream (PulseStreamDriver+Stall).
  var consumption = ConsumptionMonitor()
  /// Whether the server is being probed for a reply.
  var isProbing = false

  /// Takes ownership of a corked stream that is ready. Under the loop's lock.
  init(
    stream: PulseStream, core: RenderCore, signal: EventSignal, counters: PulseCounters, requests: StreamRequests,
    onSharing: (@Sendable (SharingNotice) -> Void)?,
    wakeControl: @escaping @Sendable () -> Void, onNotice: @escaping @Sendable (DeviceNotice) -> Void,
    onFailure: @escaping @Sendable (MediaError) -> Void
  ) {
    self.stream = stream
    self.core = core
    self.signal = signal
    self.counters = counters
    self.requests = requests
    self.onSharing = onSharing
    self.wakeControl = wakeControl
    self.onNotice = onNotice
    self.onFailure = onFailure
    bytesPerFrame = core.format.bytesPerFrame
    sampleRateHz = core.format.sampleRateHz
    baseFrame = core.renderedFrame
    writtenFrame = baseFrame
    minimumHeardFrame = baseFrame
    lastReadFrame = baseFrame
    lastTimingRequest = HostTime(nanoseconds: 0)
    lastRead = HostTime(nanoseconds: 0)
    heardClock = HeardClock(sampleRateHz: sampleRateHz)
    phase = .corked(readFrame: baseFrame)
    // By the user, or by a role module whose cork request was lost.
    if stream.properties.isMuted { interruption.beginUnconfirmed() }
  }

  var pointer: OpaquePointer { stream.pointer }
  var connection: PulseConnection { stream.connection }
  var context: OpaquePointer { stream.connection.context }
  var isGraphNode: Bool { stream.properties.isGraphNode }

  // MARK: - Lifecycle

  func begin() {
    deviceIndex = pa_stream_get_device_index(pointer)
    core.clock.publish(heardFrame: baseFrame, at: .now, isRunning: false)
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
    cancelClockEvent()
    cancelWatchdog()
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
    cancelWatchdog()
    stream.disableSignal()
  }

  // MARK: - Commands

  func signalRaised() {
    signal.clear()
    handleRequests()
    switch phase {
    case .corked(let readFrame): startIfActive(readFrame: readFrame)
    case .running: applyCommandsWhileRunning()
    case .corking: hasCommandsAfterCork = true
    case .failed: break
    }
  }

  private func applyCommandsWhileRunning() {
    switch core.pendingEffect(fromFrame: unreadFrame) {
    case .replaces: jump()
    case .silences:
      // A corked stream reports exactly where everything stopped.
      isSplicePending = false
      hasCommandsAfterCork = true
      cork()
    case .mixes:
      isSplicePending = true
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
      lastRead = HostTime(nanoseconds: 0)
      stall.end()
      consumption.start(at: .now)
      renderAndWrite()
      if phase == .running {
        setCorked(false) { _, _, userdata in Box.target(userdata)?.uncorked() }
        armWatchdog()
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
    if stall.frame == nil, isClockRunning, let frame = heardClock.heardFrame(at: now), frame >= Double(writtenFrame) {
      // All written audio was heard before this request arrived: the device underruns.
      stopClock(at: writtenFrame)
    }
    // After a jump the server also requests the audio that the jump skipped.
    if jumpTiming == nil {
      let readCount = blocks.recordRead(room: byteCount / bytesPerFrame)
      if lastRead.nanoseconds > 0, readCount > 0 { recordBlockSize(frames: Int64(readCount)) }
      lastRead = now
    }
    // A pending splice will replace this audio: rendering now would apply the splice's commands too early. (During a
    // stall a splice waits, so audio is written.)
    if !isSplicePending || stall.frame != nil {
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
    let queued = Int(writtenFrame - core.renderedFrame)
    var remaining = blocks.frameCountToWrite(
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
      let frameCount = blocks.chunkFrameCount(of: remaining, room: byteCount / bytesPerFrame)
      let offset = (core.renderedFrame - writtenFrame) * Int64(bytesPerFrame)
      core.render(into: memory.assumingMemoryBound(to: Float.self), frameCount: frameCount)
      let status =
        isJump
        ? pa_stream_write(pointer, memory, frameCount * bytesPerFrame, nil, 0, PA_SEEK_RELATIVE_ON_READ)
        : pa_stream_write(pointer, memory, frameCount * bytesPerFrame, nil, offset, PA_SEEK_RELATIVE)
      guard status == 0 else { return fail("the stream cannot be written") }
      isJump = false
      writtenFrame = core.renderedFrame
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
    guard phase == .running, !core.isActive, !isSplicePending else { return }
    let frame = isClockRunning ? heardClock.heardFrame(at: now) ?? 0 : Double(minimumHeardFrame)
    guard frame >= Double(core.lastAudibleFrame) else { return }
    cork()
  }

  func cork() {
    phase = .corking
    stall.end()
    corkTiming = nil
    setCorked(true) { _, _, userdata in Box.target(userdata)?.corked() }
  }

  private func corked() {
    guard phase == .corking else { return }
    // Some devices return consumed audio when they are corked, so the position is queried after the cork.
    requestTiming()
    corkTiming = timingsRequested
  }

  /// Records that the corked stream is paused at `readFrame`, or at the earlier frame from which it resumes.
  func corkCompleted(readFrame corkedFrame: Int64) {
    let readFrame = resumeFrame(readFrame: corkedFrame)
    phase = .corked(readFrame: readFrame)
    corkTiming = nil
    unverifiedSpliceFrame = nil
    cancelWatchdog()
    core.release(heardFrame: readFrame)
    stopClockWhenHeard(readFrame)
    if hasCommandsAfterCork {
      hasCommandsAfterCork = false
      startIfActive(readFrame: readFrame)
    }
  }

  private func setCorked(_ isCorked: Bool, _ done: @escaping pa_stream_success_cb_t) {
    stream.setCorked(isCorked, userdata, done)?.release()
  }
}
