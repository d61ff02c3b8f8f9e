import MediaCore

/// Where a track's samples lie in the file, in frames of the source from the session's start.
struct WriterTimeline: Sendable, Hashable {
  /// Frames a second.
  let sampleRateHz: Int
  /// Frames of the track so far.
  private(set) var frameCount: Int64 = 0

  init(sampleRateHz: Int) { self.sampleRateHz = sampleRateHz }

  /// What of a buffer is written, after how much silence: what lies before the session, and what its attachments cut off, is not.
  ///
  /// Nil when the silence would be longer than a day. A buffer that begins too early or too late by less than its times can say is
  /// taken as it is.
  mutating func place(_ buffer: SampleBuffer, sessionStart: MediaTime) -> (silence: Int, frames: Range<Int>)? {
    let count = Int64(buffer.sampleCount)
    guard let trimmedStart = frames(buffer.attachments.trimAtStart),
      let trimmedEnd = frames(buffer.attachments.trimAtEnd),
      let begin = frames(buffer.outputPresentationTime - sessionStart)
    else { return nil }
    var first = min(count, trimmedStart)
    let last = max(first, count - min(count, trimmedEnd))
    var gap = begin - frameCount
    if abs(gap) <= Self.toleratedFrames(sampleRateHz, buffer), frameCount > 0 { gap = 0 }
    if gap < 0 {
      // Before the session.
      first = min(last, first - max(gap, -count))
      gap = 0
    }
    guard gap <= Int64(sampleRateHz) * 86_400 else { return nil }
    if first == last { gap = 0 }
    frameCount += gap + last - first
    return (Int(gap), Int(first)..<Int(last))
  }

  /// Frames by which a buffer's times may be rounded: one, or as many as a tick of them has. Who rounds does so to milliseconds at the
  /// worst: coarser times are exact.
  static func toleratedFrames(_ sampleRateHz: Int, _ buffer: SampleBuffer) -> Int64 {
    Int64(sampleRateHz) / Int64(max(1_000, buffer.presentationTime.timescale)) + 1
  }

  /// How much silence there is up to a time of the session; nil when it would be longer than a day.
  mutating func fill(upTo time: MediaTime) -> Int? {
    guard let end = frames(time) else { return nil }
    let gap = max(0, end - frameCount)
    guard gap <= Int64(sampleRateHz) * 86_400 else { return nil }
    frameCount += gap
    return Int(gap)
  }

  /// The nearest number of frames; nil when it is none.
  private func frames(_ time: MediaTime) -> Int64? { Self.ticks(time, Int32(clamping: sampleRateHz)) }

  /// Ticks are fewer: sums of them are numbers.
  static let endOfTicks: Int64 = 1 << 52

  /// The nearest number of ticks; nil when it is none, or none that there is room for.
  static func ticks(_ time: MediaTime, _ timescale: Int32) -> Int64? {
    let converted = time.convertScale(timescale)
    guard converted.isNumeric, converted.timescale == timescale, converted.value.magnitude < Self.endOfTicks
    else { return nil }
    return converted.value
  }
}
