import MediaCore

/// Sonic, which leaves out or repeats periods of the pitch.
///
/// Displacement: within 20 ms of output; below 20 kHz and 1/8 of the speed, where Sonic's periods have few samples, within
/// 60 ms. It begins with the first frame as it is, so that it needs no history. Samples
/// pass through 16 bits and are clipped at ±1.
public final class TimeDomainStretcher: TimeStretcher {
  public let format: AudioFormat
  public let speed: StretchSpeed
  public var historyFrameCount: Int { 0 }
  /// One, or two that share the speed: below 20 kHz the shortest periods have too few samples for the whole of it.
  private let stages: [SonicStage]
  private var queue: FrameQueue

  /// Sonic's shortest period is the rate over this.
  private static let highestPitchHz = 400.0

  public init(format: AudioFormat, speed: StretchSpeed) throws(MediaError) {
    self.format = format
    self.speed = speed
    queue = FrameQueue(channelCount: format.channelCount, speed: speed)
    // What Sonic gives at once at a high speed, or takes at once at a low one, is a period over this. With less than
    // two samples of it Sonic stands still.
    let factor = max(speed.value, 1 / speed.value)
    let shortestPeriod = Double(format.sampleRateHz) / Self.highestPitchHz
    if factor - 1 <= shortestPeriod / 2 {
      stages = [try SonicStage(format: format, speed: speed.value)]
    } else {
      let half = speed.value.squareRoot()
      guard factor.squareRoot() - 1 <= shortestPeriod / 2 else {
        throw MediaError(
          .unsupportedRate, "sound of \(format.sampleRateHz) Hz cannot be stretched to the speed \(speed.value)")
      }
      stages = [try SonicStage(format: format, speed: half), try SonicStage(format: format, speed: half)]
    }
  }

  public func putHistory(_ samples: UnsafePointer<Float>, frameCount: Int) {}

  public func put(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError) {
    queue.didPut(frameCount)
    try put(samples, frameCount, into: 0)
  }

  private func put(_ samples: UnsafePointer<Float>, _ frameCount: Int, into stage: Int) throws(MediaError) {
    guard stage < stages.count else {
      let count = frameCount * format.channelCount
      return queue.append(frameCount) { $0.update(from: samples, count: count) }
    }
    try stages[stage].put(samples, frameCount: frameCount) { output, count throws(MediaError) in
      try put(output, count, into: stage + 1)
    }
  }

  public func finish() throws(MediaError) {
    for stage in stages.indices {
      try stages[stage].finish { output, count throws(MediaError) in try put(output, count, into: stage + 1) }
    }
    queue.finish()
  }

  public func take(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) -> Int {
    queue.take(into: output, capacityFrames: capacityFrames)
  }
}
