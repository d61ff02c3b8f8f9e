// The timeline of a stream, whose position 0 is the presentation start.
import PlayheadLibAV

extension FrameReader {
  /// Creates the timeline from the first decoded frame. FFmpeg has already removed the priming that it knows of.
  func makeTimeline() -> AudioTimeline? {
    let rate = frame.layout?.sampleRateHz ?? stream.sampleRateHz ?? 0
    guard let frameBase = TimeBase(sampleRateHz: rate) else { return nil }
    let firstFrame = frame.pts.flatMap { streamFrame(ofTicks: $0, frameBase) }
    // Undecodable packets count, because silence replaces them.
    let firstPacketStart = (firstPacket?.ticks).flatMap { streamFrame(ofTicks: $0, frameBase) }
      .map { $0 + trims.startFrames }
    let lostFrameCount = lostAtStartCount * Int64(frame.frameCount)
    let isFine = frameBase.ticks(from: 1, of: stream.timeBase, rounding: .up).map { $0 <= 1 } ?? false
    let afterLoss = isFine ? firstPacketStart : firstFrame.map { $0 - lostFrameCount }
    // In an ADTS stream, undecodable data before the first decoded frame is not counted: nothing
    // shows that it was audio.
    let audioStart = (isAfterLoss && format != .adts ? afterLoss ?? firstFrame : firstFrame) ?? 0
    if vorbisTimes != nil { negativeStartFrames = max(0, -audioStart) }
    lateStartFrames = lateness(of: firstFrame, afterPrimingUntil: firstPacketStart, frameBase)
    let first = audioStart - lateStartFrames + edges.uncutStartFrames + negativeStartFrames
    let videoStart = presentationStart.flatMap {
      frameBase.ticks(from: $0.ticks, of: $0.timeBase, rounding: .nearest)
    }
    let earliest = min(first, videoStart ?? first)
    let beginsAtZero = format.hasMovieTimeline && !edges.beginsAtFirstAudio
    var timeline = AudioTimeline(
      timeBase: stream.timeBase, frameBase: frameBase, originFrame: beginsAtZero ? min(0, earliest) : earliest,
      coding: AudioCoding(codecName: stream.codecName),
      source: vorbisTimes == nil ? format.timestampSource : .granulePositions)
    if lateStartFrames > 0, let ticks = frame.pts, let position = timeline.frame(ofTicks: ticks) {
      timeline.restart(at: position - lateStartFrames)
    }
    if frame.pts == nil, lostAtStartCount > 0 {
      timeline.restart(at: (timeline.frame(ofTicks: firstPacket?.ticks ?? 0) ?? 0) + lostFrameCount)
    }
    return timeline
  }

  /// Returns the number of frames by which the first timestamp after the priming is late; 0 if a gap may precede it.
  ///
  /// The edit list of an MP4 file trims the priming. The audio after it is continuous with it, as between other
  /// packets, even if the timestamp of the next packet is irregular.
  private func lateness(
    of firstFrame: Int64?, afterPrimingUntil primingEnd: Int64?, _ frameBase: TimeBase
  ) -> Int64 {
    guard format == .movie, trims.startFrames > 0, lostAtStartCount == 0, let firstFrame, let primingEnd,
      firstFrame > primingEnd,
      AudioTimeline.isNoise(firstFrame - primingEnd, sampleRateHz: Int64(frameBase.denominator))
    else { return 0 }
    return firstFrame - primingEnd
  }

  /// Converts a timestamp to frames of the stream's count; nil if sums with it could overflow.
  private func streamFrame(ofTicks ticks: Int64, _ frameBase: TimeBase) -> Int64? {
    let frame = frameBase.ticks(from: ticks, of: stream.timeBase, rounding: .nearest)
    return frame.flatMap { $0.magnitude > AudioTimeline.maximumPosition.magnitude ? nil : $0 }
  }

  /// The position of the first frame of the stream's first packet; negative if priming is cut off. Nil until known.
  var startFrame: Int64? {
    guard let timeline, let firstPacket else { return nil }
    guard let ticks = firstPacket.ticks else { return 0 }
    return timeline.firstFrame(ofTicks: ticks)
  }

  /// Whether the count defines the position of an Ogg packet, and not the granule position of its page.
  ///
  /// Granule positions do not decrease within a stream (RFC 3533, section 4): a position before the packets that were
  /// read is wrong. A position of Opus that agrees with the count does not change it, as in `AudioTimeline`. FFmpeg
  /// derives the timestamps of Speex packets from the page's length, so they may be earlier than the page before.
  func ignoresGranule(_ timestampFrame: Int64?, _ countedFrame: Int64, _ timeline: AudioTimeline) -> Bool {
    guard format == .ogg, hasReadPacket, !edges.isChain, let timestampFrame else { return false }
    let agrees = stream.codecName == "opus" && timeline.agrees(timestampFrame, countedFrame)
    let repeats = stream.codecName == "speex" && timeline.repeatsAudio(timestampFrame, countedFrame)
    return agrees || repeats || timeline.isEarly(timestampFrame, countedFrame)
  }

  /// The end of the packet on the timeline, if the packet states it.
  var packetEndFrame: Int64? {
    guard let timeline, let pts = packet.pts else { return nil }
    let (end, overflow) = pts.addingReportingOverflow(packet.duration ?? 0)
    return overflow ? nil : timeline.frame(ofTicks: end)
  }

  /// Adds a packet to the index, unless the last entry is too near.
  func addToIndex(_ frame: Int64, _ byte: Int64, _ index: PacketIndex) {
    guard frame >= nextIndexedFrame else { return }
    index.add(PacketIndex.Entry(byte: byte, frame: frame))
    let tail = index.tail
    nextIndexedFrame = tail.last.frame + tail.spacingFrames
  }

  /// Reports that a frame, or a packet delivered without decoding, is not at the expected position.
  func recordJump(_ step: AudioTimeline.Step, to frame: Int64, from expected: Int64?) {
    guard step != .contiguous else { return }
    if isPrerolling { return recordJumpBeforePosition(step, missingFrameCount: frame - (expected ?? frame)) }
    // In MP4 the jump may be an edit. Then the previous packet does not end at the new position.
    if format.hasMovieTimeline, step == .gap, previousEndFrame != frame { return }
    reports.note(step, at: expected ?? frame)
  }
}
