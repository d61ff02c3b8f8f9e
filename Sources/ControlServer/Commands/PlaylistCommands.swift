import MediaCore
import NetworkIO
import OrderedCollections
import Playback
import Playlists
import WireProtocol

/// The contents of the playlists among the paths of an edit.
struct ListExpansion {
  /// The playable entries, by the path of their playlist.
  private(set) var entries: [FilePath: [PlaylistEntry]] = [:]
  private(set) var skippedCount = 0
  private(set) var warnings: [PlaylistWarning] = []

  /// Creates the contents from the playlists at `paths`, in the same order.
  init(_ paths: [FilePath], _ lists: [Playlist]) {
    for (path, list) in zip(paths, lists) {
      skippedCount += list.skippedCount
      for warning in list.warnings { warn(warning) }
      entries[path] = list.entries.filter { entry in
        switch entry.location {
        case .file(let path): if FilePath(bytes: path) != nil { return true }
        case .url(let text): if (try? FilePath(text: text))?.isAddress == true { return true }
        }
        skippedCount += 1
        warn(
          PlaylistWarning(
            line: 0, error: MediaError(.unsupportedLocation, "not playable: \(entry.location.displayText)")))
        return false
      }
    }
  }

  private mutating func warn(_ warning: PlaylistWarning) {
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

/// Commands about playlists: reading them into the queue, and exporting the queue.
extension Connection {
  /// Starts an edit whose paths include playlists. They are read on a separate thread, then the edit is made.
  func start(
    _ command: QueueCommand, expanding lists: WireList<FilePath>, isForced: Bool, on target: NamedPlayer,
    _ request: WaitingRequest
  ) throws(MediaError) {
    try check(command.ifVersion, of: target)
    // A playlist that is named several times is read once.
    let lists = Array(OrderedSet(lists))
    let loader = server.playlistLoader
    let locations = lists.map { $0.isAddress ? PlaylistLocation.url($0.text) : .file($0.bytes) }
    let number = loader.read(
      locations, assumed: isForced ? .m3u : nil, options: server.registry.httpOptions(command.network)
    ) {
      [weak self] result in
      guard let self else { return }
      do throws(MediaError) {
        try self.finish(command, ListExpansion(lists, try result.get()), on: target, request)
      } catch {
        request.fail(error)
      }
    }
    request.onEnd { loader.cancel(number) }
  }

  private func finish(
    _ command: QueueCommand, _ expansion: ListExpansion, on target: NamedPlayer, _ request: WaitingRequest
  ) throws(MediaError) {
    guard expansion.count(of: command.paths) > 0 else {
      throw expansion.warnings.first?.error ?? MediaError(.emptyPlaylist, "the playlist has no entries")
    }
    try edit(command, on: target, expansion, request) { items in
      var fields = Self.fields(ofEdit: items, target)
      if expansion.skippedCount > 0 { fields.append("skipped", .int(expansion.skippedCount)) }
      let reply = Reply.ok(fields, rows: expansion.rows)
      guard command.waitsUntilReady else { return request.finish(reply) }
      self.waitUntilReady(items.map(\.id), on: target, request, reply)
    }
  }

  /// Replies with a part of the queue as lines of a playlist. Replies immediately, unless many entries before the part
  /// must be counted first.
  ///
  /// - Parameters:
  ///   - slice: The number of entries that may be counted in this loop iteration.
  ///   - version: The version of the queue in the previous iteration. Nil in the first one.
  func export(
    _ part: ExportPart, of player: String, _ request: WaitingRequest, slice: Int = ListedCounts.sliceLength,
    version: UInt64? = nil
  ) {
    do throws(MediaError) {
      // The player may have been closed meanwhile.
      let target = try server.registry.player(player)
      let present = target.state.queueVersion
      // If the queue changes repeatedly, counting restarts with larger slices, so that it ends.
      let length = version == nil || version == present ? slice : slice * 2
      if let reply = try lines(part, of: target, counting: length) { return request.finish(reply) }
      server.loop.execute { [weak self] in
        self?.export(part, of: player, request, slice: length, version: present)
      }
    } catch {
      request.fail(error)
    }
  }

  /// The lines of a part, limited to the output buffer of the peer. Entries without a location are omitted.
  /// Nil if `slice` entries were counted and more remain before the part.
  private func lines(_ part: ExportPart, of target: NamedPlayer, counting slice: Int) throws(MediaError) -> Reply? {
    let state = target.state
    let start = min(part.offset, state.itemCount)
    let end = start + min(part.limit, server.limits.listCount, state.itemCount - start)
    var listed = Listed()
    // Without numbers, the count only matters if no listed entry follows, because an empty playlist is an error.
    if start > 0, part.isNumbered || (end == state.itemCount && target.listedCount(in: start..<end) == 0) {
      guard let before = target.listed(before: start, counting: slice) else { return nil }
      listed = before
    }
    let entries = target.player.onLoop { $0.items(in: start..<end).map(\.exported) }
    var writer = PlaylistWriter(format: PlaylistFormat(part.form), base: part.base?.bytes)
    if part.form == .cue, let entry = entries.compactMap(\.self).first { writer.title = entry.metadata[.album] }
    var lines = start == 0 ? writer.head() : []
    var next = start
    var skippedCount = 0
    var byteCount = 0
    for (index, entry) in zip(start..<end, entries) {
      if let entry {
        let added = try writer.lines(of: entry, index: part.isNumbered ? listed.count : index, after: listed.last)
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
    if isComplete { lines += try writer.tail(count: listed.count, last: listed.last) }
    var fields: Fields = [
      "count": .int(state.itemCount), "version": .int(state.queueVersion),
      "next": isComplete ? FieldValue.none : .int(next),
    ]
    if skippedCount > 0 { fields.append("skipped", .int(skippedCount)) }
    return .ok(fields, rows: lines.map { ["text": .string($0)] })
  }

  /// The maximum number of reply bytes for one byte of a line, and the number of bytes around each line.
  private static let exportedBytesPerByte = 6
  private static let bytesPerLine = 80
}

/// The part of a queue to export as lines of a playlist.
struct ExportPart: Sendable {
  let form: QueueCommand.PlaylistForm
  /// The folder of the future playlist file.
  let base: FilePath?
  let offset: Int
  /// The maximum number of entries.
  let limit: Int

  /// Whether the format contains the numbers of its entries.
  var isNumbered: Bool { form == .pls || form == .cue }
}

extension PlaylistFormat {
  fileprivate init(_ form: QueueCommand.PlaylistForm) {
    switch form {
    case .m3u8: self = .m3u
    case .pls: self = .pls
    case .xspf: self = .xspf
    case .cue: self = .cue
    }
  }
}

extension PlayerItem {
  /// The duration to show: the playlist's duration before the file is opened, then the file's.
  var shownDuration: MediaTime {
    status == .unknown ? playlistEntry?.duration ?? duration : duration
  }

  /// Appends the title and artist, from the playlist or from loaded tags, and the range of the file.
  func appendListed(to fields: inout Fields) {
    let titles = listedTitles
    fields.append("title", ifPresent: titles.title.map { .string($0) })
    fields.append("artist", ifPresent: titles.artist.map { .string($0) })
    fields.append(
      "range",
      ifPresent: timeRange.map { .string($0.wireText) })
  }

  /// The title and artist, if known. For a part of a file the tags are ignored, because they describe the whole file.
  var listedTitles: (title: String?, artist: String?) {
    let titles = timeRange == nil ? asset.loadedTitles : nil
    return (playlistEntry?.title ?? titles?.title, titles?.artist)
  }

  /// The location in a playlist. Nil for descriptors and for data without a location.
  private var playlistLocation: PlaylistLocation? {
    if let url = asset.url { return .url(url.redacted) }
    return asset.path.isEmpty ? nil : .file(asset.path)
  }

  /// The item as a playlist entry. Nil if it has no location.
  var exported: PlaylistEntry? {
    guard let location = playlistLocation else { return nil }
    var entry = playlistEntry ?? PlaylistEntry(location: location)
    // Replaces the URL of the playlist, which may contain a user name and password.
    if asset.url != nil { entry.location = location }
    entry.range = timeRange
    if duration.isNumeric { entry.duration = duration }
    return entry
  }
}
