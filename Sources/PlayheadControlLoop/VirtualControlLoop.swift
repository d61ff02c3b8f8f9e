import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization

/// A control loop whose time passes only on request (`playheadd --clock virtual`, tests). Jobs run on the wrapped loop;
/// timers wait for virtual time.
///
/// `advance` moves time from timer to timer. Between two timers it lets the sink play, with frame accuracy. It waits
/// until the decoders have finished all possible work and their reports have been handled. Each event therefore occurs
/// at its exact instant, and the order of events is reproducible. Time passes as fast as decoding allows.
///
/// Threading: confined to the wrapped loop, except for `now`, `execute` and `enqueue`.
public final class VirtualControlLoop: ControlLoop, @unchecked Sendable {
  // `@unchecked Sendable`: `timers`, `advances` and `wallClock` are confined to the loop; `time` is atomic.
  private let base: any ControlLoop
  private let time = Atomic<Int64>(0)
  private var timers = TimerHeap()
  private var sink: VirtualSink?
  /// The pending calls of `advance`, in order.
  private var advances: [Advance] = []
  private var isAdvancing = false
  /// The wall clock. The engine creates it before other threads can use the loop.
  package private(set) lazy var wallClock = VirtualWallClock(loop: self)
  /// Handles the pending events of the output. Set by the engine.
  package var handleOutputEvents: () -> Void = {}
  /// Whether time may pass: no decoder or player has pending work. Set by the engine.
  package var isSettled: () -> Bool = { true }

  private struct Advance {
    var target: HostTime
    let completion: @Sendable () -> Void
  }

  /// Makes a loop at virtual time 0 that runs its jobs on `base`.
  public init(base: any ControlLoop) { self.base = base }

  public var now: HostTime { HostTime(nanoseconds: time.load(ordering: .acquiring)) }

  public func execute(_ body: @escaping @Sendable () -> Void) { base.execute(body) }

  public func schedule(at time: HostTime, _ body: @escaping @Sendable () -> Void) -> any ControlTimer {
    timers.add(at: time, body)
  }

  public func enqueue(_ job: consuming ExecutorJob) { base.enqueue(job) }
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { base.asUnownedSerialExecutor() }
  public func checkIsolated() { base.checkIsolated() }
  public func isIsolatingCurrentContext() -> Bool? { base.isIsolatingCurrentContext() }

  /// Sets the sink that plays while this loop's time passes.
  public func attach(_ sink: VirtualSink) { self.sink = sink }

  /// Advances time by `nanoseconds`, after the pending calls. `completion` is called on the loop when that time is
  /// reached and all its effects have happened.
  public func advance(byNanoseconds nanoseconds: Int64, completion: @escaping @Sendable () -> Void) {
    assertIsolated()
    let start = advances.last?.target ?? now
    advances.append(Advance(target: start.advanced(byNanoseconds: max(0, nanoseconds)), completion: completion))
    continueAdvancing()
  }

  /// Handles an event for which an advance may wait: a decoder delivered audio, or a player is ready.
  package func continueAdvancing() {
    guard !advances.isEmpty, !isAdvancing else { return }
    isAdvancing = true
    // A separate job after all queued ones, so that all effects so far have happened.
    base.execute { self.step() }
  }

  private func step() {
    isAdvancing = false
    handleOutputEvents()
    guard let advance = advances.first, isSettled() else { return }
    if let timer = timers.popDue(at: now) {
      timer.fire()
      continueAdvancing()
      return
    }
    if now >= advance.target {
      advances.removeFirst()
      advance.completion()
      continueAdvancing()
      return
    }
    let deadline = min(advance.target, timers.nextTime() ?? advance.target)
    if advanceTime(until: deadline) { continueAdvancing() }
  }

  /// Advances time towards `deadline`, as far as samples are available. Returns false if no sample was available: the
  /// next report of a decoder calls `continueAdvancing`.
  private func advanceTime(until deadline: HostTime) -> Bool {
    guard let sink, sink.isAudible else {
      time.store(deadline.nanoseconds, ordering: .releasing)
      return true
    }
    let frames = sink.frameCount(until: deadline)
    let count = sink.advance(frameCount: min(frames, 4_096), while: isSettled)
    if count == 0, frames > 0 { return false }
    let reached = count == frames ? deadline : sink.hostTimeOfHeardFrame
    time.store(max(now, reached).nanoseconds, ordering: .releasing)
    return true
  }
}
