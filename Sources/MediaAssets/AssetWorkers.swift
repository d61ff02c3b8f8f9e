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

  /// How much is done at once, and for how long.
  struct Limits: Sendable {
    /// What is done at once, while nothing is slow.
    var placeCount = 4
    /// Threads, with those that slow work has, and those that nobody waits for any more.
    var threadCount = 32
    /// After this work is slow: other work begins besides.
    var slowNanoseconds: Int64 = 2_000_000_000
    /// How long work waits while every thread is held up.
    var stuckNanoseconds: Int64 = Asset.openingNanoseconds
  }

  /// Work that waits or is being done.
  final class Job: Sendable {
    fileprivate let body: @Sendable () -> Void
    fileprivate let timedOut: @Sendable (String) -> Void
    fileprivate let limitNanoseconds: Int64
    private let workers: AssetWorkers

    fileprivate init(
      _ workers: AssetWorkers, limitNanoseconds: Int64, _ body: @escaping @Sendable () -> Void,
      timedOut: @escaping @Sendable (String) -> Void
    ) {
      (self.workers, self.limitNanoseconds, self.body, self.timedOut) = (workers, limitNanoseconds, body, timedOut)
    }

    /// Nobody needs it any more: it does not begin, or its thread is left to itself. Does not block.
    func cancel() { workers.giveUp(self) }
  }

  private struct Run {
    let job: Job
    let begin: Int64
    var isSlow = false
  }

  private struct State {
    var waiting: Deque<Job> = []
    /// What is being done and has not been given up.
    var running: [ObjectIdentifier: Run] = [:]
    /// Those of it that are not slow.
    var placesTaken = 0
    var threadCount = 0
    var stuckSince: Int64?
    var hasWatcher = false
  }

  private let limits: Limits
  private let isWatched: Bool
  private let state = Mutex(State())

  /// - Parameter threadLimit: how much is done at once, 1 or more.
  public convenience init(threadLimit: Int = 4) {
    precondition(threadLimit > 0, "work needs a thread")
    var limits = Limits()
    limits.placeCount = threadLimit
    self.init(limits: limits)
  }

  /// - Parameter isWatched: whether there is a thread that looks at the time; else who has it calls `check`.
  init(limits: Limits, isWatched: Bool = true) {
    self.limits = limits
    self.isWatched = isWatched
  }

  /// Runs `body`, which may block, on one of the threads. Does not block.
  ///
  /// - Parameters:
  ///   - limitNanoseconds: how long it may take.
  ///   - timedOut: called once that is over, or when it could not begin because all threads are held up, with what happened; not
  ///     when `body` has returned. On another thread; it must not block.
  @discardableResult
  func run(
    forNanoseconds limitNanoseconds: Int64, _ body: @escaping @Sendable () -> Void,
    timedOut: @escaping @Sendable (String) -> Void
  ) -> Job {
    let job = Job(self, limitNanoseconds: limitNanoseconds, body, timedOut: timedOut)
    let watches = state.withLock { state in
      state.waiting.append(job)
      defer { state.hasWatcher = isWatched }
      return isWatched && !state.hasWatcher
    }
    startNext()
    if watches { NamedThread.detached(name: "load-watch") { [self] in watch() } }
    return job
  }

  /// How much has not begun yet.
  var waitingCount: Int { state.withLock { $0.waiting.count } }
  /// How many threads there are, with those that are left to themselves.
  var threadCount: Int { state.withLock { $0.threadCount } }

  // MARK: - Doing

  private func startNext() {
    while let job = state.withLock({ take(&$0, forNewThread: true) }) {
      NamedThread.detached(name: "load-asset") { [self] in work(job) }
    }
  }

  /// What is to be done next, if there is a place.
  private func take(_ state: inout State, forNewThread: Bool) -> Job? {
    guard state.placesTaken < limits.placeCount, !forNewThread || state.threadCount < limits.threadCount,
      let job = state.waiting.popFirst()
    else { return nil }
    state.placesTaken += 1
    if forNewThread { state.threadCount += 1 }
    state.running[ObjectIdentifier(job)] = Run(job: job, begin: MonotonicClock.nanoseconds)
    return job
  }

  private func work(_ first: Job) {
    var job = first
    while true {
      job.body()
      let next = state.withLock { state -> Job? in
        end(job, &state)
        let next = take(&state, forNewThread: false)
        if next == nil { state.threadCount -= 1 }
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
    if !run.isSlow { state.placesTaken -= 1 }
  }

  private func giveUp(_ job: Job) {
    state.withLock { state in
      state.waiting.removeAll { $0 === job }
      end(job, &state)
    }
    startNext()
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
  func check(at now: Int64) -> Bool {
    let (failures, isNeeded) = state.withLock { state -> ([(Job, String)], Bool) in
      var failures: [(Job, String)] = []
      for (id, run) in state.running {
        if !run.isSlow, now - run.begin >= limits.slowNanoseconds {
          state.running[id]?.isSlow = true
          state.placesTaken -= 1
        }
        guard now - run.begin >= run.job.limitNanoseconds else { continue }
        end(run.job, &state)
        failures.append((run.job, "is not open after \(run.job.limitNanoseconds / 1_000_000_000) s"))
      }
      let isStuck = state.threadCount >= limits.threadCount && state.placesTaken == 0 && !state.waiting.isEmpty
      state.stuckSince = isStuck ? state.stuckSince ?? now : nil
      if let since = state.stuckSince, now - since >= limits.stuckNanoseconds {
        failures += state.waiting.map { ($0, "cannot be opened while \(state.threadCount) others hang") }
        state.waiting = []
      }
      let isNeeded = !state.waiting.isEmpty || !state.running.isEmpty
      if !isNeeded { state.hasWatcher = false }
      return (failures, isNeeded)
    }
    startNext()
    for (job, reason) in failures { job.timedOut(reason) }
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
    if case .url(_, let options) = place {
      let parts = [options.connectTimeout, options.firstByteTimeout, options.stallTimeout, options.stallTimeout]
      seconds = parts.reduce(0) { $0 + max(0, min(86_400, $1.components.seconds)) }
    }
    // Who writes into a pipe begins when it pleases him.
    if descriptor?.kind == .stream { seconds = 600 }
    return max(1, seconds) * (prefersPreciseDuration ? 20 : 1) * 1_000_000_000
  }

  /// Why opening it was given up.
  func timedOut(_ reason: String) -> MediaError {
    MediaError(.openingTimedOut, "\(displayPath) \(reason)", operation: "open")
  }
}
