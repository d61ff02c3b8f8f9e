/// Why the position after a seek is not proved to be that of the sample that is read first.
public enum PositionDoubt: String, Sendable, Hashable, Codable, CaseIterable {
  /// It is calculated from the bit rate, or from the durations in a playlist: reading everything before it would tell.
  case estimated
  /// The timestamps of the file do not agree with its frames, and the file is too long to count them.
  case irregularTimestamps
  /// Timestamps are rounded to more than a frame, and the frames have no common length that would tell the exact one.
  case coarseTimestamps
  /// The decoder depends on everything before the position, and the file is too long to decode from its start.
  case decoderState
  /// Packets between the packet at which decoding began and the position are missing, damaged, or have wrong timestamps.
  case damage
}
