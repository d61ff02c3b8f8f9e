import Glibc
import MediaCore
import Playback
import SavedState
import WireProtocol

/// Commands about bookmarks.
extension Connection {
  /// The writer of the saved state, which contains the bookmarks.
  ///
  /// - Throws: `state-not-saved`, or the error that prevents saving.
  func stateWriter() throws(MediaError) -> StateWriter {
    guard let writer = server.stateWriter else { throw Self.stateNotSavedError }
    let status = writer.status
    guard status.isSaving else { throw status.error ?? MediaError(.stateNotSaved, "no state is saved") }
    return writer
  }

  /// The current item, the item as bookmarks identify it, and its heard time.
  ///
  /// - Throws: One of:
  ///   - `no-current-item`, or the error of the item,
  ///   - `invalid-state` if the item is not ready, or is not a file or URL,
  ///   - `ranges-not-supported` for a live or unseekable stream.
  private func bookmarkablePosition(
    of target: NamedPlayer, _ operation: CommandName
  ) throws(MediaError) -> (item: PlayerItem, bookmarkedItem: BookmarkedItem, time: MediaTime) {
    let found = target.player.onLoop { player in player.currentItem.map { ($0, player.currentTime()) } }
    guard let (item, time) = found else {
      throw MediaError(.noCurrentItem, "there is no current item", operation: operation.rawValue)
    }
    if let error = item.error { throw error }
    guard let seekable = item.isSeekable else {
      throw MediaError(
        .invalidState, "item \(item.id) is not ready yet; use `wait ready` first", operation: operation.rawValue)
    }
    // A live stream has a different timeline each time it is opened.
    guard seekable, item.liveWindow == nil else {
      throw MediaError(
        .rangesNotSupported, "item \(item.id) is a stream, which cannot have bookmarks",
        operation: operation.rawValue)
    }
    guard let bookmarkedItem = BookmarkedItem(item) else {
      throw MediaError(
        .invalidState, "item \(item.id) was passed as a descriptor and cannot have bookmarks",
        operation: operation.rawValue)
    }
    return (item, bookmarkedItem, time)
  }

  /// Adds a manual bookmark of the current item. A time of nil means the heard time.
  ///
  /// - Throws: The errors of `stateWriter` and of `bookmarkablePosition`, or `invalid-time` after the end of the item.
  func addBookmark(at time: MediaTime?, name: String, _ player: String) throws(MediaError) -> Reply {
    let writer = try stateWriter()
    let current = try bookmarkablePosition(of: try server.registry.player(player), .bookmarkAdd)
    let time = time ?? current.time
    let duration = current.item.duration
    guard !duration.isNumeric || time <= duration else {
      throw MediaError(
        .invalidTime, "item \(current.item.id) ends at \(duration), before \(time)",
        operation: CommandName.bookmarkAdd.rawValue)
    }
    let added = try writer.changeBookmarks { table throws(MediaError) in
      try table.add(current.bookmarkedItem, name: name, at: time, now: BookmarkedItem.now)
    }
    var fields: Fields = ["bookmark": .int(added.id), "item": .int(current.item.id)]
    fields.append(position: added.time)
    if !name.isEmpty { fields.append("name", .string(name)) }
    return .ok(fields)
  }

  /// Lists the bookmarks of an item, or all bookmarks if `item` is nil.
  ///
  /// - Throws: `no-such-item`, or the errors of `stateWriter`.
  func listBookmarks(of reference: EntryReference?, offset: Int, limit: Int, _ player: String) throws(MediaError)
    -> Reply
  {
    let writer = try stateWriter()
    let target = try server.registry.player(player)
    var all = writer.bookmarks.all
    if let reference {
      let bookmarkedItem = BookmarkedItem(try item(reference, of: target, .bookmarkList))
      all = all.filter { $0.item == bookmarkedItem }
    }
    var rows: [Fields] = []
    var byteCount = 0
    for bookmark in all.dropFirst(offset).prefix(min(limit, server.limits.listCount)) {
      let row = Self.row(bookmark)
      byteCount += bookmark.item.location.byteCount * 6 + bookmark.name.utf8.count * 6 + 256
      if byteCount > server.limits.outputByteCount / 2, !rows.isEmpty { break }
      rows.append(row)
    }
    let next = min(offset, all.count) + rows.count
    return .ok(["count": .int(all.count), "next": next < all.count ? .int(next) : FieldValue.none], rows: rows)
  }

  private static func row(_ bookmark: Bookmark) -> Fields {
    var fields: Fields = ["bookmark": .int(bookmark.id), "path": bookmark.item.location.wirePath]
    if !bookmark.item.part.isEmpty { fields.append("part", .string(bookmark.item.part)) }
    fields.append("time", .time(bookmark.time))
    fields.append("automatic", .bool(bookmark.isAutomatic))
    fields.append("saved", .integer(bookmark.savedAt))
    if !bookmark.name.isEmpty { fields.append("name", .string(bookmark.name)) }
    return fields
  }

  /// Starts a seek to a bookmark of the current item.
  ///
  /// - Throws: `no-current-item`, `no-such-bookmark`, `invalid-argument` for a bookmark of another item, or the
  ///   errors of `stateWriter` and of a seek.
  func startSeek(
    toBookmark bookmarkTarget: StateCommand.BookmarkTarget, _ player: String, _ request: WaitingRequest
  ) throws(MediaError) {
    let writer = try stateWriter()
    let target = try server.registry.player(player)
    guard let item = target.player.onLoop({ $0.currentItem }) else {
      throw MediaError(.noCurrentItem, "there is no current item", operation: CommandName.bookmarkGo.rawValue)
    }
    let bookmarkedItem = BookmarkedItem(item)
    let found: Bookmark?
    switch bookmarkTarget {
    case .number(let number):
      let bookmark = try writer.bookmarks.bookmark(UInt64(number))
      guard bookmark.item == bookmarkedItem else {
        throw MediaError(
          .invalidArgument, "bookmark \(number) does not belong to item \(item.id)",
          operation: CommandName.bookmarkGo.rawValue)
      }
      found = bookmark
    case .name(let name): found = bookmarkedItem.flatMap { writer.bookmarks.bookmark(named: name, in: $0) }
    case .automatic: found = bookmarkedItem.flatMap { writer.bookmarks.automaticBookmark(of: $0) }
    }
    guard let found else {
      throw MediaError(
        .noSuchBookmark, "unknown bookmark of item \(item.id); `bookmark.list item=\(item.id)` lists them",
        operation: CommandName.bookmarkGo.rawValue)
    }
    try start(
      PlaybackCommand.Seek(target: .time(.absolute(found.time)), item: .id(Int(clamping: item.id))), on: target, request
    )
  }
}

extension BookmarkedItem {
  /// Creates the identity of an item in bookmarks, independent of its queue entry. Nil for an item that is not a file
  /// or URL. A URL is stored without user name and password.
  init?(_ item: PlayerItem) {
    let location: StoredEntry.Location
    switch item.asset.location {
    case .path(let path): location = .path(path)
    case .url(let url, _): location = .url(url.redacted)
    case .descriptor, .source, .data, .composition: return nil
    }
    self.init(location: location, part: item.timeRange?.wireText ?? "")
  }

  /// The current time in seconds since 1970.
  static var now: Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec)
  }
}

extension StoredEntry.Location {
  /// The location in its form on the wire.
  fileprivate var wirePath: FieldValue {
    switch self {
    case .path(let path): FilePath(bytes: path).map(FieldValue.path) ?? FieldValue.none
    case .url(let text): .path(FilePath(address: text))
    case .notRestorable(let name): .string(name)
    }
  }

  fileprivate var byteCount: Int {
    switch self {
    case .path(let path): path.count
    case .url(let text), .notRestorable(let text): text.utf8.count
    }
  }
}
