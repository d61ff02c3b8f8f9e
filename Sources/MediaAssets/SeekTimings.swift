/// Where the time of a seek in a track went. Monotonic nanoseconds, each 0 or more.
public struct SeekTimings: Sendable, Hashable, Codable {
  /// Finding out where in the file to begin: reading headers, looking up and extending the index.
  public var indexNanoseconds: Int64 = 0
  /// Reading packets from there on.
  public var demuxNanoseconds: Int64 = 0
  /// Decoding up to the first frame that is given out.
  public var decodeNanoseconds: Int64 = 0

  public init() {}
}
