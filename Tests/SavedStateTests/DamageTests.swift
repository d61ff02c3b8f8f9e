import Foundation
import GRDB
import PlayheadMediaCore
import Synchronization
import Testing

@testable import PlayheadSavedState

extension StateStore {
  /// Calls an asynchronous function and waits for its result.
  func waitForResult<Value: Sendable>(
    _ call: (@escaping @Sendable (Result<Value, MediaError>) -> Void) -> Void
  ) throws -> Result<Value, MediaError> {
    let received = Mutex<Result<Value, MediaError>?>(nil)
    let completed = DispatchSemaphore(value: 0)
    call { result in
      received.withLock { $0 = result }
      completed.signal()
    }
    completed.wait()
    return try #require(received.withLock { $0 })
  }
}

/// Damaged databases and the reaction to them.
@Suite(.timeLimit(.minutes(3))) struct DamageTests {
  /// Saves two players, one of them shuffled and with a history, and a named queue.
  private static func fill(_ directory: StateDirectory) throws -> StateBatch {
    var batch = StateBatch.sample(120)
    batch.names.append("two")
    let ids = (1_001...1_040).map { UInt64($0) }
    batch.players.append(
      StoredPlayer(
        name: "two", settings: .sample, order: [StoredChunk(key: 3, ids: ids)],
        original: [StoredChunk(key: 9, ids: ids.reversed())], history: [1_041, 1_001],
        position: StoredPosition(itemID: 1_001, time: MediaTime(value: 1, timescale: 3)),
        entries: (ids + [1_041]).map { StoredEntry(id: $0, location: .url("http://127.0.0.1/\($0)")) }))
    try directory.open { store, _ in
      guard case .done = store.write(batch) else {
        Issue.record("it was not written")
        return
      }
      let saved = try store.waitForResult { store.saveQueue("a", of: "main", at: 1, completion: $0) }
      #expect(try saved.get() == 120)
    }
    return batch
  }

  @Test(arguments: [UInt8(0), 0xFF])
  func databaseWithAnOverwrittenSectorIsLoadedOrSetAside(_ byte: UInt8) throws {
    let directory = try StateDirectory()
    let batch = try Self.fill(directory)
    let bytes = try directory.bytes()
    var outcomes: [String: Int] = [:]
    // The last iteration damages nothing, so everything is loaded.
    for start in stride(from: 0, through: bytes.count, by: 512) {
      let other = try StateDirectory()
      try other.make()
      var damaged = bytes
      for index in start..<max(start, min(start + 512, bytes.count)) { damaged[index] = byte }
      try other.write(damaged)
      try other.open { store, loaded in
        #expect(StoredEntry.ids.contains(loaded.nextItemID), "sector at \(start)")
        _ = try store.waitForResult { store.savedQueues(completion: $0) }
        _ = try store.waitForResult { store.loadQueue("a", completion: $0) }
        // The whole database has been read by now.
        let (status, isSetAside) = (store.status, other.names.contains("state.sqlite.damaged-1"))
        #expect(
          status.isSaving && status.error?.code == (isSetAside ? .stateDamaged : nil), "sector at \(start): \(status)")
        outcomes[isSetAside ? "set aside" : "loaded", default: 0] += 1
        if start == bytes.count { #expect(!isSetAside && loaded.players.count == 2) }
        let outcome = store.write(batch, isWhole: true)
        guard case .done = outcome else {
          Issue.record("sector at \(start): \(outcome)")
          return
        }
      }
      try other.open { store, loaded in
        #expect(store.status.error == nil, "sector at \(start)")
        #expect(loaded.players.map(\.entries.count) == [120, 41], "sector at \(start)")
      }
    }
    print("saved state | sectors of \(byte) | \(outcomes)")
    #expect(outcomes["set aside", default: 0] > bytes.count / 512 / 2)
  }

  /// Invalid numbers.
  @Test(arguments: [
    "UPDATE number SET value = -1", "UPDATE number SET value = 9223372036854775807", "UPDATE number SET value = 'x'",
    "UPDATE entry SET id = -1 WHERE id = 5", "UPDATE entry SET id = 0 WHERE id = 5", "UPDATE entry SET kind = 'x'",
    "UPDATE entry SET kind = 7", "UPDATE entry SET settings = x'FF00'", "UPDATE position SET timescale = 0",
    "UPDATE position SET timescale = 99999999999", "UPDATE position SET item = -1",
    "UPDATE piece SET key = -1 WHERE list = 0",
    "UPDATE piece SET key = 4294967296 + key WHERE list = 0",
    "UPDATE piece SET ids = x'FFFFFFFFFFFFFFFF' WHERE list = 0",
    "UPDATE piece SET ids = x'01000000000000000100000000000000' WHERE list = 1", "UPDATE player SET settings = x'FF'",
    "UPDATE history SET ids = x'FFFFFFFFFFFFFFFF'", "UPDATE history SET ids = x'00'", "DROP TABLE position",
    "ALTER TABLE entry RENAME COLUMN kind TO sort",
  ])
  func invalidValueInTheDatabaseIsDamage(_ sql: String) throws {
    let directory = try StateDirectory()
    _ = try Self.fill(directory)
    try directory.edit(sql)
    try directory.open { store, loaded in
      #expect(store.status.error?.code == .stateDamaged && store.status.isSaving, "\(store.status)")
      #expect(loaded.players.isEmpty)
    }
  }

  @Test func onlyErrorsOfABrokenFileAreDamage() {
    let rows: [(ResultCode, String, MediaError.Code)] = [
      (.SQLITE_CORRUPT, "", .stateDamaged), (.SQLITE_NOTADB, "", .stateDamaged),
      (.SQLITE_ERROR, "no such table: piece", .stateDamaged), (.SQLITE_ERROR, "no such column: ids", .stateDamaged),
      (.SQLITE_ERROR, "table entry has no column named kind", .stateDamaged),
      (.SQLITE_ERROR, "cannot start a transaction within a transaction", .stateUnavailable),
      (.SQLITE_BUSY, "", .stateUnavailable), (.SQLITE_LOCKED, "", .stateUnavailable),
      (.SQLITE_IOERR, "", .stateUnavailable), (.SQLITE_NOMEM, "", .stateUnavailable),
      (.SQLITE_CANTOPEN, "", .stateUnavailable), (.SQLITE_READONLY, "", .stateUnavailable),
      (.SQLITE_CONSTRAINT, "", .stateUnavailable), (.SQLITE_MISMATCH, "", .stateUnavailable),
      (.SQLITE_FULL, "", .stateDiskFull),
    ]
    for (result, message, code) in rows {
      let found = StateStore.mediaError(DatabaseError(resultCode: result, message: message), "/x").code
      #expect(found == code, "\(result) \(message)")
    }
  }

  @Test func lockedDatabaseIsWrittenLater() throws {
    let directory = try StateDirectory()
    try directory.open { store, _ in
      _ = store.write(.sample(10))
      try DatabaseQueue(path: directory.database).inTransaction(.immediate) { _ in
        guard case .deferred(let error) = store.write(.sample(20)) else {
          Issue.record("it was written")
          return .rollback
        }
        #expect(error.code == .stateUnavailable && store.status.isSaving)
        return .rollback
      }
      guard case .done = store.write(StateBatch(names: ["main"], players: [])) else {
        Issue.record("it was not written")
        return
      }
    }
    #expect(!directory.names.contains { $0.contains("damaged") })
    try directory.open { store, loaded in
      #expect(store.status.error == nil && loaded.players.first?.entries.count == 20)
    }
  }

  @Test func newDatabaseIsCreatedAtMostOncePerRun() throws {
    let directory = try StateDirectory()
    try directory.open { store, _ in
      for count in [10, 20] {
        guard case .done = store.write(.sample(count), isWhole: true) else {
          Issue.record("it was not written")
          return
        }
        store.onThread { database in
          _ = try? database?.databaseQueue.inDatabase { try $0.execute(sql: "DROP TABLE piece") }
        }
        let outcome = store.write(.sample(count + 1))
        switch outcome {
        case .databaseReplaced(let error): #expect(count == 10 && error.code == .stateDamaged)
        case .stopped(let error): #expect(count == 20 && error.code == .stateDamaged)
        case .done, .deferred: Issue.record("\(outcome)")
        }
      }
      #expect(!store.status.isSaving && store.status.error?.code == .stateDamaged)
    }
    #expect(directory.names.filter { $0.hasPrefix("state.sqlite.damaged") && !$0.contains("-wal") }.count == 1)
  }

  @Test func damageFoundLaterIsReportedAtOnceAndTheWholeStateRewritten() throws {
    let directory = try StateDirectory()
    let batch = try Self.fill(directory)
    let page = try #require(
      try DatabaseQueue(path: directory.database).read {
        try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'queueEntry'")
      })
    var bytes = try directory.bytes()
    for index in (page - 1) * 1_024..<page * 1_024 { bytes[index] = 0xA5 }
    try directory.write(bytes)
    try directory.open { store, loaded in
      #expect(loaded.players.map(\.entries.count) == [120, 41])
      let completed = DispatchSemaphore(value: 0)
      store.onDatabaseReplaced { completed.signal() }
      completed.wait()
      #expect(store.status.error?.code == .stateDamaged)
      let nothing = StateBatch(names: batch.names, players: [])
      for _ in 1...2 {
        guard case .databaseReplaced = store.write(nothing) else {
          Issue.record("it was written")
          return
        }
      }
      guard case .done = store.write(batch, isWhole: true), case .done = store.write(nothing) else {
        Issue.record("it was not written")
        return
      }
    }
    try directory.open { store, loaded in
      #expect(store.status.error == nil && loaded.players.map(\.entries.count) == [120, 41])
    }
  }

  @Test func folderThatOthersOwnOrMayWriteToIsRejected() throws {
    for mode in [0o777, 0o770, 0o720, 0o702] {
      let directory = try StateDirectory()
      try directory.make()
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: directory.path)
      let store = StateStore(folder: directory.path)
      #expect(store.waitUntilLoaded().players.isEmpty)
      #expect(store.status.error?.code == .stateUnavailable && !store.status.isSaving, "\(mode)")
      #expect(directory.names.isEmpty)
      store.close(by: .now.advanced(byNanoseconds: 60_000_000_000))
    }
    let directory = try StateDirectory()
    try directory.make()
    // Root can change the owner; other users test with a folder of root.
    let folder = geteuid() == 0 ? directory.path : "/usr"
    if geteuid() == 0 { try #require(chown(directory.path, 4_242, 4_242) == 0) }
    let store = StateStore(folder: folder)
    #expect(store.waitUntilLoaded().players.isEmpty)
    #expect(store.status.error?.code == .stateUnavailable)
    #expect(store.status.error?.message.contains("belongs to the user") == true, "\(store.status)")
    store.close(by: .now.advanced(byNanoseconds: 60_000_000_000))
  }
}
