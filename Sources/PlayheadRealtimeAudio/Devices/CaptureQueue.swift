// Audio between a source's callback and the consumer thread. The source's side neither allocates nor locks: it uses a
// ring, a queue of descriptors, and a semaphore to wake the consumer (sem_post acquires no lock). Frames that do not
// fit are counted as lost.
import Glibc
import PlayheadMediaCore
import Synchronization

/// Interleaved float32 frames from one source to one consumer, with their capture time and the number of lost frames.
///
/// Threading: `write` and `recordLoss` on the source's side; `readChunk` and `wait` on the consumer's side; the rest on
/// any thread.
public final class CaptureQueue: @unchecked Sendable {
  // `@unchecked Sendable`: `pendingLoss` belongs to the source's side; the ring and the queue synchronize themselves.

  /// A chunk: the frames of one `write`.
  package struct Chunk: Sendable, Hashable, BitwiseCopyable {
    /// The index of the first frame among the frames that the queue has accepted, from 0.
    package var firstFrame: Int64
    /// The number of frames of the chunk.
    package var frameCount: Int
    /// The number of frames that were lost just before the first frame.
    package var lostFrameCount: Int64
    private var hostNanoseconds: Int64

    init(firstFrame: Int64, frameCount: Int, lostFrameCount: Int64, hostTime: HostTime) {
      (self.firstFrame, self.frameCount, self.lostFrameCount) = (firstFrame, frameCount, lostFrameCount)
      hostNanoseconds = hostTime.nanoseconds
    }

    /// The time at which the first frame was captured, as far as the source knows it.
    package var hostTime: HostTime { HostTime(nanoseconds: hostNanoseconds) }
  }

  /// The format of the frames in the queue.
  public let format: AudioFormat
  /// The capacity, in frames.
  public var capacityFrames: Int { ring.capacityFrames }
  private let ring: SampleRing
  private let chunks: DescriptorQueue<Chunk>
  private let lost = Atomic<Int64>(0)
  private var pendingLoss: Int64 = 0
  private let semaphore: UnsafeMutablePointer<sem_t>

  /// Creates a queue for at least `capacityFrames` frames in at most 4096 chunks.
  package init(format: AudioFormat, capacityFrames: Int) {
    self.format = format
    ring = SampleRing(capacityFrames: capacityFrames, channelCount: format.channelCount)
    chunks = DescriptorQueue(capacity: 4_096)
    semaphore = .allocate(capacity: 1)
    sem_init(semaphore, 0, 0)
  }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  /// The number of frames lost so far: frames that did not fit, and losses that the source reported.
  package var lostFrameCount: Int64 { lost.load(ordering: .relaxed) }

  /// The number of frames that the queue has accepted so far. Any thread.
  package var writtenFrameCount: Int64 { ring.writtenFrame }

  // MARK: - Source's side

  /// Adds frames, the first of which was captured at `hostTime`. Frames that do not fit are lost. Neither allocates nor
  /// locks.
  public func write(_ samples: UnsafePointer<Float>, frameCount: Int, hostTime: HostTime) {
    let count = min(max(0, frameCount), ring.writableFrameCount)
    if count > 0 {
      let chunk = Chunk(
        firstFrame: ring.writtenFrame, frameCount: count, lostFrameCount: pendingLoss, hostTime: hostTime)
      if chunks.stage(chunk) {
        pendingLoss = 0
        _ = ring.write(samples, frameCount: count)
        chunks.publish()
        wake()
        recordLoss(frameCount: frameCount - count)
        return
      }
    }
    recordLoss(frameCount: frameCount)
  }

  /// Counts `frameCount` frames as lost after the last written frame.
  public func recordLoss(frameCount: Int) {
    guard frameCount > 0 else { return }
    pendingLoss &+= Int64(frameCount)
    lost.wrappingAdd(Int64(frameCount), ordering: .relaxed)
  }

  // MARK: - Consumer's side

  /// Passes the oldest chunk to `body`, in one part or in two consecutive parts, and frees its space. Returns false
  /// when the queue is empty.
  ///
  /// - Parameter body: Receives the samples, their frame count, the chunk, and whether this is the chunk's first part.
  package func readChunk(
    _ body: (_ samples: UnsafePointer<Float>, _ frameCount: Int, _ chunk: Chunk, _ isFirst: Bool) -> Void
  ) -> Bool {
    guard let chunk = chunks.pop() else { return false }
    let end = chunk.firstFrame + Int64(chunk.frameCount)
    var frame = chunk.firstFrame
    while frame < end {
      let region = ring.readableRegion(from: frame, atMost: Int(end - frame))
      body(region.samples, region.count, chunk, frame == chunk.firstFrame)
      frame += Int64(region.count)
    }
    ring.release(before: end)
    return true
  }

  /// Blocks until frames were written since the last call, or `wake` was called.
  package func wait() {
    while sem_wait(semaphore) != 0, errno == EINTR {}
    // One wakeup serves all chunks that are already in the queue.
    while sem_trywait(semaphore) == 0 {}
  }

  /// Wakes the consumer. Any thread; neither blocks nor locks.
  package func wake() { sem_post(semaphore) }
}
