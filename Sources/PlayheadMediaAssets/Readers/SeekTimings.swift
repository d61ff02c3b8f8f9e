/// The time that a seek in a track spent, by activity. Each value is in monotonic nanoseconds, 0 or more.
public struct SeekTimings: Sendable, Hashable, Codable {
  /// The search for the position in the file: reading headers, and searching and extending the index.
  public var indexNanoseconds: Int64 = 0
  /// Reading packets from that position.
  public var demuxNanoseconds: Int64 = 0
  /// Decoding up to the first delivered frame.
  public var decodeNanoseconds: Int64 = 0

  /// Creates timings of zero.
  public init() {}
}
