import MediaAssets
import MediaCore
import NetworkIO
import OrderedCollections
import Playback
import Playlists
import RealtimeAudio
import WireProtocol

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
        case .url(let text): if (try? FilePath(text: text))?.isAddress == true { return true }
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

  /// The warnings about omitted entries, one row each. Their number is limited.
  var rows: [Fields] {
    warnings.map { warning in
      [
        "line": .int(warning.line), "code": .int(warning.error.code.rawValue), "name": .string(warning.error.code.name),
        "message": .string(warning.error.message),
      ]
    }
  }
}

/// Commands about playlists: adding their entries to the queue, and exporting the queue.
extension Connection {
  /// Starts an edit whose paths include playlists. A separate thread reads the playlists before the edit is applied.
  func start(
    _ command: QueueCommand, expanding playlistPaths: WireList<FilePath>, isForced: Bool, on target: NamedPlayer,
    _ request: WaitingRequest
  ) throws(MediaError) {
    try checkVersion(command.ifVersion, of: target)
    // A playlist that is named several times is read once.
    let playlistPaths = Array(OrderedSet(playlistPaths))
    let loader = server.playlistLoader
    let locations = playlistPaths.map { $0.isAddress ? PlaylistLocation.url($0.text) : .file($0.bytes) }
    let readID = loader.read(
      locations, assumed: isForced ? .m3u : nil, options: server.registry.httpOptions(command.network)
    ) {
      [self, loop = server.loop] result in
      // A playlist can have so many entries that the control loop must not inspect each.
      NamedThread.detached(name: "expand-list") {
        let expansion = result.map { PlaylistExpansion(playlistPaths, $0) }
        loop.execute {
          request.resume(with: expansion) { expansion throws(MediaError) in
            try self.startExpandedEdit(command, expansion, on: target, request)
          }
        }
      }
    }
    request.onEnd { loader.cancel(readID) }
  }

  /// Applies an edit with the entries of its playlists, in several loop iterations. Then replies.
  ///
  /// - Throws: `empty-playlist` or the first warning if there are no entries, or `version-mismatch`.
  private func startExpandedEdit(
    _ command: QueueCommand, _ expansion: PlaylistExpansion, on target: NamedPlayer, _ request: WaitingRequest
  ) throws(MediaError) {
    guard expansion.count(of: command.paths) > 0 else {
      throw expansion.warnings.first?.error ?? MediaError(.emptyPlaylist, "the playlist has no entries")
    }
    let (skippedCount, rows) = (expansion.skippedCount, expansion.rows)
    try edit(command, on: target, expansion, request) { prepared, version in
      var fields = Self.fields(ofEdit: prepared.ids, version: version)
      if skippedCount > 0 { fields.append("skipped", .int(skippedCount)) }
      let reply = Reply.ok(fields, rows: rows)
      guard command.waitsUntilReady else { return request.finish(reply) }
      self.waitUntilReady(prepared.items.map(\.id), on: target, request, reply)
    }
  }

  /// Replies with a part of the queue as lines of a playlist. Replies in a later loop iteration if many entries before
  /// the part must be counted.
  ///
  /// - Parameters:
  ///   - sliceLength: The number of entries that may be counted in this loop iteration.
  ///   - version: The version of the queue in the previous iteration. Nil in the first one.
  func export(
    _ part: ExportPart, of player: String, _ request: WaitingRequest, sliceLength: Int = ListedCounts.sliceLength,
    version: UInt64? = nil
  ) {
    do throws(MediaError) {
      // The player may have been closed since the previous iteration.
      let target = try server.registry.player(player)
      let currentVersion = target.state.queueVersion
      // After a change of the queue, counting restarts with slices twice as long. It therefore ends even if the queue
      // changes continually.
      let length = version == nil || version == currentVersion ? sliceLength : sliceLength * 2
      if let reply = try lines(part, of: target, counting: length) { return request.finish(reply) }
      server.loop.execute { [weak self] in
        self?.export(part, of: player, request, sliceLength: length, version: currentVersion)
      }
    } catch {
      request.fail(error)
    }
  }

  /// The lines of a part, limited to the output buffer of the peer. Entries without a location are omitted.
  ///
  /// - Returns: Nil if `sliceLength` entries were counted, and more entries before the part must be counted.
  private func lines(
    _ part: ExportPart, of target: NamedPlayer, counting sliceLength: Int
  ) throws(MediaError) -> Reply? {
    let state = target.state
    let start = min(part.offset, state.itemCount)
    let end = start + min(part.limit, server.limits.listCount, state.itemCount - start)
    var listed = ListedPrefix()
    // A format without numbers needs the count only if no listed entry follows: an empty playlist is an error.
    if start > 0, part.isNumbered || (end == state.itemCount && target.listedCount(in: start..<end) == 0) {
      guard let before = target.listedPrefix(before: start, counting: sliceLength) else { return nil }
      listed = before
    }
    let entries = target.player.onLoop { $0.items(in: start..<end).map(\.exportedEntry) }
    var writer = PlaylistWriter(format: PlaylistFormat(part.format), base: part.base?.bytes)
    if part.format == .cue, let entry = entries.compactMap(\.self).first { writer.title = entry.metadata[.album] }
    var lines = start == 0 ? writer.head() : []
    var next = start
    var skippedCount = 0
    var byteCount = 0
    for (index, entry) in zip(start..<end, entries) {
      if let entry {
        let added = try writer.lines(of: entry, index: part.isNumbered ? listed.count : index, after: listed.lastEntry)
        byteCount += added.reduce(0) { $0 + $1.utf8.count * Self.exportedBytesPerByte + Self.bytesPerLine }
        if byteCount > server.limits.outputByteCount / 2, next > start { break }
        lines += added
        listed.append(entry)
      } else {
        skippedCount += 1
      }
      next = index + 1
    }
    let isComplete = next == state.itemCount
    if isComplete, listed.count == 0, state.itemCount > 0 {
      throw MediaError(.emptyPlaylist, "no entry of the queue has a path or URL that a playlist can contain")
    }
    if isComplete { lines += try writer.tail(count: listed.count, last: listed.lastEntry) }
    var fields: Fields = [
      "count": .int(state.itemCount), "version": .int(state.queueVersion),
      "next": isComplete ? FieldValue.none : .int(next),
    ]
    if skippedCount > 0 { fields.append("skipped", .int(skippedCount)) }
    return .ok(fields, rows: lines.map { ["text": .string($0)] })
  }

  /// The maximum number of reply bytes for one byte of a line: JSON escapes a control character as `\u001f`.
  private static let exportedBytesPerByte = 6
  /// The approximate number of additional bytes for each line.
  private static let bytesPerLine = 80
}

/// The part of a queue to export as lines of a playlist.
struct ExportPart: Sendable {
  let format: QueueCommand.PlaylistFormat
  /// The folder of the future playlist file. Nil: the playlist contains absolute paths.
  let base: FilePath?
  /// The queue index of the first entry.
  let offset: Int
  /// The maximum number of entries.
  let limit: Int

  /// Whether the format contains the numbers of its entries.
  var isNumbered: Bool { format == .pls || format == .cue }
}

extension PlaylistFormat {
  fileprivate init(_ format: QueueCommand.PlaylistFormat) {
    switch format {
    case .m3u8: self = .m3u
    case .pls: self = .pls
    case .xspf: self = .xspf
    case .cue: self = .cue
    }
  }
}

extension PlayerItem {
  /// The duration for lists. Before the file is opened, the duration from the playlist.
  var shownDuration: MediaTime {
    status == .unknown ? playlistEntry?.duration ?? duration : duration
  }

  /// Appends the title and artist, from the tags or from the playlist, and the range within the file.
  func appendTitleAndRange(to fields: inout Fields) {
    let titles = titleAndArtist
    fields.append("title", ifPresent: titles.title.map { .string($0) })
    fields.append("artist", ifPresent: titles.artist.map { .string($0) })
    fields.append(
      "range",
      ifPresent: timeRange.map { .string($0.wireText) })
  }

  /// The title and artist, if known: those of the tags, or else the title of the playlist entry.
  var titleAndArtist: (title: String?, artist: String?) {
    let tags = tagTitles
    return (tags?.title ?? playlistEntry?.title, tags?.artist)
  }

  /// The known title, artist and album in the tags. The tags of a part of a file are ignored, because they describe the
  /// whole file.
  var tagTitles: AssetTitles? { timeRange == nil ? asset.titles : nil }

  /// The location in a playlist. Nil for descriptors and for data without a location.
  private var playlistLocation: PlaylistLocation? {
    if let url = asset.url { return .url(url.redacted) }
    return asset.path.isEmpty ? nil : .file(asset.path)
  }

  /// The playlist entry for an export of the item. Nil if the item has no location.
  var exportedEntry: PlaylistEntry? {
    guard let location = playlistLocation else { return nil }
    var entry = playlistEntry ?? PlaylistEntry(location: location)
    // Replaces the URL of the playlist, which may contain a user name and password.
    if asset.url != nil { entry.location = location }
    entry.range = timeRange
    if duration.isNumeric { entry.duration = duration }
    return entry
  }
}
