import Glibc
import PlayheadMediaCore

/// The settings of a ``PeakLimiter``.
public struct LimiterSettings: Sendable, Hashable, Codable {
  /// The greatest magnitude of the output samples, in dBFS: -60 to 0. Default: -1.
  public var ceilingDecibels = -1.0
  /// The time in which the gain falls before a peak, which is also the latency: 0.1 to 100 ms. Default: 5 ms.
  ///
  /// Longer times change the gain more smoothly. At low sample rates, the look-ahead is at least one frame.
  public var lookAhead = MediaTime.milliseconds(5)
  /// The time constant in which the gain rises after a peak: 1 ms to 5 s. Default: 100 ms.
  public var release = MediaTime.milliseconds(100)

  /// Creates settings with the default values.
  public init() {}

  private static let ceilingRange = ParameterRange(-60...0, "dBFS")
  private static let lookAheadRange = ParameterRange(0.0001...0.1, "s")
  private static let releaseRange = ParameterRange(0.001...5, "s")

  /// Checks the ranges.
  ///
  /// - Throws: `invalidArgument` with the name of the parameter, its value and the accepted range.
  public func check() throws(MediaError) {
    let operation = "limiter"
    try Self.ceilingRange.check(ceilingDecibels, "ceilingDecibels", operation: operation)
    try Self.lookAheadRange.check(lookAhead, "lookAhead", operation: operation)
    try Self.releaseRange.check(release, "release", operation: operation)
  }

  /// The ceiling as a factor, rounded down: 1 for 0 dBFS.
  public var ceiling: Float {
    let exact = Decibels.factor(ceilingDecibels)
    let nearest = Float(exact)
    return Double(nearest) > exact ? nearest.nextDown : nearest
  }
}
