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
    let seconds = Int64(wallNow.tv_sec) - Int64(timestamp.tv_sec)
    let microseconds = Int64(wallNow.tv_usec) - Int64(timestamp.tv_usec)
    let span = max(0, now.nanoseconds(since: earliest))
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let age = overflow ? -1_000_000 : scaled &+ microseconds &* 1_000
    // Each of the readings has a grain of a microsecond.
    let isPlausible = age >= -2_000 && age <= span &+ 2_000
    return now.advanced(byNanoseconds: -(isPlausible ? min(max(age, 0), span) : span / 2))
  }
}
