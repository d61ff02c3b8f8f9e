// The saved values of players and queues. This module does not depend on the player modules.
import PlayheadMediaCore

/// The saved state of a queue entry.
public struct StoredEntry: Sendable, Hashable {
  /// The location of the entry's media.
  public enum Location: Sendable, Hashable {
    /// A file path, in the bytes of the file system.
    case path([UInt8])
    /// A URL, including its secrets.
    case url(String)
    /// A source that cannot be reopened, such as a descriptor; the text is its name for error messages.
    case notRestorable(String)
  }

  /// The valid entry numbers. They fit in a signed 64-bit integer and can be incremented without overflow.
  public static let ids: ClosedRange<UInt64> = 1...(1 << 62)

  /// The unique number of the entry; never reused.
  public var id: UInt64
  public var location: Location
  /// The other properties of the entry.
  public var settings: Settings {
    get { storedSettings.first ?? Settings() }
    set { storedSettings = newValue == Settings() ? [] : [newValue] }
  }
  /// At most one element, because settings are large and most entries of a long queue have none.
  private var storedSettings: [Settings] = []

  public init(id: UInt64, location: Location, settings: Settings = Settings()) {
    self.id = id
    self.location = location
    self.settings = settings
  }
}

/// Consecutive entries of a queue that are written together.
public struct StoredChunk: Sendable, Hashable {
  /// The key of the chunk, unique within its list.
  public var key: UInt32
  public var ids: [UInt64]

  public init(key: UInt32, ids: [UInt64]) {
    self.key = key
    self.ids = ids
  }
}

/// The position of a player: an entry and a time.
public struct StoredPosition: Sendable, Hashable {
  public var itemID: UInt64
  public var time: MediaTime

  public init(itemID: UInt64, time: MediaTime) {
    self.itemID = itemID
    self.time = time
  }
}

/// The saved state of a player.
public struct StoredPlayer: Sendable {
  public var name: String
  public var settings: Settings
  /// The order of the queue, the current entry first.
  public var order: [StoredChunk]
  /// The unshuffled order of a shuffled queue; empty otherwise.
  public var original: [StoredChunk]
  /// The played entries, newest last.
  public var history: [UInt64]
  public var position: StoredPosition?
  /// In a loaded state, all entries. In a batch, at least the new and changed entries.
  public var entries: [StoredEntry]

  public init(
    name: String, settings: Settings = Settings(), order: [StoredChunk] = [], original: [StoredChunk] = [],
    history: [UInt64] = [], position: StoredPosition? = nil, entries: [StoredEntry] = []
  ) {
    self.name = name
    self.settings = settings
    self.order = order
    self.original = original
    self.history = history
    self.position = position
    self.entries = entries
  }
}

/// The saved state at the start of a daemon.
public struct LoadedState: Sendable {
  /// The players, in order.
  public var players: [StoredPlayer] = []
  /// The first number that was never used for an entry.
  public var nextItemID: UInt64 = 1
  public var bookmarks: [Bookmark] = []
  /// The entries that were being opened when the previous daemon died (``OpeningMarks``).
  public var openingIDs: Set<UInt64> = []

  public init() {}
}

/// Changes that are written atomically.
public struct StateBatch: Sendable {
  /// The names of all players, in order. Other players are removed.
  public var names: [String]
  /// The changed players.
  public var players: [StoredPlayer]
  /// The changed bookmarks.
  public var bookmarks: [BookmarkChange]

  public init(names: [String], players: [StoredPlayer], bookmarks: [BookmarkChange] = []) {
    self.names = names
    self.players = players
    self.bookmarks = bookmarks
  }
}

/// The status of saving.
public struct SavingStatus: Sendable, Equatable {
  /// Whether changes are being saved.
  public var isSaving = false
  /// The folder; empty when nothing is saved.
  public var folder = ""
  /// The error that prevents saving, or the problem found while loading; nil when there is none.
  public var error: MediaError?
  /// The number of transactions.
  public var writeCount = 0

  public init() {}
}
