// Writing the row of one entry takes about a microsecond. The rows of a long list are therefore made on another thread,
// from the entries that the queue has when the request is processed.
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio
import PlayheadWireProtocol

/// A part of a queue, and its length and version at the same moment.
struct QueueListing: Sendable {
  /// The maximum number of reply bytes for one byte of a path or title: JSON escapes a control character as `\u001f`.
  static let bytesPerTextByte = 6
  /// The approximate number of bytes of the other fields of a row.
  static let bytesPerRow = 256
  /// The number of rows that the control loop makes itself.
  static let immediateRowCount = 128

  /// The entries of the part.
  let items: [PlayerItem]
  /// The index of the first entry of the part.
  let startIndex: Int
  /// The length of the queue.
  let count: Int
  let version: UInt64
  /// The maximum number of bytes of the rows, at least one row.
  let byteLimit: Int

  /// The reply, with the rows limited by `byteLimit`.
  var reply: ListCommand.Reply {
    var rows: [ListCommand.Row] = []
    rows.reserveCapacity(items.count)
    var byteCount = 0
    for (position, item) in items.enumerated() {
      let row = ListCommand.Row(item, index: startIndex + position)
      let titleByteCount =
        (row.title?.utf8.count ?? 0) + (row.artist?.utf8.count ?? 0) + (row.album?.utf8.count ?? 0)
      byteCount += (item.wirePathByteCount + titleByteCount) * Self.bytesPerTextByte + Self.bytesPerRow
      // The first row always fits: its path came from a request line, whose length is limited.
      if byteCount > byteLimit, position > 0 { break }
      rows.append(row)
    }
    let next = startIndex + rows.count
    return ListCommand.Reply(count: count, version: version, next: next < count ? next : nil, rows: rows)
  }
}

extension ListCommand.Row {
  fileprivate init(_ item: PlayerItem, index: Int) {
    let (status, titles) = (item.status, item.titleAndArtist)
    self.init(
      item: item.id, index: index, path: item.wireLocation, status: status.name, duration: item.shownDuration,
      title: titles.title, artist: titles.artist, album: item.tagTitles?.album, range: item.timeRange,
      error: status.error)
  }
}

extension ListCommand: SlicedHandler {
  /// Whether the list has so many rows that another thread makes them.
  static func isLarge(_ arguments: Arguments<Self>, _ context: RequestContext) -> Bool {
    guard let target = try? context.server.registry.player(arguments.player) else { return false }
    return range(arguments, count: target.state.itemCount, context).count > QueueListing.immediateRowCount
  }

  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    try listing(arguments, context).reply
  }

  /// Makes and encodes the rows of a long list on another thread. Then replies.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let listing = try listing(arguments, context)
    NamedThread.detached(name: "list-queue") { [loop = context.server.loop] in
      let reply = EncodedReply<Self>(listing.reply)
      loop.execute { request.finish(reply) }
    }
  }

  /// A part of the queue, limited by `limit` and by the limit of list rows.
  private static func listing(
    _ arguments: Arguments<Self>, _ context: RequestContext
  ) throws(MediaError) -> QueueListing {
    let target = try context.server.registry.player(arguments.player)
    let state = target.state
    let range = range(arguments, count: state.itemCount, context)
    return QueueListing(
      items: target.player.onLoop { $0.items(in: range) }, startIndex: range.lowerBound, count: state.itemCount,
      version: state.queueVersion, byteLimit: context.server.limits.outputByteCount / 2)
  }

  private static func range(_ arguments: Arguments<Self>, count: Int, _ context: RequestContext) -> Range<Int> {
    let start = min(arguments.offset, count)
    return start..<start + min(arguments.limit, context.server.limits.listCount, count - start)
  }
}

extension HistoryCommand: ImmediateHandler {
  /// Returns the newest entries of the history. Limited by `limit`, by the limit of list rows, and by the output buffer
  /// of the peer.
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let limits = context.server.limits
    let target = try context.server.registry.player(arguments.player)
    let items = target.player.onLoop { $0.history() }
    var rows: [Row] = []
    var byteCount = 0
    for item in items.reversed().prefix(min(arguments.limit, limits.listCount)) {
      byteCount += item.wirePathByteCount * QueueListing.bytesPerTextByte + QueueListing.bytesPerRow
      if byteCount > limits.outputByteCount / 2, !rows.isEmpty { break }
      rows.append(Row(item: item.id, path: item.wireLocation, status: item.status.name, duration: item.duration))
    }
    return Reply(count: items.count, version: target.state.queueVersion, rows: rows)
  }
}
