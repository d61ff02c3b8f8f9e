/// The multiples at which decoded frames begin, for containers whose timestamps are coarser than a frame of sound. A pure
/// value.
///
/// Matroska, FLV and others round timestamps, mostly to a millisecond, which is 44 or 48 frames: after a seek the true frame
/// is not told. But frames come in sizes: where all are of one size, or multiples of one, only one place near the timestamp
/// fits. Streams with other sizes stay as exact as their timestamps.
///
/// Nor need a timestamp be that of its frame: mkvmerge counts half a block for a Vorbis stream's first packet, which gives no
/// sound, so that everything behind the first block is stamped late or early by the same. What a read from the start counts
/// is the truth; by how much the container's own timestamps differ from it is learnt, and taken off after a seek.
struct FrameGrid: Sendable, Equatable {
  /// Every frame but the first begins at `anchor` plus a multiple of it; 0 before it is known.
  private(set) var step: Int64
  private var anchor: Int64?
  private let isDeclared: Bool
  private var observedCount = 0
  /// The frame before, which is the last when it is shorter.
  private var lastCount: Int64?
  /// Frames by which timestamps were later than the true places, added up over the frames seen first.
  private var lateness: Int64 = 0
  private var latenessCount: Int64 = 0
  private var smallestLateness: Int64 = .max
  private var largestLateness: Int64 = .min

  /// Whole frames that must have been seen.
  private static let neededCount = 3
  /// Timestamps that are compared with true places: some muxers cut them to a tick, or are late by a block.
  private static let comparedCount: Int64 = 64
  /// What is further off is a jump.
  private static let mostLatenessFrames: Int64 = 65_536
  /// Timestamps that must have been compared before a place is looked up, if there are so many.
  private static let neededStamps: Int64 = 8

  /// - Parameter declaredStep: what the codec itself says.
  init(declaredStep: Int?) {
    step = Int64(declaredStep ?? 0)
    isDeclared = declaredStep != nil
  }

  /// Whether enough was seen to look up places.
  var isKnown: Bool { anchor != nil && (isDeclared || observedCount >= Self.neededCount) }

  /// Whether enough was seen to know how late timestamps are, too.
  var isSettled: Bool { isKnown && latenessCount >= Self.neededStamps }

  /// How far the timestamps that were compared scatter about the true positions; nil before enough were.
  var scatterFrames: Int64? { latenessCount >= Self.neededStamps ? largestLateness - smallestLateness : nil }

  /// Where the frame begins that has a timestamp; nil where nothing tells it better than the timestamp.
  ///
  /// - Parameter roundingFrames: how far timestamps are rounded; 0: by less than a frame.
  func position(of stamped: Int64, roundingFrames: Int64) -> Int64? {
    if roundingFrames == 0, let lateness = steadyLateness {
      // Rounding twice, to the tick and to the frame, may be a frame off.
      return nearest(to: stamped, withinFrames: 2) ?? stamped - lateness
    }
    // Timestamps that scatter by less than a quarter of a frame name one position.
    let isNamed = scatterFrames.map { $0 > roundingFrames && $0 <= step / 4 } ?? false
    let tolerance = isNamed ? step / 2 - 1 : roundingFrames
    return tolerance > 0 ? nearest(to: stamped, withinFrames: tolerance) : nil
  }

  /// Whether timestamps scatter too far to tell one frame from the next.
  func isAmbiguous(roundingFrames: Int64) -> Bool {
    guard let scatterFrames else { return false }
    return scatterFrames > max(2 * roundingFrames + 2, step > roundingFrames ? step / 4 : 0)
  }

  /// Whether a frame cannot begin there: frames that are all of one length begin at its multiples.
  func excludes(_ frame: Int64, withinFrames tolerance: Int64) -> Bool {
    isKnown && step > 2 * tolerance + 2 && nearest(to: frame + meanLateness, withinFrames: tolerance) == nil
  }

  /// By how much every timestamp was late, when all were by the same, to a frame's rounding; nil when not.
  var steadyLateness: Int64? {
    guard latenessCount >= Self.neededStamps, largestLateness - smallestLateness <= 2 else { return nil }
    return meanLateness
  }

  private var meanLateness: Int64 { latenessCount > 0 ? lateness / latenessCount : 0 }

  /// Takes in a frame that was decoded in order from the stream's start; `stamped` is its place by its timestamp, if the
  /// container gave it that, and not FFmpeg by counting.
  mutating func observe(start: Int64, stamped: Int64?, frameCount: Int) {
    let count = Int64(frameCount)
    // The very first may be cut off at its start, and its timestamp moved along.
    if let stamped, lastCount != nil, latenessCount < Self.comparedCount,
      abs(stamped - start) <= Self.mostLatenessFrames
    {
      lateness += stamped - start
      latenessCount += 1
      smallestLateness = min(smallestLateness, stamped - start)
      largestLateness = max(largestLateness, stamped - start)
    }
    defer { lastCount = count }
    guard let lastCount, count > 0 else { return }
    // Its own size may be that of a last frame; that of the one before it is whole, the first being cut off at its start.
    if anchor == nil { anchor = start } else if !isDeclared { step = Self.divisor(step, lastCount) }
    observedCount = min(observedCount + 1, Self.neededCount)
  }

  /// The next frame does not follow the last one.
  mutating func interrupt() { lastCount = nil }

  /// The only place within so many frames at which a frame can begin; nil when there is none, or more than one.
  func nearest(to frame: Int64, withinFrames tolerance: Int64) -> Int64? {
    guard isKnown, let anchor, step > tolerance else { return nil }
    let place = frame - meanLateness
    let offset = place - anchor
    let rest = ((offset % step) + step) % step
    let below = place - rest
    let nearest = rest * 2 <= step ? below : below + step
    return abs(nearest - place) <= tolerance ? nearest : nil
  }

  /// How long a packet is that says so in ticks, cut to whole ones: the one length that its sizes allow, or what it says.
  func frameCount(told: Int64, roundingFrames: Int64) -> Int64 {
    guard step > roundingFrames, told > 0, told <= Int64.max / 4 else { return told }
    let (count, remainder) = told.quotientAndRemainder(dividingBy: step)
    if remainder == 0 { return told }
    // Rounded to a frame, it may be one too long.
    if remainder == 1 { return count * step }
    let next = (count + 1) * step
    return next - told <= max(1, roundingFrames) ? next : told
  }

  private static func divisor(_ first: Int64, _ second: Int64) -> Int64 {
    var (first, second) = (first, second)
    while second != 0 { (first, second) = (second, first % second) }
    return first
  }
}
