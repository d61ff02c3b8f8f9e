import PlayheadMediaCore
import PlayheadRealtimeAudio

/// The clock for timeouts and retry delays. Tests can provide another one.
package protocol NetworkClock: Sendable {
  /// The current time. Threading: any thread.
  var now: HostTime { get }

  /// The time that a transfer may sleep before it checks again whether `deadline` has been reached.
  ///
  /// - Parameters:
  ///   - deadline: The instant at which the wait ends.
  ///   - isRetryDelay: whether `deadline` is the time of the next attempt instead of a timeout.
  func milliseconds(until deadline: HostTime, isRetryDelay: Bool) -> Int32

  /// Sets the closure to call when a test advances the clock.
  func onAdvance(_ wake: @escaping @Sendable () -> Void)
}

/// The system clock, CLOCK_MONOTONIC.
package struct SystemNetworkClock: NetworkClock {
  /// Creates the clock.
  package init() {}

  package var now: HostTime { .now }

  package func milliseconds(until deadline: HostTime, isRetryDelay: Bool) -> Int32 {
    let nanoseconds = max(0, deadline.nanoseconds(since: now))
    return Int32(clamping: nanoseconds / 1_000_000 + 1)
  }

  package func onAdvance(_ wake: @escaping @Sendable () -> Void) {}
}
