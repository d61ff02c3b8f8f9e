import Glibc
import MediaCore

extension HostTime {
  /// `CLOCK_MONOTONIC`, as the captures have it.
  static var present: HostTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return HostTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Milliseconds since an earlier instant.
  func milliseconds(since other: HostTime) -> Double { Double(nanoseconds(since: other)) / 1e6 }
}

/// Values of one figure.
struct Sample {
  private(set) var values: [Double] = []

  mutating func add(_ value: Double) { values.append(value) }

  /// The value below which the part `quantile` (0...1) of all lies; nil when there is none.
  func quantile(_ quantile: Double) -> Double? {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return nil }
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * quantile))]
  }

  /// The median; the mean of the middle two when their number is even.
  var median: Double? {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return nil }
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
  }

  var largestMagnitude: Double? { values.map(abs).max() }
}

extension Double {
  /// The number with so many places.
  func text(_ places: Int = 1) -> String {
    let scale = pow(10, Double(places))
    let scaled = Int64((abs(self) * scale).rounded())
    let sign = self < 0 && scaled != 0 ? "-" : ""
    guard places > 0 else { return "\(sign)\(scaled)" }
    let fraction = String(scaled % Int64(scale))
    return "\(sign)\(scaled / Int64(scale)).\(String(repeating: "0", count: places - fraction.utf8.count))\(fraction)"
  }
}

/// Waits: rounds begin at no fixed place in the device's period, as a user's commands do.
enum Pause {
  static func milliseconds(_ count: Double) {
    var rest = timespec()
    var time = timespec(tv_sec: Int(count / 1_000), tv_nsec: Int(count.truncatingRemainder(dividingBy: 1_000) * 1e6))
    while nanosleep(&time, &rest) != 0 { time = rest }
  }

  /// Somewhere within a block of the device, the same in every run.
  static func phase(round: Int) { milliseconds(Double((round * 7_919) % 43)) }
}
