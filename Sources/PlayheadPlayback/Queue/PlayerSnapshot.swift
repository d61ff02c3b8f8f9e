import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// The persistent state of a player. Made in constant time, independent of the length of the queue.
package struct PlayerSnapshot: Sendable {
  /// The settings of the player.
  package var state: PlayerState
  /// The rate of the next `play`.
  package var rateForNextPlay: Double
  /// The ids of the queue, in order.
  package var queue: [QueueChunk]
  /// The shuffled order; nil while the queue is not shuffled.
  package var shuffle: ShuffleSnapshot?
  /// The loop of the current item; nil without one.
  package var loop: LoopSnapshot?
  /// The items that were current before, the newest last.
  package var history: [PlayerItem.ID]
  /// The position of the current item; zero for streams, which cannot resume.
  package var time: MediaTime
}

/// The state from which a player is restored.
package struct PlayerRestoration: Sendable {
  /// The queue, with the current item first.
  package var items: [PlayerItem] = []
  /// Items of the history that are not in the queue.
  package var pastItems: [PlayerItem] = []
  /// The items that were current before, the newest last.
  package var history: [PlayerItem.ID] = []
  /// The version of the queue.
  package var queueVersion: UInt64 = 0
  /// The shuffled order; nil if the queue is not shuffled.
  package var shuffle: ShuffleSnapshot?
  /// The loop of the current item; nil without one.
  package var loop: LoopSnapshot?
  /// The position of the current item.
  package var time = MediaTime.zero
  /// The rate of the next `play`; nil: the default rate.
  package var rateForNextPlay: Double?
  /// Items that have failed and are not opened again, with their errors.
  package var failures: [PlayerItem.ID: MediaError] = [:]
  /// Whether opening of items waits until a request changes the player or starts playback.
  package var defersOpening = false

  /// Creates the state of a player without items.
  package init() {}
}

extension QueuePlayer {
  /// Sets the handler for changes of persistent state; nil removes it.
  ///
  /// The argument has the items that are new or whose settings changed. The handler is called on the loop, frequently,
  /// and also in the middle of changes. The handler must only record the change, and not call the player.
  package func setChangeObserver(_ handler: (@Sendable ([PlayerItem]) -> Void)?) {
    control.core.persistence.changeObserver = handler
  }

  /// Reports items whose persistent state changed outside the player to the change observer.
  package func reportChange(of items: [PlayerItem]) { control.core.persistence.itemsChanged(items) }

  /// Sets the handler for positions at which items are left; nil removes it.
  ///
  /// The handler gets the item, its position, and whether forward playback has reached its end. The handler is called:
  /// - when a request makes another item current, or the player is closed, with the previous item
  /// - with true when an item has been played forward to its end
  ///
  /// The handler is not called for streams, which cannot resume. Calls are on the loop, and may occur in the middle of
  /// changes. The handler must only record the position, and not call the player.
  package func setPositionObserver(_ handler: (@Sendable (PlayerItem, MediaTime, Bool) -> Void)?) {
    control.core.persistence.positionObserver = handler
  }

  /// The current item, its position, and whether forward playback has reached its end. On the loop. Nil if the handler
  /// of ``setPositionObserver(_:)`` would not be called: without a handler, for a stream, and for an item that is not
  /// ready or has not begun.
  package var currentItemPosition: (item: PlayerItem, time: MediaTime, hasEnded: Bool)? {
    control.core.persistence.currentPosition
  }

  /// Returns the persistent state of the player.
  package func snapshot() -> PlayerSnapshot { control.core.snapshot() }

  /// Restores a player that has no items: it gets the saved queue, and is paused at the saved position of the first
  /// item. Items are opened as in any queue, unless `defersOpening` is true.
  ///
  /// - Throws: `itemInUse`; `invalidState` if the player has items.
  package func restore(_ restoration: PlayerRestoration) throws(MediaError) { try control.core.restore(restoration) }

  /// Returns all items of the queue and the history.
  package func allItems() -> [PlayerItem] {
    let items = control.core.items
    return Self.all(items.table, items.past)
  }

  /// Returns a closure that returns all items as of this call, on any thread. Making the closure takes constant time,
  /// independent of the number of items.
  package func allItemsProvider() -> @Sendable () -> [PlayerItem] {
    let (items, pastItems) = (control.core.items.table, control.core.items.past)
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
      state: state, rateForNextPlay: machine.rate != 0 ? machine.rate : rates.next.value,
      queue: machine.entries.order.snapshot,
      shuffle: machine.queue.shuffle.map { shuffle in
        ShuffleSnapshot(
          seed: shuffle.seed, round: shuffle.round, remainingCount: shuffle.remaining,
          generatorState: shuffle.insertionGenerator.state, original: shuffle.original.snapshot)
      },
      loop: machine.loop.map { loop in
        LoopSnapshot(
          range: TimeRange(start: loop.start, end: loop.end), remainingCount: loop.remaining, loopCount: loop.count,
          isArmed: loop.isArmed, isFinishing: loop.isFinishing)
      },
      history: Array(machine.queue.history.ids), time: timeToSave)
  }

  /// The position to save; zero for streams, which cannot resume.
  private var timeToSave: MediaTime {
    guard let current = currentItem, current.isSeekable != false else { return .zero }
    return currentTime()
  }

  func restore(_ restoration: PlayerRestoration) throws(MediaError) {
    guard items.isEmpty, items.past.isEmpty else {
      throw MediaError(.invalidState, "the player already has items", operation: "restore")
    }
    try items.claim(restoration.items)
    items.restorePast(restoration.pastItems)
    let failed = restoration.failures.compactMap { id, error -> PlayerItem? in
      guard let item = items.inQueueOrHistory(id) else { return nil }
      item.fail(error)
      return item
    }
    machine.restore(
      restoration.items.map(\.queueEntry), history: restoration.history.filter { items.inQueueOrHistory($0) != nil },
      version: restoration.queueVersion,
      shuffle: restoration.shuffle, loop: restoration.loop, at: restoration.time)
    if let rate = restoration.rateForNextPlay.flatMap({ PlaybackRate($0) }), rate != rates.default {
      rates.stored = rate
    }
    if restoration.defersOpening { machine.deferOpening() }
    perform(machine.reconcile(), cause: .request)
    for item in failed where items[item.id] != nil { send(itemChanged(item)) }
  }
}
