import Glibc

/// The delay before the next attempt to reach a daemon. It doubles each time, up to five seconds.
struct RetryDelay {
  private var milliseconds: Int32 = 100

  /// Whether `next` has not been called yet.
  var isInitial: Bool { milliseconds == 100 }

  /// Returns the delay, and doubles the next one.
  mutating func next() -> Int32 {
    defer { milliseconds = min(5_000, milliseconds * 2) }
    return milliseconds
  }

  /// Waits for the delay.
  mutating func wait() { poll(nil, 0, next()) }
}
