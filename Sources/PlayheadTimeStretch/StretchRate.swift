import PlayheadMediaCore

/// The playback rate of stretched audio, relative to the original: an exact fraction, from 1/32 to 32.
package struct StretchRate: Sendable, Hashable {
  /// The numerator in lowest terms, above 0.
  package let numerator: Int64
  /// The denominator in lowest terms, above 0.
  package let denominator: Int64

  /// The lowest valid value.
  package static let slowest = 1.0 / 32
  /// The highest valid value.
  package static let fastest = 32.0

  /// Creates the rate `numerator / denominator`.
  ///
  /// - Throws: `unsupportedRate` outside 1/32 to 32, and for a denominator or numerator below 1.
  package init(_ numerator: Int64, over denominator: Int64 = 1) throws(MediaError) {
    guard numerator > 0, denominator > 0, Int128(numerator) <= Int128(denominator) * 32,
      Int128(denominator) <= Int128(numerator) * 32
    else {
      throw MediaError(
        .unsupportedRate, "stretch rate must be between 1/32 and 32 (got \(numerator)/\(denominator))")
    }
    var (larger, smaller) = (numerator, denominator)
    while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
    self.numerator = numerator / larger
    self.denominator = denominator / larger
  }

  /// The nearest double.
  package var value: Double { Double(numerator) / Double(denominator) }

  /// Returns the number of output frames for `inputCount` input frames: `ceil(inputCount / rate)`.
  package func outputCount(of inputCount: Int64) -> Int64 {
    let (whole, rest) = (Int128(inputCount) * Int128(denominator)).quotientAndRemainder(dividingBy: Int128(numerator))
    return Int64(clamping: rest > 0 ? whole + 1 : whole)
  }
}
