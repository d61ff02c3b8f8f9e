// The positions of decoded frames on the timeline, whose position 0 is the presentation start.
import PlayheadLibAV

/// Determines the positions of the decoded frames of a track. The first frame defines the timeline.
///
/// Every frame must be passed to `note` once and in order, after the packets that were read for it.
struct FramePositions {
  /// The position of a frame that was decoded.
  enum Outcome {
    /// Not known yet: the frame must be dropped.
    case unknown
    /// `start` is the position. `step` shows how the frame follows from the expected position.
    case known(step: AudioTimeline.Step, expected: Int64?)
  }

  let format: ContainerFormat
  let stream: StreamInfo
  let edges: TrackEdges
  /// The start of the earliest video stream.
  let presentationStart: (ticks: Int64, timeBase: TimeBase)?
  /// The position of the first sample of the last frame.
  private(set) var start: Int64 = 0
  /// The timeline; set once the first frame, and with it the origin, is known.
  private(set) var timeline: AudioTimeline?
  /// The sizes of the decoded frames, for timestamps that do not identify a frame.
  private(set) var grid: FrameGrid
  /// Whether packets are decoded only as preroll. Their failures are not reported.
  var isPrerolling = false
  /// Whether the position since the last seek comes from a timestamp or from counting, not from a guess.
  private(set) var isProven = true
  /// Whether the first timestamp since the last seek is rounded to more than a frame and the exact position is unknown.
  private(set) var isRounded = false
  /// Whether frames were dropped after the last seek, because their position was unknown.
  private(set) var hasDroppedFrames = false
  /// Whether timestamps disagree with the frame count, so that they cannot prove the position after a seek.
  private(set) var hasIrregularTimestamps = false
  /// The inaudible frames before time 0: granule positions count audio from 0 (Vorbis I, appendix A.2).
  private(set) var negativeStartFrames: Int64 = 0
  /// The number of frames by which the first timestamp after the priming is later than the end of the priming.
  private(set) var lateStartFrames: Int64 = 0
  /// The end of the packets after the last frame that did not decode; nil if there are none, or if it is unknown.
  private(set) var lostEnd: Int64?
  /// Whether packets after the last frame are missing or did not decode.
  private(set) var isAfterLoss = false
  /// The number of packets that did not decode before the first one that did.
  private(set) var lostAtStartCount: Int64 = 0
  private var lastFrameCount: Int64 = 0
  /// The position of the stream's first frame; nil until known.
  private var firstFrameStart: Int64?
  /// Whether the next frame is the stream's first one.
  private var isAtFirstPacket = true
  /// Whether the timestamps of the packets after the last seek define the position.
  var timestampsDefineSeekPosition = false

  init(stream: StreamInfo, format: ContainerFormat, edges: TrackEdges, others: [StreamInfo]) {
    (self.stream, self.format, self.edges) = (stream, format, edges)
    grid = FrameGrid(declaredStep: stream.frameStepCount)
    presentationStart = Self.firstVideoStart(of: others)
  }

  // MARK: - Reading

  /// Determines the position of a decoded frame, whose last packet is `packet`.
  ///
  /// - Parameter isConverted: whether decoded audio has different sample rates.
  mutating func note(
    _ frame: Frame, of packet: Packet, _ packets: inout PacketPositions, trims: PacketTrims, isConverted: Bool
  ) -> Outcome {
    if timeline == nil, let made = makeTimeline(frame, packets, trims) {
      (timeline, negativeStartFrames, lateStartFrames) = made
    }
    if timeline?.expectedFrame == nil {
      isProven = packets.isCounted || frame.pts != nil
      guard resolveRounding(frame, packet, packets) else { return .unknown }
    }
    defer {
      isAtFirstPacket = false
      if firstFrameStart == nil { firstFrameStart = start }
      packets.noteFrame(end: start + lastFrameCount, frameCount: lastFrameCount)
    }
    let isAfterLoss = isAfterLoss
    self.isAfterLoss = false
    timeline?.seekCorrection = timestampsDefineSeekPosition && isPrerolling ? format.seekCorrection : nil
    // After a seek the first packet may be any one of its group, so timestamps prove no position.
    if packets.continuity.hasGroups, packets.vorbisTimes == nil { timeline?.isIrregular = true }
    lostEnd = nil
    let expected = timeline?.expectedFrame
    let timestampFrame = frame.pts.flatMap { timeline?.frame(ofTicks: $0) }
    lastFrameCount = Int64(frame.frameCount)
    let exact = exactPosition(timestampFrame: timestampFrame, expected: expected)
    let hasRegularGrid = hasRegularGrid
    timeline?.hasRegularGrid = hasRegularGrid
    guard let result = timeline?.advance(timestampFrame: timestampFrame, exact: exact, frameCount: frame.frameCount)
    else { return .known(step: .contiguous, expected: nil) }
    start = result.frame
    if firstFrameStart == nil, lostAtStartCount > 0, frame.pts == nil {
      packets.continueCount(at: start + lastFrameCount)
    }
    if result.step == .discontinuity, let timestampFrame {
      // In Matroska, seeks find packets by timestamps, which then do not define positions.
      if format == .matroska { hasIrregularTimestamps = true }
      packets.shift(by: result.frame - timestampFrame)
    }
    if let timeline, packets.isCounted, !hasIrregularTimestamps { hasIrregularTimestamps = !timeline.hasAgreed }
    if packets.isCounted, !isConverted, !packets.hasOtherRates {
      let isStored = packets.storedTimestamps.isStored && frame.pts == packet.pts
      grid.observe(start: start, timestampFrame: isStored ? timestampFrame : nil, frameCount: frame.frameCount)
    }
    return .known(step: isAfterLoss ? .contiguous : result.step, expected: expected)
  }

  /// Resolves the position of the first frame after a seek.
  ///
  /// A timestamp that is rounded to more than a frame is moved to the only position that the frame sizes allow. A
  /// constant lateness of all timestamps is subtracted.
  ///
  /// - Returns: false if FFmpeg derived the timestamp from guessed lengths. The next timestamp stored in the container
  ///   then decides.
  private mutating func resolveRounding(_ frame: Frame, _ packet: Packet, _ packets: PacketPositions) -> Bool {
    isRounded = false
    if packets.isPacketNumbered, let packetFrame = packets.packetFrame, frame.pts == packet.pts {
      timeline?.restart(at: packetFrame)
      return true
    }
    if isAtFirstPacket, lateStartFrames > 0 || frame.pts == nil, let firstFrameStart {
      timeline?.restart(at: firstFrameStart)
      return true
    }
    // Plain PCM can begin at any sample.
    let isOnGrid = grid.isLatenessKnown && !packets.isCounted && !stream.codecName.hasPrefix("pcm_")
    guard let timeline, timeline.hasRoundedTicks || isOnGrid, let pts = frame.pts,
      let firstPacket = packets.firstPacket
    else { return true }
    if isAtFirstPacket {
      if let firstFrameStart { self.timeline?.restart(at: firstFrameStart) }
      return true
    }
    let isOfLastPacket = pts == packet.pts
    guard let since = isOfLastPacket ? packets.storedTimestamps.framesSince : 0 else {
      hasDroppedFrames = true
      return false
    }
    guard let ticks = isOfLastPacket ? packets.storedTimestamps.ticks : pts,
      let timestampFrame = timeline.frame(ofTicks: ticks)
    else { return true }
    guard timeline.hasCoarseTicks || !packets.isCounted && ticks != firstPacket.ticks else { return true }
    // A frame whose start is trimmed does not begin at a multiple of the grid's step.
    let isTrimmed = !timeline.hasCoarseTicks && Int64(frame.frameCount) < grid.step
    let exact =
      isTrimmed
      ? timestampFrame - (grid.steadyLateness ?? 0)
      : grid.position(of: timestampFrame, roundingFrames: timeline.roundingFrames)
    isRounded = timeline.hasCoarseTicks && exact == nil
    if let exact { self.timeline?.restart(at: exact + since) }
    return true
  }

  /// Returns the position of a decoded frame that does not follow the frame before it, for timestamps that are rounded
  /// to more than a frame.
  ///
  /// The result is the only position near the timestamp that the lengths of the frames allow. A seek finds the same
  /// one.
  ///
  /// - Returns: nil if only the timestamp defines the position.
  func exactPosition(timestampFrame: Int64?, expected: Int64?) -> Int64? {
    guard let timeline, timeline.hasCoarseTicks, let timestampFrame, let expected else { return nil }
    guard abs(timestampFrame - expected) > timeline.roundingFrames else { return nil }
    return grid.nearest(to: timestampFrame, withinFrames: timeline.roundingFrames)
  }

  /// Whether the timestamps at the start of the file identify positions in `grid`, so that a timestamp proves that
  /// frames are missing before it.
  var hasRegularGrid: Bool {
    guard format == .matroska, let timeline, timeline.hasCoarseTicks, grid.isLatenessKnown else { return false }
    return !grid.isAmbiguous(roundingFrames: timeline.roundingFrames)
  }

  // MARK: - Loss

  /// Records that the last packet did not decode; silence replaces it.
  mutating func noteLoss(of packet: Packet) {
    isAfterLoss = true
    let count = frameCount(of: packet)
    lostEnd = timeline?.recordMissingPacket(frameCount: count) ?? endFrame(of: packet)
    if timeline == nil { lostAtStartCount += 1 }
  }

  /// Records that the trimmed frames were not at the end: the file's header is wrong, or files were joined.
  mutating func noteMissingFrames() {
    _ = timeline?.recordMissingPacket(frameCount: 0)
    isAfterLoss = true
  }

  /// Records that timestamps disagree with the frame count.
  mutating func noteIrregularTimestamps() { hasIrregularTimestamps = true }

  /// The length of the packet; that of the last frame if the timestamps are too coarse to distinguish the two.
  private func frameCount(of packet: Packet) -> Int64? {
    guard let duration = packet.duration, let rate = stream.sampleRateHz,
      let frameBase = TimeBase(sampleRateHz: rate),
      let declared = frameBase.ticks(from: duration, of: stream.timeBase, rounding: .nearest),
      let tick = frameBase.ticks(from: 1, of: stream.timeBase, rounding: .up)
    else { return lastFrameCount > 0 ? lastFrameCount : nil }
    return abs(declared - lastFrameCount) <= tick ? lastFrameCount : declared
  }

  /// The end of the packet on the timeline, if the packet states it.
  private func endFrame(of packet: Packet) -> Int64? {
    guard let timeline, let pts = packet.pts else { return nil }
    let (end, overflow) = pts.addingReportingOverflow(packet.duration ?? 0)
    return overflow ? nil : timeline.frame(ofTicks: end)
  }

  // MARK: - Repositioning

  /// Discards the last frame, because reading continues at another position.
  mutating func restart() {
    timeline?.isIrregular = false
    timeline?.restart()
    grid.interrupt()
    (timestampsDefineSeekPosition, isAtFirstPacket, hasDroppedFrames) = (false, false, false)
    (isAfterLoss, lostEnd) = (false, nil)
  }

  /// Continues at a position that is known by counting, or at an unknown one.
  mutating func restart(at frame: Int64?) { timeline?.restart(at: frame) }

  /// Records whether a new decoder is at the stream's first packet, so that the next frame is the first one.
  mutating func setAtFirstPacket(_ isAtFirstPacket: Bool) { self.isAtFirstPacket = isAtFirstPacket }
}
