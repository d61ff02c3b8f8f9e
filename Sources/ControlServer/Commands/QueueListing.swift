// Writing the row of one entry takes about a microsecond. The rows of a long list are therefore made on another thread,
// from the entries that the queue has when the request is processed.
import MediaCore
import Playback
import RealtimeAudio
import WireProtocol

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

  /// The rows, limited by `byteLimit`. `next` is the index of the first entry after them.
  var reply: Reply {
    var rows: [Fields] = []
    rows.reserveCapacity(items.count)
    var byteCount = 0
    for (position, item) in items.enumerated() {
      let titles = item.titleAndArtist
      let albumByteCount = item.tagTitles?.album?.utf8.count ?? 0
      let titleByteCount = (titles.title?.utf8.count ?? 0) + (titles.artist?.utf8.count ?? 0) + albumByteCount
      byteCount += (item.wirePathByteCount + titleByteCount) * Self.bytesPerTextByte + Self.bytesPerRow
      // The first row always fits: its path came from a request line, whose length is limited.
      if byteCount > byteLimit, position > 0 { break }
      rows.append(Self.row(item, index: startIndex + position))
    }
    let next = startIndex + rows.count
    return .ok(
      ["count": .int(count), "version": .int(version), "next": next < count ? .int(next) : FieldValue.none], rows: rows)
  }

  private static func row(_ item: PlayerItem, index: Int) -> Fields {
    var fields: Fields = ["item": .int(item.id), "index": .int(index), "path": item.wirePath]
    let status = item.status
    fields.append("status", .string(status.name))
    fields.append("duration", .time(item.shownDuration))
    fields.append("current", .bool(index == 0))
    item.appendTitlesAndRange(to: &fields)
    fields.append("error", ifPresent: status.error.map { .string($0.code.name) })
    return fields
  }
}

extension Connection {
  /// A part of the queue, limited by `limit` and by the limit of list rows.
  func listing(of target: NamedPlayer, offset: Int, limit: Int) -> QueueListing {
    let state = target.state
    let range = listedRange(count: state.itemCount, offset: offset, limit: limit)
    return QueueListing(
      items: target.player.onLoop { $0.items(in: range) }, startIndex: range.lowerBound, count: state.itemCount,
      version: state.queueVersion, byteLimit: server.limits.outputByteCount / 2)
  }

  private func listedRange(count: Int, offset: Int, limit: Int) -> Range<Int> {
    let start = min(offset, count)
    return start..<start + min(limit, server.limits.listCount, count - start)
  }

  /// Whether a list has so many rows that another thread makes them.
  func isListLong(of player: String, offset: Int, limit: Int) -> Bool {
    guard let target = try? server.registry.player(player) else { return false }
    let range = listedRange(count: target.state.itemCount, offset: offset, limit: limit)
    return range.count > QueueListing.immediateRowCount
  }

  /// Makes the rows of a long list on another thread. Then replies.
  func start(_ listing: QueueListing, _ request: AnyWaitingRequest) {
    NamedThread.detached(name: "list-queue") { [loop = server.loop] in
      let reply = listing.reply
      loop.execute { request.finish(reply) }
    }
  }
}
