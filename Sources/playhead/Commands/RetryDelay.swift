import Glibc

/// The delay before the next attempt to reach a daemon. It doubles each time, up to five seconds.
struct RetryDelay {
  private var milliseconds: Int32 = 100

  /// Whether no delay has been used yet.
  var isInitial: Bool { milliseconds == 100 }

  /// Returns the delay in milliseconds, and doubles the next one, up to five seconds.
  mutating func nextMilliseconds() -> Int32 {
    defer { milliseconds = min(5_000, milliseconds * 2) }
    return milliseconds
  }

  /// Waits for the delay, and doubles the next one.
  mutating func wait() { poll(nil, 0, nextMilliseconds()) }
}
