import Logging
import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadSavedState

extension OpeningMarks: OpeningRecord {}

/// Saves the state of the players: records their changes, and passes them to the store in batches.
///
/// - The writer passes changes after a short delay, so that one write contains changes that occur together. During a
///   write, it only records new changes.
/// - During playback it passes the position every 0.9 s.
/// - Without changes it sets no timer.
/// - The control loop only records changes and makes snapshots, whose cost does not depend on the queue length. The
///   store's thread computes the data to write from the snapshots.
///
/// Threading: confined to the control loop.
final class StateWriter: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop. Timers run on it, and the callbacks of the store switch to it.

  /// The delay from a change to the write.
  private static let delayNanoseconds: Int64 = 20_000_000
  /// The minimum time from the start of a write to the next scheduled write.
  private static let spacingNanoseconds: Int64 = 400_000_000
  /// The interval of position writes during playback. Including the time for writing, a saved position is at most one
  /// second old.
  private static let positionNanoseconds: Int64 = 900_000_000

  /// The first delay before a failed write is repeated. Each failure doubles the delay.
  private static let firstRetryNanoseconds: Int64 = 1_000_000_000
  /// The maximum delay before a failed write is repeated.
  private static let maximumRetryNanoseconds: Int64 = 60_000_000_000

  /// The recorded changes of one player.
  private struct PendingChanges {
    /// The maximum number of recorded entries. Beyond it no more entries are recorded, and all entries of the player
    /// are written. The recorded entries are retained until the write, so that the store's thread frees their memory.
    static let entryLimit = 20_000

    /// The new or changed entries: single entries, and groups that were added together.
    private var single: [PlayerItem.ID: PlayerItem] = [:]
    private var batches: [[PlayerItem]] = []
    /// The number of entries in both. An entry may be counted several times.
    private var entryCount = 0
    /// Whether all entries must be written.
    private(set) var needsAllEntries = false

    mutating func add(_ items: [PlayerItem]) {
      guard !needsAllEntries, let firstItem = items.first else { return }
      if items.count == 1 {
        if single.updateValue(firstItem, forKey: firstItem.id) == nil { entryCount += 1 }
      } else {
        batches.append(items)
        entryCount += items.count
      }
      needsAllEntries = entryCount > Self.entryLimit
    }

    /// All recorded entries without duplicates.
    var items: [PlayerItem] {
      var items = single
      for item in batches.joined() { items[item.id] = item }
      return Array(items.values)
    }
  }

  /// The data of one player that is passed to the store.
  private struct PlayerData {
    var name: String
    var snapshot: PlayerSnapshot
    var effects: EffectSettings
    /// The recorded changes. Nil: none.
    var changes: PendingChanges?
    /// Returns all entries. Set if all are or may be needed.
    var allItems: (@Sendable () -> [PlayerItem])?

    /// Creates the saved form of the player, with the changed entries, or with all entries if `isComplete` is true.
    func storedPlayer(isComplete: Bool) -> StoredPlayer {
      let needsAllEntries = isComplete || changes?.needsAllEntries == true
      return StoredPlayer(
        name: name, snapshot, effects, changed: needsAllEntries ? allItems?() ?? [] : changes?.items ?? [])
    }
  }

  let store: StateStore
  private let registry: PlayerRegistry
  private let engine: EngineCore
  private let logger: Logger
  /// The loop of the timers. It uses real time even if the players use a virtual clock.
  private let loop: any ControlLoop
  /// The recorded changes by player name. Recording another change of the same player allocates nothing.
  private var pendingChanges: [String: PendingChanges] = [:]
  private var timer: (any ControlTimer)?
  /// The time of the scheduled write. `.max` without a timer.
  private var scheduledWriteTime = HostTime(nanoseconds: .max)
  /// The start of the last write.
  private var lastWriteTime = HostTime(nanoseconds: 0)
  private var isWriting = false
  private var isStopped = false
  /// Whether the store has created a new database, so that the complete state must be written.
  private var needsFullWrite = false
  /// Whether the opening marks found at startup are still needed, because the failures of their entries are not saved
  /// yet.
  private(set) var isCrashUnsaved = false
  /// The entries that failed at startup because an earlier daemon crashed while opening them.
  private var crashedIDs: [PlayerItem.ID] = []
  /// The earliest time to repeat a failed write.
  private var retryTime = HostTime(nanoseconds: 0)
  /// The delay before a write is repeated after the next failure.
  private var retryNanoseconds = firstRetryNanoseconds
  /// The automatic and manual bookmarks.
  private(set) var bookmarks = BookmarkTable()
  private var bookmarkRule = BookmarkRule(minimumDuration: nil)
  /// The completions of `save` that wait for the next write.
  private var nextWriteCompletions: [(MediaError?) -> Void] = []
  /// The completions of `save` that wait for the current write.
  private var currentWriteCompletions: [(MediaError?) -> Void] = []

  init(store: StateStore, registry: PlayerRegistry, engine: EngineCore, loop: any ControlLoop, logger: Logger) {
    self.store = store
    self.engine = engine
    self.logger = logger
    self.registry = registry
    self.loop = loop
  }

  // MARK: - Starting and stopping

  /// Restores the saved players, and starts to observe all players. Blocks the control loop until the state is loaded.
  /// No client is served before.
  func restore(_ policy: ServerPolicy) {
    let loaded = store.waitUntilLoaded()
    registry.skipItemIDs(to: loaded.nextItemID)
    registry.onNextItemIDChange = { [store] in store.record(nextItemID: $0) }
    bookmarks = BookmarkTable(loaded.bookmarks)
    // A new item may have the same file as a current item, so the bookmarks of the current items are updated first.
    registry.prepareResumeTimes = { [weak self] in
      guard let self, !isStopped else { return }
      for target in registry.savedPlayers { updateCurrentBookmark(target) }
    }
    registry.resumeTime = { [weak self] in self?.resumeTime(of: $0) }
    apply(policy)
    var maker = EntryMaker(policy)
    for stored in loaded.players {
      let byteLimit = policy.limits.queueByteCount
      let target = registry.restore(stored.name)
      if let effects = stored.settings.effects { target.effects.restore(effects, for: target.player) }
      let omittedCount = stored.restore(
        target.player, &maker, openingIDs: loaded.openingIDs, byteLimit: byteLimit)
      if omittedCount > 0 {
        let error = MediaError(
          .queueTooLong, "the entries of a queue can have at most \(byteLimit) bytes of paths and options")
        logger.error(
          "the end of a saved queue was omitted",
          metadata: ["player": "\(stored.name)", "entries": "\(omittedCount)", "error": "\(error)"])
      }
    }
    for target in registry.savedPlayers { observe(target) }
    engine.openingRecord = store.openingMarks
    recordCrashes(loaded)
    registry.onPlayersChange = { [weak self] created in
      guard let self else { return }
      if let created {
        observe(created)
        recordChanges(created.name, [])
      } else {
        scheduleWrite(after: Self.delayNanoseconds)
      }
    }
    // If the disk was full at startup, the complete state is written when space is available, even without changes.
    if store.status.error?.code == .stateDiskFull {
      needsFullWrite = true
      scheduleWrite(after: Self.delayNanoseconds)
    }
    resumePlayback(loaded, policy)
    store.onDatabaseReplaced { [weak self] in
      guard let self else { return }
      loop.execute {
        self.needsFullWrite = true
        self.scheduleWrite(after: Self.delayNanoseconds)
      }
    }
  }

  /// Continues playback of the players that were playing. Not after a crash while entries were opened, because the same
  /// crash could end each daemon that systemd starts. A crash later in an entry is not detected.
  private func resumePlayback(_ loaded: LoadedState, _ policy: ServerPolicy) {
    guard policy.resumesPlayback, loaded.openingIDs.isEmpty else { return }
    for stored in loaded.players {
      guard let target = registry.players.first(where: { $0.name == stored.name }) else { continue }
      stored.resumePlayback(of: target.player)
    }
  }

  /// Finds the entries that failed because a daemon crashed while it opened them. Schedules saving the failures of the
  /// last crash, and logs them.
  private func recordCrashes(_ loaded: LoadedState) {
    for target in registry.savedPlayers {
      let items = target.player.onLoop { $0.allItems() }.filter { $0.error?.code == .crashedWhileOpening }
      crashedIDs += items.map(\.id)
      let newlyCrashed = items.filter { loaded.openingIDs.contains($0.id) }
      if !newlyCrashed.isEmpty { recordChanges(target.name, newlyCrashed) }
    }
    crashedIDs.sort()
    guard !loaded.openingIDs.isEmpty else { return }
    isCrashUnsaved = true
    scheduleWrite(after: Self.delayNanoseconds)
    logger.warning(
      "the last daemon crashed while it opened entries; they have failed, and players open no entry before a request",
      metadata: ["items": "\(loaded.openingIDs.sorted().map(String.init).joined(separator: ","))"])
  }

  /// The entries in `crashedIDs` that are still in a queue.
  var queuedCrashedIDs: [PlayerItem.ID] {
    crashedIDs.filter { id in registry.savedPlayers.contains { $0.player.onLoop { $0.item(id) } != nil } }
  }

  /// Applies a new policy.
  func apply(_ policy: ServerPolicy) {
    bookmarkRule = BookmarkRule(minimumDuration: policy.minimumBookmarkedDuration)
  }

  /// Passes all changes to the store, and stops recording changes.
  func stop() {
    guard !isStopped else { return }
    writeChanges(isLast: true)
    isStopped = true
    timer?.cancel()
    timer = nil
  }

  /// The status of saving.
  var status: SavingStatus { store.status }

  /// Saves all current changes. Calls `completion` once, with an error if they could not be saved.
  func save(_ completion: @escaping (MediaError?) -> Void) {
    guard !isStopped else {
      return completion(status.error ?? MediaError(.shuttingDown, "playheadd is stopping"))
    }
    nextWriteCompletions.append(completion)
    if !isWriting { writeChanges() }
  }

  // MARK: - Recording changes

  /// Observes the changes of a player, and its position.
  private func observe(_ target: NamedPlayer) {
    let name = target.name
    target.player.onLoop { player in
      player.setChangeObserver { [weak self] items in self?.recordChanges(name, items) }
      player.setPositionObserver { [weak self] item, time, hasEnded in
        guard let self else { return }
        updateBookmark(item, at: time, hasEnded: hasEnded)
        scheduleWrite(after: Self.delayNanoseconds)
      }
    }
  }

  private func recordChanges(_ name: String, _ items: [PlayerItem]) {
    pendingChanges[name, default: PendingChanges()].add(items)
    scheduleWrite(after: Self.delayNanoseconds)
  }

  // MARK: - Bookmarks

  /// Changes bookmarks, and schedules a write.
  func changeBookmarks<Value>(
    _ body: (inout BookmarkTable) throws(MediaError) -> Value
  ) throws(MediaError) -> Value {
    let value = try body(&bookmarks)
    scheduleWrite(after: Self.delayNanoseconds)
    return value
  }

  private func resumeTime(of item: PlayerItem) -> MediaTime? {
    BookmarkedItem(item).flatMap { bookmarks.automaticBookmark(of: $0)?.time }
  }

  /// Updates the automatic bookmark of an item that was heard up to `time`.
  private func updateBookmark(_ item: PlayerItem, at time: MediaTime, hasEnded: Bool) {
    let decision = bookmarkRule.decision(at: time, of: item.duration, hasEnded: hasEnded)
    guard decision != .keep, let bookmarkedItem = BookmarkedItem(item) else { return }
    bookmarks.updateAutomatic(bookmarkedItem, at: time, decision, now: BookmarkedItem.now)
  }

  /// Updates the automatic bookmark of the current item.
  private func updateCurrentBookmark(_ target: NamedPlayer) {
    guard let position = target.player.onLoop({ $0.currentItemPosition }) else { return }
    updateBookmark(position.item, at: position.time, hasEnded: position.hasEnded)
  }

  // MARK: - Scheduling

  /// Schedules a write after this delay, unless an earlier write is scheduled. The write may be later, to keep the
  /// minimum time between writes and the delay after a failure.
  private func scheduleWrite(after nanoseconds: Int64) {
    guard !isWriting, !isStopped else { return }
    let now = loop.now
    let time = max(
      now.advanced(byNanoseconds: nanoseconds), lastWriteTime.advanced(byNanoseconds: Self.spacingNanoseconds),
      retryTime)
    guard time < scheduledWriteTime else { return }
    timer?.cancel()
    scheduledWriteTime = time
    timer = loop.schedule(at: time) { [weak self] in
      self?.timer = nil
      self?.scheduledWriteTime = HostTime(nanoseconds: .max)
      self?.writeChanges()
    }
  }

  private static func isPlaying(_ target: NamedPlayer) -> Bool { target.state.timeControlStatus == .playing }

  // MARK: - Writing

  /// Passes all changes to the store, and the positions of playing players. After the database was replaced, also
  /// passes the complete state.
  ///
  /// - Parameter isLast: Whether this is the last write. The store then also gets the complete state, because it may
  ///   create a new database.
  private func writeChanges(isLast: Bool = false) {
    guard isLast || !isWriting else { return }
    let names = registry.savedPlayers.map(\.name)
    let writesAll = isLast || needsFullWrite
    var players: [PlayerData] = []
    for target in registry.savedPlayers {
      let isPlaying = Self.isPlaying(target)
      let changes = pendingChanges[target.name] ?? (isPlaying ? PendingChanges() : nil)
      guard changes != nil || writesAll else { continue }
      updateCurrentBookmark(target)
      players.append(
        target.player.onLoop {
          PlayerData(
            name: target.name, snapshot: $0.snapshot(), effects: target.effects.settings, changes: changes,
            allItems: writesAll || changes?.needsAllEntries == true ? $0.allItemsProvider() : nil)
        })
    }
    pendingChanges = [:]
    needsFullWrite = false
    isWriting = true
    currentWriteCompletions += nextWriteCompletions
    nextWriteCompletions = []
    lastWriteTime = loop.now
    let snapshots = players
    let bookmarkChanges = bookmarks.drainChanges()
    let allBookmarks = writesAll ? bookmarks.all.map { BookmarkChange(id: $0.id, bookmark: $0) } : []
    let completeState = { @Sendable in
      StateBatch(names: names, players: snapshots.map { $0.storedPlayer(isComplete: true) }, bookmarks: allBookmarks)
    }
    store.write(
      {
        let changed = snapshots.filter { $0.changes != nil }
        return StateBatch(
          names: names, players: changed.map { $0.storedPlayer(isComplete: false) }, bookmarks: bookmarkChanges)
      }, completeState: writesAll ? completeState : nil,
      completion: { [weak self] outcome in
        guard let self else { return }
        loop.execute { self.writeCompleted(outcome) }
      })
  }

  private func writeCompleted(_ outcome: StateStore.Outcome) {
    isWriting = false
    let completions = currentWriteCompletions
    currentWriteCompletions = []
    switch outcome {
    case .done:
      (retryTime, retryNanoseconds) = (HostTime(nanoseconds: 0), Self.firstRetryNanoseconds)
      if isCrashUnsaved { store.openingMarks?.removeFound() }
      isCrashUnsaved = false
      for completion in completions { completion(nil) }
    case .deferred(let error):
      retryTime = loop.now.advanced(byNanoseconds: retryNanoseconds)
      retryNanoseconds = min(2 * retryNanoseconds, Self.maximumRetryNanoseconds)
      for completion in completions { completion(error) }
    case .databaseReplaced:
      needsFullWrite = true
      nextWriteCompletions = completions + nextWriteCompletions
    case .stopped(let error):
      isStopped = true
      for target in registry.savedPlayers {
        target.player.onLoop {
          $0.setChangeObserver(nil)
          $0.setPositionObserver(nil)
        }
      }
      for completion in completions + nextWriteCompletions { completion(error) }
      nextWriteCompletions = []
    }
    guard !isStopped else { return }
    if !nextWriteCompletions.isEmpty { return writeChanges() }
    if case .deferred = outcome { scheduleWrite(after: 0) }
    if needsFullWrite || !pendingChanges.isEmpty || bookmarks.hasChanges { scheduleWrite(after: Self.delayNanoseconds) }
    if registry.savedPlayers.contains(where: Self.isPlaying) { scheduleWrite(after: Self.positionNanoseconds) }
  }
}
