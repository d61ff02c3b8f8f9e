// The check of a container's timestamps before they are trusted.
import PlayheadLibAV

extension FrameReader {
  /// Reads the packets of a Matroska file up to `frame` without decoding, and records whether the container begins a
  /// new count before it. Continues after the packets that were checked before. Blocks.
  ///
  /// The container's seek, which must follow, does not return these packets.
  ///
  /// - Returns: whether the timestamps up to `frame` are known to be one count; false if there are too many packets, or
  ///   if the container begins a new count.
  func checkTimestamps(upTo frame: Int64) throws(AVFailure) -> Bool {
    guard !packets.isClosed, !framePositions.hasIrregularTimestamps, let timeline,
      let target = timeline.ticks(ofFrame: frame),
      let start = checkedTicks ?? packetPositions.firstPacket?.ticks
    else { return false }
    if let checkedTicks, target <= checkedTicks { return true }
    let first = demuxer.indexedBytePosition(streamIndex: stream.index, at: start) ?? 0
    let last = demuxer.indexedBytePosition(streamIndex: stream.index, at: target) ?? 0
    guard last - first <= Self.maximumCheckedBytes else { return false }
    var packetCount = 0
    do throws(AVFailure) {
      try demuxer.seek(streamIndex: stream.index, earliest: .min + 1, target: start, latest: start)
      var end: Int64?
      while try demuxer.readPacket(into: packet) == .packet {
        packetCount += 1
        let byteCount = packet.bytePosition.map { $0 - first } ?? 0
        if packetCount > Self.maximumCheckedPackets || byteCount > Self.maximumCheckedBytes { return false }
        guard packet.streamIndex == stream.index, let ticks = packet.pts else { continue }
        if let end, timeline.isDiscontinuity(ticks: ticks &- end) {
          framePositions.noteIrregularTimestamps()
          return false
        }
        checkedTicks = max(ticks, checkedTicks ?? ticks)
        if ticks >= target { return true }
        end = ticks &+ (packet.duration ?? 0)
      }
      return true
    } catch {
      // The seek that follows meets another error, too. Until then, nothing is known.
      if error.kind == .cancelled { throw error }
      return false
    }
  }

  /// The maximum number of packets that one check reads, about a second's work: five hours of Opus.
  private static let maximumCheckedPackets = 1_000_000
  /// The maximum size of the part of the file that one check reads, with all of its tracks. Nothing is read if the
  /// container's index shows that the part is larger.
  private static let maximumCheckedBytes: Int64 = 256 << 20
}
