import MediaCore
import Synchronization

/// What a stretch of a stream's frames is, told by the decode thread to the engine.
///
/// A span begins at `streamFrame` and lasts until the next span begins or the stream ends.
public struct SpanDescriptor: BitwiseCopyable, Sendable {
  /// The frame of the stream at which the span begins.
  public var streamFrame: Int64
  /// The queue entry whose sound this is.
  public var itemID: UInt64
  /// Which playing of an item this is: they are counted in each stream, from 0.
  public var passIndex: Int32
  /// The item's time at `streamFrame`: `timeValue / timeScale` seconds.
  public var timeValue: Int64
  public var timeScale: Int32
  /// How much faster than the stream's frames the item's time goes on, in millionths; below zero it goes back.
  public var rateMillionths: Int64

  public init(
    streamFrame: Int64, itemID: UInt64, passIndex: Int32 = 0, timeValue: Int64, timeScale: Int32,
    rateMillionths: Int64 = 1_000_000
  ) {
    self.streamFrame = streamFrame
    self.itemID = itemID
    self.passIndex = passIndex
    self.timeValue = timeValue
    self.timeScale = timeScale
    self.rateMillionths = rateMillionths
  }
}

/// The sound of one generation of a player: a ring of samples, and beside it the descriptors of what they are.
///
/// A seek makes a new stream; the old one is kept until its last sample has been heard (`RenderEvent.streamRetired`).
/// So the writer of the new never waits for the listener of the old, and a rewind across the seek still finds both.
///
/// Threading: one decode thread writes (`ring` writer's side, `spans` producer's side, `end`,
/// `requestRoomWakeup`), one engine reads `spans`, one render side reads the rest.
public final class RenderStream: Sendable {
  /// Unique in the process; stands for the stream in events.
  public let id: UInt64
  // The storage lives behind a pointer because render may hold no reference: only the engine decides when it dies.
  nonisolated(unsafe) let storage: UnsafeMutablePointer<Storage>

  struct Storage: ~Copyable {
    let id: UInt64
    let ring: SampleRing
    let spans: DescriptorQueue<SpanDescriptor>
    let levels = StreamLevels()
    /// The frame at which the sound ends; `Int64.max` while that is unknown. Written by the decode thread.
    let endFrame = Atomic<Int64>(.max)
    /// Where the engine cut the stream off, whatever the decode thread still writes; `Int64.max` when it did not.
    let cutFrame = Atomic<Int64>(.max)
    /// What is behind this frame is not to be rendered yet; `Int64.max` when nothing is held.
    let heldFrame = Atomic<Int64>(.max)
    /// Set by the decode thread before it sleeps, taken by the render side when there is room.
    let wantsRoom = Atomic<Bool>(false)
    /// How many of the render side's records name this stream. Render side only.
    var renderReferenceCount = 0

    /// The frame up to which the stream may be rendered now.
    var readyFrame: Int64 {
      @_noAllocation get {
        let written = ring.writtenFrame
        let held = heldFrame.load(ordering: .acquiring)
        return written < held ? written : held
      }
    }

    /// The frame at which the sound ends, as far as anybody has said; `Int64.max` otherwise.
    var end: Int64 {
      @_noAllocation get {
        let ended = endFrame.load(ordering: .acquiring)
        let cut = cutFrame.load(ordering: .acquiring)
        return ended < cut ? ended : cut
      }
    }
  }

  private static let nextID = Atomic<UInt64>(1)

  /// Makes an empty stream for `capacityFrames` frames of `channelCount` interleaved channels.
  public init(capacityFrames: Int, channelCount: Int, spanCapacity: Int = 1_024) {
    id = Self.nextID.wrappingAdd(1, ordering: .relaxed).oldValue
    storage = .allocate(capacity: 1)
    storage.initialize(
      to: Storage(
        id: id, ring: SampleRing(capacityFrames: capacityFrames, channelCount: channelCount),
        spans: DescriptorQueue(capacity: spanCapacity)))
  }

  deinit {
    storage.deinitialize(count: 1)
    storage.deallocate()
  }

  public var channelCount: Int { storage.pointee.ring.channelCount }
  public var capacityFrames: Int { storage.pointee.ring.capacityFrames }
  /// The frame after the last written one. Any thread.
  public var writtenFrame: Int64 { storage.pointee.ring.writtenFrame }
  /// The first frame that may still be rendered. Any thread.
  public var releasedFrame: Int64 { storage.pointee.ring.releasedFrame }
  /// The frame at which the sound ends, when that is known. Any thread.
  public var endFrame: Int64? {
    let frame = storage.pointee.end
    return frame == .max ? nil : frame
  }

  // MARK: - Decode thread

  /// Frames that may be written now.
  public var writableFrameCount: Int { storage.pointee.ring.writableFrameCount }

  /// See `SampleRing.writableRegion`.
  public func writableRegion(atMost frameCount: Int) -> (samples: UnsafeMutablePointer<Float>, count: Int)? {
    storage.pointee.ring.writableRegion(atMost: frameCount)
  }

  /// See `SampleRing.commit`.
  public func commit(frameCount: Int) { storage.pointee.ring.commit(frameCount: frameCount) }

  /// See `SampleRing.write`.
  public func write(_ samples: UnsafePointer<Float>, frameCount: Int) -> Int {
    storage.pointee.ring.write(samples, frameCount: frameCount)
  }

  /// Says what the frames from `span.streamFrame` on are; before they are written. False when the queue is full.
  public func describe(_ span: SpanDescriptor) -> Bool { storage.pointee.spans.push(span) }

  /// Says how loud the frames from `streamFrame` on are to be, which are those of item `itemID`; before they are written, and
  /// not before what was said last. False when there is no room: they are as loud as what lies before them.
  public func setLevel(_ gain: Float, itemID: UInt64, fromFrame streamFrame: Int64) -> Bool {
    storage.pointee.levels.append(streamFrame: streamFrame, itemID: itemID, gain: gain)
  }

  /// Says that the sound ends after the last written frame.
  public func end() { storage.pointee.endFrame.store(storage.pointee.ring.writtenFrame, ordering: .releasing) }

  /// Asks for a `RenderEvent.roomInStream` once half of the ring is free. The caller then looks at
  /// `writableFrameCount` once more before it sleeps.
  public func requestRoomWakeup() {
    storage.pointee.wantsRoom.store(true, ordering: .sequentiallyConsistent)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
  }

  // MARK: - Engine

  /// Takes the end at `frame` back, because more was written behind it; a later end stays.
  public func reopen(endingAt frame: Int64) {
    _ = storage.pointee.endFrame.compareExchange(expected: frame, desired: .max, ordering: .acquiringAndReleasing)
  }

  /// Ends the sound at `frame`, before what has been or will be written.
  public func truncate(at frame: Int64) { storage.pointee.cutFrame.store(frame, ordering: .releasing) }

  /// Keeps what is behind `frame` from being rendered, be it there or not: a reader that comes there starves. What has
  /// been rendered stays. Nil: what is there is rendered.
  public func hold(at frame: Int64?) { storage.pointee.heldFrame.store(frame ?? .max, ordering: .releasing) }

  /// The next span that has not been read yet.
  public func nextSpan() -> SpanDescriptor? { storage.pointee.spans.pop() }
}
