import MediaCore

/// How many frames of an item come to how many frames of the output, in lowest terms: its own rate and the one that it is
/// played at, against the output's.
public struct FrameRatio: Sendable, Hashable {
  /// So many frames of the item last as long as `output` frames of the output. Both are above 0.
  public let input: Int64
  public let output: Int64

  /// `inputRateHz` and `outputRateHz` are above 0; the direction of `playbackRate` does not matter.
  public init(from inputRateHz: Int, to outputRateHz: Int, playbackRate: PlaybackRate) {
    let (input, output) = (
      Int64(inputRateHz) * playbackRate.magnitude.millionths, Int64(outputRateHz) * 1_000_000
    )
    var (larger, smaller) = (input, output)
    while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
    self.input = input / larger
    self.output = output / larger
  }

  /// Whether the output's frames are the item's.
  public var isOne: Bool { input == output }

  /// The output frame at or after input frame `frame`: where something that begins there begins in the output.
  public func outputFrame(ofInputFrame frame: Int64) -> Int64 {
    let (quotient, remainder) = (Int128(frame) * Int128(output)).quotientAndRemainder(dividingBy: Int128(input))
    return Int64(clamping: remainder > 0 ? quotient + 1 : quotient)
  }

  /// The fraction nearest to this one of those that its continued fraction begins with, in numbers up to a limit; itself
  /// if its own are no larger. With 2^25 it is off by 1 part in 10^9 at the very most, usually by none.
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
