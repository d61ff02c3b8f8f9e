import HeapModule
import PlayheadMediaCore
import Synchronization

/// Timers ordered by time, for control loops. Not thread-safe: the owner guards it.
struct TimerHeap {
  /// A timer of this heap. `cancel` only marks the timer; the heap drops it when it is due, or during a sweep. `cancel`
  /// releases the body at once, so that its last reference is not released under the owner's lock.
  final class Timer: ControlTimer {
    private let body: Mutex<(@Sendable () -> Void)?>

    init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }

    var isCancelled: Bool { body.withLock { $0 == nil } }

    func cancel() { _ = removeBody() }

    /// Calls the body, unless the timer has already fired or was cancelled.
    func fire() { removeBody()?() }

    private func removeBody() -> (@Sendable () -> Void)? {
      body.withLock { body in
        defer { body = nil }
        return body
      }
    }
  }

  private struct Entry: Comparable {
    let time: HostTime
    /// Timers of one instant run in the order in which they were added.
    let order: UInt64
    let timer: Timer

    static func == (left: Entry, right: Entry) -> Bool { left.order == right.order }
    static func < (left: Entry, right: Entry) -> Bool {
      left.time == right.time ? left.order < right.order : left.time < right.time
    }
  }

  private var heap = Heap<Entry>()
  private var nextOrder: UInt64 = 0
  /// The number of entries at which the next addition sweeps: it drops all cancelled timers.
  private var sweepThreshold = 64

  /// The number of entries, including cancelled timers.
  var count: Int { heap.count }

  mutating func add(at time: HostTime, _ body: @escaping @Sendable () -> Void) -> Timer {
    let timer = Timer(body)
    if heap.count >= sweepThreshold {
      heap = Heap(heap.unordered.filter { !$0.timer.isCancelled })
      sweepThreshold = max(64, 2 * heap.count)
    }
    heap.insert(Entry(time: time, order: nextOrder, timer: timer))
    nextOrder += 1
    return timer
  }

  /// The time of the next timer; nil without timers.
  mutating func nextTime() -> HostTime? {
    while let entry = heap.min {
      if !entry.timer.isCancelled { return entry.time }
      _ = heap.popMin()
    }
    return nil
  }

  /// Removes and returns the next timer due at `time` or before.
  mutating func popDue(at time: HostTime) -> Timer? {
    guard let next = nextTime(), next <= time else { return nil }
    return heap.popMin()?.timer
  }
}
