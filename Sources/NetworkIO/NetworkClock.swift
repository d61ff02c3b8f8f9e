import MediaCore
import RealtimeAudio

/// The time that time-outs and the pauses between attempts are measured by: a test's may be its own.
public protocol NetworkClock: Sendable {
  /// The present moment. Any thread.
  var now: HostTime { get }

  /// Milliseconds that may be slept before it is asked again whether `deadline` has come. Called by transfers.
  ///
  /// - Parameter isPause: what is waited for is the moment of the next attempt, not a time-out.
  func milliseconds(until deadline: HostTime, isPause: Bool) -> Int32

  /// `wake` is to be called when time was moved by hand.
  func onMove(_ wake: @escaping @Sendable () -> Void)
}

/// CLOCK_MONOTONIC.
public struct SystemNetworkClock: NetworkClock {
  public init() {}

  public var now: HostTime { .now }

  public func milliseconds(until deadline: HostTime, isPause: Bool) -> Int32 {
    let nanoseconds = max(0, deadline.nanoseconds(since: now))
    return Int32(clamping: nanoseconds / 1_000_000 + 1)
  }

  public func onMove(_ wake: @escaping @Sendable () -> Void) {}
}
