import PlayheadMediaCore

/// Adds the audio of several sources in chunks: a plain float32 sum without a limiter. The audio of a single source
/// stays unchanged.
///
/// Threading: one thread at a time.
final class AudioMixer {
  /// The result of filling a chunk.
  struct FillResult {
    /// The number of valid frames from the beginning.
    var count: Int
    /// Whether the chunk contains audio other than silence.
    var hasAudio: Bool
    /// The reason why there are no more frames; nil if the chunk is full.
    var error: MediaError?
  }

  private let channelCount: Int
  private let scratch: UnsafeMutableBufferPointer<Float>

  /// - Parameter chunkFrames: the maximum number of frames added together.
  init(channelCount: Int, chunkFrames: Int) {
    self.channelCount = channelCount
    scratch = .allocate(capacity: channelCount * chunkFrames)
  }

  deinit { scratch.deallocate() }

  /// Fills `output` with the sum of the audio that `fill` produces for each index below `sourceCount`.
  ///
  /// - Returns: the number of frames that are valid in all sources, and the first error.
  func mix(
    into output: UnsafeMutablePointer<Float>, _ frameCount: Int, _ sourceCount: Int,
    _ fill: (Int, UnsafeMutablePointer<Float>) -> FillResult
  ) -> (count: Int, error: MediaError?) {
    var count = frameCount
    var error: MediaError?
    var hasAudio = false
    for index in 0..<sourceCount {
      guard let scratch = scratch.baseAddress else { break }
      let target = index == 0 ? output : scratch
      let filled = fill(index, target)
      if filled.count < count { (count, error) = (filled.count, filled.error) }
      if index == 0 {
        hasAudio = filled.hasAudio
      } else if filled.hasAudio {
        let sampleCount = count * channelCount
        if hasAudio {
          Self.add(scratch, to: output, sampleCount)
        } else {
          output.update(from: scratch, count: sampleCount)
        }
        hasAudio = true
      }
    }
    return (count, error)
  }

  private static func add(
    _ source: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, _ count: Int
  ) {
    for sample in 0..<count { target[sample] += source[sample] }
  }
}
