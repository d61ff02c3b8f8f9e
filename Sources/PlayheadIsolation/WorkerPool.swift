// Idle and busy workers. A worker starts when none is idle. A few workers stay idle, so that the next task does not
// wait for the start of a process.
import Glibc
import Logging
import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization

/// The worker processes of this process.
///
/// Threading: any thread; a task blocks the calling thread.
package final class WorkerPool: Sendable {
  /// The numbers of workers and leases.
  package struct Statistics: Sendable, Hashable {
    /// Workers without a lease.
    package var idleCount = 0
    /// Workers with a lease.
    package var busyCount = 0
    /// Processes started so far.
    package var startedCount = 0
    /// Leases so far.
    package var leaseCount = 0
    /// Workers that crashed during a task.
    package var crashCount = 0
  }

  struct PooledWorker {
    let process: WorkerProcess
    /// The nice value of the thread that started the worker. A process inherits it, and cannot lower it.
    let niceness: Int32
    let taskCount: Int
  }

  /// A thread that waits for a worker of another lease.
  private struct Waiter {
    let niceness: Int32
    let delivery: ConditionMutex<PooledWorker?>
  }

  private struct State {
    var idle: [PooledWorker] = []
    var waiters: [Waiter] = []
    var statistics = Statistics()
    var isClosed = false

    mutating func popIdle(_ niceness: Int32) -> PooledWorker? {
      idle.lastIndex { $0.niceness == niceness }.map { idle.remove(at: $0) }
    }
  }

  /// Number of tasks after which a worker is replaced. It limits how long data of a file stays in its memory.
  static let standardTaskCount = 2_048
  /// Maximum number of idle workers for each nice value: the number of files that are opened concurrently.
  static let maximumIdleCount = 4
  /// Maximum number of busy workers: the number of threads that open files. A slow server keeps a worker busy.
  static let maximumCount = 64

  /// The program that a worker runs.
  package let program: String
  private let logger = Logger(label: "playhead.isolation")
  private let state = Mutex(State())
  private let returnTimeoutMilliseconds: Int
  private let maximumTaskCount: Int

  /// - Parameter program: the path of the program `playhead-worker`.
  package convenience init(program: String) { self.init(program: program, returnTimeoutMilliseconds: 25) }

  /// - Parameters:
  ///   - returnTimeoutMilliseconds: the time that a task waits for the worker of another task after a new one was
  ///     started. A worker needs about 30 ms to load FFmpeg; most tasks take less than 2 ms.
  ///   - maximumTaskCount: the number of tasks after which a worker is replaced.
  init(program: String, returnTimeoutMilliseconds: Int, maximumTaskCount: Int = standardTaskCount) {
    (self.program, self.returnTimeoutMilliseconds) = (program, returnTimeoutMilliseconds)
    self.maximumTaskCount = maximumTaskCount
  }

  deinit { close() }

  package var statistics: Statistics {
    state.withLock { state in
      var statistics = state.statistics
      statistics.idleCount = state.idle.count
      return statistics
    }
  }

  /// Starts workers until `count` are idle, at most four. Blocks briefly.
  ///
  /// - Throws: `workerUnavailable` if the program cannot be started.
  package func start(_ count: Int = 1) throws(MediaError) {
    while state.withLock({ !$0.isClosed && $0.idle.count < min(count, Self.maximumIdleCount) }) {
      makeAvailable(try makeProcess())
    }
  }

  /// Ends idle workers. Busy workers end with their tasks.
  package func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = [] }
      return state.idle
    }
    for worker in idle { worker.process.kill() }
  }

  /// Reserves a worker until the lease is released. Blocks.
  ///
  /// If no worker is idle, a new one starts. If another lease releases its worker meanwhile, this lease gets that one.
  /// The worker has the priority of the calling thread.
  ///
  /// - Throws: `workerUnavailable` if the program cannot be started, or too many workers are busy.
  package func lease() throws(MediaError) -> WorkerLease { WorkerLease(self, try reserve()) }

  /// Starts a worker with special limits. The worker ends with its lease. Blocks while the worker starts.
  ///
  /// - Throws: the errors of `lease()`.
  package func lease(limits: WorkerLimits) throws(MediaError) -> WorkerLease {
    WorkerLease(self, try reserve(limits: limits), isReusable: false)
  }

  /// Accepts the worker of a released lease, for the next one.
  ///
  /// - Parameter isReusable: whether the worker still runs, sent valid messages, and has the default limits.
  func returnWorker(_ worker: PooledWorker, isReusable: Bool) {
    state.withLock { $0.statistics.busyCount -= 1 }
    if isReusable { makeAvailable(worker) } else { worker.process.kill() }
  }

  /// Returns a worker that another lease releases within the time limit, otherwise `new`. An unused `new` becomes
  /// available.
  private func preferReturnedWorker(to new: PooledWorker) -> PooledWorker {
    let delivery = ConditionMutex<PooledWorker?>(nil)
    state.withLock { state in
      if let idle = state.popIdle(new.niceness) {
        delivery.update { $0 = idle }
      } else {
        state.waiters.append(Waiter(niceness: new.niceness, delivery: delivery))
      }
    }
    let end = HostTime.now.advanced(byNanoseconds: Int64(returnTimeoutMilliseconds) * 1_000_000)
    _ = delivery.wait(until: end) { $0 }
    state.withLock { $0.waiters.removeAll { $0.delivery === delivery } }
    guard let returned = delivery.withState(\.self) else { return new }
    makeAvailable(new)
    return returned
  }

  /// Counts and logs a worker that a file crashed.
  func recordCrash(_ end: WorkerProcess.End, file: String) {
    state.withLock { $0.statistics.crashCount += 1 }
    logger.warning("a worker process crashed", metadata: ["end": "\(end.description)", "file": "\(file)"])
  }

  /// Reserves an idle worker or a new one. A worker with special limits is always new.
  private func reserve(limits: WorkerLimits? = nil) throws(MediaError) -> PooledWorker {
    let niceness = Self.threadNiceness
    let (isFull, areOthersBusy, idle) = state.withLock { state in
      let busyCount = state.statistics.busyCount
      if busyCount >= Self.maximumCount { return (true, true, nil as PooledWorker?) }
      state.statistics.busyCount += 1
      state.statistics.leaseCount += 1
      return (false, busyCount > 0, limits == nil ? state.popIdle(niceness) : nil)
    }
    if isFull {
      throw MediaError(.workerUnavailable, "all \(Self.maximumCount) worker processes are busy", operation: "worker")
    }
    if let idle = firstRunning(from: idle, niceness) { return idle }
    do throws(MediaError) {
      let new = try makeProcess(limits ?? WorkerLimits())
      return limits == nil && areOthersBusy ? preferReturnedWorker(to: new) : new
    } catch {
      state.withLock { $0.statistics.busyCount -= 1 }
      throw error
    }
  }

  /// The worker `next`, or another idle one if it has ended: the system kills workers when memory is short.
  private func firstRunning(from next: PooledWorker?, _ niceness: Int32) -> PooledWorker? {
    var next = next
    while let worker = next, worker.process.hasEndedWhileIdle {
      worker.process.kill()
      logger.warning("an idle worker process has ended", metadata: ["end": "\(worker.process.wait().description)"])
      next = state.withLock { $0.popIdle(niceness) }
    }
    return next
  }

  private func makeProcess(_ limits: WorkerLimits = WorkerLimits()) throws(MediaError) -> PooledWorker {
    let process = try WorkerProcess(program: program, limits: limits)
    state.withLock { $0.statistics.startedCount += 1 }
    return PooledWorker(process: process, niceness: Self.threadNiceness, taskCount: 0)
  }

  /// The nice value of the calling thread (Linux has one for each thread).
  private static var threadNiceness: Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }

  /// Passes a worker to a waiting thread, or adds it to the idle workers, or ends it if enough are idle.
  private func makeAvailable(_ worker: PooledWorker) {
    let isUsed = state.withLock { state in
      guard !state.isClosed, !worker.process.wasKilled, worker.taskCount < maximumTaskCount else { return false }
      if let index = state.waiters.firstIndex(where: { $0.niceness == worker.niceness }) {
        state.waiters.remove(at: index).delivery.update { $0 = worker }
        return true
      }
      guard state.idle.count(where: { $0.niceness == worker.niceness }) < Self.maximumIdleCount else { return false }
      state.idle.append(worker)
      return true
    }
    if !isUsed { worker.process.kill() }
  }
}

/// The error when a worker ended during a task, or sent an invalid message.
struct WorkerLost: Error {}
