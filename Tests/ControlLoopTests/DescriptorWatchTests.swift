import Glibc
import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization
import Testing

@testable import PlayheadControlLoop

@Suite struct DescriptorWatchTests {
  /// A connection whose ends are closed on release.
  private final class SocketPair: Sendable {
    let ends: (Int32, Int32)

    init() throws {
      var ends: [Int32] = [-1, -1]
      try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
      self.ends = (ends[0], ends[1])
    }

    deinit {
      close(ends.0)
      close(ends.1)
    }
  }

  /// Records its events. On the loop; the test reads it after a signal.
  private final class EventHandler: DescriptorHandler, @unchecked Sendable {
    // `@unchecked Sendable`: confined to the loop, except for the state that the mutex guards.
    private let records = ConditionMutex<[DescriptorEvents]>([])
    var watch: DescriptorWatch?
    var onEvent: (EventHandler) -> Void = { _ in }

    func descriptorIsReady(_ events: DescriptorEvents) {
      onEvent(self)
      records.update { $0.append(events) }
    }

    func waitForEvents(_ count: Int) -> [DescriptorEvents] {
      records.wait { $0.count >= count ? $0 : nil } ?? []
    }

    var events: [DescriptorEvents] { records.withState { $0 } }
  }

  private static func readByte(_ descriptor: Int32) {
    var byte: UInt8 = 0
    _ = read(descriptor, &byte, 1)
  }

  @Test(.timeLimit(.minutes(1))) func readableDescriptorIsReportedUntilItIsRead() throws {
    let loop = ThreadControlLoop(name: "watch")
    let (pair, handler) = (try SocketPair(), EventHandler())
    handler.onEvent = { handler in
      // Reported twice before it is read.
      if handler.events.count == 1 { Self.readByte(pair.ends.0) }
    }
    try loop.perform { Result { handler.watch = try loop.watch(pair.ends.0, for: .readable, handler) } }.get()
    #expect(handler.events.isEmpty)
    _ = send(pair.ends.1, [1], 1, 0)
    #expect(handler.waitForEvents(2) == [.readable, .readable])
    loop.perform { handler.watch?.cancel() }
    #expect(handler.events.count == 2)
  }

  @Test(.timeLimit(.minutes(1))) func shutdownOfThePeerIsReportedWithoutRequestedEvents() throws {
    let loop = ThreadControlLoop(name: "watch")
    let (pair, handler) = (try SocketPair(), EventHandler())
    handler.onEvent = { $0.watch?.cancel() }
    try loop.perform { Result { handler.watch = try loop.watch(pair.ends.0, for: [], handler) } }.get()
    shutdown(pair.ends.1, Int32(SHUT_RDWR))
    #expect(!handler.waitForEvents(1)[0].isDisjoint(with: .hangUp))
  }

  /// The job that readies the descriptor runs longer than the interval between two checks.
  @Test(.timeLimit(.minutes(1))) func descriptorsAreHandledBetweenLongJobs() throws {
    let loop = ThreadControlLoop(name: "watch")
    let (pair, handler) = (try SocketPair(), EventHandler())
    handler.onEvent = { _ in Self.readByte(pair.ends.0) }
    try loop.perform { Result { handler.watch = try loop.watch(pair.ends.0, for: .readable, handler) } }.get()
    let counts = ConditionMutex<[Int]>([])
    loop.perform {
      for _ in 0..<3 {
        loop.execute {
          counts.update { $0.append(handler.events.count) }
          _ = send(pair.ends.1, [1], 1, 0)
          let end = HostTime.now.advanced(byNanoseconds: 1_000_000)
          while HostTime.now < end {}
        }
      }
    }
    #expect(counts.wait { $0.count == 3 ? $0 : nil } == [0, 1, 2])
    loop.perform { handler.watch?.cancel() }
  }

  /// Events of two descriptors are delivered in one turn: the first handler may cancel the second watch.
  @Test(.timeLimit(.minutes(1))) func watchCancelledEarlierInTheSameTurnGetsNoEvent() throws {
    let loop = ThreadControlLoop(name: "watch")
    let (pairs, handlers) = ([try SocketPair(), try SocketPair()], [EventHandler(), EventHandler()])
    for (index, handler) in handlers.enumerated() {
      handler.onEvent = {
        $0.watch?.cancel()
        handlers[1 - index].watch?.cancel()
      }
    }
    try loop.perform {
      Result {
        // Both events are pending before the loop polls.
        for (pair, handler) in zip(pairs, handlers) {
          _ = send(pair.ends.1, [1], 1, 0)
          handler.watch = try loop.watch(pair.ends.0, for: .readable, handler)
        }
      }
    }.get()
    let first = ConditionMutex(false)
    // Two turns later everything has been reported.
    loop.execute { loop.execute { loop.execute { first.update { $0 = true } } } }
    _ = first.wait { $0 ? true : nil }
    #expect(handlers.map(\.events.count).sorted() == [0, 1])
    // The handlers refer to each other.
    for handler in handlers { handler.onEvent = { _ in } }
  }

  /// A slot that was freed and reused does not get the events of the previous watch.
  @Test(.timeLimit(.minutes(1))) func watchTokensAreNotReused() throws {
    let loop = ThreadControlLoop(name: "watch")
    let pair = try SocketPair()
    let tokens = try loop.perform {
      Result {
        try (0..<3).map { _ in
          let watch = try loop.watch(pair.ends.0, for: .readable, EventHandler())
          defer { watch.cancel() }
          return watch.token
        }
      }
    }.get()
    #expect(Set(tokens).count == 3)
  }

  @Test(.timeLimit(.minutes(1))) func watchingAnInvalidDescriptorFails() {
    let loop = ThreadControlLoop(name: "watch")
    let error = loop.perform { () -> MediaError? in
      do throws(MediaError) {
        _ = try loop.watch(-1, for: .readable, EventHandler())
        return nil
      } catch { return error }
    }
    #expect(error?.code == .outputUnavailable)
  }

  /// An object that a loop retains and that reports its release.
  private final class Releasable: DescriptorHandler, @unchecked Sendable {
    // `@unchecked Sendable`: constant.
    private let records: ConditionMutex<[String]>
    private let name: String

    init(_ records: ConditionMutex<[String]>, _ name: String) { (self.records, self.name) = (records, name) }

    deinit { records.update { $0.append(name) } }

    func descriptorIsReady(_ events: DescriptorEvents) {}
  }

  /// Its thread and its descriptors are released, but not before its timers have run.
  @Test(.timeLimit(.minutes(1))) func releasedLoopEndsAfterItsJobsAndTimers() throws {
    let records = ConditionMutex<[String]>([])
    let pair = try SocketPair()
    do {
      let loop = ThreadControlLoop(name: "short")
      // Only the loop references the watch and its handler, and releases them when it ends.
      try loop.perform {
        Result { _ = try loop.watch(pair.ends.0, for: .readable, Releasable(records, "watch")) }
      }.get()
      _ = loop.schedule(at: loop.now.advanced(byNanoseconds: 1_000_000)) { records.update { $0.append("timer") } }
      loop.execute { records.update { $0.append("job") } }
    }
    #expect(records.wait { $0.count == 3 ? $0 : nil } == ["job", "timer", "watch"])
  }

  /// A cancelled timer may hold the last reference to the loop, which must not be released under the loop's lock.
  @Test(.timeLimit(.minutes(1))) func cancelledTimerReleasesItsClosure() {
    let records = ConditionMutex<[String]>([])
    do {
      let loop = ThreadControlLoop(name: "last")
      let releasable = Releasable(records, "timer")
      let timer = loop.schedule(at: loop.now.advanced(byNanoseconds: 3_600_000_000_000)) {
        withExtendedLifetime((loop, releasable)) {}
      }
      loop.execute { timer.cancel() }
    }
    #expect(records.wait { $0.isEmpty ? nil : $0 } == ["timer"])
  }
}
