import DequeModule
import MediaCore

/// The times of a boundary observer, in ascending order and without duplicates.
///
/// Many times can be added and ordered in slices, each of which is a bounded piece of work on the control loop: `add` a
/// slice at a time, then call `order` until it returns true. Times that are added in ascending order are ordered already.
public struct BoundaryTimes: Sendable {
  /// The number of times that should be added at once.
  public static let sliceLength = 256
  /// The number of steps that `order` should do at once.
  public static let stepLimit = 2_048

  /// Ascending lists that are still to be merged; at most one of them once all times are ordered.
  private var runs: Deque<[MediaTime]> = []
  private var merge: Merge?
  /// The steps of `order` so far. Read by tests.
  private(set) var stepCount = 0

  /// No times.
  public init() {}

  /// Orders all of `times` at once.
  public init(_ times: [MediaTime]) { add(times) }

  /// The ordered times.
  var ordered: [MediaTime] {
    precondition(runs.count <= 1 && merge == nil, "the times are not ordered yet")
    return runs.first ?? []
  }

  /// Adds some times.
  public mutating func add(_ slice: [MediaTime]) {
    var run: [MediaTime] = []
    for time in slice.sorted() where time != run.last { run.append(time) }
    guard let first = run.first else { return }
    if let last = runs.last?.last, last < first {
      runs[runs.count - 1] += run
    } else {
      runs.append(run)
    }
  }

  /// Orders the times further. Returns whether they are ordered.
  ///
  /// - Parameter stepLimit: The number of times that are moved at most.
  public mutating func order(_ stepLimit: Int = stepLimit) -> Bool {
    var remaining = stepLimit
    while merge != nil || runs.count > 1 {
      guard remaining > 0 else { return false }
      var present = merge ?? Merge(left: runs.removeFirst(), right: runs.removeFirst())
      merge = nil
      let count = present.advance(remaining)
      remaining -= count
      stepCount += count
      if present.isOver { runs.append(present.merged) } else { merge = present }
    }
    return true
  }

  /// Two ascending lists that become one.
  private struct Merge: Sendable {
    let left: [MediaTime]
    let right: [MediaTime]
    var (leftIndex, rightIndex) = (0, 0)
    var merged: [MediaTime] = []

    init(left: [MediaTime], right: [MediaTime]) {
      (self.left, self.right) = (left, right)
      merged.reserveCapacity(left.count + right.count)
    }

    var isOver: Bool { leftIndex == left.count && rightIndex == right.count }

    /// Moves at most `limit` times. Returns how many.
    mutating func advance(_ limit: Int) -> Int {
      for count in 0..<limit {
        let next: MediaTime
        if leftIndex < left.count, rightIndex == right.count || left[leftIndex] <= right[rightIndex] {
          next = left[leftIndex]
          leftIndex += 1
        } else if rightIndex < right.count {
          next = right[rightIndex]
          rightIndex += 1
        } else {
          return count
        }
        if next != merged.last { merged.append(next) }
      }
      return limit
    }
  }
}
