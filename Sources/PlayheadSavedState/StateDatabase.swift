import FoundationEssentials
import GRDB
import PlayheadMediaCore

/// The database of the saved state. Reads the state once, and then writes only the differences from it.
///
/// Threading: one thread at a time. Calls block.
final class StateDatabase {
  /// The written state of a list of ids.
  struct WrittenList {
    var keys: [UInt32] = []
    var chunks: [UInt32: [UInt64]] = [:]
    /// All ids, in order.
    var ids: [UInt64] { keys.flatMap { chunks[$0] ?? [] } }

    init() {}

    init(_ chunks: [StoredChunk]) {
      keys = chunks.map(\.key)
      self.chunks = Dictionary(chunks.map { ($0.key, $0.ids) }) { first, _ in first }
    }
  }

  /// The written state of a player.
  struct WrittenPlayer {
    var index = -1
    var settings = StoredPlayer.Settings()
    /// The queue, and its order without shuffling.
    var lists = [WrittenList(), WrittenList()]
    var writtenQueue: WrittenList { lists[0] }
    var history: [UInt64] = []
    var position: StoredPosition?
  }

  let databaseQueue: DatabaseQueue
  private(set) var written: [String: WrittenPlayer] = [:]
  /// The written number of the next entry.
  private var writtenNextItemID: UInt64?

  /// Opens or creates the database.
  ///
  /// - Throws: the errors of GRDB; `stateTooNew`, `stateForeign`.
  init(path: String) throws {
    var configuration = Configuration()
    configuration.label = "saved-state"
    // No other daemon uses the folder. The timeout applies when a database tool has locked the file.
    configuration.busyMode = .timeout(0.2)
    configuration.prepareDatabase { db in
      // Positions are written every second. Small pages make these writes small.
      try db.execute(
        sql:
          "PRAGMA page_size = 1024; PRAGMA cache_size = -512; PRAGMA wal_autocheckpoint = 2000; PRAGMA synchronous = NORMAL"
      )
    }
    try Self.checkOwner(path)
    databaseQueue = try DatabaseQueue(path: path, configuration: configuration)
    do { try Self.migrate(databaseQueue, path) } catch {
      close()
      throw error
    }
  }

  /// Migrates a database of an older version.
  ///
  /// - Throws: `stateTooNew`, then nothing has changed; the errors of GRDB.
  private static func migrate(_ databaseQueue: DatabaseQueue, _ path: String) throws {
    let migrator = StateSchema.migrator
    let applied = try databaseQueue.read { try migrator.appliedIdentifiers($0) }
    let known = Set(migrator.migrations)
    guard applied.isSubset(of: known) else {
      throw MediaError(
        .stateTooNew, "\(path) was written by a newer version; it stays unchanged, and no state is saved")
    }
    // Set here, because setting it in GRDB's configuration would write to the file at every opening.
    try databaseQueue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
    if applied != known { try migrator.migrate(databaseQueue) }
  }

  /// Checks that Playhead created the database. Does not modify the file. Reads the header, or opens a connection when
  /// the header is still in the write-ahead log.
  ///
  /// - Throws: `stateForeign`, the errors of GRDB.
  private static func checkOwner(_ path: String) throws {
    let header = DatabaseHeader(path: path)
    guard header != .empty, header != .database(applicationID: StateSchema.applicationID) else { return }
    var configuration = Configuration()
    configuration.busyMode = .timeout(0.2)
    let databaseQueue = try DatabaseQueue(path: path, configuration: configuration)
    defer {
      try? databaseQueue.close()
      Self.retain(databaseQueue)
    }
    try databaseQueue.read { db in
      // A daemon that was killed while it created the database leaves only GRDB's tables.
      let tableCount =
        try Int.fetchOne(
          db, sql: "SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'grdb%' AND name NOT LIKE 'sqlite%'") ?? 0
      guard tableCount > 0 else { return }
      guard try Int32.fetchOne(db, sql: "PRAGMA application_id") == StateSchema.applicationID else {
        throw MediaError(
          .stateForeign, "\(path) is a database of another program; it stays unchanged, and no state is saved")
      }
    }
  }

  /// Retains a closed connection indefinitely. libdispatch destroys a released queue on a separate thread, which would
  /// then wake up once per second until the process ends.
  private static func retain(_ databaseQueue: DatabaseQueue) { _ = Unmanaged.passRetained(databaseQueue) }

  /// Checkpoints the write-ahead log and closes the database.
  func close() {
    try? databaseQueue.close()
    Self.retain(databaseQueue)
  }

  // MARK: - Reading

  /// Loads the saved state.
  ///
  /// - Throws: the errors of GRDB; `stateDamaged` for inconsistent data.
  func load() throws -> LoadedState {
    try databaseQueue.read { db in
      var state = LoadedState()
      let next = try Int64.fetchOne(db, sql: "SELECT value FROM number WHERE name = 'nextItem'") ?? 1
      state.nextItemID = try Self.checked(UInt64(bitPattern: next))
      var entries = try loadEntries(db)
      let rows = try Row.fetchAll(db, sql: "SELECT name, place, settings FROM player ORDER BY place")
      for (index, row) in rows.enumerated() {
        let name = try row.decode(String.self, atIndex: 0)
        guard written[name] == nil,
          let settings = StoredSettingsJSON.decode(try row.text(atIndex: 2), as: StoredPlayer.Settings.self)
        else { throw Self.damaged("the settings of a player") }
        var player = StoredPlayer(name: name, settings: settings)
        player.order = try loadList(db, name, 0)
        player.original = try loadList(db, name, 1)
        let original = player.original.flatMap(\.ids)
        guard Set(original).count == original.count else { throw Self.damaged("the order of a queue") }
        if let ids = try Bytes.fetch(db, "SELECT ids FROM history WHERE player = ?", name) {
          guard let ids = Self.ids(ids) else { throw Self.damaged("a history") }
          player.history = ids
        }
        if let row = try Row.fetchOne(
          db, sql: "SELECT item, value, timescale FROM position WHERE player = ?", arguments: [name])
        {
          let item = try row.integer(atIndex: 0)
          let value = try row.integer(atIndex: 1)
          let time = Int32(exactly: try row.integer(atIndex: 2)).map { MediaTime(value: value, timescale: $0) }
          guard let time, time.isValid else { throw Self.damaged("a position") }
          player.position = StoredPosition(itemID: try Self.checked(UInt64(bitPattern: item)), time: time)
        }
        // Each entry belongs to one player.
        for id in player.order.flatMap(\.ids) {
          guard let entry = entries.removeValue(forKey: id) else { throw Self.damaged("the entry \(id)") }
          player.entries.append(entry)
          state.nextItemID = max(state.nextItemID, try Self.checked(id) + 1)
        }
        for id in Set(player.history) {
          if let entry = entries.removeValue(forKey: id) { player.entries.append(entry) }
          state.nextItemID = max(state.nextItemID, try Self.checked(id) + 1)
        }
        written[name] = WrittenPlayer(
          index: index, settings: settings, lists: [WrittenList(player.order), WrittenList(player.original)],
          history: player.history, position: player.position)
        state.players.append(player)
      }
      state.bookmarks = try Self.loadBookmarks(db)
      return state
    }
  }

  private func loadEntries(_ db: Database) throws -> [UInt64: StoredEntry] {
    var entries: [UInt64: StoredEntry] = [:]
    // The column `place` has the bytes of the location.
    let rows = try Row.fetchCursor(db, sql: "SELECT id, kind, place, settings FROM entry")
    while let row = try rows.next() {
      let bytes = try row.withUnsafeData(atIndex: 2) { $0.map { [UInt8]($0) } ?? [] }
      guard let settings = StoredSettingsJSON.decode(try row.text(atIndex: 3), as: StoredEntry.Settings.self),
        let location = StoredEntry.Location(kind: Int(try row.integer(atIndex: 1)), bytes: bytes)
      else { throw Self.damaged("an entry") }
      let id = try Self.checked(UInt64(bitPattern: try row.integer(atIndex: 0)))
      entries[id] = StoredEntry(id: id, location: location, settings: settings)
    }
    return entries
  }

  private func loadList(_ db: Database, _ player: String, _ list: Int) throws -> [StoredChunk] {
    guard
      let keys = try Bytes.fetch(
        db, "SELECT keys FROM pieces WHERE player = ? AND list = \(list)", player)
    else { return [] }
    guard keys.count.isMultiple(of: 4) else { throw Self.damaged("a queue") }
    var chunks: [UInt32: [UInt64]] = [:]
    let rows = try Row.fetchCursor(
      db, sql: "SELECT key, ids FROM piece WHERE player = ? AND list = \(list)", arguments: [player])
    while let row = try rows.next() {
      guard let ids = try row.withUnsafeData(atIndex: 1, { Self.ids($0.map { [UInt8]($0) } ?? []) }) else {
        throw Self.damaged("a part of a queue")
      }
      guard let key = UInt32(exactly: try row.integer(atIndex: 0)) else {
        throw Self.damaged("a part of a queue")
      }
      chunks[key] = ids
    }
    return try stride(from: 0, to: keys.count, by: 4).map { offset in
      let key = keys[offset..<offset + 4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      guard let ids = chunks.removeValue(forKey: key) else { throw Self.damaged("a part of a queue") }
      return StoredChunk(key: key, ids: ids)
    }
  }

  /// Checks that a number is a valid entry number.
  ///
  /// - Throws: `stateDamaged`.
  static func checked(_ id: UInt64) throws -> UInt64 {
    guard StoredEntry.ids.contains(id) else { throw damaged("the number \(id)") }
    return id
  }

  static func damaged(_ subject: String) -> MediaError {
    MediaError(.stateDamaged, "\(subject) is damaged")
  }

  // MARK: - List encoding

  static func bytes(_ ids: [UInt64]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(ids.count * 8)
    for id in ids { withUnsafeBytes(of: id.littleEndian) { bytes.append(contentsOf: $0) } }
    return bytes
  }

  static func bytes(_ keys: [UInt32]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(keys.count * 4)
    for key in keys { withUnsafeBytes(of: key.littleEndian) { bytes.append(contentsOf: $0) } }
    return bytes
  }

  private static func ids(_ bytes: [UInt8]) -> [UInt64]? {
    guard bytes.count.isMultiple(of: 8) else { return nil }
    return bytes.withUnsafeBytes { buffer in
      (0..<bytes.count / 8).map {
        UInt64(littleEndian: buffer.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self))
      }
    }
  }

  // MARK: - Writing

  /// Writes all differences in one transaction, and returns whether there were any.
  ///
  /// - Throws: the errors of GRDB. After an error nothing has changed.
  func write(_ batch: StateBatch, nextItemID: UInt64) throws -> Bool {
    var changed = written
    var isChanged = false
    try databaseQueue.inDatabase { db in
      for name in written.keys where !batch.names.contains(name) {
        if !isChanged { try db.beginTransaction(.immediate) }
        isChanged = true
        try remove(db, name)
        changed[name] = nil
      }
      let indices = Dictionary(batch.names.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
      for player in batch.players {
        guard let index = indices[player.name] else { continue }
        let change = PlayerChange(from: written[player.name] ?? WrittenPlayer(), to: player, index: index)
        guard !change.isEmpty else { continue }
        if !isChanged { try db.beginTransaction(.immediate) }
        isChanged = true
        try change.write(db)
        changed[player.name] = change.result
      }
      for (name, index) in indices where changed[name].map({ $0.index != index }) ?? false {
        if !isChanged { try db.beginTransaction(.immediate) }
        isChanged = true
        try db.cachedStatement(sql: "UPDATE player SET place = ? WHERE name = ?").execute(arguments: [index, name])
        changed[name]?.index = index
      }
      if !batch.bookmarks.isEmpty {
        if !isChanged { try db.beginTransaction(.immediate) }
        isChanged = true
        try Self.write(batch.bookmarks, db)
      }
      guard isChanged else { return }
      if nextItemID != writtenNextItemID {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO number(name, value) VALUES ('nextItem', ?)").execute(
          arguments: [Int64(clamping: nextItemID)])
      }
      try db.commit()
    } rollback: { db in
      if db.isInsideTransaction { try? db.rollback() }
    }
    written = changed
    if isChanged { writtenNextItemID = nextItemID }
    return isChanged
  }

  private func remove(_ db: Database, _ name: String) throws {
    guard let player = written[name] else { return }
    let ids = player.writtenQueue.ids + player.history
    let statement = try db.cachedStatement(sql: "DELETE FROM entry WHERE id = ?")
    for id in ids { try statement.execute(arguments: [Int64(bitPattern: id)]) }
    for table in ["position", "piece", "pieces", "history"] {
      try db.execute(sql: "DELETE FROM \(table) WHERE player = ?", arguments: [name])
    }
    try db.execute(sql: "DELETE FROM player WHERE name = ?", arguments: [name])
  }

  /// Checks the integrity of the file. Nil when it is intact.
  ///
  /// - Throws: the errors of GRDB, when the check is not possible.
  func findDamage() throws -> String? {
    let result = try databaseQueue.inDatabase { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
    return result == "ok" ? nil : result ?? "no result"
  }
}

extension Row {
  /// Reads an integer column without type conversion.
  ///
  /// - Throws: `stateDamaged`.
  func integer(atIndex index: Int) throws -> Int64 {
    guard case .int64(let value) = try decode(DatabaseValue.self, atIndex: index).storage else {
      throw MediaError(.stateDamaged, "a number is damaged")
    }
    return value
  }

  /// Reads a text column without type conversion.
  ///
  /// - Throws: `stateDamaged`.
  func text(atIndex index: Int) throws -> String {
    guard case .string(let value) = try decode(DatabaseValue.self, atIndex: index).storage else {
      throw MediaError(.stateDamaged, "a text is damaged")
    }
    return value
  }
}

/// Reads the bytes of one value.
private enum Bytes {
  static func fetch(_ db: Database, _ sql: String, _ player: String) throws -> [UInt8]? {
    guard let row = try Row.fetchOne(db, sql: sql, arguments: [player]) else { return nil }
    return try row.withUnsafeData(atIndex: 0) { $0.map { [UInt8]($0) } ?? [] }
  }
}

extension DatabaseQueue {
  /// Variant of `inDatabase(_:)` that calls `rollback` on an error.
  fileprivate func inDatabase(_ body: (Database) throws -> Void, rollback: (Database) -> Void) throws {
    try inDatabase { db in
      do { try body(db) } catch {
        rollback(db)
        throw error
      }
    }
  }
}
