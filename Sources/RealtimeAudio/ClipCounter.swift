import Synchronization

/// Counts the samples beyond full scale that were heard: what a device without headroom cuts off.
///
/// Each rendered frame's count is kept until the frame has been heard, so that what is rendered again counts once.
///
/// Threading: the sink's side; `count` anywhere.
struct ClipCounter: ~Copyable {
  private static let capacityFrames = 1 << 17

  /// Samples beyond ±1 in each frame that has not been heard; a frame has at most 64.
  private let frames: UnsafeMutablePointer<UInt8>
  private let total: UnsafeMutablePointer<Atomic<Int>>
  /// The first frame that is not in the total.
  private var firstFrame: Int64 = 0
  private var endFrame: Int64 = 0

  /// `total` outlives the counter.
  init(total: UnsafeMutablePointer<Atomic<Int>>) {
    self.total = total
    frames = .allocate(capacity: Self.capacityFrames)
  }

  deinit { frames.deallocate() }

  /// Looks at a rendered block whose first frame is `frame`.
  @_noAllocation
  mutating func add(_ samples: UnsafePointer<Float>, frameCount: Int, channelCount: Int, at frame: Int64) {
    endFrame = frame
    for index in 0..<frameCount {
      var count: UInt8 = 0
      for sample in index &* channelCount..<(index &+ 1) &* channelCount where samples[sample].magnitude > 1 {
        count &+= 1
      }
      // A device that holds more than is kept here: the oldest count as heard.
      if endFrame &- firstFrame >= Int64(Self.capacityFrames) {
        release(heardFrame: endFrame &- Int64(Self.capacityFrames) &+ 1)
      }
      frames[Int(truncatingIfNeeded: endFrame) & (Self.capacityFrames &- 1)] = count
      endFrame &+= 1
    }
  }

  /// Frames before `frame` have been heard.
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
