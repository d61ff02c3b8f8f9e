import PlayheadMediaCore

/// The bytes of a playlist, as a ``Playlist/Reader`` returns them.
package struct PlaylistData: Sendable {
  /// The bytes of the playlist.
  package var bytes: [UInt8]
  /// The identity of the file, independent of its name: device and inode. Nil: the location is the identity.
  package var identity: [UInt64]?

  /// Creates the data of a playlist.
  package init(bytes: [UInt8], identity: [UInt64]? = nil) {
    self.bytes = bytes
    self.identity = identity
  }
}

extension Playlist {
  /// Reads the contents of a location, at most `byteLimit` bytes. Throws for anything but a regular file, and
  /// `playlistLimitExceeded` for a longer file.
  package typealias Reader = (PlaylistLocation, _ byteLimit: Int) throws(MediaError) -> PlaylistData

  /// Reads a playlist and its nested playlists. Entries with the extension of a playlist are replaced by the entries
  /// of that playlist. An HLS stream is one entry. Entries inherit the metadata of their playlist.
  ///
  /// Nested playlists that are unreadable or invalid are skipped with a warning.
  ///
  /// - Throws: the errors of `reader` for the outer playlist, and those of `init(parsing:at:assumed:)`.
  ///   `playlistCycle` for a playlist that contains itself, directly or indirectly. `playlistLimitExceeded` for more
  ///   than 8 nested levels, and for other exceeded limits.
  package init(
    expanding location: PlaylistLocation, assumed: PlaylistFormat? = nil, reader: Reader
  ) throws(MediaError) {
    var usage = PlaylistUsage()
    try self.init(expanding: location, assumed: assumed, usage: &usage, reader: reader)
  }

  /// Reads one of several playlists whose contents count together toward the limits. Otherwise like
  /// `init(expanding:assumed:reader:)`.
  ///
  /// - Parameters:
  ///   - location: The location of the playlist.
  ///   - assumed: The format when content and extension are ambiguous.
  ///   - usage: the usage of the earlier playlists. The usage of this one is added.
  ///   - reader: Returns the bytes of a playlist.
  package init(
    expanding location: PlaylistLocation, assumed: PlaylistFormat? = nil, usage: inout PlaylistUsage, reader: Reader
  ) throws(MediaError) {
    self.init()
    var expander = PlaylistExpander(usage)
    defer { usage = expander.usage }
    try expander.expand(location, assumed: assumed, reader)
    self = expander.result
  }
}

/// The parts of ``PlaylistLimits`` that several playlists have used together.
package struct PlaylistUsage: Sendable, Hashable {
  var playlistCount = 0
  var byteCount = 0
  var entryCount = 0

  /// Creates a usage of zero.
  package init() {}
}

/// The traversal of nested playlists.
private struct PlaylistExpander {
  var result = Playlist()
  private struct Step {
    var location: PlaylistLocation
    var identity: [UInt64]?
  }
  /// The stack of enclosing playlists.
  private var enclosingPlaylists: [Step] = []
  private(set) var usage: PlaylistUsage

  init(_ usage: PlaylistUsage) { self.usage = usage }

  mutating func expand(
    _ location: PlaylistLocation, assumed: PlaylistFormat?, _ reader: Playlist.Reader
  ) throws(MediaError) {
    guard enclosingPlaylists.count < PlaylistLimits.nestingDepth else {
      throw Self.limitError("playlists are nested more than \(PlaylistLimits.nestingDepth) deep", location)
    }
    guard !enclosingPlaylists.contains(where: { $0.location == location }) else { throw Self.cycleError(location) }
    usage.playlistCount += 1
    guard usage.playlistCount <= PlaylistLimits.playlistCount else {
      throw Self.limitError(
        "the playlists refer to more than \(PlaylistLimits.playlistCount) playlists in total", location)
    }
    let data = try reader(location, PlaylistLimits.byteCount)
    if let identity = data.identity, enclosingPlaylists.contains(where: { $0.identity == identity }) {
      throw Self.cycleError(location)
    }
    usage.byteCount += data.bytes.count
    guard usage.byteCount <= PlaylistLimits.totalByteCount else {
      throw Self.limitError("playlists have more than \(PlaylistLimits.totalByteCount) bytes in total", location)
    }
    try Playlist.check(byteCount: data.bytes.count, of: location)
    let text = PlaylistText(data.bytes)
    let format = PlaylistFormat(of: text, extension: location.pathExtension, assumed: assumed)
    if format == .hlsMedia || format == .hlsMaster { return try append(PlaylistEntry(location: location)) }
    let playlist = try Playlist(text, format, at: location)
    if enclosingPlaylists.isEmpty {
      (result.title, result.metadata) = (playlist.title, playlist.metadata)
    }
    result.skippedCount += playlist.skippedCount
    for warning in playlist.warnings { warn(warning) }
    enclosingPlaylists.append(Step(location: location, identity: data.identity))
    for entry in playlist.entriesWithInheritedMetadata {
      if entry.range == nil, entry.location.isNamedAsPlaylist {
        try expandNested(entry, reader)
      } else {
        try append(entry)
      }
    }
    enclosingPlaylists.removeLast()
  }

  private mutating func expandNested(_ entry: PlaylistEntry, _ reader: Playlist.Reader) throws(MediaError) {
    do throws(MediaError) { try expand(entry.location, assumed: nil, reader) } catch {
      // Skip unreadable locations and files that are not playlists.
      guard (2_000..<3_000).contains(error.code.rawValue) || error.code == .notAPlaylist else { throw error }
      result.skippedCount += 1
      warn(PlaylistWarning(line: 0, error: error))
    }
  }

  private mutating func append(_ entry: PlaylistEntry) throws(MediaError) {
    guard usage.entryCount < PlaylistLimits.entryCount else {
      throw PlaylistBuilder.tooManyEntries(entry.location.displayText)
    }
    usage.entryCount += 1
    result.entries.append(entry)
  }

  private mutating func warn(_ warning: PlaylistWarning) {
    if result.warnings.count < PlaylistLimits.warningCount { result.warnings.append(warning) }
  }

  private static func limitError(_ problem: String, _ location: PlaylistLocation) -> MediaError {
    MediaError(.playlistLimitExceeded, "\(problem): \(location.displayText)")
  }

  private static func cycleError(_ location: PlaylistLocation) -> MediaError {
    MediaError(.playlistCycle, "the playlist refers to itself: \(location.displayText)")
  }
}
