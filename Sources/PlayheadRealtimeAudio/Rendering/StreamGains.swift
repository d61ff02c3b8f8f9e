import Synchronization

/// The gains of the items in a stream, each from the item's first frame on.
///
/// The decode thread sets an item's gain before it writes the item's first frame, so that the gain begins exactly with
/// that sample. Later changes are commands to the mixer and move the gain over output frames, like other gains.
///
/// Threading: `append` on the decode thread; everything else on the sink's side, which owns the published gains.
struct StreamGains: ~Copyable, @unchecked Sendable {
  // `@unchecked Sendable`: slots of `itemGains` are handed over by the release/acquire pairs in the two positions.
  private struct ItemGain: BitwiseCopyable {
    var streamFrame: Int64
    var itemID: UInt64
    var gain: GainRamp
  }

  /// The gain at a frame, and the first frame at which it no longer applies.
  struct GainRange: BitwiseCopyable {
    var gain: GainRamp
    var endFrame: Int64
  }

  /// More than the number of items in a stream that a listener can distinguish; a power of two.
  static let capacity = 256

  private let itemGains: UnsafeMutablePointer<ItemGain>
  private let published = Atomic<Int>(0)
  private let released = Atomic<Int>(0)

  init() { itemGains = .allocate(capacity: Self.capacity) }

  deinit { itemGains.deallocate() }

  // MARK: - Decode thread

  /// Assigns the frames from `streamFrame` on to `itemID`, with its gain. `streamFrame` must not be before that of the
  /// last call. Returns false and changes nothing when there is no space.
  borrowing func append(streamFrame: Int64, itemID: UInt64, gain: Float) -> Bool {
    let position = published.load(ordering: .relaxed)
    guard position &- released.load(ordering: .acquiring) < Self.capacity else { return false }
    slot(position).initialize(
      to: ItemGain(streamFrame: streamFrame, itemID: itemID, gain: GainRamp(start: gain, target: gain)))
    published.store(position &+ 1, ordering: .releasing)
    return true
  }

  // MARK: - Sink's side

  /// Returns the gain of a written frame, and the end of its range. Call it after reading `readyFrame`.
  @_noAllocation
  borrowing func gainRange(atFrame frame: Int64) -> GainRange {
    var gain = GainRamp()
    var position = released.load(ordering: .relaxed)
    let end = published.load(ordering: .acquiring)
    while position < end {
      let itemGain = slot(position)
      if itemGain.pointee.streamFrame > frame { return GainRange(gain: gain, endFrame: itemGain.pointee.streamFrame) }
      gain = itemGain.pointee.gain
      position &+= 1
    }
    return GainRange(gain: gain, endFrame: .max)
  }

  /// Moves the gain of an item wherever it occurs in the stream.
  @_noAllocation
  borrowing func move(itemID: UInt64, to gain: Float, atFrame frame: Int64, frameCount: Int64) {
    var position = released.load(ordering: .relaxed)
    let end = published.load(ordering: .acquiring)
    while position < end {
      let itemGain = slot(position)
      if itemGain.pointee.itemID == itemID {
        itemGain.pointee.gain.move(to: gain, atFrame: frame, frameCount: frameCount, curve: .linear)
      }
      position &+= 1
    }
  }

  /// Releases the entries that only apply before `frame`.
  @_noAllocation
  borrowing func release(before frame: Int64) {
    var position = released.load(ordering: .relaxed)
    let end = published.load(ordering: .acquiring)
    while position &+ 1 < end, slot(position &+ 1).pointee.streamFrame <= frame { position &+= 1 }
    released.store(position, ordering: .releasing)
  }

  @_noAllocation
  private borrowing func slot(_ position: Int) -> UnsafeMutablePointer<ItemGain> {
    itemGains + (position & (Self.capacity &- 1))
  }
}
