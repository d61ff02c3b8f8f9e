import ControlLoop
import MediaAssets
import MediaCore
import RealtimeAudio

/// A bounded pool of blocking threads. Results and timeouts are delivered on the control loop. The owner decides what
/// to run next.
///
/// Threading: all methods and closures on the control loop, except for the blocking work.
final class LoopWorkers: @unchecked Sendable {
  // `@unchecked Sendable`: confined to `loop`.

  /// Work that has a thread.
  final class Run: @unchecked Sendable {
    // `@unchecked Sendable`: confined to `loop`.
    fileprivate enum Phase { case running, slow, over }

    fileprivate var phase = Phase.running
    fileprivate var timer: (any ControlTimer)?
    fileprivate let timedOut: @Sendable (OpeningTimeout) -> Void

    fileprivate init(timedOut: @escaping @Sendable (OpeningTimeout) -> Void) { self.timedOut = timedOut }
  }

  private let loop: any ControlLoop
  private let threadName: String
  private var places: WorkSlots
  /// Runs while no thread is available for waiting work.
  private var stuckTimer: (any ControlTimer)?
  /// Called when a slot may have become free.
  var roomAppeared: @Sendable () -> Void = {}
  /// Called when waiting work has waited for a thread for the maximum time.
  var gotStuck: @Sendable (OpeningTimeout) -> Void = { _ in }

  init(loop: any ControlLoop, limits: WorkSlots.Limits, threadName: String) {
    (self.loop, self.threadName) = (loop, threadName)
    places = WorkSlots(limits)
  }

  /// Whether work can begin now.
  var hasRoom: Bool { places.hasFreeSlot && places.canAddThread }

  /// Begins work. `hasRoom` must be true.
  ///
  /// - Parameters:
  ///   - limitNanoseconds: the time limit of the work.
  ///   - body: the blocking work, on a thread. Its result is delivered on the loop, unless the work timed out or was
  ///     given up.
  ///   - timedOut: called when the time limit is exceeded.
  func begin<Outcome: Sendable>(
    forNanoseconds limitNanoseconds: Int64, _ body: @escaping @Sendable () -> Outcome,
    finished: @escaping @Sendable (Outcome) -> Void, timedOut: @escaping @Sendable (OpeningTimeout) -> Void
  ) -> Run {
    places.acquireSlot()
    let run = Run(timedOut: timedOut)
    NamedThread.detached(name: threadName) { [loop] in
      let outcome = body()
      loop.execute {
        self.places.endThread()
        let isWanted = run.phase != .over
        self.end(run)
        if isWanted { finished(outcome) }
        self.roomAppeared()
      }
    }
    run.timer = loop.schedule(at: loop.now.advanced(byNanoseconds: places.limits.slowNanoseconds)) {
      self.tookLong(run, limitNanoseconds)
    }
    return run
  }

  /// Gives up work: frees its slot and abandons its thread.
  func giveUp(_ run: Run) { end(run) }

  private func end(_ run: Run) {
    if run.phase == .running { places.releaseSlot() }
    run.phase = .over
    run.timer?.cancel()
    run.timer = nil
  }

  /// Handles slow work: it keeps its thread and releases its slot.
  private func tookLong(_ run: Run, _ limitNanoseconds: Int64) {
    guard run.phase == .running else { return }
    run.phase = .slow
    places.releaseSlot()
    let rest = max(0, limitNanoseconds - places.limits.slowNanoseconds)
    run.timer = loop.schedule(at: loop.now.advanced(byNanoseconds: rest)) {
      guard run.phase == .slow else { return }
      self.end(run)
      run.timedOut(.notOpen(afterNanoseconds: limitNanoseconds))
      self.roomAppeared()
    }
    roomAppeared()
  }

  /// Watches for the case that all threads are blocked, in which no work can begin. Waiting work fails after the time
  /// limit of an opening. Must be called when the waiting queue becomes empty or non-empty, and when a slot becomes
  /// free.
  func watch(isAnyWaiting: Bool) {
    let isStuck = places.isExhausted && isAnyWaiting
    guard isStuck != (stuckTimer != nil) else { return }
    stuckTimer?.cancel()
    stuckTimer = nil
    guard isStuck else { return }
    stuckTimer = loop.schedule(at: loop.now.advanced(byNanoseconds: places.limits.stuckNanoseconds)) { [self] in
      stuckTimer = nil
      gotStuck(.othersBlocked(count: places.threadCount))
      roomAppeared()
    }
  }
}
