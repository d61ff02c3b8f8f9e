import PlayheadMediaCore

/// A band of an equalizer: a filter of second order, with 12 dB per octave for the passes.
///
/// Source: Robert Bristow-Johnson, *Audio EQ Cookbook* (W3C Note, 2021).
public struct EqualizerBand: Sendable, Hashable, Codable {
  /// The shape of the magnitude response.
  public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
    /// Amplifies or attenuates frequencies near ``EqualizerBand/frequencyHz``, which gets the full gain.
    case peak
    /// Amplifies or attenuates frequencies below ``EqualizerBand/frequencyHz``, which gets half of the gain in dB.
    case lowShelf
    /// Amplifies or attenuates frequencies above ``EqualizerBand/frequencyHz``, which gets half of the gain in dB.
    case highShelf
    /// Removes frequencies below ``EqualizerBand/frequencyHz``. This frequency is multiplied
    /// with ``EqualizerBand/qFactor``.
    case highPass
    /// Removes frequencies above ``EqualizerBand/frequencyHz``. This frequency is multiplied
    /// with ``EqualizerBand/qFactor``.
    case lowPass
  }

  /// The shape of the magnitude response.
  public var kind: Kind
  /// The centre of a peak, the middle of a shelf, or the cutoff of a pass, in Hz: 1 to 384,000.
  ///
  /// From half of the item's sample rate on, the band has the effect to which its filter converges there: a peak, a
  /// high shelf and a low-pass have no effect, a low shelf amplifies all frequencies, and a high-pass removes all
  /// audio.
  public var frequencyHz: Double
  /// The gain in dB: -40 to 40. Default: 0. High-pass and low-pass ignore it.
  public var gainDecibels: Double
  /// The Q factor: 0.1 to 40. Default: 0.7071 (√½). Higher values make a peak narrower, and shelves and passes
  /// resonant.
  ///
  /// With the default, a pass is a Butterworth filter, and a shelf is as steep as it can be without a resonance (slope
  /// 1 in the source). A peak of B octaves has the Q factor 1 / (2 sinh(B · ln 2 / 2)): 1.414 for one octave.
  public var qFactor: Double

  /// Makes a band. The values are checked when an equalizer is made.
  public init(_ kind: Kind, frequencyHz: Double, gainDecibels: Double = 0, qFactor: Double = 0.5.squareRoot()) {
    self.kind = kind
    self.frequencyHz = frequencyHz
    self.gainDecibels = gainDecibels
    self.qFactor = qFactor
  }

  private static let frequencyRange = ParameterRange(1...384_000, "Hz")
  static let gainRange = ParameterRange(-40...40, "dB")
  private static let qFactorRange = ParameterRange(0.1...40)

  /// Checks the ranges.
  ///
  /// - Throws: `invalidArgument`.
  func check(name: String, operation: String) throws(MediaError) {
    try Self.frequencyRange.check(frequencyHz, "\(name).frequencyHz", operation: operation)
    try Self.gainRange.check(gainDecibels, "\(name).gainDecibels", operation: operation)
    try Self.qFactorRange.check(qFactor, "\(name).qFactor", operation: operation)
  }
}
