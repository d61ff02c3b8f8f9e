// The saved values of players and queues. This module does not depend on the player modules.
import PlayheadMediaCore

/// The saved state of a queue entry.
package struct StoredEntry: Sendable, Hashable {
  /// The location of the entry's media.
  package enum Location: Sendable, Hashable {
    /// A file path, in the bytes of the file system.
    case path([UInt8])
    /// A URL, including its secrets.
    case url(String)
    /// A source that cannot be reopened, such as a descriptor; the text is its name for error messages.
    case notRestorable(String)
  }

  /// The valid entry numbers. They fit in a signed 64-bit integer and can be incremented without overflow.
  package static let ids: ClosedRange<UInt64> = 1...(1 << 62)

  /// The unique number of the entry; never reused.
  package var id: UInt64
  package var location: Location
  /// The other properties of the entry.
  package var settings: Settings {
    get { storedSettings.first ?? Settings() }
    set { storedSettings = newValue == Settings() ? [] : [newValue] }
  }
  /// At most one element, because settings are large and most entries of a long queue have none.
  private var storedSettings: [Settings] = []

  package init(id: UInt64, location: Location, settings: Settings = Settings()) {
    self.id = id
    self.location = location
    self.settings = settings
  }
}

/// Consecutive entries of a queue that are written together.
package struct StoredChunk: Sendable, Hashable {
  /// The key of the chunk, unique within its list.
  package var key: UInt32
  package var ids: [UInt64]

  package init(key: UInt32, ids: [UInt64]) {
    self.key = key
    self.ids = ids
  }
}

/// The position of a player: an entry and a time.
package struct StoredPosition: Sendable, Hashable {
  package var itemID: UInt64
  package var time: MediaTime

  package init(itemID: UInt64, time: MediaTime) {
    self.itemID = itemID
    self.time = time
  }
}

/// The saved state of a player.
package struct StoredPlayer: Sendable {
  package var name: String
  package var settings: Settings
  /// The order of the queue, the current entry first.
  package var order: [StoredChunk]
  /// The unshuffled order of a shuffled queue; empty otherwise.
  package var original: [StoredChunk]
  /// The played entries, newest last.
  package var history: [UInt64]
  package var position: StoredPosition?
  /// In a loaded state, all entries. In a batch, at least the new and changed entries.
  package var entries: [StoredEntry]

  package init(
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
package struct LoadedState: Sendable {
  /// The players, in order.
  package var players: [StoredPlayer] = []
  /// The first number that was never used for an entry.
  package var nextItemID: UInt64 = 1
  package var bookmarks: [Bookmark] = []
  /// The entries that were being opened when the previous daemon died (``OpeningMarks``).
  package var openingIDs: Set<UInt64> = []

  package init() {}
}

/// Changes that are written atomically.
package struct StateBatch: Sendable {
  /// The names of all players, in order. Other players are removed.
  package var names: [String]
  /// The changed players.
  package var players: [StoredPlayer]
  /// The changed bookmarks.
  package var bookmarks: [BookmarkChange]

  package init(names: [String], players: [StoredPlayer], bookmarks: [BookmarkChange] = []) {
    self.names = names
    self.players = players
    self.bookmarks = bookmarks
  }
}

/// The status of saving.
package struct SavingStatus: Sendable, Equatable {
  /// Whether changes are being saved.
  package var isSaving = false
  /// The folder; empty when nothing is saved.
  package var folder = ""
  /// The error that prevents saving, or the problem found while loading; nil when there is none.
  package var error: MediaError?
  /// The number of transactions.
  package var writeCount = 0

  package init() {}
}
