import PlayheadMediaCore

/// The target of a bookmark: a file or URL, or a part of one.
package struct BookmarkedItem: Sendable, Hashable {
  package var location: StoredEntry.Location
  /// The time range within the file or stream, in text form; empty for the whole.
  package var part: String

  package init(location: StoredEntry.Location, part: String = "") {
    self.location = location
    self.part = part
  }
}

/// A position in a playable item.
package struct Bookmark: Sendable, Hashable {
  package var id: UInt64
  package var item: BookmarkedItem
  /// The name given by a client; empty for none.
  package var name: String
  /// Whether the bookmark was set automatically when playback left the item.
  package var isAutomatic: Bool
  package var time: MediaTime
  /// The time of creation, in seconds since 1970.
  package var savedAt: Int64

  package init(id: UInt64, item: BookmarkedItem, name: String, isAutomatic: Bool, time: MediaTime, savedAt: Int64) {
    self.id = id
    self.item = item
    self.name = name
    self.isAutomatic = isAutomatic
    self.time = time
    self.savedAt = savedAt
  }
}

/// A bookmark that was added, changed or removed.
package struct BookmarkChange: Sendable, Hashable {
  package var id: UInt64
  /// The new bookmark; nil when it was removed.
  package var bookmark: Bookmark?

  package init(id: UInt64, bookmark: Bookmark?) {
    self.id = id
    self.bookmark = bookmark
  }
}

/// The rule for automatic bookmarks.
package struct BookmarkRule: Sendable, Hashable {
  /// Before this position an item counts as not begun, and an existing bookmark is kept.
  package static let minimumPosition = MediaTime(value: 5, timescale: 1)
  /// With less than this time remaining, an item counts as finished, and its bookmark is removed.
  package static let minimumRemainingTime = MediaTime(value: 10, timescale: 1)

  /// The minimum duration of items with automatic bookmarks; nil for no automatic bookmarks.
  package var minimumDuration: MediaTime?

  /// The change of an item's automatic bookmark.
  package enum Decision: Sendable, Hashable {
    /// Set the bookmark to the current position.
    case set
    /// Remove the bookmark, because the item is finished.
    case remove
    /// Leave the bookmark unchanged.
    case keep
  }

  package init(minimumDuration: MediaTime?) { self.minimumDuration = minimumDuration }

  /// The change of the automatic bookmark of an item that was played up to `time`. The bookmark of an item that has
  /// ended is removed, whatever its duration.
  package func decision(at time: MediaTime, of duration: MediaTime, hasEnded: Bool = false) -> Decision {
    if hasEnded { return .remove }
    guard let minimumDuration, duration.isNumeric, duration >= minimumDuration, time.isNumeric else { return .keep }
    if duration - time < Self.minimumRemainingTime { return .remove }
    return time < Self.minimumPosition ? .keep : .set
  }
}

/// All bookmarks in memory, and their unsaved changes.
package struct BookmarkTable: Sendable {
  /// The maximum number of automatic bookmarks. Adding another one removes the oldest.
  package static let automaticLimit = 1_000
  /// The maximum number of manual bookmarks.
  package static let limit = 1_000

  private var bookmarks: [UInt64: Bookmark] = [:]
  private var automatic: [BookmarkedItem: UInt64] = [:]
  private var changed: Set<UInt64> = []
  private var nextID: UInt64 = 1

  /// Creates a table from saved bookmarks, without pending changes.
  package init(_ saved: [Bookmark] = []) {
    for bookmark in saved {
      bookmarks[bookmark.id] = bookmark
      if bookmark.isAutomatic { automatic[bookmark.item] = bookmark.id }
      nextID = max(nextID, bookmark.id + 1)
    }
  }

  /// All bookmarks, ordered by id.
  package var all: [Bookmark] { bookmarks.values.sorted { $0.id < $1.id } }

  /// Whether changes are pending.
  package var hasChanges: Bool { !changed.isEmpty }

  /// Removes and returns the pending changes, one for each changed bookmark.
  package mutating func drainChanges() -> [BookmarkChange] {
    defer { changed = [] }
    return changed.sorted().map { BookmarkChange(id: $0, bookmark: bookmarks[$0]) }
  }

  /// - Throws: `noSuchBookmark`.
  package func bookmark(_ id: UInt64) throws(MediaError) -> Bookmark {
    guard let bookmark = bookmarks[id] else {
      throw MediaError(.noSuchBookmark, "unknown bookmark \(id)")
    }
    return bookmark
  }

  /// The automatic bookmark of a target; nil when there is none.
  package func automaticBookmark(of item: BookmarkedItem) -> Bookmark? { automatic[item].flatMap { bookmarks[$0] } }

  /// The manual bookmark with a name in a target.
  package func bookmark(named name: String, in item: BookmarkedItem) -> Bookmark? {
    bookmarks.values.first { !$0.isAutomatic && $0.name == name && $0.item == item }
  }

  // MARK: - Changes

  /// Applies a decision about the automatic bookmark of a target that was played up to `time`.
  package mutating func updateAutomatic(
    _ item: BookmarkedItem, at time: MediaTime, _ decision: BookmarkRule.Decision, now: Int64
  ) {
    switch decision {
    case .keep: return
    case .remove: if let id = automatic[item] { removeBookmark(id) }
    case .set:
      if let id = automatic[item] {
        guard bookmarks[id]?.time != time else { return }
        bookmarks[id]?.time = time
        bookmarks[id]?.savedAt = now
        changed.insert(id)
        return
      }
      if automatic.count >= Self.automaticLimit { removeOldestAutomatic() }
      let bookmark = insert(item, name: "", isAutomatic: true, time, now)
      automatic[item] = bookmark.id
    }
  }

  /// Adds a manual bookmark. Replaces a bookmark with the same nonempty name in the same target.
  ///
  /// - Throws: `tooManyBookmarks`.
  package mutating func add(
    _ item: BookmarkedItem, name: String, at time: MediaTime, now: Int64
  ) throws(MediaError) -> Bookmark {
    if !name.isEmpty, var existing = bookmark(named: name, in: item) {
      (existing.time, existing.savedAt) = (time, now)
      bookmarks[existing.id] = existing
      changed.insert(existing.id)
      return existing
    }
    guard bookmarks.count - automatic.count < Self.limit else {
      throw MediaError(
        .tooManyBookmarks, "the limit of \(Self.limit) bookmarks is reached; remove one first")
    }
    return insert(item, name: name, isAutomatic: false, time, now)
  }

  /// - Throws: `noSuchBookmark`.
  package mutating func remove(_ id: UInt64) throws(MediaError) {
    _ = try bookmark(id)
    removeBookmark(id)
  }

  private mutating func insert(
    _ item: BookmarkedItem, name: String, isAutomatic: Bool, _ time: MediaTime, _ now: Int64
  ) -> Bookmark {
    let bookmark = Bookmark(
      id: nextID, item: item, name: name, isAutomatic: isAutomatic, time: time, savedAt: now)
    nextID += 1
    bookmarks[bookmark.id] = bookmark
    changed.insert(bookmark.id)
    return bookmark
  }

  private mutating func removeBookmark(_ id: UInt64) {
    guard let removed = bookmarks.removeValue(forKey: id) else { return }
    if removed.isAutomatic { automatic[removed.item] = nil }
    changed.insert(id)
  }

  private mutating func removeOldestAutomatic() {
    let oldest = automatic.values.compactMap { bookmarks[$0] }.min { ($0.savedAt, $0.id) < ($1.savedAt, $1.id) }
    if let oldest { removeBookmark(oldest.id) }
  }
}
