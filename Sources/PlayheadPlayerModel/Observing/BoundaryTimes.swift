import DequeModule
import PlayheadMediaCore

/// The times of a boundary observer, in ascending order and without duplicates.
///
/// A long list can be added and ordered in slices, so that each step on the control loop is bounded: call `add` with
/// one slice at a time, then call `order` until it returns true. Times that are added in ascending order need no
/// ordering.
package struct BoundaryTimes: Sendable {
  /// The recommended number of times per call of ``add(_:)``.
  package static let sliceLength = 256
  /// The recommended number of steps per call of ``order(_:)``.
  package static let stepLimit = 2_048

  /// Ascending lists that still have to be merged. After ordering there is at most one.
  private var ascendingLists: Deque<[MediaTime]> = []
  private var merge: Merge?
  /// Counts the steps of `order`.
  let steps = StepCounter()

  /// Creates an empty list.
  package init() {}

  /// Creates a list of `times`, ordered at once.
  package init(_ times: [MediaTime]) { add(times) }

  /// The ordered times.
  package var ordered: [MediaTime] {
    precondition(ascendingLists.count <= 1 && merge == nil, "the times are not ordered yet")
    return ascendingLists.first ?? []
  }

  /// Adds times.
  package mutating func add(_ slice: [MediaTime]) {
    var list: [MediaTime] = []
    for time in slice.sorted() where time != list.last { list.append(time) }
    guard let first = list.first else { return }
    if let last = ascendingLists.last?.last, last < first {
      ascendingLists[ascendingLists.count - 1] += list
    } else {
      ascendingLists.append(list)
    }
  }

  /// Continues to order the times.
  ///
  /// - Parameter stepLimit: The maximum number of elements to move.
  /// - Returns: Whether all times are ordered.
  package mutating func order(_ stepLimit: Int = stepLimit) -> Bool {
    var remaining = stepLimit
    while merge != nil || ascendingLists.count > 1 {
      guard remaining > 0 else { return false }
      var current = merge ?? Merge(left: ascendingLists.removeFirst(), right: ascendingLists.removeFirst())
      merge = nil
      let count = current.advance(remaining)
      remaining -= count
      steps.add(count)
      if current.isOver { ascendingLists.append(current.merged) } else { merge = current }
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

    /// Moves at most `limit` elements to `merged` and returns their number.
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
