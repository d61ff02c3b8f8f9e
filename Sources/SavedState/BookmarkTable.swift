import MediaCore

/// What a bookmark is in: a file or an address, or a part of one.
public struct BookmarkedPlace: Sendable, Hashable {
  public var place: StoredEntry.Place
  /// Which part of it; empty: all.
  public var part: String

  /// A place of these parts.
  public init(place: StoredEntry.Place, part: String = "") {
    self.place = place
    self.part = part
  }
}

/// A time in something that can be played.
public struct Bookmark: Sendable, Hashable {
  public var id: UInt64
  public var place: BookmarkedPlace
  /// What somebody called it; empty where nobody did.
  public var name: String
  /// Whether it was left there when the item was left.
  public var isAutomatic: Bool
  public var time: MediaTime
  /// When it was put there, in seconds since 1970.
  public var savedAt: Int64

  /// A bookmark of these parts.
  public init(id: UInt64, place: BookmarkedPlace, name: String, isAutomatic: Bool, time: MediaTime, savedAt: Int64) {
    self.id = id
    self.place = place
    self.name = name
    self.isAutomatic = isAutomatic
    self.time = time
    self.savedAt = savedAt
  }
}

/// What has become of a bookmark.
public struct BookmarkChange: Sendable, Hashable {
  public var id: UInt64
  /// Nil: it is gone.
  public var bookmark: Bookmark?

  /// A change of these parts.
  public init(id: UInt64, bookmark: Bookmark?) {
    self.id = id
    self.bookmark = bookmark
  }
}

/// Which items leave a bookmark where they are left, and where.
public struct BookmarkRule: Sendable, Hashable {
  /// Who has heard less of an item has not begun with it: the bookmark that there is stays.
  public static let beginning = MediaTime(value: 5, timescale: 1)
  /// Who has so little left of it has heard it.
  public static let ending = MediaTime(value: 10, timescale: 1)

  /// How long an item lasts at least that leaves one; nil: none does.
  public var shortest: MediaTime?

  /// What is to become of an item's bookmark.
  public enum Decision: Sendable, Hashable {
    /// It is put where the item is.
    case put
    /// The item is over: there is none.
    case remove
    /// It stays as it is.
    case leave
  }

  /// A rule for items from this duration on.
  public init(shortest: MediaTime?) { self.shortest = shortest }

  /// What is to become of the bookmark of an item that was heard up to `time`. An item that has ended has none, whatever its duration is.
  public func decision(at time: MediaTime, of duration: MediaTime, hasEnded: Bool = false) -> Decision {
    if hasEnded { return .remove }
    guard let shortest, duration.isNumeric, duration >= shortest, time.isNumeric else { return .leave }
    if duration - time < Self.ending { return .remove }
    return time < Self.beginning ? .leave : .put
  }
}

/// All bookmarks, in memory; and which of them are still to be written.
public struct BookmarkTable: Sendable {
  /// How many are left by items: beyond that the oldest goes.
  public static let automaticLimit = 1_000
  /// How many may be put by hand.
  public static let limit = 1_000

  private var bookmarks: [UInt64: Bookmark] = [:]
  private var automatic: [BookmarkedPlace: UInt64] = [:]
  private var changed: Set<UInt64> = []
  private var nextID: UInt64 = 1

  /// The bookmarks that were saved, which need not be written.
  public init(_ saved: [Bookmark] = []) {
    for bookmark in saved {
      bookmarks[bookmark.id] = bookmark
      if bookmark.isAutomatic { automatic[bookmark.place] = bookmark.id }
      nextID = max(nextID, bookmark.id + 1)
    }
  }

  /// All of them, in the order of their numbers.
  public var all: [Bookmark] { bookmarks.values.sorted { $0.id < $1.id } }

  /// Whether something has changed that `takeChanges` has not given.
  public var hasChanges: Bool { !changed.isEmpty }

  /// What has changed since the last call, each bookmark once.
  public mutating func takeChanges() -> [BookmarkChange] {
    defer { changed = [] }
    return changed.sorted().map { BookmarkChange(id: $0, bookmark: bookmarks[$0]) }
  }

  /// Errors: `noSuchBookmark`.
  public func bookmark(_ id: UInt64) throws(MediaError) -> Bookmark {
    guard let bookmark = bookmarks[id] else {
      throw MediaError(.noSuchBookmark, "there is no bookmark \(id); `bookmark.list` lists them")
    }
    return bookmark
  }

  /// Where a place was left; nil when it was not, or was heard to its end since.
  public func left(_ place: BookmarkedPlace) -> Bookmark? { automatic[place].flatMap { bookmarks[$0] } }

  /// The one that was given this name in a place.
  public func named(_ name: String, in place: BookmarkedPlace) -> Bookmark? {
    bookmarks.values.first { !$0.isAutomatic && $0.name == name && $0.place == place }
  }

  // MARK: - Changes

  /// Does what was decided about a place that is at `time` now.
  public mutating func settle(
    _ place: BookmarkedPlace, at time: MediaTime, _ decision: BookmarkRule.Decision, now: Int64
  ) {
    switch decision {
    case .leave: return
    case .remove: if let id = automatic[place] { drop(id) }
    case .put:
      if let id = automatic[place] {
        guard bookmarks[id]?.time != time else { return }
        bookmarks[id]?.time = time
        bookmarks[id]?.savedAt = now
        changed.insert(id)
        return
      }
      if automatic.count >= Self.automaticLimit { dropOldest() }
      let made = put(place, name: "", isAutomatic: true, time, now)
      automatic[place] = made.id
    }
  }

  /// Puts one by hand; with a name, in the place of the one that has it there. Errors: `tooManyBookmarks`.
  public mutating func add(
    _ place: BookmarkedPlace, name: String, at time: MediaTime, now: Int64
  ) throws(MediaError) -> Bookmark {
    if !name.isEmpty, var known = named(name, in: place) {
      (known.time, known.savedAt) = (time, now)
      bookmarks[known.id] = known
      changed.insert(known.id)
      return known
    }
    guard bookmarks.count - automatic.count < Self.limit else {
      throw MediaError(
        .tooManyBookmarks, "there are \(Self.limit) bookmarks, and more are not kept; `bookmark.remove` removes one")
    }
    return put(place, name: name, isAutomatic: false, time, now)
  }

  /// Errors: `noSuchBookmark`.
  public mutating func remove(_ id: UInt64) throws(MediaError) {
    _ = try bookmark(id)
    drop(id)
  }

  private mutating func put(
    _ place: BookmarkedPlace, name: String, isAutomatic: Bool, _ time: MediaTime, _ now: Int64
  ) -> Bookmark {
    let bookmark = Bookmark(
      id: nextID, place: place, name: name, isAutomatic: isAutomatic, time: time, savedAt: now)
    nextID += 1
    bookmarks[bookmark.id] = bookmark
    changed.insert(bookmark.id)
    return bookmark
  }

  private mutating func drop(_ id: UInt64) {
    guard let gone = bookmarks.removeValue(forKey: id) else { return }
    if gone.isAutomatic { automatic[gone.place] = nil }
    changed.insert(id)
  }

  private mutating func dropOldest() {
    let oldest = automatic.values.compactMap { bookmarks[$0] }.min { ($0.savedAt, $0.id) < ($1.savedAt, $1.id) }
    if let oldest { drop(oldest.id) }
  }
}
