import Glibc

/// How long to wait before a daemon is looked for again: longer each time, up to five seconds.
struct Patience {
  private var milliseconds: Int32 = 100

  /// Nothing was waited for yet.
  var isFresh: Bool { milliseconds == 100 }

  /// How long, this time; the next time longer.
  mutating func next() -> Int32 {
    defer { milliseconds = min(5_000, milliseconds * 2) }
    return milliseconds
  }

  /// Waits.
  mutating func wait() { poll(nil, 0, next()) }
}
