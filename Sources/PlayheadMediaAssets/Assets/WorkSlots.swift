import PlayheadMediaCore

/// The slots and threads of jobs that may block.
///
/// A slow or an abandoned job releases its slot, and keeps its thread until it returns: a read that blocks in the
/// kernel cannot be interrupted.
package struct WorkSlots: Sendable {
  /// The numbers of concurrent jobs and threads, and the time limits.
  package struct Limits: Sendable {
    /// The number of concurrent jobs while none is slow.
    package var slotCount: Int
    /// The maximum number of threads, including those of slow and abandoned jobs.
    package var threadCount: Int
    /// The time after which a job is slow and another job may start in addition, in ns. Default: 2 s.
    package var slowNanoseconds: Int64 = 2_000_000_000
    /// The maximum time that jobs wait while every thread is blocked, in ns.
    package var stuckNanoseconds = Asset.openingNanoseconds

    package init(slotCount: Int = 4, threadCount: Int = 32) {
      (self.slotCount, self.threadCount) = (slotCount, threadCount)
    }
  }

  package let limits: Limits
  /// The number of running jobs that are not slow.
  package private(set) var usedSlotCount = 0
  package private(set) var threadCount = 0

  package init(_ limits: Limits = Limits()) { self.limits = limits }

  package var hasFreeSlot: Bool { usedSlotCount < limits.slotCount }
  package var canAddThread: Bool { threadCount < limits.threadCount }
  /// Whether no job can start until a slow or abandoned job returns.
  package var isExhausted: Bool { !canAddThread && usedSlotCount == 0 }

  /// Occupies a slot, and a new thread unless the job runs on the thread of a finished job.
  package mutating func acquireSlot(onNewThread: Bool = true) {
    usedSlotCount += 1
    if onNewThread { threadCount += 1 }
  }

  /// Frees a slot, because the job has returned, is slow, or was abandoned.
  package mutating func releaseSlot() { usedSlotCount -= 1 }

  /// Records that a thread has ended, possibly long after its job was abandoned.
  package mutating func endThread() { threadCount -= 1 }
}

/// The reason of an `openingTimedOut` error.
package enum OpeningTimeout: Sendable {
  /// The job did not end within its time limit.
  case notOpen(afterNanoseconds: Int64)
  /// The job never started, because `count` other jobs are blocked.
  case othersBlocked(count: Int)

  package func error(_ name: String) -> MediaError {
    let reason =
      switch self {
      case .notOpen(let limit): "could not be opened within \(limit / 1_000_000_000) s"
      case .othersBlocked(let count): "cannot be opened while \(count) other operations are blocked"
      }
    return MediaError(.openingTimedOut, "\(name) \(reason)", operation: "open")
  }
}
