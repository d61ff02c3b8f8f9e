import PlayheadLibAV

/// Determines the positions of decoded frames on the asset's timeline. A pure value.
///
/// Positions are numbers of sample frames at the track's rate. One rule applies to playing, seeking, reading and
/// exporting: the audio of consecutive packets is continuous. A timestamp overrides the count only in these cases:
///
/// - The packet before the timestamp is known to be missing.
/// - The timestamp is late by a whole number of decoded frames, and all timestamps before it agreed with the count.
///   Then frames are missing.
/// - The timestamp belongs to another position in a `FrameGrid` that all timestamps before it agreed with. Then frames
///   are missing. The length of the first frame after them may be wrong, so the timestamp after it applies, too.
/// - The timestamp differs from the count by more than `driftFrames`. In a stream with irregular timestamps the
///   difference must last for a second, because the timestamps of groups of frames can differ that much.
///
/// After a jump forwards by more than `maximumGapSeconds`, or backwards by more than a quarter of a second, the
/// container has begun a new count. Time then continues without the jump.
///
/// Smaller differences are noise: many containers round timestamps, write one for several frames, or derive
/// them from a clock. If a container has no timestamps, FFmpeg calculates them from byte positions. Such
/// streams are always counted.
struct AudioTimeline {
  /// The origin of a stream's timestamps, and so their reliability.
  enum TimestampSource {
    /// The container stores them.
    case container
    /// Every frame stores its number (FLAC). Numbers that disagree with the count belong to a numbering unknown to
    /// FFmpeg, and are ignored from then on.
    case frameNumbers
    /// The container states positions to the sample, and `VorbisPacketTimes` derives timestamps from them. A difference
    /// from the count is a gap or an overlap in the file.
    case granulePositions
    /// FFmpeg calculates them from byte positions and bit rates.
    case none
  }

  /// The position of a frame compared with the expected position.
  enum Step: Equatable {
    case contiguous, gap, overlap, discontinuity
  }

  static let maximumGapSeconds = 10
  /// The maximum distance of a position from timeline frame 0, so that sums and differences of two
  /// positions stay in range.
  static let maximumPosition = Int64.max / 4

  private let timeBase: TimeBase
  private let frameBase: TimeBase
  /// The position of timeline frame 0 in the stream's count. Moves when the count jumps, until the next seek: seeks use
  /// the count with which the file begins.
  private var originFrame: Int64
  private let firstOriginFrame: Int64
  private let source: TimestampSource
  /// The maximum difference of a timestamp that agrees with the count.
  private let agreementFrames: Int64
  /// The tolerance for a difference that equals a whole number of decoded frames.
  private let wholeFrameToleranceFrames: Int64
  /// Whether samples are stored uncompressed with exact timestamps. Then packets have no fixed length, and any number
  /// of samples can be missing.
  private let isSampleExact: Bool
  private let maximumGapFrames: Int64
  private let maximumOverlapFrames: Int64
  /// Whether timestamps distinguish neighbouring frames.
  private let hasFineTimestamps: Bool
  /// The expected position of the next frame; nil after a seek.
  private(set) var expectedFrame: Int64? {
    didSet { furthestFrame = expectedFrame.map { max($0, furthestFrame ?? $0) } }
  }
  /// The furthest end of decoded frames since the last seek.
  private(set) var furthestFrame: Int64?
  /// Whether the next timestamp overrides the count, because packets are missing before it.
  private var usesNextTimestamp = false
  /// Whether exact positions of frames prove that they do not follow the frames before them.
  var hasRegularGrid = false
  /// Whether the last frame followed missing ones, and has a wrong length if lengths depend on the frame before.
  private var followsMissingFrames = false
  /// Whether every timestamp since the first frame or the last seek agreed with the count, apart from missing packets.
  private(set) var hasAgreed = true
  /// Whether timestamps are known to disagree with the count, here or elsewhere in the file.
  var isIrregular = false { didSet { if isIrregular { hasAgreed = false } } }
  /// The condition on which a timestamp before the target of a seek corrects the position.
  enum SeekCorrection {
    /// The timestamp disagrees with the count.
    case byDisagreement
    /// The timestamp differs from the count by more than half a decoded frame. FFmpeg cuts an MPEG program stream into
    /// frames, and after a seek the first timestamp may belong to another packet.
    case byHalfFrame
  }

  /// The condition that applies now; nil after the target of a seek.
  var seekCorrection: SeekCorrection?
  /// The number of frames since timestamps began to differ in one direction by more than `driftFrames`.
  private var drift: (isLate: Bool, frameCount: Int64)?
  /// The number of frames in the last call of `advance`.
  private var lastFrameCount: Int64 = 0

  /// - Parameters:
  ///   - originFrame: the stream's timestamp, in frames, of timeline frame 0.
  ///   - coding: the coding of the samples.
  init(
    timeBase: TimeBase, frameBase: TimeBase, originFrame: Int64, coding: AudioCoding,
    source: TimestampSource = .container
  ) {
    self.timeBase = timeBase
    self.frameBase = frameBase
    self.originFrame = originFrame
    firstOriginFrame = originFrame
    let rate = Int64(frameBase.denominator)
    maximumGapFrames = rate * Int64(Self.maximumGapSeconds)
    maximumOverlapFrames = rate / 4
    hasFineTimestamps = frameBase.ticks(from: 1, of: timeBase, rounding: .up).map { $0 <= 1 } ?? false
    self.source = source
    let twoTicks = frameBase.ticks(from: 2, of: timeBase, rounding: .up) ?? 0
    let isExact = coding != .lossy && timeBase.divides(frameBase)
    isSampleExact = coding == .samples && isExact
    agreementFrames = isExact ? 0 : max(twoTicks, Self.noiseFrames(sampleRateHz: rate))
    wholeFrameToleranceFrames = isExact ? 0 : max(twoTicks, 2)
  }

  /// The maximum difference of a rounded or irregular timestamp from the count: 20 ms.
  private static func noiseFrames(sampleRateHz: Int64) -> Int64 { sampleRateHz / 50 }

  /// Whether a difference of a timestamp from the count is an irregularity of the timestamp, and no gap.
  static func isNoise(_ difference: Int64, sampleRateHz: Int64) -> Bool {
    difference.magnitude <= noiseFrames(sampleRateHz: sampleRateHz).magnitude
  }

  /// Whether ticks are longer than frames, so that a timestamp alone does not identify a frame.
  var hasCoarseTicks: Bool {
    Int64(timeBase.numerator) * Int64(frameBase.denominator) > Int64(timeBase.denominator) * Int64(frameBase.numerator)
  }

  /// Whether frames do not begin at whole ticks, so that timestamps are rounded, possibly by less than a frame.
  var hasRoundedTicks: Bool { !timeBase.divides(frameBase) }

  /// The maximum difference between a rounded timestamp and its frame.
  var roundingFrames: Int64 { hasCoarseTicks ? (frameBase.ticks(from: 1, of: timeBase, rounding: .up) ?? 0) : 0 }

  /// Converts a number of ticks to frames; nil when out of range.
  func frameCount(ofTicks ticks: Int64) -> Int64? { frameBase.ticks(from: ticks, of: timeBase, rounding: .nearest) }

  /// Returns the position of a timestamp; nil when out of range.
  func frame(ofTicks ticks: Int64) -> Int64? {
    guard let frame = frameBase.ticks(from: ticks, of: timeBase, rounding: .nearest) else { return nil }
    let (position, overflow) = frame.subtractingReportingOverflow(originFrame)
    return overflow || position.magnitude > Self.maximumPosition.magnitude ? nil : position
  }

  /// Returns the position of a timestamp in the count with which the file begins; nil when out of range.
  func firstFrame(ofTicks ticks: Int64) -> Int64? {
    frame(ofTicks: ticks).flatMap { frame in
      let (position, overflow) = frame.addingReportingOverflow(originFrame - firstOriginFrame)
      return overflow || position.magnitude > Self.maximumPosition.magnitude ? nil : position
    }
  }

  /// Returns the timestamp of a position, rounded down by default; nil when out of range.
  func ticks(ofFrame frame: Int64, rounding: TimeBase.Rounding = .down) -> Int64? {
    let (count, overflow) = frame.addingReportingOverflow(originFrame)
    return overflow ? nil : timeBase.ticks(from: count, of: frameBase, rounding: rounding)
  }

  /// Whether the position of a timestamp agrees with the position by the count.
  func agrees(_ timestampFrame: Int64, _ counted: Int64) -> Bool { abs(timestampFrame - counted) <= agreementFrames }

  /// Whether a distance of a timestamp from the end of the packet before it begins a new count.
  func isDiscontinuity(ticks: Int64) -> Bool {
    frameCount(ofTicks: ticks).map { $0 < -maximumOverlapFrames || $0 > maximumGapFrames } ?? true
  }

  /// Whether a timestamp is earlier than the count by more than an overlap.
  func isEarly(_ timestampFrame: Int64, _ counted: Int64) -> Bool { timestampFrame < counted - maximumOverlapFrames }

  /// Whether a timestamp is earlier than the count by so little that the audio is continuous.
  func repeatsAudio(_ timestampFrame: Int64, _ counted: Int64) -> Bool {
    timestampFrame < counted && counted - timestampFrame <= driftFrames(lastFrameCount)
  }

  /// Determines the position of the next decoded frames and advances the expected position.
  mutating func advance(ticks: Int64?, frameCount: Int) -> (frame: Int64, step: Step) {
    advance(timestampFrame: ticks.flatMap { self.frame(ofTicks: $0) }, frameCount: frameCount)
  }

  /// Determines the position of the next decoded frames and advances the expected position.
  ///
  /// - Parameters:
  ///   - timestampFrame: the position of their timestamp; nil if they have none.
  ///   - exact: their position if they do not follow the frames before them; nil: `timestampFrame`.
  mutating func advance(timestampFrame: Int64?, exact: Int64? = nil, frameCount: Int) -> (frame: Int64, step: Step) {
    let exactStep = exactStep(exact, timestampFrame)
    followsMissingFrames = exactStep == .gap
    var (frame, step) =
      if let exact, let exactStep { (exact, exactStep) } else { decide(timestampFrame, frameCount: Int64(frameCount)) }
    if let exact, step == .gap || step == .overlap { frame = exact }
    expectedFrame = Self.clampedSum(frame, Int64(frameCount))
    lastFrameCount = Int64(frameCount)
    return (frame, step)
  }

  /// Records a packet that did not decode; silence of its length replaces it.
  ///
  /// With fine timestamps the next timestamp defines where audio continues. With coarse timestamps the packet's length
  /// defines it more precisely.
  ///
  /// - Returns: the end of the packet if its length defines it; nil otherwise.
  mutating func recordMissingPacket(frameCount: Int64?) -> Int64? {
    guard !hasFineTimestamps, let frameCount, let expectedFrame else {
      usesNextTimestamp = true
      return nil
    }
    // Only frames that were decoded or filled with silence count as the furthest ones.
    let furthest = furthestFrame
    self.expectedFrame = Self.clampedSum(expectedFrame, frameCount)
    furthestFrame = furthest
    return self.expectedFrame
  }

  /// Resets the expected position after a seek: to `frame`, or to the position of the next timestamp if `frame` is nil.
  mutating func restart(at frame: Int64? = nil) {
    expectedFrame = frame.map { Self.clampedSum($0, 0) }
    usesNextTimestamp = false
    followsMissingFrames = false
    drift = nil
    hasAgreed = !isIrregular
    originFrame = firstOriginFrame
  }

  /// Continues with a packet whose position `frame` is known. If its timestamp differs by more than `driftFrames`, the
  /// container has begun a new count before it.
  mutating func restart(at frame: Int64, ticks: Int64?, frameCount: Int64) {
    restart(at: frame)
    guard let timestampFrame = ticks.flatMap({ self.frame(ofTicks: $0) }) else { return }
    if abs(timestampFrame - frame) > driftFrames(frameCount) { shiftOrigin(by: timestampFrame - frame) }
  }

  /// Adopts a new count of the container's timestamps.
  private mutating func shiftOrigin(by difference: Int64) {
    let (moved, overflow) = originFrame.addingReportingOverflow(difference)
    if !overflow { originFrame = moved }
  }

  /// Returns the step to the exact position of frames whose timestamp disagrees with the count; nil if the frames may
  /// follow the ones before them.
  private func exactStep(_ exact: Int64?, _ timestampFrame: Int64?) -> Step? {
    guard hasRegularGrid, hasAgreed, seekCorrection == nil, let exact, let timestampFrame, let expectedFrame,
      abs(timestampFrame - expectedFrame) > wholeFrameToleranceFrames
    else { return nil }
    if exact > expectedFrame, exact - expectedFrame <= maximumGapFrames { return .gap }
    return followsMissingFrames && exact < expectedFrame && expectedFrame - exact <= maximumOverlapFrames
      ? .overlap : nil
  }

  private mutating func decide(_ timestampFrame: Int64?, frameCount: Int64) -> (Int64, Step) {
    guard let expected = expectedFrame else { return (timestampFrame ?? 0, .contiguous) }
    guard let timestampFrame else { return (expected, .contiguous) }
    let difference = timestampFrame - expected
    let isAfterMissingPacket = usesNextTimestamp
    usesNextTimestamp = false
    let tolerance = seekCorrection == .byHalfFrame ? min(agreementFrames, lastFrameCount / 2) : agreementFrames
    let isCorrection = seekCorrection != nil && abs(difference) > tolerance
    if isAfterMissingPacket || isCorrection {
      if difference == 0 { return (expected, .contiguous) }
    } else {
      if source == .none || agrees(timestampFrame, expected) {
        drift = nil
        return (expected, .contiguous)
      }
      if source != .granulePositions, !provesMissingFrames(difference) {
        hasAgreed = hasAgreed && abs(difference) > driftFrames(frameCount)
        if source == .frameNumbers && !hasAgreed || !isLasting(difference, frameCount) {
          return (expected, .contiguous)
        }
      }
    }
    if difference > 0, difference <= maximumGapFrames { return (timestampFrame, .gap) }
    if difference < 0, -difference <= maximumOverlapFrames { return (timestampFrame, .overlap) }
    shiftOrigin(by: difference)
    return (expected, .discontinuity)
  }

  /// Whether a difference exceeds `driftFrames` and, if timestamps are irregular, has lasted for a second.
  private mutating func isLasting(_ difference: Int64, _ frameCount: Int64) -> Bool {
    guard abs(difference) > driftFrames(frameCount) else {
      drift = nil
      return false
    }
    if hasAgreed { return true }
    let isLate = difference > 0
    let count = (drift.map { $0.isLate == isLate ? $0.frameCount : 0 } ?? 0) + frameCount
    drift = (isLate, count)
    guard count > Int64(frameBase.denominator) else { return false }
    drift = nil
    return true
  }

  /// Whether a timestamp that is later by `difference` proves that frames are missing.
  private func provesMissingFrames(_ difference: Int64) -> Bool {
    guard hasAgreed, difference > 0 else { return false }
    if isSampleExact { return true }
    guard lastFrameCount > wholeFrameToleranceFrames * 4 else { return false }
    let remainder = difference % lastFrameCount
    return min(remainder, lastFrameCount - remainder) <= wholeFrameToleranceFrames
  }

  /// The maximum difference between a timestamp and the count that is noise: four decoded frames, but at least 0.1 s
  /// and at most 0.5 s.
  private func driftFrames(_ frameCount: Int64) -> Int64 {
    let rate = Int64(frameBase.denominator)
    return max(rate / 10, min(4 * min(max(frameCount, lastFrameCount), rate), rate / 2))
  }

  /// Adds a number of frames to a position, clamped to the valid range.
  private static func clampedSum(_ frame: Int64, _ count: Int64) -> Int64 {
    let (sum, overflow) = frame.addingReportingOverflow(count)
    return overflow ? maximumPosition : max(-maximumPosition, min(sum, maximumPosition))
  }
}
