import PlayheadLibAV

/// The edit list of a track (ISO/IEC 14496-12, 8.6.6) as ranges of frames. A pure value.
///
/// Segments follow each other without gaps from frame 0. The end of each segment is rounded to frames, not its length,
/// so rounding errors do not accumulate.
///
/// FFmpeg follows only the first edit to the exact frame, and enters later edits at packet boundaries. It drops a last
/// packet that begins at or after an edit's end, even if that end is only the media's end in coarse ticks.
struct EditedTimeline: Sendable, Hashable, Codable {
  /// One edit.
  struct Segment: Sendable, Hashable, Codable {
    /// The first frame on the timeline.
    var start: Int64
    /// The position after the last frame; nil: the end of the media.
    var end: Int64?
    /// The first media frame; nil: silence.
    var mediaStart: Int64?
  }

  /// The segments in order; at least one, and none is empty.
  private(set) var segments: [Segment]
  /// The number of media frames that the header states; nil if it states none.
  let mediaFrameCount: Int64?
  /// Whether an edit requests a rate other than 1, or a dwell.
  let hasUnusualRates: Bool

  /// Creates a timeline. Returns nil for invalid lists, and for lists that FFmpeg follows exactly.
  ///
  /// FFmpeg follows a list exactly if its only segment of media is at normal rate and last, and if FFmpeg plays the
  /// last packet.
  init?(_ times: MovieTrackTimes, sampleRateHz: Int) {
    guard times.mediaOrigin == nil || times.losesLastSample, times.edits.contains(where: { $0.mediaStart >= 0 }),
      let frameBase = TimeBase(sampleRateHz: sampleRateHz),
      let movieBase = Int(exactly: times.movieTimescale).flatMap(TimeBase.init(sampleRateHz:)),
      let mediaBase = Int(exactly: times.mediaTimescale).flatMap(TimeBase.init(sampleRateHz:))
    else { return nil }
    func frames(_ ticks: Int64, _ base: TimeBase) -> Int64? {
      frameBase.ticks(from: ticks, of: base, rounding: .nearest).flatMap { $0 <= Self.lastFrame ? $0 : nil }
    }
    mediaFrameCount = times.mediaDuration > 0 ? frames(times.mediaDuration, mediaBase) : nil
    hasUnusualRates = times.edits.contains { !$0.isEmpty && $0.rate != MovieTrackTimes.Edit.normalRate }
    segments = []
    // The sum of durations in ticks of the movie, and the sum of durations that are known in frames.
    var sum = (ticks: Int64(0), frames: Int64(0))
    var start: Int64 = 0
    for (number, edit) in times.edits.enumerated() {
      let isLast = number == times.edits.count - 1
      let mediaStart = edit.playsMedia ? frames(edit.mediaStart, mediaBase) : nil
      if edit.playsMedia, mediaStart == nil { return nil }
      let availableFrames = mediaFrameCount.flatMap { count in mediaStart.map { max(0, count - $0) } }
      if isLast, edit.playsMedia, edit.duration == 0 {
        segments.append(Segment(start: start, end: availableFrames.map { start + $0 }, mediaStart: mediaStart))
        break
      }
      if let availableFrames, times.endsWithMedia(edit) {
        sum.frames += availableFrames
        if sum.frames > Self.lastFrame { return nil }
      } else {
        let (ticks, overflow) = sum.ticks.addingReportingOverflow(edit.duration)
        if overflow { return nil }
        sum.ticks = ticks
      }
      guard var end = frames(sum.ticks, movieBase).map({ $0 + sum.frames }), end <= Self.lastFrame else { return nil }
      // The audio ends with the media.
      if isLast, let availableFrames { end = min(end, start + availableFrames) }
      if end > start { segments.append(Segment(start: start, end: end, mediaStart: mediaStart)) }
      start = end
    }
    segments.removeAll { segment in segment.end.map { $0 <= segment.start } ?? false }
    if segments.isEmpty { return nil }
  }

  /// The position after the last frame; nil if the header does not state it.
  var endFrame: Int64? { segments.last?.end }

  /// The position of the first audio.
  var firstAudioFrame: Int64 { segments.first { $0.mediaStart != nil }?.start ?? 0 }

  /// The number of media frames before the first audible one.
  var inaudibleStartFrames: Int64 { segments.first { $0.mediaStart != nil }?.mediaStart ?? 0 }

  /// The end of the last segment's media; nil if the segment is silent or its end is unknown.
  var mediaEnd: Int64? {
    guard let last = segments.last, let start = last.mediaStart else { return nil }
    return last.end.map { start + ($0 - last.start) }
  }

  /// Returns the index of the segment that contains a frame; nil after the last one.
  func index(at frame: Int64) -> Int? {
    var low = 0
    var high = segments.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if segments[middle].start <= frame { low = middle } else { high = middle }
    }
    guard low < segments.count else { return nil }
    return segments[low].end.map { frame < $0 } ?? true ? low : nil
  }

  /// Returns a copy that begins with `count` frames of silence.
  func delayed(byFrames count: Int64) -> EditedTimeline {
    guard count > 0, count <= Self.lastFrame else { return self }
    var later = self
    later.segments = segments.map { segment in
      Segment(start: segment.start + count, end: segment.end.map { $0 + count }, mediaStart: segment.mediaStart)
    }
    later.segments.insert(Segment(start: 0, end: count, mediaStart: nil), at: 0)
    return later
  }

  /// The largest position, so that sums of positions stay in range.
  private static let lastFrame = Int64.max / 16
}
