import MediaAssets
import MediaCore

/// Some neighbours of a queue's order. As long as none of them changes they are the very same array.
public struct QueuePiece: Sendable, Hashable {
  /// Names the piece in its order, whatever changes in it.
  public var key: UInt32
  public var ids: [PlayerItem.ID]

  public init(key: UInt32, ids: [PlayerItem.ID]) {
    self.key = key
    self.ids = ids
  }
}

/// What has to be known of a queue that is shuffled, to go on with the same order.
public struct ShuffleSnapshot: Sendable {
  public var seed: UInt64
  /// The round that is played, and how many entries of the queue belong to it.
  public var round: UInt64
  public var remainingCount: Int
  /// Where the numbers stand that places of new entries are drawn with.
  public var placing: UInt64
  /// The order that the queue has without shuffling.
  public var original: [QueuePiece]

  public init(seed: UInt64, round: UInt64, remainingCount: Int, placing: UInt64, original: [QueuePiece]) {
    self.seed = seed
    self.round = round
    self.remainingCount = remainingCount
    self.placing = placing
    self.original = original
  }
}

/// A loop as it is, so that it can be gone on with.
public struct LoopSnapshot: Sendable, Hashable {
  public var range: TimeRange
  /// How many more times it goes back; nil: for ever.
  public var remainingCount: Int?
  public var loopCount: Int
  public var isArmed: Bool
  public var isFinishing: Bool

  public init(range: TimeRange, remainingCount: Int?, loopCount: Int, isArmed: Bool, isFinishing: Bool) {
    self.range = range
    self.remainingCount = remainingCount
    self.loopCount = loopCount
    self.isArmed = isArmed
    self.isFinishing = isFinishing
  }
}

/// What a player was, and where, so that it can be made again. Made in constant time, however long the queue is.
public struct PlayerSnapshot: Sendable {
  public var state: PlayerState
  /// What the next `play` sets.
  public var rateForNextPlay: Double
  public var queue: [QueuePiece]
  public var shuffle: ShuffleSnapshot?
  public var loop: LoopSnapshot?
  /// What was current before, the newest last.
  public var history: [PlayerItem.ID]
  /// The time that is heard of the current item, or at which it is about to be heard.
  public var time: MediaTime
}

/// What a player is made again from.
public struct PlayerRestoration: Sendable {
  /// The queue, the current item first.
  public var items: [PlayerItem] = []
  /// What was played before and is not in the queue any more.
  public var pastItems: [PlayerItem] = []
  public var history: [PlayerItem.ID] = []
  public var queueVersion: UInt64 = 0
  public var shuffle: ShuffleSnapshot?
  public var loop: LoopSnapshot?
  /// Where the current item was heard.
  public var time = MediaTime.zero
  public var rateForNextPlay: Double?
  /// Items that are not to be opened, and the errors that they fail with.
  public var failures: [PlayerItem.ID: MediaError] = [:]
  /// Whether nothing is opened until a request changes the player or plays it.
  public var holdsOpening = false

  public init() {}
}

extension QueuePlayer {
  /// Calls `handler` when something of the player may have changed that has to be kept, with the items that are new to it or
  /// have other settings, all at once. On the loop; called often, and in the midst of changes: it only takes notes. Nil: nobody
  /// is called.
  public func setChangeObserver(_ handler: (@Sendable ([PlayerItem]) -> Void)?) {
    control.core.changeObserver = handler
  }

  /// Calls `handler` with the item that was current, and where it was heard, when another becomes current by a request or the player is
  /// closed; and, with true, when an item was played to its end, forwards, or is left there. Not of streams, which are where they are. On
  /// the loop, perhaps in the midst of a change: it only takes notes. Nil: nobody is called.
  public func setPlaceObserver(_ handler: (@Sendable (PlayerItem, MediaTime, Bool) -> Void)?) {
    control.core.placeObserver = handler
  }

  /// The current item, where it is heard and whether that is its end, forwards; nil when there is nothing that such an observer would be
  /// told: nobody observes, it is not ready or has not begun, or it is a stream. On the loop.
  public var currentPlace: (item: PlayerItem, time: MediaTime, hasEnded: Bool)? { control.core.currentPlace }

  /// What has to be kept of the player.
  public func snapshot() -> PlayerSnapshot { control.core.snapshot() }

  /// Gives a player that has no items a queue as one was, paused where its first item was heard. Nothing of it is opened
  /// before a player would open it. Errors: `itemInUse`, `invalidState` for a player that has items.
  public func restore(_ restoration: PlayerRestoration) throws(MediaError) { try control.core.restore(restoration) }

  /// Every item that it has, in the queue and before it.
  public func allItems() -> [PlayerItem] {
    let core = control.core
    return Self.all(core.items, core.pastItems)
  }

  /// Returns a closure that returns the present value of `allItems()`, on any thread: as many items as there are, it takes
  /// a constant time to make the closure.
  public func allItemsLater() -> @Sendable () -> [PlayerItem] {
    let (items, pastItems) = (control.core.items, control.core.pastItems)
    return { Self.all(items, pastItems) }
  }

  private static func all(
    _ items: ItemTable<PlayerItem>, _ pastItems: [PlayerItem.ID: PlayerItem]
  ) -> [PlayerItem] {
    Array(items.values) + pastItems.values.filter { items[$0.id] == nil }
  }
}

extension PlayerCore {
  func snapshot() -> PlayerSnapshot {
    PlayerSnapshot(
      state: state, rateForNextPlay: machine.rate != 0 ? machine.rate : (nextRate ?? defaultRate).value,
      queue: machine.entries.order.snapshot,
      shuffle: machine.shuffle.map { shuffle in
        ShuffleSnapshot(
          seed: shuffle.seed, round: shuffle.round, remainingCount: shuffle.remaining, placing: shuffle.placing.state,
          original: shuffle.original.snapshot)
      },
      loop: machine.loop.map { loop in
        LoopSnapshot(
          range: TimeRange(start: loop.start, end: loop.end), remainingCount: loop.remaining, loopCount: loop.count,
          isArmed: loop.isArmed, isFinishing: loop.endsItem)
      },
      history: Array(machine.history.ids), time: timeToKeep)
  }

  /// A stream is where it is when it is opened.
  private var timeToKeep: MediaTime {
    guard let current = currentItem, current.isSeekable != false else { return .zero }
    return currentTime()
  }

  /// An item that has begun where it was to begin begins at its beginning when it becomes current again.
  func noteBegun() {
    guard let current = currentItem, current.resumeTime != nil, machine.entries.first?.resumeTime == nil else { return }
    current.resumeTime = nil
    changeObserver?([current])
  }

  func restore(_ restoration: PlayerRestoration) throws(MediaError) {
    guard items.isEmpty, pastItems.isEmpty else {
      throw MediaError(.invalidState, "the player has items already", operation: "restore")
    }
    try claim(restoration.items)
    for item in restoration.pastItems where items[item.id] == nil { pastItems[item.id] = item }
    let failed = restoration.failures.compactMap { id, error -> PlayerItem? in
      guard let item = items[id] ?? pastItems[id] else { return nil }
      item.fail(error)
      return item
    }
    let isKnown: (PlayerItem.ID) -> Bool = { [items, pastItems] in items[$0] != nil || pastItems[$0] != nil }
    machine.restore(
      restoration.items.map(entry), history: restoration.history.filter(isKnown), version: restoration.queueVersion,
      shuffle: restoration.shuffle, loop: restoration.loop, at: restoration.time)
    if let rate = restoration.rateForNextPlay.flatMap({ PlaybackRate($0) }), rate != defaultRate { nextRate = rate }
    if restoration.holdsOpening { machine.holdOpening() }
    perform(machine.reconcile(), cause: .request)
    for item in failed where items[item.id] != nil { send(itemChanged(item)) }
  }
}

extension PlayerStateMachine {
  /// Takes over a queue that was saved. The first item is to be heard from `time` on.
  mutating func restore(
    _ newEntries: [Entry], history ids: [ItemID], version: UInt64, shuffle saved: ShuffleSnapshot?,
    loop savedLoop: LoopSnapshot?, at time: MediaTime
  ) {
    entries = QueueEntries(newEntries)
    for id in ids { history.append(id) }
    queueVersion = version
    if let saved {
      let original = saved.original.flatMap(\.ids).filter { entries.contains($0) }
      // An order that is not this queue's is of no use: the queue is as it would be without shuffling.
      if original.count == entries.count { shuffle = QueueShuffle(saved, original: QueueOrder(original)) }
    }
    guard let first = entries.first else { return }
    if time.isNumeric, time > .zero { pendingStart = Start(itemID: first.id, time: time) }
    if let savedLoop {
      loop = Loop(
        itemID: first.id, start: savedLoop.range.start, end: savedLoop.range.end, remaining: savedLoop.remainingCount,
        isArmed: savedLoop.isArmed, count: savedLoop.loopCount, endsItem: savedLoop.isFinishing)
    }
  }
}

extension QueueShuffle {
  /// As it was.
  fileprivate init(_ saved: ShuffleSnapshot, original: QueueOrder) {
    self.init(
      seed: saved.seed, original: original, round: saved.round,
      remaining: min(max(1, saved.remainingCount), original.count), placing: saved.placing)
  }
}
