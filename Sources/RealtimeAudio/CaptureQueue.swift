// Sound on its way from a source's callback to the thread that takes it. The callback's part neither allocates nor locks: a ring, a queue
// of descriptors, and a semaphore to wake who waits (sem_post takes no lock). What does not fit is counted.
import Glibc
import MediaCore
import Synchronization

/// Interleaved float32 frames from one source to one taker, with when they were captured and what was lost before them.
///
/// Threading: `write` and `lose` on the source's side; `take` and `wait` on the taker's; the rest anywhere.
public final class CaptureQueue: @unchecked Sendable {
  // `@unchecked Sendable`: `pendingLoss` belongs to the source's side; the ring and the queue hand over by themselves.

  /// Some frames that came together.
  public struct Piece: Sendable, Hashable, BitwiseCopyable {
    /// The number of the first frame, of those that were kept, from 0.
    public var firstFrame: Int64
    public var frameCount: Int
    /// Frames that were lost just before the first.
    public var lostFrameCount: Int64
    private var hostNanoseconds: Int64

    init(firstFrame: Int64, frameCount: Int, lostFrameCount: Int64, hostTime: HostTime) {
      (self.firstFrame, self.frameCount, self.lostFrameCount) = (firstFrame, frameCount, lostFrameCount)
      hostNanoseconds = hostTime.nanoseconds
    }

    /// When the first frame was captured, as far as the source knows.
    public var hostTime: HostTime { HostTime(nanoseconds: hostNanoseconds) }
  }

  /// What is in the queue.
  public let format: AudioFormat
  /// Frames that fit in.
  public var capacityFrames: Int { ring.capacityFrames }
  private let ring: SampleRing
  private let pieces: DescriptorQueue<Piece>
  private let lost = Atomic<Int64>(0)
  private var pendingLoss: Int64 = 0
  private let semaphore: UnsafeMutablePointer<sem_t>

  /// A queue for at least `capacityFrames` frames, which may come in 4096 pieces.
  public init(format: AudioFormat, capacityFrames: Int) {
    self.format = format
    ring = SampleRing(capacityFrames: capacityFrames, channelCount: format.channelCount)
    pieces = DescriptorQueue(capacity: 4_096)
    semaphore = .allocate(capacity: 1)
    sem_init(semaphore, 0, 0)
  }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  /// Frames that were lost so far: what did not fit, and what the source said.
  public var lostFrameCount: Int64 { lost.load(ordering: .relaxed) }

  /// Frames that were kept so far. Any side.
  public var writtenFrameCount: Int64 { ring.writtenFrame }

  // MARK: - Source's side

  /// Adds frames, of which the first was captured at `hostTime`. What does not fit is lost. Neither allocates nor locks.
  public func write(_ samples: UnsafePointer<Float>, frameCount: Int, hostTime: HostTime) {
    let count = min(max(0, frameCount), ring.writableFrameCount)
    if count > 0 {
      let piece = Piece(
        firstFrame: ring.writtenFrame, frameCount: count, lostFrameCount: pendingLoss, hostTime: hostTime)
      if pieces.stage(piece) {
        pendingLoss = 0
        _ = ring.write(samples, frameCount: count)
        pieces.publish()
        wake()
        lose(frameCount: frameCount - count)
        return
      }
    }
    lose(frameCount: frameCount)
  }

  /// Says that the source had frames here which nobody gets.
  public func lose(frameCount: Int) {
    guard frameCount > 0 else { return }
    pendingLoss &+= Int64(frameCount)
    lost.wrappingAdd(Int64(frameCount), ordering: .relaxed)
  }

  // MARK: - Taker's side

  /// Gives `body` the oldest piece, in one part or two, the second behind the first; false when there is none. Afterwards its room is free.
  ///
  /// - Parameter body: samples, how many frames, and the piece; `isFirst` for its first part.
  public func take(
    _ body: (_ samples: UnsafePointer<Float>, _ frameCount: Int, _ piece: Piece, _ isFirst: Bool) -> Void
  ) -> Bool {
    guard let piece = pieces.pop() else { return false }
    let end = piece.firstFrame + Int64(piece.frameCount)
    var frame = piece.firstFrame
    while frame < end {
      let region = ring.readableRegion(from: frame, atMost: Int(end - frame))
      body(region.samples, region.count, piece, frame == piece.firstFrame)
      frame += Int64(region.count)
    }
    ring.release(before: end)
    return true
  }

  /// Waits until something came since the last time, or `wake` was called.
  public func wait() {
    while sem_wait(semaphore) != 0, errno == EINTR {}
    // What came together is taken together.
    while sem_trywait(semaphore) == 0 {}
  }

  /// Wakes who waits. Any thread; neither blocks nor locks.
  public func wake() { sem_post(semaphore) }
}
