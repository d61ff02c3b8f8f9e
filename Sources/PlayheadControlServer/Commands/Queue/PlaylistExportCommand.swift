// Writing the lines of one entry takes about a microsecond. The lines of a long part are therefore made on another
// thread, from the entries that the queue has when the request is processed.
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlaylists
import PlayheadRealtimeAudio
import PlayheadWireProtocol

/// The part of a queue to export as lines of a playlist.
struct ExportPart: Sendable {
  let format: PlaylistExportCommand.Format
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
  fileprivate init(_ format: PlaylistExportCommand.Format) {
    switch format {
    case .m3u8: self = .m3u
    case .pls: self = .pls
    case .xspf: self = .xspf
    case .cue: self = .cue
    }
  }
}

/// A part of a queue to export, and the length and version of the queue at the same moment.
private struct QueueExport: Sendable {
  /// The maximum number of reply bytes for one byte of a line: JSON escapes a control character as `\u001f`.
  private static let exportedBytesPerByte = 6
  /// The approximate number of additional bytes for each line.
  private static let bytesPerLine = 80

  let part: ExportPart
  /// The entries of the part.
  let items: [PlayerItem]
  /// The index of the first entry of the part.
  let startIndex: Int
  /// The listed entries before the part.
  let prefix: ListedPrefix
  /// The length of the queue.
  let count: Int
  let version: UInt64
  /// The maximum number of bytes of the lines. The lines of one entry are never omitted.
  let byteLimit: Int

  /// The lines, limited by `byteLimit`. Entries without a location are omitted.
  ///
  /// - Throws: `empty-playlist`; the errors of `PlaylistWriter`.
  func reply() throws(MediaError) -> PlaylistExportCommand.Reply {
    let entries = items.map(\.exportedEntry)
    var listed = prefix
    var writer = PlaylistWriter(format: PlaylistFormat(part.format), base: part.base?.bytes)
    if part.format == .cue, let entry = entries.compactMap(\.self).first { writer.title = entry.metadata[.album] }
    var lines = startIndex == 0 ? writer.head() : []
    var next = startIndex
    var skippedCount = 0
    var byteCount = 0
    for (index, entry) in zip(startIndex..<startIndex + items.count, entries) {
      if let entry {
        let added = try writer.lines(of: entry, index: part.isNumbered ? listed.count : index, after: listed.lastEntry)
        byteCount += added.reduce(0) { $0 + $1.utf8.count * Self.exportedBytesPerByte + Self.bytesPerLine }
        if byteCount > byteLimit, next > startIndex { break }
        lines += added
        listed.append(entry)
      } else {
        skippedCount += 1
      }
      next = index + 1
    }
    let isComplete = next == count
    if isComplete, listed.count == 0, count > 0 {
      throw MediaError(.emptyPlaylist, "no entry of the queue has a path or URL that a playlist can contain")
    }
    if isComplete { lines += try writer.tail(count: listed.count, last: listed.lastEntry) }
    return PlaylistExportCommand.Reply(
      count: count, version: version, next: isComplete ? nil : next, skipped: skippedCount,
      rows: lines.map { PlaylistExportCommand.Row(text: $0) })
  }
}

extension PlaylistExportCommand: AlwaysSlicedHandler {
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let part = ExportPart(
      format: arguments.format, base: arguments.base, offset: arguments.offset, limit: arguments.limit)
    let target = try context.server.registry.player(arguments.player)
    context.client.export(part, of: target.name, request)
  }
}

extension Client {
  /// Replies with a part of the queue as lines of a playlist. Replies in a later loop iteration if many entries before
  /// the part must be counted, or if the part is long.
  ///
  /// - Parameters:
  ///   - sliceLength: The number of entries that may be counted in this loop iteration.
  ///   - version: The version of the queue in the previous iteration. Nil in the first one.
  fileprivate func export(
    _ part: ExportPart, of player: String, _ request: WaitingRequest<PlaylistExportCommand>,
    sliceLength: Int = ListedCounts.sliceLength,
    version: UInt64? = nil
  ) {
    do throws(MediaError) {
      // The player may have been closed since the previous iteration.
      let target = try server.registry.player(player)
      let currentVersion = target.state.queueVersion
      // After a change of the queue, counting restarts with slices twice as long. It therefore ends even if the queue
      // changes continually.
      let length = version == nil || version == currentVersion ? sliceLength : sliceLength * 2
      if let export = queueExport(part, of: target, counting: length) { return try start(export, request) }
      server.loop.execute { [weak self] in
        self?.export(part, of: player, request, sliceLength: length, version: currentVersion)
      }
    } catch {
      request.fail(error)
    }
  }

  /// Returns the content of a part of the queue; nil if `sliceLength` entries were counted, and more entries before the
  /// part must be counted.
  private func queueExport(_ part: ExportPart, of target: NamedPlayer, counting sliceLength: Int) -> QueueExport? {
    let state = target.state
    let start = min(part.offset, state.itemCount)
    let end = start + min(part.limit, server.limits.listCount, state.itemCount - start)
    var prefix = ListedPrefix()
    // A format without numbers needs the count only if no listed entry follows: an empty playlist is an error.
    if start > 0, part.isNumbered || (end == state.itemCount && target.listedCount(in: start..<end) == 0) {
      guard let before = target.listedPrefix(before: start, counting: sliceLength) else { return nil }
      prefix = before
    }
    return QueueExport(
      part: part, items: target.player.onLoop { $0.items(in: start..<end) }, startIndex: start, prefix: prefix,
      count: state.itemCount, version: state.queueVersion, byteLimit: server.limits.outputByteCount / 2)
  }

  /// Makes the lines of a part, those of a long part on another thread. Then replies.
  private func start(
    _ export: QueueExport, _ request: WaitingRequest<PlaylistExportCommand>
  ) throws(MediaError) {
    guard export.items.count > QueueListing.immediateRowCount else { return request.finish(try export.reply()) }
    NamedThread.detached(name: "export-queue") { [loop = server.loop] in
      let result = Result { () throws(MediaError) in EncodedReply<PlaylistExportCommand>(try export.reply()) }
      loop.execute { request.finish(with: result) }
    }
  }
}
