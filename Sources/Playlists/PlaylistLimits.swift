import MediaCore

/// What lists may have. Beyond it is `playlistLimitExceeded`, unless it says otherwise.
public enum PlaylistLimits {
  /// Bytes of one list: 16 MiB.
  public static let byteCount = 16 << 20
  /// Entries, those of nested lists included.
  public static let entryCount = 100_000
  /// Lists in a list in a list: so many below each other.
  public static let nestingDepth = 8
  /// Lists that are read for one, and their bytes together.
  public static let listCount = 1_000
  public static let totalByteCount = 64 << 20
  /// Bytes of a name or URL; a longer one is left out, with a warning.
  public static let placeByteCount = 4_096
  /// Bytes of a title or other text; a longer one is cut.
  public static let textByteCount = 4_096
  /// What an entry may be said to last: 30 years. More is not known.
  public static let duration = MediaTime(value: 1_000_000_000, timescale: 1)
  /// Warnings that are kept; more are counted only.
  public static let warningCount = 100
}
