import DequeModule
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The frames that a `StreamWriter` passes to its stream: directly, or *reserved* for a cross-fade.
///
/// The end of an item is heard together with the beginning of the next one, so it cannot enter the stream before that
/// beginning is decoded. The length of many files is only known when their end has been decoded. Therefore the newest
/// frames are reserved: the frames where the overlap is expected, and all frames for which the stream has no space.
///
/// Frames have the numbers that they will have in the stream.
///
/// Threading: the decode thread only.
final class StreamOutput {
  /// The frames to reserve.
  struct Reserve {
    static let none = Reserve(frameCount: 0)

    /// The maximum number of frames, if the stream has space for all others.
    var frameCount: Int
    /// The frame from which frames are reserved although the stream has space for them.
    var firstFrame = Int64.max
    /// The number of frames ahead of those that are heard after which frames are reserved, because the end of the pass
    /// is not known exactly; nil: it is known.
    var aheadCount: Int?
    /// The frame before which the pass is expected to end. If it does not, `firstFrame` is wrong.
    var latestEnd = Int64.max
  }

  let stream: RenderStream
  private var reserved: FrameQueue?
  /// The segments of reserved frames.
  private var reservedSegments = Deque<StreamSegment>()
  private var reserve = Reserve.none
  /// The end of the previous item, which is mixed with the next frames.
  private var outgoing: OutgoingAudio?
  /// The frame at which the last overlap ends; 0 before the first one.
  private(set) var overlapEndFrame: Int64 = 0
  /// The region that was returned last.
  private var region: UnsafeMutablePointer<Float>?

  init(_ stream: RenderStream) { self.stream = stream }

  /// The frame after the last one that was written to this output.
  var writtenFrame: Int64 { reserved?.endFrame ?? stream.writtenFrame }

  /// The number of frames that are reserved.
  var reservedCount: Int { reserved?.count ?? 0 }

  /// Whether fewer frames are reserved than can be.
  var isReserving: Bool { reservedCount < reserve.frameCount }

  // MARK: - The reserve

  /// Changes the frames that are reserved. Others are passed to the stream when it has space.
  func reserve(_ newReserve: Reserve) {
    reserve = newReserve
    let frameCount = newReserve.frameCount
    guard frameCount > 0, reserved.map({ $0.capacity < frameCount + Self.slack }) ?? true else { return }
    // Reserved frames are kept: they are moved to a larger queue.
    let first = reserved?.firstFrame ?? stream.writtenFrame
    let queue = FrameQueue(
      startingAt: first, capacity: frameCount + Self.slack, channelCount: stream.channelCount)
    if let reserved { Self.move(reserved.count, from: reserved, to: queue) }
    reserved = queue
  }

  /// The additional space in the queue of reserved frames, for frames that a converter writes at once.
  private static let slack = 2 * StreamWriter.chunkFrames

  private static func move(_ frameCount: Int, from source: FrameQueue, to target: FrameQueue) {
    var done = 0
    while done < frameCount, let region = target.writableRegion(atMost: frameCount - done) {
      let part = source.readableRegion(from: source.firstFrame + Int64(done), atMost: region.count)
      region.samples.update(from: part.samples, count: part.count * source.channelCount)
      target.commit(part.count)
      done += part.count
    }
  }

  /// Passes reserved frames to the stream, as many as it has space for.
  ///
  /// - Parameter hasEnded: Whether the pass is complete. Then only its last frames are reserved.
  func release(hasEnded: Bool = false) {
    guard let reserved else { return }
    let excessEnd = reserved.endFrame - Int64(reserve.frameCount)
    if hasEnded || reserve.frameCount == 0 {
      release(to: excessEnd)
    } else {
      let aheadEnd = reserve.aheadCount.map { stream.releasedFrame + Int64($0) } ?? .max
      let wantedEnd = reserved.endFrame > reserve.latestEnd ? aheadEnd : min(reserve.firstFrame, aheadEnd)
      release(to: max(excessEnd, min(reserved.endFrame, wantedEnd)))
    }
    if reserve.frameCount == 0, reserved.count == 0 {
      describeReservedFrames()
      self.reserved = nil
    }
  }

  /// Passes all frames before `frame` to the stream. Returns false if it has no space for all of them.
  func flush(to frame: Int64 = .max) -> Bool {
    let frame = min(frame, writtenFrame)
    release(to: frame)
    return stream.writtenFrame >= frame
  }

  private func release(to frame: Int64) {
    guard let reserved else { return }
    while reserved.firstFrame < frame, let space = stream.writableRegion(atMost: Int(frame - reserved.firstFrame)) {
      let part = reserved.readableRegion(from: reserved.firstFrame, atMost: space.count)
      space.samples.update(from: part.samples, count: part.count * stream.channelCount)
      describeReservedFrames(before: reserved.firstFrame + Int64(part.count))
      stream.commit(frameCount: part.count)
      reserved.removeFirst(part.count)
    }
  }

  /// Passes the segments of reserved frames to the stream, at most those before `frame`.
  func describeReservedFrames(before frame: Int64 = .max) {
    while let segment = reservedSegments.first, segment.streamFrame < frame {
      _ = stream.describe(segment)
      reservedSegments.removeFirst()
    }
  }

  // MARK: - Overlaps

  /// Removes the last `frameCount` frames, which are reserved, and returns their samples.
  func takeReserved(_ frameCount: Int) -> [Float] {
    guard let reserved else { return [] }
    let samples = reserved.takeLast(min(frameCount, reserved.count))
    reservedSegments.removeAll { $0.streamFrame >= reserved.endFrame }
    return samples
  }

  /// Mixes the end of the previous item with the next frames.
  func mix(_ outgoing: OutgoingAudio) {
    self.outgoing = outgoing
    overlapEndFrame = outgoing.endFrame
  }

  // MARK: - Writing

  /// The number of frames that may be written now.
  var writableFrameCount: Int {
    guard let reserved else { return stream.writableFrameCount }
    return min(reserved.capacity, reserve.frameCount + Self.slack) - reserved.count
  }

  /// Returns free space; nil if there is none. Write frames there, then commit them.
  func writableRegion(atMost frameCount: Int) -> (samples: UnsafeMutablePointer<Float>, count: Int)? {
    let writable =
      reserved.map { $0.writableRegion(atMost: min(frameCount, writableFrameCount)) }
      ?? stream.writableRegion(atMost: frameCount)
    region = writable?.samples
    return writable
  }

  /// Adds frames that were written to the region.
  func commit(_ frameCount: Int) {
    guard frameCount > 0 else { return }
    if let outgoing, let region {
      outgoing.mix(into: region, at: writtenFrame, frameCount: frameCount)
      if writtenFrame + Int64(frameCount) >= outgoing.endFrame { self.outgoing = nil }
    }
    if let reserved { reserved.commit(frameCount) } else { stream.commit(frameCount: frameCount) }
  }

  /// Describes the frames from `segment.streamFrame` on, before they are written.
  func describe(_ segment: StreamSegment) {
    // The queue of segments always has space: the plan has fewer passes than the queue has entries. A pass has further
    // entries only where frames are missing.
    if reserved == nil { _ = stream.describe(segment) } else { reservedSegments.append(segment) }
  }
}
