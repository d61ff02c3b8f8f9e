import MediaCore
import NetworkIO
import OrderedCollections
import Playback
import Playlists
import WireProtocol

/// What lists among the paths of an edit contain.
struct ListExpansion {
  /// The entries that can be played, by the list's path.
  private(set) var entries: [FilePath: [PlaylistEntry]] = [:]
  private(set) var skippedCount = 0
  private(set) var warnings: [PlaylistWarning] = []

  /// `lists`: of `paths`, in their order.
  init(_ paths: [FilePath], _ lists: [Playlist]) {
    for (path, list) in zip(paths, lists) {
      skippedCount += list.skippedCount
      for warning in list.warnings { warn(warning) }
      entries[path] = list.entries.filter { entry in
        switch entry.place {
        case .file(let path): if FilePath(bytes: path) != nil { return true }
        case .url(let text): if (try? FilePath(text: text))?.isAddress == true { return true }
        }
        skippedCount += 1
        warn(
          PlaylistWarning(
            line: 0, error: MediaError(.unsupportedPlace, "nothing that can be played: \(entry.place.displayText)")))
        return false
      }
    }
  }

  private mutating func warn(_ warning: PlaylistWarning) {
    if warnings.count < PlaylistLimits.warningCount { warnings.append(warning) }
  }

  /// How many entries these paths become.
  func count(of paths: [FilePath]) -> Int { paths.reduce(0) { $0 + (entries[$1]?.count ?? 1) } }

  /// What was left out, a row each, as far as it is known.
  var rows: [Fields] {
    warnings.map { warning in
      [
        "line": .int(warning.line), "code": .int(warning.error.code.rawValue), "name": .string(warning.error.code.name),
        "message": .string(warning.error.message),
      ]
    }
  }
}

/// Lists of media: read into the queue, and the queue as one.
extension Connection {
  /// Begins an edit some of whose paths are lists: these are read on a thread of their own, then the edit is made.
  func begin(
    _ command: QueueCommand, expanding lists: [FilePath], isForced: Bool, on target: NamedPlayer,
    _ request: WaitingRequest
  ) throws(MediaError) {
    try check(command.ifVersion, of: target)
    // However often it is named, a list is read once.
    let lists = Array(OrderedSet(lists))
    let loader = server.playlistLoader
    let places = lists.map { $0.isAddress ? PlaylistPlace.url($0.text) : .file($0.bytes) }
    let number = loader.read(places, assumed: isForced ? .m3u : nil, options: HTTPOptions(command.network)) {
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
      throw expansion.warnings.first?.error ?? MediaError(.emptyPlaylist, "the list names nothing")
    }
    let items = try edit(command, on: target, expansion)
    var fields = Self.fields(ofEdit: items, target)
    if expansion.skippedCount > 0 { fields.append("skipped", .int(expansion.skippedCount)) }
    let reply = Reply.ok(fields, rows: expansion.rows)
    guard command.waitsUntilReady else { return request.finish(reply) }
    let wait = ReadinessWait(target, items: items.map(\.id)) { error in
      if let error { request.fail(error) } else { request.finish(reply) }
    }
    request.onEnd { wait.cancel() }
    wait.start()
  }

  /// A part of the queue as lines of a list, no larger than may wait for the peer. What has no name that leads to it is left out.
  func export(
    _ form: QueueCommand.PlaylistForm, base: FilePath?, offset: Int, limit: Int, of target: NamedPlayer
  ) throws(MediaError) -> Reply {
    let state = target.state
    let start = min(offset, state.itemCount)
    let end = start + min(limit, state.itemCount - start)
    let entries = target.player.onLoop { $0.items(in: start..<end).map(\.exported) }
    // Only these number their entries.
    let isCounted = form == .pls || form == .cue
    var listed = isCounted ? listed(before: start, of: target) : Listed()
    var writer = PlaylistWriter(format: PlaylistFormat(form), base: base?.bytes)
    if form == .cue, let entry = entries.compactMap(\.self).first { writer.title = entry.metadata[.album] }
    var lines = start == 0 ? writer.head() : []
    var next = start
    var skippedCount = 0
    var byteCount = 0
    for (index, entry) in zip(start..<end, entries) {
      if let entry {
        let added = try writer.lines(of: entry, index: isCounted ? listed.count : index, after: listed.last)
        byteCount += added.reduce(0) { $0 + $1.utf8.count * Self.exportedBytesPerByte + Self.bytesPerLine }
        if byteCount > server.limits.outputByteCount / 2, next > start { break }
        lines += added
        listed.append(entry)
      } else {
        skippedCount += 1
      }
      next = index + 1
    }
    let isWhole = next == state.itemCount
    if isWhole, skippedCount > 0, skippedCount == state.itemCount {
      throw MediaError(.emptyPlaylist, "nothing in the queue has a name that a list could say")
    }
    if isWhole { lines += try writer.tail(count: listed.count, last: listed.last) }
    export = isCounted && !isWhole ? ExportUnderWay(target, state.queueVersion, next: next, listed) : nil
    var fields: Fields = [
      "count": .int(state.itemCount), "version": .int(state.queueVersion),
      "next": isWhole ? FieldValue.none : .int(next),
    ]
    if skippedCount > 0 { fields.append("skipped", .int(skippedCount)) }
    return .ok(fields, rows: lines.map { ["text": .string($0)] })
  }

  /// What a list that begins with the queue has of the entries before a place. Of an export that goes on that is known.
  private func listed(before place: Int, of target: NamedPlayer) -> Listed {
    if let export, export.target === target, export.version == target.state.queueVersion, export.next == place {
      return export.listed
    }
    var listed = Listed()
    for entry in target.player.onLoop({ $0.items(in: 0..<place).lazy.compactMap(\.exported) }) { listed.append(entry) }
    return listed
  }

  /// The most bytes that a byte of a line becomes in a reply, and those around it.
  private static let exportedBytesPerByte = 6
  private static let bytesPerLine = 80
}

/// The entries of a list so far.
struct Listed {
  private(set) var count = 0
  /// Says where a part of a file begins.
  private(set) var last: PlaylistEntry?

  mutating func append(_ entry: PlaylistEntry) {
    count += 1
    last = entry
  }
}

/// Of an export that is asked for in parts what the next one has to know.
struct ExportUnderWay {
  private(set) weak var target: NamedPlayer?
  let version: UInt64
  let next: Int
  let listed: Listed

  init(_ target: NamedPlayer, _ version: UInt64, next: Int, _ listed: Listed) {
    self.target = target
    self.version = version
    self.next = next
    self.listed = listed
  }
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
  /// What lasts as long as is known: the file's own duration, or else what its list says.
  var shownDuration: MediaTime {
    status == .unknown ? playlistEntry?.duration ?? duration : duration
  }

  /// What a list said of it, or else its tags, if they have been read; and which part of its file it is.
  func appendListed(to fields: inout Fields) {
    let titles = listedTitles
    fields.append("title", ifPresent: titles.title.map { .string($0) })
    fields.append("artist", ifPresent: titles.artist.map { .string($0) })
    fields.append(
      "range",
      ifPresent: timeRange.map { .string($0.wireText) })
  }

  /// What it is called, as far as that is known. Of a part of a file the tags say what the whole is.
  var listedTitles: (title: String?, artist: String?) {
    let titles = timeRange == nil ? asset.loadedTitles : nil
    return (playlistEntry?.title ?? titles?.title, titles?.artist)
  }

  /// Where it is, as a list says it; nil for what is nowhere: what somebody opened, bytes that a library's user has.
  private var listedPlace: PlaylistPlace? {
    if let url = asset.url { return .url(url.redacted) }
    return asset.path.isEmpty ? nil : .file(asset.path)
  }

  /// As an entry of a list; nil when no list could say where it is.
  var exported: PlaylistEntry? {
    guard let place = listedPlace else { return nil }
    var entry = playlistEntry ?? PlaylistEntry(place: place)
    // Without what a list said of a user.
    if asset.url != nil { entry.place = place }
    entry.range = timeRange
    if duration.isNumeric { entry.duration = duration }
    return entry
  }
}
