import Foundation
import GRDB
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadSavedState

/// A state folder, with functions that modify it directly.
struct StateDirectory {
  let folder: TemporaryDirectory
  var path: String { folder.file("state") }
  var database: String { folder.file("state/state.sqlite") }

  init() throws { folder = try TemporaryDirectory("store") }

  /// Creates the folder like the store.
  func make() throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  /// Opens the store, passes the loaded state to `body`, and closes the store.
  func open(_ body: (StateStore, LoadedState) throws -> Void) throws {
    let store = StateStore(folder: path)
    defer { store.close(by: .now.advanced(byNanoseconds: 60_000_000_000)) }
    try body(store, store.waitUntilLoaded())
  }

  /// Modifies the database directly.
  func edit(_ sql: String) throws { try DatabaseQueue(path: database).inDatabase { try $0.execute(sql: sql) } }

  func bytes(_ ending: String = "") throws -> [UInt8] {
    [UInt8](try Foundation.Data(contentsOf: URL(fileURLWithPath: database + ending)))
  }

  func write(_ bytes: [UInt8], _ ending: String = "") throws {
    try Foundation.Data(bytes).write(to: URL(fileURLWithPath: database + ending))
  }

  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}

extension StateStore {
  /// Writes a batch and waits for the outcome.
  func write(_ batch: StateBatch, isWhole: Bool = false) -> Outcome {
    let received = Mutex<Outcome?>(nil)
    let completed = DispatchSemaphore(value: 0)
    let completeState: (@Sendable () -> StateBatch)? = isWhole ? { @Sendable in batch } : nil
    write(
      { batch }, completeState: completeState,
      completion: { outcome in
        received.withLock { $0 = outcome }
        completed.signal()
      })
    completed.wait()
    return received.withLock { $0 } ?? .done
  }
}

extension StateBatch {
  /// A batch with one player that has `count` entries.
  static func sample(_ count: Int, name: String = "main") -> StateBatch {
    let ids = (1...UInt64(count)).map { $0 }
    let chunks = stride(from: 0, to: count, by: 512).enumerated().map { number, start in
      StoredChunk(key: UInt32(number), ids: Array(ids[start..<min(start + 512, count)]))
    }
    var settings = StoredEntry.Settings()
    settings.audioTimePitchAlgorithm = "varispeed"
    let entries = ids.map {
      StoredEntry(id: $0, location: .path(Array("/music/\($0).flac".utf8)), settings: settings)
    }
    var playerSettings = StoredPlayer.Settings()
    playerSettings.volume = 0.5
    return StateBatch(
      names: [name],
      players: [
        StoredPlayer(
          name: name, settings: playerSettings, order: chunks, history: [],
          position: StoredPosition(
            itemID: 1, time: MediaTime(value: 3_682_350, timescale: 44_100)), entries: entries)
      ])
  }
}

@Suite(.timeLimit(.minutes(3))) struct StateStoreTests {
  @Test func writtenStateIsLoaded() throws {
    let directory = try StateDirectory()
    var batch = StateBatch.sample(2_000)
    batch.names.append("two")
    batch.players.append(
      StoredPlayer(
        name: "two", settings: .sample, order: [StoredChunk(key: 7, ids: [3_001, 3_002])],
        original: [StoredChunk(key: 1, ids: [3_002, 3_001])],
        history: [3_003, 3_001, 3_003],
        entries: [
          StoredEntry(id: 3_001, location: .path([0x2F, 0xFF, 0x0A])),
          StoredEntry(id: 3_002, location: .url("http://u:p@h/x?y")),
          StoredEntry(id: 3_003, location: .notRestorable("fd:1"), settings: .sample),
        ]))
    try directory.open { store, loaded in
      #expect(loaded.players.isEmpty && loaded.nextItemID == 1)
      guard case .done = store.write(batch) else {
        Issue.record("it was not written")
        return
      }
      #expect(store.status.writeCount == 1)
      guard case .done = store.write(batch) else {
        Issue.record("it was not written")
        return
      }
      store.record(nextItemID: 5_000)
    }
    try directory.open { store, loaded in
      #expect(loaded.nextItemID == 5_000)
      #expect(loaded.players.map(\.name) == ["main", "two"])
      for (wanted, found) in zip(batch.players, loaded.players) {
        #expect(found.settings == wanted.settings && found.order == wanted.order && found.original == wanted.original)
        #expect(found.history == wanted.history && found.position == wanted.position)
        #expect(Set(found.entries) == Set(wanted.entries))
      }
      #expect(store.status.error == nil && store.status.isSaving)
    }
  }

  @Test func onlyChangedPartsOfALongQueueAreWritten() throws {
    let directory = try StateDirectory()
    try directory.open { store, _ in
      var batch = StateBatch.sample(50_000)
      _ = store.write(batch)
      /// The number of bytes written for a batch.
      func byteCount(of batch: StateBatch) throws -> Int {
        let truncated = DispatchSemaphore(value: 0)
        store.onThread { database in
          _ = try? database?.databaseQueue.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
          }
          truncated.signal()
        }
        truncated.wait()
        #expect(try directory.bytes("-wal").isEmpty)
        _ = store.write(batch)
        return try directory.bytes("-wal").count
      }
      batch.players[0].order[40].ids.remove(at: 100)
      batch.players[0].entries = []
      let removal = try byteCount(of: batch)
      // A chunk of 4 KiB and its parent pages, instead of 5 MB.
      #expect(removal > 4_096 && removal < 64 << 10, "\(removal) bytes")
      batch.players[0].position = StoredPosition(itemID: 1, time: MediaTime(value: 1, timescale: 3))
      let position = try byteCount(of: batch)
      #expect(position > 0 && position <= 3 * 1_048 + 32, "\(position) bytes")
      #expect(try byteCount(of: batch) == 0)
      print("saved state | one removal of 50,000 | \(removal) bytes | a position | \(position) bytes")
    }
    try directory.open { _, loaded in
      #expect(loaded.players.first?.entries.count == 49_999)
      #expect(loaded.players.first?.position?.time == MediaTime(value: 1, timescale: 3))
    }
  }

  @Test func entryIsDeletedAfterItsLastUseInQueueAndHistory() throws {
    let directory = try StateDirectory()
    func entryIDs() throws -> [Int64] {
      try DatabaseQueue(path: directory.database).read {
        try Int64.fetchAll($0, sql: "SELECT id FROM entry ORDER BY id")
      }
    }
    func entries(_ ids: [UInt64]) -> [StoredEntry] { ids.map { StoredEntry(id: $0, location: .path([0x2F])) } }
    func batch(_ queue: [UInt64], _ history: [UInt64], new: [UInt64] = []) -> StateBatch {
      StateBatch(
        names: ["main"],
        players: [
          StoredPlayer(
            name: "main", order: queue.isEmpty ? [] : [StoredChunk(key: 0, ids: queue)], history: history,
            entries: entries(new))
        ])
    }
    try directory.open { store, _ in
      let steps: [(StateBatch, [Int64])] = [
        (batch([1, 2, 3], [], new: [1, 2, 3, 99]), [1, 2, 3]), (batch([2, 3], [1]), [1, 2, 3]),
        (batch([2, 3], []), [2, 3]),
        (batch([3, 2], [2]), [2, 3]), (batch([3, 2], []), [2, 3]), (batch([2], [3]), [2, 3]), (batch([], []), []),
        (batch([4], [], new: [4]), [4]), (StateBatch(names: [], players: []), []),
      ]
      for (number, (batch, ids)) in steps.enumerated() {
        _ = store.write(batch)
        let found = try entryIDs()
        #expect(found == ids, "step \(number)")
      }
    }
  }

  @Test func fullDiskIsReportedAndTheStateIsWrittenLater() throws {
    let directory = try StateDirectory()
    try directory.open { store, _ in
      _ = store.write(.sample(10))
      let limit = DispatchSemaphore(value: 0)
      store.onThread { database in
        _ = try? database?.databaseQueue.inDatabase { try Int.fetchOne($0, sql: "PRAGMA max_page_count = 60") }
        limit.signal()
      }
      limit.wait()
      guard case .deferred(let error) = store.write(.sample(5_000)) else {
        Issue.record("there was room")
        return
      }
      #expect(error.code == .stateDiskFull && store.status.error?.code == .stateDiskFull && store.status.isSaving)
      var both = StateBatch.sample(100, name: "other")
      both.names.insert("main", at: 0)
      guard case .deferred = store.write(both) else {
        Issue.record("there was room")
        return
      }
      store.onThread { database in
        _ = try? database?.databaseQueue.inDatabase { try Int.fetchOne($0, sql: "PRAGMA max_page_count = 1000000") }
      }
      // This batch does not repeat the earlier entries, because the store retained them.
      var last = StateBatch.sample(5_000)
      last.players[0].entries = []
      guard case .done = store.write(last) else {
        Issue.record("it was not written")
        return
      }
      #expect(store.status.error == nil)
    }
    try directory.open { _, loaded in #expect(loaded.players.first?.entries.count == 5_000) }
  }

  // MARK: - Damaged files

  struct Case: CustomStringConvertible, Sendable {
    var description: String
    /// The error code of the status; nil for none.
    var code: MediaError.Code?
    var isSaving = true
    var isSetAside = false
    /// The number of loaded entries; nil for any number.
    var entryCount: Int? = 0
    /// Whether the file must be unchanged.
    var isUntouched = false
    var damage: @Sendable (String) throws -> Void

    fileprivate static func database(in state: String) -> String { "\(state)/state.sqlite" }
  }

  static let cases: [Case] = [
    Case(description: "no damage", entryCount: 3_000) { _ in },
    Case(description: "an overwritten header", code: .stateDamaged, isSetAside: true) {
      try change($0) { for index in 0..<100 { $0[index] = 0x55 } }
    },
    Case(description: "an overwritten page in the middle", code: .stateDamaged, isSetAside: true) {
      try change($0) { bytes in
        let page = bytes.count / 1_024 / 2 * 1_024
        for index in page..<page + 1_024 { bytes[index] = 0xA5 }
      }
    },
    Case(description: "half a file", code: .stateDamaged, isSetAside: true) {
      try change($0) { $0.removeLast($0.count / 2) }
    },
    Case(description: "a text file", code: .stateDamaged, isSetAside: true) {
      try change($0) { $0 = Array(String(repeating: "This is no database.\n", count: 200).utf8) }
    },
    Case(description: "an empty file") { try change($0) { $0 = [] } },
    Case(description: "no file") { try FileManager.default.removeItem(atPath: "\($0)/state.sqlite") },
    Case(description: "a missing table", code: .stateDamaged, isSetAside: true) {
      try edit($0, "DROP TABLE piece")
    },
    Case(description: "a missing entry", code: .stateDamaged, isSetAside: true) {
      try edit($0, "DELETE FROM entry WHERE id = 1500")
    },
    Case(description: "a missing part of a queue", code: .stateDamaged, isSetAside: true) {
      try edit($0, "DELETE FROM piece WHERE key = 2")
    },
    Case(description: "truncated ids", code: .stateDamaged, isSetAside: true) {
      try edit($0, "UPDATE piece SET ids = substr(ids, 1, 13) WHERE key = 1")
    },
    Case(description: "invalid settings", code: .stateDamaged, isSetAside: true) {
      try edit($0, "UPDATE entry SET settings = 'nonsense' WHERE id = 7")
    },
    Case(description: "the database of a newer version", code: .stateTooNew, isSaving: false, isUntouched: true) {
      try edit($0, "INSERT INTO grdb_migrations VALUES ('999')")
    },
    Case(description: "the database of another program", code: .stateForeign, isSaving: false, isUntouched: true) {
      try FileManager.default.removeItem(atPath: "\($0)/state.sqlite")
      try edit($0, "CREATE TABLE songs(title TEXT); INSERT INTO songs VALUES ('One')")
    },
    Case(description: "a folder instead of the file", code: .stateUnavailable, isSaving: false) {
      try FileManager.default.removeItem(atPath: "\($0)/state.sqlite")
      try FileManager.default.createDirectory(atPath: "\($0)/state.sqlite", withIntermediateDirectories: false)
    },
    Case(description: "a link instead of the file", code: .stateUnavailable, isSaving: false) {
      try FileManager.default.moveItem(atPath: "\($0)/state.sqlite", toPath: "\($0)/elsewhere")
      try FileManager.default.createSymbolicLink(atPath: "\($0)/state.sqlite", withDestinationPath: "\($0)/elsewhere")
    },
    Case(description: "a file instead of the folder", code: .stateUnavailable, isSaving: false) {
      try FileManager.default.removeItem(atPath: $0)
      try Foundation.Data([1]).write(to: URL(fileURLWithPath: $0))
    },
    Case(description: "an invalid log", entryCount: 3_000) {
      try Foundation.Data([UInt8](repeating: 0x37, count: 5_000)).write(
        to: URL(fileURLWithPath: "\($0)/state.sqlite-wal"))
    },
  ]

  private static func change(_ state: String, _ body: (inout [UInt8]) -> Void) throws {
    let url = URL(fileURLWithPath: "\(state)/state.sqlite")
    var bytes = [UInt8](try Foundation.Data(contentsOf: url))
    body(&bytes)
    try Foundation.Data(bytes).write(to: url)
  }

  private static func edit(_ state: String, _ sql: String) throws {
    let queue = try DatabaseQueue(path: "\(state)/state.sqlite")
    try queue.inDatabase { try $0.execute(sql: sql) }
    try queue.close()
  }

  @Test(arguments: cases)
  func damagedFileIsReportedAndTheStoreContinues(_ test: Case) throws {
    let directory = try StateDirectory()
    try directory.open { store, _ in _ = store.write(.sample(3_000)) }
    try test.damage(directory.path)
    let before = test.isUntouched ? try directory.bytes() : []
    try directory.open { store, loaded in
      let status = store.status
      print(
        "saved state | \(test) | \(status.error.map { "\($0.code)" } ?? "ok") | saving \(status.isSaving) | \(directory.names)"
      )
      #expect(status.error?.code == test.code, "\(String(describing: status.error))")
      #expect(status.isSaving == test.isSaving)
      if let count = test.entryCount { #expect(loaded.players.first?.entries.count ?? 0 == count) }
      #expect(directory.names.contains("state.sqlite.damaged-1") == test.isSetAside)
      let outcome = store.write(.sample(20))
      if case .done = outcome { #expect(test.isSaving) } else { #expect(!test.isSaving, "\(outcome)") }
    }
    if test.isUntouched { #expect(try directory.bytes() == before) }
    // If this store could save, the next one finds an intact database.
    try directory.open { store, loaded in
      guard test.isSaving else { return }
      #expect(store.status.error == nil && loaded.players.first?.entries.count == 20)
    }
  }

  /// A log that is truncated anywhere leaves one of the earlier states.
  @Test func truncatedLogRestoresAnEarlierState() throws {
    let directory = try StateDirectory()
    let copy = try StateDirectory()
    try copy.make()
    try directory.open { store, _ in
      for count in 1...20 { _ = store.write(.sample(count * 10)) }
      let (database, log) = (try directory.bytes(), try directory.bytes("-wal"))
      for cut in stride(from: 0, through: log.count, by: max(1, log.count / 37)) {
        try copy.write(database)
        try copy.write(Array(log.prefix(cut)), "-wal")
        try? FileManager.default.removeItem(atPath: copy.database + "-shm")
        try copy.open { store, loaded in
          #expect(store.status.error == nil && store.status.isSaving, "cut at \(cut)")
          let count = loaded.players.first?.entries.count ?? 0
          #expect(count.isMultiple(of: 10) && count <= 200, "cut at \(cut): \(count)")
        }
      }
    }
    #expect(!copy.names.contains { $0.contains("damaged") })
  }

  @Test func folderIsUsedByOneStoreAtATime() throws {
    let directory = try StateDirectory()
    try directory.open { first, _ in
      try directory.open { second, loaded in
        #expect(second.status.error?.code == .stateInUse && !second.status.isSaving && loaded.players.isEmpty)
        guard case .stopped = second.write(.sample(1)) else {
          Issue.record("it was written")
          return
        }
      }
      guard case .done = first.write(.sample(1)) else {
        Issue.record("it was not written")
        return
      }
      #expect(first.status.isSaving)
    }
    try directory.open { again, loaded in #expect(again.status.isSaving && loaded.players.count == 1) }
  }

  @Test func failureToCreateTheFolderIsReported() {
    for path in ["/proc/nothing/here", "/dev/null/state", "relative"] {
      let store = StateStore(folder: path)
      #expect(store.waitUntilLoaded().players.isEmpty)
      #expect(store.status.error?.code == .stateUnavailable, "\(path)")
      store.close(by: .now.advanced(byNanoseconds: 60_000_000_000))
    }
  }
}
