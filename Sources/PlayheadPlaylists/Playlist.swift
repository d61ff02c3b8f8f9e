import PlayheadMediaCore

/// The location of a playlist entry.
public enum PlaylistLocation: Sendable, Hashable {
  /// A file path, in the bytes of the file system, which need not be UTF-8.
  case file([UInt8])
  /// An `http:` or `https:` URL, in ASCII.
  case url(String)

  /// The number of bytes of the path or URL.
  var byteCount: Int {
    switch self {
    case .file(let path): path.count
    case .url(let text): text.utf8.count
    }
  }

  /// The text for messages. Invalid UTF-8 becomes U+FFFD, and credentials are removed.
  public var displayText: String {
    switch self {
    case .file(let path): String(decoding: path, as: UTF8.self)
    case .url(let text): AddressText.withoutCredentials(text)
    }
  }

  /// The extension of the last component, in lower case; nil when missing.
  public var pathExtension: String? {
    let bytes: [UInt8] =
      switch self {
      case .file(let path): path
      case .url(let text): Array(text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
      }
    let name = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last ?? []
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    return String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
  }

  /// Whether the extension is that of a playlist. An `.m3u8` URL counts as an HLS stream, which is one medium.
  public var isNamedAsPlaylist: Bool {
    if case .url = self, pathExtension == "m3u8" { return false }
    return pathExtension.map { PlaylistFormat.extensions[$0] != nil } ?? false
  }
}

/// Metadata of playlists and entries other than titles and durations. The raw values are part of the saved state.
public enum PlaylistMetadataKey: String, Sendable, Hashable, CaseIterable {
  /// The artist.
  case creator
  /// The title of the album.
  case album
  /// The comment.
  case annotation
  /// The genre.
  case genre
  /// The date of publication.
  case date
  /// The number of the track.
  case trackNumber
  /// The songwriter.
  case songwriter
  /// The ISRC of the recording, 12 characters.
  case isrc
  /// The catalog number of the disc, 13 digits.
  case catalog
  /// The id of the disc in CD databases.
  case discID
  /// FLAGS of a CUE sheet: `DCP`, `4CH`, `PRE`, `SCMS`.
  case flags
  /// The file type in a CUE sheet, unless `WAVE`: `BINARY`, `MP3`, ...
  case fileType
  /// INDEX 02 and higher of a CUE sheet: `NN MM:SS:FF` in times of the file, separated by `, `.
  case indexPoints
  /// Silence that a disc has before or after the track and the file does not contain, as `MM:SS:FF`. It is not played.
  case pregap
  /// Silence after the track, in the form of ``pregap``.
  case postgap
  /// The ReplayGain gain of the track.
  case replayGainTrackGain
  /// The ReplayGain peak of the track.
  case replayGainTrackPeak
  /// The ReplayGain gain of the album.
  case replayGainAlbumGain
  /// The ReplayGain peak of the album.
  case replayGainAlbumPeak
  /// The elements `info` and `image` of XSPF.
  case info
  /// The element `image` of XSPF.
  case image
}

/// An entry of a playlist.
public struct PlaylistEntry: Sendable, Hashable {
  /// The location of the media.
  public var location: PlaylistLocation
  /// The title stated in the playlist; nil when missing.
  public var title: String?
  /// The duration stated in the playlist; nil when missing.
  public var duration: MediaTime?
  /// The range of the file to play; nil for the whole file. The duration is infinite when the range extends to the
  /// file's end.
  public var range: TimeRange?
  /// Other metadata of the entry.
  public var metadata: [PlaylistMetadataKey: String]

  /// Creates an entry.
  public init(
    location: PlaylistLocation, title: String? = nil, duration: MediaTime? = nil, range: TimeRange? = nil,
    metadata: [PlaylistMetadataKey: String] = [:]
  ) {
    self.location = location
    self.title = title
    self.duration = duration
    self.range = range
    self.metadata = metadata
  }
}

/// A warning about a part of a playlist that was ignored.
public struct PlaylistWarning: Sendable, Hashable {
  /// The line in the playlist, from 1.
  public var line: Int
  /// The reason why the part was ignored.
  public var error: MediaError

  /// Creates a warning.
  public init(line: Int, error: MediaError) {
    self.line = line
    self.error = error
  }
}

/// The contents of a playlist. ``PlaylistFormat`` lists the supported formats.
public struct Playlist: Sendable, Hashable {
  /// The title of the playlist; nil when missing.
  public var title: String?
  /// The entries, in order.
  public var entries: [PlaylistEntry]
  /// The metadata of all entries, such as the performer of a disc and its year.
  public var metadata: [PlaylistMetadataKey: String]
  /// The first warnings, at most 100.
  public var warnings: [PlaylistWarning]
  /// The number of skipped entries. Each has a warning, within the limit.
  public var skippedCount: Int

  /// Creates a playlist.
  public init(
    title: String? = nil, entries: [PlaylistEntry] = [], metadata: [PlaylistMetadataKey: String] = [:],
    warnings: [PlaylistWarning] = [], skippedCount: Int = 0
  ) {
    self.title = title
    self.entries = entries
    self.metadata = metadata
    self.warnings = warnings
    self.skippedCount = skippedCount
  }

  /// Parses the bytes of a playlist at `location`. Relative names are resolved against `location`.
  ///
  /// The content determines the format. If the content is ambiguous, the extension of `location` determines it, or else
  /// `assumed`. Problems of single entries are in `warnings`.
  ///
  /// - Throws: `notAPlaylist`, also for HLS, which is one medium; `damagedPlaylist`; `playlistLimitExceeded`.
  public init(
    parsing bytes: [UInt8], at location: PlaylistLocation, assumed: PlaylistFormat? = nil
  ) throws(MediaError) {
    try Self.check(byteCount: bytes.count, of: location)
    let text = PlaylistText(bytes)
    try self.init(text, PlaylistFormat(of: text, extension: location.pathExtension, assumed: assumed), at: location)
  }

  static func check(byteCount: Int, of location: PlaylistLocation) throws(MediaError) {
    guard byteCount <= PlaylistLimits.byteCount else {
      throw MediaError(
        .playlistLimitExceeded,
        "a playlist must have at most \(PlaylistLimits.byteCount) bytes: \(location.displayText)")
    }
  }

  init(_ text: PlaylistText, _ format: PlaylistFormat?, at location: PlaylistLocation) throws(MediaError) {
    var builder = PlaylistBuilder(location: location)
    switch format {
    case .m3u: try M3UParser.parse(text, into: &builder)
    case .pls: try PLSParser.parse(text, into: &builder)
    case .xspf: try XSPFParser.parse(text, into: &builder)
    case .cue: try CueParser.parse(text, into: &builder)
    case .hlsMedia, .hlsMaster:
      throw MediaError(.notAPlaylist, "an HLS stream is not a list of entries: \(location.displayText)")
    case nil: throw MediaError(.notAPlaylist, "unknown playlist format: \(location.displayText)")
    }
    self = builder.playlist
  }

  /// The entries with the metadata that they inherit from the playlist.
  public var entriesWithInheritedMetadata: [PlaylistEntry] {
    guard !metadata.isEmpty || title != nil else { return entries }
    let keys: Set<PlaylistMetadataKey> = [
      .creator, .genre, .date, .catalog, .discID, .songwriter, .replayGainAlbumGain, .replayGainAlbumPeak,
    ]
    let common = metadata.filter { keys.contains($0.key) }
    return entries.map { entry in
      var entry = entry
      entry.metadata.merge(common) { entryValue, _ in entryValue }
      // A playlist of tracks or parts of files describes an album.
      if entry.range != nil || entry.metadata[.trackNumber] != nil, entry.metadata[.album] == nil {
        entry.metadata[.album] = title
      }
      return entry
    }
  }
}
