// The positions of packets. They are counted from the file's start, or come from timestamps where counting is
// impossible. The positions of frames follow from them in FramePositions.
import PlayheadLibAV

/// Determines the position of each packet of a track on the timeline, and gives the packet a matching timestamp.
///
/// Every packet must be passed to `note` once and in order.
struct PacketPositions {
  private let format: ContainerFormat
  private let codecName: String
  /// The number of frames that the codec declares for each packet; 0 if unknown.
  private let stepFrames: Int64
  private let edges: TrackEdges
  /// The byte position, timestamp and duration of the stream's first packet.
  private(set) var firstPacket: (byte: Int64?, ticks: Int64?, durationTicks: Int64?)?
  /// The position of the last packet that was read.
  private(set) var packetFrame: Int64?
  /// The end of the last packet that was read.
  private(set) var countedFrame: Int64?
  /// The end of the packet before that.
  private(set) var previousEndFrame: Int64?
  /// Whether `countedFrame` equals the count of a read from the file's start.
  private(set) var isCounted = true
  private(set) var hasReadPacket = false
  /// The position of the packet with which decoding began after the last seek; nil before that packet, or without a
  /// timestamp.
  private(set) var decodeStartFrame: Int64?
  /// The position of bytes after the last frame, in a stream without a container: garbage, or tags unknown to FFmpeg.
  private(set) var trailingBytesFrame: Int64?
  /// Whether timestamps disagree with the frame numbers in the packets, which define positions.
  private(set) var hasWrongTimestamps = false
  /// The lengths of packets, and their positions if timestamps do not define them.
  private(set) var counting: PacketCounting
  /// Corrects the timestamps of an Ogg Vorbis stream; nil for other streams.
  private(set) var vorbisTimes: VorbisPacketTimes?
  /// Finds packets that follow each other, regardless of their timestamps.
  private(set) var continuity: PacketContinuity
  /// How the last packet's position follows from the timestamps stored in the container.
  private(set) var storedTimestamps = PacketTimestamps()
  /// Records packet positions while packets are read in order; nil if positions are unknown or not needed.
  var index: PacketIndex? {
    didSet { if index !== oldValue { nextIndexedFrame = 0 } }
  }
  /// The position of the next packet to add to the index.
  private var nextIndexedFrame: Int64 = 0
  /// The position of the next packet by the index; set only right after a seek to a byte.
  private var entryFrame: Int64?
  /// Whether FFmpeg counts timestamps from the seek position, so that they are meaningless.
  private var isRecounting = false
  /// The FFmpeg timestamp that continues from the last packet.
  private var nextTicks: Int64?

  /// The maximum distance of a packet from its index entry: in Vorbis only the end of the first packet is exact.
  private static let maximumDisagreementFrames: Int64 = 4_096

  init(demuxer: Demuxer, stream: StreamInfo, format: ContainerFormat, edges: TrackEdges) throws(AVFailure) {
    (self.format, self.edges, codecName) = (format, edges, stream.codecName)
    stepFrames = Int64(stream.frameStepCount ?? 0)
    continuity = PacketContinuity(stream: stream, format: format)
    counting = try PacketCounting(format: format, demuxer: demuxer, streamIndex: stream.index)
    if format == .ogg, codecName == "vorbis" {
      vorbisTimes = VorbisPacketTimes(demuxer: demuxer, stream: stream, edges: edges)
    }
  }

  /// Whether packets state different sample rates.
  var hasOtherRates: Bool { continuity.hasOtherRates || vorbisTimes?.hasOtherRates ?? false }
  /// Whether any packet repeated the timestamp of the packet before it.
  var hasRepeatedTimestamps: Bool { continuity.hasFoundGroups && vorbisTimes == nil }
  /// Whether packets are counted by their lengths, because timestamps are irregular.
  var isCountedByLength: Bool { counting.usesLengths && isCounted }
  /// Whether the last packet has a position that no timestamp defines.
  var isPacketNumbered: Bool { isCountedByLength || continuity.numberedFrame != nil }

  /// Returns the position of the first frame of the stream's first packet; negative if priming is cut off. Nil until
  /// known.
  func startFrame(in timeline: AudioTimeline?) -> Int64? {
    guard let timeline, let firstPacket else { return nil }
    guard let ticks = firstPacket.ticks else { return 0 }
    return timeline.firstFrame(ofTicks: ticks)
  }

  // MARK: - Reading

  /// Determines the position of a packet that was read, and gives the packet a matching timestamp.
  ///
  /// - Parameters:
  ///   - timeline: nil before the first frame was decoded.
  ///   - isConverted: whether decoded audio has different sample rates.
  mutating func note(
    _ packet: Packet, in timeline: AudioTimeline?, grid: FrameGrid, isConverted: Bool
  ) throws(AVFailure) {
    previousEndFrame = countedFrame
    try vorbisTimes?.correct(packet)
    // FFmpeg trims the end by a number of frames, which is wrong after a change of the sample rate.
    if edges.hasWrongLength || format == .mp3 && (isConverted || hasOtherRates), hasReadPacket { packet.clearTrims() }
    if firstPacket == nil { firstPacket = (packet.bytePosition, packet.pts, packet.duration) }
    noteStoredTimestamp(packet, timeline, grid)
    let wasLengthKnown = counting.isLengthKnown
    continuity.note(packet)
    if continuity.isInGroup, vorbisTimes == nil { packet.clearTimestamps() }
    counting.note(packet, in: timeline, grid: grid)
    guard let timeline else { return }
    let position = determinePosition(of: packet, in: timeline, isPreviousLengthKnown: wasLengthKnown)
    packetFrame = position
    if !hasReadPacket {
      hasReadPacket = true
      decodeStartFrame = position
    }
    guard let position else { return }
    trailingBytesFrame = format.hasSyncWords && !packet.beginsWithSyncWord ? trailingBytesFrame ?? position : nil
    if isCounted { addToIndex(packet, at: position, timeline, isConverted: isConverted) }
    let (end, overflow) = position.addingReportingOverflow(counting.length ?? 0)
    countedFrame = overflow || end > Int64.max / 4 ? nil : end
  }

  private mutating func noteStoredTimestamp(_ packet: Packet, _ timeline: AudioTimeline?, _ grid: FrameGrid) {
    storedTimestamps.note(
      byte: packet.bytePosition, ticks: packet.pts,
      frameCount: { [codecName, stepFrames, hasReadPacket] in
        guard let declared = packet.duration.flatMap({ timeline?.frameCount(ofTicks: $0) }) else { return nil }
        let count = grid.frameCount(declared: declared, roundingFrames: timeline?.roundingFrames ?? 0)
        // Without the packet before it, FFmpeg does not know the audible length of a short Vorbis block;
        // a long block states it.
        return codecName == "vorbis" && !hasReadPacket && count <= 2 * stepFrames ? nil : count
      })
  }

  /// Adds a packet to the index, unless the last entry is too near.
  private mutating func addToIndex(_ packet: Packet, at position: Int64, _ timeline: AudioTimeline, isConverted: Bool) {
    guard let index, let startFrame = startFrame(in: timeline) else { return }
    let frame = position - startFrame
    if packet.isMarkedCorrupt { index.noteDamage(at: frame) }
    guard !isConverted, !hasOtherRates, let byte = packet.bytePosition, frame >= nextIndexedFrame else { return }
    index.add(PacketIndex.Entry(byte: byte, frame: frame))
    let tail = index.tail
    nextIndexedFrame = tail.last.frame + tail.spacingFrames
  }

  /// Returns the position of the packet, by counting or by its timestamp.
  ///
  /// A packet without a timestamp is at the counted position. So is a packet whose timestamp only continues from the
  /// previous packet. In raw streams FFmpeg adds lengths in rounded ticks, and its timestamps drift (44.1 kHz AC-3:
  /// 20 ms in 90 s).
  private mutating func determinePosition(
    of packet: Packet, in timeline: AudioTimeline, isPreviousLengthKnown: Bool
  ) -> Int64? {
    detectRecounting(packet, in: timeline)
    let expectedTicks = nextTicks
    nextTicks = packet.pts.flatMap { pts in
      let (end, overflow) = pts.addingReportingOverflow(packet.duration ?? 0)
      return overflow ? nil : end
    }
    if let frame = continuity.numberedFrame, let startFrame = startFrame(in: timeline) {
      let timestampFrame = packet.pts.flatMap { timeline.frame(ofTicks: $0) }
      if let timestampFrame, !timeline.agrees(timestampFrame, startFrame + frame) { hasWrongTimestamps = true }
      return setTimestamp(of: packet, at: startFrame + frame, timeline)
    }
    if isCounted, let countedFrame, counting.usesLengths {
      let position = counting.position(ticks: packet.pts, countedFrame: countedFrame)
      if counting.hasIrregularTimestamps {
        index?.noteIrregularTimestamp(at: position - (startFrame(in: timeline) ?? 0))
      }
      return setTimestamp(of: packet, at: position, timeline)
    }
    // Only the first packet of a block has a stored timestamp; the timestamps that FFmpeg derives for
    // the others prove nothing.
    if format == .matroska, !storedTimestamps.isStored, !isPreviousLengthKnown { packet.clearTimestamps() }
    let isCalculated = format.countsPackets && isPreviousLengthKnown && hasReadPacket
    let isContinuing =
      packet.pts.map { pts in
        isRecounting || isCalculated
          || !timeline.hasCoarseTicks && (expectedTicks.map { ($0 &- pts).magnitude <= 1 } ?? false)
      } ?? true
    if packet.pts == nil, !isPreviousLengthKnown { countedFrame = nil }
    if continuity.isInGroup, isCounted { return countedFrame }
    let timestampFrame = packet.pts.flatMap { timeline.frame(ofTicks: $0) }
    guard isCounted, let countedFrame else { return timestampFrame }
    guard isContinuing || ignoresGranule(timestampFrame, countedFrame, timeline) else { return timestampFrame }
    if isRecounting { packet.clearTrims() }
    return setTimestamp(of: packet, at: countedFrame, timeline)
  }

  /// Gives the packet the timestamp of its counted position; returns nil if there is no such timestamp.
  private func setTimestamp(of packet: Packet, at position: Int64, _ timeline: AudioTimeline) -> Int64? {
    guard let ticks = timeline.ticks(ofFrame: position, rounding: .nearest) else { return nil }
    packet.setTimestamps(ticks)
    return position
  }

  /// Determines at the first packet after a seek to a byte whether FFmpeg counts timestamps from there.
  ///
  /// FFmpeg does so for containers without stored timestamps. It would then trim the padding of the file's start and
  /// end at wrong positions.
  private mutating func detectRecounting(_ packet: Packet, in timeline: AudioTimeline) {
    guard let frame = entryFrame else { return }
    entryFrame = nil
    guard let pts = packet.pts, let found = timeline.frame(ofTicks: pts) else {
      isRecounting = packet.pts == nil
      return
    }
    isRecounting = abs(found - frame) > timeline.roundingFrames && (pts == 0 || pts == firstPacket?.ticks)
  }

  /// Whether the count defines the position of an Ogg packet, and not the granule position of its page.
  ///
  /// Granule positions do not decrease within a stream (RFC 3533, section 4): a position before the packets that were
  /// read is wrong. A position of Opus that agrees with the count does not change it, as in `AudioTimeline`. FFmpeg
  /// derives the timestamps of Speex packets from the page's length, so they may be earlier than the page before.
  private func ignoresGranule(_ timestampFrame: Int64?, _ countedFrame: Int64, _ timeline: AudioTimeline) -> Bool {
    guard format == .ogg, hasReadPacket, !edges.isChain, let timestampFrame else { return false }
    let agrees = codecName == "opus" && timeline.agrees(timestampFrame, countedFrame)
    let repeats = codecName == "speex" && timeline.repeatsAudio(timestampFrame, countedFrame)
    return agrees || repeats || timeline.isEarly(timestampFrame, countedFrame)
  }

  // MARK: - Decoded frames

  /// Records a decoded frame.
  mutating func noteFrame(end: Int64, frameCount: Int64) { counting.noteFrame(end: end, frameCount: frameCount) }

  /// Continues the count at the end of the first frame: the timestamp of the next packet may be that of a lost packet.
  mutating func continueCount(at frame: Int64) { countedFrame = frame }

  /// Moves the counted positions, because the timeline continues without a jump of the timestamps.
  mutating func shift(by difference: Int64) {
    for keyPath in [\PacketPositions.packetFrame, \.countedFrame, \.previousEndFrame] {
      guard let frame = self[keyPath: keyPath] else { continue }
      let (sum, overflow) = frame.addingReportingOverflow(difference)
      self[keyPath: keyPath] = overflow ? nil : sum
    }
  }

  // MARK: - Counting by lengths

  /// Counts packets by their lengths from the next rewind on, because the stream's timestamps are irregular.
  mutating func startCountingByLengths(
    _ timeline: AudioTimeline, demuxer: Demuxer, stream: StreamInfo, grid: FrameGrid
  ) throws(AVFailure) {
    let isPadded = !CodecTraits.isLossless(codecName: codecName) && grid.step > 0
    try counting.startCountingByLengths(
      timeline, demuxer: demuxer, streamIndex: stream.index, stepFrames: isPadded ? grid.step : nil)
    // The count so far is based on the timestamps.
    isCounted = false
  }

  /// Counts packets by their timestamps again, as a new reader does.
  mutating func stopCountingByLengths() { counting.stopCountingByLengths() }

  // MARK: - Repositioning

  /// Discards the last packet, because reading continues at another position. The count remains.
  mutating func restart() {
    continuity.restart()
    storedTimestamps = PacketTimestamps()
    (hasReadPacket, entryFrame, decodeStartFrame, trailingBytesFrame) = (false, nil, nil, nil)
  }

  /// Marks the reading position as unknown.
  mutating func discardCount() { (isCounted, isRecounting, nextTicks) = (false, false, nil) }

  /// Marks the count as incomplete, because packets may be missing.
  mutating func interruptCount() { isCounted = false }

  /// Continues at an unknown position, which timestamps define.
  mutating func restartAnywhere() {
    discardCount()
    vorbisTimes?.restartAnywhere()
  }

  /// Continues with the packet at an entry of the index.
  mutating func restart(atEntry frame: Int64, in timeline: AudioTimeline?) {
    (countedFrame, entryFrame, isCounted) = (frame, frame, true)
    let startFrame = startFrame(in: timeline) ?? 0
    counting.restart(isIrregular: index?.hasIrregularTimestamps(before: frame - startFrame) ?? false)
    if let ticks = timeline?.ticks(ofFrame: frame) { vorbisTimes?.restart(atPageAfter: ticks) }
  }

  /// Whether the first packet after a seek is that of the entry.
  func isAtEntry(_ packet: Packet, byte: Int64, frame: Int64) -> Bool {
    guard packet.bytePosition == byte, let found = decodeStartFrame else { return false }
    return abs(found - frame) <= Self.maximumDisagreementFrames && vorbisTimes?.isStartProven ?? true
  }

  /// Prepares for reopening the file. The position is unknown until `restartAtFile`.
  mutating func prepareForReopening() {
    countedFrame = nil
    discardCount()
    vorbisTimes?.restartAtFile()
  }

  /// Continues with the file's first packet.
  mutating func restartAtFile(_ timeline: AudioTimeline?) {
    countedFrame = counting.restartAtFile(timestampFrame: startFrame(in: timeline))
    isCounted = true
  }

  /// Begins decoding with the last packet, after packets were skipped.
  mutating func beginDecoding() { decodeStartFrame = packetFrame }
}
