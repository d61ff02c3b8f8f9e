import PlayheadControlLoop
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// A bounded pool of blocking threads. Results and timeouts are delivered on the control loop. The owner decides what
/// to run next.
///
/// Threading: all methods and closures on the control loop, except for the blocking work.
final class LoopWorkers: @unchecked Sendable {
  // `@unchecked Sendable`: confined to `loop`.

  /// One unit of work on its thread.
  final class Run: @unchecked Sendable {
    // `@unchecked Sendable`: confined to `loop`.
    fileprivate enum Phase { case running, slow, ended }

    fileprivate var phase = Phase.running
    fileprivate var timer: (any ControlTimer)?
    fileprivate let timedOut: @Sendable (OpeningTimeout) -> Void

    fileprivate init(timedOut: @escaping @Sendable (OpeningTimeout) -> Void) { self.timedOut = timedOut }
  }

  private let loop: any ControlLoop
  private let threadName: String
  private var slots: WorkSlots
  /// Set while work waits and no thread is available.
  private var blockedTimer: (any ControlTimer)?
  /// Called when a slot may have become free.
  var onSlotFreed: @Sendable () -> Void = {}
  /// Called when all threads have been blocked for the maximum time while work waits.
  var onAllThreadsBlocked: @Sendable (OpeningTimeout) -> Void = { _ in }

  init(loop: any ControlLoop, limits: WorkSlots.Limits, threadName: String) {
    (self.loop, self.threadName) = (loop, threadName)
    slots = WorkSlots(limits)
  }

  /// Whether work can start now.
  var hasFreeSlot: Bool { slots.hasFreeSlot && slots.canAddThread }

  /// Starts work. `hasFreeSlot` must be true.
  ///
  /// - Parameters:
  ///   - limitNanoseconds: the time limit of the work.
  ///   - body: the blocking work, on a thread. Its result is delivered on the loop, unless the work timed out or was
  ///     abandoned.
  ///   - timedOut: called when the time limit is exceeded.
  func start<Outcome: Sendable>(
    forNanoseconds limitNanoseconds: Int64, _ body: @escaping @Sendable () -> Outcome,
    finished: @escaping @Sendable (Outcome) -> Void, timedOut: @escaping @Sendable (OpeningTimeout) -> Void
  ) -> Run {
    slots.acquireSlot()
    let run = Run(timedOut: timedOut)
    NamedThread.detached(name: threadName) { [loop] in
      let outcome = body()
      loop.execute {
        self.slots.endThread()
        let isPending = run.phase != .ended
        self.end(run)
        if isPending { finished(outcome) }
        self.onSlotFreed()
      }
    }
    run.timer = loop.schedule(at: loop.now.advanced(byNanoseconds: slots.limits.slowNanoseconds)) {
      self.handleSlowWork(run, limitNanoseconds)
    }
    return run
  }

  /// Abandons work: frees its slot, and does not wait for its thread.
  func abandon(_ run: Run) { end(run) }

  private func end(_ run: Run) {
    if run.phase == .running { slots.releaseSlot() }
    run.phase = .ended
    run.timer?.cancel()
    run.timer = nil
  }

  /// Handles slow work: it keeps its thread and releases its slot.
  private func handleSlowWork(_ run: Run, _ limitNanoseconds: Int64) {
    guard run.phase == .running else { return }
    run.phase = .slow
    slots.releaseSlot()
    let rest = max(0, limitNanoseconds - slots.limits.slowNanoseconds)
    run.timer = loop.schedule(at: loop.now.advanced(byNanoseconds: rest)) {
      guard run.phase == .slow else { return }
      self.end(run)
      run.timedOut(.notOpen(afterNanoseconds: limitNanoseconds))
      self.onSlotFreed()
    }
    onSlotFreed()
  }

  /// Starts or stops the timer that runs while all threads are blocked, so that no work can start. When the timer
  /// fires, `onAllThreadsBlocked` is called. Must be called when the waiting queue becomes empty or non-empty, and when
  /// a slot becomes free.
  func watchForBlockedThreads(isAnyWaiting: Bool) {
    let areAllBlocked = slots.isExhausted && isAnyWaiting
    guard areAllBlocked != (blockedTimer != nil) else { return }
    blockedTimer?.cancel()
    blockedTimer = nil
    guard areAllBlocked else { return }
    blockedTimer = loop.schedule(at: loop.now.advanced(byNanoseconds: slots.limits.stuckNanoseconds)) { [self] in
      blockedTimer = nil
      onAllThreadsBlocked(.othersBlocked(count: slots.threadCount))
      onSlotFreed()
    }
  }
}
