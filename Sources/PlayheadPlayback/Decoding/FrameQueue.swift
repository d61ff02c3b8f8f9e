/// A queue of interleaved frames in memory, which are numbered like the frames of their stream.
///
/// Frames are appended at the end and removed at both ends.
///
/// Threading: one thread at a time.
final class FrameQueue {
  let channelCount: Int
  /// The capacity in frames, a power of two.
  let capacity: Int
  /// The number of the first frame, and of the frame after the last.
  private(set) var firstFrame: Int64
  private(set) var endFrame: Int64
  private let samples: UnsafeMutablePointer<Float>

  /// Creates a queue for at least `capacity` frames, from frame `firstFrame` on. Its memory is used as it is filled.
  init(startingAt firstFrame: Int64, capacity: Int, channelCount: Int) {
    var rounded = 1
    while rounded < capacity { rounded <<= 1 }
    self.capacity = rounded
    self.channelCount = channelCount
    self.firstFrame = firstFrame
    endFrame = firstFrame
    samples = .allocate(capacity: rounded * channelCount)
  }

  deinit { samples.deallocate() }

  var count: Int { Int(endFrame - firstFrame) }

  /// Returns contiguous space for the next frames, at most `frameCount` frames; nil if the queue is full.
  func writableRegion(atMost frameCount: Int) -> (samples: UnsafeMutablePointer<Float>, count: Int)? {
    let writable = min(capacity - count, frameCount)
    guard writable > 0 else { return nil }
    return (pointer(to: endFrame), min(writable, contiguousCount(from: endFrame)))
  }

  /// Appends frames that were written to the writable region.
  func commit(_ frameCount: Int) { endFrame += Int64(frameCount) }

  /// Returns contiguous frames from `frame` on, at most `frameCount` frames.
  func readableRegion(from frame: Int64, atMost frameCount: Int) -> (samples: UnsafePointer<Float>, count: Int) {
    (UnsafePointer(pointer(to: frame)), min(frameCount, Int(endFrame - frame), contiguousCount(from: frame)))
  }

  /// Removes the first frames.
  func removeFirst(_ frameCount: Int) { firstFrame += Int64(frameCount) }

  /// Removes the last frames, and returns their samples.
  func takeLast(_ frameCount: Int) -> [Float] {
    let first = endFrame - Int64(frameCount)
    let taken = [Float](unsafeUninitializedCapacity: frameCount * channelCount) { buffer, initializedCount in
      guard let base = buffer.baseAddress else { return }
      var done = 0
      while done < frameCount {
        let region = readableRegion(from: first + Int64(done), atMost: frameCount - done)
        (base + done * channelCount).initialize(from: region.samples, count: region.count * channelCount)
        done += region.count
      }
      initializedCount = frameCount * channelCount
    }
    endFrame = first
    return taken
  }

  private func pointer(to frame: Int64) -> UnsafeMutablePointer<Float> {
    samples + (Int(frame) & (capacity - 1)) * channelCount
  }

  private func contiguousCount(from frame: Int64) -> Int { capacity - (Int(frame) & (capacity - 1)) }
}
