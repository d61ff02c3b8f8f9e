import MediaCore
import RealtimeAudio
import Synchronization

/// A control loop whose time passes only when it is told to (`playheadd --clock virtual`, tests). Jobs run on the loop
/// it wraps; timers wait for virtual time.
///
/// `advance` moves time from timer to timer; between two it lets the sink be heard, frame-exactly. It waits for decoders
/// until they have done all that they can, and what they report has been taken in. So everything happens at its exact
/// instant, in the same order each time, as fast as decoding allows.
///
/// Threading: confined to the wrapped loop, but for `execute` and `enqueue`.
public final class VirtualControlLoop: ControlLoop, @unchecked Sendable {
  // `@unchecked Sendable`: `timers` and `advances` are confined to the loop; `time` is atomic.
  private let base: any ControlLoop
  private let time = Atomic<Int64>(0)
  private var timers = TimerHeap()
  private var sink: VirtualSink?
  /// Spans that are still to pass, first come, first served.
  private var advances: [Advance] = []
  private var isAdvancing = false
  /// Takes in what the output has to say. Set by the engine.
  var takeInEvents: () -> Void = {}
  /// Whether everything that must be ready before time passes is. Set by the engine.
  var isSettled: () -> Bool = { true }

  private struct Advance {
    var target: HostTime
    let completion: @Sendable () -> Void
  }

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

  /// Lets `sink` be heard while this loop's time passes.
  public func attach(_ sink: VirtualSink) { self.sink = sink }

  /// Lets `nanoseconds` pass; `completion` is called on the loop once they have, and all they caused has happened.
  public func advance(byNanoseconds nanoseconds: Int64, completion: @escaping @Sendable () -> Void) {
    assertIsolated()
    let start = advances.last?.target ?? now
    advances.append(Advance(target: start.advanced(byNanoseconds: max(0, nanoseconds)), completion: completion))
    continueAdvancing()
  }

  /// Something that an advance may wait for has happened: a decoder delivered, a player got ready.
  func continueAdvancing() {
    guard !advances.isEmpty, !isAdvancing else { return }
    isAdvancing = true
    // A job of its own, behind everything that is queued, so that whatever was caused so far has happened.
    base.execute { self.step() }
  }

  private func step() {
    isAdvancing = false
    takeInEvents()
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
    if pass(until: deadline) { continueAdvancing() }
  }

  /// Moves time towards `deadline`, as far as samples are there. False when none were: a decoder will call again.
  private func pass(until deadline: HostTime) -> Bool {
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
