import Foundation

/// Bursts of a tone in silence, mono, that say how far a stretcher displaced them.
public struct BurstTrain: Sendable {
  /// Of what goes in and comes out.
  public var sampleRateHz: Int
  /// How long it is.
  public var seconds: Int
  /// How fast it is to be played.
  public var speed: Double

  public init(sampleRateHz: Int = 44_100, seconds: Int, speed: Double) {
    self.sampleRateHz = sampleRateHz
    self.seconds = seconds
    self.speed = speed
  }

  /// From burst to burst: so far apart that one cannot be taken for another.
  public var interval: Double { max(1, speed / 8) }
  /// How many bursts there are.
  public var count: Int { Int(Double(seconds) / interval) }
  /// 10 ms of output at least.
  private var length: Double { 0.010 * max(1, speed) }

  private func centre(_ index: Int) -> Double { (Double(index) + 0.5) * interval * Double(sampleRateHz) }

  /// All of it.
  public func samples() -> [Float] {
    var samples = [Float](repeating: 0, count: seconds * sampleRateHz)
    let frames = length * Double(sampleRateHz)
    let step = Float(2 * Double.pi * 1_000 / Double(sampleRateHz))
    for index in 0..<count {
      let first = Int(centre(index) - frames / 2)
      for offset in 0..<Int(frames) {
        let place = Float(offset) / Float(frames)
        // A parabola as the window.
        samples[first + offset] = 0.8 * 4 * place * (1 - place) * Foundation.sin(step * Float(offset))
      }
    }
    return samples
  }

  /// In ms of output: where each burst's energy lies beside where it should; nil for one that is not there.
  ///
  /// `firstFrame`: the frame of the train, of those that went in, that `output` begins with.
  public func displacements(in output: [Float], beginningAt firstFrame: Double = 0) -> [Double?] {
    let reach = Int((0.060 + length / speed) * Double(sampleRateHz))
    return output.withUnsafeBufferPointer { output in
      (0..<count).map { index in
        let expected = (centre(index) - firstFrame) / speed
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

/// A tone at half of full scale, the same in all channels.
public func tone(_ hertz: Float, frameCount: Int, channelCount: Int = 1, sampleRateHz: Int = 44_100) -> [Float] {
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

/// The frequency of what crosses zero upwards, in Hz.
public func pitch(of samples: ArraySlice<Float>, sampleRateHz: Int = 44_100) -> Double {
  var first: Double?
  var last = 0.0
  var crossings = 0
  for index in samples.indices.dropFirst() where samples[index - 1] < 0 && samples[index] >= 0 {
    // Between the two samples, so that a short piece is enough.
    let place = Double(index) - Double(samples[index] / (samples[index] - samples[index - 1]))
    if first == nil { first = place } else { crossings += 1 }
    last = place
  }
  guard let first, last > first else { return 0 }
  return Double(crossings) / (last - first) * Double(sampleRateHz)
}
