import CPlayheadFFmpeg

/// The duration of one timestamp tick in seconds, as a positive fraction.
package struct TimeBase: Sendable, Hashable {
  package let numerator: Int32
  package let denominator: Int32

  /// Creates a time base; nil unless both are positive.
  package init?(numerator: Int32, denominator: Int32) {
    guard numerator > 0, denominator > 0 else { return nil }
    self.numerator = numerator
    self.denominator = denominator
  }

  /// Creates a time base of one tick per audio frame; nil unless the rate is from 1 to 2^31-1.
  package init?(sampleRateHz: Int) {
    guard let rate = Int32(exactly: sampleRateHz) else { return nil }
    self.init(numerator: 1, denominator: rate)
  }

  /// The direction in which a time between two ticks is rounded.
  package enum Rounding: Sendable {
    case down, up
    /// Halves are rounded away from zero.
    case nearest
  }

  /// Converts `ticks` of another time base; nil when the result is out of range.
  package func ticks(from ticks: Int64, of other: TimeBase, rounding: Rounding) -> Int64? {
    let mode =
      switch rounding {
      case .down: AV_ROUND_DOWN
      case .up: AV_ROUND_UP
      case .nearest: AV_ROUND_NEAR_INF
      }
    guard ticks != .min else { return nil }
    let result = av_rescale_q_rnd(ticks, other.rational, rational, mode)
    return result == .min ? nil : result
  }

  /// Whether every tick of `other` is a whole number of these ticks, so that a conversion and its inverse are exact.
  package func divides(_ other: TimeBase) -> Bool {
    let dividend = Int64(other.numerator) * Int64(denominator)
    return dividend % (Int64(other.denominator) * Int64(numerator)) == 0
  }

  var rational: AVRational { AVRational(num: numerator, den: denominator) }

  init?(_ rational: AVRational) { self.init(numerator: rational.num, denominator: rational.den) }
}

/// Converts a timestamp or duration of FFmpeg: nil for `AV_NOPTS_VALUE`.
func optionalTimestamp(_ value: Int64) -> Int64? { value == shim_AV_NOPTS_VALUE() ? nil : value }

/// Converts a count or duration of FFmpeg: nil for 0 and below, which mean "unknown".
func optionalCount(_ value: Int64) -> Int64? { value > 0 ? value : nil }
