import PlayheadMediaCore

/// Collects the contents of a playlist during parsing.
struct PlaylistBuilder {
  private(set) var playlist = Playlist()
  private let resolver: LocationResolver

  init(location: PlaylistLocation) { resolver = LocationResolver(playlistLocation: location) }

  /// The text of the playlist's location for messages.
  var displayText: String { resolver.playlistLocation.displayText }

  mutating func setTitle(_ title: String?) { if let title { playlist.title = title } }

  mutating func set(_ key: PlaylistMetadataKey, _ value: String?) { playlist.metadata[key] = value }

  /// Adds a warning about a problem that does not prevent parsing.
  mutating func warn(_ error: MediaError, line: Int) {
    guard playlist.warnings.count < PlaylistLimits.warningCount else { return }
    playlist.warnings.append(PlaylistWarning(line: line, error: error))
  }

  /// Skips an entry with a warning.
  mutating func skip(_ error: MediaError, line: Int) {
    playlist.skippedCount += 1
    warn(error, line: line)
  }

  /// Resolves a name. Adds a warning and returns nil when that fails.
  mutating func location(ofName name: ArraySlice<UInt8>, line: Int) -> PlaylistLocation? {
    do throws(MediaError) { return try resolver.location(ofName: name) } catch {
      skip(error, line: line)
      return nil
    }
  }

  /// Resolves the first valid one of several URI references.
  ///
  /// - Throws: the error of the first reference when none is valid.
  func location(ofReferences references: [String]) throws(MediaError) -> PlaylistLocation {
    var first: MediaError?
    for reference in references {
      do throws(MediaError) { return try resolver.location(ofReference: Array(reference.utf8)[...]) } catch {
        first = first ?? error
      }
    }
    throw first ?? MediaError(.invalidArgument, "the entry has no location")
  }

  /// - Throws: `playlistLimitExceeded`.
  mutating func append(_ entry: PlaylistEntry) throws(MediaError) {
    guard playlist.entries.count < PlaylistLimits.entryCount else { throw Self.tooManyEntries(displayText) }
    playlist.entries.append(entry)
  }

  static func tooManyEntries(_ displayText: String) -> MediaError {
    MediaError(
      .playlistLimitExceeded, "a playlist must have at most \(PlaylistLimits.entryCount) entries: \(displayText)")
  }

  /// The error for a damaged playlist.
  func damaged(_ problem: String, line: Int) -> MediaError {
    MediaError(.damagedPlaylist, "\(problem), in line \(line) of \(displayText)")
  }
}
