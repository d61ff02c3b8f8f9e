import Logging
import MediaCore
import Playback
import SavedState

extension OpeningMarks: OpeningRecord {}

/// Has what the players are saved: notes what changes, and gives it to the store in good time.
///
/// What has changed is given a moment later, so that what changes together is written together; while that is being written the
/// next is only noted. While something plays its position is given every 0.9 s, and while nothing changes nothing is done at all. Taking
/// notes is all that the control loop does: what is to be written is worked out on the store's thread, from snapshots that cost
/// the same however long a queue is.
///
/// Threading: confined to the control loop.
final class StateKeeper: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the loop; timers and the store's answers hop onto it.

  /// How long after a change it is given to the store.
  private static let delayNanoseconds: Int64 = 20_000_000
  /// How long after a write the next may begin.
  private static let spacingNanoseconds: Int64 = 400_000_000
  /// How often positions are given while something plays. With the time that writing takes this is within a second.
  private static let positionNanoseconds: Int64 = 900_000_000

  /// How long after it could not be written that is tried again: first, and at last; each time it is twice as long.
  private static let firstRetryNanoseconds: Int64 = 1_000_000_000
  private static let lastRetryNanoseconds: Int64 = 60_000_000_000

  /// What has changed of one player.
  private struct Note {
    /// How many entries are noted; with more of them everything is to be written, and no more are noted. Those that are
    /// noted stay until then: freeing them may free their memory, which is the store's thread's work.
    static let limit = 20_000

    /// Entries that are new or have other settings, one by one and as they came together.
    private var single: [PlayerItem.ID: PlayerItem] = [:]
    private var batches: [[PlayerItem]] = []
    private var count = 0
    /// Everything is to be written.
    private(set) var isWhole = false

    mutating func add(_ items: [PlayerItem]) {
      guard !isWhole, let first = items.first else { return }
      if items.count == 1 {
        if single.updateValue(first, forKey: first.id) == nil { count += 1 }
      } else {
        batches.append(items)
        count += items.count
      }
      isWhole = count > Self.limit
    }

    /// Each of them once.
    var items: [PlayerItem] {
      var items = single
      for item in batches.joined() { items[item.id] = item }
      return Array(items.values)
    }
  }

  /// What is given of one player.
  private struct Part {
    var name: String
    var snapshot: PlayerSnapshot
    /// What has changed; nil: nothing.
    var note: Note?
    /// Every entry, where all are to be written or might be.
    var allItems: (@Sendable () -> [PlayerItem])?

    func stored(whole: Bool) -> StoredPlayer {
      StoredPlayer(
        name: name, snapshot, changed: whole || note?.isWhole == true ? allItems?() ?? [] : note?.items ?? [])
    }
  }

  let store: StateStore
  private let registry: PlayerRegistry
  private let engine: EngineCore
  private let logger: Logger
  /// Its timers run on real time, whatever the players' do.
  private let loop: any ControlLoop
  /// Kept without allocating for each change: what is noted of a player that is known here.
  private var notes: [String: Note] = [:]
  private var timer: (any ControlTimer)?
  private var timerTime = HostTime(nanoseconds: .max)
  private var lastWrite = HostTime(nanoseconds: 0)
  private var isWriting = false
  private var isStopped = false
  /// The store has begun another database.
  private var isAllWanted = false
  /// Marks that were found at the start are still needed: what they tell is not saved yet.
  private var isCrashUnsaved = false
  /// The entries that failed at the start because a daemon died while it opened them.
  private var crashedIDs: [PlayerItem.ID] = []
  /// Before that what could not be written is not tried again, and how long it is waited then.
  private var retryTime = HostTime(nanoseconds: 0)
  private var retryNanoseconds = firstRetryNanoseconds
  /// Where things were left, and what was marked by hand.
  private(set) var bookmarks = BookmarkTable()
  private var bookmarkRule = BookmarkRule(shortest: nil)
  /// Who waits for what has changed by now, and for what is being written.
  private var waiting: [(MediaError?) -> Void] = []
  private var waitingForWrite: [(MediaError?) -> Void] = []

  init(store: StateStore, registry: PlayerRegistry, engine: EngineCore, loop: any ControlLoop, logger: Logger) {
    self.store = store
    self.engine = engine
    self.logger = logger
    self.registry = registry
    self.loop = loop
  }

  // MARK: - The beginning and the end

  /// Gives the registry's players what was saved, and watches them from now on. Blocks until that is read: before anybody is served.
  func restore(_ policy: ServerPolicy) {
    let loaded = store.waitUntilLoaded()
    registry.skipItemIDs(to: loaded.nextItemID)
    registry.onNextItemID = { [store] in store.note(nextItemID: $0) }
    bookmarks = BookmarkTable(loaded.bookmarks)
    // What is heard at this moment may be what is to be gone on with.
    registry.onResume = { [weak self] in
      guard let self, !isStopped else { return }
      for target in registry.players { settleCurrent(target) }
    }
    registry.placeToResume = { [weak self] in self?.placeToResume($0) }
    apply(policy)
    var maker = EntryMaker(policy)
    for stored in loaded.players {
      let byteLimit = policy.limits.queueByteCount
      let omittedCount = stored.restore(
        registry.restore(stored.name).player, &maker, openingIDs: loaded.openingIDs, byteLimit: byteLimit)
      if omittedCount > 0 {
        let error = MediaError(
          .queueTooLong, "the entries of a queue have at most \(byteLimit) bytes of paths and options")
        logger.error(
          "the end of a saved queue is left out",
          metadata: ["player": "\(stored.name)", "entries": "\(omittedCount)", "error": "\(error)"])
      }
    }
    for target in registry.players { watch(target) }
    engine.openingRecord = store.openingMarks
    noteCrashes(loaded)
    registry.onPlayersChange = { [weak self] made in
      guard let self else { return }
      if let made {
        watch(made)
        note(made.name, [])
      } else {
        aim(after: Self.delayNanoseconds)
      }
    }
    // Of a disk that was full at the start everything is written once there is room, whether anything changes or not.
    if store.status.error?.code == .stateDiskFull {
      isAllWanted = true
      aim(after: Self.delayNanoseconds)
    }
    store.onBegunAnew { [weak self] in
      guard let self else { return }
      loop.execute {
        self.isAllWanted = true
        self.aim(after: Self.delayNanoseconds)
      }
    }
  }

  /// Finds the entries that were being opened when a daemon died, saves that of the newest ones, and logs it.
  private func noteCrashes(_ loaded: LoadedState) {
    for target in registry.players {
      let items = target.player.onLoop { $0.allItems() }.filter { $0.error?.code == .crashedWhileOpening }
      crashedIDs += items.map(\.id)
      let fresh = items.filter { loaded.openingIDs.contains($0.id) }
      if !fresh.isEmpty { note(target.name, fresh) }
    }
    crashedIDs.sort()
    guard !loaded.openingIDs.isEmpty else { return }
    isCrashUnsaved = true
    aim(after: Self.delayNanoseconds)
    logger.warning(
      "the daemon died while it opened entries; they have failed, and no player opens anything before a request",
      metadata: ["items": "\(loaded.openingIDs.sorted().map(String.init).joined(separator: ","))"])
  }

  /// The entries that failed at the start, as far as players still have them, because a daemon died while it opened them.
  var presentCrashedIDs: [PlayerItem.ID] {
    crashedIDs.filter { id in registry.players.contains { $0.player.onLoop { $0.item(id) } != nil } }
  }

  /// Allows something else from now on.
  func apply(_ policy: ServerPolicy) { bookmarkRule = BookmarkRule(shortest: policy.shortestBookmarkedDuration) }

  /// Gives the store everything that has changed, and notes no more.
  func stop() {
    guard !isStopped else { return }
    give(isLast: true)
    isStopped = true
    timer?.cancel()
    timer = nil
  }

  /// How saving is going.
  var status: SavingStatus { store.status }

  /// Saves what has changed by now. `completion` is called once, with why it could not be saved.
  func save(_ completion: @escaping (MediaError?) -> Void) {
    guard !isStopped else {
      return completion(status.error ?? MediaError(.shuttingDown, "playheadd is stopping"))
    }
    waiting.append(completion)
    if !isWriting { give() }
  }

  // MARK: - Taking notes

  private func watch(_ target: NamedPlayer) {
    let name = target.name
    target.player.onLoop { player in
      player.setChangeObserver { [weak self] items in self?.note(name, items) }
      player.setPlaceObserver { [weak self] item, time, hasEnded in
        guard let self else { return }
        settle(item, at: time, hasEnded: hasEnded)
        aim(after: Self.delayNanoseconds)
      }
    }
  }

  private func note(_ name: String, _ items: [PlayerItem]) {
    notes[name, default: Note()].add(items)
    aim(after: Self.delayNanoseconds)
  }

  // MARK: - Bookmarks

  /// Changes bookmarks by hand, and has that written.
  func changeBookmarks<Answer>(
    _ body: (inout BookmarkTable) throws(MediaError) -> Answer
  ) throws(MediaError) -> Answer {
    let answer = try body(&bookmarks)
    aim(after: Self.delayNanoseconds)
    return answer
  }

  private func placeToResume(_ item: PlayerItem) -> MediaTime? {
    BookmarkedPlace(item).flatMap { bookmarks.left($0)?.time }
  }

  /// Keeps where an item is heard now, or was left.
  private func settle(_ item: PlayerItem, at time: MediaTime, hasEnded: Bool) {
    let decision = bookmarkRule.decision(at: time, of: item.duration, hasEnded: hasEnded)
    guard decision != .leave, let place = BookmarkedPlace(item) else { return }
    bookmarks.settle(place, at: time, decision, now: BookmarkedPlace.now)
  }

  /// Keeps where the current item is heard.
  private func settleCurrent(_ target: NamedPlayer) {
    guard let place = target.player.onLoop({ $0.currentPlace }) else { return }
    settle(place.item, at: place.time, hasEnded: place.hasEnded)
  }

  /// Sees to it that the store is given something so long from now, if not sooner.
  private func aim(after nanoseconds: Int64) {
    guard !isWriting, !isStopped else { return }
    let now = loop.now
    let time = max(
      now.advanced(byNanoseconds: nanoseconds), lastWrite.advanced(byNanoseconds: Self.spacingNanoseconds), retryTime)
    guard time < timerTime else { return }
    timer?.cancel()
    timerTime = time
    timer = loop.schedule(at: time) { [weak self] in
      self?.timer = nil
      self?.timerTime = HostTime(nanoseconds: .max)
      self?.give()
    }
  }

  private static func isPlaying(_ target: NamedPlayer) -> Bool { target.state.timeControlStatus == .playing }

  // MARK: - Giving

  /// Gives the store what has changed, and where it is what plays.
  ///
  /// - Parameter isLast: nothing is given any more, so that the store has to have everything that it might want.
  private func give(isLast: Bool = false) {
    guard isLast || !isWriting else { return }
    let names = registry.players.map(\.name)
    let givesAll = isLast || isAllWanted
    var parts: [Part] = []
    for target in registry.players {
      let isPlaying = Self.isPlaying(target)
      let note = notes[target.name] ?? (isPlaying ? Note() : nil)
      guard note != nil || givesAll else { continue }
      settleCurrent(target)
      parts.append(
        target.player.onLoop {
          Part(
            name: target.name, snapshot: $0.snapshot(), note: note,
            allItems: givesAll || note?.isWhole == true ? $0.allItemsLater() : nil)
        })
    }
    notes = [:]
    isAllWanted = false
    isWriting = true
    waitingForWrite += waiting
    waiting = []
    lastWrite = loop.now
    let given = parts
    let changes = bookmarks.takeChanges()
    let allBookmarks = givesAll ? bookmarks.all.map { BookmarkChange(id: $0.id, bookmark: $0) } : []
    let whole = { @Sendable in
      StateBatch(names: names, players: given.map { $0.stored(whole: true) }, bookmarks: allBookmarks)
    }
    store.write(
      {
        let changed = given.filter { $0.note != nil }
        return StateBatch(names: names, players: changed.map { $0.stored(whole: false) }, bookmarks: changes)
      }, whole: givesAll ? whole : nil,
      completion: { [weak self] outcome in
        guard let self else { return }
        loop.execute { self.wrote(outcome) }
      })
  }

  private func wrote(_ outcome: StateStore.Outcome) {
    isWriting = false
    let waited = waitingForWrite
    waitingForWrite = []
    switch outcome {
    case .done:
      (retryTime, retryNanoseconds) = (HostTime(nanoseconds: 0), Self.firstRetryNanoseconds)
      if isCrashUnsaved { store.openingMarks?.forgetFound() }
      isCrashUnsaved = false
      for completion in waited { completion(nil) }
    case .kept(let error):
      retryTime = loop.now.advanced(byNanoseconds: retryNanoseconds)
      retryNanoseconds = min(2 * retryNanoseconds, Self.lastRetryNanoseconds)
      for completion in waited { completion(error) }
    case .begunAnew:
      isAllWanted = true
      waiting = waited + waiting
    case .given(let error):
      isStopped = true
      for target in registry.players {
        target.player.onLoop {
          $0.setChangeObserver(nil)
          $0.setPlaceObserver(nil)
        }
      }
      for completion in waited + waiting { completion(error) }
      waiting = []
    }
    guard !isStopped else { return }
    if !waiting.isEmpty { return give() }
    if case .kept = outcome { aim(after: 0) }
    if isAllWanted || !notes.isEmpty || bookmarks.hasChanges { aim(after: Self.delayNanoseconds) }
    if registry.players.contains(where: Self.isPlaying) { aim(after: Self.positionNanoseconds) }
  }
}
