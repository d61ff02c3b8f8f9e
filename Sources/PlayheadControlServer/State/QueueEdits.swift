import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

/// Applying edits of the queue.
extension Client {
  /// Collects or applies a small edit.
  func run(_ edit: QueueEditRequest) throws(MediaError) -> QueueEditOutcome {
    let target = try server.registry.player(edit.player)
    if let outcome = try addToOpenTransaction(edit, for: target) { return outcome }
    return QueueEditOutcome(.applied(items: try apply(edit, on: target).ids, version: target.state.queueVersion))
  }

  /// Starts an edit that does not reply immediately: a large edit, an edit that adds playlists, or an edit with
  /// `wait=ready`, which replies when every new entry is ready, or with the first error.
  func start(_ edit: QueueEditRequest, _ request: WaitingEdit) throws(MediaError) {
    let target = try server.registry.player(edit.player)
    // An edit that need not wait is started because it is large.
    guard edit.waitsUntilReady || edit.playlists != .none else {
      return try startLargeEdit(edit, on: target, request)
    }
    guard transaction?.target !== target else {
      throw MediaError(.invalidState, "a request cannot wait between queue.begin and queue.commit")
    }
    if edit.playlists != .none, case .one(let requested) = edit.edits {
      var edit = edit
      // Positions are those before the playlists are read.
      edit.edits = .one(try target.resolved(requested, target.state.queueVersion))
      return try startExpanding(edit, on: target, request)
    }
    if edit.isLarge { return try startLargeEdit(edit, on: target, request) }
    let prepared = try apply(edit, on: target)
    let outcome = QueueEditOutcome(.applied(items: prepared.ids, version: target.state.queueVersion))
    waitUntilReady(prepared.items.map(\.id), on: target, request, outcome)
  }

  /// The preparation of the edits of a request.
  ///
  /// - Parameter expansion: The contents of the playlists among the paths.
  func preparation(
    _ edit: QueueEditRequest, of target: NamedPlayer, _ expansion: PlaylistExpansion? = nil
  ) -> EditPreparation {
    EditPreparation(edit.parts, of: target, expansion, registry: server.registry, for: peer?.userID)
  }

  /// Applies a small edit.
  private func apply(_ edit: QueueEditRequest, on target: NamedPlayer) throws(MediaError) -> PreparedEdits {
    let prepared = try preparation(edit, of: target).makeAll()
    try apply(prepared, ifVersion: edit.ifVersion, on: target)
    return prepared
  }

  /// Applies an edit whose entries are created in several loop iterations. Then calls `completion` with the applied
  /// edits and the new version of the queue.
  ///
  /// The edit is applied even if the connection is closed first. It is not applied if `request` gets its reply before
  /// the entries exist, for example from `cancel`.
  ///
  /// - Parameter expansion: The contents of the playlists among the paths.
  func startApplying(
    _ edit: QueueEditRequest, on target: NamedPlayer, expansion: PlaylistExpansion? = nil,
    _ request: AnyWaitingRequest,
    completion: @escaping (PreparedEdits, UInt64) -> Void
  ) throws(MediaError) {
    try checkVersion(edit.ifVersion, of: target)
    start(
      preparation(edit, of: target, expansion), ifVersion: edit.ifVersion, on: target, request, completion: completion)
  }

  /// Prepares and applies an edit.
  func start(
    _ preparation: EditPreparation, ifVersion version: Int?, on target: NamedPlayer, _ request: AnyWaitingRequest,
    completion: @escaping (PreparedEdits, UInt64) -> Void
  ) {
    preparation.start(on: server.loop, isCancelled: cancellationCheck(request)) { [self] result in
      do throws(MediaError) {
        apply(try result.get(), ifVersion: version, on: target, request, completion: completion)
      } catch {
        request.fail(error)
      }
    }
  }

  /// Returns a closure that checks whether an edit in preparation is cancelled.
  func cancellationCheck(_ request: AnyWaitingRequest) -> () -> Bool { { request.hasReply } }

  /// Collects or applies an edit in several loop iterations.
  private func startLargeEdit(
    _ edit: QueueEditRequest, on target: NamedPlayer, _ request: WaitingEdit
  ) throws(MediaError) {
    guard transaction?.target !== target || edit.waitsUntilReady else {
      return try startCollecting(edit, for: target, request)
    }
    try startApplying(edit, on: target, request.erased) { prepared, version in
      self.finishEdit(waitsUntilReady: edit.waitsUntilReady, prepared, version: version, on: target, request)
    }
  }

  /// Replies to an edit, or waits until its entries are ready.
  func finishEdit(
    waitsUntilReady: Bool, _ prepared: PreparedEdits, version: UInt64, on target: NamedPlayer, _ request: WaitingEdit
  ) {
    let outcome = QueueEditOutcome(.applied(items: prepared.ids, version: version))
    guard waitsUntilReady else { return request.finish(outcome) }
    waitUntilReady(prepared.remainingIDs, on: target, request, outcome)
  }

  /// Replies when the entries are ready, or with an error if one fails or is removed. Later requests are processed
  /// during the wait, if this request has an id.
  func waitUntilReady(
    _ ids: [PlayerItem.ID], on target: NamedPlayer, _ request: WaitingEdit, _ outcome: QueueEditOutcome
  ) {
    guard !ids.isEmpty else { return request.finish(outcome) }
    request.erased.allowLaterRequests()
    let wait = ReadinessWait(target, items: ids, loop: server.loop) { error in
      if let error { request.erased.fail(error) } else { request.finish(outcome) }
    }
    request.erased.onEnd { wait.cancel() }
    wait.start()
  }

  /// The reply to an edit that was applied.
  static func editReply(_ ids: IntegerList, version: UInt64) -> Reply {
    Reply(NewEntriesReply(QueueEditOutcome(.applied(items: ids, version: version))))
  }

  /// Checks the version of a queue. A version of nil is always valid.
  ///
  /// - Throws: `version-mismatch`.
  func checkVersion(_ version: Int?, of target: NamedPlayer) throws(MediaError) {
    let currentVersion = target.state.queueVersion
    guard let version, UInt64(version) != currentVersion else { return }
    throw MediaError(.versionMismatch, "queue version must be \(currentVersion) (got \(version))")
  }

  /// Applies all edits or none. After an error, discards the new entries.
  func apply(_ prepared: PreparedEdits, ifVersion version: Int?, on target: NamedPlayer) throws(MediaError) {
    do throws(MediaError) {
      try check(prepared, ifVersion: version, on: target)
      try target.player.tryOnLoop { player throws(MediaError) in
        if prepared.isLoad { try player.replaceAll(with: prepared.items) } else { try player.edit(prepared.edits) }
      }
    } catch {
      server.registry.discard(prepared, of: peer?.userID, target)
      throw error
    }
  }

  /// Checks the version of the queue and its length after the edits.
  ///
  /// - Throws: `version-mismatch`, `queue-too-long`.
  private func check(
    _ prepared: PreparedEdits, ifVersion version: Int?, on target: NamedPlayer
  ) throws(MediaError) {
    try checkVersion(version, of: target)
    try server.registry.checkLength(of: prepared.count(after: target.state.itemCount)) { limit in
      prepared.byteCount(afterEditing: target, limit: limit)
    }
  }

  /// Applies all edits, whose entries are reserved, or none. A large edit is applied later. An error discards the new
  /// entries.
  func apply(
    _ prepared: PreparedEdits, ifVersion version: Int?, on target: NamedPlayer, _ request: AnyWaitingRequest,
    completion: @escaping (PreparedEdits, UInt64) -> Void
  ) {
    guard prepared.isLarge(isQueueLong: isQueueLong(of: target.name)) else {
      do throws(MediaError) {
        try apply(prepared, ifVersion: version, on: target)
        return completion(prepared, target.state.queueVersion)
      } catch {
        return request.fail(error)
      }
    }
    let edit = LargeEdit(prepared, on: server.loop) { [self] prepared throws(MediaError) in
      try check(prepared, ifVersion: version, on: target)
    } completion: { [self] prepared, result in
      do throws(MediaError) {
        completion(prepared, try result.get())
      } catch {
        // The player has freed the reserved entries.
        server.registry.discard(prepared, of: peer?.userID, nil)
        request.fail(error)
      }
    }
    target.player.onLoop { edit.start(on: $0) }
  }
}

extension QueueEditRequest {
  /// Whether the edit adds or removes so many entries that they are created in several loop iterations.
  var isLarge: Bool {
    switch edits {
    case .one(.load(let new)), .one(.append(let new)), .one(.insert(let new, _)):
      new.paths.count > EditPreparation.sliceLength
    case .one(.remove(let ids)): ids.count > EditPreparation.sliceLength
    case .one(.move), .one(.replace), .one(.clear): false
    // The number of entries is known only after the edits are parsed, so their size in bytes decides.
    case .several(let edits): edits.byteCount > 1_024
    }
  }

  /// Whether the only edit first removes all entries.
  var emptiesQueue: Bool { if case .one(let edit) = edits { edit.emptiesQueue } else { false } }

  /// All edits.
  fileprivate var parts: WireList<RequestedEdit> {
    switch edits {
    case .one(let edit): [edit]
    case .several(let edits): edits
    }
  }
}
