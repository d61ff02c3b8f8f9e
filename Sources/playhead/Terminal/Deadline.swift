import Glibc

/// A time on the monotonic clock.
struct Deadline {
  private var nanoseconds: UInt64 = 0

  init() {}

  init(milliseconds: Int32) { nanoseconds = Self.now + UInt64(milliseconds) * 1_000_000 }

  /// The milliseconds until the time, rounded up; at most `limit`, unless `limit` is negative.
  func milliseconds(atMost limit: Int32) -> Int32 {
    let now = Self.now
    let remaining = now >= nanoseconds ? 0 : Int32(clamping: (nanoseconds - now + 999_999) / 1_000_000)
    return limit < 0 ? remaining : min(limit, remaining)
  }

  private static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
