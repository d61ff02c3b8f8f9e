import PlayheadMediaCore

/// The queue: edits, navigation, shuffling, and failed items.
extension PlayerStateMachine {
  package typealias QueueChange = QueueModel.Change

  /// The error for an id that is not in the queue.
  package static func noSuchItem(_ id: ItemID, _ operation: String) -> MediaError {
    QueueModel.noSuchItem(id, operation)
  }

  // MARK: - Edits

  /// Applies all changes, or none if one fails (`QueueModel.edit`).
  package mutating func edit(_ changes: [QueueChange]) throws(MediaError) -> [Action] {
    let revision = queue.revision
    try queue.edit(changes)
    return queue.revision == revision ? [] : reconcile()
  }

  /// Replaces the whole queue and clears the history (`QueueModel.replaceAll`).
  package mutating func replaceAll(_ newEntries: [Entry]) -> [Action] {
    queue.replaceAll(newEntries)
    return reconcile()
  }

  /// Replaces the queue by a changed copy (`QueueModel.adopt`).
  package mutating func adopt(_ changed: QueueModel, adding states: ItemTable<Entry>) -> [Action] {
    queue.adopt(changed, adding: states)
    return reconcile()
  }

  /// Returns all entries that left the queue since the last call.
  package mutating func drainRemovedEntries() -> RemovedEntries { queue.drainRemovedEntries() }

  /// Returns the items that left the history since the last call and are not in it again.
  package mutating func drainForgottenIDs() -> [ItemID] { queue.drainForgottenIDs() }

  /// Drops the state of entries that have left the queue.
  package mutating func dropStates(of ids: some Sequence<ItemID>) { queue.dropStates(of: ids) }

  // MARK: - Navigation

  /// Ends the current item at once. The item leaves the queue, or moves to the end of a repeated queue.
  package mutating func advance() -> [Action] {
    guard let current = entries.first else { return [] }
    if entries.count == 1, repeatMode == .all, current.isRepeatable {
      return endSeeks(.itemEnded) + endRange(.replaced)
        + decode(DecodeRequest(itemID: current.id, jumpCause: .repeat))
    }
    if failurePolicy == .retry, repeatMode == .all, current.status.error != nil {
      queue.postpone(current.id)
    } else {
      queue.leave(current)
    }
    return reconcile()
  }

  /// Makes an entry of the queue current (`QueueModel.jump`). An entry that is already current restarts.
  package mutating func jump(to id: ItemID) -> [Action] {
    guard let current = entries.first else { return [] }
    guard id == current.id else {
      guard entries.contains(id) else { return [] }
      queue.jump(to: id)
      return reconcile()
    }
    guard current.status.error == nil else { return reconcile() }
    return endSeeks(.superseded) + endRange(.replaced) + decode(DecodeRequest(itemID: id, jumpCause: .restart))
  }

  /// Goes back in the history (`QueueModel.goBack`).
  package mutating func goBack(over count: Int, skipping skippedCount: Int = 0, returning: [Entry]) -> [Action] {
    queue.goBack(over: count, skipping: skippedCount, returning: returning)
    return reconcile()
  }

  /// Goes back to the last entry of a repeated queue that is not shuffled, and clears the history.
  package mutating func goBackRound() -> [Action] {
    queue.goBackRound()
    return reconcile()
  }

  /// Shuffles the entries after the current one, or restores the unshuffled order (`QueueModel.setShuffle`).
  package mutating func setShuffle(seed: UInt64?) -> [Action] {
    guard seed != nil || queue.shuffle != nil else { return [] }
    queue.setShuffle(seed: seed)
    return reconcile()
  }

  // MARK: - Failures

  /// Sets the behaviour when an item fails.
  package mutating func setFailurePolicy(_ policy: ItemFailurePolicy) -> [Action] {
    intent.setFailurePolicy(policy)
    return reconcile()
  }

  /// Handles failed current items of a playing player, by the policy:
  ///
  /// - `.skip`: skips them while another item follows. The player waits at the last one. With the action `.stop` it
  ///   pauses there.
  /// - `.stop`: pauses at the first one.
  /// - `.retry`: skips them while an item follows that has not failed.
  mutating func skipFailedItems() -> [Action] {
    var actions: [Action] = []
    while rate != 0, let current = entries.first, let error = current.status.error {
      let isLast = entries.count == 1
      if failurePolicy == .stop || failurePolicy == .skip && actionAtItemEnd == .stop && isLast {
        return actions + pause(after: FailureStop(itemID: current.id, error: error))
      }
      guard !isLast else { break }
      if failurePolicy == .retry, !entries.contains(where: { $0.status.error == nil }) { break }
      actions.append(skip(current.id, error))
    }
    return actions
  }

  /// Moves past the item at which a failure stopped the player, when playback is requested again.
  mutating func advancePastFailure() -> [Action] {
    guard failurePolicy == .stop, entries.count > 1, let current = entries.first else { return [] }
    if let error = current.status.error { return [skip(current.id, error)] }
    guard current.hasFailedBeforeEnd, heardEnd.reportedItemID == current.id, actionAtItemEnd.advances else { return [] }
    // The item is about to be heard again from another position.
    if progress.replacementInPreparation ?? progress.deferredRequest != nil { return [] }
    queue.update(current.id) { $0.hasFailedBeforeEnd = false }
    queue.leave(current)
    return endSeeks(.itemEnded)
  }

  private mutating func skip(_ id: ItemID, _ error: MediaError) -> Action {
    if failurePolicy == .retry {
      // A retry that failed at once starts at the same position again.
      if let request = pendingRequest, request.itemID == id, request.time > .zero {
        queue.update(id) { $0.resumeTime = request.time }
      }
      queue.postpone(id)
    } else {
      queue.skip(id)
    }
    return .emit(.itemSkipped(id, error))
  }

  /// Handles failed items that are opened again.
  package mutating func retry(_ ids: [ItemID]) -> [Action] {
    for id in ids where entries[id]?.status.error != nil {
      queue.update(id) { entry in
        entry.status = .unknown
        entry.isRetried = true
      }
    }
    return reconcile()
  }

  /// Whether an item that fails while it is heard is opened again later.
  var retriesHeardItems: Bool { failurePolicy == .retry && rate != 0 && !decodedRate.isReverse }

  /// Handles the failure of the current item at a position that has been heard. The item stays in the queue: at its
  /// end if another item follows. It later continues at that position.
  ///
  /// - Parameter next: The pass that follows; nil if none is known.
  mutating func postponeHeard(
    _ current: Entry, _ error: MediaError, resumingAt time: MediaTime, next: Pass?
  ) -> [Action] {
    queue.update(current.id) { entry in
      entry.status = .failed(error)
      entry.resumeTime = time
    }
    var actions: [Action] = [.emit(.failedWhilePlaying(current.id, error))] + endSeeks(.itemFailed)
    guard let next, next.itemID != current.id else {
      // Nothing of another pass of the item is played.
      return actions + dropEverything() + reconcile()
    }
    queue.postpone(current.id)
    actions.append(.emit(.transition(from: current.id, to: next.itemID)))
    return actions + moveToNextPass(next)
  }
}
