import FoundationEssentials
import GRDB
import PlayheadMediaCore

/// A saved queue.
package struct SavedQueue: Sendable, Hashable {
  package var name: String
  package var entryCount: Int
  /// The time of saving, in seconds since 1970.
  package var savedAt: Int64
}

/// Saved queues.
extension StateDatabase {
  /// The maximum number of saved queues.
  static let queueLimit = 1_000

  /// Saves a player's queue, as last written to the database, under a name. Replaces a saved queue with that name.
  ///
  /// - Returns: the number of entries.
  /// - Throws: `tooManySavedQueues`, or the errors of GRDB. After an error nothing has changed.
  func saveQueue(_ name: String, of player: String, at time: Int64) throws -> Int {
    let ids = written[player]?.writtenQueue.ids ?? []
    try databaseQueue.inTransaction(.immediate) { db in
      let count =
        try Int.fetchOne(db, sql: "SELECT count(*) FROM queue WHERE name <> ?", arguments: [name]) ?? 0
      guard count < Self.queueLimit else {
        throw MediaError(
          .tooManySavedQueues, "the limit of \(Self.queueLimit) saved queues is reached; remove one first")
      }
      try db.execute(sql: "DELETE FROM queueEntry WHERE queue = ?", arguments: [name])
      try db.execute(
        sql: "INSERT OR REPLACE INTO queue(name, count, time) VALUES (?, ?, ?)", arguments: [name, ids.count, time])
      // `entry.place` has the bytes of the location; `queueEntry.place` is the index in the queue.
      let copy = try db.cachedStatement(
        sql:
          "INSERT INTO queueEntry(queue, place, kind, bytes, settings) SELECT ?, ?, kind, place, settings FROM entry WHERE id = ?"
      )
      for (index, id) in ids.enumerated() { try copy.execute(arguments: [name, index, Int64(bitPattern: id)]) }
      return .commit
    }
    return ids.count
  }

  /// The entries of a saved queue, with ids from 0.
  ///
  /// - Throws: `noSuchSavedQueue`, the errors of GRDB.
  func loadQueue(_ name: String) throws -> [StoredEntry] {
    try databaseQueue.read { db in
      guard try Bool.fetchOne(db, sql: "SELECT 1 FROM queue WHERE name = ?", arguments: [name]) != nil else {
        throw Self.noSuchQueue(name)
      }
      var entries: [StoredEntry] = []
      let rows = try Row.fetchCursor(
        db, sql: "SELECT kind, bytes, settings FROM queueEntry WHERE queue = ? ORDER BY place", arguments: [name])
      while let row = try rows.next() {
        let bytes = try row.withUnsafeData(atIndex: 1) { $0.map { [UInt8]($0) } ?? [] }
        guard let location = StoredEntry.Location(kind: Int(try row.integer(atIndex: 0)), bytes: bytes),
          let settings = StoredSettingsJSON.decode(try row.text(atIndex: 2), as: StoredEntry.Settings.self)
        else {
          throw MediaError(.stateDamaged, "the queue \(name) is damaged")
        }
        entries.append(StoredEntry(id: UInt64(entries.count), location: location, settings: settings))
      }
      return entries
    }
  }

  /// All saved queues, ordered by name.
  func savedQueues() throws -> [SavedQueue] {
    try databaseQueue.read { db in
      try Row.fetchAll(db, sql: "SELECT name, count, time FROM queue ORDER BY name").map {
        SavedQueue(
          name: try $0.decode(String.self, atIndex: 0), entryCount: Int(try $0.integer(atIndex: 1)),
          savedAt: try $0.integer(atIndex: 2))
      }
    }
  }

  /// - Throws: `noSuchSavedQueue`, the errors of GRDB.
  func removeQueue(_ name: String) throws {
    try databaseQueue.inTransaction(.immediate) { db in
      try db.execute(sql: "DELETE FROM queue WHERE name = ?", arguments: [name])
      guard db.changesCount > 0 else { throw Self.noSuchQueue(name) }
      try db.execute(sql: "DELETE FROM queueEntry WHERE queue = ?", arguments: [name])
      return .commit
    }
  }

  private static func noSuchQueue(_ name: String) -> MediaError {
    MediaError(.noSuchSavedQueue, "unknown saved queue \(name)")
  }
}

extension StoredEntry.Location {
  /// Creates a location from database columns; nil when invalid.
  init?(kind: Int, bytes: [UInt8]) {
    switch kind {
    case 0: self = .path(bytes)
    case 1: self = .url(String(decoding: bytes, as: UTF8.self))
    case 2: self = .notRestorable(String(decoding: bytes, as: UTF8.self))
    default: return nil
    }
  }

  /// The database columns of the location.
  var column: (kind: Int, bytes: [UInt8]) {
    switch self {
    case .path(let path): (0, path)
    case .url(let text): (1, Array(text.utf8))
    case .notRestorable(let name): (2, Array(name.utf8))
    }
  }
}

/// Asynchronous access to saved queues. The store's thread calls `completion`, after it has completed all earlier calls
/// of `write`.
extension StateStore {
  /// Saves a queue. The result can be `tooManySavedQueues` or an error of earlier writes.
  package func saveQueue(
    _ name: String, of player: String, at time: Int64, completion: @escaping @Sendable (Result<Int, MediaError>) -> Void
  ) {
    query(completion) { try $0.saveQueue(name, of: player, at: time) }
  }

  /// Loads a saved queue. The result can be `noSuchSavedQueue`.
  package func loadQueue(_ name: String, completion: @escaping @Sendable (Result<[StoredEntry], MediaError>) -> Void) {
    query(completion) { try $0.loadQueue(name) }
  }

  package func savedQueues(completion: @escaping @Sendable (Result<[SavedQueue], MediaError>) -> Void) {
    query(completion) { try $0.savedQueues() }
  }

  /// Removes a saved queue. The result can be `noSuchSavedQueue`.
  package func removeQueue(_ name: String, completion: @escaping @Sendable (Result<Void, MediaError>) -> Void) {
    query(completion) { try $0.removeQueue(name) }
  }
}
