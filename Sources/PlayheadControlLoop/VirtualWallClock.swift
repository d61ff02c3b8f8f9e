import PlayheadMediaCore

/// The wall clock of a virtual control loop. It advances with virtual time, and only a program sets it.
///
/// At virtual time 0 it is 1970-01-01T00:00:00Z. Local time is UTC by default.
///
/// Threading: confined to the control loop.
package final class VirtualWallClock: WallClock, @unchecked Sendable {
  // `@unchecked Sendable`: confined to the loop.
  private unowned let loop: VirtualControlLoop
  /// The wall time at virtual time 0.
  private var origin = WallTime(nanosecondsSince1970: 0)
  private var handlers = WallClockHandlers()
  /// Local time minus UTC, in seconds, at an instant.
  package var utcOffsetSeconds: @Sendable (WallTime) -> Int64 = { _ in 0 }

  init(loop: VirtualControlLoop) { self.loop = loop }

  /// Sets the clock, as an administrator or a time server does.
  package func set(to instant: WallTime) {
    origin = instant.advanced(byNanoseconds: -loop.now.nanoseconds)
    for handler in handlers.all { handler() }
  }

  package func read() -> WallClockReading {
    let now = loop.now
    return WallClockReading(
      wallTime: origin.advanced(byNanoseconds: now.nanoseconds), hostTime: now, bootNanoseconds: now.nanoseconds)
  }

  package func utcOffsetSeconds(at instant: WallTime) -> Int64 { utcOffsetSeconds(instant) }

  package func observeChanges(_ handler: @escaping @Sendable () -> Void) -> WallClockObservation {
    let number = handlers.add(handler)
    return WallClockObservation { [self] in handlers.remove(number) }
  }
}
