import PlayheadMediaCore

/// Maps the samples of an audio track to positions in the file, in frames of the source since the session's start.
struct WriterTimeline: Sendable, Hashable {
  /// Frames per second.
  let sampleRateHz: Int
  /// The number of frames of the track so far.
  private(set) var frameCount: Int64 = 0

  init(sampleRateHz: Int) { self.sampleRateHz = sampleRateHz }

  /// Returns the frames of a buffer that are written, and the number of silent frames before them. Audio before the
  /// session and trimmed audio are not written.
  ///
  /// Small deviations of the start, within the precision of the buffer's times, are ignored.
  ///
  /// - Returns: Nil if the silence would be longer than a day.
  mutating func add(_ buffer: SampleBuffer, sessionStart: MediaTime) -> (silence: Int, frames: Range<Int>)? {
    let count = Int64(buffer.sampleCount)
    guard let trimmedStart = frames(buffer.attachments.trimAtStart),
      let trimmedEnd = frames(buffer.attachments.trimAtEnd),
      let start = frames(buffer.outputPresentationTime - sessionStart)
    else { return nil }
    var first = min(count, trimmedStart)
    let last = max(first, count - min(count, trimmedEnd))
    var gap = start - frameCount
    if abs(gap) <= Self.toleratedFrames(sampleRateHz, buffer), frameCount > 0 { gap = 0 }
    if gap < 0 {
      // Frames before the session, or before the end of the previous buffer, are omitted.
      first = min(last, first - max(gap, -count))
      gap = 0
    }
    guard gap <= Int64(sampleRateHz) * 86_400 else { return nil }
    if first == last { gap = 0 }
    frameCount += gap + last - first
    return (Int(gap), Int(first)..<Int(last))
  }

  /// Returns the number of frames by which a buffer's times may be rounded: the frames in one tick, or in 1 ms if that
  /// is less, plus one. Times in longer ticks are exact, because readers never round to more than 1 ms.
  static func toleratedFrames(_ sampleRateHz: Int, _ buffer: SampleBuffer) -> Int64 {
    Int64(sampleRateHz) / Int64(max(1_000, buffer.presentationTime.timescale)) + 1
  }

  /// Returns the number of silent frames before a time of the session; nil if the silence would be longer than a day.
  mutating func fill(upTo time: MediaTime) -> Int? {
    guard let end = frames(time) else { return nil }
    let gap = max(0, end - frameCount)
    guard gap <= Int64(sampleRateHz) * 86_400 else { return nil }
    frameCount += gap
    return Int(gap)
  }

  /// Returns the nearest number of frames; nil if the time is not numeric or too large.
  private func frames(_ time: MediaTime) -> Int64? { Self.ticks(time, Int32(clamping: sampleRateHz)) }

  /// The number of ticks is always below this limit, so that sums do not overflow.
  static let endOfTicks: Int64 = 1 << 52

  /// Returns the nearest number of ticks; nil if the time is not numeric or exceeds `endOfTicks`.
  static func ticks(_ time: MediaTime, _ timescale: Int32) -> Int64? {
    let converted = time.convertScale(timescale)
    guard converted.isNumeric, converted.timescale == timescale, converted.value.magnitude < Self.endOfTicks
    else { return nil }
    return converted.value
  }
}
