import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

/// The edits that a connection collects until `queue.commit`.
struct QueueTransaction {
  /// The player of the queue. Closing the player discards the transaction.
  let target: NamedPlayer
  /// The id of the player's close handler, which discards the collected edits.
  fileprivate let closeHandlerID: UInt64
  /// The version that the queue must have at `queue.commit`. Nil: any.
  fileprivate let ifVersion: Int?
  fileprivate var prepared = PreparedEdits()
}

/// Collecting edits between `queue.begin` and `queue.commit`.
extension Client {
  /// Starts to collect edits.
  ///
  /// - Throws: `invalid-state` if a transaction is open, or `version-mismatch`.
  func beginTransaction(for target: NamedPlayer, ifVersion version: Int?) throws(MediaError) {
    guard transaction == nil else {
      throw MediaError(.invalidState, "an edit is already open, and neither committed nor aborted")
    }
    try checkVersion(version, of: target)
    let closeHandlerID = target.addCloseHandler { [weak self] in self?.discardTransaction() }
    transaction = QueueTransaction(target: target, closeHandlerID: closeHandlerID, ifVersion: version)
  }

  /// Collects an edit if a transaction of this player is open. Nil: the caller must apply the edit.
  ///
  /// - Throws: `edit-too-large`, or `invalid-argument` for an edit with a version. The edit is then discarded, and the
  ///   earlier ones stay collected.
  func addToOpenTransaction(
    _ edit: QueueEditRequest, for target: NamedPlayer
  ) throws(MediaError) -> QueueEditOutcome? {
    guard transaction?.target === target else { return nil }
    try checkHasNoVersion(edit)
    return try addToTransaction(preparation(edit, of: target).makeAllReserved(), for: target)
  }

  /// Collects a large edit in several loop iterations.
  ///
  /// - Throws: `invalid-argument` for an edit with a version.
  func startCollecting(
    _ edit: QueueEditRequest, for target: NamedPlayer, _ request: WaitingEdit
  ) throws(MediaError) {
    try checkHasNoVersion(edit)
    preparation(edit, of: target).start(on: server.loop, isCancelled: cancellationCheck(request.erased)) {
      [self] result in
      do throws(MediaError) { request.finish(try addToTransaction(result.get(), for: target)) } catch {
        request.erased.fail(error)
      }
    }
  }

  /// Checks that a collected edit has no version.
  ///
  /// - Throws: `invalid-argument`.
  private func checkHasNoVersion(_ edit: QueueEditRequest) throws(MediaError) {
    guard edit.ifVersion != nil else { return }
    throw MediaError(.invalidArgument, "if-version is set by queue.begin and not allowed in the edit")
  }

  /// Adds edits to the collected ones. After an error, discards the new edits and keeps the collected ones.
  ///
  /// - Throws: `edit-too-large`, or `invalid-state` if edits are no longer being collected.
  private func addToTransaction(
    _ prepared: PreparedEdits, for target: NamedPlayer
  ) throws(MediaError) -> QueueEditOutcome {
    do throws(MediaError) {
      // Reads the size only. With a second reference to the collected edits, `append` would copy them.
      guard transaction?.target === target, let size = transaction?.prepared.size else {
        throw MediaError(.invalidState, "the edit of \(target.name) on this connection is no longer open")
      }
      let limits = server.limits
      try (size + prepared.size).check(limits.editCount, limits.editByteCount, "an edit can have")
      try (server.collectedSize + prepared.size).check(
        limits.collectedChangeCount, limits.collectedByteCount, "the open edits of all connections can have")
    } catch {
      server.registry.discard(prepared, of: peer?.userID, target)
      throw error
    }
    transaction?.prepared.append(prepared)
    server.collectedSize = server.collectedSize + prepared.size
    return QueueEditOutcome(.collected(count: transaction?.prepared.requestedCount ?? 0))
  }

  /// Ends the transaction and discards the collected edits.
  func discardTransaction() {
    guard let discarded = transaction else { return }
    transaction = nil
    discarded.target.removeCloseHandler(discarded.closeHandlerID)
    server.collectedSize = server.collectedSize - discarded.prepared.size
    server.registry.discard(discarded.prepared, of: peer?.userID, discarded.target)
    DiscardedValue(discarded).freeOnAnotherThread()
  }

  /// The open transaction of this player.
  ///
  /// - Throws: `invalid-state` if none is open.
  private func openTransaction(for target: NamedPlayer, _ operation: String) throws(MediaError) -> QueueTransaction {
    guard let transaction, transaction.target === target else {
      throw MediaError(
        .invalidState, "no edit of \(target.name) is open on this connection", operation: operation)
    }
    return transaction
  }

  /// Whether a transaction of this player is open and has many edits.
  func isTransactionLarge(of player: String) -> Bool {
    guard let transaction, transaction.target.name == player else { return false }
    return transaction.prepared.isLarge(isQueueLong: isQueueLong(of: player))
  }

  /// Ends the transaction and applies its few edits.
  ///
  /// - Throws: `invalid-state` if none is open, or the errors of applying the edits.
  func commit(on target: NamedPlayer) throws(MediaError) -> QueueEditOutcome {
    let committed = try endTransaction(of: target)
    try apply(committed.prepared, ifVersion: committed.ifVersion, on: target)
    return QueueEditOutcome(.applied(items: committed.prepared.ids, version: target.state.queueVersion))
  }

  /// Ends the transaction and applies its edits. Then replies, at once or when the new entries are ready.
  ///
  /// - Throws: `invalid-state` if none is open.
  func startCommit(on target: NamedPlayer, waitsUntilReady: Bool, _ request: WaitingEdit) throws(MediaError) {
    let committed = try endTransaction(of: target)
    apply(committed.prepared, ifVersion: committed.ifVersion, on: target, request.erased) { prepared, version in
      self.finishEdit(waitsUntilReady: waitsUntilReady, prepared, version: version, on: target, request)
    }
  }

  private func endTransaction(of target: NamedPlayer) throws(MediaError) -> QueueTransaction {
    let ended = try openTransaction(for: target, "queue.commit")
    transaction = nil
    ended.target.removeCloseHandler(ended.closeHandlerID)
    server.collectedSize = server.collectedSize - ended.prepared.size
    return ended
  }

  /// Ends the transaction and discards its edits.
  ///
  /// - Throws: `invalid-state` if none is open.
  func abort(on target: NamedPlayer) throws(MediaError) {
    _ = try openTransaction(for: target, "queue.abort")
    discardTransaction()
  }
}
