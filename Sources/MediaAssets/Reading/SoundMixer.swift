import MediaCore

/// Adds up what comes from several places, piece by piece: a plain sum of float32, which nothing limits. What comes from one place only
/// stays as it is.
///
/// Threading: one thread at a time.
final class SoundMixer {
  /// What filling a piece came to.
  struct Filled {
    /// Frames from the beginning that are right.
    var count: Int
    /// Whether there is anything but silence.
    var hasSound: Bool
    /// Why there are no more; nil where all is filled.
    var error: MediaError?
  }

  private let channelCount: Int
  private let scratch: UnsafeMutableBufferPointer<Float>

  /// - Parameter pieceFrames: frames that are added up together at most.
  init(channelCount: Int, pieceFrames: Int) {
    self.channelCount = channelCount
    scratch = .allocate(capacity: channelCount * pieceFrames)
  }

  deinit { scratch.deallocate() }

  /// Fills room for so many frames with the sum of what `fill` puts into the room that it is given, for each number below `sourceCount`.
  ///
  /// Answers how many frames are right, which is what all have, and the first reason why there are no more.
  func mix(
    into output: UnsafeMutablePointer<Float>, _ frameCount: Int, _ sourceCount: Int,
    _ fill: (Int, UnsafeMutablePointer<Float>) -> Filled
  ) -> (count: Int, error: MediaError?) {
    var count = frameCount
    var error: MediaError?
    var hasSound = false
    for index in 0..<sourceCount {
      guard let scratch = scratch.baseAddress else { break }
      let target = index == 0 ? output : scratch
      let filled = fill(index, target)
      if filled.count < count { (count, error) = (filled.count, filled.error) }
      if index == 0 {
        hasSound = filled.hasSound
      } else if filled.hasSound {
        let sampleCount = count * channelCount
        if hasSound {
          Self.add(scratch, to: output, sampleCount)
        } else {
          output.update(from: scratch, count: sampleCount)
        }
        hasSound = true
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
