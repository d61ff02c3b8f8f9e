import HeapModule
import MediaCore
import Synchronization

/// Timers in the order of their times, for loops that keep their own. Not thread-safe: its owner guards it.
struct TimerHeap {
  /// A timer of this heap. Cancelling only marks it; the heap drops it when its time comes, or when most are marked.
  final class Timer: ControlTimer {
    let body: @Sendable () -> Void
    private let cancelled = Atomic<Bool>(false)

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
    func cancel() { cancelled.store(true, ordering: .releasing) }
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
