import LibAV

/// What of a track's media is heard when, by an edit list (ISO/IEC 14496-12, 8.6.6), in frames. A pure value.
///
/// Stretches follow each other without gaps, from frame 0 on; their sums are rounded to frames, not their lengths, so that
/// nothing adds up. FFmpeg follows only the first edit to the frame, and enters later ones where a packet begins; it leaves out a
/// last packet that begins behind an edit's end, though that is told in ticks so long that the media's end is meant.
struct EditedTimeline: Sendable, Hashable, Codable {
  /// One edit.
  struct Stretch: Sendable, Hashable, Codable {
    /// Its first frame on the timeline.
    var start: Int64
    /// The frame behind its last one; nil: as long as there is media.
    var end: Int64?
    /// The frame of the media that is heard first; nil: silence.
    var mediaStart: Int64?
  }

  /// In order; at least one, and none is empty.
  private(set) var stretches: [Stretch]
  /// Frames of media in the file, as its header says; nil when it does not.
  let mediaFrameCount: Int64?
  /// Some edit asks for another speed than 1, or holds a moment.
  let hasUnusualRates: Bool

  /// Nil when FFmpeg follows the list: for one stretch of media that plays at its own rate, with nothing behind it, and whose
  /// last packet is heard; and for lists that make no sense.
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
    stretches = []
    // What is told in the movie's ticks, and what is meant in frames.
    var sum = (ticks: Int64(0), frames: Int64(0))
    var start: Int64 = 0
    for (number, edit) in times.edits.enumerated() {
      let isLast = number == times.edits.count - 1
      let mediaStart = edit.isHeard ? frames(edit.mediaStart, mediaBase) : nil
      if edit.isHeard, mediaStart == nil { return nil }
      let present = mediaFrameCount.flatMap { count in mediaStart.map { max(0, count - $0) } }
      if isLast, edit.isHeard, edit.duration == 0 {
        stretches.append(Stretch(start: start, end: present.map { start + $0 }, mediaStart: mediaStart))
        break
      }
      if let present, times.endsWithMedia(edit) {
        sum.frames += present
        if sum.frames > Self.lastFrame { return nil }
      } else {
        let (ticks, overflow) = sum.ticks.addingReportingOverflow(edit.duration)
        if overflow { return nil }
        sum.ticks = ticks
      }
      guard var end = frames(sum.ticks, movieBase).map({ $0 + sum.frames }), end <= Self.lastFrame else { return nil }
      // Where the media ends, the sound does.
      if isLast, let present { end = min(end, start + present) }
      if end > start { stretches.append(Stretch(start: start, end: end, mediaStart: mediaStart)) }
      start = end
    }
    stretches.removeAll { stretch in stretch.end.map { $0 <= stretch.start } ?? false }
    if stretches.isEmpty { return nil }
  }

  /// The frame behind the last one; nil when the header does not say.
  var endFrame: Int64? { stretches.last?.end }

  /// Where sound is heard first.
  var firstSoundFrame: Int64 { stretches.first { $0.mediaStart != nil }?.start ?? 0 }

  /// Frames of media before the first that is heard.
  var unheardStartFrames: Int64 { stretches.first { $0.mediaStart != nil }?.mediaStart ?? 0 }

  /// Where the media of the last stretch ends; nil when that is silent or its end not known.
  var mediaEnd: Int64? {
    guard let last = stretches.last, let start = last.mediaStart else { return nil }
    return last.end.map { start + ($0 - last.start) }
  }

  /// The number of the stretch that has a frame; nil behind the last one.
  func index(at frame: Int64) -> Int? {
    var low = 0
    var high = stretches.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if stretches[middle].start <= frame { low = middle } else { high = middle }
    }
    guard low < stretches.count else { return nil }
    return stretches[low].end.map { frame < $0 } ?? true ? low : nil
  }

  /// The same with so much silence before it.
  func delayed(byFrames count: Int64) -> EditedTimeline {
    guard count > 0, count <= Self.lastFrame else { return self }
    var later = self
    later.stretches = stretches.map { stretch in
      Stretch(start: stretch.start + count, end: stretch.end.map { $0 + count }, mediaStart: stretch.mediaStart)
    }
    later.stretches.insert(Stretch(start: 0, end: count, mediaStart: nil), at: 0)
    return later
  }

  /// Keeps sums of positions in range.
  private static let lastFrame = Int64.max / 16
}
