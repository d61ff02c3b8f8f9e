// Maps decoded audio to the asset's timeline.
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadPlaylists

extension SegmentedTrackReader {
  /// Continues with the segments of `segmentReader`, and with the known data of their stretch.
  func startReading(from segmentReader: ContiguousSegmentReader) {
    audio.reset()
    stretchNumber = segmentReader.firstEntry.segment.discontinuityNumber
    stretch = session.stretch(stretchNumber, sampleRateHz: format.sampleRateHz)
    endReason = nil
    isPositionKnown = false
  }

  /// Determines `frameStart`, the position of the decoded frame, from its timestamp, its stretch and the expected
  /// start.
  func determinePosition(timestamp: Int64?, count: Int) {
    guard let segmentReader else { return }
    frameCount = count
    let isAfterLoss = isAfterLoss
    self.isAfterLoss = false
    let stepFrames = audio.stepFrames
    let isFirst = expectedStart == nil
    guard var unwrapped = timestamp, segmentReader.hasTimestamps else {
      // Without timestamps, frames are counted. After a seek, the playlist states the approximate position.
      frameStart = expectedStart ?? positionWithoutTimestamp(timestamp ?? 0)
      finishPositioning(Int64(count))
      return
    }
    let entryFrame = entryFrame(of: segmentReader)
    var known = stretch
    if let foreign = known, foreign.isFromOtherRendition {
      let near = segmentReader.unwrapped(
        unwrapped, near: entryFrame - foreign.startFrame + foreign.originFrame, sampleRateHz: format.sampleRateHz)
      // Some servers give the renditions different timestamps, contrary to RFC 8216, section 6.2.4.
      let distance = near - foreign.originFrame + foreign.startFrame - entryFrame
      if abs(distance) > frame(at: 3 * session.timeline.playlist.targetNanoseconds) { known = nil }
    }
    if let known {
      unwrapped = segmentReader.unwrapped(
        unwrapped, near: (expectedStart ?? entryFrame) - known.startFrame + known.originFrame,
        sampleRateHz: format.sampleRateHz)
    }
    var current = known ?? newStretch(timestamp: unwrapped, entryFrame: entryFrame)
    var position =
      timestamp == current.divergentStartTimestamp
      ? current.startFrame : unwrapped - current.originFrame + current.startFrame
    if let expectedStart {
      let difference = position - expectedStart
      if abs(difference) <= (isAfterLoss ? Int64(count) / 2 : toleranceFrames(Int64(count))) {
        position = expectedStart
      } else if difference < -Int64(format.sampleRateHz / 4) || difference > permittedGapFrames(in: segmentReader) {
        // The timestamps continue from another origin, although the playlist declares no discontinuity.
        if current.originFrame == firstTimestamp, expectedStart <= current.startFrame + Int64(format.sampleRateHz) {
          current.divergentStartTimestamp = firstTimestamp
        }
        current.originFrame += difference
        note(.irregularTimestamps, "timestamps jump: times are renumbered", at: expectedStart)
        position = expectedStart
      } else {
        position = Self.snapped(position, current)
        let effect = difference > 0 ? "audio is missing: silence fills the gap" : "duplicate audio is skipped"
        if !isAfterLoss { note(.irregularTimestamps, effect, at: expectedStart) }
      }
    } else {
      position = Self.snapped(position, current)
    }
    frameStart = position
    if known == nil { firstTimestamp = timestamp }
    if isFirst { positionDoubt = current.isExact ? nil : .estimated }
    if !isFirst, stepFrames > current.stepFrames {
      current.stepFrames = stepFrames
      current.anchorFrame = position
    }
    if current != known {
      stretch = current
      session.setStretch(current, stretchNumber)
    }
    finishPositioning(Int64(count))
  }

  /// Returns the nearest position at which a codec frame can begin. Timestamps are rounded to ticks; some muxers round
  /// more coarsely.
  private static func snapped(_ position: Int64, _ stretch: StreamStretch) -> Int64 {
    guard stretch.stepFrames > 0 else { return position }
    let rest = ((position - stretch.anchorFrame) % stretch.stepFrames + stretch.stepFrames) % stretch.stepFrames
    let nearest = rest * 2 <= stretch.stepFrames ? position - rest : position + stretch.stepFrames - rest
    // A larger difference is not a rounding error: frames of another variant begin elsewhere.
    return abs(nearest - position) <= 64 ? nearest : position
  }

  private func finishPositioning(_ count: Int64) {
    hasFrame = true
    expectedStart = frameStart + count
    guard !isPositionKnown, let segmentReader else { return }
    isPositionKnown = true
    drift = nanoseconds(ofFrame: frameStart) - segmentReader.firstEntry.startNanoseconds
  }

  /// Returns the start of the segments according to the playlist. After a switch of variants, the drift of the
  /// previous variant is added.
  private func entryFrame(of segmentReader: ContiguousSegmentReader) -> Int64 {
    frame(at: segmentReader.firstEntry.startNanoseconds + (resumption == nil ? 0 : drift))
  }

  /// Returns a new stretch of which only the first frame is known.
  private func newStretch(timestamp: Int64, entryFrame: Int64) -> StreamStretch {
    let timeline = session.timeline
    let number = segmentReader?.firstEntry.segment.number ?? 0
    let first = timeline.firstNumber(ofStretchWith: number) ?? number
    if let expectedStart {
      return StreamStretch(
        sampleRateHz: format.sampleRateHz, originFrame: timestamp, startFrame: expectedStart,
        isExact: positionDoubt == nil)
    }
    // In MP4, the encoder's delay is before time 0.
    let isDelay = segmentReader?.removesNegativeTimes == true && timestamp < 0 && timestamp > -65_536
    let origin = isDelay ? 0 : timestamp
    // No audio precedes the first segment.
    let isStart = first == number && entryFrame == 0
    return StreamStretch(
      sampleRateHz: format.sampleRateHz, originFrame: origin, startFrame: entryFrame, isExact: isStart)
  }

  /// Returns the position of packed audio without timestamps: the start of its segment according to the playlist.
  private func positionWithoutTimestamp(_ timestamp: Int64) -> Int64 {
    guard let segmentReader else { return 0 }
    let start = entryFrame(of: segmentReader)
    positionDoubt = start == 0 ? nil : .estimated
    return start + max(0, timestamp)
  }

  /// The permitted difference between timestamps and the frame count: several codec frames, as for files.
  private func toleranceFrames(_ count: Int64) -> Int64 {
    max(Int64(format.sampleRateHz / 10), min(4 * count, Int64(format.sampleRateHz / 2)))
  }

  /// Returns the maximum gap between two frames of contiguous segments: the duration of the segment. Before the first
  /// frame, whole segments may be missing.
  private func permittedGapFrames(in segmentReader: ContiguousSegmentReader) -> Int64 {
    guard isPositionKnown, let segment = segmentReader.source.lastEntry?.segment else { return maximumGapFrames }
    return min(maximumGapFrames, frame(at: segment.durationNanoseconds))
  }

  var maximumGapFrames: Int64 { Int64(format.sampleRateHz) * 60 }

  private func note(_ code: MediaError.Code, _ what: String, at frame: Int64) {
    guard warning == nil else { return }
    warning = (frame, MediaError(code, "\(what) in \(session.name)", operation: "read"))
  }
}
