import PlayheadControlLoop
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// A player with a queue, like AVQueuePlayer. Each item follows the previous one without a missing or an extra sample.
///
/// <!-- listing: play-files -->
/// ```swift
/// let items = [PlayerItem(path: "/music/one.flac"), PlayerItem(path: "/music/two.flac")]
/// let player = try await QueuePlayer(items: items)
/// await player.play()
/// for await state in await player.states() where state.currentItemID == nil { break }
/// ```
///
/// Unlike AVQueuePlayer, items have indexes, the queue has versions, and playback can go back. The first item is the
/// current one. An item that was played to its end leaves the queue and enters the history.
///
/// Adding at the end takes constant time. Finding or moving one of 100,000 items takes several hundred steps.
public actor QueuePlayer: PlayerControl {
  public nonisolated let control: PlayerControlBox
  private nonisolated let loop: any ControlLoop

  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Creates a player on `engine`'s output. Any thread.
  public init(engine: PlaybackEngine, name: String = "main") {
    loop = engine.loop
    control = PlayerControlBox(
      core: PlayerCore(engine: engine.core, name: name, canAdvance: true), engine: engine)
  }

  /// Creates a player with a queue.
  ///
  /// - Throws: `itemInUse`.
  public init(engine: PlaybackEngine, name: String = "main", items: [PlayerItem]) async throws(MediaError) {
    self.init(engine: engine, name: name)
    try append(items)
  }

  /// Closes the player when it is released.
  deinit { loop.execute { [control] in control.core.close() } }

  private var core: PlayerCore { control.core }

  // MARK: - Reading

  /// The number of items in the queue, including the current one.
  public var itemCount: Int { core.machine.entries.count }

  /// The number of bytes that describe the items in the queue (`PlayerItem.descriptionByteCount`).
  package var queuedByteCount: Int { core.items.byteCount }

  /// Returns the items with these indexes; 0 is the current item. Indexes outside the queue are ignored.
  public func items(in range: Range<Int>) -> [PlayerItem] {
    let indexes = range.clamped(to: 0..<itemCount)
    return core.machine.entries.order.suffix(from: indexes.lowerBound).prefix(indexes.count)
      .compactMap { core.items[$0] }
  }

  /// Returns all items, the current one first.
  public func items() -> [PlayerItem] { items(in: 0..<itemCount) }

  /// Returns the item of the queue with an id; nil if there is none.
  public func item(_ id: PlayerItem.ID) -> PlayerItem? { core.items[id] }

  /// Returns the index of an item; 0 is the current one. Nil if the item is not in the queue.
  public func index(of id: PlayerItem.ID) -> Int? { core.machine.entries.index(of: id) }

  /// Returns the changes of the queue since `version`, one entry per step.
  ///
  /// - Returns: nil if the changes are no longer known, the whole order changed, or `version` is in the future. The
  ///   caller must then read the whole queue.
  public func queueChanges(since version: UInt64) -> [QueueChangeEntry]? {
    core.machine.queue.changes.changes(since: version)
  }

  /// Sets the number of steps that `queueChanges(since:)` can go back. Default: 1,024. At least 1.
  package func setQueueChangeLimit(_ count: Int) {
    core.machine.setQueueChangeLimit(max(1, count))
  }

  /// Returns the items that were current earlier and from which playback advanced, the newest last; at most 1,000. An
  /// item that was played several times occurs several times. Items that failed or were removed do not occur.
  public func history() -> [PlayerItem] {
    core.machine.queue.history.ids.compactMap { core.items.inQueueOrHistory($0) }
  }

  /// Returns whether an item has left the queue and can return from the history.
  package func isInHistory(_ id: PlayerItem.ID) -> Bool { core.items.past[id] != nil }

  /// Returns whether an item can be inserted: it is in no queue.
  public func canInsert(_ item: PlayerItem, after: PlayerItem?) -> Bool {
    core.items[item.id] == nil && !item.isClaimed && (after.map { core.items[$0.id] != nil } ?? true)
  }

  // MARK: - Edits

  /// Applies all edits in their order, or none of them if one is impossible.
  ///
  /// <!-- listing: edit-queue -->
  /// ```swift
  /// try await player.append([first, second])
  /// let version = try await player.edit([
  ///   .move(second.id, to: .next),
  ///   .insert([jingle], at: .after(second.id)),
  /// ])
  /// do {
  ///   try await player.edit([.remove([first.id])], ifVersion: version)
  /// } catch  where error.code == .versionMismatch {
  ///   print("another task changed the queue")
  /// }
  /// ```
  ///
  /// Together they produce one new version of the queue. Playback continues at its position unless another item becomes
  /// current.
  ///
  /// - Parameters:
  ///   - edits: The edits, in order.
  ///   - version: apply the edits only if the queue has this version; nil: always.
  /// - Returns: the new version of the queue.
  /// - Throws: `versionMismatch`; `itemInUse` for items that are in a queue; `noSuchItem`; `invalidArgument` for
  ///   invalid indexes and duplicate items. Then nothing has changed.
  @discardableResult
  public func edit(_ edits: [QueueEdit], ifVersion version: UInt64? = nil) throws(MediaError) -> UInt64 {
    try core.edit(edits, ifVersion: version)
    return core.machine.queue.version
  }

  /// Claims items, all or none, for an operation that is being prepared, and adds them to its reservation. The items
  /// are in no queue until the operation.
  ///
  /// - Throws: `itemInUse`; `invalidState` when the player is closed.
  package func reserve(_ items: [PlayerItem], in reservation: inout QueueReservation) throws(MediaError) {
    try core.items.reserve(items, in: &reservation)
  }

  /// Frees the items of a reservation whose operation was cancelled. Takes constant time; the items are free a little
  /// later.
  package func cancel(_ reservation: QueueReservation) { core.items.cancel(reservation) }

  /// Changes the queue without blocking the control loop: another thread computes the new queue. Operations are applied
  /// in the order of these calls. If the queue changes meanwhile, its computation starts again.
  ///
  /// - Parameters:
  ///   - operation: The change.
  ///   - reservation: All items that the operation adds. The operation ends the reservation, even if it fails.
  ///   - check: Called on the control loop before each computation. An error fails the operation.
  ///   - completion: Called on the control loop with the new version of the queue, or with an error: that of `check` or
  ///     of the operation, `itemInUse`, or `invalidState` if the player is closed. After an error nothing has changed.
  package func perform(
    _ operation: QueueOperation, adding reservation: QueueReservation,
    check: @escaping @Sendable () throws(MediaError) -> Void = { () throws(MediaError) in },
    completion: @escaping @Sendable (Result<UInt64, MediaError>) -> Void
  ) {
    core.items.largeChanges.start(
      LargeChanges.Change(
        check: check, reservation: reservation,
        apply: { queue throws(MediaError) in try operation.apply(to: &queue) },
        completion: { [core] result in completion(result.map { core.machine.queue.version }) }))
  }

  /// Changes the queue without blocking the control loop.
  ///
  /// - Returns: The new version of the queue.
  /// - Throws: The errors of ``perform(_:adding:check:completion:)``.
  @discardableResult
  package func perform(_ operation: QueueOperation) async throws(MediaError) -> UInt64 {
    var reservation = QueueReservation()
    try core.items.reserve(operation.newItems, in: &reservation)
    let result = await withCheckedContinuation { continuation in
      perform(operation, adding: reservation) { continuation.resume(returning: $0) }
    }
    return try result.get()
  }

  /// Adds items at the end, all or none. A shuffled queue gets them at random positions after the current item.
  ///
  /// - Throws: `itemInUse`.
  public func append(_ items: [PlayerItem]) throws(MediaError) { try edit([.append(items)]) }

  /// Adds items after another one, or at the end if `id` is nil. All or none.
  ///
  /// - Throws: `itemInUse`, `noSuchItem`.
  public func insert(_ items: [PlayerItem], after id: PlayerItem.ID?) throws(MediaError) {
    try edit([.insert(items, at: id.map { .after($0) } ?? .end)])
  }

  /// Adds items before another one, all or none. If `id` is the current item, the first added item becomes current.
  ///
  /// - Throws: `itemInUse`, `noSuchItem`.
  public func insert(_ items: [PlayerItem], before id: PlayerItem.ID) throws(MediaError) {
    try edit([.insert(items, at: .before(id))])
  }

  /// Replaces the queue and clears the history. The rate does not change.
  ///
  /// - Throws: `itemInUse`; then nothing changes.
  public func replaceAll(with items: [PlayerItem]) throws(MediaError) { try core.replaceAll(with: items) }

  /// Removes items, all or none. If the current item is removed, the next one becomes current.
  ///
  /// - Throws: `noSuchItem`; `invalidArgument` for duplicate items.
  public func remove(_ ids: [PlayerItem.ID]) throws(MediaError) { try edit([.remove(ids)]) }

  /// Moves an item. An item that moves to index 0 becomes current and starts from its beginning.
  ///
  /// - Throws: `noSuchItem`, `invalidArgument`.
  public func move(_ id: PlayerItem.ID, to position: QueuePosition) throws(MediaError) {
    try edit([.move(id, to: position)])
  }

  /// Replaces an item by another. A replacement of the current item plays from its beginning.
  ///
  /// - Throws: `itemInUse`, `noSuchItem`.
  public func replace(_ id: PlayerItem.ID, with item: PlayerItem) throws(MediaError) {
    try edit([.replace(id, with: item)])
  }

  /// Empties the queue and clears the history. Playback stops because there is no item.
  public func removeAllItems() { core.removeAll() }

  /// Opens entries early to determine their status. Each result is an `itemChanged` event.
  public func load(_ ids: [PlayerItem.ID]) { for id in ids { core.loading.load(id) } }

  /// Applies measured gains (`PlayerItem.measuredReplayGain`) to entries.
  ///
  /// The work is done in slices, so that many entries do not block the control loop. The audible gain changes once, at
  /// the end.
  ///
  /// - Parameters:
  ///   - gain: returns the measured gain of an entry; nil leaves the entry unchanged. Called for each entry that is in
  ///     the queue at this call, unless the entry leaves the queue first.
  ///   - completion: called on the control loop with the number of entries; immediately if there are few.
  public func setMeasuredReplayGains(
    _ gain: @escaping @Sendable (PlayerItem) -> ReplayGain?, completion: @escaping @Sendable (Int) -> Void
  ) {
    core.replayGain.setMeasuredGains(gain, completion: completion)
  }

  // MARK: - Moving forward and back

  /// Ends the current item at once and advances to the next.
  public func advanceToNextItem() { core.advance() }

  /// Goes back to the previous item of the history, like MPRIS's Previous. The current item follows it in the queue. If
  /// the history is empty, a repeated queue without shuffling goes back to its last item.
  ///
  /// - Parameter limit: if the current time is after this limit, the current item restarts instead; nil: never.
  /// - Throws: `noSuchItem` if there is no previous item.
  public func goToPreviousItem(restartingAfter limit: MediaTime? = nil) throws(MediaError) {
    try core.goToPrevious(restartingAfter: limit)
  }

  /// Makes an item current and plays it from its beginning.
  ///
  /// <!-- listing: navigate-queue -->
  /// ```swift
  /// await player.advanceToNextItem()
  /// try await player.goToPreviousItem(restartingAfter: .seconds(3))
  /// try await player.jump(to: id)
  /// try await player.setRepeatMode(.all)
  /// let seed = await player.shuffle()
  /// await player.shuffle(seed: seed)
  /// ```
  ///
  /// The items before it in the queue count as played: they enter the history. In a repeated queue they also move to
  /// its end. An item of the history returns together with all items that were played after it.
  ///
  /// - Throws: `noSuchItem`; `itemInUse` if another queue has the item.
  public func jump(to id: PlayerItem.ID) throws(MediaError) { try core.jump(to: id) }

  /// Makes the item at an index current, like ``jump(to:)``; 0 is the current item.
  ///
  /// - Throws: `invalidArgument`.
  public func jump(toIndex index: Int) throws(MediaError) { try core.jump(toIndex: index) }

  // MARK: - Settings

  /// Shuffles the items after the current one.
  ///
  /// With the same seed, the same queue gets the same order on every machine. With repeat mode `all` the queue gets a
  /// new order each round, which does not begin with the item that was played last.
  ///
  /// Appended items get random positions after the current item; inserted items get the requested position. In the
  /// order without shuffling, both have the position at which they were added.
  ///
  /// - Returns: the seed.
  @discardableResult
  public func shuffle(seed: UInt64? = nil) -> UInt64 {
    let seed = seed ?? Self.randomShuffleSeed()
    core.setShuffle(seed: seed)
    return seed
  }

  /// Returns a random seed for shuffling. It has 32 bits, which are exact in the number type of every client.
  public static func randomShuffleSeed() -> UInt64 { UInt64.random(in: 0..<1 << 32) }

  /// Continues in the order of the queue without shuffling: the items after the current one, then the items before it
  /// that have not been played.
  public func endShuffle() { core.setShuffle(seed: nil) }

  /// Sets the behaviour of the player when an item cannot be played.
  public func setItemFailurePolicy(_ policy: ItemFailurePolicy) { core.setFailurePolicy(policy) }
}
