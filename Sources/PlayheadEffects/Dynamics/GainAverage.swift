/// The mean of the last gains, which are from 0 to 1.
///
/// The sum has whole units of 2⁻⁴⁰, so that it is exact after any number of frames: a sum of floating-point numbers
/// would drift. Gains are rounded down. Therefore, the mean of equal gains is never greater than the gain, and the mean
/// of gains of 1 is exactly 1. Memory is allocated by the initializer only.
struct GainAverage {
  private static let one = 1 << 40

  private var units: [Int]
  private var sum: Int
  private var nextIndex = 0

  /// Begins with a window of gains of 1.
  ///
  /// - Parameter length: The number of gains in the window: 1 to 2²².
  init(length: Int) {
    units = Array(repeating: Self.one, count: length)
    sum = Self.one * length
  }

  /// Adds a gain, and returns the mean of the window that ends with it.
  mutating func mean(adding gain: Double) -> Double {
    let added = Int(gain * Double(Self.one))
    sum += added - units[nextIndex]
    units[nextIndex] = added
    nextIndex = nextIndex + 1 == units.count ? 0 : nextIndex + 1
    return Double(sum) / Double(Self.one * units.count)
  }

  /// Fills the window with gains of 1.
  mutating func removeAll() {
    for index in units.indices { units[index] = Self.one }
    (sum, nextIndex) = (Self.one * units.count, 0)
  }
}
