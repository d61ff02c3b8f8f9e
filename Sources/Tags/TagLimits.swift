import CTags

/// Bounds on what reading the tags of one file may cost, whatever it says.
public struct TagLimits: Sendable, Hashable {
  /// Bytes of tags in all: 64 MiB.
  public var byteCount = 64 << 20
  /// Bytes of a picture, or of other data under one key: 16 MiB. What has more is listed without them.
  public var pictureByteCount = 16 << 20
  public var itemCount = 10_000
  /// Values of one key.
  public var valueCount = 1_000
  /// Bytes of all texts of an ID3v2 tag but comments and lyrics. TagLib makes an object of some 200 bytes of each of their parts.
  public var textByteCount = 1 << 20
  /// Pieces in which TagLib may ask for bytes: that is what a file costs that makes it go on without end.
  public var readCount = 200_000
  /// Bytes of the stack that nested structures may use.
  public var stackByteCount = 128 << 10

  public init() {}

  /// The same for the shim.
  var forShim: tags_limits {
    tags_limits(
      byte_count: Int64(byteCount), read_count: Int64(readCount), stack_byte_count: Int64(stackByteCount),
      item_count: Int64(itemCount), picture_byte_count: Int64(pictureByteCount), text_byte_count: Int64(textByteCount),
      value_count: Int64(valueCount))
  }
}
