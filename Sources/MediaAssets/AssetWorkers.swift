// Threads that may block. A thread that waits for bytes in the kernel cannot be interrupted: it is left to itself, and how many of
// those there may be is bounded.
import DequeModule
import Glibc
import MediaCore
import RealtimeAudio
import Synchronization

/// A few threads on which files are opened for who waits without blocking. What is slow gives up its place to others, and fails when
/// it takes too long.
///
/// Threading: any. A thread lives while there is work.
public final class AssetWorkers: Sendable {
  /// What all assets are loaded by unless a test says otherwise.
  public static let shared = AssetWorkers()

  /// Work that waits or is being done.
  package final class Job: Sendable {
    fileprivate typealias Work = (
      body: @Sendable (Job) -> Void, timedOut: @Sendable (OpeningTimeout) -> Void
    )

    /// Nil once it is over: whoever has the job, whom the work may have, keeps nothing of it.
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

    /// Does it, unless it has been given up.
    fileprivate func run() {
      work.withLock { $0?.body }?(self)
      letGo()
    }

    /// It is over. Answers what it was; nil when that had been before. Not under a lock: what the work had may end with it.
    @discardableResult
    fileprivate func letGo() -> Work? {
      work.withLock { work in
        defer { work = nil }
        return work
      }
    }

    /// Nobody needs it any more: it does not begin, or its thread is left to itself. Does not block.
    package func cancel() { workers.giveUp(self) }

    /// It does not hang: it is slow when nothing is heard of it from now on for as long as makes work slow. From here on it may take as
    /// long as it likes.
    package func goesOn() { workers.noteGoing(self) }
  }

  private struct Run {
    let job: Job
    /// When it began, or it was last heard that it goes on.
    var since: Int64
    /// How long it may take since then; nil: as long as it likes.
    var limitNanoseconds: Int64?
    var isSlow = false
  }

  private struct State {
    var waiting: Deque<Job> = []
    /// What is being done and has not been given up.
    var running: [ObjectIdentifier: Run] = [:]
    var places: WorkPlaces
    var stuckSince: Int64?
    var hasWatcher = false
  }

  private let limits: WorkPlaces.Limits
  private let isWatched: Bool
  private let threadName: String
  private let niceness: Int32
  private let state: Mutex<State>

  /// - Parameter threadLimit: how much is done at once, 1 or more.
  public convenience init(threadLimit: Int = 4) {
    precondition(threadLimit > 0, "work needs a thread")
    self.init(limits: WorkPlaces.Limits(placeCount: threadLimit))
  }

  /// - Parameters:
  ///   - isWatched: whether there is a thread that looks at the time; else who has it calls `check`.
  ///   - niceness: how much less of the processor the threads get than others.
  package init(
    limits: WorkPlaces.Limits, isWatched: Bool = true, threadName: String = "load-asset", niceness: Int32 = 0
  ) {
    (self.limits, self.isWatched, self.threadName, self.niceness) = (limits, isWatched, threadName, niceness)
    state = Mutex(State(places: WorkPlaces(limits)))
  }

  /// Runs `body`, which may block, on one of the threads. Does not block.
  ///
  /// - Parameters:
  ///   - limitNanoseconds: how long it may take.
  ///   - isNext: whether it goes before all that waits.
  ///   - timedOut: called once that is over, or when it could not begin because all threads are held up, with what happened; not
  ///     when `body` has returned. On another thread; it must not block.
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

  /// How much has not begun yet.
  package var waitingCount: Int { state.withLock { $0.waiting.count } }
  /// How many threads there are, with those that are left to themselves.
  package var threadCount: Int { state.withLock { $0.places.threadCount } }

  // MARK: - Doing

  private func startNext() {
    while let job = state.withLock({ take(&$0, forNewThread: true) }) {
      NamedThread.detached(name: threadName) { [self] in
        // Linux: of this thread alone. Where it is refused it runs as everything else does.
        if niceness != 0 { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
        work(job)
      }
    }
  }

  /// What is to be done next, if there is a place.
  private func take(_ state: inout State, forNewThread: Bool) -> Job? {
    guard state.places.hasPlace, !forNewThread || state.places.hasThread, let job = state.waiting.popFirst() else {
      return nil
    }
    state.places.begin(onNewThread: forNewThread)
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
        let next = take(&state, forNewThread: false)
        if next == nil { state.places.endThread() }
        return next
      }
      guard let next else { break }
      job = next
    }
    // There may have been no thread for what waits.
    startNext()
  }

  /// It has no place any more.
  private func end(_ job: Job, _ state: inout State) {
    guard let run = state.running.removeValue(forKey: ObjectIdentifier(job)) else { return }
    if !run.isSlow { state.places.giveUpPlace() }
  }

  private func giveUp(_ job: Job) {
    state.withLock { state in
      state.waiting.removeAll { $0 === job }
      end(job, &state)
    }
    job.letGo()
    startNext()
  }

  private func noteGoing(_ job: Job) {
    let now = MonotonicClock.nanoseconds
    state.withLock { state in
      guard var run = state.running[ObjectIdentifier(job)] else { return }
      (run.since, run.limitNanoseconds) = (now, nil)
      if run.isSlow {
        // It takes its place again, beside who has it meanwhile.
        run.isSlow = false
        state.places.begin(onNewThread: false)
      }
      state.running[ObjectIdentifier(job)] = run
    }
  }

  // MARK: - What takes long

  /// Nothing is due earlier than a slow one's time after it began: looking at it that often suffices.
  private func watch() {
    repeat {
      var time = timespec(
        tv_sec: Int(limits.slowNanoseconds / 1_000_000_000), tv_nsec: Int(limits.slowNanoseconds % 1_000_000_000))
      nanosleep(&time, nil)
    } while check(at: MonotonicClock.nanoseconds)
  }

  /// Does what is due at a moment; false when nothing is left that could be due later.
  @discardableResult
  package func check(at now: Int64) -> Bool {
    let (failures, isNeeded) = state.withLock { state -> ([(Job, OpeningTimeout)], Bool) in
      var failures: [(Job, OpeningTimeout)] = []
      for (id, run) in state.running {
        if !run.isSlow, now - run.since >= limits.slowNanoseconds {
          state.running[id]?.isSlow = true
          state.places.giveUpPlace()
        }
        guard let limit = run.limitNanoseconds, now - run.since >= limit else { continue }
        end(run.job, &state)
        failures.append((run.job, .notOpen(afterNanoseconds: limit)))
      }
      let isStuck = state.places.areHeldUp && !state.waiting.isEmpty
      state.stuckSince = isStuck ? state.stuckSince ?? now : nil
      if let since = state.stuckSince, now - since >= limits.stuckNanoseconds {
        let count = state.places.threadCount
        failures += state.waiting.map { ($0, .othersHang(count: count)) }
        state.waiting = []
        state.stuckSince = nil
      }
      let isNeeded = !state.waiting.isEmpty || !state.running.isEmpty
      if !isNeeded { state.hasWatcher = false }
      return (failures, isNeeded)
    }
    startNext()
    for (job, reason) in failures { job.letGo()?.timedOut(reason) }
    return isNeeded
  }
}

extension Asset {
  /// How long it may take to find out what is in an ordinary place: 30 s.
  package static let openingNanoseconds: Int64 = 30_000_000_000

  /// How long it may take to find out what this is: a server has the time that was allowed for connecting, answering and two pauses;
  /// a pipe ten minutes; what is read to its end has 20 times as much.
  package var openingNanoseconds: Int64 {
    var seconds = Self.openingNanoseconds / 1_000_000_000
    if mayUseNetwork {
      let options = httpOptions
      let parts = [options.connectTimeout, options.firstByteTimeout, options.stallTimeout, options.stallTimeout]
      seconds = parts.reduce(0) { $0 + max(0, min(86_400, $1.components.seconds)) }
    }
    // Who writes into a pipe begins when it pleases him.
    if descriptor?.kind == .stream { seconds = 600 }
    return max(1, seconds) * (prefersPreciseDuration ? 20 : 1) * 1_000_000_000
  }
}
