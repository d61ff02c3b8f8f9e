import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization
import Testing

@testable import PlayheadControlLoop

@Suite struct WallClockTests {
  /// Runs `body` on a new loop.
  private func run<Result: Sendable>(
    _ body: @escaping @Sendable (ThreadControlLoop) throws -> Result
  ) async throws -> Result {
    let loop = ThreadControlLoop(name: "wall-clock")
    return try await withCheckedThrowingContinuation { continuation in
      loop.execute { continuation.resume(with: Swift.Result { try body(loop) }) }
    }
  }

  @Test func readingHasTheHostTimeOfItsInstant() async throws {
    try await run { loop in
      let clock = SystemWallClock(loop: loop)
      let (start, reading) = (HostTime.now, clock.read())
      #expect((start...HostTime.now).contains(reading.hostTime))
      #expect(reading.bootNanoseconds >= reading.hostTime.nanoseconds)
      #expect(abs(clock.utcOffsetSeconds(at: reading.wallTime)) <= 50_400)
    }
  }

  @Test func changesAreReportedUntilTheObservationIsCancelled() async throws {
    let calls = Mutex<[String]>([])
    try await run { loop in
      let clock = SystemWallClock(loop: loop)
      let first = try clock.observeChanges { calls.withLock { $0.append("first") } }
      let second = try clock.observeChanges { calls.withLock { $0.append("second") } }
      clock.changed()
      first.cancel()
      first.cancel()
      clock.changed()
      second.cancel()
      clock.changed()
      // The descriptor is opened again.
      let third = try clock.observeChanges { calls.withLock { $0.append("third") } }
      clock.changed()
      third.cancel()
    }
    #expect(calls.withLock { $0 } == ["first", "second", "second", "third"])
  }

  @Test func virtualClockPassesWithVirtualTimeAndIsOnlySetByPrograms() async throws {
    let calls = Mutex(0)
    try await run { base in
      let loop = VirtualControlLoop(base: base)
      let clock = loop.wallClock
      #expect(clock.now == WallTime(nanosecondsSince1970: 0))
      #expect(clock.utcOffsetSeconds(at: clock.now) == 0)
      let observation = clock.observeChanges { calls.withLock { $0 += 1 } }
      clock.set(to: WallTime(nanosecondsSince1970: 1_000))
      #expect(clock.now == WallTime(nanosecondsSince1970: 1_000))
      observation.cancel()
      clock.set(to: WallTime(nanosecondsSince1970: 2_000))
      withExtendedLifetime(loop) {}
    }
    #expect(calls.withLock { $0 } == 1)
  }
}
