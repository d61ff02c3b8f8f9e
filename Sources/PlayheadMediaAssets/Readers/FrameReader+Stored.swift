// Packets that are delivered without decoding, with the positions of the audio that they contain. They use the same
// timeline and the same counting as decoded audio. The first decoded frame defines the start for both.
import DequeModule
import PlayheadLibAV

/// The state for packets that are delivered without decoding.
struct StoredPacketState {
  /// Whether packets that are read before the first decoded frame are kept, to be delivered later.
  var keepsPackets = false
  var kept: Deque<Packet> = []
  /// The timeline of the packets since the last seek; nil right after a seek.
  var timeline: AudioTimeline?
  /// Whether reading began with the stream's first packet, and the number of packets read since then.
  private var startedAtFirstPacket = false
  var readCount = 0
  /// The number of packets positioned since the last seek.
  var positionedCount = 0
  /// The position of the stream's first packet, and the distance to the second.
  var start: (frame: Int64, frameCount: Int64)?

  /// Whether the next packet is the stream's first.
  var isAtStart: Bool { startedAtFirstPacket && readCount == 0 }
  /// Whether the packet read last is the stream's first.
  fileprivate var isFirst: Bool { startedAtFirstPacket && readCount == 1 }

  /// The maximum number of packets kept before the first decoded frame.
  static let maximumKeptCount = 256
  /// The maximum number of frames of one packet, so that sums of positions stay in range.
  static let maximumFrameCount = Int64(1) << 31

  /// Keeps a packet that was read for the first frame. At the limit, discards all packets; the file is then read again
  /// from its start.
  mutating func keep(_ packet: Packet) throws(AVFailure) {
    guard kept.count < Self.maximumKeptCount else { return restart(atStart: false) }
    kept.append(try packet.copied())
  }

  /// Starts delivery with the kept packets.
  fileprivate mutating func startDelivery() {
    (startedAtFirstPacket, readCount) = (keepsPackets, 0)
    keepsPackets = false
  }

  /// Resets the state, because reading continues at another position.
  mutating func restart(atStart: Bool) {
    (startedAtFirstPacket, readCount) = (atStart, 0)
    keepsPackets = false
    kept = []
    timeline = nil
    positionedCount = 0
  }
}

/// The position and length of the audio of one packet.
struct StoredPacket {
  /// The position of the first frame before trimming; nil if unknown.
  var frame: Int64?
  var frameCount: Int64
  /// The numbers of frames to trim by the packet's side data. At the start the number may exceed the packet's length.
  var trims: (start: Int64, end: Int64)
  /// Whether packets are missing before this one.
  var isAfterGap = false
  /// Whether this is the stream's first packet.
  var isFirst = false
}

extension FrameReader {
  /// Determines the positions of the packets that were read for the first frame, after it has been decoded.
  func positionKeptPackets(_ lengths: PacketLengths) {
    stored.startDelivery()
    guard let timeline, let last = stored.kept.last else { return }
    var counts = stored.kept.map { declaredFrameCount(of: $0, lengths, timeline) }
    let before = counts.dropLast().reduce(0, +)
    // The decoder trimmed the declared number of frames: whole packets, and then the beginning of the last one.
    let cut = edges.decoderCutFrames + trims.startFrames
    var lastFrame = frameStart - max(0, cut - before)
    if !timeline.hasCoarseTicks, let timestampFrame = last.pts.flatMap({ timeline.frame(ofTicks: $0) }) {
      lastFrame = timestampFrame - framePositions.lateStartFrames
    }
    // The first packet of a Vorbis stream produces no audio, even if it states a length. Packets of other codecs that
    // state their lengths have them, although the timestamps may be nearer, or up to two frames farther.
    if counts.count > 1, !timeline.hasCoarseTicks, let kept = stored.kept.first,
      let first = kept.pts.flatMap({ timeline.frame(ofTicks: $0) }),
      let second = stored.kept[1].pts.flatMap({ timeline.frame(ofTicks: $0) }),
      second - framePositions.lateStartFrames >= first,
      stream.codecName == "vorbis"
        || lengths.frameCount(of: kept).map({ second - framePositions.lateStartFrames - first > $0 + 2 }) ?? true
    {
      counts[0] = min(second - framePositions.lateStartFrames - first, StoredPacketState.maximumFrameCount)
    }
    stored.start = (lastFrame - counts.dropLast().reduce(0, +), counts[0])
  }

  /// Reads the next packet into `packet`; returns nil at the end. Also throws `cancelled`.
  func nextStored(_ lengths: PacketLengths) throws(AVFailure) -> StoredPacket? {
    if let kept = stored.kept.popFirst() {
      packet.move(from: kept)
      stored.readCount += 1
    } else {
      switch try readPacket() {
      case .packet: break
      case .cancelled: throw AVFailure(cancelledIn: "av_read_frame")
      case .endOfFile, .otherPacket, .skipped, .stopped: return nil
      }
    }
    guard let timeline else {
      return StoredPacket(frame: nil, frameCount: 0, trims: packet.trimmedFrames)
    }
    var found = StoredPacket(frameCount: declaredFrameCount(of: packet, lengths, timeline), trims: packet.trimmedFrames)
    setPosition(of: &found, timeline)
    return found
  }

  private func setPosition(of found: inout StoredPacket, _ initialTimeline: AudioTimeline) {
    var timeline = stored.timeline ?? initialTimeline
    if stored.timeline == nil { timeline.restart() }
    defer {
      stored.timeline = timeline
      stored.positionedCount += 1
    }
    if stored.isFirst, let start = stored.start {
      (found.frame, found.frameCount, found.isFirst) = (start.frame, start.frameCount, true)
      timeline.restart(at: start.frame + start.frameCount)
      return
    }
    // The length of the first Vorbis packet after a seek is a guess, because the packet before it is unknown.
    if stream.codecName == "vorbis", stored.positionedCount == 1, !initialTimeline.hasCoarseTicks { timeline.restart() }
    guard let expected = timeline.expectedFrame else {
      found.frame = positionAfterSeek(initialTimeline)
      timeline.restart(at: found.frame.map { $0 + found.frameCount })
      return
    }
    let timestampFrame = packet.pts.flatMap { timeline.frame(ofTicks: $0) }
    timeline.hasRegularGrid = framePositions.hasRegularGrid
    let result = timeline.advance(
      timestampFrame: timestampFrame,
      exact: framePositions.exactPosition(timestampFrame: timestampFrame, expected: expected),
      frameCount: Int(clamping: found.frameCount))
    found.frame = result.frame
    found.isAfterGap = result.step == .gap
    recordJump(result.step, to: result.frame, from: expected)
  }

  /// Returns the position of the first packet after a seek; nil if its timestamp is too coarse and
  /// nothing else defines it.
  private func positionAfterSeek(_ timeline: AudioTimeline) -> Int64? {
    guard let position = packetPositions.packetFrame ?? packet.pts.flatMap({ timeline.frame(ofTicks: $0) }) else {
      return nil
    }
    if packetPositions.isCounted, !timeline.hasCoarseTicks { return position }
    guard timeline.hasRoundedTicks else { return position }
    let found = grid.nearest(to: position, withinFrames: max(2, timeline.roundingFrames))
    return timeline.hasCoarseTicks ? found : found ?? position
  }

  private func declaredFrameCount(of packet: Packet, _ lengths: PacketLengths, _ timeline: AudioTimeline) -> Int64 {
    if let count = lengths.frameCount(of: packet) { return max(0, min(count, StoredPacketState.maximumFrameCount)) }
    let declared = packet.duration.flatMap { timeline.frameCount(ofTicks: $0) } ?? 0
    let count = grid.frameCount(declared: declared, roundingFrames: timeline.roundingFrames)
    return max(0, min(count, StoredPacketState.maximumFrameCount))
  }
}
