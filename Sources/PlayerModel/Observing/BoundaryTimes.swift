import DequeModule
import MediaCore

/// The times of a boundary observer, in ascending order and without duplicates.
///
/// Many times can be added and ordered in slices, so that each step on the control loop is bounded. Call `add` with one
/// slice at a time, then call `order` until it returns true. Times that are added in ascending order are already
/// ordered.
public struct BoundaryTimes: Sendable {
  /// The recommended number of times per call of ``add(_:)``.
  public static let sliceLength = 256
  /// The recommended number of steps per call of ``order(_:)``.
  public static let stepLimit = 2_048

  /// Ascending lists that still have to be merged. After ordering there is at most one.
  private var runs: Deque<[MediaTime]> = []
  private var merge: Merge?
  /// Counts the steps of `order`.
  let steps = StepCounter()

  /// Creates an empty list.
  public init() {}

  /// Creates a list of `times`, ordered at once.
  public init(_ times: [MediaTime]) { add(times) }

  /// The ordered times.
  package var ordered: [MediaTime] {
    precondition(runs.count <= 1 && merge == nil, "the times are not ordered yet")
    return runs.first ?? []
  }

  /// Adds times.
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

  /// Continues to order the times.
  ///
  /// - Parameter stepLimit: the maximum number of times to move.
  /// - Returns: whether the times are ordered.
  public mutating func order(_ stepLimit: Int = stepLimit) -> Bool {
    var remaining = stepLimit
    while merge != nil || runs.count > 1 {
      guard remaining > 0 else { return false }
      var current = merge ?? Merge(left: runs.removeFirst(), right: runs.removeFirst())
      merge = nil
      let count = current.advance(remaining)
      remaining -= count
      steps.add(count)
      if current.isOver { runs.append(current.merged) } else { merge = current }
    }
    return true
  }

  /// A merge of two ascending lists.
  private struct Merge: Sendable {
    package let left: [MediaTime]
    package let right: [MediaTime]
    package var (leftIndex, rightIndex) = (0, 0)
    var merged: [MediaTime] = []

    package init(left: [MediaTime], right: [MediaTime]) {
      (self.left, self.right) = (left, right)
      merged.reserveCapacity(left.count + right.count)
    }

    package var isOver: Bool { leftIndex == left.count && rightIndex == right.count }

    /// Moves at most `limit` times and returns the number of moved times.
    package mutating func advance(_ limit: Int) -> Int {
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
