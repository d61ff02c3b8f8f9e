/// An instant of the host's monotonic clock, in nanoseconds (`CLOCK_MONOTONIC`). A virtual clock counts separately.
public struct HostTime: Sendable, Hashable, Comparable {
  public var nanoseconds: Int64

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
}
