import LibAV

/// How many frames packets decode to, and where they lie when their timestamps do not tell.
///
/// Takes in every packet once, in order, because the length of a packet may depend on those before it.
struct PacketCounting {
  private let format: ContainerFormat
  /// What packets say of their lengths, where that counts.
  private var lengths: PacketLengths?
  /// Places packets by their lengths and the rule of `AudioTimeline`, so that counting agrees with decoding; nil where timestamps
  /// are believed.
  private var timeline: AudioTimeline?
  /// Where the first packet begins by its length; nil where its timestamp tells.
  private var startFrame: Int64?
  /// Where the first decoded frame ends, and how many packets were read for it: the first ones may give nothing.
  private var firstFrameEnd: Int64?
  private var firstFramePacketCount: Int64 = 0
  /// Frames that the packet read last decodes to; nil where nothing but decoding it tells.
  private(set) var length: Int64? = 0
  /// A packet that is to be counted did not say its length, or decoded to more than it says.
  private(set) var hasUnknownLengths = false

  /// Errors: those of FFmpeg, for want of memory.
  init(format: ContainerFormat, demuxer: Demuxer, streamIndex: Int) throws(AVFailure) {
    self.format = format
    lengths = format.countsPackets ? try PacketLengths(demuxer: demuxer, streamIndex: streamIndex) : nil
  }

  /// Packets are counted by their lengths.
  var goesByLengths: Bool { timeline != nil }

  /// Whether a timestamp from the file's start to the last packet has not agreed with the lengths.
  var hasIrregularTimestamps: Bool { timeline.map { !$0.hasAgreed } ?? false }

  var isLengthKnown: Bool { length != nil && !hasUnknownLengths }

  /// Takes in the packet that was read.
  ///
  /// - Parameter timeline: nil before the first frame was decoded.
  mutating func note(_ packet: Packet, in timeline: AudioTimeline?, grid: FrameGrid) {
    if timeline == nil { firstFramePacketCount += 1 }
    length = lengths?.frameCount(of: packet) ?? toldLength(packet, in: timeline, grid: grid)
    if length == nil, timeline != nil, format == .frameTable || goesByLengths { hasUnknownLengths = true }
  }

  /// What the container says of a packet's length.
  private func toldLength(_ packet: Packet, in timeline: AudioTimeline?, grid: FrameGrid) -> Int64? {
    // What AVI and the tables of other formats say is not to be believed.
    guard format != .frameTable, let timeline, let duration = packet.duration, duration > 0 else { return nil }
    let length = timeline.frameCount(ofTicks: duration)
    guard goesByLengths else { return length }
    return length.map { grid.frameCount(told: $0, roundingFrames: timeline.roundingFrames) }
  }

  /// Takes in a decoded frame.
  mutating func noteFrame(end: Int64, frameCount: Int64) {
    if firstFrameEnd == nil { firstFrameEnd = end }
    // The header of the file says another sample rate than its packets.
    if format == .frameTable, (length ?? 0) < frameCount { hasUnknownLengths = true }
  }

  /// From the next rewind on packets are counted by their lengths.
  ///
  /// - Parameter stepFrames: frames of every packet, where audio is cut off at the start; nil where nothing is.
  /// Errors: those of FFmpeg, for want of memory.
  mutating func begin(_ timeline: AudioTimeline, demuxer: Demuxer, streamIndex: Int, stepFrames: Int64?)
    throws(AVFailure)
  {
    if lengths == nil { lengths = try PacketLengths(demuxer: demuxer, streamIndex: streamIndex) }
    self.timeline = timeline
    // Timestamps of what is cut off may be irregular, too: the first frame tells where its packets begin.
    if let stepFrames, let firstFrameEnd { startFrame = firstFrameEnd - firstFramePacketCount * stepFrames }
  }

  /// Where counting begins at the file's start, whose timestamp says `stamped`.
  mutating func restart(stamped: Int64?) -> Int64? {
    restart(isIrregular: false)
    return goesByLengths ? startFrame ?? stamped : stamped
  }

  /// Counting continues elsewhere.
  ///
  /// - Parameter isIrregular: whether a timestamp before that position does not agree with the lengths.
  mutating func restart(isIrregular: Bool) {
    timeline?.isIrregular = isIrregular
    timeline?.restart()
  }

  /// Where the packet lies that `countedFrame` says should come next, and whose timestamp is `ticks`.
  mutating func place(ticks: Int64?, countedFrame: Int64) -> Int64 {
    let length = length ?? 0
    if timeline?.expectedFrame != countedFrame {
      timeline?.restart(at: countedFrame, ticks: ticks, frameCount: length)
    }
    return timeline?.place(ticks: ticks, frameCount: Int(clamping: length)).frame ?? countedFrame
  }
}
