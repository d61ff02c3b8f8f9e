import MediaCore

/// A list while it is being read.
struct PlaylistBuilder {
  private(set) var playlist = Playlist()
  private let resolver: PlaceResolver

  init(list: PlaylistPlace) { resolver = PlaceResolver(list: list) }

  /// Where the list is, for messages.
  var displayText: String { resolver.list.displayText }

  mutating func setTitle(_ title: String?) { if let title { playlist.title = title } }

  mutating func set(_ key: PlaylistMetadataKey, _ value: String?) { playlist.metadata[key] = value }

  /// What is wrong, and not so much that the list is not taken.
  mutating func warn(_ error: MediaError, line: Int) {
    guard playlist.warnings.count < PlaylistLimits.warningCount else { return }
    playlist.warnings.append(PlaylistWarning(line: line, error: error))
  }

  /// An entry is left out.
  mutating func skip(_ error: MediaError, line: Int) {
    playlist.skippedCount += 1
    warn(error, line: line)
  }

  /// The place of a name; nil when it has none, which is a warning.
  mutating func place(ofName name: ArraySlice<UInt8>, line: Int) -> PlaylistPlace? {
    do throws(MediaError) { return try resolver.place(ofName: name) } catch {
      skip(error, line: line)
      return nil
    }
  }

  /// The place of the first of several URI references that has one. Errors of the first that has none.
  func place(ofReferences references: [String]) throws(MediaError) -> PlaylistPlace {
    var first: MediaError?
    for reference in references {
      do throws(MediaError) { return try resolver.place(ofReference: Array(reference.utf8)[...]) } catch {
        first = first ?? error
      }
    }
    throw first ?? MediaError(.invalidArgument, "an entry without a place")
  }

  /// Errors: `playlistLimitExceeded`.
  mutating func append(_ entry: PlaylistEntry) throws(MediaError) {
    guard playlist.entries.count < PlaylistLimits.entryCount else { throw Self.tooManyEntries(displayText) }
    playlist.entries.append(entry)
  }

  static func tooManyEntries(_ list: String) -> MediaError {
    MediaError(.playlistLimitExceeded, "a list has at most \(PlaylistLimits.entryCount) entries: \(list)")
  }

  /// An error of the whole list.
  func damaged(_ what: String, line: Int) -> MediaError {
    MediaError(.damagedPlaylist, "\(what), in line \(line) of \(displayText)")
  }
}
