import CPlayheadMediaShims
import DequeModule
import Glibc
import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization

/// The state shared by a control loop and its thread: jobs, timers and watched descriptors.
///
/// Any thread may add jobs and timers. The first addition while the loop sleeps wakes the loop. A turn of the loop runs
/// all jobs, then the due timers, then the handlers of descriptors. If jobs and timers take long, the handlers also run
/// between them.
final class LoopCore: @unchecked Sendable {
  // `@unchecked Sendable`: `watches`, `armedTime`, `nextEventTime` and the memory of `events` are confined to the
  // loop's thread. The other members are guarded or constant.
  private struct Work {
    var jobs: Deque<@Sendable () -> Void> = []
    var timers = TimerHeap()
    /// No more jobs or timers will be added.
    var isEnding = false
  }

  private enum Token {
    static let wake = UInt64.max
    static let timer = UInt64.max - 1
  }

  private let work = Mutex(Work())
  /// Whether the thread waits for events, or is about to. Set to true while `work` is locked, so that each later
  /// addition reads the new value.
  private let isSleeping = Atomic<Bool>(false)
  private let threadID = Atomic<UInt64>(0)
  private let poll = media_shims_poll_open()
  private let wakeEvent = media_shims_event_open()
  private let timer = media_shims_timer_open()

  /// The interval after which descriptors are checked even if jobs are left.
  private static let eventInterval: Int64 = 250_000
  private static let eventCapacity = 64
  private let events = UnsafeMutablePointer<media_shims_poll_event>.allocate(capacity: eventCapacity)
  private var watches = WatchTable()
  private var armedTime: HostTime?
  /// The time of the next check of descriptors between two jobs.
  private var nextEventTime = HostTime.now

  init() {
    precondition(poll >= 0 && wakeEvent >= 0 && timer >= 0, "out of descriptors")
    let isReady =
      media_shims_poll_add(poll, wakeEvent, DescriptorEvents.readable.rawValue, Token.wake) == 0
      && media_shims_poll_add(poll, timer, DescriptorEvents.readable.rawValue, Token.timer) == 0
    precondition(isReady, "epoll_ctl failed: out of memory")
  }

  deinit {
    for descriptor in [poll, wakeEvent, timer] { close(descriptor) }
    events.deallocate()
  }

  /// Whether this is the loop's thread.
  var isCurrent: Bool { threadID.load(ordering: .relaxed) == ThreadIdentity.current }

  // MARK: - From any thread

  func execute(_ body: @escaping @Sendable () -> Void) {
    work.withLock { $0.jobs.append(body) }
    wakeUp()
  }

  func schedule(at time: HostTime, _ body: @escaping @Sendable () -> Void) -> any ControlTimer {
    let timer = work.withLock { $0.timers.add(at: time, body) }
    wakeUp()
    return timer
  }

  /// Ends the thread once no jobs and timers are left.
  func end() {
    work.withLock { $0.isEnding = true }
    wakeUp()
  }

  private func wakeUp() {
    // One signal is enough for all additions before the thread reads `work`.
    if isSleeping.load(ordering: .acquiring), isSleeping.exchange(false, ordering: .acquiringAndReleasing) {
      media_shims_event_signal(wakeEvent)
    }
  }

  // MARK: - The thread

  private enum Turn {
    /// Jobs or timers are due.
    case work
    /// Nothing is due until an event or this time.
    case sleep(until: HostTime?)
    case end
  }

  func run() {
    threadID.store(ThreadIdentity.current, ordering: .relaxed)
    var jobs: Deque<@Sendable () -> Void> = []
    var due: Deque<TimerHeap.Timer> = []
    while true {
      switch nextTurn(&jobs, &due) {
      case .work:
        // Each job is released before the next one runs.
        while let job = jobs.popFirst() {
          handleEventsIfDue()
          job()
        }
        // A previous job or timer may have cancelled this timer: `fire` then has no effect.
        while let timer = due.popFirst() {
          handleEventsIfDue()
          timer.fire()
        }
        handleEvents(timeoutMilliseconds: 0)
      case .sleep(let time):
        arm(time)
        handleEvents(timeoutMilliseconds: -1)
      case .end: return
      }
    }
  }

  private func nextTurn(_ jobs: inout Deque<@Sendable () -> Void>, _ due: inout Deque<TimerHeap.Timer>) -> Turn {
    work.withLock { work in
      swap(&jobs, &work.jobs)
      let next = work.timers.nextTime()
      if next != nil {
        let now = HostTime.now
        while let timer = work.timers.popDue(at: now) { due.append(timer) }
      }
      if !jobs.isEmpty || !due.isEmpty { return .work }
      if work.isEnding, next == nil { return .end }
      isSleeping.store(true, ordering: .sequentiallyConsistent)
      return .sleep(until: next)
    }
  }

  /// Arms the timer so that the thread wakes at `time`. A timer that is armed for an earlier time stays armed, even if
  /// that wake is no longer needed.
  private func arm(_ time: HostTime?) {
    guard let time else { return }
    if let armedTime, armedTime <= time { return }
    armedTime = time
    _ = media_shims_timer_set(timer, time.nanoseconds)
  }

  /// Handles the events of descriptors, if `eventInterval` has passed. Many short jobs therefore do not delay clients.
  private func handleEventsIfDue() {
    if HostTime.now >= nextEventTime { handleEvents(timeoutMilliseconds: 0) }
  }

  private func handleEvents(timeoutMilliseconds: Int32) {
    let count = media_shims_poll_wait(poll, events, Int32(Self.eventCapacity), timeoutMilliseconds)
    nextEventTime = HostTime.now.advanced(byNanoseconds: Self.eventInterval)
    isSleeping.store(false, ordering: .releasing)
    precondition(count >= 0, "epoll_wait failed")
    for index in 0..<Int(count) {
      let event = events[index]
      switch event.token {
      case Token.wake: media_shims_event_clear(wakeEvent)
      case Token.timer:
        // The timer is not readable until it is set again.
        armedTime = nil
        _ = media_shims_timer_set(timer, .max)
      default: watches[event.token]?.descriptorIsReady(DescriptorEvents(rawValue: event.events))
      }
    }
  }

  // MARK: - Descriptors

  /// See `ThreadControlLoop.watch`.
  func watch(_ descriptor: Int32, for events: DescriptorEvents, _ handler: any DescriptorHandler) throws(MediaError)
    -> DescriptorWatch
  {
    assert(isCurrent, "not called on the control loop")
    let token = watches.add(handler)
    guard media_shims_poll_add(poll, descriptor, events.rawValue, token) == 0 else {
      watches.remove(token)
      throw MediaError(.outputUnavailable, "the system cannot watch one more descriptor", operation: "epoll_ctl")
    }
    return DescriptorWatch(core: self, descriptor: descriptor, token: token, events: events)
  }

  func change(_ watch: DescriptorWatch, to events: DescriptorEvents) {
    _ = media_shims_poll_change(poll, watch.descriptor, events.rawValue, watch.token)
  }

  func remove(_ watch: DescriptorWatch) {
    _ = media_shims_poll_remove(poll, watch.descriptor)
    watches.remove(watch.token)
  }
}

/// Handlers by token. The token of a removed handler stays invalid when its slot is reused, because an event of its
/// descriptor may still be pending.
private struct WatchTable {
  private var slots: [(reuseCount: UInt32, handler: (any DescriptorHandler)?)] = []
  private var free: [Int] = []

  subscript(token: UInt64) -> (any DescriptorHandler)? {
    let index = Int(token & 0xFFFF_FFFF)
    guard index < slots.count, slots[index].reuseCount == UInt32(token >> 32) else { return nil }
    return slots[index].handler
  }

  mutating func add(_ handler: any DescriptorHandler) -> UInt64 {
    let index = free.popLast() ?? slots.count
    if index == slots.count { slots.append((0, nil)) }
    slots[index].handler = handler
    return UInt64(slots[index].reuseCount) << 32 | UInt64(index)
  }

  mutating func remove(_ token: UInt64) {
    let index = Int(token & 0xFFFF_FFFF)
    slots[index].handler = nil
    // Keeps each token below `Token.timer` and `Token.wake`.
    slots[index].reuseCount = (slots[index].reuseCount + 1) & 0x7FFF_FFFF
    free.append(index)
  }
}
