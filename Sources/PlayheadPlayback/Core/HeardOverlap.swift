import PlayheadMediaCore
import PlayheadPlayerModel

/// The cross-fade that began with the current item. If the current item is decoded again from a position within it, for
/// example at another rate, the end of the previous item continues there.
struct HeardOverlap {
  /// The previous item.
  let source: DecodePipeline.Source
  let crossfade: Crossfade
  /// The length of the overlap in output frames.
  let frameCount: Int64
  /// The time at which the previous item ends; nil: its own end.
  private let previousEnd: MediaTime?
  /// A position in the overlap: the times of both items, and the number of frames before it.
  private var itemTime: MediaTime
  private var previousTime: MediaTime
  private var elapsedFrameCount: Int64 = 0

  /// - Parameters:
  ///   - previousTime: The time of the previous item at the beginning of the overlap.
  ///   - previousEnd: The time at which it ends; nil: its own end.
  ///   - itemTime: The time of the current item there.
  init(
    of source: DecodePipeline.Source, at previousTime: MediaTime, endingAt previousEnd: MediaTime?,
    with itemTime: MediaTime, crossfade: Crossfade, frameCount: Int64
  ) {
    self.source = source
    self.previousTime = previousTime
    self.previousEnd = previousEnd
    self.itemTime = itemTime
    self.crossfade = crossfade
    self.frameCount = frameCount
  }

  /// Continues the overlap at a time of the current item, at another rate. Returns nil after its end.
  ///
  /// - Parameter rate: The rate up to that time.
  mutating func `continue`(
    at time: MediaTime, rate: PlaybackRate, sampleRateHz: Int
  ) -> DecodePipeline.Outgoing? {
    let elapsed = time - itemTime
    guard
      let frames = (rate.isReverse ? .zero - elapsed : elapsed).frameCount(
        rate: sampleRateHz, playbackRate: rate.magnitude, rounding: .towardNegativeInfinity),
      frames >= 0, elapsedFrameCount + frames < frameCount
    else { return nil }
    (itemTime, previousTime) = (time, previousTime + elapsed)
    elapsedFrameCount += frames
    return DecodePipeline.Outgoing(
      source: source, time: previousTime, end: previousEnd, crossfade: crossfade, elapsedFrameCount: elapsedFrameCount,
      frameCount: frameCount)
  }
}
