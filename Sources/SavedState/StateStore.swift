import GRDB
import Logging
import MediaCore
import RealtimeAudio

/// Saves state in a folder, on a thread of its own that nobody waits for, but when the state is loaded and at the end.
///
/// Everything that goes wrong is told (`status`, the log), and nothing that goes wrong ends anything: who cannot save plays on. What
/// could not be written is kept and written with what comes next. A database that is damaged is put aside
/// (`state.sqlite.damaged-1`), and another is begun.
///
/// Threading: any, but for what says otherwise.
public final class StateStore: @unchecked Sendable {
  // `@unchecked Sendable`: what is not behind the signal is used by the store's thread only, `folder` once it is opened.

  /// What came of a write.
  public enum Outcome: Sendable {
    case done
    /// It is kept, to be written with the next.
    case kept(MediaError)
    /// Another database has been begun: everything is to be written.
    case begunAnew(MediaError)
    /// Nothing is saved any more.
    case given(up: MediaError)
  }

  private struct State {
    var jobs: [@Sendable (StateStore) -> Void] = []
    var isClosing = false
    var isClosed = false
    var loaded: LoadedState?
    var status = SavingStatus()
    var folder: StateFolder?
    var openingMarks: OpeningMarks?
    /// The number that was noted last, whether the folder is open or not.
    var notedNextItemID: UInt64 = 0
    /// Called when everything is to be written; that it is nobody has been told yet.
    var onBegunAnew: (@Sendable () -> Void)?
    var isBegunAnewUntold = false
  }

  private let signal = WakeSignal(State())
  private let path: String
  private let logger: Logger

  // The store's thread.
  private var database: StateDatabase?
  /// What could not be written.
  private var kept: StateBatch?
  /// The database is another one, and nothing has been written to it.
  private var isEmpty = false
  /// Once in a run is enough: what is damaged again is not the file alone.
  private var hasBegunAnew = false
  /// The disk was full when the folder was opened; each write tries again.
  private var isWaitingForRoom = false

  /// Begins to open the folder, and to load what was saved.
  public init(folder path: String, logger: Logger = Logger(label: "playhead.state")) {
    self.path = path
    self.logger = logger
    NamedThread.detached(name: "saved-state") { self.run() }
  }

  /// What was saved. Blocks until it is read; nothing where it could not be.
  public func waitUntilLoaded() -> LoadedState {
    signal.wait { $0.loaded } ?? LoadedState()
  }

  /// How saving is going.
  public var status: SavingStatus { signal.withState { $0.status } }

  /// The marks of entries that are being opened; nil while the state is not loaded, and where nothing is saved.
  public var openingMarks: OpeningMarks? { signal.withState { $0.openingMarks } }

  /// Notes the first number that no entry has had. By one thread at a time, once the state is loaded; a store into memory.
  public func note(nextItemID: UInt64) {
    signal.withState { state in
      state.notedNextItemID = nextItemID
      return state.folder
    }?.nextItemID = nextItemID
  }

  /// Has `handler` called, on the store's thread, when everything is to be written because another database was begun; at once where
  /// that is so already.
  public func onBegunAnew(_ handler: @escaping @Sendable () -> Void) {
    let isUntold = signal.withState { state in
      defer { state.isBegunAnewUntold = false }
      state.onBegunAnew = handler
      return state.isBegunAnewUntold
    }
    if isUntold { handler() }
  }

  /// Writes a batch, which is made on the store's thread. `completion` is called there. Does not block.
  ///
  /// - Parameter whole: everything, which is written instead when another database has been begun; nil: then `begunAnew` is the answer.
  public func write(
    _ batch: @escaping @Sendable () -> StateBatch, whole: (@Sendable () -> StateBatch)? = nil,
    completion: @escaping @Sendable (Outcome) -> Void
  ) {
    signal.update { state in
      guard !state.isClosing else { return }
      state.jobs.append { completion($0.write(batch, whole)) }
    }
  }

  /// Calls `body` with the database, on the store's thread, behind what it was given before. Nil where nothing is saved.
  func onThread(_ body: @escaping @Sendable (StateDatabase?) -> Void) {
    signal.update { state in
      guard !state.isClosing else { return }
      state.jobs.append { body($0.database) }
    }
  }

  /// Asks the database something, on the store's thread.
  func ask<Answer: Sendable>(
    _ completion: @escaping @Sendable (Result<Answer, MediaError>) -> Void,
    _ body: @escaping @Sendable (StateDatabase) throws -> Answer
  ) {
    let path = path
    let refused = signal.update { state in
      guard !state.isClosing else { return true }
      state.jobs.append { store in
        guard let database = store.database else {
          return completion(.failure(store.status.error ?? MediaError(.stateNotSaved, "nothing is saved")))
        }
        completion(Result { try body(database) }.mapError { Self.mediaError($0, path) })
      }
      return false
    }
    if refused { completion(.failure(MediaError(.shuttingDown, "playheadd is stopping"))) }
  }

  /// Writes what waits, and closes the database. Blocks until that is done, no longer than to `deadline`.
  public func close(by deadline: HostTime) {
    openingMarks?.close()
    signal.update { $0.isClosing = true }
    _ = signal.wait(until: deadline) { $0.isClosed ? true : nil }
  }

  // MARK: - The store's thread

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
    // Who waits for the end may open the folder anew.
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
        // The ids that were used before are on record even where the database cannot be read.
        let recorded = signal.withState { $0.folder }?.nextItemID ?? 0
        if StoredEntry.ids.contains(recorded) { loaded.nextItemID = recorded }
      } else {
        stopSaving(reason)
      }
    }
    signal.update { [loaded] in $0.loaded = loaded }
    if database != nil { checkSoundness() }
  }

  /// Opens the folder, unless it is open, and the database in it. Returns the saved state.
  private func openDatabase() throws -> LoadedState {
    let folder = try signal.withState { $0.folder } ?? StateFolder(path: path)
    signal.update { $0.folder = folder }
    try folder.makeDatabaseFile()
    var loaded = try load(folder)
    // What is no number is not on record.
    for recorded in [folder.nextItemID, signal.withState { $0.notedNextItemID }]
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

  /// Returns the error of a failed attempt to open. SQLite has several numbers for a full disk.
  private func reason(_ error: any Error) -> MediaError {
    let reason = Self.mediaError(error, path)
    guard reason.code == .stateUnavailable, StateFolder.isDiskFull(path) else { return reason }
    return MediaError(.stateDiskFull, "there is no room for \(path)", underlying: reason.message)
  }

  /// Saves nothing until an attempt to open succeeds.
  private func waitForRoom(_ error: MediaError) {
    database?.close()
    database = nil
    if !isWaitingForRoom { logger.error("state cannot be saved", metadata: ["error": "\(error)"]) }
    isWaitingForRoom = true
    signal.update { $0.status.error = error }
  }

  /// Opens the database after the disk was full at the start.
  ///
  /// A state that could not be read then is put aside: clients have changed the players meanwhile.
  /// - Returns: the reason why there is still no room; nil where saving can begin, or has been given up.
  private func openAfterWaiting() -> MediaError? {
    do {
      let former = try openDatabase()
      var told: MediaError?
      if !former.players.isEmpty || !former.bookmarks.isEmpty, let folder = signal.withState({ $0.folder }) {
        let aside = try replaceDatabase(in: folder)
        told = MediaError(
          .stateDiskFull,
          "the saved state could not be read on the full disk; it is in \(aside) now, and another was begun")
      }
      (isWaitingForRoom, isEmpty) = (false, true)
      signal.update { [told] in $0.status.error = told }
      logger.notice("state is saved again", metadata: told.map { ["error": "\($0)"] })
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
      try beginAnew(folder, reason)
      return LoadedState()
    }
  }

  /// Puts the database aside and begins another. Errors: those of the system; `reason` when that was done before.
  private func beginAnew(_ folder: StateFolder, _ reason: MediaError) throws {
    database?.close()
    database = nil
    guard !hasBegunAnew else { throw reason }
    hasBegunAnew = true
    let aside = try replaceDatabase(in: folder)
    let told = MediaError(
      .stateDamaged, "the saved state was damaged; it lies in \(aside) now, and another was begun",
      underlying: reason.message)
    logger.error("the saved state was damaged", metadata: ["aside": "\(aside)", "error": "\(reason)"])
    signal.update { $0.status.error = told }
  }

  /// Puts the database aside and makes an empty one. Returns the path of the former one.
  private func replaceDatabase(in folder: StateFolder) throws -> String {
    database?.close()
    database = nil
    let aside = try folder.setDatabaseAside()
    try folder.makeDatabaseFile()
    database = try StateDatabase(path: folder.database)
    _ = try database?.load()
    return aside
  }

  /// Looks at all of a database that could be read.
  private func checkSoundness() {
    guard let database, let folder = signal.withState({ $0.folder }) else { return }
    let damage: MediaError
    do {
      guard let found = try database.findDamage() else { return }
      damage = MediaError(.stateDamaged, found)
    } catch {
      damage = Self.mediaError(error, folder.database)
      // It could not be found out: that is no damage.
      guard damage.code == .stateDamaged else { return }
    }
    do {
      try beginAnew(folder, damage)
      isEmpty = true
      let handler = signal.withState { state in
        state.isBegunAnewUntold = state.onBegunAnew == nil
        return state.onBegunAnew
      }
      handler?()
    } catch {
      stopSaving(Self.mediaError(error, folder.path))
    }
  }

  private func write(_ batch: () -> StateBatch, _ whole: (() -> StateBatch)?) -> Outcome {
    if isWaitingForRoom, let reason = openAfterWaiting() { return .kept(reason) }
    guard database != nil else {
      return .given(up: status.error ?? MediaError(.stateNotSaved, "nothing is saved"))
    }
    let outcome = isEmpty ? nil : write(batch())
    switch outcome {
    case .done, .kept, .given: return outcome ?? .done
    case .begunAnew, nil:
      guard let whole else {
        return .begunAnew(status.error ?? MediaError(.stateDamaged, "the saved state was damaged"))
      }
      isEmpty = false
      return write(whole())
    }
  }

  private func write(_ batch: StateBatch) -> Outcome {
    guard let database, let folder = signal.withState({ $0.folder }) else {
      return .given(up: status.error ?? MediaError(.stateNotSaved, "nothing is saved"))
    }
    let whole = kept.map { $0.followed(by: batch) } ?? batch
    do {
      let isChanged = try database.write(whole, nextItemID: folder.nextItemID)
      let wasKept = kept != nil
      kept = nil
      signal.update { state in
        if isChanged { state.status.writeCount += 1 }
        if wasKept { state.status.error = nil }
      }
      if wasKept { logger.notice("state is saved again") }
      return .done
    } catch {
      let reason = Self.mediaError(error, folder.database)
      if reason.code == .stateDamaged {
        do {
          kept = nil
          try beginAnew(folder, reason)
          isEmpty = true
          return .begunAnew(reason)
        } catch {
          let final = Self.mediaError(error, folder.path)
          stopSaving(final)
          return .given(up: final)
        }
      }
      if kept == nil { logger.error("state cannot be saved", metadata: ["error": "\(reason)"]) }
      kept = whole
      signal.update { $0.status.error = reason }
      return .kept(reason)
    }
  }

  private func stopSaving(_ error: MediaError) {
    database?.close()
    database = nil
    logger.error("nothing is saved", metadata: ["error": "\(error)"])
    signal.update { state in
      state.status.isSaving = false
      state.status.error = error
    }
  }

  /// What an error of SQLite's is here.
  static func mediaError(_ error: any Error, _ path: String) -> MediaError {
    if let error = error as? MediaError { return error }
    if let error = error as? RowDecodingError {
      return MediaError(.stateDamaged, "\(path) is damaged", underlying: "\(error)")
    }
    guard let error = error as? DatabaseError else {
      return MediaError(.stateUnavailable, "\(path) cannot be used", underlying: "\(error)")
    }
    let text = error.message ?? "\(error.resultCode)"
    // A table that is not there, or not as it should be, is damage too; SQLite has no number for it.
    let isMissing = ["no such table", "no such column", "has no column named"].contains { text.contains($0) }
    switch error.resultCode {
    case .SQLITE_CORRUPT, .SQLITE_NOTADB: return MediaError(.stateDamaged, "\(path) is damaged", underlying: text)
    case .SQLITE_ERROR where isMissing: return MediaError(.stateDamaged, "\(path) is damaged", underlying: text)
    case .SQLITE_FULL: return MediaError(.stateDiskFull, "there is no room for \(path)", underlying: text)
    default:
      return MediaError(.stateUnavailable, "\(path) cannot be written to or read", underlying: text)
    }
  }
}

extension StateBatch {
  /// What is to be written of two batches, one after the other.
  func followed(by next: StateBatch) -> StateBatch {
    var players: [String: StoredPlayer] = [:]
    for player in self.players { players[player.name] = player }
    for var player in next.players {
      if let former = players[player.name] {
        let newer = Set(player.entries.map(\.id))
        // Of what has left meanwhile nothing is kept.
        let present = Set(player.order.lazy.flatMap(\.ids)).union(player.history)
        player.entries =
          former.entries.filter { !newer.contains($0.id) && present.contains($0.id) } + player.entries
      }
      players[player.name] = player
    }
    // Of what was changed twice the newer one is written.
    let changes = Dictionary((bookmarks + next.bookmarks).map { ($0.id, $0) }) { _, newer in newer }
    return StateBatch(
      names: next.names, players: next.names.compactMap { players[$0] }, bookmarks: Array(changes.values))
  }
}
