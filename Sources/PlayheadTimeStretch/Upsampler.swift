import Glibc

/// Upsamples interleaved audio to a multiple of its sample rate. Output frame `n * factor` is input frame `n`,
/// unchanged; frames in between are interpolated with a Hann-windowed sinc.
struct Upsampler {
  /// The ratio of output frames to input frames.
  let factor: Int
  private let channelCount: Int
  /// The weights of the `2 * reach` nearest frames, for each output position between two frames.
  private let weights: [[Float]]
  /// The input frames for the next output: `2 * reach - 1` of them, the newest last.
  private var history: [Float]

  /// The number of input frames on each side that contribute to an output frame, and the delay of the output in input
  /// frames.
  static let reach = 16

  init(factor: Int, channelCount: Int) {
    self.factor = factor
    self.channelCount = channelCount
    let reach = Self.reach
    weights = (0..<factor).map { phase in
      (0..<2 * reach).map { index in
        let distance = Double(index - reach + 1) - Double(phase) / Double(factor)
        guard distance != 0 else { return 1 }
        let angle = Double.pi * distance
        return abs(distance) < Double(reach) ? Float(sin(angle) / angle * (0.5 + 0.5 * cos(angle / Double(reach)))) : 0
      }
    }
    history = [Float](repeating: 0, count: (2 * reach - 1) * channelCount)
  }

  /// Upsamples `frameCount` more frames and returns `factor` times as many, delayed by `reach` input frames. Samples
  /// beyond ±1 are clipped, and NaN becomes silence.
  mutating func upsample(_ samples: UnsafePointer<Float>, frameCount: Int) -> [Float] {
    let input = UnsafeBufferPointer(start: samples, count: frameCount * channelCount)
    history.append(contentsOf: input.lazy.map { $0.isNaN ? 0 : max(-1, min(1, $0)) })
    var output = [Float](repeating: 0, count: frameCount * factor * channelCount)
    for frame in 0..<frameCount {
      for (phase, weights) in weights.enumerated() {
        for channel in 0..<channelCount {
          var (sum, index) = (Float(0), frame * channelCount + channel)
          for weight in weights {
            sum += history[index] * weight
            index += channelCount
          }
          output[(frame * factor + phase) * channelCount + channel] = sum
        }
      }
    }
    history.removeFirst(frameCount * channelCount)
    return output
  }
}
