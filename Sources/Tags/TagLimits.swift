import CTags

/// Limits of the cost of reading one file's tags, for any content.
public struct TagLimits: Sendable, Hashable {
  /// Total bytes of tags. Default: 64 MiB.
  public var byteCount = 64 << 20
  /// Bytes of an image, or of other data with one key. Default: 16 MiB. Larger data is listed with its first bytes
  /// only.
  public var dataByteCount = 16 << 20
  public var itemCount = 10_000
  /// Values with one key.
  public var valueCount = 1_000
  /// Bytes of all texts of an ID3v2 tag except comments and lyrics. TagLib allocates about 200 bytes for each part of
  /// them.
  public var textByteCount = 1 << 20
  /// The number of reads by TagLib. It bounds the cost of a file that makes TagLib read endlessly.
  public var readCount = 200_000
  /// Stack bytes that nested structures may use.
  public var stackByteCount = 128 << 10

  public init() {}

  /// The limits for the shim.
  var forShim: tags_limits {
    tags_limits(
      byte_count: Int64(byteCount), read_count: Int64(readCount), stack_byte_count: Int64(stackByteCount),
      item_count: Int64(itemCount), picture_byte_count: Int64(dataByteCount), text_byte_count: Int64(textByteCount),
      value_count: Int64(valueCount))
  }
}
