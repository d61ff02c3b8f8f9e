// Bad packets are dropped and counted here. All work that a hostile file can prolong is bounded or can be cancelled.
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

  let frame: Frame
  /// The position of the first sample in `frame`.
  private(set) var frameStart: Int64 = 0
  /// The timeline; set once the first frame, and with it the origin, is known.
  private(set) var timeline: AudioTimeline?
  /// The positions of packets that are delivered without decoding.
  var stored = StoredPacketState()
  /// The faults and titles found since they were last dequeued.
  var reports = PacketReports()
  /// The padding at the track's edges, as stated by packets.
  private(set) var trims = PacketTrims()
  /// Whether packets are decoded only as preroll. Their failures are not reported.
  var isPrerolling = false
  /// Whether the position since the last seek comes from a timestamp or from counting, not from a guess.
  private(set) var isPositionProven = true
  /// Whether frames were dropped after the last seek, because their position was unknown.
  private(set) var hasDroppedFramesAfterSeek = false
  /// The position of the packet with which decoding began after the last seek; nil before that packet, or without a
  /// timestamp.
  private(set) var decodeStartFrame: Int64?
  /// The byte position, timestamp and duration of the stream's first packet.
  private(set) var firstPacket: (byte: Int64?, ticks: Int64?, durationTicks: Int64?)?
  /// The sizes of the decoded frames, for timestamps that do not identify a frame.
  private(set) var grid: FrameGrid
  /// The time spent reading packets, in ns.
  private(set) var demuxNanoseconds: Int64 = 0
  /// Records packet positions while packets are read in order; nil if positions are unknown or not needed.
  var index: PacketIndex? {
    didSet { if index !== oldValue { nextIndexedFrame = 0 } }
  }

  let packets: PacketFrameReader
  /// Converts audio after a change of the sample rate.
  let rates: SampleRateAdapter
  /// Whether timestamps disagree with the frame count, so that they cannot prove the position after a seek.
  var hasIrregularTimestamps = false
  /// The timestamp up to which `checkTimestamps` found one count; nil before the first check.
  var checkedTicks: Int64?
  /// Whether timestamps disagree with the frame numbers in the packets, which define positions.
  private(set) var hasWrongTimestamps = false
  /// Whether the first timestamp since the last seek is rounded to more than a frame and the exact position is unknown.
  private(set) var isPositionRounded = false
  /// Whether nothing has been decoded since the decoder was flushed.
  private var isDecoderFlushed = false
  let presentationStart: (ticks: Int64, timeBase: TimeBase)?
  let format: ContainerFormat
  /// The lengths of packets, and their positions if timestamps do not define them.
  private(set) var counting: PacketCounting
  let edges: TrackEdges
  /// Whether packets after the last frame did not decode, and the end of these packets if known.
  var isAfterLoss = false
  private var lostEnd: Int64?
  /// The position of bytes after the last frame, in a stream without a container: garbage, or tags unknown to FFmpeg.
  private(set) var trailingBytesFrame: Int64?
  /// The number of packets that did not decode before the first one that did.
  var lostAtStartCount: Int64 = 0
  private var lastFrameCount: Int64 = 0
  /// The position of the last packet that was read.
  private(set) var packetFrame: Int64?
  /// The end of the last packet that was read.
  private(set) var countedFrame: Int64?
  /// The end of the packet before that.
  private(set) var previousEndFrame: Int64?
  /// Corrects the timestamps of an Ogg Vorbis stream; nil for other streams.
  private(set) var vorbisTimes: VorbisPacketTimes?
  /// The inaudible frames before time 0: granule positions count audio from 0 (Vorbis I, appendix A.2).
  var negativeStartFrames: Int64 = 0
  /// The number of frames by which the first timestamp after the priming is later than the end of the priming.
  var lateStartFrames: Int64 = 0
  /// Finds packets that follow each other, regardless of their timestamps.
  private(set) var continuity: PacketContinuity
  /// How the last packet's position follows from the timestamps stored in the container.
  private var storedTimestamps = PacketTimestamps()
  /// Whether the timestamps of the packets after the last seek define the position.
  private var timestampsDefineSeekPosition = false
  /// Whether all packets since the file's start have been decoded.
  private(set) var isDecodedFromStart = true
  /// The position of the stream's first frame; nil until known.
  private var firstFrameStart: Int64?
  /// Whether a new decoder is at the stream's first packet, so that the next frame is the first one.
  private var isAtFirstPacket = true
  /// The position of the next packet by the index; set only right after a seek to a byte.
  private var entryFrame: Int64?
  /// Whether FFmpeg counts timestamps from the seek position, so that they are meaningless.
  private var isRecounting = false
  /// The FFmpeg timestamp that continues from the last packet.
  private var nextTicks: Int64?
  /// Whether `countedFrame` equals the count of a read from the file's start.
  private(set) var isCounted = true
  private(set) var hasReadPacket = false
  /// The position of the next packet to add to the index.
  var nextIndexedFrame: Int64 = 0

  /// The maximum distance of a packet from its index entry: in Vorbis only the end of the first packet is exact.
  private static let maximumDisagreementFrames: Int64 = 4_096

  init(demuxer: Demuxer, streamIndex: Int, format: ContainerFormat, edges: TrackEdges) throws(AVFailure) {
    self.edges = edges
    packets = try PacketFrameReader(demuxer: demuxer, streamIndex: streamIndex)
    let stream = packets.stream
    frame = try Frame()
    rates = try SampleRateAdapter()
    grid = FrameGrid(declaredStep: stream.frameStepCount)
    continuity = PacketContinuity(stream: stream, format: format)
    self.format = format
    counting = try PacketCounting(format: format, demuxer: demuxer, streamIndex: streamIndex)
    if format == .ogg, stream.codecName == "vorbis" {
      vorbisTimes = VorbisPacketTimes(demuxer: demuxer, stream: stream, edges: edges)
    }
    let others = demuxer.ignoresEditLists ? [] : demuxer.streams
    presentationStart = Self.firstVideoStart(of: others)
  }

  var stream: StreamInfo { packets.stream }
  /// The packet that was read last.
  var packet: Packet { packets.packet }
  var demuxer: Demuxer { packets.demuxer }

  /// The end of the silence that replaces undecodable packets at the end of the track; nil if there are none.
  var silenceEnd: Int64? { trailingBytesFrame == nil ? lostEnd.map { $0 - trims.endFrames } : nil }

  // MARK: - Reading

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

  private func readPacketToDecode() throws(AVFailure) -> PacketFrameReader.PacketResult {
    let result = try readPacket()
    if result == .packet { try renewDecoderAtStart() }
    return result
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

  /// Replaces a flushed decoder at the stream's first packet.
  ///
  /// For some codecs a flushed decoder differs from a new one: AAC keeps overlapping samples, and Vorbis outputs audio
  /// for its first packet. After a preroll the difference is irrelevant. The decoder is kept if a new one would cut off
  /// padding that the header declares: the difference is inaudible there.
  private func renewDecoderAtStart() throws(AVFailure) {
    guard isDecoderFlushed else { return }
    isDecoderFlushed = false
    guard !CodecTraits.isLossless(codecName: stream.codecName), stream.initialPaddingFrames == nil,
      let decodeStartFrame, let startFrame, let timeline,
      decodeStartFrame <= startFrame + timeline.roundingFrames
    else { return }
    try packets.renewDecoder()
    isAtFirstPacket = true
  }

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
        isCounted = false
        return .cancelled
      case .endOfFile, .otherPacket, .stopped: return result
      }
    }
  }

  private func notePacket() throws(AVFailure) {
    if packet.isMarkedCorrupt { reports.noteDamage() }
    stored.readCount += 1
    previousEndFrame = countedFrame
    try vorbisTimes?.correct(packet)
    // FFmpeg trims the end by a number of frames, which is wrong after a change of the sample rate.
    if edges.hasWrongLength || format == .mp3 && hasOtherRates, hasReadPacket { packet.clearTrims() }
    positionPacket()
    if stored.keepsPackets { try stored.keep(packet) }
    recordTitles()
    if trailingBytesFrame == nil, trims.note(packet.trimmedFrames) {
      // The trimmed frames were not at the end: the file's header is wrong, or files were joined.
      _ = timeline?.recordMissingPacket(frameCount: 0)
      isAfterLoss = true
    }
  }

  /// Determines the position of the packet that was read, and gives the packet a matching timestamp.
  private func positionPacket() {
    if firstPacket == nil { firstPacket = (packet.bytePosition, packet.pts, packet.duration) }
    storedTimestamps.note(
      byte: packet.bytePosition, ticks: packet.pts,
      frameCount: { [packet, stream, grid, timeline, hasReadPacket] in
        guard let declared = packet.duration.flatMap({ timeline?.frameCount(ofTicks: $0) }) else { return nil }
        let count = grid.frameCount(declared: declared, roundingFrames: timeline?.roundingFrames ?? 0)
        // Without the packet before it, FFmpeg does not know the audible length of a short Vorbis block;
        // a long block states it.
        let isGuess = stream.codecName == "vorbis" && !hasReadPacket && count <= 2 * Int64(stream.frameStepCount ?? 0)
        return isGuess ? nil : count
      })
    let wasLengthKnown = counting.isLengthKnown
    continuity.note(packet)
    if continuity.isInGroup, vorbisTimes == nil { packet.clearTimestamps() }
    counting.note(packet, in: timeline, grid: grid)
    guard let timeline else { return }
    let position = determinePosition(in: timeline, isPreviousLengthKnown: wasLengthKnown)
    packetFrame = position
    if !hasReadPacket {
      hasReadPacket = true
      decodeStartFrame = position
    }
    guard let position else { return }
    trailingBytesFrame = format.hasSyncWords && !packet.beginsWithSyncWord ? trailingBytesFrame ?? position : nil
    if isCounted, packet.isMarkedCorrupt, let startFrame { index?.noteDamage(at: position - startFrame) }
    if isCounted, !hasOtherRates, let index, let byte = packet.bytePosition, let startFrame {
      addToIndex(position - startFrame, byte, index)
    }
    let (end, overflow) = position.addingReportingOverflow(counting.length ?? 0)
    countedFrame = overflow || end > Int64.max / 4 ? nil : end
  }

  /// Returns the position of the packet, by counting or by its timestamp.
  ///
  /// A packet without a timestamp is at the counted position. So is a packet whose timestamp only continues from the
  /// previous packet. In raw streams FFmpeg adds lengths in rounded ticks, and its timestamps drift (44.1 kHz AC-3:
  /// 20 ms in 90 s).
  private func determinePosition(in timeline: AudioTimeline, isPreviousLengthKnown: Bool) -> Int64? {
    detectRecounting(in: timeline)
    let expectedTicks = nextTicks
    nextTicks = packet.pts.flatMap { pts in
      let (end, overflow) = pts.addingReportingOverflow(packet.duration ?? 0)
      return overflow ? nil : end
    }
    if let frame = continuity.numberedFrame, let startFrame {
      let timestampFrame = packet.pts.flatMap { timeline.frame(ofTicks: $0) }
      if let timestampFrame, !timeline.agrees(timestampFrame, startFrame + frame) { hasWrongTimestamps = true }
      return setPacketTimestamp(at: startFrame + frame, timeline)
    }
    if isCounted, let countedFrame, counting.usesLengths {
      let position = counting.position(ticks: packet.pts, countedFrame: countedFrame)
      if counting.hasIrregularTimestamps { index?.noteIrregularTimestamp(at: position - (startFrame ?? 0)) }
      return setPacketTimestamp(at: position, timeline)
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
    return setPacketTimestamp(at: countedFrame, timeline)
  }

  /// Gives the packet the timestamp of its counted position; returns nil if there is no such timestamp.
  private func setPacketTimestamp(at position: Int64, _ timeline: AudioTimeline) -> Int64? {
    guard let ticks = timeline.ticks(ofFrame: position, rounding: .nearest) else { return nil }
    packet.setTimestamps(ticks)
    return position
  }

  /// Counts packets by their lengths from the next rewind on, because the stream's timestamps are irregular.
  func startCountingByLengths() throws(AVFailure) {
    guard let timeline else { return }
    let isPadded = !CodecTraits.isLossless(codecName: stream.codecName) && grid.step > 0
    try counting.startCountingByLengths(
      timeline, demuxer: demuxer, streamIndex: stream.index, stepFrames: isPadded ? grid.step : nil)
    // The count so far is based on the timestamps.
    isCounted = false
  }

  /// Counts packets by their timestamps again, as a new reader does.
  func stopCountingByLengths() { counting.stopCountingByLengths() }

  /// Determines at the first packet after a seek to a byte whether FFmpeg counts timestamps from there.
  ///
  /// FFmpeg does so for containers without stored timestamps. It would then trim the padding of the file's start and
  /// end at wrong positions.
  private func detectRecounting(in timeline: AudioTimeline) {
    guard let frame = entryFrame else { return }
    entryFrame = nil
    guard let pts = packet.pts, let found = timeline.frame(ofTicks: pts) else {
      isRecounting = packet.pts == nil
      return
    }
    isRecounting = abs(found - frame) > timeline.roundingFrames && (pts == 0 || pts == firstPacket?.ticks)
  }

  /// Records that the last packet did not decode; silence replaces it.
  private func recordUndecodable(_ failure: AVFailure) {
    isAfterLoss = true
    lostEnd = timeline?.recordMissingPacket(frameCount: packetFrameCount) ?? packetEndFrame
    if timeline == nil { lostAtStartCount += 1 }
    reports.noteDamage()
    reports.note(failure, at: isPrerolling ? nil : timeline?.expectedFrame ?? 0)
  }

  /// The length of the packet; that of the last frame if the timestamps are too coarse to distinguish the two.
  private var packetFrameCount: Int64? {
    guard let duration = packet.duration, let rate = stream.sampleRateHz,
      let frameBase = TimeBase(sampleRateHz: rate),
      let declared = frameBase.ticks(from: duration, of: stream.timeBase, rounding: .nearest),
      let tick = frameBase.ticks(from: 1, of: stream.timeBase, rounding: .up)
    else { return lastFrameCount > 0 ? lastFrameCount : nil }
    return abs(declared - lastFrameCount) <= tick ? lastFrameCount : declared
  }

  /// Determines the position of the decoded frame; returns false if it is not yet known.
  private func positionFrame() -> Bool {
    if timeline == nil { timeline = makeTimeline() }
    if timeline?.expectedFrame == nil {
      isPositionProven = isCounted || frame.pts != nil
      guard resolveRounding() else { return false }
    }
    defer {
      isAtFirstPacket = false
      if firstFrameStart == nil { firstFrameStart = frameStart }
      counting.noteFrame(end: frameStart + lastFrameCount, frameCount: lastFrameCount)
    }
    let isAfterLoss = isAfterLoss
    self.isAfterLoss = false
    timeline?.seekCorrection = timestampsDefineSeekPosition && isPrerolling ? format.seekCorrection : nil
    // After a seek the first packet may be any one of its group, so timestamps prove no position.
    if continuity.hasGroups, vorbisTimes == nil { timeline?.isIrregular = true }
    lostEnd = nil
    let expected = timeline?.expectedFrame
    let timestampFrame = frame.pts.flatMap { timeline?.frame(ofTicks: $0) }
    lastFrameCount = Int64(frame.frameCount)
    let exact = exactPosition(timestampFrame: timestampFrame, expected: expected)
    let hasRegularGrid = hasRegularGrid
    timeline?.hasRegularGrid = hasRegularGrid
    guard let result = timeline?.advance(timestampFrame: timestampFrame, exact: exact, frameCount: frame.frameCount)
    else { return true }
    frameStart = result.frame
    // The timestamp of the packet after this one may be that of a lost packet before it.
    if firstFrameStart == nil, lostAtStartCount > 0, frame.pts == nil { countedFrame = frameStart + lastFrameCount }
    if result.step == .discontinuity, let timestampFrame { shiftPositions(by: result.frame - timestampFrame) }
    if let timeline, isCounted, !hasIrregularTimestamps {
      hasIrregularTimestamps = !timeline.hasAgreed
    }
    if isCounted, !hasOtherRates {
      let isStored = storedTimestamps.isStored && frame.pts == packet.pts
      grid.observe(start: frameStart, timestampFrame: isStored ? timestampFrame : nil, frameCount: frame.frameCount)
    }
    if !isAfterLoss { recordJump(result.step, to: result.frame, from: expected) }
    return true
  }

  /// Moves the counted positions, because the timeline continues without a jump of the timestamps. In Matroska, seeks
  /// find packets by timestamps, which then do not define positions.
  private func shiftPositions(by difference: Int64) {
    if format == .matroska { hasIrregularTimestamps = true }
    for keyPath in [\FrameReader.packetFrame, \.countedFrame, \.previousEndFrame] {
      guard let frame = self[keyPath: keyPath] else { continue }
      let (sum, overflow) = frame.addingReportingOverflow(difference)
      self[keyPath: keyPath] = overflow ? nil : sum
    }
  }

  /// Resolves the position of the first frame after a seek.
  ///
  /// A timestamp that is rounded to more than a frame is moved to the only position that the frame sizes allow. A
  /// constant lateness of all timestamps is subtracted.
  ///
  /// - Returns: false if FFmpeg derived the timestamp from guessed lengths. The next timestamp stored in the container
  ///   then decides.
  private func resolveRounding() -> Bool {
    isPositionRounded = false
    if isCountedByLength || continuity.numberedFrame != nil, let packetFrame, frame.pts == packet.pts {
      timeline?.restart(at: packetFrame)
      return true
    }
    if isAtFirstPacket, lateStartFrames > 0 || frame.pts == nil, let firstFrameStart {
      timeline?.restart(at: firstFrameStart)
      return true
    }
    // Plain PCM can begin at any sample.
    let isOnGrid = grid.isLatenessKnown && !isCounted && !stream.codecName.hasPrefix("pcm_")
    guard let timeline, timeline.hasRoundedTicks || isOnGrid, let pts = frame.pts, let firstPacket else { return true }
    if isAtFirstPacket {
      if let firstFrameStart { self.timeline?.restart(at: firstFrameStart) }
      return true
    }
    let isOfLastPacket = pts == packet.pts
    guard let since = isOfLastPacket ? storedTimestamps.framesSince : 0 else {
      hasDroppedFramesAfterSeek = true
      return false
    }
    guard let ticks = isOfLastPacket ? storedTimestamps.ticks : pts,
      let timestampFrame = timeline.frame(ofTicks: ticks)
    else { return true }
    guard timeline.hasCoarseTicks || !isCounted && ticks != firstPacket.ticks else { return true }
    // A frame whose start is trimmed does not begin at a multiple of the grid's step.
    let isTrimmed = !timeline.hasCoarseTicks && Int64(frame.frameCount) < grid.step
    let exact =
      isTrimmed
      ? timestampFrame - (grid.steadyLateness ?? 0)
      : grid.position(of: timestampFrame, roundingFrames: timeline.roundingFrames)
    isPositionRounded = timeline.hasCoarseTicks && exact == nil
    if let exact { self.timeline?.restart(at: exact + since) }
    return true
  }

  // MARK: - Seeking

  /// Seeks with the container's own seek; the frames that follow define the position.
  func seekByTimestamp(toFrame target: Int64) throws(AVFailure) {
    if packets.isClosed { try rewind() } else { restart() }
    discardCount()
    vorbisTimes?.restartAnywhere()
    timestampsDefineSeekPosition = format.timestampSource == .container
    guard let ticks = timeline?.ticks(ofFrame: target) else { return }
    try packets.seek(toTicks: ticks)
  }

  /// Seeks to the byte at which the packet of `frame` begins.
  ///
  /// - Returns: false if the demuxer begins elsewhere or reports another position; the position is then unknown.
  /// - Throws: also `cancelled`.
  func seek(toByte byte: Int64, frame: Int64) throws(AVFailure) -> Bool {
    if packets.isClosed { try rewind() } else { restart() }
    discardCount()
    do throws(AVFailure) { try packets.seek(toByte: byte) } catch {
      if error.kind == .cancelled { throw error }
      return false
    }
    (countedFrame, entryFrame, isCounted) = (frame, frame, true)
    counting.restart(isIrregular: index?.hasIrregularTimestamps(before: frame - (startFrame ?? 0)) ?? false)
    timestampsDefineSeekPosition = format == .programStream
    if let ticks = timeline?.ticks(ofFrame: frame) { vorbisTimes?.restart(atPageAfter: ticks) }
    let result = try readPacket()
    if result == .cancelled { throw AVFailure(cancelledIn: "av_read_frame") }
    guard result == .packet, packet.bytePosition == byte, let found = decodeStartFrame,
      abs(found - frame) <= Self.maximumDisagreementFrames, vorbisTimes?.isStartProven ?? true
    else {
      isCounted = false
      return false
    }
    packets.returnPacket()
    return true
  }

  /// Reads without decoding up to the first packet that ends after `target`, from here or from the file's start.
  ///
  /// - Returns: false if cancelled.
  func skip(toFrame target: Int64) throws(AVFailure) -> Bool {
    if canSkip(toFrame: target) {
      // The count continues from the last seek.
      let previousValue = timestampsDefineSeekPosition
      if !packets.hasPacket { restart() }
      timestampsDefineSeekPosition = previousValue
    } else {
      try rewind()
    }
    while true {
      let before = packets.hasPacket ? packetFrame : countedFrame
      let result = try readPacket()
      guard result == .packet else { return result == .endOfFile }
      isDecodedFromStart = false
      if vorbisTimes?.isAtHeader ?? false {
        // The decoder needs the headers of each stream of a chained file.
        try packets.decodeHeaders(using: frame)
        continue
      }
      guard packet.pts != nil, let end = countedFrame, end <= target else {
        if packet.pts == nil { timeline?.restart(at: before) }
        packets.returnPacket()
        decodeStartFrame = packetFrame
        return true
      }
      isAtFirstPacket = false
    }
  }

  /// Reopens the file and restarts at its first packet.
  func rewind() throws(AVFailure) {
    restart()
    countedFrame = nil
    discardCount()
    vorbisTimes?.restartAtFile()
    try packets.reopen()
    isDecoderFlushed = false
    isAtFirstPacket = true
    countedFrame = counting.restartAtFile(timestampFrame: startFrame)
    isCounted = true
    isDecodedFromStart = true
    stored.restart(atStart: true)
  }

  /// Marks the reading position as unknown.
  private func discardCount() {
    isCounted = false
    isRecounting = false
    nextTicks = nil
  }

  private func restart() {
    isDecodedFromStart = false
    timestampsDefineSeekPosition = false
    packets.restart()
    rates.restart()
    continuity.restart()
    isDecoderFlushed = true
    timeline?.isIrregular = false
    timeline?.restart()
    frame.clear()
    grid.interrupt()
    hasReadPacket = false
    storedTimestamps = PacketTimestamps()
    isAtFirstPacket = false
    hasDroppedFramesAfterSeek = false
    entryFrame = nil
    decodeStartFrame = nil
    isAfterLoss = false
    lostEnd = nil
    trailingBytesFrame = nil
    trims.restart()
    reports.restart()
    stored.restart(atStart: false)
  }
}
