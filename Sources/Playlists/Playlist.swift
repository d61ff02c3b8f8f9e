import MediaCore

/// Where an entry of a list is.
public enum PlaylistPlace: Sendable, Hashable {
  /// A file: its path as the system's bytes, which need not be UTF-8.
  case file([UInt8])
  /// An `http:` or `https:` URL, in ASCII.
  case url(String)

  /// How long its path or address is.
  var byteCount: Int {
    switch self {
    case .file(let path): path.count
    case .url(let text): text.utf8.count
    }
  }

  /// For messages; what is not UTF-8 shows as U+FFFD, and addresses are without a user's name and password.
  public var displayText: String {
    switch self {
    case .file(let path): String(decoding: path, as: UTF8.self)
    case .url(let text): AddressText.withoutCredentials(text)
    }
  }

  /// What stands behind the last dot of the last component, in lower case; nil where there is none.
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

  /// Whether the name says that this is a list. An `.m3u8` of a server is taken for a stream (HLS), which is one medium.
  public var isNamedAsPlaylist: Bool {
    if case .url = self, pathExtension == "m3u8" { return false }
    return pathExtension.map { PlaylistFormat.extensions[$0] != nil } ?? false
  }
}

/// What lists say of entries and of themselves besides titles and durations. The raw values are for programs.
public enum PlaylistMetadataKey: String, Sendable, Hashable, CaseIterable {
  case creator
  case album
  case annotation
  case genre
  case date
  case trackNumber
  case songwriter
  /// The recording's code, of 12 characters.
  case isrc
  /// The disc's number, of 13 digits.
  case catalog
  case discID
  /// CUE's FLAGS: `DCP`, `4CH`, `PRE`, `SCMS`.
  case flags
  /// CUE's kind of file, where it is not `WAVE`: `BINARY`, `MP3`, ...
  case fileType
  /// CUE's INDEX 02 and more, which divide a track: `NN MM:SS:FF` in the file's times, with `, ` between them.
  case indexPoints
  /// Silence that a disc would have before or behind the track and the file has not, as `MM:SS:FF`. It is not played.
  case pregap
  case postgap
  case replayGainTrackGain
  case replayGainTrackPeak
  case replayGainAlbumGain
  case replayGainAlbumPeak
  /// XSPF's `info` and `image`.
  case info
  case image
}

/// One entry of a list.
public struct PlaylistEntry: Sendable, Hashable {
  public var place: PlaylistPlace
  public var title: String?
  /// What the list says that it lasts; nil when it does not.
  public var duration: MediaTime?
  /// The part of the file that it is; nil: all of it. Where it goes on to the file's end, its duration is infinite.
  public var range: TimeRange?
  public var metadata: [PlaylistMetadataKey: String]

  /// An entry of these parts.
  public init(
    place: PlaylistPlace, title: String? = nil, duration: MediaTime? = nil, range: TimeRange? = nil,
    metadata: [PlaylistMetadataKey: String] = [:]
  ) {
    self.place = place
    self.title = title
    self.duration = duration
    self.range = range
    self.metadata = metadata
  }
}

/// Something in a list that was passed over.
public struct PlaylistWarning: Sendable, Hashable {
  /// The list's line, from 1 on.
  public var line: Int
  public var error: MediaError

  /// A warning of these parts.
  public init(line: Int, error: MediaError) {
    self.line = line
    self.error = error
  }
}

/// What a list says. See `PlaylistFormat` for which lists there are.
public struct Playlist: Sendable, Hashable {
  public var title: String?
  public var entries: [PlaylistEntry]
  /// What is said of all entries: the performer of a disc, its year.
  public var metadata: [PlaylistMetadataKey: String]
  /// What could not be taken, the first `PlaylistLimits.warningCount` of it.
  public var warnings: [PlaylistWarning]
  /// How many entries were left out; each has a warning, if there was room.
  public var skippedCount: Int

  /// A list of these parts.
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

  /// Reads a list: the bytes of what lies at `place`, against which relative names are resolved.
  ///
  /// Its format is told by its content, and where that leaves it open by the extension of `place`, or else it is `assumed`.
  /// Errors: `notAPlaylist`, also for HLS, which is one medium and no list; `damagedPlaylist`; `playlistLimitExceeded`.
  /// What single entries have wrong is in `warnings`.
  public init(
    parsing bytes: [UInt8], at place: PlaylistPlace, assumed: PlaylistFormat? = nil
  ) throws(MediaError) {
    try Self.check(byteCount: bytes.count, of: place)
    let text = PlaylistText(bytes)
    try self.init(text, PlaylistFormat(of: text, extension: place.pathExtension, assumed: assumed), at: place)
  }

  static func check(byteCount: Int, of place: PlaylistPlace) throws(MediaError) {
    guard byteCount <= PlaylistLimits.byteCount else {
      throw MediaError(
        .playlistLimitExceeded, "a list has at most \(PlaylistLimits.byteCount) bytes: \(place.displayText)")
    }
  }

  init(_ text: PlaylistText, _ format: PlaylistFormat?, at place: PlaylistPlace) throws(MediaError) {
    var builder = PlaylistBuilder(list: place)
    switch format {
    case .m3u: try M3UParser.parse(text, into: &builder)
    case .pls: try PLSParser.parse(text, into: &builder)
    case .xspf: try XSPFParser.parse(text, into: &builder)
    case .cue: try CueParser.parse(text, into: &builder)
    case .hlsMedia, .hlsMaster:
      throw MediaError(.notAPlaylist, "an HLS stream, which is no list of entries: \(place.displayText)")
    case nil: throw MediaError(.notAPlaylist, "no list of a known format: \(place.displayText)")
    }
    self = builder.playlist
  }

  /// The entries, each with what the list says of all.
  public var inheritedEntries: [PlaylistEntry] {
    guard !metadata.isEmpty || title != nil else { return entries }
    let keys: Set<PlaylistMetadataKey> = [
      .creator, .genre, .date, .catalog, .discID, .songwriter, .replayGainAlbumGain, .replayGainAlbumPeak,
    ]
    let common = metadata.filter { keys.contains($0.key) }
    return entries.map { entry in
      var entry = entry
      entry.metadata.merge(common) { own, _ in own }
      // A list of parts of files is one of an album.
      if entry.range != nil || entry.metadata[.trackNumber] != nil, entry.metadata[.album] == nil {
        entry.metadata[.album] = title
      }
      return entry
    }
  }
}
