import Glibc

/// The clock of `SeekTimings` and time limits.
enum MonotonicClock {
  /// The time of `CLOCK_MONOTONIC` in ns.
  static var nanoseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
