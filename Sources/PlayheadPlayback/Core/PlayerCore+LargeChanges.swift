// A change of a long queue can take many milliseconds. Another thread therefore applies it to a copy of the queue, and
// the control loop replaces the queue by that copy. If the queue has changed meanwhile, the change starts again.
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

extension PlayerCore {
  /// A change of the queue that another thread applies to a copy of it.
  struct LargeChange: Sendable {
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

  /// The number of attempts of a change on another thread. After them the control loop applies it.
  static let backgroundAttemptCount = 8

  /// Starts a large change. Changes are applied in the order of these calls.
  func start(_ change: LargeChange) {
    largeChanges.append(change)
    if largeChanges.count == 1 { startFirstLargeChange(attempt: 1) }
  }

  /// Draws the order of the next round of a long shuffled queue, before it is needed.
  func prepareNextRound() {
    guard machine.needsNextRound, !isPreparingNextRound else { return }
    isPreparingNextRound = true
    start(
      LargeChange(
        cause: .buffered,
        apply: { queue throws(MediaError) in queue.drawNextRound() },
        completion: { [self] _ in isPreparingNextRound = false }))
  }

  private func startFirstLargeChange(attempt: Int) {
    guard let change = largeChanges.first else { return }
    do throws(MediaError) {
      try checkOpen("edit")
      try change.check()
    } catch {
      return finishFirstLargeChange(.failure(error))
    }
    // In a new epoch all present items can be freed at once.
    epoch += 1
    let contents = QueueContents(queue: machine.queue, items: items, byteCount: queuedByteCount)
    let (reservation, applyChange, cause) = (change.reservation, change.apply, change.cause)
    let compute = { @Sendable [ownership, epoch] () -> Result<QueueContents.Changed, MediaError> in
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
      return finishFirstLargeChange(apply(DiscardedValue(compute()), cause, claimedIn: epoch))
    }
    NamedThread.detached(name: "change-queue") { [loop = engine.loop, revision = machine.queue.revision, epoch] in
      let computed = DiscardedValue(compute())
      loop.execute { [self] in
        if machine.queue.revision == revision {
          finishFirstLargeChange(apply(computed, cause, claimedIn: epoch))
        } else {
          // An error may have had its cause in the former queue, too.
          startFirstLargeChange(attempt: attempt + 1)
        }
        computed.freeOnAnotherThread()
      }
    }
  }

  private func finishFirstLargeChange(_ result: Result<Void, MediaError>) {
    guard var change = largeChanges.popFirst() else { return }
    if case .failure = result { cancel(change.reservation) }
    let input = DiscardedValue((change.apply, change.reservation))
    (change.apply, change.reservation) = ({ (_) throws(MediaError) in }, QueueReservation())
    change.completion(result)
    input.freeOnAnotherThread()
    if largeChanges.isEmpty { engine.reportProgress() } else { startFirstLargeChange(attempt: 1) }
  }

  /// Replaces the queue by the changed one.
  ///
  /// - Parameter claimEpoch: The epoch in which the new items were claimed. The other items of the queue were claimed
  ///   before.
  private func apply(
    _ computed: DiscardedValue<Result<QueueContents.Changed, MediaError>>, _ cause: ChangeCause,
    claimedIn claimEpoch: UInt64
  ) -> Result<Void, MediaError> {
    guard !isClosed else { return .failure(MediaError(.invalidState, "the player is closed", operation: "edit")) }
    let changed: QueueContents.Changed
    switch computed.value {
    case .success(let success): changed = success
    case .failure(let error): return .failure(error)
    case nil: preconditionFailure("a change was applied twice")
    }
    let former = DiscardedValue((machine.queue, items))
    let resumePosition = currentResumePosition
    (items, queuedByteCount) = (changed.contents.items, changed.contents.byteCount)
    for item in changed.pastItems { pastItems[item.id] = item }
    if let table = changed.removedTable {
      ownership.endEpochs(before: claimEpoch)
      depart(Departures.Batch(items: changed.removedItems, table: table, newestEpoch: claimEpoch))
    } else if !changed.removedItems.isEmpty {
      depart(Departures.Batch(items: changed.removedItems, newestEpoch: claimEpoch))
    }
    // The player may claim these items again before they are freed. That claim must stay.
    epoch += 1
    if !changed.newItems.isEmpty { changeObserver?(changed.newItems) }
    let actions = machine.adopt(changed.contents.queue, adding: changed.newStates)
    // Observers are called after the actions, as in `perform`.
    isRunningActions = true
    endObservers(boundToItemsThatLeft: former.value?.0.entries.order)
    run(actions, cause: cause)
    reportIfLeft(resumePosition)
    former.freeOnAnotherThread()
    return .success(())
  }

  private func endObservers(boundToItemsThatLeft order: QueueOrder?) {
    guard let order else { return }
    let left = observers.table.boundItemIDs.filter { order.contains($0) && !machine.entries.contains($0) }
    for id in left.sorted(by: { (order.index(of: $0) ?? 0) < (order.index(of: $1) ?? 0) }) {
      callEndHandlers(observers.table.removeObservers(boundTo: id))
    }
  }
}
