import PlayheadLibAV

/// Determines the lengths of packets in frames, and their positions if timestamps do not define them.
///
/// Every packet must be passed to `note` once and in order, because the length of a packet may depend on earlier
/// packets.
struct PacketCounting {
  private let format: ContainerFormat
  /// The lengths stated by the packets themselves, if the format uses them.
  private var lengths: PacketLengths?
  /// Positions packets by their lengths and the rule of `AudioTimeline`, so that counting agrees with decoding. Nil if
  /// timestamps are trusted.
  private var timeline: AudioTimeline?
  /// The start of the first packet by its length; nil if its timestamp defines it.
  private var startFrame: Int64?
  /// The end of the first decoded frame, and the number of packets read for it: the first packets may produce no audio.
  private var firstFrameEnd: Int64?
  private var firstFramePacketCount: Int64 = 0
  /// The number of frames of the packet read last; nil if only decoding can determine it.
  private(set) var length: Int64? = 0
  /// Whether a counted packet did not state its length, or decoded to more frames than stated.
  private(set) var hasUnknownLengths = false

  /// - Throws: FFmpeg's error if memory is exhausted.
  init(format: ContainerFormat, demuxer: Demuxer, streamIndex: Int) throws(AVFailure) {
    self.format = format
    let codecName = demuxer.streams[streamIndex].codecName
    // The packets of these codecs in AVI do not begin with a frame.
    let hasPartialFrames = format == .frameTable && ["eac3", "dts"].contains(codecName)
    // mkvmerge states no duration for ALAC.
    let isNeeded = format.countsPackets && !hasPartialFrames || format == .matroska && codecName == "alac"
    lengths = isNeeded ? try PacketLengths(demuxer: demuxer, streamIndex: streamIndex) : nil
  }

  /// Whether packets are counted by their lengths.
  var usesLengths: Bool { timeline != nil }

  /// Whether a timestamp between the file's start and the last packet disagreed with the lengths.
  var hasIrregularTimestamps: Bool { timeline.map { !$0.hasAgreed } ?? false }

  /// Whether the lengths of all counted packets are known.
  var isLengthKnown: Bool { length != nil && !hasUnknownLengths }

  /// Records a packet that was read.
  ///
  /// - Parameter timeline: nil before the first frame was decoded.
  mutating func note(_ packet: Packet, in timeline: AudioTimeline?, grid: FrameGrid) {
    if timeline == nil { firstFramePacketCount += 1 }
    length = lengths?.frameCount(of: packet) ?? declaredLength(packet, in: timeline, grid: grid)
    if length == nil, timeline != nil, format == .frameTable || usesLengths { hasUnknownLengths = true }
  }

  /// Returns the length of a packet by the container.
  private func declaredLength(_ packet: Packet, in timeline: AudioTimeline?, grid: FrameGrid) -> Int64? {
    // The durations in AVI, and in the frame tables of other formats, are unreliable.
    guard format != .frameTable, let timeline, let duration = packet.duration, duration > 0 else { return nil }
    let length = timeline.frameCount(ofTicks: duration)
    guard usesLengths else { return length }
    return length.map { grid.frameCount(declared: $0, roundingFrames: timeline.roundingFrames) }
  }

  /// Records a decoded frame.
  mutating func noteFrame(end: Int64, frameCount: Int64) {
    if firstFrameEnd == nil { firstFrameEnd = end }
    // The header of the file states another sample rate than its packets.
    if format == .frameTable, (length ?? 0) < frameCount { hasUnknownLengths = true }
  }

  /// Counts packets by their lengths from the next rewind on.
  ///
  /// - Parameter stepFrames: the number of frames of every packet, if audio is trimmed at the start; nil if not.
  /// - Throws: FFmpeg's error if memory is exhausted.
  mutating func startCountingByLengths(
    _ timeline: AudioTimeline, demuxer: Demuxer, streamIndex: Int, stepFrames: Int64?
  ) throws(AVFailure) {
    if lengths == nil { lengths = try PacketLengths(demuxer: demuxer, streamIndex: streamIndex) }
    self.timeline = timeline
    self.timeline?.seekCorrection = nil
    self.timeline?.isIrregular = false
    // The timestamps of trimmed audio may be irregular, too, so the first decoded frame defines
    // where its packets begin.
    if let stepFrames, let firstFrameEnd { startFrame = firstFrameEnd - firstFramePacketCount * stepFrames }
  }

  /// Ends the counting of packets by their lengths.
  mutating func stopCountingByLengths() { timeline = nil }

  /// Restarts counting at the file's start. Returns the position of the first packet.
  ///
  /// - Parameter timestampFrame: the position of the first packet by its timestamp.
  mutating func restartAtFile(timestampFrame: Int64?) -> Int64? {
    restart(isIrregular: false)
    return usesLengths ? startFrame ?? timestampFrame : timestampFrame
  }

  /// Restarts counting at another position.
  ///
  /// - Parameter isIrregular: whether a timestamp before that position disagrees with the lengths.
  mutating func restart(isIrregular: Bool) {
    timeline?.isIrregular = isIrregular
    timeline?.restart()
  }

  /// Returns the position of a packet with the timestamp `ticks` and the expected position `countedFrame`.
  mutating func position(ticks: Int64?, countedFrame: Int64) -> Int64 {
    let length = length ?? 0
    if timeline?.expectedFrame != countedFrame {
      timeline?.restart(at: countedFrame, ticks: ticks, frameCount: length)
    }
    return timeline?.advance(ticks: ticks, frameCount: Int(clamping: length)).frame ?? countedFrame
  }
}
