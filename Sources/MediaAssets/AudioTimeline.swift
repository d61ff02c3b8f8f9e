import LibAV

/// Places decoded frames on the asset's timeline, in frames of the track's rate. A pure value.
///
/// Timestamps are believed where they can be told from noise: those of a container with ticks of a millisecond jitter
/// about the true place, so within the jitter the count of samples goes on; a step beyond it is a hole (silence) or an
/// overlap (cut off). A jump ahead of more than `maximumHoleSeconds`, or back by more than a quarter of a second, is taken for a new
/// count, and time goes on without it.
struct AudioTimeline {
  /// Where a frame lies, compared with what was expected.
  enum Step: Equatable {
    case contiguous, hole, overlap, renumbered
  }

  static let maximumHoleSeconds = 10
  /// No place is further from the timeline's frame 0: sums and differences of two of them stay in range.
  static let furthestPlace = Int64.max / 4

  private let timeBase: TimeBase
  private let frameBase: TimeBase
  /// Timeline frame 0 in frames of the stream's own count; moves when the count jumps, until the next seek: that goes by
  /// the count that the file begins with.
  private var originFrame: Int64
  private let firstOriginFrame: Int64
  private let toleranceFrames: Int64
  private let maximumHoleFrames: Int64
  private let maximumOverlapFrames: Int64
  /// Timestamps tell every frame from its neighbours.
  private let hasFineTimestamps: Bool
  /// Where the next frame should begin; nil after a seek.
  private(set) var expectedFrame: Int64? {
    didSet { furthestFrame = expectedFrame.map { max($0, furthestFrame ?? $0) } }
  }
  /// The furthest that it was since the last seek.
  private(set) var furthestFrame: Int64?
  /// The next timestamp counts exactly, because packets are missing before it.
  private var takesNextTimestamp = false

  /// - Parameters:
  ///   - originFrame: the stream's timestamp, in frames, of timeline frame 0.
  ///   - isLossless: every sample is coded as it is, so that there are as many as the timestamps say.
  init(timeBase: TimeBase, frameBase: TimeBase, originFrame: Int64, isLossless: Bool) {
    self.timeBase = timeBase
    self.frameBase = frameBase
    self.originFrame = originFrame
    firstOriginFrame = originFrame
    let rate = Int64(frameBase.denominator)
    maximumHoleFrames = rate * Int64(Self.maximumHoleSeconds)
    maximumOverlapFrames = rate / 4
    hasFineTimestamps = frameBase.ticks(from: 1, of: timeBase, rounding: .up).map { $0 <= 1 } ?? false
    if isLossless && timeBase.divides(frameBase) {
      toleranceFrames = 0
    } else {
      let twoTicks = frameBase.ticks(from: 2, of: timeBase, rounding: .up) ?? 0
      toleranceFrames = max(twoTicks, rate / 50)
    }
  }

  /// Ticks are longer than frames: a timestamp alone does not tell the frame.
  var hasCoarseTicks: Bool {
    Int64(timeBase.numerator) * Int64(frameBase.denominator) > Int64(timeBase.denominator) * Int64(frameBase.numerator)
  }

  /// Frames do not begin at whole ticks: timestamps are rounded, be it by less than a frame.
  var hasRoundedTicks: Bool { !timeBase.divides(frameBase) }

  /// How far a rounded timestamp may be from its frame.
  var roundingFrames: Int64 { hasCoarseTicks ? (frameBase.ticks(from: 1, of: timeBase, rounding: .up) ?? 0) : 0 }

  /// So many ticks as a count of frames; nil when out of range.
  func frameCount(ofTicks ticks: Int64) -> Int64? { frameBase.ticks(from: ticks, of: timeBase, rounding: .nearest) }

  /// Where a timestamp lies; nil when out of range.
  func frame(ofTicks ticks: Int64) -> Int64? {
    guard let frame = frameBase.ticks(from: ticks, of: timeBase, rounding: .nearest) else { return nil }
    let (place, overflow) = frame.subtractingReportingOverflow(originFrame)
    return overflow || place.magnitude > Self.furthestPlace.magnitude ? nil : place
  }

  /// The timestamp of a place, at or before it where there is none; nil when out of range.
  func ticks(ofFrame frame: Int64, rounding: TimeBase.Rounding = .down) -> Int64? {
    let (count, overflow) = frame.addingReportingOverflow(originFrame)
    return overflow ? nil : timeBase.ticks(from: count, of: frameBase, rounding: rounding)
  }

  /// Places the next decoded frames and expects what follows them.
  mutating func place(ticks: Int64?, frameCount: Int) -> (frame: Int64, step: Step) {
    let (frame, step) = decide(ticks.flatMap { self.frame(ofTicks: $0) })
    expectedFrame = Self.place(frame, movedBy: Int64(frameCount))
    return (frame, step)
  }

  /// A packet did not decode: silence stands for what it lasted.
  ///
  /// The next timestamp tells where it goes on; where timestamps are coarse, the packet's own length tells it better: then
  /// answers where the packet ends.
  mutating func noteMissingPacket(frameCount: Int64?) -> Int64? {
    guard !hasFineTimestamps, let frameCount, let expectedFrame else {
      takesNextTimestamp = true
      return nil
    }
    self.expectedFrame = Self.place(expectedFrame, movedBy: frameCount)
    return self.expectedFrame
  }

  /// Forgets what was expected: after a seek. The next timestamp tells the place, or `frame` if there is none.
  mutating func restart(at frame: Int64? = nil) {
    expectedFrame = frame.map { Self.place($0, movedBy: 0) }
    takesNextTimestamp = false
    originFrame = firstOriginFrame
  }

  private mutating func decide(_ stamped: Int64?) -> (Int64, Step) {
    guard let expected = expectedFrame else { return (stamped ?? 0, .contiguous) }
    guard let stamped else { return (expected, .contiguous) }
    let difference = stamped - expected
    let tolerance = takesNextTimestamp ? 0 : toleranceFrames
    takesNextTimestamp = false
    if abs(difference) <= tolerance { return (expected, .contiguous) }
    if difference > 0, difference <= maximumHoleFrames { return (stamped, .hole) }
    if difference < 0, -difference <= maximumOverlapFrames { return (stamped, .overlap) }
    let (moved, overflow) = originFrame.addingReportingOverflow(difference)
    if !overflow { originFrame = moved }
    return (expected, .renumbered)
  }

  /// A place behind another one, within what a place can be.
  private static func place(_ frame: Int64, movedBy count: Int64) -> Int64 {
    let (sum, overflow) = frame.addingReportingOverflow(count)
    return overflow ? furthestPlace : max(-furthestPlace, min(sum, furthestPlace))
  }
}
