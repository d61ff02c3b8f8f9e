// Decodes the audio of a track and determines positions: PacketFrameReader decodes, PacketPositions and FramePositions
// determine positions. All work that a hostile file can prolong is bounded or can be cancelled.
import PlayheadLibAV
import PlayheadMediaCore

/// Reads and decodes the frames of one stream and determines their positions.
///
/// Threading: one thread at a time.
final class FrameReader {
  enum Result {
    /// `frame` holds samples; `frameStart` is the position of the first one.
    case frame
    case endOfTrack
    case cancelled
  }

  let format: ContainerFormat
  let edges: TrackEdges
  let packets: PacketFrameReader
  let frame: Frame
  /// Converts audio after a change of the sample rate.
  let rates: SampleRateAdapter
  /// The positions of packets, and of decoded frames.
  var packetPositions: PacketPositions
  var framePositions: FramePositions
  /// The positions of packets that are delivered without decoding.
  var stored = StoredPacketState()
  /// The faults and titles found since they were last dequeued.
  var reports = PacketReports()
  /// The padding at the track's edges, as stated by packets.
  var trims = PacketTrims()
  /// The timestamp up to which `checkTimestamps` found one count; nil before the first check.
  var checkedTicks: Int64?
  /// Whether all packets since the file's start have been decoded.
  var isDecodedFromStart = true
  /// Whether nothing has been decoded since the decoder was flushed.
  var isDecoderFlushed = false
  /// The time spent reading packets, in ns.
  private(set) var demuxNanoseconds: Int64 = 0

  init(demuxer: Demuxer, streamIndex: Int, format: ContainerFormat, edges: TrackEdges) throws(AVFailure) {
    (self.format, self.edges) = (format, edges)
    packets = try PacketFrameReader(demuxer: demuxer, streamIndex: streamIndex)
    let stream = packets.stream
    frame = try Frame()
    rates = try SampleRateAdapter()
    packetPositions = try PacketPositions(demuxer: demuxer, stream: stream, format: format, edges: edges)
    let others = demuxer.ignoresEditLists ? [] : demuxer.streams
    framePositions = FramePositions(stream: stream, format: format, edges: edges, others: others)
  }

  var stream: StreamInfo { packets.stream }
  var demuxer: Demuxer { packets.demuxer }
  /// The packet that was read last.
  var packet: Packet { packets.packet }
  /// The position of the first sample in `frame`.
  var frameStart: Int64 { framePositions.start }
  var timeline: AudioTimeline? { framePositions.timeline }
  var grid: FrameGrid { framePositions.grid }
  var counting: PacketCounting { packetPositions.counting }
  /// The position of the first frame of the stream's first packet; negative if priming is cut off. Nil until known.
  var startFrame: Int64? { packetPositions.startFrame(in: timeline) }

  /// The end of the silence that replaces undecodable packets at the end of the track; nil if there are none.
  var silenceEnd: Int64? {
    packetPositions.trailingBytesFrame == nil ? framePositions.lostEnd.map { $0 - trims.endFrames } : nil
  }

  /// Whether the sample rate is known to change within the stream. Positions after the change depend on all audio
  /// before them.
  var hasOtherRates: Bool { rates.hasOtherRates || packetPositions.hasOtherRates }

  /// Whether timestamps distinguish neighbouring frames, so that packet durations can be summed.
  var hasExactTimestamps: Bool { timeline.map { !$0.hasCoarseTicks } ?? false }

  // MARK: - Decoding

  /// Decodes the next frame into `frame`. Blocks.
  func next() throws(AVFailure) -> Result {
    while true {
      if try nextConverted() {
        guard positionFrame() else { continue }
        return .frame
      }
      switch try packets.next(into: frame, reading: readPacketToDecode) {
      case .frame:
        // The AC-3 decoder conceals damage with data of earlier frames, which a seek may not have decoded.
        if frame.isDamaged { reports.noteDamage() }
        guard frame.frameCount > 0, let layout = frame.layout, !rates.accept(frame, layout), positionFrame() else {
          continue
        }
        return .frame
      case .skipped(let failure): recordUndecodable(failure)
      case .end:
        if rates.finish() { continue }
        return .endOfTrack
      case .cancelled, .stopped: return .cancelled
      }
    }
  }

  /// Moves the next audio that `rates` has converted into `frame`. Returns false if there is none.
  private func nextConverted() throws(AVFailure) -> Bool {
    do throws(AVFailure) {
      guard try rates.next(into: frame) else { return false }
    } catch {
      guard error.kind == .invalidData else { throw error }
      recordUndecodable(error)
      return false
    }
    // The timestamps of an Ogg stream with another rate have other ticks.
    if format == .ogg { frame.clearTimestamp() }
    return true
  }

  /// Determines the position of the decoded frame; returns false if it is not yet known.
  private func positionFrame() -> Bool {
    let outcome = framePositions.note(
      frame, of: packet, &packetPositions, trims: trims, isConverted: rates.hasOtherRates)
    guard case .known(let step, let expected) = outcome else { return false }
    recordJump(step, to: frameStart, from: expected)
    return true
  }

  private func readPacketToDecode() throws(AVFailure) -> PacketFrameReader.PacketResult {
    let result = try readPacket()
    if result == .packet { try renewDecoderAtStart() }
    return result
  }

  /// Replaces a flushed decoder at the stream's first packet.
  ///
  /// For some codecs a flushed decoder differs from a new one: AAC keeps overlapping samples, and Vorbis outputs audio
  /// for its first packet. After a preroll the difference is irrelevant. The decoder is kept if a new one would cut off
  /// padding that the header declares: the difference is inaudible there.
  private func renewDecoderAtStart() throws(AVFailure) {
    guard isDecoderFlushed else { return }
    isDecoderFlushed = false
    guard !CodecTraits.isLossless(codecName: stream.codecName), stream.initialPaddingFrames == nil,
      let decodeStartFrame = packetPositions.decodeStartFrame, let startFrame, let timeline,
      decodeStartFrame <= startFrame + timeline.roundingFrames
    else { return }
    try packets.renewDecoder()
    framePositions.setAtFirstPacket(true)
  }

  // MARK: - Packets

  /// Reads the next packet of the stream, and determines its position.
  func readPacket() throws(AVFailure) -> PacketFrameReader.PacketResult {
    if packets.hasPacket { return try packets.readPacket() }
    let startNanoseconds = MonotonicClock.nanoseconds
    defer { demuxNanoseconds += MonotonicClock.nanoseconds - startNanoseconds }
    while true {
      let result = try packets.readPacket()
      switch result {
      case .skipped(let failure): recordUndecodable(failure)
      case .packet:
        try notePacket()
        return .packet
      case .cancelled:
        packetPositions.interruptCount()
        return .cancelled
      case .endOfFile, .otherPacket, .stopped: return result
      }
    }
  }

  private func notePacket() throws(AVFailure) {
    if packet.isMarkedCorrupt { reports.noteDamage() }
    stored.readCount += 1
    try packetPositions.note(
      packet, in: framePositions.timeline, grid: framePositions.grid, isConverted: rates.hasOtherRates)
    if stored.keepsPackets { try stored.keep(packet) }
    recordTitles()
    if packetPositions.trailingBytesFrame == nil, trims.note(packet.trimmedFrames) {
      framePositions.noteMissingFrames()
    }
  }

  /// Reports stream titles. A title applies from the first packet that begins at or after the title's byte.
  private func recordTitles() {
    guard let source = demuxer.source.byteSource, let byte = packet.bytePosition,
      let position = packetPositions.packetFrame ?? packetPositions.countedFrame
    else { return }
    for title in source.popTitles(before: byte + 1) { reports.note(title, at: position) }
  }

  // MARK: - Faults

  /// Records that the last packet did not decode; silence replaces it.
  private func recordUndecodable(_ failure: AVFailure) {
    framePositions.noteLoss(of: packet)
    reports.noteDamage()
    reports.note(failure, at: framePositions.isPrerolling ? nil : timeline?.expectedFrame ?? 0)
  }

  /// Reports that a frame, or a packet delivered without decoding, is not at the expected position.
  func recordJump(_ step: AudioTimeline.Step, to frame: Int64, from expected: Int64?) {
    guard step != .contiguous else { return }
    if framePositions.isPrerolling {
      return recordJumpBeforePosition(step, missingFrameCount: frame - (expected ?? frame))
    }
    // In MP4 the jump may be an edit. Then the previous packet does not end at the new position.
    if format.hasMovieTimeline, step == .gap, packetPositions.previousEndFrame != frame { return }
    reports.note(step, at: expected ?? frame)
  }

  /// Records a jump of the timestamps between the packet at which decoding began and the position of a seek.
  ///
  /// If ticks are not whole frames, the position then depends on another timestamp than in a read from the start. In a
  /// program stream, the first timestamp that FFmpeg reports after a seek often belongs to another packet.
  ///
  /// - Parameter missingFrameCount: the length of a gap in frames.
  private func recordJumpBeforePosition(_ step: AudioTimeline.Step, missingFrameCount: Int64) {
    if step == .gap { reports.recordGap(frameCount: missingFrameCount) }
    guard format != .programStream, step == .discontinuity || timeline?.hasRoundedTicks ?? false else { return }
    reports.noteDamage()
  }
}
