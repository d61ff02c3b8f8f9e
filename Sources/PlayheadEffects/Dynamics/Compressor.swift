import Glibc
import PlayheadMediaCore
import PlayheadPlayback

/// Reduces the dynamic range of audio: attenuates it where its level exceeds a threshold.
///
/// The compressor measures the level of the input (feed-forward): the greatest magnitude of all channels in a frame.
/// All channels get the same gain, so that their balance stays the same. The attenuation in dB is smoothed: a peak
/// detector with the release time, followed by a filter of first order with the attack time. Audio that was never above
/// the threshold stays unchanged without make-up gain. Infinite samples and NaN are processed as 0. The output is not
/// limited: see ``PeakLimiter``.
///
/// Latency: 0. History: 12 times the sum of attack and release, at most 10 s.
///
/// Source: Giannoulis, Massberg and Reiss, "Digital Dynamic Range Compressor Design", J. Audio Eng. Soc. 60 (2012): the
/// smooth, decoupled detector in the logarithmic domain.
///
/// ``AudioProcessorFactory/compressor(_:)`` makes a factory for items and players.
public final class Compressor: AudioProcessor {
  /// An attenuation in dB that no sample shows. Below it, the attenuation is 0, so that it does not become subnormal.
  private static let inaudibleDecibels = 1e-12
  /// The lowest level that is measured, as a factor: -400 dBFS.
  private static let lowestLevel = 1e-20

  /// The settings of this compressor.
  public let settings: CompressorSettings
  public private(set) var historyFrameCount = 0

  private var channelCount = 0
  /// The parts of a difference that remain after one frame.
  private var attackRemainder = 0.0
  private var releaseRemainder = 0.0
  /// The attenuations in dB after the peak detector, and after the filter that follows it.
  private var detected = 0.0
  private var attenuation = 0.0

  /// Makes a compressor.
  ///
  /// - Throws: The errors of ``CompressorSettings/check()``.
  public convenience init(_ settings: CompressorSettings) throws(MediaError) {
    try settings.check()
    self.init(checked: settings)
  }

  init(checked settings: CompressorSettings) { self.settings = settings }

  public func prepare(format: AudioFormat, maximumFrameCount: Int) {
    channelCount = format.channelCount
    let rate = Double(format.sampleRateHz)
    attackRemainder = settings.attack > .zero ? exp(-1 / (settings.attack.seconds * rate)) : 0
    releaseRemainder = exp(-1 / (settings.release.seconds * rate))
    historyFrameCount = HistoryLimit.frameCount(
      seconds: 12 * (settings.attack.seconds + settings.release.seconds), sampleRateHz: format.sampleRateHz)
    reset()
  }

  public func process(_ samples: inout MutableSpan<Float>, at time: MediaTime) {
    guard channelCount > 0 else { return }
    for first in stride(from: 0, to: samples.count, by: channelCount) {
      var peak: Float = 0
      for index in first..<first + channelCount {
        samples[index] = samples[index].finiteOrZero
        peak = max(peak, abs(samples[index]))
      }
      let gain = nextGain(level: Double(peak))
      guard gain != 1 else { continue }
      for index in first..<first + channelCount { samples[index] = Float(Double(samples[index]) * gain) }
    }
  }

  public func reset() { (detected, attenuation) = (0, 0) }

  /// Returns the gain of the next frame as a factor.
  private func nextGain(level: Double) -> Double {
    let decibels = Decibels.decibels(max(level, Self.lowestLevel))
    let target = settings.attenuationDecibels(forInputDecibels: decibels)
    detected = max(target, target + (detected - target) * releaseRemainder)
    attenuation = detected + (attenuation - detected) * attackRemainder
    if detected < Self.inaudibleDecibels { detected = 0 }
    if attenuation < Self.inaudibleDecibels { attenuation = 0 }
    return Decibels.factor(settings.makeUpGainDecibels - attenuation)
  }
}
