import PlayheadMediaCore
import PlayheadPlayback

/// Factories of the effects of Playhead.
///
/// Each call makes a factory that differs from all others, even with equal settings. Keep a factory to set it again
/// without a change of the audio.
extension AudioProcessorFactory {
  /// Makes a factory of ``ParametricEqualizer``.
  ///
  /// - Throws: The errors of ``EqualizerSettings/check()``.
  public static func parametricEqualizer(_ settings: EqualizerSettings) throws(MediaError) -> AudioProcessorFactory {
    try settings.check()
    return AudioProcessorFactory { ParametricEqualizer(checked: settings) }
  }

  /// Makes a factory of ``ChannelMatrix``.
  ///
  /// - Throws: The errors of ``ChannelMix/check()``.
  public static func channelMatrix(_ mix: ChannelMix) throws(MediaError) -> AudioProcessorFactory {
    try mix.check()
    return AudioProcessorFactory { ChannelMatrix(checked: mix) }
  }

  /// Makes a factory of ``Compressor``.
  ///
  /// - Throws: The errors of ``CompressorSettings/check()``.
  public static func compressor(_ settings: CompressorSettings) throws(MediaError) -> AudioProcessorFactory {
    try settings.check()
    return AudioProcessorFactory { Compressor(checked: settings) }
  }

  /// Makes a factory of ``PeakLimiter``.
  ///
  /// - Throws: The errors of ``LimiterSettings/check()``.
  public static func peakLimiter(_ settings: LimiterSettings) throws(MediaError) -> AudioProcessorFactory {
    try settings.check()
    return AudioProcessorFactory { PeakLimiter(checked: settings) }
  }
}
