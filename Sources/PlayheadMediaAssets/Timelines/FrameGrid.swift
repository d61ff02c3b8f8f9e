/// The grid of positions at which decoded frames begin, for containers whose timestamps are coarser than an audio
/// frame. A pure value.
///
/// Matroska, FLV and others round timestamps, usually to a millisecond, which is 44 or 48 frames. After a seek the
/// exact frame is therefore unknown. If all frames have one size, or multiples of one size, only one position near the
/// timestamp is possible. Streams with other sizes are only as exact as their timestamps.
///
/// Timestamps can also have a constant offset. For example, mkvmerge counts half a block for the first packet of a
/// Vorbis stream. That packet produces no audio, so all later timestamps are shifted. The count of a read from the
/// start is correct. The offset of the stored timestamps from this count is learned, and subtracted after a seek.
struct FrameGrid: Sendable, Equatable {
  /// Every frame except the first begins at `anchor` plus a multiple of `step`; 0 until known.
  private(set) var step: Int64
  private var anchor: Int64?
  private let isDeclared: Bool
  private var observedCount = 0
  /// The size of the previous frame; nil after an interruption.
  private var lastCount: Int64?
  /// The sum of the differences of timestamps from the true positions, over the first frames.
  private var latenessSum: Int64 = 0
  private var latenessCount: Int64 = 0
  private var smallestLateness: Int64 = .max
  private var largestLateness: Int64 = .min

  /// The number of whole frames needed to know the step.
  private static let neededFrameCount = 3
  /// The number of timestamps compared with true positions: some muxers truncate timestamps to a tick,
  /// or are late by a block.
  private static let maximumComparedCount: Int64 = 64
  /// The maximum difference that is a lateness; a larger one is a jump.
  private static let maximumLatenessFrames: Int64 = 65_536
  /// The number of compared timestamps needed to know the lateness.
  private static let neededTimestampCount: Int64 = 8

  /// - Parameter declaredStep: the frame size that the codec declares; nil: unknown.
  init(declaredStep: Int?) {
    step = Int64(declaredStep ?? 0)
    isDeclared = declaredStep != nil
  }

  /// Whether enough frames were observed to look up positions.
  var isKnown: Bool { anchor != nil && (isDeclared || observedCount >= Self.neededFrameCount) }

  /// Whether enough frames were observed to know the lateness of timestamps, too.
  var isLatenessKnown: Bool { isKnown && latenessCount >= Self.neededTimestampCount }

  /// The scatter of the compared timestamps about the true positions, in frames; nil until enough were compared.
  var scatterFrames: Int64? { latenessCount >= Self.neededTimestampCount ? largestLateness - smallestLateness : nil }

  /// Returns the start of the frame with a timestamp; nil if nothing defines it better than the timestamp.
  ///
  /// - Parameter roundingFrames: the rounding of timestamps in frames; 0: less than a frame.
  func position(of timestampFrame: Int64, roundingFrames: Int64) -> Int64? {
    if roundingFrames == 0, let lateness = steadyLateness {
      // Rounding twice, to the tick and to the frame, may cause an error of one frame.
      return nearest(to: timestampFrame, withinFrames: 2) ?? timestampFrame - lateness
    }
    return roundingFrames > 0 ? nearest(to: timestampFrame, withinFrames: roundingFrames) : nil
  }

  /// Whether timestamps scatter too far to identify a frame. A gap between audio and its timestamps cannot be
  /// distinguished from the scatter.
  func isAmbiguous(roundingFrames: Int64) -> Bool {
    guard let scatterFrames else { return false }
    return scatterFrames > 2 * roundingFrames + 2
  }

  /// Whether no decoded frame can begin near `frame`, because all frames have one length and begin at its multiples.
  func excludes(_ frame: Int64, withinFrames tolerance: Int64) -> Bool {
    isKnown && step > 2 * tolerance + 2 && nearest(to: frame + meanLateness, withinFrames: tolerance) == nil
  }

  /// The lateness of all timestamps if it is constant within a frame's rounding; nil otherwise.
  var steadyLateness: Int64? {
    guard latenessCount >= Self.neededTimestampCount, largestLateness - smallestLateness <= 2 else { return nil }
    return meanLateness
  }

  private var meanLateness: Int64 { latenessCount > 0 ? latenessSum / latenessCount : 0 }

  /// Records a frame that was decoded in order from the stream's start.
  ///
  /// - Parameter timestampFrame: its position by its timestamp, if the container stores that timestamp;
  ///   nil if FFmpeg derived it.
  mutating func observe(start: Int64, timestampFrame: Int64?, frameCount: Int) {
    let count = Int64(frameCount)
    // The first frame may be trimmed at its start, with its timestamp moved accordingly.
    if let timestampFrame, lastCount != nil, latenessCount < Self.maximumComparedCount,
      abs(timestampFrame - start) <= Self.maximumLatenessFrames
    {
      latenessSum += timestampFrame - start
      latenessCount += 1
      smallestLateness = min(smallestLateness, timestampFrame - start)
      largestLateness = max(largestLateness, timestampFrame - start)
    }
    defer { lastCount = count }
    guard let lastCount, count > 0 else { return }
    // This frame may be a short last frame, so the size of the frame before it is used. The size of the first frame is
    // not used, because its start may be trimmed.
    if anchor == nil { anchor = start } else if !isDeclared { step = Self.divisor(step, lastCount) }
    observedCount = min(observedCount + 1, Self.neededFrameCount)
  }

  /// Records that the next frame does not follow the last one.
  mutating func interrupt() { lastCount = nil }

  /// Returns the only position within `tolerance` at which a frame can begin; nil if there is none or more than one.
  func nearest(to frame: Int64, withinFrames tolerance: Int64) -> Int64? {
    guard isKnown, let anchor, step > tolerance else { return nil }
    let corrected = frame - meanLateness
    let offset = corrected - anchor
    let rest = ((offset % step) + step) % step
    let below = corrected - rest
    let nearest = rest * 2 <= step ? below : below + step
    return abs(nearest - corrected) <= tolerance ? nearest : nil
  }

  /// Returns the length of a packet whose duration was rounded to ticks: the one length that the frame
  /// sizes allow, or `declared`.
  func frameCount(declared: Int64, roundingFrames: Int64) -> Int64 {
    guard step > roundingFrames, declared > 0, declared <= Int64.max / 4 else { return declared }
    let (count, remainder) = declared.quotientAndRemainder(dividingBy: step)
    if remainder == 0 { return declared }
    // Rounding to a frame can make the length one frame too long.
    if remainder <= max(1, count > 0 && step > 2 * roundingFrames ? roundingFrames : 0) { return count * step }
    let next = (count + 1) * step
    return next - declared <= max(1, roundingFrames) ? next : declared
  }

  private static func divisor(_ first: Int64, _ second: Int64) -> Int64 {
    var (first, second) = (first, second)
    while second != 0 { (first, second) = (second, first % second) }
    return first
  }
}
