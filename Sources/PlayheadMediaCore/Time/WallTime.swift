/// An instant of the wall clock, in nanoseconds since 1970-01-01T00:00:00Z without leap seconds (`CLOCK_REALTIME`).
///
/// The wall clock can be set, so the interval between two instants is not always the time that passed. `HostTime` is
/// the clock that is never set.
public struct WallTime: Sendable, Hashable, Comparable {
  /// The nanoseconds since 1970-01-01T00:00:00Z.
  public var nanosecondsSince1970: Int64

  /// Creates an instant.
  public init(nanosecondsSince1970: Int64) { self.nanosecondsSince1970 = nanosecondsSince1970 }

  public static func < (left: WallTime, right: WallTime) -> Bool {
    left.nanosecondsSince1970 < right.nanosecondsSince1970
  }

  /// The instant `nanoseconds` later (earlier if negative); saturates.
  public func advanced(byNanoseconds nanoseconds: Int64) -> WallTime {
    let (sum, overflow) = nanosecondsSince1970.addingReportingOverflow(nanoseconds)
    return WallTime(nanosecondsSince1970: overflow ? (nanoseconds < 0 ? .min : .max) : sum)
  }

  /// The nanoseconds from `other` to this instant; saturates.
  public func nanoseconds(since other: WallTime) -> Int64 {
    let (difference, overflow) = nanosecondsSince1970.subtractingReportingOverflow(other.nanosecondsSince1970)
    return overflow ? (other.nanosecondsSince1970 > 0 ? .min : .max) : difference
  }
}

extension WallTime: CustomStringConvertible {
  /// The date in UTC, such as `2026-12-24T17:00:00.000Z`.
  public var description: String { ISODate.text(nanosecondsSince1970) }
}

/// One reading of the clocks of a computer.
package struct WallClockReading: Sendable, Hashable {
  /// The wall clock.
  package var wallTime: WallTime
  /// The monotonic clock at the same instant.
  package var hostTime: HostTime
  /// The nanoseconds since the computer started (`CLOCK_BOOTTIME`). Unlike the monotonic clock, they include the time
  /// in which the computer was suspended.
  package var bootNanoseconds: Int64

  package init(wallTime: WallTime, hostTime: HostTime, bootNanoseconds: Int64) {
    (self.wallTime, self.hostTime, self.bootNanoseconds) = (wallTime, hostTime, bootNanoseconds)
  }

  /// The host time of an instant of the wall clock, unless the wall clock is set before it.
  package func hostTime(at instant: WallTime) -> HostTime {
    hostTime.advanced(byNanoseconds: instant.nanoseconds(since: wallTime))
  }
}
