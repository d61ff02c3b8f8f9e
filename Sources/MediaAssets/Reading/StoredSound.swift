// Goes to packets of a track's sound, and gives them with their places. Where `MediaTrackReader` would begin to decode, this begins
// to hand over.
import LibAV
import MediaCore

/// The packets of one track's sound, and where they lie in frames.
///
/// Threading: one thread at a time, which may block.
final class StoredSound {
  let media: MediaTrackReader
  private let lengths: PacketLengths
  /// Read already, and next.
  private var held: StoredPacket?
  /// Nothing of the media is heard before it, whatever a packet decodes to.
  let firstHeardFrame: Int64

  private var reader: FrameReader { media.reader }

  /// - Parameter media: made with `keepsPackets`, and not read from.
  init(_ media: MediaTrackReader) throws(MediaError) {
    self.media = media
    firstHeardFrame = max(0, media.reader.frameStart)
    lengths = try media.mapped { () throws(AVFailure) in
      try PacketLengths(demuxer: media.reader.demuxer, streamIndex: media.reader.stream.index)
    }
    media.reader.anchorStored(lengths)
  }

  /// The packet that `next` gave.
  var packet: Packet { reader.packet }

  /// The next packet; nil at the end.
  ///
  /// Errors: `cancelled`; those of reading files.
  func next() throws(MediaError) -> StoredPacket? {
    if let held {
      self.held = nil
      return held
    }
    return try media.mapped { () throws(AVFailure) in try reader.nextStored(lengths) }
  }

  /// Goes to the packets with which decoding begins so as to be right from a frame on. Answers the frame of which, or of what is behind
  /// it, a packet has to have something to be needed.
  ///
  /// Errors: those of seeking; `onlyInOrder` for a stream that has gone by.
  func go(to frame: Int64) throws(MediaError) -> Int64 {
    held = nil
    let warmStart = frame - media.prerollFrames
    let start = reader.stored.start?.frame ?? 0
    if media.isForwardOnly {
      guard reader.stored.isAtStart || (reader.stored.timeline?.expectedFrame ?? .max) <= warmStart else {
        throw MediaError(
          .onlyInOrder, "what has gone by of a stream does not come again: \(media.displayPath)", operation: "seek")
      }
      return warmStart <= start ? .min : warmStart
    }
    if warmStart <= start {
      try goToStart()
      return .min
    }
    if case .counted = media.positioning { return try media.approach(frame)?.warmStart ?? warmStart }
    if try goByTimestamp(to: warmStart) { return warmStart }
    // Nothing tells where a seek has led: all is read that lies before.
    try goToStart()
    while let packet = try next() {
      guard let place = packet.frame, place + packet.frameCount <= warmStart else {
        held = packet
        break
      }
    }
    return warmStart
  }

  private func goToStart() throws(MediaError) {
    guard !reader.stored.isAtStart else { return }
    try media.mapped { () throws(AVFailure) in try reader.rewind() }
  }

  /// By the container's own seek; false where it cannot be told where that has led.
  private func goByTimestamp(to frame: Int64) throws(MediaError) -> Bool {
    if reader.timeline?.hasRoundedTicks ?? false, !reader.grid.isSettled {
      if !reader.stored.isAtStart { try media.mapped { () throws(AVFailure) in try reader.rewind() } }
      try media.learnGrid()
    }
    var stepBack: Int64 = 0
    for _ in 0..<4 {
      try media.mapped { () throws(AVFailure) in try media.seekByTimestamp(toFrame: frame - stepBack) }
      guard let first = try next(), let place = first.frame else { return false }
      if place <= frame {
        held = first
        return true
      }
      if frame - stepBack <= reader.stored.start?.frame ?? 0 { return false }
      stepBack = max(Int64(media.format.sampleRateHz), stepBack * 4)
    }
    return false
  }
}
