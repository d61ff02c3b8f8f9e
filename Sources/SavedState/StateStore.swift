import GRDB
import Logging
import MediaCore
import RealtimeAudio

/// Saves state in a folder on a separate thread. Callers wait for it only when the state is loaded and at the end.
///
/// Every error is reported (`status`, the log), and none stops playback. A batch that could not be written is retained
/// and written with the next one. A damaged database is renamed (`state.sqlite.damaged-1`), and a new one is created.
///
/// Threading: any thread, except where documented.
public final class StateStore: @unchecked Sendable {
  // `@unchecked Sendable`: state outside the signal is used by the store's thread only, and `folder` once it is
  // opened.

  /// The result of a write.
  public enum Outcome: Sendable {
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
    /// The last noted number, independent of whether the folder is open.
    var recordedNextItemID: UInt64 = 0
    /// Called when the complete state must be written. The flag is set while this event is pending.
    var onDatabaseReplaced: (@Sendable () -> Void)?
    var isReplacementPending = false
  }

  private let signal = ConditionMutex(State())
  private let path: String
  private let logger: Logger

  // State of the store's thread.
  private var database: StateDatabase?
  /// The batch that could not be written.
  private var pendingBatch: StateBatch?
  /// Whether the database is new and nothing has been written to it.
  private var isEmpty = false
  /// Whether the database has been replaced. Only once per run, because repeated damage is not caused by the file
  /// alone.
  private var hasReplacedDatabase = false
  /// Whether the disk was full when the folder was opened. Each write tries to open it again.
  private var isWaitingForRoom = false

  /// Starts the thread, which opens the folder and loads the saved state.
  public init(folder path: String, logger: Logger = Logger(label: "playhead.state")) {
    self.path = path
    self.logger = logger
    NamedThread.detached(name: "saved-state") { self.run() }
  }

  /// The saved state; empty when it could not be read. Blocks until it is loaded.
  public func waitUntilLoaded() -> LoadedState {
    signal.wait { $0.loaded } ?? LoadedState()
  }

  /// The current state of saving.
  public var status: SavingStatus { signal.withState { $0.status } }

  /// The marks of entries that are being opened; nil until the state is loaded, and when nothing is saved.
  public var openingMarks: OpeningMarks? { signal.withState { $0.openingMarks } }

  /// Records the first unused entry number. Called by one thread at a time, after the state is loaded. A memory
  /// access.
  public func record(nextItemID: UInt64) {
    signal.withState { state in
      state.recordedNextItemID = nextItemID
      return state.folder
    }?.nextItemID = nextItemID
  }

  /// Sets the handler to call on the store's thread when the complete state must be written because a new database was
  /// created. Called immediately, on the caller's thread, if this event is pending.
  public func onDatabaseReplaced(_ handler: @escaping @Sendable () -> Void) {
    let isPending = signal.withState { state in
      defer { state.isReplacementPending = false }
      state.onDatabaseReplaced = handler
      return state.isReplacementPending
    }
    if isPending { handler() }
  }

  /// Writes a batch. The store's thread calls `batch` and `completion`. Does not block.
  ///
  /// - Parameter completeState: returns the complete state, which is written instead when a new database was created.
  ///   Nil: `completion` then receives `databaseReplaced`.
  public func write(
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

  /// Writes pending batches and closes the database. Blocks until that is done, at most until `deadline`.
  public func close(by deadline: HostTime) {
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
        waitForRoom(reason)
        // The used ids are recorded even when the database cannot be read.
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

  /// Suspends saving until an attempt to open succeeds.
  private func waitForRoom(_ error: MediaError) {
    database?.close()
    database = nil
    if !isWaitingForRoom { logger.error("state cannot be saved", metadata: ["error": "\(error)"]) }
    isWaitingForRoom = true
    signal.update { $0.status.error = error }
  }

  /// Opens the database after the disk was full at startup.
  ///
  /// A saved state that could not be read then is renamed, because clients have changed the players meanwhile.
  /// - Returns: the error if there is still no space; nil when saving can begin, or has stopped permanently.
  private func openAfterWaiting() -> MediaError? {
    do {
      let former = try openDatabase()
      var problem: MediaError?
      if !former.players.isEmpty || !former.bookmarks.isEmpty, let folder = signal.withState({ $0.folder }) {
        let aside = try replaceDatabase(in: folder)
        problem = MediaError(
          .stateDiskFull,
          "the saved state could not be read on the full disk; it was moved to \(aside), and a new one was created")
      }
      (isWaitingForRoom, isEmpty) = (false, true)
      signal.update { [problem] in $0.status.error = problem }
      logger.notice("state is saved again", metadata: problem.map { ["error": "\($0)"] })
      return nil
    } catch {
      signal.update { $0.status.isSaving = false }
      let reason = reason(error)
      guard reason.code == .stateDiskFull else {
        isWaitingForRoom = false
        stopSaving(reason)
        return nil
      }
      waitForRoom(reason)
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
    let aside = try replaceDatabase(in: folder)
    let problem = MediaError(
      .stateDamaged, "the saved state was damaged; it was moved to \(aside), and a new one was created",
      underlying: reason.message)
    logger.error("the saved state was damaged", metadata: ["aside": "\(aside)", "error": "\(reason)"])
    signal.update { $0.status.error = problem }
  }

  /// Renames the database and creates an empty one. Returns the path of the old one.
  private func replaceDatabase(in folder: StateFolder) throws -> String {
    database?.close()
    database = nil
    let aside = try folder.setDatabaseAside()
    try folder.makeDatabaseFile()
    database = try StateDatabase(path: folder.database)
    _ = try database?.load()
    return aside
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
      // The check was not possible, which is not damage.
      guard damage.code == .stateDamaged else { return }
    }
    do {
      try replaceDamagedDatabase(folder, damage)
      isEmpty = true
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
    if isWaitingForRoom, let reason = openAfterWaiting() { return .deferred(reason) }
    guard database != nil else {
      return .stopped(status.error ?? MediaError(.stateNotSaved, "no state is saved"))
    }
    let outcome = isEmpty ? nil : write(batch())
    switch outcome {
    case .done, .deferred, .stopped: return outcome ?? .done
    case .databaseReplaced, nil:
      guard let completeState else {
        return .databaseReplaced(status.error ?? MediaError(.stateDamaged, "the saved state was damaged"))
      }
      isEmpty = false
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
          isEmpty = true
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
    // A missing table or column is also damage; SQLite has no code for it.
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
  /// Merges two consecutive batches.
  func followed(by next: StateBatch) -> StateBatch {
    var players: [String: StoredPlayer] = [:]
    for player in self.players { players[player.name] = player }
    for var player in next.players {
      if let former = players[player.name] {
        let newer = Set(player.entries.map(\.id))
        // Drop entries that have left the player meanwhile.
        let present = Set(player.order.lazy.flatMap(\.ids)).union(player.history)
        player.entries =
          former.entries.filter { !newer.contains($0.id) && present.contains($0.id) } + player.entries
      }
      players[player.name] = player
    }
    // For a bookmark that was changed twice, use the newer change.
    let changes = Dictionary((bookmarks + next.bookmarks).map { ($0.id, $0) }) { _, newer in newer }
    return StateBatch(
      names: next.names, players: next.names.compactMap { players[$0] }, bookmarks: Array(changes.values))
  }
}
