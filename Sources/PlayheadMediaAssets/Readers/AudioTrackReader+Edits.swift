import PlayheadLibAV
import PlayheadMediaCore

/// The state of a read on the timeline of a track with an edit list.
struct EditedPosition {
  let timeline: EditedTimeline
  /// The position of the next frame to read.
  var position: Int64 = 0
  /// The end of the track; set once it has been read.
  var end: AudioTrackReader.TrackEnd?
  /// The reason why `end` is too early. Thrown by the first read after a seek to the end.
  var prematureEndError: MediaError?
  /// The value of `media.changeCount` when `end` was found.
  var changeCount = 0
  /// Whether a read failed. Reads then return the end until the next seek.
  var hasFailed = false
  /// An error found while frames remained to be delivered. The next read throws it.
  var pendingError: MediaError?
  /// Whether unsupported rates have yet to be reported.
  var hasPendingWarning: Bool

  init(timeline: EditedTimeline, hasPendingWarning: Bool) {
    self.timeline = timeline
    self.hasPendingWarning = hasPendingWarning
  }

  /// The audio that the edit list leaves out before the first audible frame.
  var startTrim: EdgeTrim {
    let count = timeline.inaudibleStartFrames
    return count > 0 ? EdgeTrim(frameCount: count, source: .editList) : .none
  }
}

/// Tracks with an edit list. Each segment is read from the media with a separate preroll, and the next segment follows
/// without a gap.
extension AudioTrackReader {
  /// The audio that the edit list leaves out after the last audible frame.
  var editedEndTrim: EdgeTrim {
    guard let edited, edited.end != nil, let mediaEnd = edited.timeline.mediaEnd,
      let mediaFrameCount = edited.timeline.mediaFrameCount, mediaFrameCount > mediaEnd
    else { return .none }
    return EdgeTrim(frameCount: mediaFrameCount - mediaEnd, source: .editList)
  }

  /// Converts a media time to asset time, within the segment that is being read. For a time outside this segment,
  /// returns the reading position.
  func assetTime(_ time: MediaTime) -> MediaTime {
    guard let edited else { return time }
    let rate = format.sampleRateHz
    let timeline = edited.timeline
    if let index = timeline.index(at: edited.position), let start = timeline.segments[index].mediaStart,
      let frame = time.frameIndex(rate: rate, rounding: .halfAwayFromZero), frame >= start
    {
      let segment = timeline.segments[index]
      let assetFrame = segment.start + (frame - start)
      if segment.end.map({ assetFrame < $0 }) ?? true { return MediaTime(frame: assetFrame, rate: rate) }
    }
    return MediaTime(frame: edited.position, rate: rate)
  }

  /// Returns a warning, once, if an edit requests a rate or dwell that is not supported.
  func popEditWarning() -> (time: MediaTime, error: MediaError)? {
    guard edited?.hasPendingWarning ?? false else { return nil }
    edited?.hasPendingWarning = false
    return (
      .zero,
      MediaError(
        .unsupportedEdit, "the edit list changes the rate or contains a dwell (rate 0), in \(media.displayPath)",
        operation: "read", underlying: "all media plays at rate 1; a dwell plays as silence")
    )
  }

  // MARK: - Seeking

  /// Seeks to `target`, or to a cheaper position in `allowed` in the same segment.
  func seekEdited(toFrame target: Int64, within allowed: ClosedRange<Int64>) throws(MediaError) {
    guard let timeline = edited?.timeline else { return }
    if media.interrupt.isCancelled { throw MediaError(.cancelled, "the seek was cancelled", operation: "seek") }
    edited?.hasFailed = false
    edited?.pendingError = nil
    edited?.position = target
    if let end = edited?.end, target >= end.frame, let error = edited?.prematureEndError {
      edited?.pendingError = error
      return
    }
    guard let index = timeline.index(at: target), let mediaStart = timeline.segments[index].mediaStart else { return }
    let segment = timeline.segments[index]
    let earliest = max(allowed.lowerBound, segment.start)
    let latest = min(allowed.upperBound, (segment.end ?? .max) - 1)
    let mediaTarget = mediaStart + (target - segment.start)
    let reached = try seekMedia(toFrame: mediaTarget, before: target - earliest, after: max(0, latest - target))
    // The media can end before the allowed range. The rest of the segment is then silence. In the last segment, the
    // track ends there.
    let lowest = mediaTarget - (target - earliest)
    if reached >= lowest || index == timeline.segments.count - 1 {
      edited?.position = max(segment.start, target + (reached - mediaTarget))
    }
  }

  /// Discards the known end if the file was written to after the end was found.
  func discardChangedEnd() throws(MediaError) {
    try media.mapped { () throws(AVFailure) in try media.checkForFileChange() }
    guard edited?.changeCount != media.changeCount else { return }
    edited?.changeCount = media.changeCount
    edited?.end = nil
    edited?.prematureEndError = nil
  }

  private func seekMedia(toFrame frame: Int64, before: Int64, after: Int64) throws(MediaError) -> Int64 {
    let rate = format.sampleRateHz
    _ = try media.seek(
      to: MediaTime(frame: frame, rate: rate), toleranceBefore: MediaTime(frame: before, rate: rate),
      toleranceAfter: MediaTime(frame: after, rate: rate))
    return media.position
  }

  // MARK: - Reading

  /// Reads like `read`, from one segment to the next.
  func readEdited(
    into output: UnsafeMutableRawPointer, capacityFrames: Int
  ) throws(MediaError) -> ReadResult {
    precondition(capacityFrames > 0, "the capacity must be at least one frame")
    if media.interrupt.isCancelled { return .cancelled }
    guard let start = edited?.position else { return .endOfTrack }
    if let error = edited?.pendingError { throw endReading(with: error) }
    var count = 0
    reading: while count < capacityFrames {
      let target = output + count * frameByteCount
      do throws(MediaError) {
        switch try readSegment(into: target, capacityFrames: capacityFrames - count) {
        case .frames(let more, _):
          count += more
          edited?.position += Int64(more)
        case .cancelled:
          if count == 0 { return .cancelled }
          break reading
        case .endOfTrack: break reading
        }
      } catch {
        if error.code == .cancelled {
          if count == 0 { return .cancelled }
          break reading
        }
        if count == 0 { throw endReading(with: error) }
        edited?.pendingError = error
        break reading
      }
    }
    return count > 0 ? .frames(count, position: start) : .endOfTrack
  }

  /// Ends reading at the current position until the next seek. After `damagedFile` this position is the track's end.
  ///
  /// - Returns: `error`.
  private func endReading(with error: MediaError) -> MediaError {
    edited?.pendingError = nil
    edited?.hasFailed = true
    guard error.code == .damagedFile, let position = edited?.position else { return error }
    if edited?.end.map({ position < $0.frame }) ?? true {
      edited?.end = TrackEnd(frame: position, isExact: media.isPositionExact)
    }
    edited?.prematureEndError = error
    return error
  }

  /// Reads from one segment. Missing media is read as silence. In the last segment, the track ends there.
  private func readSegment(
    into output: UnsafeMutableRawPointer, capacityFrames: Int
  ) throws(MediaError) -> ReadResult {
    guard let edited, !edited.hasFailed else { return .endOfTrack }
    let position = edited.position
    let isPastEnd = edited.end.map { position >= $0.frame } ?? false
    guard !isPastEnd, let index = edited.timeline.index(at: position) else {
      if edited.end == nil { self.edited?.end = TrackEnd(frame: position, isExact: media.isPositionExact) }
      return .endOfTrack
    }
    let segment = edited.timeline.segments[index]
    let capacity = segment.end.map { min(capacityFrames, Int(clamping: $0 - position)) } ?? capacityFrames
    if let mediaStart = segment.mediaStart {
      let mediaTarget = mediaStart + (position - segment.start)
      var reached = media.position
      if reached != mediaTarget { reached = try seekMedia(toFrame: mediaTarget, before: 0, after: 0) }
      if reached == mediaTarget {
        let result = try media.read(into: output, capacityFrames: capacity)
        guard result == .endOfTrack else { return result }
      }
      if index == edited.timeline.segments.count - 1 {
        let mediaEnd = max(mediaStart, media.end?.frame ?? media.position)
        let end = min(position, segment.start + (mediaEnd - mediaStart))
        self.edited?.end = TrackEnd(frame: end, isExact: media.isPositionExact)
        // If the position was reached, `media.read` has already thrown this error.
        if reached != mediaTarget, let error = media.prematureEndError { throw error }
        return .endOfTrack
      }
    }
    output.initializeMemory(as: UInt8.self, repeating: silentByte, count: capacity * frameByteCount)
    return .frames(capacity, position: position)
  }

  /// Sets the end of the track after all media was counted, and moves to this end.
  ///
  /// - Returns: the end of the track.
  func finishEdited(mediaFrameCount: Int64) -> Int64 {
    guard let last = edited?.timeline.segments.last else { return mediaFrameCount }
    let availableEnd = last.mediaStart.map { last.start + max(0, mediaFrameCount - $0) }
    let frame = min(last.end ?? availableEnd ?? last.start, availableEnd ?? .max)
    edited?.end = TrackEnd(frame: frame, isExact: media.isPositionExact)
    edited?.position = frame
    return frame
  }
}
