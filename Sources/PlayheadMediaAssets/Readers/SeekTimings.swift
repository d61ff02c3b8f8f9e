/// The time that a seek in a track spent, by activity. Each value is in monotonic nanoseconds, 0 or more.
package struct SeekTimings: Sendable, Hashable, Codable {
  /// The search for the position in the file: reading headers, and searching and extending the index.
  package var indexNanoseconds: Int64 = 0
  /// Reading packets from that position.
  package var demuxNanoseconds: Int64 = 0
  /// Decoding up to the first delivered frame.
  package var decodeNanoseconds: Int64 = 0

  /// Creates timings of zero.
  package init() {}
}
