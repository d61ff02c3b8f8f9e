import PlayheadMediaCore

/// The limits of playlists. Exceeding a limit throws `playlistLimitExceeded`, except where documented.
package enum PlaylistLimits {
  /// The maximum number of bytes of one playlist: 16 MiB.
  package static let byteCount = 16 << 20
  /// The maximum number of entries, including those of nested playlists.
  package static let entryCount = 100_000
  /// The maximum number of nested levels.
  package static let nestingDepth = 8
  /// The maximum number of playlists read for one, and the maximum total of their bytes.
  package static let playlistCount = 1_000
  /// The maximum total number of bytes of the playlists read for one: 64 MiB.
  package static let totalByteCount = 64 << 20
  /// The maximum number of bytes of a name or URL. Longer ones are skipped with a warning.
  package static let locationByteCount = 4_096
  /// The maximum number of bytes of a title or other text. Longer texts are truncated.
  package static let textByteCount = 4_096
  /// The maximum duration of an entry: 30 years. Longer durations are treated as not known.
  package static let duration = MediaTime(value: 1_000_000_000, timescale: 1)
  /// The maximum number of warnings. Further warnings are dropped, but skipped entries are still counted.
  package static let warningCount = 100
}
