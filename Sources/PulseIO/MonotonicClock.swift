import CPulse
import Glibc
import MediaCore
import RealtimeAudio

/// The monotonic instant of what libpulse says on the wall clock.
enum MonotonicClock {
  /// The monotonic instant of `timestamp`.
  ///
  /// A timestamp that lies outside `earliest ... now` (the wall clock was set in between, or the server runs on another
  /// machine) is put in the middle.
  static func hostTime(ofWallClock timestamp: timeval, notBefore earliest: HostTime) -> HostTime {
    var wall = timeval()
    pa_gettimeofday(&wall)
    return hostTime(ofWallClock: timestamp, wallNow: wall, now: .now, notBefore: earliest)
  }

  /// The pure part of `hostTime(ofWallClock:notBefore:)`.
  static func hostTime(
    ofWallClock timestamp: timeval, wallNow: timeval, now: HostTime, notBefore earliest: HostTime
  ) -> HostTime {
    let span = max(0, now.nanoseconds(since: earliest))
    // The server may say anything: wide enough not to overflow.
    let seconds = Int128(wallNow.tv_sec) - Int128(timestamp.tv_sec)
    let microseconds = Int128(wallNow.tv_usec) - Int128(timestamp.tv_usec)
    let age = seconds * 1_000_000_000 + microseconds * 1_000
    // Each of the readings has a grain of a microsecond.
    let isPlausible = age >= -2_000 && age <= Int128(span) + 2_000
    return now.advanced(byNanoseconds: -(isPlausible ? min(max(Int64(age), 0), span) : span / 2))
  }
}
