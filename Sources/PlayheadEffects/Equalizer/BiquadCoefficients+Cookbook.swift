import Glibc

/// The filters of the *Audio EQ Cookbook* (Robert Bristow-Johnson), with its names of variables.
extension BiquadCoefficients {
  /// Makes the filter of a band; nil if the band leaves audio unchanged.
  init?(_ band: EqualizerBand, sampleRateHz: Int) {
    let hasGain = band.kind != .highPass && band.kind != .lowPass
    if hasGain, band.gainDecibels == 0 { return nil }
    guard band.frequencyHz < Double(sampleRateHz) / 2 else {
      // The limits of the filters below, when the frequency approaches half of the sample rate.
      switch band.kind {
      case .peak, .highShelf, .lowPass: return nil
      case .lowShelf: self.init(gain: Decibels.factor(band.gainDecibels))
      case .highPass: self.init(gain: 0)
      }
      return
    }
    let angle = 2 * Double.pi * band.frequencyHz / Double(sampleRateHz)
    let alpha = sin(angle) / (2 * band.qFactor)
    // The square root of the gain.
    let amplitude = Decibels.factor(band.gainDecibels / 2)
    switch band.kind {
    case .peak: self.init(peak: amplitude, angle, alpha)
    case .lowShelf: self.init(shelf: amplitude, cos(angle), alpha, sign: 1)
    case .highShelf: self.init(shelf: amplitude, cos(angle), alpha, sign: -1)
    case .highPass: self.init(highPass: angle, alpha)
    case .lowPass: self.init(lowPass: angle, alpha)
    }
  }

  private init(peak amplitude: Double, _ angle: Double, _ alpha: Double) {
    let cosine = cos(angle)
    self.init(
      b0: 1 + alpha * amplitude, b1: -2 * cosine, b2: 1 - alpha * amplitude,
      a0: 1 + alpha / amplitude, a1: -2 * cosine, a2: 1 - alpha / amplitude)
  }

  /// Makes a low shelf with the sign 1, or a high shelf with the sign -1: its formulae have the opposite sign of every
  /// cosine, and of b1 and a1.
  private init(shelf amplitude: Double, _ cosine: Double, _ alpha: Double, sign: Double) {
    let (sum, difference) = (amplitude + 1, amplitude - 1)
    let signedCosine = cosine * sign
    let resonance = 2 * amplitude.squareRoot() * alpha
    self.init(
      b0: amplitude * (sum - difference * signedCosine + resonance),
      b1: 2 * amplitude * (difference - sum * signedCosine) * sign,
      b2: amplitude * (sum - difference * signedCosine - resonance),
      a0: sum + difference * signedCosine + resonance,
      a1: -2 * (difference + sum * signedCosine) * sign,
      a2: sum + difference * signedCosine - resonance)
  }

  private init(highPass angle: Double, _ alpha: Double) {
    let half = cos(angle / 2) * cos(angle / 2)
    self.init(b0: half, b1: -2 * half, b2: half, a0: 1 + alpha, a1: -2 * cos(angle), a2: 1 - alpha)
  }

  /// With a sine instead of `1 - cos(angle)`, which would lose the digits of low frequencies.
  private init(lowPass angle: Double, _ alpha: Double) {
    let half = sin(angle / 2) * sin(angle / 2)
    self.init(b0: half, b1: 2 * half, b2: half, a0: 1 + alpha, a1: -2 * cos(angle), a2: 1 - alpha)
  }
}
