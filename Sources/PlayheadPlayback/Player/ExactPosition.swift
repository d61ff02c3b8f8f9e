/// A position in a stream between its frames: the exact sum of frame counts at any rates, without rounding.
///
/// An item whose rate differs from the stream's can end between two frames of the stream. The next item begins at the
/// following frame, but its position counts from the exact end. The rounding error therefore stays below one frame.
struct ExactPosition: Sendable, Hashable {
  /// The frame at or before the position.
  private(set) var frame: Int64 = 0
  /// The distance of the position from `frame`: `numerator / denominator` of a frame, below 1.
  private(set) var numerator: Int64 = 0
  private(set) var denominator: Int64 = 1

  /// The maximum denominator: finer fractions are rounded up to it. Sums of real sample rates have much smaller
  /// denominators.
  private static let maximumDenominator: Int64 = 1 << 40

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
    if common > Int128(Self.maximumDenominator) {
      let maximum = Int128(Self.maximumDenominator)
      let rounded = (sum * maximum + common - 1) / common
      frame += rounded == maximum ? 1 : 0
      (numerator, denominator) = (rounded == maximum ? 0 : Int64(rounded), Self.maximumDenominator)
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
