import PlayheadMediaCore
import Synchronization

/// A range of a stream's frames with one item and one rate. The decode thread sends segments to the engine.
///
/// A segment begins at `streamFrame` and lasts until the next segment begins or the stream ends.
package struct StreamSegment: BitwiseCopyable, Sendable {
  /// The frame of the stream at which the segment begins.
  package var streamFrame: Int64
  /// The queue entry that the audio belongs to.
  package var itemID: UInt64
  /// The pass that the segment belongs to. Passes are counted per stream, from 0.
  package var passIndex: Int32
  /// The item's time at `streamFrame`: `timeValue / timeScale` seconds.
  package var timeValue: Int64
  /// The number of units of `timeValue` in a second.
  package var timeScale: Int32
  /// The rate of the item's time relative to the stream's frames, in millionths; negative in reverse playback.
  package var rateMillionths: Int64

  /// Creates a segment, by default at rate 1.
  package init(
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

/// The audio of one generation of a player: a ring of samples, and the segments that describe them.
///
/// A seek creates a new stream; the old one is kept until its last sample has been heard (`RenderEvent.streamRetired`).
/// The writer of the new stream therefore never waits for the reader of the old one, and a rewind across the seek finds
/// both streams.
///
/// Threading:
/// - One decode thread writes: `ring` (writer's side), `segments` (producer's side), `end`, `requestSpaceWakeup`.
/// - One engine reads `segments`.
/// - One sink's side reads the rest.
package final class RenderStream: Sendable {
  /// The ID of the stream in events, unique in the process.
  package let id: UInt64
  // A pointer, because the sink's side must not count references. The engine ends the lifetime of the storage.
  nonisolated(unsafe) let storage: UnsafeMutablePointer<Storage>

  struct Storage: ~Copyable {
    let id: UInt64
    let ring: SampleRing
    let segments: DescriptorQueue<StreamSegment>
    let gains = StreamGains()
    /// The frame at which the audio ends; `Int64.max` while that is unknown. Written by the decode thread.
    let endFrame = Atomic<Int64>(.max)
    /// The frame at which the engine truncated the stream, regardless of later writes; `Int64.max` when it is not
    /// truncated.
    let truncationFrame = Atomic<Int64>(.max)
    /// Frames from this one on are masked and must not be rendered yet; `Int64.max` when no frame is masked.
    let maskedFrame = Atomic<Int64>(.max)
    /// Set by the decode thread before it sleeps, cleared by the sink's side when half of the ring is free.
    let isSpaceRequested = Atomic<Bool>(false)
    /// The number of references to this stream from inputs, runs and fades. Sink's side only.
    var renderReferenceCount = 0

    /// The frame up to which the stream may be rendered now.
    var readyFrame: Int64 {
      @_noAllocation get {
        let written = ring.writtenFrame
        let masked = maskedFrame.load(ordering: .acquiring)
        return written < masked ? written : masked
      }
    }

    /// The frame at which the audio ends, as far as it is known; `Int64.max` otherwise.
    var end: Int64 {
      @_noAllocation get {
        let ended = endFrame.load(ordering: .acquiring)
        let cut = truncationFrame.load(ordering: .acquiring)
        return ended < cut ? ended : cut
      }
    }
  }

  private static let nextID = Atomic<UInt64>(1)

  /// Creates an empty stream for `capacityFrames` frames of `channelCount` interleaved channels.
  package init(capacityFrames: Int, channelCount: Int, segmentCapacity: Int = 1_024) {
    id = Self.nextID.wrappingAdd(1, ordering: .relaxed).oldValue
    storage = .allocate(capacity: 1)
    storage.initialize(
      to: Storage(
        id: id, ring: SampleRing(capacityFrames: capacityFrames, channelCount: channelCount),
        segments: DescriptorQueue(capacity: segmentCapacity)))
  }

  deinit {
    storage.deinitialize(count: 1)
    storage.deallocate()
  }

  /// The number of channels of the frames.
  package var channelCount: Int { storage.pointee.ring.channelCount }
  /// The capacity of the ring, in frames.
  package var capacityFrames: Int { storage.pointee.ring.capacityFrames }
  /// The frame after the last written one. Any thread.
  package var writtenFrame: Int64 { storage.pointee.ring.writtenFrame }
  /// The first frame that may still be rendered. Any thread.
  package var releasedFrame: Int64 { storage.pointee.ring.releasedFrame }
  /// The frame at which the audio ends; nil while it is unknown. Any thread.
  package var endFrame: Int64? {
    let frame = storage.pointee.end
    return frame == .max ? nil : frame
  }

  // MARK: - Decode thread

  /// The number of frames that may be written now.
  package var writableFrameCount: Int { storage.pointee.ring.writableFrameCount }

  /// See `SampleRing.writableRegion`.
  package func writableRegion(atMost frameCount: Int) -> (samples: UnsafeMutablePointer<Float>, count: Int)? {
    storage.pointee.ring.writableRegion(atMost: frameCount)
  }

  /// See `SampleRing.commit`.
  package func commit(frameCount: Int) { storage.pointee.ring.commit(frameCount: frameCount) }

  /// See `SampleRing.write`.
  package func write(_ samples: UnsafePointer<Float>, frameCount: Int) -> Int {
    storage.pointee.ring.write(samples, frameCount: frameCount)
  }

  /// Describes the frames from `segment.streamFrame` on. Call it before these frames are written. Returns false when
  /// the queue is full.
  package func describe(_ segment: StreamSegment) -> Bool { storage.pointee.segments.push(segment) }

  /// Sets the gain of the frames from `streamFrame` on, which belong to item `itemID`. Call it before these frames are
  /// written, in the order of the frames. Returns false when there is no space: the frames then keep the gain of the
  /// frames before them.
  package func setItemGain(_ gain: Float, itemID: UInt64, fromFrame streamFrame: Int64) -> Bool {
    storage.pointee.gains.append(streamFrame: streamFrame, itemID: itemID, gain: gain)
  }

  /// Ends the audio after the last written frame.
  package func end() { storage.pointee.endFrame.store(storage.pointee.ring.writtenFrame, ordering: .releasing) }

  /// Requests a `RenderEvent.spaceAvailable` once half of the ring is free. The caller must check `writableFrameCount`
  /// once more before it sleeps.
  package func requestSpaceWakeup() {
    storage.pointee.isSpaceRequested.store(true, ordering: .sequentiallyConsistent)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
  }

  // MARK: - Engine

  /// Removes the end at `frame`, because more frames were written after it. A later end stays.
  package func reopen(endingAt frame: Int64) {
    _ = storage.pointee.endFrame.compareExchange(expected: frame, desired: .max, ordering: .acquiringAndReleasing)
  }

  /// Ends the audio at `frame`, regardless of frames that have been or will be written after it.
  package func truncate(at frame: Int64) { storage.pointee.truncationFrame.store(frame, ordering: .releasing) }

  /// Masks the frames from `frame` on, written or not: an input that reaches `frame` underruns. Frames rendered already
  /// stay. Nil removes the mask.
  package func mask(from frame: Int64?) {
    storage.pointee.maskedFrame.store(frame ?? .max, ordering: .releasing)
  }

  /// Removes and returns the next segment; nil when all have been read.
  package func nextSegment() -> StreamSegment? { storage.pointee.segments.pop() }
}
