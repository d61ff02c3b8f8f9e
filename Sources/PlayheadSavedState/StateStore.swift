import GRDB
import Logging
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Saves state in a folder on a separate thread. Callers wait for that thread only in `waitUntilLoaded` and `close`.
///
/// Every error is reported in `status` and in the log, and none stops playback. A batch that could not be written is
/// retained and written with the next one. A damaged database is renamed (`state.sqlite.damaged-1`), and a new one is
/// created.
///
/// Threading: any thread, except where documented.
package final class StateStore: @unchecked Sendable {
  // `@unchecked Sendable`: only the store's thread uses the mutable properties outside `signal`.

  /// The result of a write.
  package enum Outcome: Sendable {
    case done
    /// The batch is retained and will be written with the next one.
    case deferred(MediaError)
    /// A new database was created: the complete state must be written.
    case databaseReplaced(MediaError)
    /// Saving has stopped permanently.
    case stopped(MediaError)
  }

  private struct State {
    var jobs: [@Sendable (StateStore) -> Void] = []
    var isClosing = false
    var isClosed = false
    var loaded: LoadedState?
    var status = SavingStatus()
    var folder: StateFolder?
    var openingMarks: OpeningMarks?
    /// The last value passed to `record(nextItemID:)`, also while the folder is not open.
    var recordedNextItemID: UInt64 = 0
    /// Called when the complete state must be written, because a new database was created.
    var onDatabaseReplaced: (@Sendable () -> Void)?
    /// Whether a new database was created before a handler was set.
    var isReplacementPending = false
  }

  private let signal = ConditionMutex(State())
  private let path: String
  private let logger: Logger

  // State of the store's thread.
  private var database: StateDatabase?
  /// The batch that could not be written.
  private var pendingBatch: StateBatch?
  /// Whether the database is new and empty, so that the next write must contain the complete state.
  private var needsCompleteState = false
  /// Whether a damaged database has been replaced. The store does this only once: if the new database is damaged too,
  /// the file is not the cause.
  private var hasReplacedDatabase = false
  /// Whether the disk was full when the store opened the folder. Each write tries to open it again.
  private var isWaitingForSpace = false

  /// Starts the thread, which opens the folder and loads the saved state.
  package init(folder path: String, logger: Logger = Logger(label: "playhead.state")) {
    self.path = path
    self.logger = logger
    NamedThread.detached(name: "saved-state") { self.run() }
  }

  /// The saved state; empty when it could not be read. Blocks until it is loaded.
  package func waitUntilLoaded() -> LoadedState {
    signal.wait { $0.loaded } ?? LoadedState()
  }

  /// The current state of saving.
  package var status: SavingStatus { signal.withState { $0.status } }

  /// The marks of entries that are being opened; nil until the state is loaded, and when nothing is saved.
  package var openingMarks: OpeningMarks? { signal.withState { $0.openingMarks } }

  /// Records the first unused entry number. Called by one thread at a time, after the state is loaded. Accesses memory
  /// only.
  package func record(nextItemID: UInt64) {
    signal.withState { state in
      state.recordedNextItemID = nextItemID
      return state.folder
    }?.nextItemID = nextItemID
  }

  /// Sets the handler for the creation of a new database, after which the complete state must be written. The store's
  /// thread calls it. If a database was created before this call, the caller's thread calls it immediately.
  package func onDatabaseReplaced(_ handler: @escaping @Sendable () -> Void) {
    let isPending = signal.withState { state in
      defer { state.isReplacementPending = false }
      state.onDatabaseReplaced = handler
      return state.isReplacementPending
    }
    if isPending { handler() }
  }

  /// Writes a batch. The store's thread calls `batch` and `completion`. Does not block.
  ///
  /// - Parameter completeState: returns the complete state, which a new database receives instead of the batch. Nil: in
  ///   this case `completion` receives `databaseReplaced`.
  package func write(
    _ batch: @escaping @Sendable () -> StateBatch, completeState: (@Sendable () -> StateBatch)? = nil,
    completion: @escaping @Sendable (Outcome) -> Void
  ) {
    signal.update { state in
      guard !state.isClosing else { return }
      state.jobs.append { completion($0.write(batch, completeState)) }
    }
  }

  /// Calls `body` with the database on the store's thread, after earlier jobs. The database is nil when nothing is
  /// saved.
  func onThread(_ body: @escaping @Sendable (StateDatabase?) -> Void) {
    signal.update { state in
      guard !state.isClosing else { return }
      state.jobs.append { body($0.database) }
    }
  }

  /// Runs a query on the store's thread.
  func query<Value: Sendable>(
    _ completion: @escaping @Sendable (Result<Value, MediaError>) -> Void,
    _ body: @escaping @Sendable (StateDatabase) throws -> Value
  ) {
    let path = path
    let refused = signal.update { state in
      guard !state.isClosing else { return true }
      state.jobs.append { store in
        guard let database = store.database else {
          return completion(.failure(store.status.error ?? MediaError(.stateNotSaved, "no state is saved")))
        }
        completion(Result { try body(database) }.mapError { Self.mediaError($0, path) })
      }
      return false
    }
    if refused { completion(.failure(MediaError(.shuttingDown, "playheadd is stopping"))) }
  }

  /// Writes pending batches and closes the database. Blocks until both are done, at most until `deadline`.
  package func close(by deadline: HostTime) {
    openingMarks?.close()
    signal.update { $0.isClosing = true }
    _ = signal.wait(until: deadline) { $0.isClosed ? true : nil }
  }

  // MARK: - Store thread

  private func run() {
    open()
    while true {
      let jobs: [@Sendable (StateStore) -> Void]? = signal.wait { state in
        guard !state.jobs.isEmpty || state.isClosing else { return nil }
        defer { state.jobs = [] }
        return state.jobs
      }
      guard let jobs, !jobs.isEmpty else { break }
      for job in jobs { job(self) }
    }
    database?.close()
    database = nil
    // A caller of `close` may open the folder again.
    signal.withState { state in
      defer { state.folder = nil }
      return state.folder
    }?.unlock()
    signal.update { $0.isClosed = true }
  }

  private func open() {
    var loaded = LoadedState()
    do { loaded = try openDatabase() } catch {
      let reason = reason(error)
      if reason.code == .stateDiskFull {
        waitForSpace(reason)
        // The lock file contains the next number even when the database cannot be read.
        let recorded = signal.withState { $0.folder }?.nextItemID ?? 0
        if StoredEntry.ids.contains(recorded) { loaded.nextItemID = recorded }
      } else {
        stopSaving(reason)
      }
    }
    signal.update { [loaded] in $0.loaded = loaded }
    if database != nil { checkIntegrity() }
  }

  /// Opens the folder, unless it is open, and its database. Returns the saved state.
  private func openDatabase() throws -> LoadedState {
    let folder = try signal.withState { $0.folder } ?? StateFolder(path: path)
    signal.update { $0.folder = folder }
    try folder.makeDatabaseFile()
    var loaded = try load(folder)
    // Ignore recorded values that are not entry numbers.
    for recorded in [folder.nextItemID, signal.withState { $0.recordedNextItemID }]
    where StoredEntry.ids.contains(recorded) {
      loaded.nextItemID = max(loaded.nextItemID, recorded)
    }
    folder.nextItemID = loaded.nextItemID
    let marks = signal.withState { $0.openingMarks } ?? OpeningMarks(folder, logger: logger)
    loaded.openingIDs = marks.foundIDs
    signal.update { state in
      state.openingMarks = marks
      state.status.isSaving = true
      state.status.folder = folder.path
    }
    return loaded
  }

  /// The error of a failed attempt to open. SQLite has several codes for a full disk.
  private func reason(_ error: any Error) -> MediaError {
    let reason = Self.mediaError(error, path)
    guard reason.code == .stateUnavailable, StateFolder.isDiskFull(path) else { return reason }
    return MediaError(.stateDiskFull, "not enough disk space for \(path)", underlying: reason.message)
  }

  /// Suspends saving until the database can be opened.
  private func waitForSpace(_ error: MediaError) {
    database?.close()
    database = nil
    if !isWaitingForSpace { logger.error("state cannot be saved", metadata: ["error": "\(error)"]) }
    isWaitingForSpace = true
    signal.update { $0.status.error = error }
  }

  /// Opens the database after the disk was full at startup.
  ///
  /// Renames a database that contains a state, because clients have changed the players since startup.
  ///
  /// - Returns: the error if there is still no space; nil when saving can begin, or has stopped permanently.
  private func openAfterWaiting() -> MediaError? {
    do {
      let former = try openDatabase()
      var problem: MediaError?
      if !former.players.isEmpty || !former.bookmarks.isEmpty, let folder = signal.withState({ $0.folder }) {
        let newPath = try replaceDatabase(in: folder)
        problem = MediaError(
          .stateDiskFull,
          "the saved state could not be read on the full disk; it was moved to \(newPath), and a new one was created")
      }
      (isWaitingForSpace, needsCompleteState) = (false, true)
      signal.update { [problem] in $0.status.error = problem }
      logger.notice("state is saved again", metadata: problem.map { ["error": "\($0)"] })
      return nil
    } catch {
      signal.update { $0.status.isSaving = false }
      let reason = reason(error)
      guard reason.code == .stateDiskFull else {
        isWaitingForSpace = false
        stopSaving(reason)
        return nil
      }
      waitForSpace(reason)
      return reason
    }
  }

  private func load(_ folder: StateFolder) throws -> LoadedState {
    do {
      let opened = try StateDatabase(path: folder.database)
      database = opened
      return try opened.load()
    } catch {
      let reason = Self.mediaError(error, folder.database)
      guard reason.code == .stateDamaged else { throw reason }
      try replaceDamagedDatabase(folder, reason)
      return LoadedState()
    }
  }

  /// Replaces the database with a new one.
  ///
  /// - Throws: the errors of the system; `reason` when the database was already replaced in this run.
  private func replaceDamagedDatabase(_ folder: StateFolder, _ reason: MediaError) throws {
    database?.close()
    database = nil
    guard !hasReplacedDatabase else { throw reason }
    hasReplacedDatabase = true
    let newPath = try replaceDatabase(in: folder)
    let problem = MediaError(
      .stateDamaged, "the saved state was damaged; it was moved to \(newPath), and a new one was created",
      underlying: reason.message)
    logger.error("the saved state was damaged", metadata: ["aside": "\(newPath)", "error": "\(reason)"])
    signal.update { $0.status.error = problem }
  }

  /// Renames the database and creates an empty one. Returns the new path of the old database.
  private func replaceDatabase(in folder: StateFolder) throws -> String {
    database?.close()
    database = nil
    let newPath = try folder.renameDatabase()
    try folder.makeDatabaseFile()
    database = try StateDatabase(path: folder.database)
    _ = try database?.load()
    return newPath
  }

  /// Checks the integrity of the loaded database.
  private func checkIntegrity() {
    guard let database, let folder = signal.withState({ $0.folder }) else { return }
    let damage: MediaError
    do {
      guard let found = try database.findDamage() else { return }
      damage = MediaError(.stateDamaged, found)
    } catch {
      damage = Self.mediaError(error, folder.database)
      // An error of the check itself does not prove damage.
      guard damage.code == .stateDamaged else { return }
    }
    do {
      try replaceDamagedDatabase(folder, damage)
      needsCompleteState = true
      let handler = signal.withState { state in
        state.isReplacementPending = state.onDatabaseReplaced == nil
        return state.onDatabaseReplaced
      }
      handler?()
    } catch {
      stopSaving(Self.mediaError(error, folder.path))
    }
  }

  private func write(_ batch: () -> StateBatch, _ completeState: (() -> StateBatch)?) -> Outcome {
    if isWaitingForSpace, let reason = openAfterWaiting() { return .deferred(reason) }
    guard database != nil else {
      return .stopped(status.error ?? MediaError(.stateNotSaved, "no state is saved"))
    }
    let outcome = needsCompleteState ? nil : write(batch())
    switch outcome {
    case .done, .deferred, .stopped: return outcome ?? .done
    case .databaseReplaced, nil:
      guard let completeState else {
        return .databaseReplaced(status.error ?? MediaError(.stateDamaged, "the saved state was damaged"))
      }
      needsCompleteState = false
      return write(completeState())
    }
  }

  private func write(_ batch: StateBatch) -> Outcome {
    guard let database, let folder = signal.withState({ $0.folder }) else {
      return .stopped(status.error ?? MediaError(.stateNotSaved, "no state is saved"))
    }
    let combined = pendingBatch.map { $0.followed(by: batch) } ?? batch
    do {
      let isChanged = try database.write(combined, nextItemID: folder.nextItemID)
      let hadPendingBatch = pendingBatch != nil
      pendingBatch = nil
      signal.update { state in
        if isChanged { state.status.writeCount += 1 }
        if hadPendingBatch { state.status.error = nil }
      }
      if hadPendingBatch { logger.notice("state is saved again") }
      return .done
    } catch {
      let reason = Self.mediaError(error, folder.database)
      if reason.code == .stateDamaged {
        do {
          pendingBatch = nil
          try replaceDamagedDatabase(folder, reason)
          needsCompleteState = true
          return .databaseReplaced(reason)
        } catch {
          let final = Self.mediaError(error, folder.path)
          stopSaving(final)
          return .stopped(final)
        }
      }
      if pendingBatch == nil { logger.error("state cannot be saved", metadata: ["error": "\(reason)"]) }
      pendingBatch = combined
      signal.update { $0.status.error = reason }
      return .deferred(reason)
    }
  }

  private func stopSaving(_ error: MediaError) {
    database?.close()
    database = nil
    logger.error("no state is saved", metadata: ["error": "\(error)"])
    signal.update { state in
      state.status.isSaving = false
      state.status.error = error
    }
  }

  /// Converts an error of SQLite or GRDB.
  static func mediaError(_ error: any Error, _ path: String) -> MediaError {
    if let error = error as? MediaError { return error }
    if let error = error as? RowDecodingError {
      return MediaError(.stateDamaged, "\(path) is damaged", underlying: "\(error)")
    }
    guard let error = error as? DatabaseError else {
      return MediaError(.stateUnavailable, "\(path) cannot be used", underlying: "\(error)")
    }
    let text = error.message ?? "\(error.resultCode)"
    // A missing table or column is also damage, for which SQLite has no separate code.
    let isMissing = ["no such table", "no such column", "has no column named"].contains { text.contains($0) }
    switch error.resultCode {
    case .SQLITE_CORRUPT, .SQLITE_NOTADB: return MediaError(.stateDamaged, "\(path) is damaged", underlying: text)
    case .SQLITE_ERROR where isMissing: return MediaError(.stateDamaged, "\(path) is damaged", underlying: text)
    case .SQLITE_FULL: return MediaError(.stateDiskFull, "not enough disk space for \(path)", underlying: text)
    default:
      return MediaError(.stateUnavailable, "\(path) cannot be written to or read", underlying: text)
    }
  }
}

extension StateBatch {
  /// Merges this batch with the next one.
  func followed(by next: StateBatch) -> StateBatch {
    var players: [String: StoredPlayer] = [:]
    for player in self.players { players[player.name] = player }
    for var player in next.players {
      if let former = players[player.name] {
        let newer = Set(player.entries.map(\.id))
        // Entries that the player no longer contains are dropped.
        let present = Set(player.order.lazy.flatMap(\.ids)).union(player.history)
        player.entries =
          former.entries.filter { !newer.contains($0.id) && present.contains($0.id) } + player.entries
      }
      players[player.name] = player
    }
    // The newer change of a bookmark replaces the older one.
    let changes = Dictionary((bookmarks + next.bookmarks).map { ($0.id, $0) }) { _, newer in newer }
    return StateBatch(
      names: next.names, players: next.names.compactMap { players[$0] }, bookmarks: Array(changes.values))
  }
}
