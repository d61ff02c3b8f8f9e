/// Mixing: gain, and adding up.
extension RenderInput {
  /// The gain at an output frame: a straight line inside the ramp, the target after it.
  @_noAllocation
  func gain(atFrame frame: Int64) -> Float {
    let elapsed = frame &- rampStartFrame
    if elapsed >= rampFrameCount { return gain }
    return rampStartGain + (gain - rampStartGain) * (Float(elapsed) / Float(rampFrameCount))
  }

  /// Puts `frameCount` interleaved frames into `output`, whose first frame is `outputFrame`: adds to its first `filled`
  /// frames and overwrites the others. At gain 1 the samples go in as they are, bit for bit.
  @_noAllocation
  func mix(
    _ samples: UnsafePointer<Float>, frameCount: Int, filled: Int, channelCount: Int,
    into output: UnsafeMutablePointer<Float>, at outputFrame: Int64
  ) {
    let rampFrames = rampStartFrame &+ rampFrameCount &- outputFrame
    let ramped = rampFrames > 0 ? Int(min(rampFrames, Int64(frameCount))) : 0
    for frame in 0..<ramped {
      let factor = gain(atFrame: outputFrame &+ Int64(frame))
      for sample in frame &* channelCount..<(frame &+ 1) &* channelCount {
        output[sample] = frame < filled ? output[sample] + samples[sample] * factor : samples[sample] * factor
      }
    }
    let first = ramped &* channelCount
    let count = frameCount &* channelCount
    let middle = max(first, filled &* channelCount)
    if gain == 1 {
      for sample in first..<middle { output[sample] += samples[sample] }
      for sample in middle..<count { output[sample] = samples[sample] }
    } else if gain != 0 {
      let factor = gain
      for sample in first..<middle { output[sample] += samples[sample] * factor }
      for sample in middle..<count { output[sample] = samples[sample] * factor }
    } else {
      (output + middle).update(repeating: 0, count: count &- middle)
    }
  }
}
