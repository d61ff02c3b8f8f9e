// Threads that may block. A thread that blocks in a kernel read cannot be interrupted: it is abandoned. The number of
// abandoned threads is bounded.
import DequeModule
import Glibc
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadRealtimeAudio
import Synchronization

/// A small pool of threads that open files for asynchronous requests. A slow job releases its slot for other jobs, and
/// fails after its time limit.
///
/// Threading: any. A thread lives while there is work.
package final class AssetWorkers: Sendable {
  /// The pool that loads all assets by default.
  package static let shared = AssetWorkers()

  /// A job that waits or runs.
  package final class Job: Sendable {
    fileprivate typealias Work = (
      body: @Sendable (Job) -> Void, timedOut: @Sendable (OpeningTimeout) -> Void
    )

    /// The work; nil after the end, because `body` may retain the job itself.
    private let work: Mutex<Work?>
    fileprivate let limitNanoseconds: Int64
    private let workers: AssetWorkers

    fileprivate init(
      _ workers: AssetWorkers, limitNanoseconds: Int64, _ body: @escaping @Sendable (Job) -> Void,
      timedOut: @escaping @Sendable (OpeningTimeout) -> Void
    ) {
      (self.workers, self.limitNanoseconds) = (workers, limitNanoseconds)
      work = Mutex((body, timedOut))
    }

    /// Runs the work, unless the job was cancelled.
    fileprivate func run() {
      work.withLock { $0?.body }?(self)
      releaseWork()
    }

    /// Ends the job and returns its work; nil if it had ended before. Call it without a lock: releasing the work may
    /// run `deinit`s.
    @discardableResult
    fileprivate func releaseWork() -> Work? {
      work.withLock { work in
        defer { work = nil }
        return work
      }
    }

    /// Cancels the job: it does not start, or its thread is abandoned. Does not block.
    package func cancel() { workers.abandon(self) }

    /// Reports progress of the job, and removes its time limit. The job counts as slow only if it reports no further
    /// progress for `slowNanoseconds`.
    package func reportProgress() { workers.noteProgress(self) }
  }

  private struct Run {
    let job: Job
    /// The time of the start, or of the latest report of progress.
    var since: Int64
    /// The time limit, counted from `since`; nil: unlimited.
    var limitNanoseconds: Int64?
    var isSlow = false
  }

  private struct State {
    var waiting: Deque<Job> = []
    /// The jobs that run and were not cancelled.
    var running: [ObjectIdentifier: Run] = [:]
    var slots: WorkSlots
    var stuckSince: Int64?
    var hasWatcher = false
  }

  private let limits: WorkSlots.Limits
  private let isWatched: Bool
  private let threadName: String
  private let niceness: Int32
  private let state: Mutex<State>

  /// - Parameter threadLimit: the number of concurrent jobs, 1 or more.
  package convenience init(threadLimit: Int = 4) {
    precondition(threadLimit > 0, "the thread limit must be positive")
    self.init(limits: WorkSlots.Limits(slotCount: threadLimit))
  }

  /// - Parameters:
  ///   - isWatched: whether a thread checks the time limits; otherwise the owner calls `check`.
  ///   - niceness: the nice value of the threads; a higher value gets less processor time.
  package init(
    limits: WorkSlots.Limits, isWatched: Bool = true, threadName: String = "load-asset", niceness: Int32 = 0
  ) {
    (self.limits, self.isWatched, self.threadName, self.niceness) = (limits, isWatched, threadName, niceness)
    state = Mutex(State(slots: WorkSlots(limits)))
  }

  /// Runs `body`, which may block, on one of the threads. Does not block.
  ///
  /// - Parameters:
  ///   - limitNanoseconds: the time limit of `body` in ns.
  ///   - isNext: whether the job precedes all waiting jobs.
  ///   - timedOut: called with the reason after the time limit, or if the job could not start because all threads are
  ///     blocked. Not called after `body` has returned. It is called on another thread and must not block.
  @discardableResult
  package func run(
    forNanoseconds limitNanoseconds: Int64, isNext: Bool = false, _ body: @escaping @Sendable (Job) -> Void,
    timedOut: @escaping @Sendable (OpeningTimeout) -> Void
  ) -> Job {
    let job = Job(self, limitNanoseconds: limitNanoseconds, body, timedOut: timedOut)
    let watches = state.withLock { state in
      if isNext { state.waiting.prepend(job) } else { state.waiting.append(job) }
      defer { state.hasWatcher = isWatched }
      return isWatched && !state.hasWatcher
    }
    startNext()
    if watches { NamedThread.detached(name: "load-watch") { [self] in watch() } }
    return job
  }

  /// The number of jobs that have not started.
  package var waitingCount: Int { state.withLock { $0.waiting.count } }
  /// The number of threads, abandoned threads included.
  package var threadCount: Int { state.withLock { $0.slots.threadCount } }

  // MARK: - Running jobs

  private func startNext() {
    while let job = state.withLock({ dequeue(&$0, forNewThread: true) }) {
      NamedThread.detached(name: threadName) { [self] in
        // On Linux the nice value applies to this thread alone. If the kernel refuses it, the thread keeps the default.
        if niceness != 0 { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
        work(job)
      }
    }
  }

  /// Dequeues the next job, if a slot is free.
  private func dequeue(_ state: inout State, forNewThread: Bool) -> Job? {
    guard state.slots.hasFreeSlot, !forNewThread || state.slots.canAddThread, let job = state.waiting.popFirst() else {
      return nil
    }
    state.slots.acquireSlot(onNewThread: forNewThread)
    state.running[ObjectIdentifier(job)] = Run(
      job: job, since: MonotonicClock.nanoseconds, limitNanoseconds: job.limitNanoseconds)
    return job
  }

  private func work(_ first: Job) {
    var job = first
    while true {
      job.run()
      let next = state.withLock { state -> Job? in
        end(job, &state)
        let next = dequeue(&state, forNewThread: false)
        if next == nil { state.slots.endThread() }
        return next
      }
      guard let next else { break }
      job = next
    }
    // Jobs may wait because the limit of threads was reached until now.
    startNext()
  }

  /// Removes a running job and frees its slot.
  private func end(_ job: Job, _ state: inout State) {
    guard let run = state.running.removeValue(forKey: ObjectIdentifier(job)) else { return }
    if !run.isSlow { state.slots.releaseSlot() }
  }

  private func abandon(_ job: Job) {
    state.withLock { state in
      state.waiting.removeAll { $0 === job }
      end(job, &state)
    }
    job.releaseWork()
    startNext()
  }

  private func noteProgress(_ job: Job) {
    let now = MonotonicClock.nanoseconds
    state.withLock { state in
      guard var run = state.running[ObjectIdentifier(job)] else { return }
      (run.since, run.limitNanoseconds) = (now, nil)
      if run.isSlow {
        // The job occupies a slot again, in addition to the job that replaced it.
        run.isSlow = false
        state.slots.acquireSlot(onNewThread: false)
      }
      state.running[ObjectIdentifier(job)] = run
    }
  }

  // MARK: - Time limits

  /// Checks the time limits until no job is left. No limit is shorter than `slowNanoseconds`, so this is the interval
  /// of the checks.
  private func watch() {
    repeat {
      var time = timespec(
        tv_sec: Int(limits.slowNanoseconds / 1_000_000_000), tv_nsec: Int(limits.slowNanoseconds % 1_000_000_000))
      nanosleep(&time, nil)
    } while check(at: MonotonicClock.nanoseconds)
  }

  /// Applies the limits that have expired at `now`. Returns false if no limit can expire later.
  @discardableResult
  package func check(at now: Int64) -> Bool {
    let (failures, isNeeded) = state.withLock { state -> ([(Job, OpeningTimeout)], Bool) in
      var failures: [(Job, OpeningTimeout)] = []
      for (id, run) in state.running {
        if !run.isSlow, now - run.since >= limits.slowNanoseconds {
          state.running[id]?.isSlow = true
          state.slots.releaseSlot()
        }
        guard let limit = run.limitNanoseconds, now - run.since >= limit else { continue }
        end(run.job, &state)
        failures.append((run.job, .notOpen(afterNanoseconds: limit)))
      }
      let isStuck = state.slots.isExhausted && !state.waiting.isEmpty
      state.stuckSince = isStuck ? state.stuckSince ?? now : nil
      if let since = state.stuckSince, now - since >= limits.stuckNanoseconds {
        let count = state.slots.threadCount
        failures += state.waiting.map { ($0, .othersBlocked(count: count)) }
        state.waiting = []
        state.stuckSince = nil
      }
      let isNeeded = !state.waiting.isEmpty || !state.running.isEmpty
      if !isNeeded { state.hasWatcher = false }
      return (failures, isNeeded)
    }
    startNext()
    for (job, reason) in failures { job.releaseWork()?.timedOut(reason) }
    return isNeeded
  }
}

extension Asset {
  /// The time limit of loading an asset from an ordinary location: 30 s.
  package static let openingNanoseconds: Int64 = 30_000_000_000

  /// The time limit of loading this asset, in ns.
  ///
  /// - Network: the sum of the timeouts for connecting and the first byte, and two stall timeouts.
  /// - Pipe: ten minutes.
  /// - With `prefersPreciseDuration`: 20 times as long, because the whole file may be read.
  package var openingNanoseconds: Int64 {
    var nanoseconds = Self.openingNanoseconds
    if mayUseNetwork {
      let options = httpOptions
      let parts = [options.connectTimeout, options.firstByteTimeout, options.stallTimeout, options.stallTimeout]
      nanoseconds = parts.reduce(0) { $0 + max(0, min(.seconds(86_400), $1).nanoseconds) }
    }
    // The writer of a pipe may begin at any time.
    if descriptor?.kind == .stream { nanoseconds = 600_000_000_000 }
    return max(1_000_000_000, nanoseconds) * (prefersPreciseDuration ? 20 : 1)
  }
}
