import PlayheadMediaCore
import Synchronization

/// A ring of interleaved float32 frames between one writer and one renderer. Frames are kept until they have been
/// *heard*.
///
/// Frames have absolute numbers, counted from the ring's first frame. `[releasedFrame, writtenFrame)` is readable, any
/// number of times and in any order, so that `RenderCore` can render again from an earlier frame. The space for writing
/// is `capacity - (written - released)`.
///
/// Threading: `writableFrameCount`, `writableRegion`, `commit` and `write` on the writer's side; everything else on the
/// renderer's. Nothing blocks. Memory is allocated at init, and is not initialized before frames are written.
package struct SampleRing: ~Copyable, @unchecked Sendable {
  // `@unchecked Sendable`: samples are handed over by the release/acquire pairs on `written` and `released`.
  /// The number of channels of the frames.
  package let channelCount: Int
  /// The capacity, in frames.
  package let capacityFrames: Int
  private let samples: UnsafeMutablePointer<Float>
  private let written = Atomic<Int64>(0)
  private let released = Atomic<Int64>(0)

  /// Creates a ring of at least `capacityFrames` frames, rounded up to a power of two.
  package init(capacityFrames: Int, channelCount: Int) {
    precondition(capacityFrames > 0 && capacityFrames <= 1 << 26, "capacityFrames out of range")
    precondition(AudioFormat.supportedChannelCounts.contains(channelCount), "channelCount out of range")
    var rounded = 1
    while rounded < capacityFrames { rounded &<<= 1 }
    self.capacityFrames = rounded
    self.channelCount = channelCount
    samples = .allocate(capacity: rounded * channelCount)
  }

  deinit { samples.deallocate() }

  // MARK: - Writer's side

  /// The number of frames that may be written now.
  package var writableFrameCount: Int {
    @_noAllocation get {
      capacityFrames
        &- Int(truncatingIfNeeded: written.load(ordering: .relaxed) &- released.load(ordering: .acquiring))
    }
  }

  /// Returns the contiguous region of the ring for the next frames, at most `frameCount` frames; nil when the ring is
  /// full.
  ///
  /// The pointer is valid until `commit`. Write at most `count` frames, then commit them.
  package borrowing func writableRegion(atMost frameCount: Int) -> (samples: UnsafeMutablePointer<Float>, count: Int)? {
    let writable = min(writableFrameCount, frameCount)
    guard writable > 0 else { return nil }
    let offset = Int(written.load(ordering: .relaxed)) & (capacityFrames - 1)
    return (samples + offset * channelCount, min(writable, capacityFrames - offset))
  }

  /// Passes the first `frameCount` frames of the writable region to the renderer.
  package borrowing func commit(frameCount: Int) {
    precondition(frameCount >= 0 && frameCount <= writableFrameCount, "more frames committed than writable")
    written.store(written.load(ordering: .relaxed) + Int64(frameCount), ordering: .releasing)
  }

  /// Copies interleaved frames into the ring, as many as fit. Returns their number.
  package borrowing func write(_ source: UnsafePointer<Float>, frameCount: Int) -> Int {
    var done = 0
    while done < frameCount, let region = writableRegion(atMost: frameCount - done) {
      region.samples.update(from: source + done * channelCount, count: region.count * channelCount)
      commit(frameCount: region.count)
      done += region.count
    }
    return done
  }

  // MARK: - Renderer's side

  /// The frame after the last readable one. Any side.
  package var writtenFrame: Int64 {
    @_noAllocation get { written.load(ordering: .acquiring) }
  }

  /// The first frame that may still be read. Any side.
  package var releasedFrame: Int64 {
    @_noAllocation get { released.load(ordering: .acquiring) }
  }

  /// Releases the frames before `frame`, which will not be read again; their space may be written.
  @_noAllocation
  package borrowing func release(before frame: Int64) {
    if frame > released.load(ordering: .relaxed) { released.store(frame, ordering: .releasing) }
  }

  /// Returns the longest contiguous region from `frame` on, at most `frameCount` frames.
  ///
  /// `[frame, frame + frameCount)` must be readable. The pointer is valid until the frames are released.
  @_noAllocation
  package borrowing func readableRegion(
    from frame: Int64, atMost frameCount: Int
  ) -> (samples: UnsafePointer<Float>, count: Int) {
    let offset = Int(truncatingIfNeeded: frame) & (capacityFrames &- 1)
    let contiguous = capacityFrames &- offset
    return (UnsafePointer(samples + offset &* channelCount), frameCount < contiguous ? frameCount : contiguous)
  }
}
