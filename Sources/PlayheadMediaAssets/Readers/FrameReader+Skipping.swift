// Positions that can be reached by reading forward, without a seek in the file.
import PlayheadLibAV

extension FrameReader {
  /// Whether the file has fewer bytes than `byteCount`.
  func isShorter(than byteCount: Int64) -> Bool { demuxer.currentByteCount.map { $0 < byteCount } ?? false }

  /// The end of the last packet, after all packets were read without decoding; nil while packets remain.
  var scannedEndFrame: Int64? { packets.isAtEndOfFile && isCounted ? countedFrame : nil }

  /// Whether reading forward from a packet at or after `earliest` reaches `target`.
  func canSkip(from earliest: Int64, toFrame target: Int64) -> Bool {
    canSkip(toFrame: target) && (packets.hasPacket ? packetFrame : countedFrame).map { $0 >= earliest } ?? false
  }

  /// Whether reading forward reaches `target` with a known position.
  func canSkip(toFrame target: Int64) -> Bool {
    if !isCounted || packets.isAtEndOfFile || packets.isClosed { return false }
    if packets.hasPacket { return (packetFrame ?? countedFrame ?? .max) <= target }
    return countedFrame.map { $0 <= target } ?? false
  }

  /// Whether packets are counted by their lengths, because timestamps are irregular.
  var isCountedByLength: Bool { counting.usesLengths && isCounted }

  /// Whether decoding forward reaches `target`, and everything since the file's start has been decoded.
  func canDecode(toFrame target: Int64) -> Bool {
    guard isDecodedFromStart, !packets.isAtEndOfFile, !packets.isClosed else { return false }
    return timeline?.expectedFrame.map { $0 <= target } ?? false
  }

  /// Whether the sample rate is known to change within the stream. Positions after the change depend on all audio
  /// before them.
  var hasOtherRates: Bool {
    rates.hasOtherRates || continuity.hasOtherRates || vorbisTimes?.hasOtherRates ?? false
  }

  /// Whether any packet repeated the timestamp of the packet before it.
  var hasRepeatedTimestamps: Bool { continuity.hasFoundGroups && vorbisTimes == nil }

  /// Whether timestamps distinguish neighbouring frames, so that packet durations can be summed.
  var hasExactTimestamps: Bool { timeline.map { !$0.hasCoarseTicks } ?? false }

  /// Returns the position of a decoded frame that does not follow the frame before it, for timestamps that are rounded
  /// to more than a frame.
  ///
  /// The result is the only position near the timestamp that the lengths of the frames allow. A seek finds the same
  /// one.
  ///
  /// - Returns: nil if only the timestamp defines the position.
  func exactPosition(timestampFrame: Int64?, expected: Int64?) -> Int64? {
    guard let timeline, timeline.hasCoarseTicks, let timestampFrame, let expected else { return nil }
    guard abs(timestampFrame - expected) > timeline.roundingFrames else { return nil }
    return grid.nearest(to: timestampFrame, withinFrames: timeline.roundingFrames)
  }

  /// Whether the timestamps at the start of the file identify positions in `grid`, so that a timestamp proves that
  /// frames are missing before it.
  var hasRegularGrid: Bool {
    guard format == .matroska, let timeline, timeline.hasCoarseTicks, grid.isLatenessKnown else { return false }
    return !grid.isAmbiguous(roundingFrames: timeline.roundingFrames)
  }

  /// Reads the packets of a Matroska file up to `frame` without decoding, and records whether the container begins a
  /// new count before it. Continues after the packets that were checked before. Blocks.
  ///
  /// The container's seek, which must follow, does not return these packets.
  ///
  /// - Returns: whether the timestamps up to `frame` are known to be one count; false if there are too many packets, or
  ///   if the container begins a new count.
  func checkTimestamps(upTo frame: Int64) throws(AVFailure) -> Bool {
    guard !packets.isClosed, !hasIrregularTimestamps, let timeline, let target = timeline.ticks(ofFrame: frame),
      let start = checkedTicks ?? firstPacket?.ticks
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
          hasIrregularTimestamps = true
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

  /// Records a jump of the timestamps between the packet at which decoding began and the position of a seek.
  ///
  /// If ticks are not whole frames, the position then depends on another timestamp than in a read from the start. In a
  /// program stream, the first timestamp that FFmpeg reports after a seek often belongs to another packet.
  ///
  /// - Parameter missingFrameCount: the length of a gap in frames.
  func recordJumpBeforePosition(_ step: AudioTimeline.Step, missingFrameCount: Int64) {
    if step == .gap { reports.recordGap(frameCount: missingFrameCount) }
    guard format != .programStream, step == .discontinuity || timeline?.hasRoundedTicks ?? false else { return }
    reports.noteDamage()
  }

  /// Reads to the end without decoding and returns the end of the last packet; nil if cancelled. The result is valid
  /// only if `counting.isLengthKnown`.
  func scanToEnd() throws(AVFailure) -> Int64? {
    if !isCounted || packets.isAtEndOfFile { try rewind() }
    packets.flush()
    rates.restart()
    var result = PacketFrameReader.PacketResult.packet
    while result == .packet { result = try readPacket() }
    guard result == .endOfFile else { return nil }
    return (trailingBytesFrame ?? countedFrame ?? 0) - (format.hasTrimmedDurations ? 0 : trims.endFrames)
  }

  /// The start of the earliest video stream; nil if no video stream states one.
  static func firstVideoStart(of streams: [StreamInfo]) -> (ticks: Int64, timeBase: TimeBase)? {
    streams.filter { $0.mediaType == .video && $0.startTicks != nil }
      .min { left, right in
        left.timeBase.time(ofTicks: left.startTicks ?? 0) < right.timeBase.time(ofTicks: right.startTicks ?? 0)
      }
      .flatMap { video in video.startTicks.map { ($0, video.timeBase) } }
  }
}
