import CPlayheadPulse
import Glibc
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Converts libpulse's wall-clock times to monotonic times.
enum MonotonicClock {
  /// Returns the monotonic time of `timestamp`.
  ///
  /// A timestamp outside `earliest ... now` is replaced by the middle of that range. Such timestamps occur if the wall
  /// clock was set in between, or if the server runs on another machine.
  static func hostTime(ofWallClock timestamp: timeval, notBefore earliest: HostTime) -> HostTime {
    var wall = timeval()
    pa_gettimeofday(&wall)
    return hostTime(ofWallClock: timestamp, wallNow: wall, now: .now, notBefore: earliest)
  }

  /// The part of `hostTime(ofWallClock:notBefore:)` that reads no clock.
  static func hostTime(
    ofWallClock timestamp: timeval, wallNow: timeval, now: HostTime, notBefore earliest: HostTime
  ) -> HostTime {
    let interval = max(0, now.nanoseconds(since: earliest))
    // The server may report any value: `Int128` cannot overflow.
    let seconds = Int128(wallNow.tv_sec) - Int128(timestamp.tv_sec)
    let microseconds = Int128(wallNow.tv_usec) - Int128(timestamp.tv_usec)
    let age = seconds * 1_000_000_000 + microseconds * 1_000
    // Each reading has a resolution of one microsecond.
    let isPlausible = age >= -2_000 && age <= Int128(interval) + 2_000
    return now.advanced(byNanoseconds: -(isPlausible ? min(max(Int64(age), 0), interval) : interval / 2))
  }
}
