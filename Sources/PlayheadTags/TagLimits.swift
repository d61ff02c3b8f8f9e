import CPlayheadTags

/// Limits that bound the cost of reading the tags of one file, whatever it contains.
package struct TagLimits: Sendable, Hashable {
  /// The total number of bytes of tags. Default: 64 MiB.
  package var byteCount = 64 << 20
  /// The number of bytes of an image, or of other data with one key. Default: 16 MiB. Of larger data, only the first
  /// bytes are kept.
  package var dataByteCount = 16 << 20
  package var itemCount = 10_000
  /// The number of values with one key.
  package var valueCount = 1_000
  /// The number of bytes of all texts of an ID3v2 tag except comments and lyrics. TagLib allocates about 200 bytes for
  /// each part of such a text.
  package var textByteCount = 1 << 20
  /// The number of reads by TagLib. This limit bounds the cost of a file that makes TagLib read endlessly.
  package var readCount = 200_000
  /// The number of stack bytes that nested structures may use.
  package var stackByteCount = 128 << 10

  package init() {}

  /// The limits in the C interface.
  var forShim: tags_limits {
    tags_limits(
      byte_count: Int64(byteCount), read_count: Int64(readCount), stack_byte_count: Int64(stackByteCount),
      item_count: Int64(itemCount), picture_byte_count: Int64(dataByteCount), text_byte_count: Int64(textByteCount),
      value_count: Int64(valueCount))
  }
}
