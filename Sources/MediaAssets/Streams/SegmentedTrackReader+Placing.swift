// Maps decoded audio to the asset's timeline.
import LibAV
import MediaCore
import Playlists

extension SegmentedTrackReader {
  /// Begins a run with the known data of its stretch.
  func enter(_ run: SegmentRun) {
    sound.begin()
    stretchNumber = run.firstEntry.segment.discontinuityNumber
    stretch = session.stretch(stretchNumber, sampleRateHz: format.sampleRateHz)
    runEnd = nil
    isRunPlaced = false
  }

  /// Determines the position of the decoded frame.
  func place(timestamp: Int64?, count: Int) {
    guard let run else { return }
    frameCount = count
    let stepFrames = sound.stepFrames
    let isFirst = expected == nil
    guard var stamp = timestamp, run.hasTimestamps else {
      // Without timestamps, frames are counted. After a seek, the playlist states the approximate position.
      frameStart = expected ?? placeOfUntimed(timestamp ?? 0)
      follow(Int64(count))
      return
    }
    let entryFrame = entryFrame(of: run)
    var known = stretch
    if let borrowed = known, borrowed.isBorrowed {
      let near = run.unwrapped(
        stamp, near: entryFrame - borrowed.startFrame + borrowed.originFrame, sampleRateHz: format.sampleRateHz)
      // Not all servers give the renditions the same timestamps.
      let distance = near - borrowed.originFrame + borrowed.startFrame - entryFrame
      if abs(distance) > frame(at: 3 * session.timeline.playlist.targetNanoseconds) { known = nil }
    }
    if let known {
      stamp = run.unwrapped(
        stamp, near: (expected ?? entryFrame) - known.startFrame + known.originFrame,
        sampleRateHz: format.sampleRateHz)
    }
    var present = known ?? newStretch(stamp: stamp, entryFrame: entryFrame)
    var place =
      timestamp == present.strayStartStamp ? present.startFrame : stamp - present.originFrame + present.startFrame
    if let expected {
      let difference = place - expected
      if abs(difference) <= toleranceFrames(Int64(count)) {
        place = expected
      } else if difference < -Int64(format.sampleRateHz / 4) || difference > largestHoleFrames(in: run) {
        // The timestamps have another origin, although the playlist declares no discontinuity.
        if present.originFrame == firstStamp, expected <= present.startFrame + Int64(format.sampleRateHz) {
          present.strayStartStamp = firstStamp
        }
        present.originFrame += difference
        note(.irregularTimestamps, "timestamps jump: times are renumbered", at: expected)
        place = expected
      } else {
        place = Self.snapped(place, present)
        note(
          .irregularTimestamps,
          difference > 0 ? "audio is missing: silence fills the gap" : "duplicate audio is skipped", at: expected)
      }
    } else {
      place = Self.snapped(place, present)
    }
    frameStart = place
    if known == nil { firstStamp = timestamp }
    if isFirst { positionDoubt = present.isExact ? nil : .estimated }
    if !isFirst, stepFrames > present.stepFrames {
      present.stepFrames = stepFrames
      present.anchorFrame = place
    }
    if present != known {
      stretch = present
      session.setStretch(present, stretchNumber)
    }
    follow(Int64(count))
  }

  /// Returns the nearest position at which a codec frame can begin. Timestamps are rounded to ticks, and by some muxers
  /// more coarsely.
  private static func snapped(_ place: Int64, _ stretch: StreamStretch) -> Int64 {
    guard stretch.stepFrames > 0 else { return place }
    let rest = ((place - stretch.anchorFrame) % stretch.stepFrames + stretch.stepFrames) % stretch.stepFrames
    let nearest = rest * 2 <= stretch.stepFrames ? place - rest : place + stretch.stepFrames - rest
    // A larger difference is not a rounding error: frames of another variant begin elsewhere.
    return abs(nearest - place) <= 64 ? nearest : place
  }

  private func follow(_ count: Int64) {
    hasFrame = true
    expected = frameStart + count
    guard !isRunPlaced, let run else { return }
    isRunPlaced = true
    drift = nanoseconds(ofFrame: frameStart) - run.firstEntry.startNanoseconds
  }

  /// Returns the start of a run according to the playlist. After a switch of variants, the drift of the previous
  /// variant is added.
  private func entryFrame(of run: SegmentRun) -> Int64 {
    frame(at: run.firstEntry.startNanoseconds + (resumption == nil ? 0 : drift))
  }

  /// Returns a new stretch of which only the first frame is known.
  private func newStretch(stamp: Int64, entryFrame: Int64) -> StreamStretch {
    let timeline = session.timeline
    let number = run?.firstEntry.segment.number ?? 0
    let first = timeline.firstNumber(ofStretchWith: number) ?? number
    if let expected {
      return StreamStretch(
        sampleRateHz: format.sampleRateHz, originFrame: stamp, startFrame: expected, isExact: positionDoubt == nil)
    }
    // In MP4, the encoder's delay is before time 0.
    let isDelay = run?.cutsNegative == true && stamp < 0 && stamp > -65_536
    let origin = isDelay ? 0 : stamp
    // No audio precedes the first segment.
    let isStart = first == number && entryFrame == 0
    return StreamStretch(
      sampleRateHz: format.sampleRateHz, originFrame: origin, startFrame: entryFrame, isExact: isStart)
  }

  /// Returns the position of packed audio without timestamps: the start of its segment according to the playlist.
  private func placeOfUntimed(_ timestamp: Int64) -> Int64 {
    guard let run else { return 0 }
    let start = entryFrame(of: run)
    positionDoubt = start == 0 ? nil : .estimated
    return start + max(0, timestamp)
  }

  /// The permitted difference between timestamps and the frame count: several codec frames, as for files.
  private func toleranceFrames(_ count: Int64) -> Int64 {
    max(Int64(format.sampleRateHz / 10), min(4 * count, Int64(format.sampleRateHz / 2)))
  }

  /// The longest gap within a run. A segment misses no more than its duration. Before its first frame, other segments
  /// may be missing.
  private func largestHoleFrames(in run: SegmentRun) -> Int64 {
    guard isRunPlaced, let segment = run.source.lastEntry?.segment else { return maximumHoleFrames }
    return min(maximumHoleFrames, frame(at: segment.durationNanoseconds))
  }

  var maximumHoleFrames: Int64 { Int64(format.sampleRateHz) * 60 }

  private func note(_ code: MediaError.Code, _ what: String, at frame: Int64) {
    guard warning == nil else { return }
    warning = (frame, MediaError(code, "\(what) in \(session.name)", operation: "read"))
  }
}
