import PlayheadMediaCore
import PlayheadPlayback

/// Mixes the channels of audio with constant gains, for example to mono.
///
/// Each output sample is the sum of the products of input samples and gains, in double precision, rounded once.
/// Infinite samples and NaN are processed as 0. The output is not limited: see ``PeakLimiter``. Latency and history are
/// 0.
///
/// ``AudioProcessorFactory/channelMatrix(_:)`` makes a factory for items and players.
public final class ChannelMatrix: AudioProcessor {
  /// The gains.
  public let mix: ChannelMix

  private var channelCount = 0
  /// Row by row, one row for each output channel.
  private var gains: [Double] = []
  /// The input samples of one frame.
  private var frame: [Double] = []

  /// Makes a matrix.
  ///
  /// - Throws: The errors of ``ChannelMix/check()``.
  public convenience init(_ mix: ChannelMix) throws(MediaError) {
    try mix.check()
    self.init(checked: mix)
  }

  init(checked mix: ChannelMix) { self.mix = mix }

  /// Prepares for audio.
  ///
  /// - Throws: `invalidArgument` if the gains are for another number of channels.
  public func prepare(format: AudioFormat, maximumFrameCount: Int) throws(MediaError) {
    gains = try mix.matrix(channelCount: format.channelCount)
    channelCount = format.channelCount
    frame = Array(repeating: 0, count: channelCount)
  }

  public func process(_ samples: inout MutableSpan<Float>, at time: MediaTime) {
    guard channelCount > 0 else { return }
    for first in stride(from: 0, to: samples.count, by: channelCount) {
      for input in 0..<channelCount { frame[input] = Double(samples[first + input].finiteOrZero) }
      for output in 0..<channelCount {
        var sum = 0.0
        for input in 0..<channelCount { sum += gains[output * channelCount + input] * frame[input] }
        samples[first + output] = Float(sum)
      }
    }
  }
}
