/// A place in a stream, between its frames: what so many frames of any rates add up to, without rounding.
///
/// Items of other rates than the stream's end between two of its frames. The next one begins at the frame behind that
/// place, but is counted from the place itself, so that the error of one frame never grows to two.
struct ExactPlace: Sendable, Hashable {
  /// The frame at or before the place.
  private(set) var frame: Int64 = 0
  /// How far behind `frame` it lies: `numerator / denominator` of a frame, below 1.
  private(set) var numerator: Int64 = 0
  private(set) var denominator: Int64 = 1

  /// Finer fractions than this are rounded up to it: what rates really add up to is coarser by far.
  private static let finestDenominator: Int64 = 1 << 40

  init(frame: Int64 = 0) { self.frame = frame }

  /// The first frame at or behind the place.
  var roundedUp: Int64 { numerator > 0 ? frame + 1 : frame }

  /// Goes on by `frameCount` frames of `rate` in a stream of `streamRate`; both in one unit, Hz or finer, and above 0 and
  /// below 2^44. Backwards, too.
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
