import Glibc
import MediaCore
import RealtimeAudio
import Synchronization
import Testing

@testable import Playback

@Suite struct DescriptorWatchTests {
  /// A connection whose ends are closed on release.
  private final class Pair: Sendable {
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
  private final class Listener: DescriptorHandler, @unchecked Sendable {
    // `@unchecked Sendable`: confined to the loop, except for the state that the mutex guards.
    private let told = WakeSignal<[DescriptorEvents]>([])
    var watch: DescriptorWatch?
    var onEvent: (Listener) -> Void = { _ in }

    func descriptorIsReady(_ events: DescriptorEvents) {
      onEvent(self)
      told.update { $0.append(events) }
    }

    func waitForEvents(_ count: Int) -> [DescriptorEvents] {
      told.wait { $0.count >= count ? $0 : nil } ?? []
    }

    var events: [DescriptorEvents] { told.withState { $0 } }
  }

  private static func readByte(_ descriptor: Int32) {
    var byte: UInt8 = 0
    _ = read(descriptor, &byte, 1)
  }

  @Test(.timeLimit(.minutes(1))) func whatCanBeReadIsToldUntilItIsRead() throws {
    let loop = ThreadControlLoop(name: "watch")
    let (pair, listener) = (try Pair(), Listener())
    listener.onEvent = { listener in
      // Reported twice before it is read.
      if listener.events.count == 1 { Self.readByte(pair.ends.0) }
    }
    try loop.perform { Result { listener.watch = try loop.watch(pair.ends.0, for: .readable, listener) } }.get()
    #expect(listener.events.isEmpty)
    _ = send(pair.ends.1, [1], 1, 0)
    #expect(listener.waitForEvents(2) == [.readable, .readable])
    loop.perform { listener.watch?.cancel() }
    #expect(listener.events.count == 2)
  }

  @Test(.timeLimit(.minutes(1))) func whoIsGoneIsToldThoughNothingIsWaitedFor() throws {
    let loop = ThreadControlLoop(name: "watch")
    let (pair, listener) = (try Pair(), Listener())
    listener.onEvent = { $0.watch?.cancel() }
    try loop.perform { Result { listener.watch = try loop.watch(pair.ends.0, for: [], listener) } }.get()
    shutdown(pair.ends.1, Int32(SHUT_RDWR))
    #expect(!listener.waitForEvents(1)[0].isDisjoint(with: .gone))
  }

  /// Events of two descriptors are delivered in one turn: the first handler may cancel the second watch.
  @Test(.timeLimit(.minutes(1))) func aWatchThatAnotherEndsInTheSameTurnIsNotTold() throws {
    let loop = ThreadControlLoop(name: "watch")
    let (pairs, listeners) = ([try Pair(), try Pair()], [Listener(), Listener()])
    for (index, listener) in listeners.enumerated() {
      listener.onEvent = {
        $0.watch?.cancel()
        listeners[1 - index].watch?.cancel()
      }
    }
    try loop.perform {
      Result {
        // Both events are pending before the loop polls.
        for (pair, listener) in zip(pairs, listeners) {
          _ = send(pair.ends.1, [1], 1, 0)
          listener.watch = try loop.watch(pair.ends.0, for: .readable, listener)
        }
      }
    }.get()
    let first = WakeSignal(false)
    // Two turns later everything has been reported.
    loop.execute { loop.execute { loop.execute { first.update { $0 = true } } } }
    _ = first.wait { $0 ? true : nil }
    #expect(listeners.map(\.events.count).sorted() == [0, 1])
  }

  /// A slot that was freed and reused does not get the events of the previous watch.
  @Test(.timeLimit(.minutes(1))) func aTokenIsUsedOnce() throws {
    let loop = ThreadControlLoop(name: "watch")
    let pair = try Pair()
    let tokens = try loop.perform {
      Result {
        try (0..<3).map { _ in
          let watch = try loop.watch(pair.ends.0, for: .readable, Listener())
          defer { watch.cancel() }
          return watch.token
        }
      }
    }.get()
    #expect(Set(tokens).count == 3)
  }

  @Test(.timeLimit(.minutes(1))) func whatCannotBeWatchedIsAnError() {
    let loop = ThreadControlLoop(name: "watch")
    let error = loop.perform { () -> MediaError? in
      do throws(MediaError) {
        _ = try loop.watch(-1, for: .readable, Listener())
        return nil
      } catch { return error }
    }
    #expect(error?.code == .outputUnavailable)
  }

  /// An object that a loop retains and that reports its release.
  private final class Held: DescriptorHandler, @unchecked Sendable {
    // `@unchecked Sendable`: constant.
    private let told: WakeSignal<[String]>
    private let name: String

    init(_ told: WakeSignal<[String]>, _ name: String) { (self.told, self.name) = (told, name) }

    deinit { told.update { $0.append(name) } }

    func descriptorIsReady(_ events: DescriptorEvents) {}
  }

  /// Its thread and its descriptors are released, but not before its timers have run.
  @Test(.timeLimit(.minutes(1))) func aLoopThatNobodyHasEndsWhenItHasNothingMoreToDo() throws {
    let told = WakeSignal<[String]>([])
    let pair = try Pair()
    do {
      let loop = ThreadControlLoop(name: "short")
      // Only the loop references the watch and its handler, and releases them when it ends.
      try loop.perform { Result { _ = try loop.watch(pair.ends.0, for: .readable, Held(told, "watch")) } }.get()
      _ = loop.schedule(at: loop.now.advanced(byNanoseconds: 1_000_000)) { told.update { $0.append("timer") } }
      loop.execute { told.update { $0.append("job") } }
    }
    #expect(told.wait { $0.count == 3 ? $0 : nil } == ["job", "timer", "watch"])
  }

  /// A cancelled timer may hold the last reference to the loop, which must not be released under the loop's lock.
  @Test(.timeLimit(.minutes(1))) func aTimerThatIsCancelledHoldsNothing() {
    let told = WakeSignal<[String]>([])
    do {
      let loop = ThreadControlLoop(name: "last")
      let held = Held(told, "timer")
      let timer = loop.schedule(at: loop.now.advanced(byNanoseconds: 3_600_000_000_000)) {
        withExtendedLifetime((loop, held)) {}
      }
      loop.execute { timer.cancel() }
    }
    #expect(told.wait { $0.isEmpty ? nil : $0 } == ["timer"])
  }
}
