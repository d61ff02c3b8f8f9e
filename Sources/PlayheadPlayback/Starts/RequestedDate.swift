import PlayheadControlLoop
import PlayheadMediaCore

/// A requested date, whose host time changes when the wall clock is set.
///
/// A time of day is the next one after the request. When the clock is set, the date of the request changes by the same
/// amount: the new time counts as the correct one.
struct RequestedDate: Sendable {
  /// The maximum time until a date: 366 days.
  static let longestWaitNanoseconds: Int64 = 366 * 86_400_000_000_000

  let expression: DateExpression
  /// The time of the request on the clock that includes suspension (`WallClockReading.bootNanoseconds`).
  private let requestedAt: Int64

  /// Makes the date of a request, and its current host time.
  ///
  /// - Throws: `invalidTime` for a date in the past or more than 366 days ahead.
  static func make(_ expression: DateExpression, _ clock: any WallClock) throws(MediaError) -> (Self, HostTime) {
    let reading = clock.read()
    let date = Self(expression: expression, requestedAt: reading.bootNanoseconds)
    let instant = date.wallTime(at: reading, clock)
    let wait = instant.nanoseconds(since: reading.wallTime)
    guard wait > 0 else {
      throw MediaError(.invalidTime, "start date must be after \(reading.wallTime), the current date (got \(instant))")
    }
    guard wait <= longestWaitNanoseconds else {
      throw MediaError(
        .invalidTime, "start date must be within 366 days from \(reading.wallTime), the current date (got \(instant))")
    }
    return (date, reading.hostTime(at: instant))
  }

  /// The host time of the date, as the wall clock is set now.
  func hostTime(_ clock: any WallClock) -> HostTime {
    let reading = clock.read()
    return reading.hostTime(at: wallTime(at: reading, clock))
  }

  private func wallTime(at reading: WallClockReading, _ clock: any WallClock) -> WallTime {
    let request = reading.wallTime.advanced(byNanoseconds: requestedAt - reading.bootNanoseconds)
    return expression.instant(after: request, utcOffset: clock.utcOffsetSeconds(at:))
  }
}
