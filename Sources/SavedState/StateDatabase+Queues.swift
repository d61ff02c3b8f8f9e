import FoundationEssentials
import GRDB
import MediaCore

/// A queue that was given a name.
public struct SavedQueue: Sendable, Hashable {
  public var name: String
  public var entryCount: Int
  /// When it was saved, in seconds since 1970.
  public var savedAt: Int64
}

/// Queues that were given names.
extension StateDatabase {
  /// How many there may be.
  static let queueLimit = 1_000

  /// Saves a player's queue, as it stands in the database, under a name; replaces one of that name. Answers how many entries it has.
  ///
  /// Errors: `tooManySavedQueues`, GRDB's; then nothing has changed.
  func saveQueue(_ name: String, of player: String, at time: Int64) throws -> Int {
    let list = written[player]?.lists[0] ?? WrittenList()
    let ids = list.keys.flatMap { list.pieces[$0] ?? [] }
    try queue.inTransaction(.immediate) { db in
      let count =
        try Int.fetchOne(db, sql: "SELECT count(*) FROM queue WHERE name <> ?", arguments: [name]) ?? 0
      guard count < Self.queueLimit else {
        throw MediaError(
          .tooManySavedQueues, "\(Self.queueLimit) queues are saved, and more are not; `queue.forget` forgets one")
      }
      try db.execute(sql: "DELETE FROM queueEntry WHERE queue = ?", arguments: [name])
      try db.execute(
        sql: "INSERT OR REPLACE INTO queue(name, count, time) VALUES (?, ?, ?)", arguments: [name, ids.count, time])
      let copy = try db.cachedStatement(
        sql:
          "INSERT INTO queueEntry(queue, place, kind, bytes, fields) SELECT ?, ?, kind, place, fields FROM entry WHERE id = ?"
      )
      for (place, id) in ids.enumerated() { try copy.execute(arguments: [name, place, Int64(bitPattern: id)]) }
      return .commit
    }
    return ids.count
  }

  /// The entries of a saved queue; their ids count from 0. Errors: `noSuchSavedQueue`, GRDB's.
  func loadQueue(_ name: String) throws -> [StoredEntry] {
    try queue.read { db in
      guard try Bool.fetchOne(db, sql: "SELECT 1 FROM queue WHERE name = ?", arguments: [name]) != nil else {
        throw Self.noSuchQueue(name)
      }
      var entries: [StoredEntry] = []
      let rows = try Row.fetchCursor(
        db, sql: "SELECT kind, bytes, fields FROM queueEntry WHERE queue = ? ORDER BY place", arguments: [name])
      while let row = try rows.next() {
        let bytes = try row.withUnsafeData(atIndex: 1) { $0.map { [UInt8]($0) } ?? [] }
        guard let place = StoredEntry.Place(kind: Int(try row.integer(atIndex: 0)), bytes: bytes),
          let fields = FieldText.decode(try row.decode(String.self, atIndex: 2))
        else {
          throw MediaError(.stateDamaged, "the queue \(name) is not as it was written")
        }
        entries.append(StoredEntry(id: UInt64(entries.count), place: place, fields: fields))
      }
      return entries
    }
  }

  /// All of them, by name.
  func savedQueues() throws -> [SavedQueue] {
    try queue.read { db in
      try Row.fetchAll(db, sql: "SELECT name, count, time FROM queue ORDER BY name").map {
        SavedQueue(
          name: try $0.decode(String.self, atIndex: 0), entryCount: Int(try $0.integer(atIndex: 1)),
          savedAt: try $0.integer(atIndex: 2))
      }
    }
  }

  /// Errors: `noSuchSavedQueue`, GRDB's.
  func forgetQueue(_ name: String) throws {
    try queue.inTransaction(.immediate) { db in
      try db.execute(sql: "DELETE FROM queue WHERE name = ?", arguments: [name])
      guard db.changesCount > 0 else { throw Self.noSuchQueue(name) }
      try db.execute(sql: "DELETE FROM queueEntry WHERE queue = ?", arguments: [name])
      return .commit
    }
  }

  private static func noSuchQueue(_ name: String) -> MediaError {
    MediaError(.noSuchSavedQueue, "no queue was saved as \(name); `queue.saved` lists them")
  }
}

extension StoredEntry.Place {
  /// As the database has it; nil for what it never has.
  init?(kind: Int, bytes: [UInt8]) {
    switch kind {
    case 0: self = .path(bytes)
    case 1: self = .address(String(decoding: bytes, as: UTF8.self))
    case 2: self = .lost(String(decoding: bytes, as: UTF8.self))
    default: return nil
    }
  }

  /// How the database has it.
  var column: (kind: Int, bytes: [UInt8]) {
    switch self {
    case .path(let path): (0, path)
    case .address(let text): (1, Array(text.utf8))
    case .lost(let name): (2, Array(name.utf8))
    }
  }
}

/// The same for those who do not wait. `completion` is called on the store's thread; what was given to `write` before is in it.
extension StateStore {
  /// Errors: those of what is written, `tooManySavedQueues`.
  public func saveQueue(
    _ name: String, of player: String, at time: Int64, completion: @escaping @Sendable (Result<Int, MediaError>) -> Void
  ) {
    ask(completion) { try $0.saveQueue(name, of: player, at: time) }
  }

  /// Errors: `noSuchSavedQueue`.
  public func loadQueue(_ name: String, completion: @escaping @Sendable (Result<[StoredEntry], MediaError>) -> Void) {
    ask(completion) { try $0.loadQueue(name) }
  }

  public func savedQueues(completion: @escaping @Sendable (Result<[SavedQueue], MediaError>) -> Void) {
    ask(completion) { try $0.savedQueues() }
  }

  /// Errors: `noSuchSavedQueue`.
  public func forgetQueue(_ name: String, completion: @escaping @Sendable (Result<Void, MediaError>) -> Void) {
    ask(completion) { try $0.forgetQueue(name) }
  }
}
