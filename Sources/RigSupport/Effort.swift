import Glibc

/// The scale of long random tests.
package enum Effort {
  /// The factor of the steps to run: 1, or the value of `PLAYHEAD_TEST_EFFORT`, up to 1,000. `scripts/sanitize` sets a
  /// value below 1, because each step takes ten times as long there. Its tests vary the order of threads, not the
  /// steps.
  private static let share: Double = {
    guard let text = getenv("PLAYHEAD_TEST_EFFORT"), let share = Double(String(cString: text)) else { return 1 }
    return min(max(share, 0), 1_000)
  }()

  /// The scaled `count`; at least 1.
  package static func rounds(_ count: Int) -> Int { max(1, Int(Double(count) * share)) }
}
