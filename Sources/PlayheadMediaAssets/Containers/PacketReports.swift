import PlayheadLibAV
import PlayheadMediaCore

/// The first timestamp that differed from the end of the audio before it.
struct TimestampFault {
  /// The kind of the difference.
  var step: AudioTimeline.Step
  /// The end of the audio before the timestamp, on the timeline.
  var frame: Int64
}

/// Faults and titles found while a stream was read, kept until they are dequeued.
struct PacketReports {
  /// Whether packets since the last seek were missing, did not decode, or had wrong timestamps.
  private(set) var hasDamage = false
  /// The number of frames missing between the packet at which decoding began and the position of the last seek.
  private(set) var gapFrameCount: Int64 = 0
  private var skips = SkipReport()
  private var timestampFault: TimestampFault?
  private var titles: [(frame: Int64, title: StreamTitle)] = []

  /// Returns and clears the packets that did not decode.
  mutating func drainSkipped() -> SkippedPackets? { skips.drain() }

  /// Returns and clears the first irregular timestamp.
  mutating func drainTimestampFault() -> TimestampFault? {
    defer { timestampFault = nil }
    return timestampFault
  }

  /// Returns and clears the stream titles, each with the frame from which it applies.
  mutating func drainTitles() -> [(frame: Int64, title: StreamTitle)] {
    defer { titles = [] }
    return titles
  }

  mutating func noteDamage() { hasDamage = true }

  mutating func recordGap(frameCount: Int64) { gapFrameCount += frameCount }

  /// Clears the damage and the gaps, because a seek moves to another position.
  mutating func restart() { (hasDamage, gapFrameCount) = (false, 0) }

  mutating func note(_ title: StreamTitle, at frame: Int64) { titles.append((frame, title)) }

  /// Records a packet that did not decode. A nil position means preroll.
  mutating func note(_ failure: AVFailure, at frame: Int64?) { skips.note(failure, at: frame) }

  mutating func note(_ step: AudioTimeline.Step, at frame: Int64) {
    if timestampFault == nil { timestampFault = TimestampFault(step: step, frame: frame) }
  }
}

/// The padding at the track's edges by the side data of packets, in frames.
struct PacketTrims {
  /// The frames cut off the file's first packet; nil before it is read.
  private(set) var firstFrames: Int64?
  /// The frames cut off the ends of the latest packets; 0 after a packet without a trim.
  private(set) var endFrames: Int64 = 0

  var startFrames: Int64 { firstFrames ?? 0 }

  /// Records the trims of a packet. Returns whether earlier trims were not at the end of the track.
  mutating func note(_ trimmed: (start: Int64, end: Int64)) -> Bool {
    if firstFrames == nil { firstFrames = trimmed.start }
    defer { endFrames = trimmed.end > 0 ? endFrames + trimmed.end : 0 }
    return endFrames > 0 && trimmed.end == 0
  }

  mutating func restart() { endFrames = 0 }
}
