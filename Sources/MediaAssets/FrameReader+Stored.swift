// Packets that are handed over as they are, with the places of what they decode to. Those are where the decoded sound has them:
// the same timeline, the same counting; what the first decoded frame told of the start holds here, too.
import DequeModule
import LibAV

/// Where packets lie that are handed over as they are.
struct StoredPlacing {
  /// Packets that were read before the first frame was decoded are kept, so as to be handed over.
  var keepsPackets = false
  var kept: Deque<Packet> = []
  /// Goes on from packet to packet; nil right after a seek.
  var timeline: AudioTimeline?
  /// Reading began with the stream's first packet, and so many have been read since.
  private var beganAtStart = false
  var readCount = 0
  /// How many packets were placed since the last seek.
  var placedCount = 0
  /// The place of the stream's first packet, and how far it is to the second.
  var start: (frame: Int64, frameCount: Int64)?

  /// The next packet is the first of all.
  var isAtStart: Bool { beganAtStart && readCount == 0 }
  /// The last one was.
  fileprivate var isFirst: Bool { beganAtStart && readCount == 1 }

  /// More packets than these give sound, or there is none.
  static let maximumKeptCount = 256
  /// Frames of one packet, whatever it says of itself: sums of places stay in range.
  static let maximumFrameCount = Int64(1) << 31

  /// Another packet was read for the first frame. Where there are too many, the file is to be read again from its start.
  mutating func keep(_ packet: Packet) throws(AVFailure) {
    guard kept.count < Self.maximumKeptCount else { return restart(atStart: false) }
    kept.append(try packet.copied())
  }

  /// What was kept is handed over first, where anything was.
  fileprivate mutating func handOver() {
    (beganAtStart, readCount) = (keepsPackets, 0)
    keepsPackets = false
  }

  /// Reading goes on elsewhere.
  mutating func restart(atStart: Bool) {
    (beganAtStart, readCount) = (atStart, 0)
    keepsPackets = false
    kept = []
    timeline = nil
    placedCount = 0
  }
}

/// What a packet decodes to, and where that lies.
struct StoredPacket {
  /// The place of the first frame, before anything is cut off; nil: nothing tells it.
  var frame: Int64?
  var frameCount: Int64
  /// What the packet says is to be cut off; at the start it may be more than the packet has.
  var trims: (start: Int64, end: Int64)
  /// Something is missing before it.
  var isAfterHole = false
  /// It is the stream's first.
  var isFirst = false
}

extension FrameReader {
  /// The first frame has been decoded: finds out where the packets lie that were read for it.
  func anchorStored(_ lengths: PacketLengths) {
    stored.handOver()
    guard let timeline, let last = stored.kept.last else { return }
    var counts = stored.kept.map { told($0, lengths, timeline) }
    let before = counts.dropLast().reduce(0, +)
    // The decoder cut off what it was told to: whole packets, and then the beginning of the last.
    let cut = edges.decoderCutFrames + trims.startFrames
    var place = frameStart - max(0, cut - before)
    if !timeline.hasCoarseTicks, let stamped = last.pts.flatMap({ timeline.frame(ofTicks: $0) }) { place = stamped }
    // A first packet of Vorbis gives nothing, however long it says that it is.
    if counts.count > 1, !timeline.hasCoarseTicks,
      let first = stored.kept.first?.pts.flatMap({ timeline.frame(ofTicks: $0) }),
      let second = stored.kept[1].pts.flatMap({ timeline.frame(ofTicks: $0) }), second >= first
    {
      counts[0] = min(second - first, StoredPlacing.maximumFrameCount)
    }
    stored.start = (place - counts.dropLast().reduce(0, +), counts[0])
  }

  /// The next packet, which `packet` holds; nil at the end.
  ///
  /// Throws `cancelled`, too.
  func nextStored(_ lengths: PacketLengths) throws(AVFailure) -> StoredPacket? {
    if let kept = stored.kept.popFirst() {
      packet.take(kept)
      stored.readCount += 1
    } else {
      switch try readPacket() {
      case .packet: break
      case .endOfFile: return nil
      case .cancelled: throw AVFailure(cancelledIn: "av_read_frame")
      }
    }
    guard let timeline else {
      return StoredPacket(frame: nil, frameCount: 0, trims: packet.trimmedFrames)
    }
    var found = StoredPacket(frameCount: told(packet, lengths, timeline), trims: packet.trimmedFrames)
    place(&found, timeline)
    return found
  }

  private func place(_ found: inout StoredPacket, _ fresh: AudioTimeline) {
    var timeline = stored.timeline ?? fresh
    if stored.timeline == nil { timeline.restart() }
    defer {
      stored.timeline = timeline
      stored.placedCount += 1
    }
    if stored.isFirst, let start = stored.start {
      (found.frame, found.frameCount, found.isFirst) = (start.frame, start.frameCount, true)
      timeline.restart(at: start.frame + start.frameCount)
      return
    }
    // How long the first was of which the one before is not known is a guess.
    if stream.codecName == "vorbis", stored.placedCount == 1, !fresh.hasCoarseTicks { timeline.restart() }
    guard let expected = timeline.expectedFrame else {
      found.frame = placeAfterSeek(fresh)
      timeline.restart(at: found.frame.map { $0 + found.frameCount })
      return
    }
    let placed = timeline.place(ticks: packet.pts, frameCount: Int(clamping: found.frameCount))
    found.frame = placed.frame
    found.isAfterHole = placed.step == .hole
    noteJump(placed.step, to: placed.frame, from: expected)
  }

  /// Where the first packet lies behind a seek; nil where its timestamp is too coarse, and nothing else tells.
  private func placeAfterSeek(_ timeline: AudioTimeline) -> Int64? {
    guard let place = packetFrame ?? packet.pts.flatMap({ timeline.frame(ofTicks: $0) }) else { return nil }
    if isCounted, !timeline.hasCoarseTicks { return place }
    guard timeline.hasRoundedTicks else { return place }
    let found = grid.nearest(to: place, withinFrames: max(2, timeline.roundingFrames))
    return timeline.hasCoarseTicks ? found : found ?? place
  }

  private func told(_ packet: Packet, _ lengths: PacketLengths, _ timeline: AudioTimeline) -> Int64 {
    if let count = lengths.frameCount(of: packet) { return max(0, min(count, StoredPlacing.maximumFrameCount)) }
    let told = packet.duration.flatMap { timeline.frameCount(ofTicks: $0) } ?? 0
    return max(
      0, min(grid.frameCount(told: told, roundingFrames: timeline.roundingFrames), StoredPlacing.maximumFrameCount))
  }
}
