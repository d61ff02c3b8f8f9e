import PlayheadMediaCore
import PlayheadRealtimeAudio

/// The clock for timeouts and retry delays. Tests can provide another one.
public protocol NetworkClock: Sendable {
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
public struct SystemNetworkClock: NetworkClock {
  /// Creates the clock.
  public init() {}

  public var now: HostTime { .now }

  public func milliseconds(until deadline: HostTime, isRetryDelay: Bool) -> Int32 {
    let nanoseconds = max(0, deadline.nanoseconds(since: now))
    return Int32(clamping: nanoseconds / 1_000_000 + 1)
  }

  public func onAdvance(_ wake: @escaping @Sendable () -> Void) {}
}
