/// Mixing: multiplies samples by gains and adds them to the output.
extension RenderInput {
  /// Writes `frameCount` interleaved frames to `output`, whose first frame is `outputFrame`. Adds to the first `filled`
  /// frames and overwrites the others. With all gains at 1 the samples are unchanged, bit for bit.
  ///
  /// - Parameters:
  ///   - itemGain: The gain of the item that all samples belong to.
  ///   - fade: The gain of the samples in a cross-fade.
  @_noAllocation
  func mix(
    _ samples: UnsafePointer<Float>, frameCount: Int, filled: Int, channelCount: Int, itemGain: GainRamp,
    fade: GainRamp, sides: PanSides,
    into output: UnsafeMutablePointer<Float>, at outputFrame: Int64
  ) {
    let rampsEnd = max(
      max(inputGain.endFrame, muteGain.endFrame),
      max(max(left.endFrame, right.endFrame), max(itemGain.endFrame, fade.endFrame)))
    let rampedFrameCount = rampsEnd > outputFrame ? Int(min(rampsEnd &- outputFrame, Int64(frameCount))) : 0
    for frame in 0..<rampedFrameCount {
      mixFrame(
        samples + frame &* channelCount, isFirst: frame >= filled, channelCount: channelCount, itemGain: itemGain,
        fade: fade, sides: sides, into: output + frame &* channelCount, at: outputFrame &+ Int64(frame))
    }
    guard rampedFrameCount < frameCount else { return }
    let factor = inputGain.target * muteGain.target * itemGain.target * fade.target
    if left.target != 1 || right.target != 1, channelCount > 1 {
      for channel in 0..<channelCount {
        let gain = sides.gain(
          ofChannel: channel, left: factor * left.target, right: factor * right.target, middle: factor)
        var sample = rampedFrameCount &* channelCount &+ channel
        while sample < min(filled, frameCount) &* channelCount {
          output[sample] += samples[sample] * gain
          sample &+= channelCount
        }
        while sample < frameCount &* channelCount {
          output[sample] = samples[sample] * gain
          sample &+= channelCount
        }
      }
      return
    }
    let first = rampedFrameCount &* channelCount
    let count = frameCount &* channelCount
    let middle = max(first, min(filled, frameCount) &* channelCount)
    if factor == 1 {
      for sample in first..<middle { output[sample] += samples[sample] }
      for sample in middle..<count { output[sample] = samples[sample] }
    } else if factor != 0 {
      for sample in first..<middle { output[sample] += samples[sample] * factor }
      for sample in middle..<count { output[sample] = samples[sample] * factor }
    } else {
      (output + middle).update(repeating: 0, count: count &- middle)
    }
  }

  /// Mixes one frame with the gains at `outputFrame`.
  @_noAllocation
  private func mixFrame(
    _ samples: UnsafePointer<Float>, isFirst: Bool, channelCount: Int, itemGain: GainRamp, fade: GainRamp,
    sides: PanSides,
    into output: UnsafeMutablePointer<Float>, at outputFrame: Int64
  ) {
    let factor =
      inputGain.value(atFrame: outputFrame) * muteGain.value(atFrame: outputFrame)
      * itemGain.value(atFrame: outputFrame) * fade.value(atFrame: outputFrame)
    let leftGain = factor * left.value(atFrame: outputFrame)
    let rightGain = factor * right.value(atFrame: outputFrame)
    for channel in 0..<channelCount {
      let gain = sides.gain(ofChannel: channel, left: leftGain, right: rightGain, middle: factor)
      let sample = samples[channel] * gain
      output[channel] = isFirst ? sample : output[channel] + sample
    }
  }
}
