import PlayheadMediaCore
import PlayheadPlayback

/// Delays audio by its latency.
final class DelayProcessor: AudioProcessor {
  let latencyFrameCount: Int
  private var stored: [Float] = []
  private var channelCount = 0
  init(_ frameCount: Int) { latencyFrameCount = frameCount }
  func prepare(format: AudioFormat, maximumFrameCount: Int) {
    channelCount = format.channelCount
    reset()
  }
  func process(_ samples: inout MutableSpan<Float>, at time: MediaTime) {
    for index in samples.indices { stored.append(samples[index]) }
    for index in samples.indices { samples[index] = stored[index] }
    stored.removeFirst(samples.count)
  }
  func reset() { stored = [Float](repeating: 0, count: latencyFrameCount * channelCount) }
}
