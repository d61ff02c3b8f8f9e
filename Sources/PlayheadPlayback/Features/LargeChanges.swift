// A change of a long queue can take many milliseconds. Another thread therefore applies it to a copy of the queue, and
// the control loop replaces the queue by that copy. If the queue has changed meanwhile, the change starts again.
import DequeModule
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The large changes of a player's queue, which another thread computes one after another.
final class LargeChanges: PlayerFeature {
  /// A change that another thread applies to a copy of the queue.
  struct Change: Sendable {
    /// Called on the loop before each attempt. An error fails the change.
    var check: @Sendable () throws(MediaError) -> Void = { () throws(MediaError) in }
    /// The items that the change inserts.
    var reservation = QueueReservation()
    /// The cause that observers get. `.request` also ends `PlayerRestoration.defersOpening`.
    var cause = ChangeCause.request
    /// Changes the copy. Called on any thread, and again for each attempt.
    var apply: @Sendable (inout QueueModel) throws(MediaError) -> Void
    /// Called on the loop after the change.
    var completion: @Sendable (Result<Void, MediaError>) -> Void
  }

  private unowned let player: PlayerCore
  private var pending = Deque<Change>()
  /// Whether one of the pending changes draws the order of the next round.
  private var isPreparingNextRound = false

  init(_ player: PlayerCore) { self.player = player }

  /// Whether no change is pending.
  var isEmpty: Bool { pending.isEmpty }

  /// The number of attempts of a change on another thread. After them the control loop applies it.
  static let backgroundAttemptCount = 8

  /// Starts a large change. Changes are applied in the order of these calls.
  func start(_ change: Change) {
    pending.append(change)
    if pending.count == 1 { startFirst(attempt: 1) }
  }

  /// Draws the order of the next round of a long shuffled queue, before it is needed.
  func stateDidPublish() {
    guard player.machine.needsNextRound, !isPreparingNextRound else { return }
    isPreparingNextRound = true
    start(
      Change(
        cause: .buffered,
        apply: { queue throws(MediaError) in queue.drawNextRound() },
        completion: { [player] _ in player.items.largeChanges.isPreparingNextRound = false }))
  }

  private func startFirst(attempt: Int) {
    guard let change = pending.first else { return }
    do throws(MediaError) {
      try player.checkOpen("edit")
      try change.check()
    } catch {
      return finishFirst(.failure(error))
    }
    // In a new epoch all present items can be freed at once.
    player.items.beginEpoch()
    let (ownership, epoch, revision) = (player.items.ownership, player.items.epoch, player.machine.queue.revision)
    let contents = QueueContents(
      queue: player.machine.queue, items: player.items.table, byteCount: player.items.byteCount)
    let (reservation, applyChange, cause) = (change.reservation, change.apply, change.cause)
    let compute = { @Sendable () -> Result<QueueContents.Changed, MediaError> in
      do throws(MediaError) {
        for item in reservation.items.values {
          guard contents.items[item.id] == nil, item.claim(by: ownership, epoch: epoch) else {
            throw MediaError(.itemInUse, "item \(item.id) is already in a queue", operation: "insert")
          }
        }
        return .success(try contents.changed(adding: reservation, by: applyChange))
      } catch {
        return .failure(error)
      }
    }
    guard attempt <= Self.backgroundAttemptCount else {
      return finishFirst(apply(DiscardedValue(compute()), cause, claimedIn: epoch))
    }
    NamedThread.detached(name: "change-queue") { [player, loop = player.engine.loop] in
      let computed = DiscardedValue(compute())
      loop.execute {
        let changes = player.items.largeChanges
        if player.machine.queue.revision == revision {
          changes.finishFirst(changes.apply(computed, cause, claimedIn: epoch))
        } else {
          // An error may have had its cause in the former queue, too.
          changes.startFirst(attempt: attempt + 1)
        }
        computed.freeOnAnotherThread()
      }
    }
  }

  private func finishFirst(_ result: Result<Void, MediaError>) {
    guard var change = pending.popFirst() else { return }
    if case .failure = result { player.items.cancel(change.reservation) }
    let input = DiscardedValue((change.apply, change.reservation))
    (change.apply, change.reservation) = ({ (_) throws(MediaError) in }, QueueReservation())
    change.completion(result)
    input.freeOnAnotherThread()
    if pending.isEmpty { player.engine.reportProgress() } else { startFirst(attempt: 1) }
  }

  /// Replaces the queue by the changed one.
  ///
  /// - Parameter claimEpoch: The epoch in which the new items were claimed. The other items of the queue were claimed
  ///   before.
  private func apply(
    _ computed: DiscardedValue<Result<QueueContents.Changed, MediaError>>, _ cause: ChangeCause,
    claimedIn claimEpoch: UInt64
  ) -> Result<Void, MediaError> {
    guard !player.isClosed else {
      return .failure(MediaError(.invalidState, "the player is closed", operation: "edit"))
    }
    let changed: QueueContents.Changed
    switch computed.value {
    case .success(let success): changed = success
    case .failure(let error): return .failure(error)
    case nil: preconditionFailure("a change was applied twice")
    }
    let former = DiscardedValue((player.machine.queue, player.items.table))
    let resumePosition = player.persistence.currentPosition
    player.items.adopt(changed, claimedIn: claimEpoch)
    let actions = player.machine.adopt(changed.contents.queue, adding: changed.newStates)
    // Observers are called after the actions, as in `PlayerCore.perform`.
    player.calls.collect {
      guard let order = former.value?.0.entries.order else { return }
      player.timeObservers.endObservers(boundToItemsOf: order) { !player.machine.entries.contains($0) }
    }
    player.run(actions, cause: cause)
    player.persistence.reportIfLeft(resumePosition)
    former.freeOnAnotherThread()
    return .success(())
  }
}
