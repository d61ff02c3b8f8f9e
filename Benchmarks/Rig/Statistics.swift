import Glibc
import PlayheadMediaCore
import RigSupport

extension HostTime {
  /// `CLOCK_MONOTONIC`, like the times of captures.
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

  /// The value at a quantile (0...1); nil without values.
  func quantile(_ quantile: Double) -> Double? {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return nil }
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * quantile))]
  }

  /// The median; the mean of the middle two values if their number is even.
  var median: Double? {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return nil }
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
  }

  var largestMagnitude: Double? { values.map(abs).max() }
}

extension Double {
  /// The number with a number of decimals.
  func text(_ decimals: Int = 1) -> String {
    let scale = pow(10, Double(decimals))
    let scaled = Int64((abs(self) * scale).rounded())
    let sign = self < 0 && scaled != 0 ? "-" : ""
    guard decimals > 0 else { return "\(sign)\(scaled)" }
    let fraction = String(scaled % Int64(scale))
    return "\(sign)\(scaled / Int64(scale)).\(String(repeating: "0", count: decimals - fraction.utf8.count))\(fraction)"
  }
}

/// Waits between rounds.
enum Pause {
  static func milliseconds(_ count: Double) {
    var rest = timespec()
    var time = timespec(tv_sec: Int(count / 1_000), tv_nsec: Int(count.truncatingRemainder(dividingBy: 1_000) * 1e6))
    while nanosleep(&time, &rest) != 0 { time = rest }
  }

  /// Waits for a phase within a block of the device. A command takes longer the earlier in a block it arrives. Rounds
  /// are spread evenly over the block, equally for all players, so that medians do not depend on chance.
  static func phase(round: Int, of capture: Capture) throws {
    try capture.waitForMoreFrames(1)
    milliseconds((Double(round * 7 % 20) + 0.5) / 20 * blockMilliseconds)
  }

  /// The block of the rig's device: 4 KiB of 16-bit stereo at 48 kHz (PIPE_BUF).
  private static let blockMilliseconds = 1_024.0 / 48
}
