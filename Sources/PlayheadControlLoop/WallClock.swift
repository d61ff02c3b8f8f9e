import PlayheadMediaCore

/// The wall clock of a control loop: date, local time, and notifications when the clock is set.
///
/// Threading: confined to the control loop.
package protocol WallClock: AnyObject, Sendable {
  /// Reads the wall clock and the other clocks at one instant.
  func read() -> WallClockReading

  /// Returns local time minus UTC, in seconds, at an instant.
  func utcOffsetSeconds(at instant: WallTime) -> Int64

  /// Calls `handler` on the loop after each change of the clock, until the observation is cancelled.
  ///
  /// - Throws: `outputUnavailable` if the system cannot report changes.
  func observeChanges(_ handler: @escaping @Sendable () -> Void) throws(MediaError) -> WallClockObservation
}

extension WallClock {
  /// The current instant of the wall clock.
  package var now: WallTime { read().wallTime }
}

/// An observation of a wall clock. Confined to the control loop.
package final class WallClockObservation {
  private var onCancel: (() -> Void)?

  init(onCancel: @escaping () -> Void) { self.onCancel = onCancel }

  /// Ends the observation: its handler is not called any more. No effect after the first call.
  package func cancel() {
    onCancel?()
    onCancel = nil
  }
}

/// The handlers of a wall clock's observations.
struct WallClockHandlers {
  private var handlers: [(number: UInt64, handler: @Sendable () -> Void)] = []
  private var nextNumber: UInt64 = 0

  var isEmpty: Bool { handlers.isEmpty }

  /// Adds a handler, and returns its number.
  mutating func add(_ handler: @escaping @Sendable () -> Void) -> UInt64 {
    handlers.append((nextNumber, handler))
    nextNumber += 1
    return nextNumber - 1
  }

  mutating func remove(_ number: UInt64) { handlers.removeAll { $0.number == number } }

  /// The current handlers. A handler may add and remove observations while they are called.
  var all: [@Sendable () -> Void] { handlers.map(\.handler) }
}
