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

  /// A part of the queue as lines of a list, no larger than may wait for the peer.
  func export(
    _ form: QueueCommand.PlaylistForm, base: FilePath?, offset: Int, limit: Int, of target: NamedPlayer
  ) throws(MediaError) -> Reply {
    let state = target.state
    let start = min(offset, state.itemCount)
    let end = start + min(limit, state.itemCount - start)
    // The entry before says where a part of a file begins.
    let first = max(0, start - 1)
    let entries = target.player.onLoop { $0.items(in: first..<end).map(\.exported) }
    var writer = PlaylistWriter(format: PlaylistFormat(form), base: base?.bytes)
    if form == .cue, let entry = entries.first { writer.title = entry.metadata[.album] }
    var lines = start == 0 ? writer.head() : []
    var next = start
    var byteCount = 0
    for index in start..<end {
      let added = try writer.lines(
        of: entries[index - first], index: index, after: index > 0 ? entries[index - first - 1] : nil)
      byteCount += added.reduce(0) { $0 + $1.utf8.count * Self.exportedBytesPerByte + Self.bytesPerLine }
      if byteCount > server.limits.outputByteCount / 2, next > start { break }
      lines += added
      next = index + 1
    }
    let isWhole = next == state.itemCount
    if isWhole { lines += try writer.tail(count: state.itemCount, last: entries.last) }
    return .ok(
      [
        "count": .int(state.itemCount), "version": .int(state.queueVersion),
        "next": isWhole ? FieldValue.none : .int(next),
      ], rows: lines.map { ["text": .string($0)] })
  }

  /// The most bytes that a byte of a line becomes in a reply, and those around it.
  private static let exportedBytesPerByte = 6
  private static let bytesPerLine = 80
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

  /// Where it is, as a list says it. What somebody opened is nowhere: who reads the list leaves it out.
  private var listedPlace: PlaylistPlace {
    asset.url.map { .url($0.redacted) } ?? asset.descriptor.map { .url($0.name) } ?? .file(asset.path)
  }

  /// As an entry of a list.
  fileprivate var exported: PlaylistEntry {
    var entry = playlistEntry ?? PlaylistEntry(place: listedPlace)
    // Without what a list said of a user.
    if asset.url != nil { entry.place = listedPlace }
    entry.range = timeRange
    if duration.isNumeric { entry.duration = duration }
    return entry
  }
}
