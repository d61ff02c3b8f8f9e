import OrderedCollections
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlayback
import PlayheadPlaylists
import PlayheadRealtimeAudio
import PlayheadWireProtocol

/// The entries of the playlists that an edit names among its paths.
struct PlaylistExpansion: Sendable {
  /// The playable entries, by the path of their playlist.
  private(set) var entries: [FilePath: [PlaylistEntry]] = [:]
  /// The number of omitted entries, including those without a warning.
  private(set) var skippedCount = 0
  /// The first warnings about omitted entries, at most `PlaylistLimits.warningCount`.
  private(set) var warnings: [PlaylistWarning] = []

  /// Creates the expansion from the playlists at `paths`. Both arrays have the same order.
  init(_ paths: [FilePath], _ playlists: [Playlist]) {
    for (path, playlist) in zip(paths, playlists) {
      skippedCount += playlist.skippedCount
      for warning in playlist.warnings { append(warning) }
      entries[path] = playlist.entries.filter { entry in
        switch entry.location {
        case .file(let path): if FilePath(bytes: path) != nil { return true }
        case .url(let text):
          if (try? FilePath(text: text))?.isAddress == true, (try? HTTPURL(text)) != nil { return true }
        }
        skippedCount += 1
        append(
          PlaylistWarning(
            line: 0, error: MediaError(.unsupportedLocation, "not playable: \(entry.location.displayText)")))
        return false
      }
    }
  }

  private mutating func append(_ warning: PlaylistWarning) {
    if warnings.count < PlaylistLimits.warningCount { warnings.append(warning) }
  }

  /// The number of entries that the paths expand to.
  func count(of paths: some Sequence<FilePath>) -> Int { paths.reduce(0) { $0 + (entries[$1]?.count ?? 1) } }

  /// The omitted entries for the reply. Their number is limited.
  var skippedEntries: [SkippedEntry] { warnings.map { SkippedEntry(line: $0.line, error: $0.error) } }
}

/// Adding the entries of playlists to the queue.
extension Client {
  /// Starts an edit whose paths include playlists. A separate thread reads the playlists before the edit is applied.
  func startExpanding(
    _ edit: QueueEditRequest, on target: NamedPlayer, _ request: WaitingEdit
  ) throws(MediaError) {
    guard case .one(let requested) = edit.edits, let new = requested.newEntries else {
      preconditionFailure("only new entries can be playlists")
    }
    try checkVersion(edit.ifVersion, of: target)
    // A playlist that is named several times is read once.
    let playlistPaths = Array(OrderedSet(new.paths.playlists(edit.playlists)))
    let loader = server.playlistLoader
    let locations = playlistPaths.map { $0.isAddress ? PlaylistLocation.url($0.text) : .file($0.bytes) }
    let readID = loader.read(
      locations, assumed: edit.playlists == .all ? .m3u : nil, options: server.registry.httpOptions(new.network)
    ) {
      [self, loop = server.loop] result in
      // A playlist can have so many entries that the control loop must not inspect each.
      NamedThread.detached(name: "expand-list") {
        let expansion = result.map { PlaylistExpansion(playlistPaths, $0) }
        loop.execute {
          request.erased.resume(with: expansion) { expansion throws(MediaError) in
            try self.startExpandedEdit(edit, of: new.paths, expansion, on: target, request)
          }
        }
      }
    }
    request.erased.onEnd { loader.cancel(readID) }
  }

  /// Applies an edit with the entries of its playlists, in several loop iterations. Then replies.
  ///
  /// - Throws: `empty-playlist` or the first warning if there are no entries, or `version-mismatch`.
  private func startExpandedEdit(
    _ edit: QueueEditRequest, of paths: WireList<FilePath>, _ expansion: PlaylistExpansion, on target: NamedPlayer,
    _ request: WaitingEdit
  ) throws(MediaError) {
    guard expansion.count(of: paths) > 0 else {
      throw expansion.warnings.first?.error ?? MediaError(.emptyPlaylist, "the playlist has no entries")
    }
    let (skippedCount, skippedEntries) = (expansion.skippedCount, expansion.skippedEntries)
    try startApplying(edit, on: target, expansion: expansion, request.erased) { prepared, version in
      var outcome = QueueEditOutcome(.applied(items: prepared.ids, version: version))
      (outcome.skippedCount, outcome.skippedEntries) = (skippedCount, skippedEntries)
      guard edit.waitsUntilReady else { return request.finish(outcome) }
      self.waitUntilReady(prepared.items.map(\.id), on: target, request, outcome)
    }
  }
}

extension PlayerItem {
  /// The duration for lists. Before the file is opened, the duration from the playlist.
  var shownDuration: MediaTime {
    status == .unknown ? playlistEntry?.duration ?? duration : duration
  }

  /// The title and artist, if known. The title is the one that the user gave, or else that of the tags, or else that of
  /// the playlist entry.
  var titleAndArtist: (title: String?, artist: String?) {
    let tags = tagTitles
    return (title ?? tags?.title ?? playlistEntry?.title, tags?.artist)
  }

  /// The known title, artist and album in the tags. The tags of a part of a file are ignored, because they describe the
  /// whole file.
  var tagTitles: AssetTitles? { timeRange == nil ? asset.titles : nil }

  /// The location in a playlist. Nil for descriptors and for data without a location.
  private var playlistLocation: PlaylistLocation? {
    if let url = asset.url { return .url(url.redacted) }
    return asset.pathBytes.isEmpty ? nil : .file(asset.pathBytes)
  }

  /// The playlist entry for an export of the item. Nil if the item has no location.
  var exportedEntry: PlaylistEntry? {
    guard let location = playlistLocation else { return nil }
    var entry = playlistEntry ?? PlaylistEntry(location: location)
    // Replaces the URL of the playlist, which may contain a user name and password.
    if asset.url != nil { entry.location = location }
    // The texts of the request, or else of the playlist, or else of the tags.
    let tags = tagTitles
    entry.title = title ?? entry.title ?? tags?.title
    entry.metadata[.creator] = entry.metadata[.creator] ?? tags?.artist
    entry.metadata[.album] = entry.metadata[.album] ?? tags?.album
    entry.range = timeRange
    if duration.isNumeric { entry.duration = duration }
    return entry
  }
}
