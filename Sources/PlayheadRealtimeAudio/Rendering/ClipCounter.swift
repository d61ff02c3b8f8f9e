import Synchronization

/// Counts the heard samples beyond full scale, which a device without headroom clips.
///
/// The count of each rendered frame is kept until the frame has been heard, so that a frame rendered twice counts once.
///
/// Threading: the sink's side. Any thread may read `total`.
struct ClipCounter: ~Copyable {
  private static let capacityFrames = 1 << 17

  /// The number of samples beyond ±1 in each frame that has not been heard. A frame has at most 64 samples.
  private let frames: UnsafeMutablePointer<UInt8>
  private let total: UnsafeMutablePointer<Atomic<Int>>
  /// The first frame that is not included in the total.
  private var firstFrame: Int64 = 0
  private var endFrame: Int64 = 0

  /// `total` must outlive the counter.
  init(total: UnsafeMutablePointer<Atomic<Int>>) {
    self.total = total
    frames = .allocate(capacity: Self.capacityFrames)
  }

  deinit { frames.deallocate() }

  /// Counts the clipped samples of a rendered block whose first frame is `frame`.
  @_noAllocation
  mutating func add(_ samples: UnsafePointer<Float>, frameCount: Int, channelCount: Int, at frame: Int64) {
    endFrame = frame
    for index in 0..<frameCount {
      var count: UInt8 = 0
      for sample in index &* channelCount..<(index &+ 1) &* channelCount where samples[sample].magnitude > 1 {
        count &+= 1
      }
      // If the device buffers more frames than fit here, the oldest ones count as heard.
      if endFrame &- firstFrame >= Int64(Self.capacityFrames) {
        release(heardFrame: endFrame &- Int64(Self.capacityFrames) &+ 1)
      }
      frames[Int(truncatingIfNeeded: endFrame) & (Self.capacityFrames &- 1)] = count
      endFrame &+= 1
    }
  }

  /// Adds the counts of the frames before `frame`, which have been heard, to the total.
  @_noAllocation
  mutating func release(heardFrame frame: Int64) {
    var count = 0
    while firstFrame < min(frame, endFrame) {
      count &+= Int(frames[Int(truncatingIfNeeded: firstFrame) & (Self.capacityFrames &- 1)])
      firstFrame &+= 1
    }
    if count > 0 { _ = total.pointee.wrappingAdd(count, ordering: .relaxed) }
  }
}
