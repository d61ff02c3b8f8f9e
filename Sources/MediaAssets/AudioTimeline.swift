import LibAV

/// Places decoded frames on the asset's timeline, in frames of the track's rate. A pure value.
///
/// One rule decides for playing, seeking, reading and exporting: the frames of consecutive packets are continuous. A timestamp
/// overrides the count only where it is evidence that something is missing or repeated:
///
/// - a packet before it is known to be missing;
/// - it is later by whole frames of a stream whose timestamps have agreed with the count so far: frames are missing;
/// - it differs by more than several frames (`driftFrames`). A difference of more than `maximumHoleSeconds` forwards, or of more
///   than a quarter of a second backwards, is a new count of the container, and time continues without it.
///
/// Smaller differences are noise: many containers round timestamps, write one for several frames, or derive them from a clock.
/// Containers that have no timestamps, for which FFmpeg calculates them from byte positions, are counted throughout.
struct AudioTimeline {
  /// What the timestamps of a stream are worth.
  enum TimestampSource {
    /// The container stores them.
    case container
    /// Every frame stores its number (FLAC). Numbers that do not agree with the count are of a numbering that FFmpeg does
    /// not know, and are ignored from then on.
    case frameNumbers
    /// The container states positions to the sample, and `VorbisPacketTimes` has derived timestamps from them: a difference from the
    /// count is a hole or an overlap in the file.
    case granulePositions
    /// FFmpeg calculates them from byte positions and bit rates.
    case none
  }

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
  private let source: TimestampSource
  /// A timestamp that differs from the count by no more agrees with it.
  private let agreementFrames: Int64
  /// How far a difference may be from whole frames that are missing.
  private let wholeFrameToleranceFrames: Int64
  /// Samples are stored as they are, and timestamps tell every one from its neighbours: packets have no length that would tell how
  /// many samples can be missing.
  private let isSampleExact: Bool
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
  /// Every timestamp since the first frame, or since the last seek, agreed with the count, but for what was missing.
  private(set) var hasAgreed = true
  /// Timestamps are known not to agree with the count, here or elsewhere in the file.
  var isIrregular = false { didSet { if isIrregular { hasAgreed = false } } }
  /// After a seek the first timestamp may be that of another packet (FFmpeg cuts MPEG program streams into frames): up to the target
  /// every later one corrects it.
  var isApproaching = false
  /// The number of frames that were placed last.
  private var lastFrameCount: Int64 = 0

  /// - Parameters:
  ///   - originFrame: the stream's timestamp, in frames, of timeline frame 0.
  ///   - coding: how the samples are coded.
  init(
    timeBase: TimeBase, frameBase: TimeBase, originFrame: Int64, coding: AudioCoding,
    source: TimestampSource = .container
  ) {
    self.timeBase = timeBase
    self.frameBase = frameBase
    self.originFrame = originFrame
    firstOriginFrame = originFrame
    let rate = Int64(frameBase.denominator)
    maximumHoleFrames = rate * Int64(Self.maximumHoleSeconds)
    maximumOverlapFrames = rate / 4
    hasFineTimestamps = frameBase.ticks(from: 1, of: timeBase, rounding: .up).map { $0 <= 1 } ?? false
    self.source = source
    let twoTicks = frameBase.ticks(from: 2, of: timeBase, rounding: .up) ?? 0
    let isExact = coding != .lossy && timeBase.divides(frameBase)
    isSampleExact = coding == .samples && isExact
    agreementFrames = isExact ? 0 : max(twoTicks, rate / 50)
    wholeFrameToleranceFrames = isExact ? 0 : max(twoTicks, 2)
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
    place(stamped: ticks.flatMap { self.frame(ofTicks: $0) }, frameCount: frameCount)
  }

  /// Places the next decoded frames and expects what follows them.
  ///
  /// - Parameters:
  ///   - stamped: the position of their timestamp; nil if they have none.
  ///   - exact: their position if they do not follow the frames before them; nil: `stamped`.
  mutating func place(stamped: Int64?, exact: Int64? = nil, frameCount: Int) -> (frame: Int64, step: Step) {
    var (frame, step) = decide(stamped, frameCount: Int64(frameCount))
    if let exact, step == .hole || step == .overlap { frame = exact }
    expectedFrame = Self.place(frame, movedBy: Int64(frameCount))
    lastFrameCount = Int64(frameCount)
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
    hasAgreed = !isIrregular
    originFrame = firstOriginFrame
  }

  /// Continues with the packet whose position `frame` is known. If its timestamp differs by more than several frames, the
  /// container has begun a new count before it.
  mutating func restart(at frame: Int64, ticks: Int64?, frameCount: Int64) {
    restart(at: frame)
    guard let stamped = ticks.flatMap({ self.frame(ofTicks: $0) }) else { return }
    if abs(stamped - frame) > driftFrames(frameCount) { renumber(by: stamped - frame) }
  }

  /// Adopts a new count of the container's timestamps.
  private mutating func renumber(by difference: Int64) {
    let (moved, overflow) = originFrame.addingReportingOverflow(difference)
    if !overflow { originFrame = moved }
  }

  private mutating func decide(_ stamped: Int64?, frameCount: Int64) -> (Int64, Step) {
    guard let expected = expectedFrame else { return (stamped ?? 0, .contiguous) }
    guard let stamped else { return (expected, .contiguous) }
    let difference = stamped - expected
    let isAfterMissingPacket = takesNextTimestamp
    takesNextTimestamp = false
    let isCorrection = isApproaching && abs(difference) > agreementFrames
    if isAfterMissingPacket || isCorrection {
      if difference == 0 { return (expected, .contiguous) }
    } else {
      if source == .none || abs(difference) <= agreementFrames { return (expected, .contiguous) }
      if source != .granulePositions, !isMissing(difference) {
        hasAgreed = hasAgreed && abs(difference) > driftFrames(frameCount)
        if source == .frameNumbers && !hasAgreed || abs(difference) <= driftFrames(frameCount) {
          return (expected, .contiguous)
        }
      }
    }
    if difference > 0, difference <= maximumHoleFrames { return (stamped, .hole) }
    if difference < 0, -difference <= maximumOverlapFrames { return (stamped, .overlap) }
    renumber(by: difference)
    return (expected, .renumbered)
  }

  /// Whether a timestamp that is later by so much says that frames are missing.
  private func isMissing(_ difference: Int64) -> Bool {
    guard hasAgreed, difference > 0 else { return false }
    if isSampleExact { return true }
    guard lastFrameCount > wholeFrameToleranceFrames * 4 else { return false }
    let remainder = difference % lastFrameCount
    return min(remainder, lastFrameCount - remainder) <= wholeFrameToleranceFrames
  }

  /// Timestamps may differ from the count by so much without a reason: by several frames, and by a tenth of a second where frames
  /// are short.
  private func driftFrames(_ frameCount: Int64) -> Int64 {
    let rate = Int64(frameBase.denominator)
    return max(rate / 10, min(4 * min(max(frameCount, lastFrameCount), rate), rate / 2))
  }

  /// A place behind another one, within what a place can be.
  private static func place(_ frame: Int64, movedBy count: Int64) -> Int64 {
    let (sum, overflow) = frame.addingReportingOverflow(count)
    return overflow ? furthestPlace : max(-furthestPlace, min(sum, furthestPlace))
  }
}
