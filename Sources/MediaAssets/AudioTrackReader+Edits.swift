import LibAV
import MediaCore

/// Where a read is on the timeline of a track with edits.
struct EditedPlace {
  let timeline: EditedTimeline
  /// The place of the frame that the next read gives.
  var position: Int64 = 0
  /// Set once the end has been read.
  var end: AudioTrackReader.TrackEnd?
  /// Why `end` comes before its time; thrown by the first read after a seek to it.
  var breakOff: MediaError?
  /// The media's count of the file's changes when `end` was found.
  var changeCount = 0
  /// The file broke off: nothing is read until the next seek.
  var isBroken = false
  /// Found while there were still frames to hand over; thrown by the next read.
  var pendingError: MediaError?
  /// Unusual rates were not told yet.
  var warns: Bool

  init(timeline: EditedTimeline, warns: Bool) {
    self.timeline = timeline
    self.warns = warns
  }

  /// What the edit list leaves out in front of the first sound.
  var startTrim: EdgeTrim {
    let count = timeline.unheardStartFrames
    return count > 0 ? EdgeTrim(frameCount: count, source: .editList) : .none
  }
}

/// Tracks with edits: each stretch is read from the media with its own pre-roll, and followed by the next one's first frame.
extension AudioTrackReader {
  /// What the edit list leaves out behind the last sound.
  var editedEndTrim: EdgeTrim {
    guard let edited, edited.end != nil, let heard = edited.timeline.mediaEnd,
      let present = edited.timeline.mediaFrameCount, present > heard
    else { return .none }
    return EdgeTrim(frameCount: present - heard, source: .editList)
  }

  /// A time in the media as one of the asset: in the stretch that is being read, or else where the read is.
  func assetTime(_ time: MediaTime) -> MediaTime {
    guard let edited else { return time }
    let rate = format.sampleRateHz
    let timeline = edited.timeline
    if let index = timeline.index(at: edited.position), let start = timeline.stretches[index].mediaStart,
      let frame = time.frameIndex(rate: rate, rounding: .halfAwayFromZero), frame >= start
    {
      let stretch = timeline.stretches[index]
      let place = stretch.start + (frame - start)
      if stretch.end.map({ place < $0 }) ?? true { return MediaTime(frame: place, rate: rate) }
    }
    return MediaTime(frame: edited.position, rate: rate)
  }

  /// Says once that an edit asks for what is not done.
  func takeEditWarning() -> (time: MediaTime, error: MediaError)? {
    guard edited?.warns ?? false else { return nil }
    edited?.warns = false
    return (
      .zero,
      MediaError(
        .unsupportedEdit, "an edit list asks for another speed, or holds a moment, in \(media.displayPath)",
        operation: "read", underlying: "all media plays at its own speed; a moment that is held is silence")
    )
  }

  // MARK: - Seeking

  /// Goes to `target`, or to a place in `allowed` in the same stretch that costs less.
  func seekEdited(toFrame target: Int64, within allowed: ClosedRange<Int64>) throws(MediaError) {
    guard let timeline = edited?.timeline else { return }
    if media.interrupt.isCancelled { throw MediaError(.cancelled, "the seek was cancelled", operation: "seek") }
    edited?.isBroken = false
    edited?.pendingError = nil
    edited?.position = target
    if let end = edited?.end, target >= end.frame, let error = edited?.breakOff {
      edited?.pendingError = error
      return
    }
    guard let index = timeline.index(at: target), let mediaStart = timeline.stretches[index].mediaStart else { return }
    let stretch = timeline.stretches[index]
    let earliest = max(allowed.lowerBound, stretch.start)
    let latest = min(allowed.upperBound, (stretch.end ?? .max) - 1)
    let wanted = mediaStart + (target - stretch.start)
    let reached = try seekMedia(toFrame: wanted, before: target - earliest, after: max(0, latest - target))
    // Less is reached where the media ends: what is missing of the stretch is silent, but behind the last one is the end.
    let lowest = wanted - (target - earliest)
    if reached >= lowest || index == timeline.stretches.count - 1 {
      edited?.position = max(stretch.start, target + (reached - wanted))
    }
  }

  /// A file that was written to since the end was found may end elsewhere.
  func noteChangedEnd() throws(MediaError) {
    try media.mapped { () throws(AVFailure) in try media.noteChangedFile() }
    guard edited?.changeCount != media.changeCount else { return }
    edited?.changeCount = media.changeCount
    edited?.end = nil
    edited?.breakOff = nil
  }

  private func seekMedia(toFrame frame: Int64, before: Int64, after: Int64) throws(MediaError) -> Int64 {
    let rate = format.sampleRateHz
    _ = try media.seek(
      to: MediaTime(frame: frame, rate: rate), toleranceBefore: MediaTime(frame: before, rate: rate),
      toleranceAfter: MediaTime(frame: after, rate: rate))
    return media.position
  }

  // MARK: - Reading

  /// As `read`, from one stretch to the next.
  func readEdited(
    into output: UnsafeMutableRawPointer, capacityFrames: Int
  ) throws(MediaError) -> ReadResult {
    precondition(capacityFrames > 0, "a read needs room for a frame")
    if media.interrupt.isCancelled { return .cancelled }
    guard let start = edited?.position else { return .endOfTrack }
    if let error = edited?.pendingError { throw breakOff(error) }
    var count = 0
    reading: while count < capacityFrames {
      let place = output + count * frameByteCount
      do throws(MediaError) {
        switch try readStretch(into: place, capacityFrames: capacityFrames - count) {
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
        if count == 0 { throw breakOff(error) }
        edited?.pendingError = error
        break reading
      }
    }
    return count > 0 ? .frames(count, position: start) : .endOfTrack
  }

  /// The sound ends here, until the next seek; for good where the file does.
  private func breakOff(_ error: MediaError) -> MediaError {
    edited?.pendingError = nil
    edited?.isBroken = true
    guard error.code == .damagedFile, let position = edited?.position else { return error }
    if edited?.end.map({ position < $0.frame }) ?? true {
      edited?.end = TrackEnd(frame: position, isExact: media.isPlaceExact)
    }
    edited?.breakOff = error
    return error
  }

  /// Reads from one stretch; what its media does not have is silence, but behind the last one it is the end.
  private func readStretch(
    into output: UnsafeMutableRawPointer, capacityFrames: Int
  ) throws(MediaError) -> ReadResult {
    guard let edited, !edited.isBroken else { return .endOfTrack }
    let position = edited.position
    let isPastEnd = edited.end.map { position >= $0.frame } ?? false
    guard !isPastEnd, let index = edited.timeline.index(at: position) else {
      if edited.end == nil { self.edited?.end = TrackEnd(frame: position, isExact: media.isPlaceExact) }
      return .endOfTrack
    }
    let stretch = edited.timeline.stretches[index]
    let capacity = stretch.end.map { min(capacityFrames, Int(clamping: $0 - position)) } ?? capacityFrames
    if let mediaStart = stretch.mediaStart {
      let wanted = mediaStart + (position - stretch.start)
      var reached = media.position
      if reached != wanted { reached = try seekMedia(toFrame: wanted, before: 0, after: 0) }
      if reached == wanted {
        let result = try media.read(into: output, capacityFrames: capacity)
        guard result == .endOfTrack else { return result }
      }
      if index == edited.timeline.stretches.count - 1 {
        let mediaEnd = max(mediaStart, media.end?.frame ?? media.position)
        let end = min(position, stretch.start + (mediaEnd - mediaStart))
        self.edited?.end = TrackEnd(frame: end, isExact: media.isPlaceExact)
        // Else the media's own read has said so.
        if reached != wanted, let error = media.breakOff { throw error }
        return .endOfTrack
      }
    }
    output.initializeMemory(as: UInt8.self, repeating: silentByte, count: capacity * frameByteCount)
    return .frames(capacity, position: position)
  }

  /// All of the media was counted: answers where the last stretch ends, and stands there.
  func finishEdited(mediaFrameCount: Int64) -> Int64 {
    guard let last = edited?.timeline.stretches.last else { return mediaFrameCount }
    let present = last.mediaStart.map { last.start + max(0, mediaFrameCount - $0) }
    let frame = min(last.end ?? present ?? last.start, present ?? .max)
    edited?.end = TrackEnd(frame: frame, isExact: media.isPlaceExact)
    edited?.position = frame
    return frame
  }
}
