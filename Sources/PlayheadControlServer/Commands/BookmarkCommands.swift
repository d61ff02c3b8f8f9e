import Glibc
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadSavedState
import PlayheadWireProtocol

extension BookmarkAddCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let writer = try context.server.bookmarkWriter()
    let current = try bookmarkablePosition(of: try context.server.registry.player(arguments.player))
    let time = arguments.time ?? current.time
    let duration = current.item.duration
    guard !duration.isNumeric || time <= duration else {
      throw MediaError(
        .invalidTime, "item \(current.item.id) ends at \(duration), before \(time)", operation: name.rawValue)
    }
    let added = try writer.changeBookmarks { table throws(MediaError) in
      try table.add(current.bookmarkedItem, name: arguments.name ?? "", at: time, now: BookmarkedItem.now)
    }
    return Reply(bookmark: added.id, item: current.item.id, time: added.time, name: arguments.name)
  }

  /// The current item, the item as bookmarks identify it, and its heard time.
  ///
  /// - Throws: One of:
  ///   - `no-current-item`, or the error of the item,
  ///   - `invalid-state` if the item is not ready, or is not a file or URL,
  ///   - `ranges-not-supported` for a live or unseekable stream.
  private static func bookmarkablePosition(
    of target: NamedPlayer
  ) throws(MediaError) -> (item: PlayerItem, bookmarkedItem: BookmarkedItem, time: MediaTime) {
    let found = target.player.onLoop { player in player.currentItem.map { ($0, player.currentTime()) } }
    guard let (item, time) = found else {
      throw MediaError(.noCurrentItem, "there is no current item", operation: name.rawValue)
    }
    if let error = item.error { throw error }
    guard let seekable = item.isSeekable else {
      throw MediaError(
        .invalidState, "item \(item.id) is not ready yet; use `wait ready` first", operation: name.rawValue)
    }
    // A live stream has a different timeline each time it is opened.
    guard seekable, item.liveWindow == nil else {
      throw MediaError(
        .rangesNotSupported, "item \(item.id) is a stream, which cannot have bookmarks",
        operation: name.rawValue)
    }
    guard let bookmarkedItem = BookmarkedItem(item) else {
      throw MediaError(
        .invalidState, "item \(item.id) was passed as a descriptor and cannot have bookmarks",
        operation: name.rawValue)
    }
    return (item, bookmarkedItem, time)
  }
}

extension BookmarkGoCommand: WaitingHandler {
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let writer = try context.server.bookmarkWriter()
    let target = try context.server.registry.player(arguments.player)
    guard let item = target.player.onLoop({ $0.currentItem }) else {
      throw MediaError(.noCurrentItem, "there is no current item", operation: name.rawValue)
    }
    guard let found = try bookmark(arguments, of: item, writer) else {
      throw MediaError(
        .noSuchBookmark, "unknown bookmark of item \(item.id); `bookmark.list item=\(item.id)` lists them",
        operation: name.rawValue)
    }
    let seek = SeekRequest(target: .time(.absolute(found.time)), item: .id(Int(clamping: item.id)))
    try target.start(seek) { request.finish(with: $0) }
  }

  /// The bookmark that the request selects. Nil if the item has no such bookmark.
  ///
  /// - Throws: `no-such-bookmark` for an unknown number, `invalid-argument` for a bookmark of another item.
  private static func bookmark(
    _ arguments: Arguments<Self>, of item: PlayerItem, _ writer: StateWriter
  ) throws(MediaError) -> Bookmark? {
    let bookmarkedItem = BookmarkedItem(item)
    if let number = arguments.bookmark {
      let bookmark = try writer.bookmarks.bookmark(UInt64(number))
      guard bookmark.item == bookmarkedItem else {
        throw MediaError(
          .invalidArgument, "bookmark \(number) does not belong to item \(item.id)", operation: name.rawValue)
      }
      return bookmark
    }
    guard let bookmarkedItem else { return nil }
    if let name = arguments.name { return writer.bookmarks.bookmark(named: name, in: bookmarkedItem) }
    return writer.bookmarks.automaticBookmark(of: bookmarkedItem)
  }
}

extension BookmarkListCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let server = context.server
    let writer = try server.bookmarkWriter()
    let target = try server.registry.player(arguments.player)
    var all = writer.bookmarks.all
    if let reference = arguments.item {
      let bookmarkedItem = BookmarkedItem(try context.client.item(reference, of: target, name))
      all = all.filter { $0.item == bookmarkedItem }
    }
    var rows: [Row] = []
    var byteCount = 0
    for bookmark in all.dropFirst(arguments.offset).prefix(min(arguments.limit, server.limits.listCount)) {
      byteCount += bookmark.item.location.byteCount * 6 + bookmark.name.utf8.count * 6 + 256
      if byteCount > server.limits.outputByteCount / 2, !rows.isEmpty { break }
      rows.append(row(bookmark))
    }
    let next = min(arguments.offset, all.count) + rows.count
    return Reply(count: all.count, next: next < all.count ? next : nil, rows: rows)
  }

  private static func row(_ bookmark: Bookmark) -> Row {
    let (item, name) = (bookmark.item, bookmark.name)
    return Row(
      bookmark: bookmark.id, path: item.location.wirePath, part: TimeRange(wireText: item.part),
      time: bookmark.time, automatic: bookmark.isAutomatic, saved: bookmark.savedAt, name: name.isEmpty ? nil : name)
  }
}

extension BookmarkRemoveCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    try context.server.bookmarkWriter().changeBookmarks { table throws(MediaError) in
      try table.remove(UInt64(arguments.bookmark))
    }
    return Reply()
  }
}

extension ServerContext {
  /// The writer of the saved state, which contains the bookmarks.
  ///
  /// - Throws: `state-not-saved`, or the error that prevents saving.
  fileprivate func bookmarkWriter() throws(MediaError) -> StateWriter {
    guard let writer = stateWriter else { throw Self.stateNotSavedError }
    let status = writer.status
    guard status.isSaving else { throw status.error ?? MediaError(.stateNotSaved, "no state is saved") }
    return writer
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
  /// The location in its form on the wire. Bookmarks have only paths and URLs.
  fileprivate var wirePath: FilePath? {
    switch self {
    case .path(let path): FilePath(bytes: path)
    case .url(let text): FilePath(address: text)
    case .notRestorable(let name): FilePath(address: name)
    }
  }

  fileprivate var byteCount: Int {
    switch self {
    case .path(let path): path.count
    case .url(let text), .notRestorable(let text): text.utf8.count
    }
  }
}
