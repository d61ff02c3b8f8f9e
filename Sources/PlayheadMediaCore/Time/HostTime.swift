/// An instant of the host's monotonic clock, in nanoseconds (`CLOCK_MONOTONIC`). A virtual clock counts separately.
public struct HostTime: Sendable, Hashable, Comparable {
  /// The nanoseconds since the start of the clock.
  public var nanoseconds: Int64

  /// Creates an instant.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  public static func < (left: HostTime, right: HostTime) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The instant `nanoseconds` later (earlier if negative); saturates.
  public func advanced(byNanoseconds nanoseconds: Int64) -> HostTime {
    let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
    return HostTime(nanoseconds: overflow ? (nanoseconds < 0 ? .min : .max) : sum)
  }

  /// The nanoseconds from `other` to this instant; saturates.
  public func nanoseconds(since other: HostTime) -> Int64 {
    let (difference, overflow) = nanoseconds.subtractingReportingOverflow(other.nanoseconds)
    return overflow ? (other.nanoseconds > 0 ? .min : .max) : difference
  }

  /// The error for a start at this instant, which is not after `now`.
  package func errorForPastStart(now: HostTime, operation: String? = nil) -> MediaError {
    MediaError(
      .invalidTime,
      "start time must be after \(now.milliseconds) s, the current time of the monotonic clock (got \(milliseconds) s)",
      operation: operation)
  }

  /// The time in seconds, rounded down to milliseconds.
  private var milliseconds: String { MediaTime(value: nanoseconds / 1_000_000, timescale: 1_000).decimalDescription }
}
