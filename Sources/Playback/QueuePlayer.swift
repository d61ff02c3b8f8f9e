import MediaCore

/// A player with a queue: each item follows the one before without a missing or an extra sample. As AVQueuePlayer.
///
/// The first item is the current one; an item that was heard to its end leaves.
public actor QueuePlayer: PlayerControl {
  public nonisolated let control: PlayerControlBox
  private nonisolated let loop: any ControlLoop

  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Makes a player on `engine`'s output. Any thread.
  public init(engine: PlaybackEngine, name: String = "main") {
    loop = engine.loop
    control = PlayerControlBox(core: PlayerCore(engine: engine, name: name, canAdvance: true))
  }

  /// A player that nobody holds any more falls silent.
  deinit { loop.execute { [control] in control.core.close() } }

  private var core: PlayerCore { control.core }

  /// How many items are in the queue, the current one included.
  public var itemCount: Int { core.machine.entries.count }

  /// Items by their places, 0 being the current one; places that do not exist are left out.
  public func items(in range: Range<Int>) -> [PlayerItem] {
    let entries = core.machine.entries
    return range.clamped(to: 0..<entries.count).compactMap { core.items[entries[$0].id] }
  }

  /// All items, the current one first.
  public func items() -> [PlayerItem] { items(in: 0..<itemCount) }

  public func item(_ id: PlayerItem.ID) -> PlayerItem? { core.items[id] }

  /// Whether an item could be inserted: it is in no queue.
  public func canInsert(_ item: PlayerItem, after: PlayerItem?) -> Bool {
    core.items[item.id] == nil && !item.isClaimed && (after.map { core.items[$0.id] != nil } ?? true)
  }

  /// Adds items at the end, all or none. Errors: `itemInUse`.
  public func append(_ items: [PlayerItem]) throws(MediaError) { try core.insert(items, at: itemCount) }

  /// Adds items behind another; nil: at the end. All or none. Errors: `itemInUse`, `noSuchItem`.
  public func insert(_ items: [PlayerItem], after id: PlayerItem.ID?) throws(MediaError) {
    guard let id else { return try append(items) }
    try core.insert(items, at: core.index(of: id) + 1)
  }

  /// Adds items in front of another; in front of the current one they become current. All or none. Errors:
  /// `itemInUse`, `noSuchItem`.
  public func insert(_ items: [PlayerItem], before id: PlayerItem.ID) throws(MediaError) {
    try core.insert(items, at: core.index(of: id))
  }

  /// Replaces the queue. The rate stays as it is. Errors: `itemInUse`; then nothing changes.
  public func replaceAll(with items: [PlayerItem]) throws(MediaError) { try core.replaceAll(with: items) }

  /// Removes items, all or none; without the current one the next becomes current. Errors: `noSuchItem`.
  public func remove(_ ids: [PlayerItem.ID]) throws(MediaError) { try core.remove(ids) }

  /// Empties the queue; playback stops for lack of an item.
  public func removeAllItems() { core.removeAll() }

  /// Ends the current item at once and goes on with the next.
  public func advanceToNextItem() { core.advance() }

  /// Opens entries that are not due yet, to find out their state; each answer is an `itemChanged` event.
  public func load(_ ids: [PlayerItem.ID]) { for id in ids { core.load(id) } }
}
