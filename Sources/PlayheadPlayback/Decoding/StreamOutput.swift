import DequeModule
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The frames that a `StreamWriter` passes to its stream: directly, or *held back* for a cross-fade.
///
/// The end of an item is heard together with the beginning of the next one, so it cannot enter the stream before that
/// beginning is decoded. The length of many files is only known when their end has been decoded. Therefore the newest
/// frames are held back: the frames after `holdFrame`, where the overlap is expected, and all frames for which the
/// stream has no space. More than `holdCount` frames are never held back if the stream has space.
///
/// Frames have the numbers that they will have in the stream.
///
/// Threading: the decode thread only.
final class StreamOutput {
  let stream: RenderStream
  private var held: FrameQueue?
  /// The segments of held frames.
  private var heldSegments = Deque<StreamSegment>()
  private var holdCount = 0
  private var holdFrame = Int64.max
  private var aheadCount: Int?
  /// The end of the previous item, which is mixed with the next frames.
  private var outgoing: OutgoingAudio?
  /// The frame at which the last overlap ends; 0 before the first one.
  private(set) var overlapEndFrame: Int64 = 0
  /// The region that was returned last.
  private var region: UnsafeMutablePointer<Float>?

  init(_ stream: RenderStream) { self.stream = stream }

  /// The frame after the last one that was written to this output.
  var writtenFrame: Int64 { held?.endFrame ?? stream.writtenFrame }

  /// The number of frames that are held back.
  var heldCount: Int { held?.count ?? 0 }

  /// Whether fewer frames are held back than can be.
  var isHolding: Bool { heldCount < holdCount }

  // MARK: - Holding back

  /// Holds back the newest frames, at most `frameCount`; 0 passes all frames to the stream.
  ///
  /// - Parameters:
  ///   - frame: The frame from which frames are held back although the stream has space for them.
  ///   - aheadCount: The number of frames ahead of what is heard from which frames are held back, because the end of
  ///     the pass is not known exactly; nil: it is known.
  func hold(_ frameCount: Int, from frame: Int64, ahead aheadCount: Int?) {
    (holdCount, holdFrame, self.aheadCount) = (frameCount, frame, aheadCount)
    guard frameCount > 0, held.map({ $0.capacity < frameCount + Self.slack }) ?? true else { return }
    // Held frames are kept: they are moved to a larger queue.
    let first = held?.firstFrame ?? stream.writtenFrame
    let queue = FrameQueue(
      startingAt: first, capacity: frameCount + Self.slack, channelCount: stream.channelCount)
    if let held { Self.move(held.count, from: held, to: queue) }
    held = queue
  }

  /// The space in the queue of held frames besides `holdCount`: for frames that a converter writes at once.
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

  /// Passes held frames to the stream, as many as it has space for.
  ///
  /// - Parameter hasEnded: Whether the pass is complete. Then only the last `holdCount` frames are held back.
  func release(hasEnded: Bool = false) {
    guard let held else { return }
    let excessEnd = held.endFrame - Int64(holdCount)
    if hasEnded || holdCount == 0 {
      release(to: excessEnd)
    } else {
      let wantedEnd = min(holdFrame, aheadCount.map { stream.releasedFrame + Int64($0) } ?? .max)
      release(to: max(excessEnd, min(held.endFrame, wantedEnd)))
    }
    if holdCount == 0, held.count == 0 { self.held = nil }
  }

  /// Passes all frames before `frame` to the stream. Returns false if it has no space for all of them.
  func flush(to frame: Int64 = .max) -> Bool {
    let frame = min(frame, writtenFrame)
    release(to: frame)
    return stream.writtenFrame >= frame
  }

  private func release(to frame: Int64) {
    guard let held else { return }
    while held.firstFrame < frame, let space = stream.writableRegion(atMost: Int(frame - held.firstFrame)) {
      let part = held.readableRegion(from: held.firstFrame, atMost: space.count)
      space.samples.update(from: part.samples, count: part.count * stream.channelCount)
      describeHeldFrames(before: held.firstFrame + Int64(part.count))
      stream.commit(frameCount: part.count)
      held.removeFirst(part.count)
    }
  }

  private func describeHeldFrames(before frame: Int64) {
    while let segment = heldSegments.first, segment.streamFrame < frame {
      _ = stream.describe(segment)
      heldSegments.removeFirst()
    }
  }

  // MARK: - Overlaps

  /// Removes the last `frameCount` frames, which are held back, and returns their samples.
  func takeHeld(_ frameCount: Int) -> [Float] {
    guard let held else { return [] }
    let samples = held.takeLast(min(frameCount, held.count))
    heldSegments.removeAll { $0.streamFrame >= held.endFrame }
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
    guard let held else { return stream.writableFrameCount }
    return min(held.capacity, holdCount + Self.slack) - held.count
  }

  /// Returns free space; nil if there is none. Write frames there, then commit them.
  func writableRegion(atMost frameCount: Int) -> (samples: UnsafeMutablePointer<Float>, count: Int)? {
    let writable =
      held.map { $0.writableRegion(atMost: min(frameCount, writableFrameCount)) }
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
    if let held { held.commit(frameCount) } else { stream.commit(frameCount: frameCount) }
  }

  /// Describes the frames from `segment.streamFrame` on, before they are written.
  func describe(_ segment: StreamSegment) {
    // The queue of segments always has space: the plan has fewer passes than the queue has entries. A pass has further
    // entries only where frames are missing.
    if held == nil { _ = stream.describe(segment) } else { heldSegments.append(segment) }
  }
}
