// Seeks in the packets of a track's audio, to the packets at which `MediaTrackReader` would begin to decode, and
// returns the packets with their positions.
import PlayheadLibAV
import PlayheadMediaCore

/// The packets of one audio track with their positions in frames.
///
/// Threading: one thread at a time, which may block.
final class StoredAudio {
  let media: MediaTrackReader
  private let lengths: PacketLengths
  /// A packet that has been read already and is the next one.
  private var pendingPacket: StoredPacket?
  /// The first frame that is heard. The frames before it are decoded, but not heard.
  let firstHeardFrame: Int64

  private var reader: FrameReader { media.reader }

  /// - Parameter media: a reader created with `keepsPackets` that has not been read.
  init(_ media: MediaTrackReader) throws(MediaError) {
    self.media = media
    firstHeardFrame = max(0, media.reader.frameStart)
    lengths = try media.mapped { () throws(AVFailure) in
      try PacketLengths(demuxer: media.reader.demuxer, streamIndex: media.reader.stream.index)
    }
    media.reader.positionKeptPackets(lengths)
    let needsFrameGrid = ["aac", "opus", "speex", "vorbis"].contains(media.reader.stream.codecName)
    if media.reader.format == .matroska, needsFrameGrid, !media.isRemote, !media.isForwardOnly {
      try learnFrameGrid()
    }
  }

  /// Decodes some frames at the start, so that positions after missing packets are those of decoded audio. Needed for
  /// codecs whose packets can be shorter than the tolerance of timestamps.
  private func learnFrameGrid() throws(MediaError) {
    reader.framePositions.isPrerolling = true
    defer { reader.framePositions.isPrerolling = false }
    try media.learnFrameGrid()
    try media.mapped { () throws(AVFailure) in try reader.rewind() }
  }

  /// The packet that `next` returned.
  var packet: Packet { reader.packet }

  /// Returns the next packet; nil at the end.
  ///
  /// - Throws: `cancelled`; the errors of reading files.
  func next() throws(MediaError) -> StoredPacket? {
    if let pendingPacket {
      self.pendingPacket = nil
      return pendingPacket
    }
    return try media.mapped { () throws(AVFailure) in try reader.nextStored(lengths) }
  }

  /// Moves to the packets from which decoding is correct at `frame`.
  ///
  /// - Returns: the first frame that is needed. Packets that end before it are not needed.
  /// - Throws: the errors of seeking; `onlyInOrder` for a stream that has passed the frame.
  func move(to frame: Int64) throws(MediaError) -> Int64 {
    pendingPacket = nil
    let prerollStart = frame - media.prerollFrames
    let start = reader.stored.start?.frame ?? 0
    if media.isForwardOnly {
      guard reader.stored.isAtStart || (reader.stored.timeline?.expectedFrame ?? .max) <= prerollStart else {
        throw MediaError(
          .onlyInOrder, "earlier data of a stream cannot be read again: \(media.displayPath)", operation: "seek")
      }
      return prerollStart <= start ? .min : prerollStart
    }
    if prerollStart <= start {
      try rewind()
      return .min
    }
    if case .counted = media.positioning {
      return try media.moveToFirstPacket(for: frame)?.prerollStart ?? prerollStart
    }
    if try seekByTimestamp(to: prerollStart) { return prerollStart }
    // The position after a seek is unknown, so all packets from the file's start are read.
    try rewind()
    while let packet = try next() {
      guard let packetStart = packet.frame, packetStart + packet.frameCount <= prerollStart else {
        pendingPacket = packet
        break
      }
    }
    return prerollStart
  }

  private func rewind() throws(MediaError) {
    guard !reader.stored.isAtStart else { return }
    try media.mapped { () throws(AVFailure) in try reader.rewind() }
  }

  /// Moves with the container's seek. Returns false if the resulting position is unknown.
  private func seekByTimestamp(to frame: Int64) throws(MediaError) -> Bool {
    if reader.timeline?.hasRoundedTicks ?? false, !reader.grid.isLatenessKnown {
      if !reader.stored.isAtStart { try media.mapped { () throws(AVFailure) in try reader.rewind() } }
      try media.learnFrameGrid()
    }
    var stepBack: Int64 = 0
    for _ in 0..<4 {
      try media.mapped { () throws(AVFailure) in try media.seekByTimestamp(toFrame: frame - stepBack) }
      guard let first = try next(), let firstFrame = first.frame else { return false }
      if firstFrame <= frame {
        pendingPacket = first
        return true
      }
      if frame - stepBack <= reader.stored.start?.frame ?? 0 { return false }
      stepBack = max(Int64(media.format.sampleRateHz), stepBack * 4)
    }
    return false
  }
}
