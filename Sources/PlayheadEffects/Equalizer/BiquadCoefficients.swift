import Glibc

/// The coefficients of a filter of second order, divided by a0:
/// `H(z) = (b0 + b1 z⁻¹ + b2 z⁻²) / (1 + a1 z⁻¹ + a2 z⁻²)`.
struct BiquadCoefficients: Equatable {
  let b0: Double
  let b1: Double
  let b2: Double
  let a1: Double
  let a2: Double

  /// Makes a filter that multiplies all samples.
  init(gain: Double) { (b0, b1, b2, a1, a2) = (gain, 0, 0, 0, 0) }

  /// Makes a filter from coefficients that are not divided by a0.
  init(b0: Double, b1: Double, b2: Double, a0: Double, a1: Double, a2: Double) {
    self.b0 = b0 / a0
    self.b1 = b1 / a0
    self.b2 = b2 / a0
    self.a1 = a1 / a0
    self.a2 = a2 / a0
  }

  /// Returns the gain of a frequency as a factor.
  func magnitude(atHz frequencyHz: Double, sampleRateHz: Int) -> Double {
    let root = sin(.pi * frequencyHz / Double(sampleRateHz))
    let phi = root * root
    return (Self.power(b0, b1, b2, phi) / Self.power(1, a1, a2, phi)).squareRoot()
  }

  /// The squared magnitude of `c0 + c1 z⁻¹ + c2 z⁻²`, where `phi` is the squared sine of half the angle of z. Computed
  /// with cosines instead, low frequencies would lose their digits.
  private static func power(_ c0: Double, _ c1: Double, _ c2: Double, _ phi: Double) -> Double {
    let sum = c0 + c1 + c2
    return max(0, sum * sum - 4 * phi * (c0 * c1 + 4 * c0 * c2 + c1 * c2) + 16 * phi * phi * c0 * c2)
  }

  /// The number of frames after which the slowest pole has decayed to 10⁻⁸, rounded up; `maximum` if that takes longer.
  func settlingFrameCount(maximum: Int) -> Int {
    let discriminant = a1 * a1 - 4 * a2
    let radius = discriminant < 0 ? a2.squareRoot() : (abs(a1) + discriminant.squareRoot()) / 2
    guard radius > 0 else { return 0 }
    guard radius < 1 else { return maximum }
    // The filter also has two frames of input.
    return Int(min(Double(maximum), 2 + (log(1e-8) / log(radius)).rounded(.up)))
  }
}
