import MediaAssets
import MediaCore
import RealtimeAudio

/// Threads that may block, for work whose outcome a control loop waits for, by whose clock it is slow or takes too long. Who has them
/// decides what is done next.
///
/// Threading: everything on the control loop, where closures are called, too, but for what blocks.
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
  private var places: WorkPlaces
  /// While there is no thread for what waits.
  private var stuckTimer: (any ControlTimer)?
  /// Called when there may be a place that there was not before.
  var roomAppeared: @Sendable () -> Void = {}
  /// Called when what waits has waited for a thread for as long as it may.
  var gotStuck: @Sendable (OpeningTimeout) -> Void = { _ in }

  init(loop: any ControlLoop, limits: WorkPlaces.Limits, threadName: String) {
    (self.loop, self.threadName) = (loop, threadName)
    places = WorkPlaces(limits)
  }

  /// Whether something can begin now.
  var hasRoom: Bool { places.hasPlace && places.hasThread }

  /// Begins work, for which there must be room.
  ///
  /// - Parameters:
  ///   - limitNanoseconds: how long it may take.
  ///   - body: what may block, on a thread. What it gives is called on the loop, unless it took too long or was given up.
  ///   - timedOut: called once it takes too long.
  func begin<Outcome: Sendable>(
    forNanoseconds limitNanoseconds: Int64, _ body: @escaping @Sendable () -> Outcome,
    finished: @escaping @Sendable (Outcome) -> Void, timedOut: @escaping @Sendable (OpeningTimeout) -> Void
  ) -> Run {
    places.begin()
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

  /// Nobody waits for it any more: it has no place, and its thread is left to itself.
  func giveUp(_ run: Run) { end(run) }

  private func end(_ run: Run) {
    if run.phase == .running { places.giveUpPlace() }
    run.phase = .over
    run.timer?.cancel()
    run.timer = nil
  }

  /// It is slow: it keeps its thread, and others get its place.
  private func tookLong(_ run: Run, _ limitNanoseconds: Int64) {
    guard run.phase == .running else { return }
    run.phase = .slow
    places.giveUpPlace()
    let rest = max(0, limitNanoseconds - places.limits.slowNanoseconds)
    run.timer = loop.schedule(at: loop.now.advanced(byNanoseconds: rest)) {
      guard run.phase == .slow else { return }
      self.end(run)
      run.timedOut(.notOpen(afterNanoseconds: limitNanoseconds))
      self.roomAppeared()
    }
    roomAppeared()
  }

  /// While all threads are held up, nothing else can begin. What waits for as long as opening may take fails, too. To be called when
  /// something waits that did not, or does not that did, and whenever room appeared.
  func watch(isAnyWaiting: Bool) {
    let isStuck = places.areHeldUp && isAnyWaiting
    guard isStuck != (stuckTimer != nil) else { return }
    stuckTimer?.cancel()
    stuckTimer = nil
    guard isStuck else { return }
    stuckTimer = loop.schedule(at: loop.now.advanced(byNanoseconds: places.limits.stuckNanoseconds)) { [self] in
      stuckTimer = nil
      gotStuck(.othersHang(count: places.threadCount))
      roomAppeared()
    }
  }
}
