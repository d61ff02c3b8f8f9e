// What is kept of players and queues, as plain values: this module knows nothing of players.
import MediaCore

/// Named values; what a reader does not know it leaves alone.
public typealias StoredFields = [String: String]

/// What is kept of one entry of a queue.
public struct StoredEntry: Sendable, Hashable {
  /// Where its bytes come from.
  public enum Place: Sendable, Hashable {
    /// A file's path, in the system's bytes.
    case path([UInt8])
    /// An address, with what is secret in it.
    case address(String)
    /// Nothing that could be opened again: what stood for it.
    case lost(String)
  }

  /// What numbers of entries can be: far more than are ever given, and all of them can be counted on from and written as signed.
  public static let ids: ClosedRange<UInt64> = 1...(1 << 62)

  /// Never used again.
  public var id: UInt64
  public var place: Place
  /// Everything else.
  public var fields: StoredFields

  /// An entry of these parts.
  public init(id: UInt64, place: Place, fields: StoredFields = [:]) {
    self.id = id
    self.place = place
    self.fields = fields
  }
}

/// Some neighbours of a queue's order, which are written together.
public struct StoredPiece: Sendable, Hashable {
  /// Names the piece in its order.
  public var key: UInt32
  public var ids: [UInt64]

  /// A piece of these parts.
  public init(key: UInt32, ids: [UInt64]) {
    self.key = key
    self.ids = ids
  }
}

/// Where in which entry a player is.
public struct StoredPosition: Sendable, Hashable {
  public var itemID: UInt64
  public var time: MediaTime

  /// A position of these parts.
  public init(itemID: UInt64, time: MediaTime) {
    self.itemID = itemID
    self.time = time
  }
}

/// What is kept of one player.
public struct StoredPlayer: Sendable {
  public var name: String
  /// Its settings.
  public var fields: StoredFields
  /// The queue's order, the current entry first.
  public var order: [StoredPiece]
  /// The order that a shuffled queue has without shuffling; empty otherwise.
  public var original: [StoredPiece]
  /// What was played before, the newest last.
  public var history: [UInt64]
  public var position: StoredPosition?
  /// Entries: of what was loaded all, of what is to be written those that are new or have changed, and others perhaps.
  public var entries: [StoredEntry]

  /// A player of these parts.
  public init(
    name: String, fields: StoredFields = [:], order: [StoredPiece] = [], original: [StoredPiece] = [],
    history: [UInt64] = [], position: StoredPosition? = nil, entries: [StoredEntry] = []
  ) {
    self.name = name
    self.fields = fields
    self.order = order
    self.original = original
    self.history = history
    self.position = position
    self.entries = entries
  }
}

/// What was saved when a daemon starts.
public struct LoadedState: Sendable {
  /// In their order.
  public var players: [StoredPlayer] = []
  /// The first number that no entry has ever had.
  public var nextItemID: UInt64 = 1
  public var bookmarks: [Bookmark] = []
  /// The entries that were being opened when the daemon before this one died (`OpeningMarks`).
  public var openingIDs: Set<UInt64> = []

  /// Nothing.
  public init() {}
}

/// Changes that are written as a whole or not at all.
public struct StateBatch: Sendable {
  /// The names of all players, in their order: others are gone.
  public var names: [String]
  /// Those that changed.
  public var players: [StoredPlayer]
  /// Bookmarks that changed.
  public var bookmarks: [BookmarkChange]

  /// A batch of these parts.
  public init(names: [String], players: [StoredPlayer], bookmarks: [BookmarkChange] = []) {
    self.names = names
    self.players = players
    self.bookmarks = bookmarks
  }
}

/// How saving is going.
public struct SavingStatus: Sendable, Equatable {
  /// Whether what changes is being saved.
  public var isSaving = false
  /// Where; empty where nothing is saved.
  public var folder = ""
  /// Why it is not, or what was wrong when it was read; nil when all is well.
  public var error: MediaError?
  /// Transactions so far.
  public var writeCount = 0

  /// Nothing is saved.
  public init() {}
}
