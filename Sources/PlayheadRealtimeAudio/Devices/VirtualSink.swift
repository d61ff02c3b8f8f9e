import PlayheadMediaCore
import Synchronization

/// A sink whose time advances only on request: for `--clock virtual` and for tests.
///
/// It renders `lookAheadFrames` ahead of the heard frame, as a device would, so that rewinds really happen.
///
/// Threading: the control loop, which is also the sink's side. `close` may run on another thread; `closing` serializes
/// it with the other calls.
public final class VirtualSink: AudioSink, @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, except for `close`, which locks `closing`.
  public let label: String
  private let format: AudioFormat
  private let lookAheadFrames: Int
  private let writer: (any SampleWriter)?
  private let now: @Sendable () -> HostTime
  private let waitsForSamples: Bool
  private var core: RenderCore?
  private var wakeControl: @Sendable () -> Void = {}
  private var onFailure: @Sendable (MediaError) -> Void = { _ in }
  /// The rendered audio that has not been heard yet: interleaved, from `heardFrame` on.
  private var queued: [Float] = []
  private var heardFrame: Int64 = 0
  private var isRunning = false
  private var hasFailed = false
  private var isOpen = false
  /// Locked while time advances, while commands are applied, and while the sink is being closed.
  private let closing = Mutex<Void>(())
  /// The time at which the clock last started, and its frame. Virtual time and frames are counted from here.
  private var anchor = (time: HostTime(nanoseconds: 0), frame: Int64(0))

  /// Creates a sink.
  ///
  /// - Parameters:
  ///   - label: The text form of the sink.
  ///   - format: The format of the output.
  ///   - lookAheadFrames: The number of frames that are rendered ahead of the heard one.
  ///   - writer: Receives each frame once it is heard.
  ///   - waitsForSamples: Whether to wait for a late decoder; otherwise the sink keeps rendering, as a device would.
  ///   - now: Returns the virtual time.
  public init(
    label: String = "virtual", format: AudioFormat, lookAheadFrames: Int = 0, writer: (any SampleWriter)? = nil,
    waitsForSamples: Bool = true, now: @escaping @Sendable () -> HostTime
  ) {
    self.label = label
    self.format = format
    self.lookAheadFrames = lookAheadFrames
    self.writer = writer
    self.waitsForSamples = waitsForSamples
    self.now = now
  }

  public func open() throws(MediaError) -> AudioFormat {
    try writer?.begin(format: format)
    isOpen = true
    return format
  }

  public func start(
    core: RenderCore, wakeControl: @escaping @Sendable () -> Void, onFailure: @escaping @Sendable (MediaError) -> Void
  ) {
    self.core = core
    self.wakeControl = wakeControl
    self.onFailure = onFailure
  }

  public func commandsPosted() { closing.withLock { _ in applyPendingCommands() } }

  private func applyPendingCommands() {
    guard let core else { return }
    // Commands also apply at the read position while the sink is paused.
    let frame = core.rewind(toFrame: heardFrame)
    queued.removeLast(queued.count - Int(frame - heardFrame) * format.channelCount)
    core.applyCommands()
    let starts = core.isActive && !isRunning
    if starts {
      isRunning = true
      anchor = (now(), heardFrame)
    }
    if isRunning { renderAhead(core, frameCount: max(1, lookAheadFrames) - queuedFrameCount) }
    publish(core)
    if starts { wakeControl() } else { wakeIfNeeded(core) }
  }

  public func close() {
    closing.withLock { _ in
      guard isOpen else { return }
      isOpen = false
      writer?.finish()
      core = nil
      // Breaks a reference cycle: the handlers retain the output, the output the loop, and the loop may retain this
      // sink.
      wakeControl = {}
      onFailure = { _ in }
    }
  }

  /// Whether advancing time produces audio: an input plays or waits for samples. False once the sink is closed.
  public var isAudible: Bool { closing.withLock { _ in isOpen && isRunning } }

  /// Returns the number of frames between the current frame and `deadline`, if no decoder is late.
  public func frameCount(until deadline: HostTime) -> Int {
    let elapsed = Int128(deadline.nanoseconds(since: anchor.time)) * Int128(format.sampleRateHz)
    let frame = anchor.frame + Int64(clamping: elapsed.floorDivided(by: 1_000_000_000))
    return max(0, Int(frame - heardFrame))
  }

  /// The virtual time at which the next frame begins to be heard.
  public var hostTimeOfHeardFrame: HostTime {
    let elapsed = (Int128(heardFrame - anchor.frame) * 1_000_000_000).ceilDivided(by: Int128(format.sampleRateHz))
    return anchor.time.advanced(byNanoseconds: Int64(clamping: elapsed))
  }

  /// Advances by at most `frameCount` frames, and stops before a running input lacks samples.
  ///
  /// - Parameters:
  ///   - frameCount: The number of frames.
  ///   - isSettled: Called after the number of renderable frames was determined; nothing is rendered if it returns
  ///     false. A decoder may have ended its stream meanwhile, and the engine must handle that first.
  /// - Returns: The number of frames; 0 when a decoder must deliver first, or when no input is active (see
  ///   `isAudible`). Without an active input, time passes without frames.
  public func advance(frameCount: Int, while isSettled: () -> Bool = { true }) -> Int {
    closing.withLock { _ in play(atMost: frameCount, while: isSettled) }
  }

  private func play(atMost frameCount: Int, while isSettled: () -> Bool) -> Int {
    guard let core, isRunning else { return 0 }
    let missing = frameCount + lookAheadFrames - queuedFrameCount
    renderAhead(core, frameCount: missing, while: isSettled)
    let count = min(frameCount, queuedFrameCount)
    guard count > 0 else { return 0 }
    play(frameCount: count)
    core.release(heardFrame: heardFrame)
    if !core.isActive, core.lastAudibleFrame <= heardFrame { isRunning = false }
    publish(core)
    wakeIfNeeded(core)
    if !isRunning { wakeControl() }
    return count
  }

  private func publish(_ core: RenderCore) {
    // A running clock is published relative to its start, so that rounding errors do not accumulate.
    let point = isRunning ? anchor : (time: now(), frame: heardFrame)
    core.clock.publish(heardFrame: point.frame, at: point.time, isRunning: isRunning)
  }

  private var queuedFrameCount: Int { queued.count / format.channelCount }

  /// Renders as many frames as the decoders have delivered.
  private func renderAhead(_ core: RenderCore, frameCount requestedCount: Int, while isSettled: () -> Bool = { true }) {
    guard requestedCount > 0 else { return }
    let frameCount = waitsForSamples ? core.readyFrameCount(atMost: requestedCount) : requestedCount
    guard frameCount > 0, isSettled() else { return }
    let count = frameCount * format.channelCount
    let block = [Float](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      if let base = buffer.baseAddress { core.render(into: base, frameCount: frameCount) }
      initializedCount = count
    }
    queued.append(contentsOf: block)
  }

  private func play(frameCount: Int) {
    let count = frameCount * format.channelCount
    if let writer, !hasFailed {
      let failure = queued.withUnsafeBufferPointer { buffer -> MediaError? in
        guard let base = buffer.baseAddress else { return nil }
        do throws(MediaError) { try writer.write(base, frameCount: frameCount) } catch { return error }
        return nil
      }
      if let failure {
        hasFailed = true
        onFailure(failure)
      }
    }
    queued.removeFirst(count)
    heardFrame += Int64(frameCount)
  }

  private func wakeIfNeeded(_ core: RenderCore) {
    if core.consumeWakeRequest() { wakeControl() }
  }
}
