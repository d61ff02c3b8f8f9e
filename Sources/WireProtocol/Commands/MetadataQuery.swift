import MediaCore

/// A filter for a file's tags. A tag must satisfy all conditions.
public struct MetadataQuery: Sendable, Hashable {
  /// A key space, such as `id3`. Nil: any.
  public var space: String?
  /// Key space and key, such as `id3/TIT2`. Nil: any.
  public var identifier: String?
  /// The languages, most preferred first. The tags are sorted in this order. Empty: any language, including tags
  /// without one.
  public var languages: WireList<String>
  /// Whether only tags with a common key are returned, under that key.
  public var isCommon: Bool
  /// The number of tags to skip.
  public var offset: Int
  /// The encoding of texts that do not state one. Nil: unchanged.
  public var charset: TextCharset?

  public init(
    space: String? = nil, identifier: String? = nil, languages: WireList<String> = [], isCommon: Bool = false,
    offset: Int = 0, charset: TextCharset? = nil
  ) {
    self.space = space
    self.identifier = identifier
    self.languages = languages
    self.isCommon = isCommon
    self.offset = offset
    self.charset = charset
  }
}

/// A request for a file's artwork.
public enum ArtworkQuery: Sendable, Hashable {
  /// The list of images, beginning with index `from`.
  case list(from: Int)
  /// A range of bytes of one image, in the reply. A nil index selects the front cover, or the first image if there is
  /// none.
  case part(index: Int?, offset: Int, limit: Int)
  /// Writes one image to a file. The file must not exist unless `replaces` is true.
  case file(index: Int?, FilePath, replaces: Bool)

  /// The maximum number of image bytes in one reply, so that the reply fits into a line.
  public static let maximumPartByteCount = 49_152 - 1_536
}
