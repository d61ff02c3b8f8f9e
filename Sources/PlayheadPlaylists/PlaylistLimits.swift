import PlayheadMediaCore

/// The limits of playlists. Exceeding a limit throws `playlistLimitExceeded`, except where documented.
public enum PlaylistLimits {
  /// The maximum number of bytes of one playlist: 16 MiB.
  public static let byteCount = 16 << 20
  /// The maximum number of entries, including those of nested playlists.
  public static let entryCount = 100_000
  /// The maximum number of nested levels.
  public static let nestingDepth = 8
  /// The maximum number of playlists read for one, and the maximum total of their bytes.
  public static let playlistCount = 1_000
  /// The maximum total number of bytes of the playlists read for one: 64 MiB.
  public static let totalByteCount = 64 << 20
  /// The maximum number of bytes of a name or URL. Longer ones are skipped with a warning.
  public static let locationByteCount = 4_096
  /// The maximum number of bytes of a title or other text. Longer texts are truncated.
  public static let textByteCount = 4_096
  /// The maximum duration of an entry: 30 years. Longer durations are treated as not known.
  public static let duration = MediaTime(value: 1_000_000_000, timescale: 1)
  /// The maximum number of warnings. Further warnings are dropped, but skipped entries are still counted.
  public static let warningCount = 100
}
