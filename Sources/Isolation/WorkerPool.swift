// Idle and busy workers. A worker starts when none is idle. A few workers stay idle, so that the next task does not
// wait for a process to start.
import Glibc
import Logging
import MediaCore
import RealtimeAudio
import Synchronization

/// The worker processes of this process.
///
/// Threading: any thread; a task blocks the calling thread.
public final class WorkerPool: Sendable {
  /// Counters for `stats`.
  public struct Statistics: Sendable, Hashable {
    /// Workers that wait for a task.
    public var idleCount = 0
    /// Workers that perform a task.
    public var busyCount = 0
    public var startedCount = 0
    public var taskCount = 0
    /// Workers that crashed during a task.
    public var crashCount = 0
  }

  struct Waiting {
    let process: WorkerProcess
    /// The nice value of the thread that started the worker. A process inherits it, and cannot lower it.
    let niceness: Int32
    let taskCount: Int
  }

  /// A thread that waits for a worker of another lease.
  private struct Waiter {
    let niceness: Int32
    let worker: ConditionMutex<Waiting?>
  }

  private struct State {
    var idle: [Waiting] = []
    var waiters: [Waiter] = []
    var statistics = Statistics()
    var isClosed = false

    mutating func takeIdle(_ niceness: Int32) -> Waiting? {
      idle.lastIndex { $0.niceness == niceness }.map { idle.remove(at: $0) }
    }
  }

  /// Maximum number of tasks of one worker. It bounds how long traces of a file stay in the worker's memory.
  private static let maximumTaskCount = 2_048
  /// Maximum number of idle workers for each nice value: the number of files that are opened concurrently.
  static let maximumIdleCount = 4
  /// Maximum number of busy workers: the number of threads that open files. Slow servers keep workers busy.
  static let maximumCount = 64

  /// The program that a worker runs.
  public let program: String
  private let logger = Logger(label: "playhead.isolation")
  private let state = Mutex(State())
  private let patienceMilliseconds: Int

  /// - Parameter program: the path of the program `playhead-worker`.
  public convenience init(program: String) { self.init(program: program, patienceMilliseconds: 25) }

  /// - Parameter patienceMilliseconds: how long a task waits for the worker of another task while a new worker starts.
  ///   A worker needs about 30 ms to load FFmpeg; most tasks take less than 2 ms.
  init(program: String, patienceMilliseconds: Int) {
    (self.program, self.patienceMilliseconds) = (program, patienceMilliseconds)
  }

  deinit { close() }

  public var statistics: Statistics {
    state.withLock { state in
      var statistics = state.statistics
      statistics.idleCount = state.idle.count
      return statistics
    }
  }

  /// Starts workers until `count` are idle, at most four. Blocks briefly.
  ///
  /// - Throws: `workerUnavailable` if the program cannot be started.
  public func start(_ count: Int = 1) throws(MediaError) {
    while state.withLock({ !$0.isClosed && $0.idle.count < min(count, Self.maximumIdleCount) }) {
      keep(try makeProcess())
    }
  }

  /// Ends idle workers. Busy workers end with their tasks.
  public func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = [] }
      return state.idle
    }
    for waiting in idle { waiting.process.kill() }
  }

  /// Reserves a worker until the lease is released. If none is idle, a new worker starts. The lease gets that one or
  /// the first that another lease releases. Blocks meanwhile. The worker has the priority of the calling thread.
  ///
  /// - Throws: `workerUnavailable` if the program cannot be started, or too many workers are busy.
  package func lease() throws(MediaError) -> WorkerLease { WorkerLease(self, try take()) }

  /// Starts a worker with special limits, which ends with its lease. Blocks while the worker starts.
  ///
  /// - Throws: the errors of `lease()`.
  package func lease(limits: WorkerLimits) throws(MediaError) -> WorkerLease {
    WorkerLease(self, try take(limits: limits), isReusable: false)
  }

  /// Accepts the worker of a released lease, for the next one.
  ///
  /// - Parameter isReusable: whether the worker still runs, sent valid messages, and has the default limits.
  func giveBack(_ waiting: Waiting, isReusable: Bool) {
    state.withLock { $0.statistics.busyCount -= 1 }
    if isReusable { keep(waiting) } else { waiting.process.kill() }
  }

  /// Waits for a worker of another lease while a new one starts, and returns the first that is ready.
  private func exchange(_ new: Waiting) -> Waiting {
    let worker = ConditionMutex<Waiting?>(nil)
    state.withLock { state in
      if let idle = state.takeIdle(new.niceness) {
        worker.update { $0 = idle }
      } else {
        state.waiters.append(Waiter(niceness: new.niceness, worker: worker))
      }
    }
    let end = HostTime.now.advanced(byNanoseconds: Int64(patienceMilliseconds) * 1_000_000)
    _ = worker.wait(until: end) { $0 }
    state.withLock { $0.waiters.removeAll { $0.worker === worker } }
    guard let returned = worker.withState(\.self) else { return new }
    keep(new)
    return returned
  }

  /// Counts and logs a worker that a file crashed.
  func noteCrash(_ end: WorkerProcess.End, file: String) {
    state.withLock { $0.statistics.crashCount += 1 }
    logger.warning("a worker process crashed", metadata: ["end": "\(end.description)", "file": "\(file)"])
  }

  /// An idle worker, or a new one. A worker with special limits is always new.
  private func take(limits: WorkerLimits? = nil) throws(MediaError) -> Waiting {
    let niceness = Self.threadNiceness
    let (isFull, areOthersBusy, idle) = state.withLock { state in
      let busyCount = state.statistics.busyCount
      if busyCount >= Self.maximumCount { return (true, true, nil as Waiting?) }
      state.statistics.busyCount += 1
      state.statistics.taskCount += 1
      return (false, busyCount > 0, limits == nil ? state.takeIdle(niceness) : nil)
    }
    if isFull {
      throw MediaError(.workerUnavailable, "all \(Self.maximumCount) worker processes are busy", operation: "worker")
    }
    if let idle { return idle }
    do throws(MediaError) {
      let new = try makeProcess(limits ?? WorkerLimits())
      return limits == nil && areOthersBusy ? exchange(new) : new
    } catch {
      state.withLock { $0.statistics.busyCount -= 1 }
      throw error
    }
  }

  private func makeProcess(_ limits: WorkerLimits = WorkerLimits()) throws(MediaError) -> Waiting {
    let process = try WorkerProcess(program: program, limits: limits)
    state.withLock { $0.statistics.startedCount += 1 }
    return Waiting(process: process, niceness: Self.threadNiceness, taskCount: 0)
  }

  /// The nice value of the calling thread (Linux has one for each thread).
  private static var threadNiceness: Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }

  /// Gives a worker to a waiting thread, or keeps it idle, or ends it if enough are idle.
  private func keep(_ waiting: Waiting) {
    let isKept = state.withLock { state in
      guard !state.isClosed, !waiting.process.wasKilled, waiting.taskCount < Self.maximumTaskCount else { return false }
      if let index = state.waiters.firstIndex(where: { $0.niceness == waiting.niceness }) {
        state.waiters.remove(at: index).worker.update { $0 = waiting }
        return true
      }
      guard state.idle.count(where: { $0.niceness == waiting.niceness }) < Self.maximumIdleCount else { return false }
      state.idle.append(waiting)
      return true
    }
    if !isKept { waiting.process.kill() }
  }
}

/// The worker ended during a task, or sent an invalid message.
struct WorkerLost: Error {}
