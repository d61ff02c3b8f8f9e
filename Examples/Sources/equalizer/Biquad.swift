import Foundation
import PlayheadFoundation

/// A peaking equalizer of one band (Robert Bristow-Johnson, Cookbook formulae for audio EQ biquad filter coefficients).
///
/// It amplifies or attenuates frequencies near `frequencyHz` by `gainDecibels`.
public final class Biquad: AudioProcessor {
  private let frequencyHz: Double
  private let gainDecibels: Double
  private let quality: Double
  private var channelCount = 0
  /// The coefficients b0, b1, b2, a1 and a2, divided by a0.
  private var b = (0.0, 0.0, 0.0)
  private var a = (0.0, 0.0)
  /// The two delayed values of each channel.
  private var delays: [(Double, Double)] = []

  public init(frequencyHz: Double, gainDecibels: Double, quality: Double = 1) {
    (self.frequencyHz, self.gainDecibels, self.quality) = (frequencyHz, gainDecibels, quality)
  }

  public func prepare(format: AudioFormat, maximumFrameCount: Int) throws(MediaError) {
    guard frequencyHz > 0, frequencyHz < Double(format.sampleRateHz) / 2 else {
      throw MediaError(.invalidArgument, "frequency must be below half of the sample rate (got \(frequencyHz))")
    }
    let amplitude = pow(10, gainDecibels / 40)
    let angle = 2 * .pi * frequencyHz / Double(format.sampleRateHz)
    let alpha = sin(angle) / (2 * quality)
    let a0 = 1 + alpha / amplitude
    b = ((1 + alpha * amplitude) / a0, -2 * cos(angle) / a0, (1 - alpha * amplitude) / a0)
    a = (-2 * cos(angle) / a0, (1 - alpha / amplitude) / a0)
    channelCount = format.channelCount
    reset()
  }

  public func process(_ samples: inout MutableSpan<Float>, at time: MediaTime) {
    for index in samples.indices {
      let (input, channel) = (Double(samples[index]), index % channelCount)
      let output = b.0 * input + delays[channel].0
      delays[channel] = (b.1 * input - a.0 * output + delays[channel].1, b.2 * input - a.1 * output)
      samples[index] = Float(output)
    }
  }

  public func reset() { delays = Array(repeating: (0, 0), count: channelCount) }
}
