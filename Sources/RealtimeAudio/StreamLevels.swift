import Synchronization

/// How loud the items in a stream are: a gain for each, from the item's first frame on.
///
/// The decode thread says what an item's gain is before it writes the item's first frame, so that the gain begins with that very
/// sample. What changes it later is a command to the mixer, and moves it over output frames as other gains are moved.
///
/// Threading: `append` on the decode thread; everything else on the render side, which owns what has been published.
struct StreamLevels: ~Copyable, @unchecked Sendable {
  // `@unchecked Sendable`: slots of `levels` are handed over by the release/acquire pairs in the two positions.
  private struct Level: BitwiseCopyable {
    var streamFrame: Int64
    var itemID: UInt64
    var gain: GainRamp
  }

  /// What holds at a frame, and before which frame.
  struct Reach: BitwiseCopyable {
    var gain: GainRamp
    var endFrame: Int64
  }

  /// More than what a stream holds of items that can be told apart by ear; a power of two.
  static let capacity = 256

  private let levels: UnsafeMutablePointer<Level>
  private let published = Atomic<Int>(0)
  private let released = Atomic<Int>(0)

  init() { levels = .allocate(capacity: Self.capacity) }

  deinit { levels.deallocate() }

  // MARK: - Decode thread

  /// From `streamFrame` on, which is not before that of the last call, the stream is `itemID`'s and has its gain. False, and
  /// nothing is said, when there is no room.
  borrowing func append(streamFrame: Int64, itemID: UInt64, gain: Float) -> Bool {
    let position = published.load(ordering: .relaxed)
    guard position &- released.load(ordering: .acquiring) < Self.capacity else { return false }
    slot(position).initialize(
      to: Level(streamFrame: streamFrame, itemID: itemID, gain: GainRamp(start: gain, target: gain)))
    published.store(position &+ 1, ordering: .releasing)
    return true
  }

  // MARK: - Render side

  /// The gain of a frame that has been written, and how far it reaches. Read `readyFrame` first.
  @_noAllocation
  borrowing func reach(atFrame frame: Int64) -> Reach {
    var gain = GainRamp()
    var position = released.load(ordering: .relaxed)
    let end = published.load(ordering: .acquiring)
    while position < end {
      let level = slot(position)
      if level.pointee.streamFrame > frame { return Reach(gain: gain, endFrame: level.pointee.streamFrame) }
      gain = level.pointee.gain
      position &+= 1
    }
    return Reach(gain: gain, endFrame: .max)
  }

  /// Moves the gain of an item, wherever in the stream it is.
  @_noAllocation
  borrowing func move(itemID: UInt64, to gain: Float, atFrame frame: Int64, frameCount: Int64) {
    var position = released.load(ordering: .relaxed)
    let end = published.load(ordering: .acquiring)
    while position < end {
      let level = slot(position)
      if level.pointee.itemID == itemID {
        level.pointee.gain.move(to: gain, atFrame: frame, frameCount: frameCount, curve: .linear)
      }
      position &+= 1
    }
  }

  /// Frames before `frame` are not asked for again.
  @_noAllocation
  borrowing func release(before frame: Int64) {
    var position = released.load(ordering: .relaxed)
    let end = published.load(ordering: .acquiring)
    while position &+ 1 < end, slot(position &+ 1).pointee.streamFrame <= frame { position &+= 1 }
    released.store(position, ordering: .releasing)
  }

  @_noAllocation
  private borrowing func slot(_ position: Int) -> UnsafeMutablePointer<Level> {
    levels + (position & (Self.capacity &- 1))
  }
}
