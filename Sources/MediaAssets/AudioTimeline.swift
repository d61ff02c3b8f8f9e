import LibAV

/// Places decoded frames on the asset's timeline, in frames of the track's rate. A pure value.
///
/// Timestamps are believed where they can be told from noise: those of a container with ticks of a millisecond jitter
/// about the true place, so within the jitter the count of samples goes on; a step beyond it is a hole (silence) or an
/// overlap (cut off). A jump of more than `maximumStepSeconds` is taken for a new count, and time goes on without it.
struct AudioTimeline {
  /// Where a frame lies, compared with what was expected.
  enum Step: Equatable {
    case contiguous, hole, overlap, renumbered
  }

  static let maximumStepSeconds = 10

  private let timeBase: TimeBase
  private let frameBase: TimeBase
  /// Timeline frame 0 in frames of the stream's own count; moves when the count jumps.
  private var originFrame: Int64
  private let toleranceFrames: Int64
  private let maximumStepFrames: Int64
  /// Where the next frame should begin; nil after a seek.
  private(set) var expectedFrame: Int64?
  /// The next timestamp counts exactly, because packets are missing before it.
  private var takesNextTimestamp = false

  /// - Parameters:
  ///   - originFrame: the stream's timestamp, in frames, of timeline frame 0.
  ///   - isLossless: every sample is coded as it is, so that there are as many as the timestamps say.
  init(timeBase: TimeBase, frameBase: TimeBase, originFrame: Int64, isLossless: Bool) {
    self.timeBase = timeBase
    self.frameBase = frameBase
    self.originFrame = originFrame
    let rate = Int64(frameBase.denominator)
    maximumStepFrames = rate * Int64(Self.maximumStepSeconds)
    if isLossless && timeBase.divides(frameBase) {
      toleranceFrames = 0
    } else {
      let twoTicks = frameBase.ticks(from: 2, of: timeBase, rounding: .up) ?? 0
      toleranceFrames = max(twoTicks, rate / 50)
    }
  }

  /// Where a timestamp lies; nil when out of range.
  func frame(ofTicks ticks: Int64) -> Int64? {
    guard let frame = frameBase.ticks(from: ticks, of: timeBase, rounding: .nearest) else { return nil }
    let (place, overflow) = frame.subtractingReportingOverflow(originFrame)
    return overflow || abs(place) > Int64.max / 4 ? nil : place
  }

  /// The timestamp at or before a place; nil when out of range.
  func ticks(ofFrame frame: Int64) -> Int64? {
    let (count, overflow) = frame.addingReportingOverflow(originFrame)
    return overflow ? nil : timeBase.ticks(from: count, of: frameBase, rounding: .down)
  }

  /// Places the next decoded frames and expects what follows them.
  mutating func place(ticks: Int64?, frameCount: Int) -> (frame: Int64, step: Step) {
    let (frame, step) = decide(ticks.flatMap { self.frame(ofTicks: $0) })
    expectedFrame = frame + Int64(frameCount)
    return (frame, step)
  }

  /// Packets are missing: the next timestamp tells where it goes on.
  mutating func noteMissingPackets() { takesNextTimestamp = true }

  /// Forgets what was expected: after a seek. The next timestamp tells the place, or `frame` if there is none.
  mutating func restart(at frame: Int64? = nil) {
    expectedFrame = frame
    takesNextTimestamp = false
  }

  private mutating func decide(_ stamped: Int64?) -> (Int64, Step) {
    guard let expected = expectedFrame else { return (stamped ?? 0, .contiguous) }
    guard let stamped else { return (expected, .contiguous) }
    let difference = stamped - expected
    let tolerance = takesNextTimestamp ? 0 : toleranceFrames
    takesNextTimestamp = false
    if abs(difference) <= tolerance { return (expected, .contiguous) }
    if abs(difference) <= maximumStepFrames { return (stamped, difference > 0 ? .hole : .overlap) }
    originFrame += difference
    return (expected, .renumbered)
  }
}
