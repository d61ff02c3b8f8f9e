import Glibc
import PlayheadMediaCore
import PlayheadPlayback

/// Keeps every sample at or below a ceiling, with a gain that changes smoothly.
///
/// No output sample exceeds ``LimiterSettings/ceiling``, whatever the input and the settings are. The ceiling applies
/// to samples in the format of the item (sample peak). The analogue signal between samples (true peak), conversion to
/// another sample rate or rate of playback, and the sum of several players can exceed it.
///
/// All channels get the same gain. Where no peak exceeds the ceiling, and the gain has risen after earlier peaks, the
/// output is the delayed input without any change. Infinite samples and NaN are processed as 0.
///
/// Latency: the look-ahead. History: twice the look-ahead and 14 times the release, at most 10 s.
///
/// ``AudioProcessorFactory/peakLimiter(_:)`` makes a factory for items and players.
///
/// ## Proof of the ceiling
///
/// Let C be the ceiling, p(n) the peak of frame n, L the look-ahead in frames, and g(n) = min(1, C / p(n)).
///
/// 1. m(n) is the minimum of g(n-L) to g(n).
/// 2. r(n) rises slowly and is at most m(n). Therefore r(n-L) to r(n) are all at most g(n-L).
/// 3. a(n), the mean of r(n-L) to r(n), is at most g(n-L).
/// 4. The output is frame n-L multiplied with a(n), at most C.
///
/// The mean is exact (`GainAverage`). The other errors are below 2⁻⁵⁰ of C, and C is a `Float`: rounding the product to
/// `Float` gives at most C.
public final class PeakLimiter: AudioProcessor {
  /// The distance from 1 at which the rising gain becomes 1.
  private static let smallestReduction = 1e-9

  /// The settings of this limiter.
  public let settings: LimiterSettings
  public private(set) var latencyFrameCount = 0
  public private(set) var historyFrameCount = 0

  private let ceiling: Float
  private var channelCount = 0
  /// The part of the difference to 1 by which the gain rises in a frame.
  private var releaseStep = 0.0
  private var requiredGain = SlidingMinimum(length: 1)
  private var releasedGain = 1.0
  private var smoothGain = GainAverage(length: 1)
  /// The delayed frames, interleaved, in a ring.
  private var delayed: [Float] = []
  private var delayedIndex = 0

  /// Makes a limiter.
  ///
  /// - Throws: The errors of ``LimiterSettings/check()``.
  public convenience init(_ settings: LimiterSettings) throws(MediaError) {
    try settings.check()
    self.init(checked: settings)
  }

  init(checked settings: LimiterSettings) {
    self.settings = settings
    ceiling = settings.ceiling
  }

  public func prepare(format: AudioFormat, maximumFrameCount: Int) {
    channelCount = format.channelCount
    let rate = Double(format.sampleRateHz)
    latencyFrameCount = max(1, Int((settings.lookAhead.seconds * rate).rounded()))
    releaseStep = -expm1(-1 / (settings.release.seconds * rate))
    let history = 2 * Double(latencyFrameCount) / rate + 14 * settings.release.seconds
    historyFrameCount = HistoryLimit.frameCount(seconds: history, sampleRateHz: format.sampleRateHz)
    requiredGain = SlidingMinimum(length: latencyFrameCount + 1)
    smoothGain = GainAverage(length: latencyFrameCount + 1)
    delayed = Array(repeating: 0, count: latencyFrameCount * channelCount)
    reset()
  }

  public func process(_ samples: inout MutableSpan<Float>, at time: MediaTime) {
    guard channelCount > 0 else { return }
    for first in stride(from: 0, to: samples.count, by: channelCount) {
      var peak: Float = 0
      for index in first..<first + channelCount { peak = max(peak, abs(samples[index].finiteOrZero)) }
      let gain = nextGain(peak: peak)
      for index in first..<first + channelCount {
        let input = samples[index].finiteOrZero
        samples[index] = Float(Double(delayed[delayedIndex]) * gain)
        delayed[delayedIndex] = input
        delayedIndex += 1
      }
      if delayedIndex == delayed.count { delayedIndex = 0 }
    }
  }

  public func reset() {
    requiredGain.removeAll()
    smoothGain.removeAll()
    releasedGain = 1
    for index in delayed.indices { delayed[index] = 0 }
    delayedIndex = 0
  }

  /// Returns the gain of the frame that leaves the delay, when a frame with this peak enters it.
  private func nextGain(peak: Float) -> Double {
    let required = peak > ceiling ? Double(ceiling) / Double(peak) : 1
    let minimum = requiredGain.minimum(adding: required)
    var risen = releasedGain + (1 - releasedGain) * releaseStep
    if 1 - risen < Self.smallestReduction { risen = 1 }
    releasedGain = min(minimum, risen)
    return smoothGain.mean(adding: releasedGain)
  }
}
