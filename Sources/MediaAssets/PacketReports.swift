import LibAV
import MediaCore

/// Packets that did not decode.
struct SkippedPackets {
  var count: Int
  /// Why the first did not.
  var failure: AVFailure
  /// Where the first stands on the timeline.
  var frame: Int64
}

/// Timestamps that are not where the sound before them ends.
struct TimestampFault {
  var count: Int
  /// What the first did, and where on the timeline.
  var step: AudioTimeline.Step
  var frame: Int64
}

/// What was found besides frames while a stream was read, until it is taken.
struct PacketReports {
  /// Whether packets since the last seek were missing, did not decode, or had wrong timestamps.
  private(set) var hasDamage = false
  /// Frames that are missing between the packet at which decoding began and the position of the last seek.
  private(set) var holeFrameCount: Int64 = 0
  private var skipped: SkippedPackets?
  private var timestampFault: TimestampFault?
  private var titles: [(frame: Int64, title: StreamTitle)] = []

  /// Packets that did not decode.
  mutating func takeSkipped() -> SkippedPackets? {
    defer { skipped = nil }
    return skipped
  }

  /// Timestamps that made no sense.
  mutating func takeTimestampFault() -> TimestampFault? {
    defer { timestampFault = nil }
    return timestampFault
  }

  /// What the stream said of what it plays, with the frame from which each title holds.
  mutating func takeTitles() -> [(frame: Int64, title: StreamTitle)] {
    defer { titles = [] }
    return titles
  }

  mutating func noteDamage() { hasDamage = true }

  mutating func noteHole(frameCount: Int64) { holeFrameCount += frameCount }

  /// Forgets the damage, because a seek moves elsewhere.
  mutating func restart() { (hasDamage, holeFrameCount) = (false, 0) }

  mutating func note(_ title: StreamTitle, at frame: Int64) { titles.append((frame, title)) }

  mutating func note(_ failure: AVFailure, at frame: Int64) {
    skipped = SkippedPackets(
      count: min(skipped?.count ?? 0, Int.max - 1) + 1, failure: skipped?.failure ?? failure,
      frame: skipped?.frame ?? frame)
  }

  mutating func note(_ step: AudioTimeline.Step, at frame: Int64) {
    timestampFault = TimestampFault(
      count: min(timestampFault?.count ?? 0, Int.max - 1) + 1, step: timestampFault?.step ?? step,
      frame: timestampFault?.frame ?? frame)
  }
}

/// What packets said of the padding at the track's edges, in frames.
struct PacketTrims {
  /// Cut off the file's first packets; nil before the first is read.
  private(set) var firstFrames: Int64?
  /// Cut off the ends of the packets read last, until one is whole.
  private(set) var endFrames: Int64 = 0

  var startFrames: Int64 { firstFrames ?? 0 }

  /// Answers whether what was cut off before was in the middle.
  mutating func note(_ trimmed: (start: Int64, end: Int64)) -> Bool {
    if firstFrames == nil { firstFrames = trimmed.start }
    defer { endFrames = trimmed.end > 0 ? endFrames + trimmed.end : 0 }
    return endFrames > 0 && trimmed.end == 0
  }

  mutating func restart() { endFrames = 0 }
}
