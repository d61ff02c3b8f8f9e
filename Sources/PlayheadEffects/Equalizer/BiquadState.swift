/// The two delayed values of a filter in transposed direct form II.
///
/// Double precision: with `Float`, the noise of a filter at 20 Hz would be audible.
struct BiquadState {
  private var s1 = 0.0
  private var s2 = 0.0

  /// Filters the first `count` samples of `block` in place.
  mutating func process(_ block: inout [Double], count: Int, with filter: BiquadCoefficients) {
    var (s1, s2) = (s1, s2)
    for index in 0..<count {
      let input = block[index]
      let output = filter.b0 * input + s1
      s1 = filter.b1 * input - filter.a1 * output + s2
      s2 = filter.b2 * input - filter.a2 * output
      block[index] = output
    }
    (self.s1, self.s2) = (Self.withoutDecayedValue(s1), Self.withoutDecayedValue(s2))
  }

  /// Replaces a value that no `Float` can represent with 0: processors compute slowly with subnormal numbers.
  private static func withoutDecayedValue(_ value: Double) -> Double { abs(value) < 1e-60 ? 0 : value }
}
