import PlayheadMediaCore

/// The settings of a ``ParametricEqualizer``.
///
/// <!-- listing: equalizer -->
/// ```swift
/// var settings = EqualizerSettings()
/// settings.bands = [
///   EqualizerBand(.lowShelf, frequencyHz: 100, gainDecibels: 4),
///   EqualizerBand(.peak, frequencyHz: 3_000, gainDecibels: -3, qFactor: 1.4),
/// ]
/// settings.outputGainDecibels = -4
/// await player.setAudioProcessors([try .parametricEqualizer(settings)])
/// ```
public struct EqualizerSettings: Sendable, Hashable, Codable {
  /// The bands, at most ``maximumBandCount``. Their order does not change the response. Default: none.
  public var bands: [EqualizerBand] = []
  /// The gain of all frequencies in dB: -40 to 40. Default: 0.
  ///
  /// A negative gain prevents that amplified bands exceed full scale.
  public var outputGainDecibels = 0.0

  /// The maximum number of bands: 10.
  public static let maximumBandCount = 10

  /// Creates settings that change nothing.
  public init() {}

  /// Creates settings with bands.
  public init(bands: [EqualizerBand], outputGainDecibels: Double = 0) {
    self.bands = bands
    self.outputGainDecibels = outputGainDecibels
  }

  /// Checks the number of bands and all ranges.
  ///
  /// - Throws: `invalidArgument` with the name of the parameter, its value and the accepted values.
  public func check() throws(MediaError) {
    let operation = "equalizer"
    guard bands.count <= Self.maximumBandCount else {
      throw MediaError(
        .invalidArgument, "bands must have at most \(Self.maximumBandCount) elements (got \(bands.count))",
        operation: operation)
    }
    for (index, band) in bands.enumerated() { try band.check(name: "bands[\(index)]", operation: operation) }
    try EqualizerBand.gainRange.check(outputGainDecibels, "outputGainDecibels", operation: operation)
  }

  /// Returns the gain of a frequency in dB; -infinity for a frequency that is removed.
  ///
  /// The value is computed from the filters that process audio, so that a program can draw the curve of an equalizer.
  ///
  /// - Parameters:
  ///   - frequencyHz: The frequency, from 0 to half of `sampleRateHz`.
  ///   - sampleRateHz: The sample rate of the item.
  public func responseDecibels(atHz frequencyHz: Double, sampleRateHz: Int) -> Double {
    var decibels = outputGainDecibels
    for band in bands {
      guard let filter = BiquadCoefficients(band, sampleRateHz: sampleRateHz) else { continue }
      decibels += Decibels.decibels(filter.magnitude(atHz: frequencyHz, sampleRateHz: sampleRateHz))
    }
    return decibels
  }
}
