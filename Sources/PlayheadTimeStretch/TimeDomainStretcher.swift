import PlayheadMediaCore

/// A stretcher with Sonic, which omits or repeats periods of the pitch.
///
/// Displacement: within 20 ms of output. Sonic's errors are whole input samples, and at 8 kHz and rate 1/32 one sample
/// is 4 ms of output. Therefore slowed audio of a low sample rate is upsampled first.
///
/// Sonic begins with the unchanged first frame, so it needs no history. Samples pass through 16 bits and are clipped at
/// ±1.
package final class TimeDomainStretcher: TimeStretcher {
  package let format: AudioFormat
  package let rate: StretchRate
  package var historyFrameCount: Int { 0 }
  /// One stage, or two stages that share the rate: below 25 kHz the shortest periods have too few samples for a high
  /// rate in one stage.
  private let stages: [SonicStage]
  /// The upsampler for slowed audio of a low sample rate, and the number of upsampled frames that Sonic has returned.
  private var upsampler: Upsampler?
  private var upsampledCount = 0
  /// The number of input frames of the upsampler's delay that are still to be discarded.
  private var remainingDelayFrames = Upsampler.reach
  private var queue: FrameQueue

  /// Sonic's shortest period is the sample rate divided by this.
  private static let highestPitchHz = 400.0
  /// The lowest sample rate at which rates below 1/4 are accurate, and 1/32 is possible in one stage.
  private static let minimumSlowSampleRateHz = 25_000

  package init(format: AudioFormat, rate: StretchRate) throws(MediaError) {
    self.format = format
    self.rate = rate
    queue = FrameQueue(channelCount: format.channelCount, rate: rate)
    // At a high rate Sonic outputs, and at a low rate it reads, a period divided by `factor - 1` at once. With fewer
    // than two samples at once Sonic makes no progress.
    let factor = max(rate.value, 1 / rate.value)
    if rate.value < 0.25, format.sampleRateHz < Self.minimumSlowSampleRateHz {
      let multiple = (Self.minimumSlowSampleRateHz + format.sampleRateHz - 1) / format.sampleRateHz
      upsampler = Upsampler(factor: multiple, channelCount: format.channelCount)
      let upsampledFormat = AudioFormat(sampleRateHz: format.sampleRateHz * multiple, channelCount: format.channelCount)
      stages = [try SonicStage(format: upsampledFormat, rate: rate.value)]
      return
    }
    let shortestPeriod = Double(format.sampleRateHz) / Self.highestPitchHz
    if factor - 1 <= shortestPeriod / 2 {
      stages = [try SonicStage(format: format, rate: rate.value)]
    } else {
      let stageRate = rate.value.squareRoot()
      guard factor.squareRoot() - 1 <= shortestPeriod / 2 else {
        throw MediaError(
          .unsupportedRate, "audio of \(format.sampleRateHz) Hz cannot be stretched to the rate \(rate.value)")
      }
      stages = [try SonicStage(format: format, rate: stageRate), try SonicStage(format: format, rate: stageRate)]
    }
  }

  package func writeHistory(_ samples: UnsafePointer<Float>, frameCount: Int) {}

  package func write(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError) {
    queue.countInput(frameCount)
    try upsampleAndWrite(samples, frameCount)
  }

  /// Upsamples frames to Sonic's sample rate if necessary, and writes them.
  private func upsampleAndWrite(_ samples: UnsafePointer<Float>, _ frameCount: Int) throws(MediaError) {
    guard let factor = upsampler?.factor, let upsampled = upsampler?.upsample(samples, frameCount: frameCount) else {
      return try write(samples, frameCount, into: 0)
    }
    try upsampled.withUnsafeBufferPointer { upsampled throws(MediaError) in
      if let base = upsampled.baseAddress {
        // The delay of the upsampler is silence before the first frame, which must not be audible.
        let delayFrames = min(remainingDelayFrames, frameCount)
        remainingDelayFrames -= delayFrames
        try write(base + delayFrames * factor * format.channelCount, (frameCount - delayFrames) * factor, into: 0)
      }
    }
  }

  /// Queues one of every `factor` upsampled frames. Sonic's output contains nothing above the lower sample rate's band.
  private func queueDecimated(_ samples: UnsafePointer<Float>, _ frameCount: Int, of factor: Int) {
    let first = (factor - upsampledCount % factor) % factor
    upsampledCount += frameCount
    guard first < frameCount else { return }
    let (keptCount, channelCount) = ((frameCount - first + factor - 1) / factor, format.channelCount)
    queue.append(keptCount) { output in
      for frame in 0..<keptCount {
        (output + frame * channelCount).update(
          from: samples + (first + frame * factor) * channelCount, count: channelCount)
      }
    }
  }

  private func write(_ samples: UnsafePointer<Float>, _ frameCount: Int, into stage: Int) throws(MediaError) {
    guard stage < stages.count else {
      if let upsampler { return queueDecimated(samples, frameCount, of: upsampler.factor) }
      let count = frameCount * format.channelCount
      return queue.append(frameCount) { $0.update(from: samples, count: count) }
    }
    try stages[stage].write(samples, frameCount: frameCount) { output, count throws(MediaError) in
      try write(output, count, into: stage + 1)
    }
  }

  package func finish() throws(MediaError) {
    if upsampler != nil {
      let silence = [Float](repeating: 0, count: Upsampler.reach * format.channelCount)
      try silence.withUnsafeBufferPointer { silence throws(MediaError) in
        if let base = silence.baseAddress { try upsampleAndWrite(base, Upsampler.reach) }
      }
    }
    for stage in stages.indices {
      try stages[stage].finish { output, count throws(MediaError) in try write(output, count, into: stage + 1) }
    }
    queue.finish()
  }

  package func read(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) -> Int {
    queue.read(into: output, capacityFrames: capacityFrames)
  }
}
