/// The reason why the position after a seek may differ from the position of the first sample read.
public enum PositionDoubt: String, Sendable, Hashable, Codable, CaseIterable {
  /// The position is calculated from the bit rate, from the durations in a playlist, or from the timestamps of a
  /// Matroska file that is remote, or too long to check all of them. Only reading all media before the position would
  /// confirm it.
  case estimated
  /// The timestamps of the file contradict its frame counts, and the file is remote or too long to count all frames.
  case irregularTimestamps
  /// Timestamps are rounded to more than a frame, and the frames have no common length from which the exact timestamp
  /// could be derived.
  case coarseTimestamps
  /// The decoder state depends on all media before the position, and the file is too long to decode from its start.
  case decoderState
  /// Packets between the start of decoding and the position are missing, damaged, or have wrong timestamps.
  case damage
}
