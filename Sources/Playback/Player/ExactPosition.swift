/// A position in a stream between its frames: the exact sum of frame counts at any rates, without rounding.
///
/// Items with another rate than the stream end between two of its frames. The next item begins at the following frame,
/// but is counted from the exact position. The rounding error thus never grows from one frame to two.
struct ExactPosition: Sendable, Hashable {
  /// The frame at or before the position.
  private(set) var frame: Int64 = 0
  /// The distance of the position from `frame`: `numerator / denominator` of a frame, below 1.
  private(set) var numerator: Int64 = 0
  private(set) var denominator: Int64 = 1

  /// Finer fractions are rounded up to this denominator. The sums of real rates are far coarser.
  private static let finestDenominator: Int64 = 1 << 40

  init(frame: Int64 = 0) { self.frame = frame }

  /// The first frame at or after the position.
  var roundedUp: Int64 { numerator > 0 ? frame + 1 : frame }

  /// Advances by `frameCount` frames of `rate` in a stream of `streamRate`. Both rates have the same unit, Hz or finer,
  /// and are above 0 and below 2^44. `frameCount` may be negative.
  mutating func advance(by frameCount: Int64, ofRate rate: Int, inRate streamRate: Int) {
    let scaled = Int128(frameCount) * Int128(streamRate)
    var (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int128(rate))
    if rest < 0 { (whole, rest) = (whole - 1, rest + Int128(rate)) }
    frame += Int64(clamping: whole)
    guard rest > 0 else { return }
    let divisor = Self.greatestCommonDivisor(Int64(rest), Int64(rate))
    add(Int64(rest) / divisor, over: Int64(rate) / divisor)
  }

  private mutating func add(_ other: Int64, over otherDenominator: Int64) {
    let divisor = Self.greatestCommonDivisor(denominator, otherDenominator)
    let common = Int128(denominator) / Int128(divisor) * Int128(otherDenominator)
    var sum = Int128(numerator) * (common / Int128(denominator)) + Int128(other) * (common / Int128(otherDenominator))
    if sum >= common {
      sum -= common
      frame += 1
    }
    if common > Int128(Self.finestDenominator) {
      let finest = Int128(Self.finestDenominator)
      let rounded = (sum * finest + common - 1) / common
      frame += rounded == finest ? 1 : 0
      (numerator, denominator) = (rounded == finest ? 0 : Int64(rounded), Self.finestDenominator)
    } else {
      (numerator, denominator) = (Int64(sum), Int64(common))
    }
    let shared = Self.greatestCommonDivisor(numerator, denominator)
    numerator /= shared
    denominator /= shared
  }

  private static func greatestCommonDivisor(_ first: Int64, _ second: Int64) -> Int64 {
    var (larger, smaller) = (first, second)
    while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
    return larger
  }
}
