import Glibc

/// How much of a long random test is done.
public enum Effort {
  /// 1, or what `PLAYHEAD_TEST_EFFORT` says. `scripts/sanitize` says less: there every step takes ten times as long, and other orders
  /// of threads are looked for rather than other orders of steps.
  private static let share: Double = {
    guard let text = getenv("PLAYHEAD_TEST_EFFORT"), let share = Double(String(cString: text)) else { return 1 }
    return min(max(share, 0), 1)
  }()

  /// `count`, or the part of it that is asked for; at least 1.
  public static func rounds(_ count: Int) -> Int { max(1, Int(Double(count) * share)) }
}
