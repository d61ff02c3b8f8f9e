import PlayheadMediaCore

/// The ratio of item frames to output frames in lowest terms. It follows from the item's sample rate and playback rate,
/// and from the output's sample rate.
package struct FrameRatio: Sendable, Hashable {
  /// The number of item frames that last as long as ``output`` output frames. Both are above 0.
  package let input: Int64
  /// The number of output frames that last as long as ``input`` item frames.
  package let output: Int64

  /// Creates a ratio from sample rates above 0. The direction of `playbackRate` does not matter.
  package init(from inputRateHz: Int, to outputRateHz: Int, playbackRate: PlaybackRate) {
    let (input, output) = (
      Int64(inputRateHz) * playbackRate.magnitude.millionths, Int64(outputRateHz) * 1_000_000
    )
    var (larger, smaller) = (input, output)
    while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
    self.input = input / larger
    self.output = output / larger
  }

  /// Returns the first output frame at or after input frame `frame`.
  package func outputFrame(ofInputFrame frame: Int64) -> Int64 {
    let (quotient, remainder) = (Int128(frame) * Int128(output)).quotientAndRemainder(dividingBy: Int128(input))
    return Int64(clamping: remainder > 0 ? quotient + 1 : quotient)
  }

  /// Returns the ratio itself if its terms do not exceed `limit`; otherwise the nearest convergent of its continued
  /// fraction whose terms do not.
  ///
  /// With a limit of 2^25 the error is at most 1 part in 10^9, and usually 0.
  func nearest(upTo limit: (input: Int64, output: Int64)) -> (input: Int, output: Int) {
    var (before, now): ((Int64, Int64), (Int64, Int64)) = ((0, 1), (1, 0))
    var (numerator, denominator) = (input, output)
    while denominator != 0 {
      let (quotient, rest) = numerator.quotientAndRemainder(dividingBy: denominator)
      let (first, firstOverflow) = quotient.multipliedReportingOverflow(by: now.0)
      let (second, secondOverflow) = quotient.multipliedReportingOverflow(by: now.1)
      guard !firstOverflow, !secondOverflow, first <= limit.input - before.0, second <= limit.output - before.1 else {
        break
      }
      (before, now) = (now, (first + before.0, second + before.1))
      (numerator, denominator) = (denominator, rest)
    }
    return (Int(now.0), Int(now.1))
  }
}
