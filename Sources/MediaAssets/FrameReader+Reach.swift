// What can be reached by reading on, without going back in the file.
extension FrameReader {
  /// Whether the file has fewer bytes than `byteCount`.
  func isShorter(than byteCount: Int64) -> Bool { demuxer.presentByteCount.map { $0 < byteCount } ?? false }

  /// Continues after an interruption of a source that cannot go back: with the next packet.
  func goOn() { demuxer.goOn() }

  /// Where the last packet ends, when all were read but none decoded; nil when there is more to read.
  var countedEnd: Int64? { isAtEndOfFile && isCounted ? countedFrame : nil }

  /// Whether a place can be reached by reading on from a place behind `earliest`.
  func canSkip(from earliest: Int64, toFrame target: Int64) -> Bool {
    canSkip(toFrame: target) && (isPacketHeld ? packetFrame : countedFrame).map { $0 >= earliest } ?? false
  }

  /// Whether a place can be reached by reading on, and is known then.
  func canSkip(toFrame target: Int64) -> Bool {
    if !isCounted || isAtEndOfFile || mustRewind { return false }
    if isPacketHeld { return (packetFrame ?? countedFrame ?? .max) <= target }
    return countedFrame.map { $0 <= target } ?? false
  }

  /// Packets are counted by their lengths, because timestamps are irregular.
  var isCountedByLength: Bool { counting.goesByLengths && isCounted }

  /// Whether a place is reached by decoding on from here, and all before was decoded from the file's start.
  func canDecode(toFrame target: Int64) -> Bool {
    guard isDecodedFromStart, !isAtEndOfFile, !mustRewind else { return false }
    return timeline?.expectedFrame.map { $0 <= target } ?? false
  }

  /// Whether timestamps tell every frame from its neighbours, so that durations of packets add up.
  var hasExactTimestamps: Bool { timeline.map { !$0.hasCoarseTicks } ?? false }

  /// The position of a decoded frame that does not follow the frame before it, if timestamps are rounded to more than a frame: the
  /// only position near the timestamp that the lengths of the frames allow. A seek finds the same position. Nil if only the
  /// timestamp gives the position.
  func exactPosition(stamped: Int64?, expected: Int64?) -> Int64? {
    guard let timeline, timeline.hasCoarseTicks, let stamped, let expected else { return nil }
    guard abs(stamped - expected) > timeline.roundingFrames else { return nil }
    return grid.position(of: stamped, roundingFrames: timeline.roundingFrames)
  }

  /// Notes a jump of the timestamps between the packet at which decoding began and the position of a seek. If ticks are not
  /// frames, the position then follows from another timestamp than in a read from the start. In a program stream the first
  /// timestamp that FFmpeg gives after a seek is often that of another packet.
  ///
  /// - Parameter missingFrameCount: The length of a hole.
  func noteJumpBeforePosition(_ step: AudioTimeline.Step, missingFrameCount: Int64) {
    if step == .hole { reports.noteHole(frameCount: missingFrameCount) }
    guard format != .programStream, step == .renumbered || timeline?.hasRoundedTicks ?? false else { return }
    reports.noteDamage()
  }
}
