import PlayheadMediaCore
import PlayheadPlayback

/// An equalizer of up to 10 bands, for any number of channels.
///
/// The bands are filters of second order in series, computed in double precision. Equal settings process all channels.
/// Bands of 0 dB have no effect: an equalizer without other bands and output gain leaves every sample unchanged.
/// Infinite samples and NaN are processed as 0. The output is not limited: see ``PeakLimiter``.
///
/// The history has the length in which the slowest filters decay to 10⁻⁸, at most 10 s. Only narrow bands at the lowest
/// frequencies reach the limit, for example a peak at 20 Hz with a Q factor of 40.
///
/// ``AudioProcessorFactory/parametricEqualizer(_:)`` makes a factory for items and players.
public final class ParametricEqualizer: AudioProcessor {
  private static let blockFrameCount = 256

  /// The settings of this equalizer.
  public let settings: EqualizerSettings
  public private(set) var historyFrameCount = 0

  private var channelCount = 0
  private var outputGain = 1.0
  private var filters: [BiquadCoefficients] = []
  /// The states of all filters of the first channel, then of the next channel.
  private var states: [BiquadState] = []
  /// The samples of one channel.
  private var block = [Double](repeating: 0, count: blockFrameCount)

  /// Makes an equalizer.
  ///
  /// - Throws: The errors of ``EqualizerSettings/check()``.
  public convenience init(_ settings: EqualizerSettings) throws(MediaError) {
    try settings.check()
    self.init(checked: settings)
  }

  init(checked settings: EqualizerSettings) { self.settings = settings }

  public func prepare(format: AudioFormat, maximumFrameCount: Int) {
    channelCount = format.channelCount
    outputGain = Decibels.factor(settings.outputGainDecibels)
    filters = settings.bands.compactMap { BiquadCoefficients($0, sampleRateHz: format.sampleRateHz) }
    let limit = HistoryLimit.frameCount(seconds: .infinity, sampleRateHz: format.sampleRateHz)
    // Filters in series decay one after the other.
    historyFrameCount = min(limit, filters.reduce(0) { $0 + $1.settlingFrameCount(maximum: limit) })
    reset()
  }

  public func process(_ samples: inout MutableSpan<Float>, at time: MediaTime) {
    guard channelCount > 0, !filters.isEmpty || outputGain != 1 else { return }
    let frameCount = samples.count / channelCount
    for first in stride(from: 0, to: frameCount, by: Self.blockFrameCount) {
      let count = min(Self.blockFrameCount, frameCount - first)
      for channel in 0..<channelCount {
        processBlock(&samples, firstIndex: first * channelCount + channel, frameCount: count, channel: channel)
      }
    }
  }

  public func reset() { states = Array(repeating: BiquadState(), count: filters.count * channelCount) }

  private func processBlock(
    _ samples: inout MutableSpan<Float>, firstIndex: Int, frameCount: Int, channel: Int
  ) {
    for frame in 0..<frameCount {
      block[frame] = outputGain * Double(samples[firstIndex + frame * channelCount].finiteOrZero)
    }
    for index in filters.indices {
      states[channel * filters.count + index].process(&block, count: frameCount, with: filters[index])
    }
    for frame in 0..<frameCount { samples[firstIndex + frame * channelCount] = Float(block[frame]) }
  }
}
