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
  /// Packets that did not decode since they were last taken, and the first failure.
  private(set) var skipped: (count: Int, failure: AVFailure)?
  /// Packets are decoded only to warm up; what fails then is no loss.
  var isWarmingUp = false
  /// The frames' place since the last seek comes from a timestamp or from counting, not from a guess.
  private(set) var isPlaceProven = true
  /// The place of the first packet read since the last seek; nil before, or when it has no timestamp.
  private(set) var firstPacketFrame: Int64?

  private var demuxer: Demuxer
  private var decoder: Decoder
  private let packet: Packet
  private let presentationStart: (ticks: Int64, timeBase: TimeBase)?
  private let isMovieTimeline: Bool
  /// The end of the last packet that was read.
  private var countedFrame: Int64?
  /// Everything up to `countedFrame` was read from the file's start on.
  private var isCounted = true
  /// Opening the file anew was interrupted: the demuxer cannot be used until that is done.
  private var mustRewind = false
  private var isAtEndOfFile = false
  private var hasReadPacket = false
  private var badReadCount = 0

  /// Reads that fail one after another before the rest of a file is given up.
  private static let maximumBadReads = 64

  init(demuxer: Demuxer, streamIndex: Int, format: ContainerFormat) throws(AVFailure) {
    self.demuxer = demuxer
    stream = demuxer.streams[streamIndex]
    demuxer.select(streamIndex: streamIndex)
    decoder = try Decoder(demuxer: demuxer, streamIndex: streamIndex)
    packet = try Packet()
    frame = try Frame()
    isMovieTimeline = format.hasMovieTimeline
    presentationStart =
      demuxer.streams.filter { $0.mediaType == .video && $0.startTicks != nil }
      .min { left, right in
        left.timeBase.time(ofTicks: left.startTicks ?? 0) < right.timeBase.time(ofTicks: right.startTicks ?? 0)
      }
      .flatMap { video in video.startTicks.map { ($0, video.timeBase) } }
  }

  /// Takes the report of dropped packets.
  func takeSkipped() -> (count: Int, failure: AVFailure)? {
    defer { skipped = nil }
    return skipped
  }

  // MARK: - Reading

  /// Decodes the next frame into `frame`. Blocks.
  func next() throws(AVFailure) -> Result {
    while true {
      switch try decoder.receive(into: frame) {
      case .frame:
        guard frame.frameCount > 0, frame.layout != nil else { continue }
        place()
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
          if case .undecodable(let failure) = try decoder.send(packet) { drop(failure) }
        }
      }
    }
  }

  /// Reads the next packet of the stream.
  private func readPacket() throws(AVFailure) -> Demuxer.ReadResult {
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
      if !hasReadPacket {
        hasReadPacket = true
        firstPacketFrame = packet.pts.flatMap { timeline?.frame(ofTicks: $0) }
      }
      if let end = packetEndFrame { countedFrame = end }
      return .packet
    }
  }

  /// Where the packet ends on the timeline, when it says.
  private var packetEndFrame: Int64? {
    guard let timeline, let pts = packet.pts else { return nil }
    let (end, overflow) = pts.addingReportingOverflow(packet.duration ?? 0)
    return overflow ? nil : timeline.frame(ofTicks: end)
  }

  private func drop(_ failure: AVFailure) {
    timeline?.noteMissingPackets()
    guard !isWarmingUp else { return }
    skipped = (min((skipped?.count ?? 0), Int.max - 1) + 1, skipped?.failure ?? failure)
  }

  private func place() {
    if timeline == nil { timeline = makeTimeline() }
    if timeline?.expectedFrame == nil { isPlaceProven = isCounted || frame.pts != nil }
    guard let placed = timeline?.place(ticks: frame.pts, frameCount: frame.frameCount) else { return }
    frameStart = placed.frame
  }

  /// The timeline that follows from the first decoded frame: FFmpeg has cut the priming off.
  private func makeTimeline() -> AudioTimeline? {
    let rate = frame.layout?.sampleRateHz ?? stream.sampleRateHz ?? 0
    guard let frameBase = TimeBase(sampleRateHz: rate) else { return nil }
    let first = frame.pts.flatMap { frameBase.ticks(from: $0, of: stream.timeBase, rounding: .nearest) } ?? 0
    let videoStart = presentationStart.flatMap {
      frameBase.ticks(from: $0.ticks, of: $0.timeBase, rounding: .nearest)
    }
    let earliest = min(first, videoStart ?? first)
    return AudioTimeline(
      timeBase: stream.timeBase, frameBase: frameBase, originFrame: isMovieTimeline ? min(0, earliest) : earliest,
      isLossless: CodecTraits.isLossless(codecName: stream.codecName))
  }

  // MARK: - Moving

  /// Goes to a place by the container's own seek; the next frames tell where it landed.
  func seekByTimestamp(toFrame target: Int64) throws(AVFailure) {
    if mustRewind { try rewind() } else { restart() }
    isCounted = false
    guard let ticks = timeline?.ticks(ofFrame: target) else { return }
    try demuxer.seek(streamIndex: stream.index, earliest: .min + 1, target: ticks, latest: ticks)
  }

  /// Reads up to the first packet that reaches beyond a place, from the file's start when it lies behind, counting and
  /// not decoding. False when cancelled.
  func seekByCounting(toFrame target: Int64) throws(AVFailure) -> Bool {
    let isAhead = isCounted && !isAtEndOfFile && countedFrame.map { $0 <= target } ?? false
    if isAhead { restart() } else { try rewind() }
    while true {
      let before = countedFrame ?? 0
      switch try readPacket() {
      case .cancelled: return false
      case .endOfFile:
        isAtEndOfFile = true
        _ = try decoder.sendEndOfStream()
        return true
      case .packet:
        guard let end = packetEndFrame, end <= target else {
          if packet.pts == nil { timeline?.restart(at: before) }
          // This one is to be decoded; nothing is inside the decoder, so it takes it.
          if case .undecodable(let failure) = try decoder.send(packet) { drop(failure) }
          return true
        }
      }
    }
  }

  /// Starts anew at the file's first packet.
  func rewind() throws(AVFailure) {
    restart()
    countedFrame = nil
    isCounted = false
    mustRewind = true
    demuxer = try demuxer.reopened()
    guard demuxer.streams.indices.contains(stream.index) else {
      throw AVFailure(invalidDataIn: "avformat_find_stream_info")
    }
    demuxer.select(streamIndex: stream.index)
    // A flushed decoder is not in every codec what it was at first: Vorbis gives sound for its first packet then.
    decoder = try Decoder(demuxer: demuxer, streamIndex: stream.index)
    isCounted = true
    mustRewind = false
  }

  private func restart() {
    decoder.flush()
    timeline?.restart()
    frame.clear()
    isAtEndOfFile = false
    hasReadPacket = false
    firstPacketFrame = nil
    badReadCount = 0
  }
}

/// What is known of codecs by name.
enum CodecTraits {
  /// Whether every sample comes out as it went in, so that counting them is exact.
  static func isLossless(codecName: String) -> Bool {
    codecName.hasPrefix("pcm_") || ["flac", "alac", "wavpack", "tta", "ape", "mlp", "truehd"].contains(codecName)
  }
}
