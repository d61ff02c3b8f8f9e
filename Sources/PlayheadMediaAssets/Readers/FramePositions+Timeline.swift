// The timeline of a stream, made from its first decoded frame.
import PlayheadLibAV

extension FramePositions {
  /// Creates the timeline from the first decoded frame, with `negativeStartFrames` and `lateStartFrames`. FFmpeg has
  /// already removed the priming that it knows of.
  func makeTimeline(
    _ frame: Frame, _ packets: PacketPositions, _ trims: PacketTrims
  ) -> (AudioTimeline, negativeStartFrames: Int64, lateStartFrames: Int64)? {
    let rate = frame.layout?.sampleRateHz ?? stream.sampleRateHz ?? 0
    guard let frameBase = TimeBase(sampleRateHz: rate) else { return nil }
    let firstFrame = frame.pts.flatMap { streamFrame(ofTicks: $0, frameBase) }
    // Undecodable packets count, because silence replaces them.
    let firstTicks = packets.firstPacket?.ticks
    let firstPacketStart = firstTicks.flatMap { streamFrame(ofTicks: $0, frameBase) }.map { $0 + trims.startFrames }
    let lostFrameCount = lostAtStartCount * Int64(frame.frameCount)
    let isFine = frameBase.ticks(from: 1, of: stream.timeBase, rounding: .up).map { $0 <= 1 } ?? false
    let afterLoss = isFine ? firstPacketStart : firstFrame.map { $0 - lostFrameCount }
    // In an ADTS stream, undecodable data before the first decoded frame is not counted: nothing
    // shows that it was audio.
    let audioStart = (isAfterLoss && format != .adts ? afterLoss ?? firstFrame : firstFrame) ?? 0
    let negativeStartFrames = packets.vorbisTimes == nil ? 0 : max(0, -audioStart)
    let lateStartFrames = lateness(of: firstFrame, afterPrimingUntil: firstPacketStart, frameBase, trims)
    let first = audioStart - lateStartFrames + edges.uncutStartFrames + negativeStartFrames
    let videoStart = presentationStart.flatMap {
      frameBase.ticks(from: $0.ticks, of: $0.timeBase, rounding: .nearest)
    }
    let earliest = min(first, videoStart ?? first)
    let beginsAtZero = format.hasMovieTimeline && !edges.beginsAtFirstAudio
    var timeline = AudioTimeline(
      timeBase: stream.timeBase, frameBase: frameBase, originFrame: beginsAtZero ? min(0, earliest) : earliest,
      coding: AudioCoding(codecName: stream.codecName),
      source: packets.vorbisTimes == nil ? format.timestampSource : .granulePositions)
    if lateStartFrames > 0, let ticks = frame.pts, let position = timeline.frame(ofTicks: ticks) {
      timeline.restart(at: position - lateStartFrames)
    }
    if frame.pts == nil, lostAtStartCount > 0 {
      timeline.restart(at: (timeline.frame(ofTicks: firstTicks ?? 0) ?? 0) + lostFrameCount)
    }
    return (timeline, negativeStartFrames, lateStartFrames)
  }

  /// Returns the number of frames by which the first timestamp after the priming is late; 0 if a gap may precede it.
  ///
  /// The edit list of an MP4 file trims the priming. The audio after it is continuous with it, as between other
  /// packets, even if the timestamp of the next packet is irregular.
  private func lateness(
    of firstFrame: Int64?, afterPrimingUntil primingEnd: Int64?, _ frameBase: TimeBase, _ trims: PacketTrims
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

  /// The start of the earliest video stream; nil if no video stream states one.
  static func firstVideoStart(of streams: [StreamInfo]) -> (ticks: Int64, timeBase: TimeBase)? {
    streams.filter { $0.mediaType == .video && $0.startTicks != nil }
      .min { left, right in
        left.timeBase.time(ofTicks: left.startTicks ?? 0) < right.timeBase.time(ofTicks: right.startTicks ?? 0)
      }
      .flatMap { video in video.startTicks.map { ($0, video.timeBase) } }
  }
}
