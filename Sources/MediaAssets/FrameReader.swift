// Demuxer and decoder of one sound stream, as one source of decoded frames that know their place. Bad packets are
// dropped and counted here; everything that a hostile file can make long is bounded or asks for cancellation.
import LibAV
import MediaCore

/// Reads, decodes and places the frames of one stream.
///
/// Threading: one thread at a time.
final class FrameReader {
  enum Result {
    /// `frame` holds samples; the first one's place is `frameStart`.
    case frame
    case endOfTrack
    case cancelled
  }

  let stream: StreamInfo
  let frame: Frame
  /// Where the samples in `frame` begin.
  private(set) var frameStart: Int64 = 0
  /// Set once the first frame, and so the timeline's origin, is known.
  private(set) var timeline: AudioTimeline?
  /// Places of packets that are handed over as they are.
  var stored = StoredPlacing()
  /// What was found besides frames since it was last taken.
  var reports = PacketReports()
  /// What packets told of the padding at the track's edges.
  private(set) var trims = PacketTrims()
  /// Packets are decoded only to warm up: their failures are not reported.
  var isWarmingUp = false
  /// The frames' place since the last seek comes from a timestamp or from counting, not from a guess.
  private(set) var isPlaceProven = true
  /// Frames were dropped after the last seek, for nothing told their place.
  private(set) var isPlaceDelayed = false
  /// The place of the packet that decoding began with after the last seek; nil before, or when it has no timestamp.
  private(set) var firstPacketFrame: Int64?
  /// The stream's first packet.
  private(set) var start: (byte: Int64?, ticks: Int64?, durationTicks: Int64?)?
  /// The sizes of the decoded frames, where timestamps do not tell a frame.
  private(set) var grid: FrameGrid
  /// Nanoseconds spent with reading packets.
  private(set) var demuxNanoseconds: Int64 = 0
  /// Learns where packets begin while they are read in order; nil where that is not known or not wanted.
  var index: PacketIndex? {
    didSet { if index !== oldValue { nextNotedFrame = 0 } }
  }

  private(set) var demuxer: Demuxer
  private var decoder: Decoder
  let packet: Packet
  /// The timestamps of the stream do not agree with its frames: they cannot tell where a seek has led.
  private(set) var hasIrregularTimestamps = false
  /// The timestamp of the first frame since the last seek is rounded to more than a frame, and nothing tells the exact position.
  private(set) var isPlaceRounded = false
  /// `packet` was read, but not decoded yet.
  private(set) var isPacketHeld = false
  /// Nothing was decoded since the decoder was flushed.
  private var isDecoderFlushed = false
  private let presentationStart: (ticks: Int64, timeBase: TimeBase)?
  let format: ContainerFormat
  /// The lengths of packets, and their positions where timestamps do not tell them.
  private(set) var counting: PacketCounting
  let edges: TrackEdges
  /// Sound is missing behind the last frame, for packets did not decode; and where they end, if they say.
  private var isAfterLoss = false
  private var lostEnd: Int64?
  /// Where bytes after the last frame begin, in a stream without a container: garbage, or tags that FFmpeg does not know.
  private var trailingBytesFrame: Int64?
  /// Packets that did not decode before the first that did.
  private var lostAtStartCount: Int64 = 0
  private var lastFrameCount: Int64 = 0
  /// The place of the last packet that was read.
  private(set) var packetFrame: Int64?
  /// The end of the last packet that was read.
  private(set) var countedFrame: Int64?
  /// The end of the one before.
  private var previousEndFrame: Int64?
  /// Corrects the timestamps of an Ogg Vorbis stream; nil for other streams.
  private var vorbisTimes: VorbisPacketTimes?
  /// Frames before time 0 that are not heard: granule positions count audio from 0 on (Vorbis I, appendix A.2).
  private(set) var negativeStartFrames: Int64 = 0
  /// How the last packet's place follows from the container's own timestamps.
  private var stamps = PacketStamps()
  /// A seek has led here, and the timestamps after it tell where that is.
  private var isSoughtByTimestamp = false
  /// Nothing was passed over since the file's start.
  private(set) var isDecodedFromStart = true
  /// The place of the first frame of all, and whether the next frame is that one: a new decoder is at the first packet.
  private var firstFrameStart: Int64?
  private var isAtTrueStart = true
  /// The place of the packet that comes next, by the index; nil but right after a seek to a byte.
  private var entryFrame: Int64?
  /// FFmpeg counts from where it was sent, not from the file's start: its timestamps mean nothing.
  private var isRecounting = false
  /// The timestamp, as FFmpeg counts, that goes on from the last packet.
  private var nextTicks: Int64?
  /// `countedFrame` is what reading from the file's start would have counted.
  private(set) var isCounted = true
  /// Opening the file anew was interrupted: the demuxer cannot be used until that is done.
  private(set) var mustRewind = false
  private(set) var isAtEndOfFile = false
  private var hasReadPacket = false
  private var badReadCount = 0
  /// Places before it are in the index.
  private var nextNotedFrame: Int64 = 0

  /// Reads that fail one after another before the rest of a file is given up.
  private static let maximumBadReads = 64
  /// How far the place of a packet that one begins at may be from what the index says: in Vorbis the first packet's own
  /// length is guessed, its end is right.
  private static let maximumDisagreementFrames: Int64 = 4_096

  init(demuxer: Demuxer, streamIndex: Int, format: ContainerFormat, edges: TrackEdges) throws(AVFailure) {
    self.demuxer = demuxer
    self.edges = edges
    stream = demuxer.streams[streamIndex]
    demuxer.select(streamIndex: streamIndex)
    decoder = try Decoder(demuxer: demuxer, streamIndex: streamIndex)
    packet = try Packet()
    frame = try Frame()
    grid = FrameGrid(declaredStep: stream.frameStepCount)
    self.format = format
    counting = try PacketCounting(format: format, demuxer: demuxer, streamIndex: streamIndex)
    if format == .ogg, stream.codecName == "vorbis" {
      vorbisTimes = VorbisPacketTimes(demuxer: demuxer, stream: stream, edges: edges)
    }
    let others = demuxer.ignoresEditLists ? [] : demuxer.streams
    presentationStart =
      others.filter { $0.mediaType == .video && $0.startTicks != nil }
      .min { left, right in
        left.timeBase.time(ofTicks: left.startTicks ?? 0) < right.timeBase.time(ofTicks: right.startTicks ?? 0)
      }
      .flatMap { video in video.startTicks.map { ($0, video.timeBase) } }
  }

  /// A title holds from the first packet on that begins at its byte or behind it.
  private func noteTitles() {
    guard let source = demuxer.source.byteSource, let byte = packet.bytePosition,
      let place = packetFrame ?? countedFrame
    else { return }
    for title in source.takeTitles(before: byte + 1) { reports.note(title, at: place) }
  }

  /// Where the silence ends that stands for packets at the track's end that did not decode; nil when there are none.
  var silentEnd: Int64? { trailingBytesFrame == nil ? lostEnd.map { $0 - trims.endFrames } : nil }

  // MARK: - Reading

  /// Decodes the next frame into `frame`. Blocks.
  func next() throws(AVFailure) -> Result {
    while true {
      switch try decoder.receive(into: frame) {
      case .frame:
        guard frame.frameCount > 0, frame.layout != nil, place() else { continue }
        return .frame
      case .undecodable(let failure): drop(failure)
      case .endOfStream: return .endOfTrack
      case .wouldBlock:
        switch try readPacket() {
        case .cancelled: return .cancelled
        case .endOfFile:
          guard !isAtEndOfFile else { return .endOfTrack }
          isAtEndOfFile = true
          _ = try decoder.sendEndOfStream()
        case .packet:
          try renewDecoderAtStart()
          if case .undecodable(let failure) = try decoder.send(packet) { drop(failure) }
        }
      }
    }
  }

  /// A flushed decoder is not in every codec what it was at first: AAC keeps what overlaps, Vorbis gives sound for its first
  /// packet. Behind pre-roll that does not matter; at the stream's first packet the decoder must be new, except where it would
  /// cut off the padding that the header declares: there what is wrong is not heard.
  private func renewDecoderAtStart() throws(AVFailure) {
    guard isDecoderFlushed else { return }
    isDecoderFlushed = false
    guard !CodecTraits.isLossless(codecName: stream.codecName), stream.initialPaddingFrames == nil,
      let firstPacketFrame, let startFrame, let timeline,
      firstPacketFrame <= startFrame + timeline.roundingFrames
    else { return }
    decoder = try Decoder(demuxer: demuxer, streamIndex: stream.index)
    isAtTrueStart = true
  }

  /// Reads the next packet of the stream.
  func readPacket() throws(AVFailure) -> Demuxer.ReadResult {
    if isPacketHeld {
      isPacketHeld = false
      return .packet
    }
    let begin = MonotonicClock.nanoseconds
    defer { demuxNanoseconds += MonotonicClock.nanoseconds - begin }
    while true {
      do throws(AVFailure) {
        let result = try demuxer.readPacket(into: packet)
        if result == .cancelled { isCounted = false }
        guard result == .packet else { return result }
      } catch {
        // A reader that cannot read is final; a demuxer that stumbles may find its feet again.
        badReadCount += 1
        guard error.kind == .invalidData, badReadCount < Self.maximumBadReads else { throw error }
        drop(error)
        continue
      }
      guard packet.streamIndex == stream.index else { continue }
      badReadCount = 0
      if packet.isMarkedCorrupt { reports.noteDamage() }
      stored.readCount += 1
      previousEndFrame = countedFrame
      try vorbisTimes?.correct(packet)
      if edges.hasWrongLength, hasReadPacket { packet.clearTrims() }
      count()
      if stored.keepsPackets { try stored.keep(packet) }
      noteTitles()
      if trailingBytesFrame == nil, trims.note(packet.trimmedFrames) {
        // What was cut off was no end: the file's header is wrong, or files were joined.
        _ = timeline?.noteMissingPacket(frameCount: 0)
        isAfterLoss = true
      }
      return .packet
    }
  }

  /// Finds out where the packet that was read lies, and gives it a timestamp that says so.
  private func count() {
    if start == nil { start = (packet.bytePosition, packet.pts, packet.duration) }
    stamps.note(
      byte: packet.bytePosition, ticks: packet.pts,
      frameCount: { [packet, stream, grid, timeline, hasReadPacket] in
        guard let told = packet.duration.flatMap({ timeline?.frameCount(ofTicks: $0) }) else { return nil }
        let count = grid.frameCount(told: told, roundingFrames: timeline?.roundingFrames ?? 0)
        // Without the packet before, FFmpeg does not know how much of a short Vorbis block is heard; a long one says it.
        let isGuess = stream.codecName == "vorbis" && !hasReadPacket && count <= 2 * Int64(stream.frameStepCount ?? 0)
        return isGuess ? nil : count
      })
    let wasLengthKnown = counting.isLengthKnown
    counting.note(packet, in: timeline, grid: grid)
    guard let timeline else { return }
    let place = place(in: timeline, follows: wasLengthKnown)
    packetFrame = place
    if !hasReadPacket {
      hasReadPacket = true
      firstPacketFrame = place
    }
    guard let place else { return }
    trailingBytesFrame = format.hasSyncWords && !packet.beginsWithSyncWord ? trailingBytesFrame ?? place : nil
    if isCounted, let index, let byte = packet.bytePosition, let startFrame {
      note(place - startFrame, byte, in: index)
    }
    let (end, overflow) = place.addingReportingOverflow(counting.length ?? 0)
    countedFrame = overflow || end > Int64.max / 4 ? nil : end
  }

  /// A packet without a timestamp lies where counting says. So does one whose timestamp only goes on from the packet before:
  /// in raw streams FFmpeg adds up lengths in ticks, which are rounded, and drifts away (44.1 kHz AC-3: 20 ms in 90 s).
  ///
  /// - Parameter isFollowing: the length of the packet before is known.
  private func place(in timeline: AudioTimeline, follows isFollowing: Bool) -> Int64? {
    noteEntry(in: timeline)
    let expectedTicks = nextTicks
    nextTicks = packet.pts.flatMap { pts in
      let (end, overflow) = pts.addingReportingOverflow(packet.duration ?? 0)
      return overflow ? nil : end
    }
    if isCounted, let countedFrame, counting.goesByLengths {
      let place = counting.place(ticks: packet.pts, countedFrame: countedFrame)
      if counting.hasIrregularTimestamps { index?.noteIrregularTimestamp(at: place - (startFrame ?? 0)) }
      return stamp(place, timeline)
    }
    // Of packets that share a block only the first has a timestamp; what FFmpeg makes up for the others is no evidence.
    if format == .matroska, !stamps.isOwn, !isFollowing { packet.clearTimestamps() }
    let isCalculated = format.countsPackets && isFollowing && hasReadPacket
    let goesOn =
      packet.pts.map { pts in
        isRecounting || isCalculated
          || !timeline.hasCoarseTicks && (expectedTicks.map { ($0 &- pts).magnitude <= 1 } ?? false)
      } ?? true
    guard isCounted, let countedFrame, goesOn else { return packet.pts.flatMap { timeline.frame(ofTicks: $0) } }
    if isRecounting { packet.clearTrims() }
    return stamp(countedFrame, timeline)
  }

  /// Gives the packet a timestamp that says where it was counted to lie; nil where none can.
  private func stamp(_ place: Int64, _ timeline: AudioTimeline) -> Int64? {
    guard let ticks = timeline.ticks(ofFrame: place, rounding: .nearest) else { return nil }
    packet.stamp(ticks)
    return place
  }

  /// The timestamps of the stream are irregular: from the next rewind on packets are counted by their lengths.
  func countPacketLengths() throws(AVFailure) {
    guard let timeline else { return }
    let isPadded = !CodecTraits.isLossless(codecName: stream.codecName) && grid.step > 0
    try counting.begin(
      timeline, demuxer: demuxer, streamIndex: stream.index, stepFrames: isPadded ? grid.step : nil)
    // What was counted up to now went by the timestamps.
    isCounted = false
  }

  /// The first packet after a seek to a byte: where a container has no timestamps of its own, FFmpeg counts anew from there,
  /// and would cut off what belongs to the file's start and end at the wrong places.
  private func noteEntry(in timeline: AudioTimeline) {
    guard let frame = entryFrame else { return }
    entryFrame = nil
    guard let pts = packet.pts, let found = timeline.frame(ofTicks: pts) else {
      isRecounting = packet.pts == nil
      return
    }
    isRecounting = abs(found - frame) > timeline.roundingFrames && (pts == 0 || pts == start?.ticks)
  }

  /// Where the packet ends on the timeline, when it says.
  private var packetEndFrame: Int64? {
    guard let timeline, let pts = packet.pts else { return nil }
    let (end, overflow) = pts.addingReportingOverflow(packet.duration ?? 0)
    return overflow ? nil : timeline.frame(ofTicks: end)
  }

  private func note(_ frame: Int64, _ byte: Int64, in index: PacketIndex) {
    guard frame >= nextNotedFrame else { return }
    index.note(PacketIndex.Place(byte: byte, frame: frame))
    let reach = index.reach
    nextNotedFrame = reach.last.frame + reach.spacingFrames
  }

  /// The place of the first frame of the stream's first packet: before 0 where priming is cut off. Nil before it is known.
  var startFrame: Int64? {
    guard let timeline, let start else { return nil }
    guard let ticks = start.ticks else { return 0 }
    return timeline.frame(ofTicks: ticks)
  }

  /// Silence will stand for the packet that was sent last.
  private func drop(_ failure: AVFailure) {
    isAfterLoss = true
    lostEnd = timeline?.noteMissingPacket(frameCount: packetFrameCount) ?? packetEndFrame
    if timeline == nil { lostAtStartCount += 1 }
    reports.noteDamage()
    guard !isWarmingUp else { return }
    reports.note(failure, at: timeline?.expectedFrame ?? 0)
  }

  /// How long the packet lasts: as long as the last frame where its timestamps are too coarse to tell the two apart.
  private var packetFrameCount: Int64? {
    guard let duration = packet.duration, let rate = stream.sampleRateHz,
      let frameBase = TimeBase(sampleRateHz: rate),
      let told = frameBase.ticks(from: duration, of: stream.timeBase, rounding: .nearest),
      let tick = frameBase.ticks(from: 1, of: stream.timeBase, rounding: .up)
    else { return lastFrameCount > 0 ? lastFrameCount : nil }
    return abs(told - lastFrameCount) <= tick ? lastFrameCount : told
  }

  /// Finds the decoded frame's place; false when nothing tells it yet.
  private func place() -> Bool {
    if timeline == nil { timeline = makeTimeline() }
    if timeline?.expectedFrame == nil {
      isPlaceProven = isCounted || frame.pts != nil
      guard resolveRounding() else { return false }
    }
    defer {
      isAtTrueStart = false
      if firstFrameStart == nil { firstFrameStart = frameStart }
      counting.noteFrame(end: frameStart + lastFrameCount, frameCount: lastFrameCount)
    }
    let isAfterLoss = isAfterLoss
    self.isAfterLoss = false
    timeline?.isApproaching = isSoughtByTimestamp && isWarmingUp
    lostEnd = nil
    let expected = timeline?.expectedFrame
    let stamped = frame.pts.flatMap { timeline?.frame(ofTicks: $0) }
    lastFrameCount = Int64(frame.frameCount)
    let exact = exactPosition(stamped: stamped, expected: expected)
    guard let placed = timeline?.place(stamped: stamped, exact: exact, frameCount: frame.frameCount)
    else { return true }
    frameStart = placed.frame
    if let timeline, isCounted, !hasIrregularTimestamps {
      hasIrregularTimestamps = !timeline.hasAgreed
    }
    if isCounted {
      let isOwn = stamps.isOwn && frame.pts == packet.pts
      grid.observe(start: frameStart, stamped: isOwn ? stamped : nil, frameCount: frame.frameCount)
    }
    if !isAfterLoss { noteJump(placed.step, to: placed.frame, from: expected) }
    return true
  }

  /// Audio, or a packet that is handed over as it is, does not lie where it was expected.
  func noteJump(_ step: AudioTimeline.Step, to frame: Int64, from expected: Int64?) {
    guard step != .contiguous else { return }
    if isWarmingUp { return noteJumpBeforePosition(step, missingFrameCount: frame - (expected ?? frame)) }
    // In an MP4 it may be an edit; then the packet before does not claim to reach so far.
    if format.hasMovieTimeline, step == .hole, previousEndFrame != frame { return }
    reports.note(step, at: expected ?? frame)
  }

  /// After a seek, a timestamp that is rounded to more than a frame is taken to the frame that the sizes allow; one that is
  /// late by as much as all others were is put right. False when the timestamp is FFmpeg's own, from lengths that it guessed:
  /// the next one of the container's tells.
  private func resolveRounding() -> Bool {
    isPlaceRounded = false
    if isCountedByLength, let packetFrame, frame.pts == packet.pts {
      timeline?.restart(at: packetFrame)
      return true
    }
    // Plain samples can begin anywhere.
    let isOnGrid = grid.isSettled && !isCounted && !stream.codecName.hasPrefix("pcm_")
    guard let timeline, timeline.hasRoundedTicks || isOnGrid, let pts = frame.pts, let start else { return true }
    if isAtTrueStart {
      if let firstFrameStart { self.timeline?.restart(at: firstFrameStart) }
      return true
    }
    let isOfLastPacket = pts == packet.pts
    guard let since = isOfLastPacket ? stamps.framesSince : 0 else {
      isPlaceDelayed = true
      return false
    }
    guard let ticks = isOfLastPacket ? stamps.ticks : pts, let stamped = timeline.frame(ofTicks: ticks) else {
      return true
    }
    guard timeline.hasCoarseTicks || !isCounted && ticks != start.ticks else { return true }
    let exact = grid.position(of: stamped, roundingFrames: timeline.roundingFrames)
    isPlaceRounded = timeline.hasCoarseTicks && exact == nil
    if let exact { self.timeline?.restart(at: exact + since) }
    return true
  }

  /// The timeline that follows from the first decoded frame: FFmpeg has cut the priming off, or what it knows of it.
  private func makeTimeline() -> AudioTimeline? {
    let rate = frame.layout?.sampleRateHz ?? stream.sampleRateHz ?? 0
    guard let frameBase = TimeBase(sampleRateHz: rate) else { return nil }
    let firstFrame = frame.pts.flatMap { place($0, frameBase) }
    // Packets that did not decode count: silence stands for them.
    let firstPacket = (start?.ticks).flatMap { place($0, frameBase) }.map { $0 + trims.startFrames }
    let isFine = frameBase.ticks(from: 1, of: stream.timeBase, rounding: .up).map { $0 <= 1 } ?? false
    let afterLoss = isFine ? firstPacket : firstFrame.map { $0 - lostAtStartCount * Int64(frame.frameCount) }
    // What does not decode in front of the sound of a bare stream was no sound, for all that anything says.
    let sound = (isAfterLoss && format != .adts ? afterLoss ?? firstFrame : firstFrame) ?? 0
    if vorbisTimes != nil { negativeStartFrames = max(0, -sound) }
    let first = sound + edges.uncutStartFrames + negativeStartFrames
    let videoStart = presentationStart.flatMap {
      frameBase.ticks(from: $0.ticks, of: $0.timeBase, rounding: .nearest)
    }
    let earliest = min(first, videoStart ?? first)
    let beginsAtZero = format.hasMovieTimeline && !edges.beginsAtFirstSound
    return AudioTimeline(
      timeBase: stream.timeBase, frameBase: frameBase, originFrame: beginsAtZero ? min(0, earliest) : earliest,
      coding: AudioCoding(codecName: stream.codecName),
      source: vorbisTimes == nil ? format.timestampSource : .granulePositions)
  }

  /// A timestamp in frames of the stream's own count; nil when it is so far away that sums with it would not be in range.
  private func place(_ ticks: Int64, _ frameBase: TimeBase) -> Int64? {
    let frame = frameBase.ticks(from: ticks, of: stream.timeBase, rounding: .nearest)
    return frame.flatMap { $0.magnitude > AudioTimeline.furthestPlace.magnitude ? nil : $0 }
  }

  // MARK: - Moving

  /// Goes to a place by the container's own seek; the next frames tell where it landed.
  func seekByTimestamp(toFrame target: Int64) throws(AVFailure) {
    if mustRewind { try rewind() } else { restart() }
    forgetCount()
    vorbisTimes?.restartAnywhere()
    isSoughtByTimestamp = format.timestampSource == .container
    guard let ticks = timeline?.ticks(ofFrame: target) else { return }
    try demuxer.seek(streamIndex: stream.index, earliest: .min + 1, target: ticks, latest: ticks)
  }

  /// Moves to the byte at which the packet of `frame` begins. Returns false, and the position is unknown, if the demuxer begins
  /// elsewhere or reports another position. Errors: `cancelled`, too.
  func seek(toByte byte: Int64, frame: Int64) throws(AVFailure) -> Bool {
    if mustRewind { try rewind() } else { restart() }
    forgetCount()
    do throws(AVFailure) { try demuxer.seek(streamIndex: stream.index, toByte: byte) } catch {
      if error.kind == .cancelled { throw error }
      return false
    }
    countedFrame = frame
    entryFrame = frame
    isCounted = true
    counting.restart(isIrregular: index?.hasIrregularTimestamps(before: frame - (startFrame ?? 0)) ?? false)
    isSoughtByTimestamp = format == .programStream
    if let ticks = timeline?.ticks(ofFrame: frame) { vorbisTimes?.restart(atPageAfter: ticks) }
    let result = try readPacket()
    if result == .cancelled { throw AVFailure(cancelledIn: "av_read_frame") }
    guard result == .packet, packet.bytePosition == byte, let found = firstPacketFrame,
      abs(found - frame) <= Self.maximumDisagreementFrames, vorbisTimes?.isStartProven ?? true
    else {
      isCounted = false
      return false
    }
    isPacketHeld = true
    return true
  }

  /// Reads up to the first packet that ends after `target`, without decoding: from here, or from the file's start. False
  /// when cancelled.
  func skip(toFrame target: Int64) throws(AVFailure) -> Bool {
    if canSkip(toFrame: target) { if !isPacketHeld { restart() } } else { try rewind() }
    while true {
      let before = isPacketHeld ? packetFrame : countedFrame
      switch try readPacket() {
      case .cancelled: return false
      case .endOfFile:
        isAtEndOfFile = true
        _ = try decoder.sendEndOfStream()
        return true
      case .packet:
        isDecodedFromStart = false
        if vorbisTimes?.isAtHeader ?? false {
          // The decoder needs the headers of each stream of a chain.
          if case .undecodable = try decoder.send(packet) { continue }
          while case .frame = try decoder.receive(into: frame) {}
          continue
        }
        guard packet.pts != nil, let end = countedFrame, end <= target else {
          if packet.pts == nil { timeline?.restart(at: before) }
          isPacketHeld = true
          firstPacketFrame = packetFrame
          return true
        }
        isAtTrueStart = false
      }
    }
  }

  /// Reads to the end without decoding, and answers where the last packet ends; nil when cancelled. That is true only when
  /// `counting.isLengthKnown`.
  func countToEnd() throws(AVFailure) -> Int64? {
    if !isCounted || isAtEndOfFile { try rewind() }
    decoder.flush()
    while true {
      switch try readPacket() {
      case .packet: continue
      case .cancelled: return nil
      case .endOfFile:
        isAtEndOfFile = true
        _ = try decoder.sendEndOfStream()
        return (trailingBytesFrame ?? countedFrame ?? 0) - (format.hasTrimmedDurations ? 0 : trims.endFrames)
      }
    }
  }

  /// Starts anew at the file's first packet.
  func rewind() throws(AVFailure) {
    restart()
    countedFrame = nil
    forgetCount()
    vorbisTimes?.restartAtFile()
    mustRewind = true
    demuxer = try demuxer.reopened()
    guard demuxer.streams.indices.contains(stream.index) else {
      throw AVFailure(invalidDataIn: "avformat_find_stream_info")
    }
    demuxer.select(streamIndex: stream.index)
    decoder = try Decoder(demuxer: demuxer, streamIndex: stream.index)
    isDecoderFlushed = false
    isAtTrueStart = true
    countedFrame = counting.restart(stamped: startFrame)
    isCounted = true
    isDecodedFromStart = true
    mustRewind = false
    stored.restart(atStart: true)
  }

  /// It is not known where reading goes on.
  private func forgetCount() {
    isCounted = false
    isRecounting = false
    nextTicks = nil
  }

  private func restart() {
    isDecodedFromStart = false
    isSoughtByTimestamp = false
    decoder.flush()
    isDecoderFlushed = true
    timeline?.restart()
    frame.clear()
    grid.interrupt()
    isAtEndOfFile = false
    hasReadPacket = false
    isPacketHeld = false
    stamps = PacketStamps()
    isAtTrueStart = false
    isPlaceDelayed = false
    entryFrame = nil
    firstPacketFrame = nil
    badReadCount = 0
    isAfterLoss = false
    lostEnd = nil
    trailingBytesFrame = nil
    trims.restart()
    reports.restart()
    stored.restart(atStart: false)
  }
}
