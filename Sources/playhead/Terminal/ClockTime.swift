/// Seconds as a clock time: hours if necessary, minutes and seconds.
enum ClockTime {
  /// A time with milliseconds, such as `3:03.200`, so that times in a column have one width. Returns `?` for a negative
  /// or invalid number.
  static func precise(_ seconds: String) -> String {
    let parts = seconds.split(separator: ".", maxSplits: 1)
    let fraction = parts.count > 1 ? String(parts[1].prefix(3)) : ""
    let clock = whole(seconds)
    return clock == "?" ? clock : "\(clock).\(fraction)\(String(repeating: "0", count: 3 - fraction.count))"
  }

  /// A time without the fraction, such as `3:03`. Returns `?` for a negative or invalid number.
  static func whole(_ seconds: String) -> String {
    guard let first = seconds.split(separator: ".", maxSplits: 1).first, let wholeSeconds = Int(first),
      wholeSeconds >= 0
    else { return "?" }
    func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let (hours, minutes) = (wholeSeconds / 3_600, wholeSeconds / 60 % 60)
    let head = hours > 0 ? "\(hours):\(twoDigits(minutes))" : "\(minutes)"
    return "\(head):\(twoDigits(wholeSeconds % 60))"
  }
}
