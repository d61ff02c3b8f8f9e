import LibAV

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
