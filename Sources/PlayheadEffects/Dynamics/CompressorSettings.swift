import PlayheadMediaCore

/// The settings of a ``Compressor``.
///
/// <!-- listing: compressor -->
/// ```swift
/// var settings = CompressorSettings()
/// (settings.thresholdDecibels, settings.ratio, settings.makeUpGainDecibels) = (-30, 3, 8)
/// await player.setAudioProcessors([try .compressor(settings), try .peakLimiter(LimiterSettings())])
/// ```
public struct CompressorSettings: Sendable, Hashable, Codable {
  /// The level from which audio is attenuated, in dBFS: -100 to 0. Default: -20.
  public var thresholdDecibels = -20.0
  /// The number of dB by which the input rises above the threshold for each dB of the output: 1 to 100. Default: 4. A
  /// ratio of 1 attenuates nothing.
  public var ratio = 4.0
  /// The width of the range around the threshold in which the ratio increases gradually, in dB: 0 to 40. Default: 6.
  public var kneeDecibels = 6.0
  /// The time constant of an increasing attenuation: 0 to 1 s. Default: 10 ms. After this time, the attenuation has
  /// 63 % of its final value in dB.
  public var attack = MediaTime.milliseconds(10)
  /// The time constant of a decreasing attenuation: 1 ms to 5 s. Default: 100 ms.
  public var release = MediaTime.milliseconds(100)
  /// The gain of all audio, in dB: -40 to 40. Default: 0.
  public var makeUpGainDecibels = 0.0

  /// Creates settings with the default values.
  public init() {}

  private static let thresholdRange = ParameterRange(-100...0, "dBFS")
  private static let ratioRange = ParameterRange(1...100)
  private static let kneeRange = ParameterRange(0...40, "dB")
  private static let attackRange = ParameterRange(0...1, "s")
  private static let releaseRange = ParameterRange(0.001...5, "s")
  private static let makeUpGainRange = ParameterRange(-40...40, "dB")

  /// Checks the ranges.
  ///
  /// - Throws: `invalidArgument` with the name of the parameter, its value and the accepted range.
  public func check() throws(MediaError) {
    let operation = "compressor"
    try Self.thresholdRange.check(thresholdDecibels, "thresholdDecibels", operation: operation)
    try Self.ratioRange.check(ratio, "ratio", operation: operation)
    try Self.kneeRange.check(kneeDecibels, "kneeDecibels", operation: operation)
    try Self.attackRange.check(attack, "attack", operation: operation)
    try Self.releaseRange.check(release, "release", operation: operation)
    try Self.makeUpGainRange.check(makeUpGainDecibels, "makeUpGainDecibels", operation: operation)
  }

  /// Returns the level of the output for a constant level of the input, both in dBFS: the static curve.
  ///
  /// Source: Giannoulis, Massberg and Reiss, "Digital Dynamic Range Compressor Design", J. Audio Eng. Soc. 60 (2012),
  /// equation 4.
  public func outputDecibels(forInputDecibels input: Double) -> Double {
    input - attenuationDecibels(forInputDecibels: input) + makeUpGainDecibels
  }

  /// Returns the attenuation for a constant level of the input, in dB: at least 0.
  func attenuationDecibels(forInputDecibels input: Double) -> Double {
    let excess = input - thresholdDecibels
    let slope = 1 - 1 / ratio
    if 2 * excess <= -kneeDecibels { return 0 }
    if 2 * excess >= kneeDecibels { return slope * excess }
    let intoKnee = excess + kneeDecibels / 2
    return slope * intoKnee * intoKnee / (2 * kneeDecibels)
  }
}
