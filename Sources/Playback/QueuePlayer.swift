import MediaAssets
import MediaCore

/// A player with a queue: each item follows the one before without a missing or an extra sample. As AVQueuePlayer, and
/// beyond it: items have places, the queue has versions, and one can go back.
///
/// The first item is the current one; an item that was heard to its end leaves, and is kept in mind for going back.
/// Nothing of this takes longer because the queue is long: adding at its end takes constant time, finding or moving an
/// item some hundred steps among 100,000.
public actor QueuePlayer: PlayerControl {
  public nonisolated let control: PlayerControlBox
  private nonisolated let loop: any ControlLoop

  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Makes a player on `engine`'s output. Any thread.
  public init(engine: PlaybackEngine, name: String = "main") {
    loop = engine.loop
    control = PlayerControlBox(
      core: PlayerCore(engine: engine.core, name: name, canAdvance: true), engine: engine)
  }

  /// Makes a player with a queue. Errors: `itemInUse`.
  public init(engine: PlaybackEngine, name: String = "main", items: [PlayerItem]) async throws {
    self.init(engine: engine, name: name)
    try append(items)
  }

  /// A player that nobody holds any more falls silent.
  deinit { loop.execute { [control] in control.core.close() } }

  private var core: PlayerCore { control.core }

  // MARK: - Reading

  /// How many items are in the queue, the current one included.
  public var itemCount: Int { core.machine.entries.count }

  /// The number of bytes that describe the items in the queue (`PlayerItem.descriptionByteCount`).
  public var queuedByteCount: Int { core.queuedByteCount }

  /// Items by their places, 0 being the current one; places that do not exist are left out.
  public func items(in range: Range<Int>) -> [PlayerItem] {
    let places = range.clamped(to: 0..<itemCount)
    return core.machine.entries.order.suffix(from: places.lowerBound).prefix(places.count)
      .compactMap { core.items[$0] }
  }

  /// All items, the current one first.
  public func items() -> [PlayerItem] { items(in: 0..<itemCount) }

  public func item(_ id: PlayerItem.ID) -> PlayerItem? { core.items[id] }

  /// An item's place, 0 being the current one's; nil when it is not in the queue.
  public func index(of id: PlayerItem.ID) -> Int? { core.machine.entries.index(of: id) }

  /// What happened to the queue since it had a version, entry by entry; nil when that is not known any more, the order is another
  /// one altogether, or the version is still to come: then only the whole list tells.
  public func queueChanges(since version: UInt64) -> [QueueChangeEntry]? {
    core.machine.queueChanges.changes(since: version)
  }

  /// How many steps `queueChanges` goes back; 1,024 unless set. At least 1.
  public func setQueueChangeLimit(_ count: Int) {
    core.machine.queueChanges.limit = max(1, count)
    core.machine.entries.stepLimit = core.machine.queueChanges.limit
  }

  /// What was current before and has been gone on from, the newest last; at most 1,000. An item that was played again and
  /// again stands there as often; one that failed or was removed does not.
  public func history() -> [PlayerItem] { core.machine.history.ids.compactMap { core.items[$0] ?? core.pastItems[$0] } }

  /// Whether an item has left the queue and can return from the history.
  public func isInHistory(_ id: PlayerItem.ID) -> Bool { core.pastItems[id] != nil }

  /// Whether an item could be inserted: it is in no queue.
  public func canInsert(_ item: PlayerItem, after: PlayerItem?) -> Bool {
    core.items[item.id] == nil && !item.isClaimed && (after.map { core.items[$0.id] != nil } ?? true)
  }

  // MARK: - Edits

  /// Makes all of the changes, each in the queue as those before it left it; or, when one cannot be made, none. The whole is
  /// one new version of the queue, which is answered, and what is heard goes on from where it was unless another item is
  /// current then. `version`: do it only if the queue has this one.
  ///
  /// Errors: `versionMismatch`; `itemInUse` for items that are in a queue; `noSuchItem`; `invalidArgument` for places that
  /// do not exist and for items that are named twice. Then nothing has changed.
  @discardableResult
  public func edit(_ edits: [QueueEdit], ifVersion version: UInt64? = nil) throws(MediaError) -> UInt64 {
    try core.edit(edits, ifVersion: version)
    return core.machine.queueVersion
  }

  /// Claims items for an edit that is being prepared, all or none, so that the edit itself takes less time. They are in no
  /// queue until the edit. The edit ends the reservation, whether it succeeds or not.
  ///
  /// - Throws: `itemInUse`; `invalidState` when the player is closed.
  public func reserve(_ items: [PlayerItem]) throws(MediaError) { try core.reserve(items) }

  /// Frees items that were reserved for an edit that is not made; others stay as they are.
  public func cancelReservation(of items: [PlayerItem]) { core.cancelReservation(of: items) }

  /// Adds items at the end, all or none; in a shuffled queue anywhere behind the current one. Errors: `itemInUse`.
  public func append(_ items: [PlayerItem]) throws(MediaError) { try edit([.append(items)]) }

  /// Adds items behind another; nil: at the end. All or none. Errors: `itemInUse`, `noSuchItem`.
  public func insert(_ items: [PlayerItem], after id: PlayerItem.ID?) throws(MediaError) {
    try edit([.insert(items, at: id.map { .after($0) } ?? .end)])
  }

  /// Adds items in front of another; in front of the current one they become current. All or none. Errors:
  /// `itemInUse`, `noSuchItem`.
  public func insert(_ items: [PlayerItem], before id: PlayerItem.ID) throws(MediaError) {
    try edit([.insert(items, at: .before(id))])
  }

  /// Replaces the queue, and forgets what was played before. The rate stays as it is. Errors: `itemInUse`; then nothing
  /// changes.
  public func replaceAll(with items: [PlayerItem]) throws(MediaError) { try core.replaceAll(with: items) }

  /// Removes items, all or none; without the current one the next becomes current. Errors: `noSuchItem`,
  /// `invalidArgument` for an item that is named twice.
  public func remove(_ ids: [PlayerItem.ID]) throws(MediaError) { try edit([.remove(ids)]) }

  /// Moves an item. What comes to index 0 becomes current, and begins anew. Errors: `noSuchItem`, `invalidArgument`.
  public func move(_ id: PlayerItem.ID, to place: QueuePlace) throws(MediaError) { try edit([.move(id, to: place)]) }

  /// Puts an item in another one's place; that of the current one plays from its beginning. Errors: `itemInUse`,
  /// `noSuchItem`.
  public func replace(_ id: PlayerItem.ID, with item: PlayerItem) throws(MediaError) {
    try edit([.replace(id, with: item)])
  }

  /// Empties the queue, and forgets what was played before; playback stops for lack of an item.
  public func removeAllItems() { core.removeAll() }

  /// Opens entries that are not due yet, to find out their state; each answer is an `itemChanged` event.
  public func load(_ ids: [PlayerItem.ID]) { for id in ids { core.load(id) } }

  /// Has entries be played by gains that were measured (`PlayerItem.measuredReplayGain`), however many there are: the control loop is
  /// not held up. What is heard changes once, at the end.
  ///
  /// - Parameters:
  ///   - gain: what was measured of an entry; nil: it stays as it is. Called for each that is in the queue now, unless it leaves it.
  ///   - completion: called on the control loop with how many there were; at once where they are few.
  public func setMeasuredReplayGains(
    _ gain: @escaping @Sendable (PlayerItem) -> ReplayGain?, completion: @escaping @Sendable (Int) -> Void
  ) {
    core.setMeasuredReplayGains(gain, completion: completion)
  }

  // MARK: - Going on and back

  /// Ends the current item at once and goes on with the next.
  public func advanceToNextItem() { core.advance() }

  /// Goes back to what was played before; what was current follows it. With nothing before, a queue that is repeated and
  /// not shuffled goes back to its last item. As MPRIS's Previous.
  ///
  /// `limit`: when more than this of the current item has been heard, that begins anew instead. Errors: `noSuchItem` when
  /// nothing was played before.
  public func goToPreviousItem(restartingAfter limit: MediaTime? = nil) throws(MediaError) {
    try core.goToPrevious(restartingAfter: limit)
  }

  /// Makes an item current, and plays it from its beginning. What lay before it in the queue counts as played: it can be
  /// gone back to, and where the queue is repeated goes to its end. An item that was played before comes back with all that
  /// was played since. Errors: `noSuchItem`; `itemInUse` when another queue has it.
  public func jump(to id: PlayerItem.ID) throws(MediaError) { try core.jump(to: id) }

  /// The same for the item at a place, 0 being the current one. Errors: `invalidArgument`.
  public func jump(toIndex index: Int) throws(MediaError) { try core.jump(toIndex: index) }

  // MARK: - Settings

  /// Shuffles what follows the current item, and answers the seed. With the same seed, the same queue is put into the same
  /// order, on every machine. With a repeated queue each round has another order, which does not begin with what was played
  /// last. Items that are appended come anywhere behind the current one, those that are inserted where it is said; the
  /// order without shuffling has them where they were added.
  @discardableResult
  public func shuffle(seed: UInt64? = nil) -> UInt64 {
    // Small enough to be exact in every client's numbers.
    let seed = seed ?? UInt64.random(in: 0..<1 << 32)
    core.setShuffle(seed: seed)
    return seed
  }

  /// Goes on in the order that the queue has without shuffling: from the current item on, and then with what is before it
  /// and has not been played.
  public func endShuffle() { core.setShuffle(seed: nil) }

  /// What becomes of the player when an item cannot be played.
  public func setItemFailurePolicy(_ policy: ItemFailurePolicy) { core.setFailurePolicy(policy) }
}
