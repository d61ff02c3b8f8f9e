import Foundation
import MediaCore
import TimeStretch

/// Stretches `input` (interleaved), put in pieces of these sizes over and over, and taken in pieces of 1,000 frames.
func stretched(
  _ input: [Float], _ algorithm: TimeStretchAlgorithm, _ speed: StretchSpeed,
  format: AudioFormat = AudioFormat(sampleRateHz: 44_100, channelCount: 1), pieces: [Int] = [4_096],
  history: [Float] = []
) throws -> [Float] {
  let stretcher = try algorithm.makeStretcher(format: format, speed: speed)
  let channelCount = format.channelCount
  var output: [Float] = []
  var piece = [Float](repeating: 0, count: 1_000 * channelCount)
  func takeAll() {
    while true {
      let count = piece.withUnsafeMutableBufferPointer { buffer in
        buffer.baseAddress.map { stretcher.take(into: $0, capacityFrames: 1_000) } ?? 0
      }
      if count == 0 { return }
      output.append(contentsOf: piece[..<(count * channelCount)])
    }
  }
  try history.withUnsafeBufferPointer { buffer in
    if let base = buffer.baseAddress { try stretcher.putHistory(base, frameCount: buffer.count / channelCount) }
  }
  try input.withUnsafeBufferPointer { buffer in
    guard let base = buffer.baseAddress else { return }
    let frameCount = buffer.count / channelCount
    var done = 0
    var index = 0
    while done < frameCount {
      let count = min(pieces[index % pieces.count], frameCount - done)
      index += 1
      try stretcher.put(base + done * channelCount, frameCount: count)
      done += count
      takeAll()
    }
  }
  try stretcher.finish()
  takeAll()
  return output
}

/// Bursts of a tone in silence, mono, that say how far a stretcher displaced them.
struct BurstTrain {
  var sampleRateHz = 44_100
  var seconds: Int
  var speed: StretchSpeed
  /// From burst to burst: so far apart that one cannot be taken for another.
  var interval: Double { max(1, speed.value / 8) }
  var count: Int { Int(Double(seconds) / interval) }
  /// 10 ms of output at least.
  private var length: Double { 0.010 * max(1, speed.value) }

  private func centre(_ index: Int) -> Double { (Double(index) + 0.5) * interval * Double(sampleRateHz) }

  func samples() -> [Float] {
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
  func displacements(in output: [Float]) -> [Double?] {
    let reach = Int((0.060 + length / speed.value) * Double(sampleRateHz))
    return output.withUnsafeBufferPointer { output in
      (0..<count).map { index in
        let expected = centre(index) / speed.value
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

/// A tone at full scale over two.
func tone(_ hertz: Float, frameCount: Int, channelCount: Int = 1, sampleRateHz: Int = 44_100) -> [Float] {
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
func pitch(of samples: ArraySlice<Float>, sampleRateHz: Int = 44_100) -> Double {
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
