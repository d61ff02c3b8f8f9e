import Glibc
import MediaTesting

/// Interleaved samples of test signals.
enum Signals {
  /// White noise from -`amplitude` to `amplitude`, different in each channel.
  static func noise(frames: Int, channelCount: Int, amplitude: Float = 1, seed: UInt64 = 1) -> [Float] {
    var generator = SeededGenerator(seed: seed)
    return (0..<frames * channelCount).map { _ in Float.random(in: -1...1, using: &generator) * amplitude }
  }

  /// The same value in all samples.
  static func constant(_ value: Float, frames: Int, channelCount: Int) -> [Float] {
    Array(repeating: value, count: frames * channelCount)
  }

  /// An impulse in one channel in the first frame.
  static func impulse(frames: Int, channelCount: Int, channel: Int) -> [Float] {
    var samples = constant(0, frames: frames, channelCount: channelCount)
    samples[channel] = 1
    return samples
  }

  /// A sine in all channels.
  static func sine(
    frequencyHz: Double, amplitude: Double, frames: Int, channelCount: Int, sampleRateHz: Int
  ) -> [Float] {
    (0..<frames).flatMap { frame in
      let angle = 2 * Double.pi * frequencyHz * Double(frame) / Double(sampleRateHz)
      return Array(repeating: Float(amplitude * sin(angle)), count: channelCount)
    }
  }

  /// The samples of one channel.
  static func channel(_ channel: Int, of samples: [Float], channelCount: Int) -> [Float] {
    stride(from: channel, to: samples.count, by: channelCount).map { samples[$0] }
  }

  /// The greatest difference of two signals of equal length.
  static func difference(_ left: some Collection<Float>, _ right: some Collection<Float>) -> Float {
    zip(left, right).reduce(0) { max($0, abs($1.0 - $1.1)) }
  }

  /// The magnitude of the Fourier transform of a signal at a frequency, in dB.
  static func decibels(of samples: [Float], atHz frequencyHz: Double, sampleRateHz: Int) -> Double {
    var (real, imaginary) = (0.0, 0.0)
    for (index, sample) in samples.enumerated() {
      let angle = 2 * Double.pi * frequencyHz * Double(index) / Double(sampleRateHz)
      real += Double(sample) * cos(angle)
      imaginary -= Double(sample) * sin(angle)
    }
    return 20 * log10(hypot(real, imaginary))
  }
}
