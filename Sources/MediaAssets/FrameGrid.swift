/// The multiples at which decoded frames begin, for containers whose timestamps are coarser than a frame of sound. A pure
/// value.
///
/// Matroska, FLV and others round timestamps, mostly to a millisecond, which is 44 or 48 frames: after a seek the true frame
/// is not told. But frames come in sizes: where all are of one size, or multiples of one, only one place near the timestamp
/// fits. Streams with other sizes stay as exact as their timestamps.
struct FrameGrid: Sendable, Equatable {
  /// Every frame but the first begins at `anchor` plus a multiple of it; 0 before it is known.
  private var step: Int64
  private var anchor: Int64?
  private let isDeclared: Bool
  private var observedCount = 0
  /// The frame before, which is the last when it is shorter.
  private var lastCount: Int64?
  /// Frames by which timestamps were later than the true places, added up over the frames seen first.
  private var lateness: Int64 = 0
  private var latenessCount: Int64 = 0

  /// Whole frames that must have been seen.
  private static let neededCount = 3
  /// Timestamps that are compared with true places: some muxers cut them to a tick, or are late by a block.
  private static let comparedCount: Int64 = 64

  /// - Parameter declaredStep: what the codec itself says.
  init(declaredStep: Int?) {
    step = Int64(declaredStep ?? 0)
    isDeclared = declaredStep != nil
  }

  /// Whether enough was seen.
  var isKnown: Bool { anchor != nil && (isDeclared || observedCount >= Self.neededCount) }

  /// Takes in a frame that was decoded in order from the stream's start; `stamped` is its place by its timestamp.
  mutating func observe(start: Int64, stamped: Int64?, frameCount: Int) {
    let count = Int64(frameCount)
    // The very first may be cut off at its start, and its timestamp moved along.
    if let stamped, lastCount != nil, latenessCount < Self.comparedCount {
      lateness += stamped - start
      latenessCount += 1
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
    let place = frame - (latenessCount > 0 ? lateness / latenessCount : 0)
    let offset = place - anchor
    let rest = ((offset % step) + step) % step
    let below = place - rest
    let nearest = rest * 2 <= step ? below : below + step
    return abs(nearest - place) <= tolerance ? nearest : nil
  }

  private static func divisor(_ first: Int64, _ second: Int64) -> Int64 {
    var (first, second) = (first, second)
    while second != 0 { (first, second) = (second, first % second) }
    return first
  }
}
