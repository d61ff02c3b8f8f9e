import MediaCore

/// Who of those that may block has a place, and how many threads there are. What is slow gives its place to others and keeps its thread;
/// so does what nobody waits for any more, until it returns: what waits for bytes in the kernel cannot be interrupted.
package struct WorkPlaces: Sendable {
  /// How much is done at once, and for how long.
  package struct Limits: Sendable {
    /// What is done at once, while nothing is slow.
    package var placeCount: Int
    /// Threads, with those that slow work has, and those that nobody waits for any more.
    package var threadCount: Int
    /// After this work is slow: other work begins besides.
    package var slowNanoseconds: Int64 = 2_000_000_000
    /// How long work waits while every thread is held up.
    package var stuckNanoseconds = Asset.openingNanoseconds

    package init(placeCount: Int = 4, threadCount: Int = 32) {
      (self.placeCount, self.threadCount) = (placeCount, threadCount)
    }
  }

  package let limits: Limits
  /// Work that is not slow.
  package private(set) var placesTaken = 0
  package private(set) var threadCount = 0

  package init(_ limits: Limits = Limits()) { self.limits = limits }

  package var hasPlace: Bool { placesTaken < limits.placeCount }
  package var hasThread: Bool { threadCount < limits.threadCount }
  /// Nothing can begin before one of those returns that are slow, or were given up.
  package var areHeldUp: Bool { !hasThread && placesTaken == 0 }

  /// Work has a place, and a thread of its own unless it has that of other work that has returned.
  package mutating func begin(onNewThread: Bool = true) {
    placesTaken += 1
    if onNewThread { threadCount += 1 }
  }

  /// It has returned, is slow, or nobody waits for it any more.
  package mutating func giveUpPlace() { placesTaken -= 1 }

  /// A thread has returned from what it did, perhaps long after anybody waited for that.
  package mutating func endThread() { threadCount -= 1 }
}

/// Why opening something was given up.
package enum OpeningTimeout: Sendable {
  case notOpen(afterNanoseconds: Int64)
  /// It never began.
  case othersHang(count: Int)

  package func error(_ name: String) -> MediaError {
    let what =
      switch self {
      case .notOpen(let limit): "is not open after \(limit / 1_000_000_000) s"
      case .othersHang(let count): "cannot be opened while \(count) others hang"
      }
    return MediaError(.openingTimedOut, "\(name) \(what)", operation: "open")
  }
}
