import Foundation

/// Bursts of a tone in silence, mono, for measuring the displacement by a time stretcher.
package struct BurstTrain: Sendable {
  /// Sample rate of input and output, in Hz.
  package var sampleRateHz: Int
  /// Duration in seconds.
  package var seconds: Int
  /// Playback rate.
  package var rate: Double

  package init(sampleRateHz: Int = 44_100, seconds: Int, rate: Double) {
    self.sampleRateHz = sampleRateHz
    self.seconds = seconds
    self.rate = rate
  }

  /// Interval between bursts in seconds, long enough that bursts cannot be confused.
  package var interval: Double { max(1, rate / 8) }
  /// The number of bursts.
  package var count: Int { Int(Double(seconds) / interval) }
  /// Duration of a burst in seconds: at least 10 ms of output.
  private var length: Double { 0.010 * max(1, rate) }

  private func centre(_ index: Int) -> Double { (Double(index) + 0.5) * interval * Double(sampleRateHz) }

  /// The complete signal.
  package func samples() -> [Float] {
    var samples = [Float](repeating: 0, count: seconds * sampleRateHz)
    let frames = length * Double(sampleRateHz)
    let step = Float(2 * Double.pi * 1_000 / Double(sampleRateHz))
    for index in 0..<count {
      let first = Int(centre(index) - frames / 2)
      for offset in 0..<Int(frames) {
        let phase = Float(offset) / Float(frames)
        // A parabola as the window.
        samples[first + offset] = 0.8 * 4 * phase * (1 - phase) * Foundation.sin(step * Float(offset))
      }
    }
    return samples
  }

  /// The displacement of each burst in ms of output: the position of its energy minus the expected position. Nil for a
  /// missing burst.
  ///
  /// `firstFrame` is the input frame with which `output` begins.
  package func displacements(in output: [Float], beginningAt firstFrame: Double = 0) -> [Double?] {
    let reach = Int((0.060 + length / rate) * Double(sampleRateHz))
    return output.withUnsafeBufferPointer { output in
      (0..<count).map { index in
        let expected = (centre(index) - firstFrame) / rate
        var energy = 0.0
        var moment = 0.0
        var frame = max(0, Int(expected) - reach)
        let end = min(output.count, Int(expected) + reach)
        while frame < end {
          let value = Double(output[frame])
          if value > 0.1 || value < -0.1 {
            energy += value * value
            moment += value * value * (Double(frame) - expected)
          }
          frame += 1
        }
        return energy > 0 ? moment / energy / Double(sampleRateHz) * 1_000 : nil
      }
    }
  }
}

/// A tone at half of full scale, equal in all channels.
package func tone(_ hertz: Float, frameCount: Int, channelCount: Int = 1, sampleRateHz: Int = 44_100) -> [Float] {
  let step = 2 * Float.pi * hertz / Float(sampleRateHz)
  let period = Int((Float(sampleRateHz) / hertz).rounded())
  let isWhole = abs(Float(period) * hertz - Float(sampleRateHz)) < 0.01
  var samples = [Float](repeating: 0, count: frameCount * channelCount)
  for frame in 0..<frameCount {
    let value = 0.5 * Foundation.sin(step * Float(isWhole ? frame % period : frame))
    for channel in 0..<channelCount { samples[frame * channelCount + channel] = value }
  }
  return samples
}

/// The pitch of a tone in Hz: the frequency of its upward zero crossings.
package func pitch(of samples: ArraySlice<Float>, sampleRateHz: Int = 44_100) -> Double {
  var first: Double?
  var last = 0.0
  var crossings = 0
  for index in samples.indices.dropFirst() where samples[index - 1] < 0 && samples[index] >= 0 {
    // Interpolates between the samples, so that a short range is enough.
    let crossing = Double(index) - Double(samples[index] / (samples[index] - samples[index - 1]))
    if first == nil { first = crossing } else { crossings += 1 }
    last = crossing
  }
  guard let first, last > first else { return 0 }
  return Double(crossings) / (last - first) * Double(sampleRateHz)
}
