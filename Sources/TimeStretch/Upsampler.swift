import Glibc

/// Brings interleaved sound to a whole multiple of its rate. Frame `n * factor` of what comes out is frame `n` of what went in,
/// as it is; those between are interpolated by a sinc under a Hann window.
struct Upsampler {
  /// How many times as many frames come out.
  let factor: Int
  private let channelCount: Int
  /// For each place between two frames the weights of the `2 * reach` frames around it.
  private let weights: [[Float]]
  /// The frames that what comes next is made of: `2 * reach - 1` of them, the newest last.
  private var history: [Float]

  /// Frames to either side that have a part in one that comes out. So many frames come late.
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

  /// What `frameCount` more frames bring: `factor` times as many, `reach` frames of what goes in late. Samples
  /// beyond ±1 are clipped, and one that is no number is silence.
  mutating func put(_ samples: UnsafePointer<Float>, frameCount: Int) -> [Float] {
    let input = UnsafeBufferPointer(start: samples, count: frameCount * channelCount)
    history.append(contentsOf: input.lazy.map { $0.isNaN ? 0 : max(-1, min(1, $0)) })
    var output = [Float](repeating: 0, count: frameCount * factor * channelCount)
    for frame in 0..<frameCount {
      for (phase, weights) in weights.enumerated() {
        for channel in 0..<channelCount {
          var (sum, place) = (Float(0), frame * channelCount + channel)
          for weight in weights {
            sum += history[place] * weight
            place += channelCount
          }
          output[(frame * factor + phase) * channelCount + channel] = sum
        }
      }
    }
    history.removeFirst(frameCount * channelCount)
    return output
  }
}
