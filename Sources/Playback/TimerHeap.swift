import HeapModule
import MediaCore
import Synchronization

/// Timers in the order of their times, for loops that keep their own. Not thread-safe: its owner guards it.
struct TimerHeap {
  /// A timer of this heap. Cancelling only marks it; the heap drops it when its time comes, or when most are marked. What it would
  /// have called is let go of at once: whoever guards the heap is not to be the last to have it.
  final class Timer: ControlTimer {
    private let body: Mutex<(@Sendable () -> Void)?>

    init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }

    var isCancelled: Bool { body.withLock { $0 == nil } }

    func cancel() { _ = take() }

    /// Calls what it is for, once, unless it was cancelled.
    func fire() { take()?() }

    private func take() -> (@Sendable () -> Void)? {
      body.withLock { body in
        defer { body = nil }
        return body
      }
    }
  }

  private struct Entry: Comparable {
    let time: HostTime
    /// Timers of one instant run in the order in which they were set.
    let order: UInt64
    let timer: Timer

    static func == (left: Entry, right: Entry) -> Bool { left.order == right.order }
    static func < (left: Entry, right: Entry) -> Bool {
      left.time == right.time ? left.order < right.order : left.time < right.time
    }
  }

  private var heap = Heap<Entry>()
  private var nextOrder: UInt64 = 0
  /// At this many entries the cancelled ones are dropped.
  private var sweepCount = 64

  /// Entries kept, those of cancelled timers included.
  var count: Int { heap.count }

  mutating func add(at time: HostTime, _ body: @escaping @Sendable () -> Void) -> Timer {
    let timer = Timer(body)
    if heap.count >= sweepCount {
      heap = Heap(heap.unordered.filter { !$0.timer.isCancelled })
      sweepCount = max(64, 2 * heap.count)
    }
    heap.insert(Entry(time: time, order: nextOrder, timer: timer))
    nextOrder += 1
    return timer
  }

  /// When the next timer is due; nil without timers.
  mutating func nextTime() -> HostTime? {
    while let entry = heap.min {
      if !entry.timer.isCancelled { return entry.time }
      _ = heap.popMin()
    }
    return nil
  }

  /// The next timer due at `time` or before, removed.
  mutating func popDue(at time: HostTime) -> Timer? {
    guard let next = nextTime(), next <= time else { return nil }
    return heap.popMin()?.timer
  }
}
