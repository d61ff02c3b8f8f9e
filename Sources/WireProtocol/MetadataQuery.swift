import MediaCore

/// Which of a file's tags are wanted: those that all conditions let through.
public struct MetadataQuery: Sendable, Hashable {
  /// A key space, such as `id3`; nil: any.
  public var space: String?
  /// Space and key, such as `id3/TIT2`; nil: any.
  public var identifier: String?
  /// Languages, the most wanted first, as which the tags are sorted; empty: any, and those that say none.
  public var languages: WireList<String>
  /// What is known under common keys, under these.
  public var isCommon: Bool
  /// So many are left out.
  public var offset: Int
  /// The encoding of texts that do not state one; nil: as before.
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

/// What is wanted of a file's pictures.
public enum ArtworkQuery: Sendable, Hashable {
  /// Which there are, so many left out.
  case list(from: Int)
  /// Bytes of one, in a reply; a nil index: the front cover, or else the first.
  case piece(index: Int?, offset: Int, limit: Int)
  /// One written into a file that must not be there yet, unless it is to be replaced.
  case file(index: Int?, FilePath, replaces: Bool)

  /// Bytes of a picture in one reply: as many as fit a line.
  public static let maximumPieceByteCount = 49_152 - 1_536
}
