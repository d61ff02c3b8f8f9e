import Glibc
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadSavedState
import PlayheadWireProtocol

extension StateCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let writer = context.server.stateWriter
    let status = writer?.status ?? SavingStatus()
    let crashed = writer?.queuedCrashedIDs ?? []
    return Reply(
      saving: status.isSaving, folder: FilePath(bytes: Array(status.folder.utf8)), writes: status.writeCount,
      crashed: crashed.isEmpty ? nil : crashed, error: writer == nil ? ServerContext.stateNotSavedError : status.error)
  }
}

extension StateSaveCommand: WaitingHandler {
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let writer = try context.server.requireStateWriter()
    writer.save { error in
      if let error { request.fail(error) } else { request.finish(Reply(writes: writer.status.writeCount)) }
    }
  }
}

extension QueueSaveCommand: WaitingHandler {
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let (name, player, server) = (arguments.name, arguments.player, context.server)
    let writer = try server.requireStateWriter()
    _ = try server.registry.player(player)
    // `save` writes pending changes first, because the database copies the queue from its own tables.
    writer.save { [loop = server.loop] error in
      if let error { return request.fail(error) }
      guard !request.isDone else { return }
      var now = timespec()
      clock_gettime(CLOCK_REALTIME, &now)
      writer.store.saveQueue(name, of: player, at: Int64(now.tv_sec)) { result in
        loop.execute { request.finish(with: result) { Reply(name: name, count: $0) } }
      }
    }
  }
}

extension QueueLoadCommand: WaitingHandler {
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let writer = try context.server.requireStateWriter()
    let target = try context.server.registry.player(arguments.player)
    try context.client.checkVersion(arguments.ifVersion, of: target)
    writer.store.loadQueue(arguments.name) {
      [loop = context.server.loop, weak client = context.client] result in
      loop.execute { [weak client] in
        guard let client else { return }
        request.resume(with: result) { entries throws(MediaError) in
          try load(entries, arguments, on: client, request)
        }
      }
    }
  }

  /// Replaces a queue with saved entries. Then replies.
  private static func load(
    _ entries: [StoredEntry], _ arguments: Arguments<Self>, on client: Client, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let registry = client.server.registry
    let target = try registry.player(arguments.player)
    try client.checkVersion(arguments.ifVersion, of: target)
    // Checks the number of entries before they are created, and their bytes afterwards.
    try registry.checkLength(of: entries.count) { _ in 0 }
    let preparation = EditPreparation(saved: entries, of: target, registry: registry)
    client.start(preparation, ifVersion: arguments.ifVersion, on: target, request.erased) { prepared, version in
      let items = prepared.items
      request.finish(
        Reply(
          name: arguments.name, count: items.count, first: items.first?.id, last: items.last?.id, version: version))
    }
  }
}

extension QueueSavedCommand: WaitingHandler {
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    try context.server.requireStateWriter().store.savedQueues { [loop = context.server.loop] result in
      loop.execute {
        request.finish(with: result) { queues in
          Reply(rows: queues.map { Row(name: $0.name, count: $0.entryCount, saved: $0.savedAt) })
        }
      }
    }
  }
}

extension QueueForgetCommand: WaitingHandler {
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let writer = try context.server.requireStateWriter()
    writer.store.removeQueue(arguments.name) { [loop = context.server.loop] result in
      loop.execute { request.finish(with: result) { _ in Reply() } }
    }
  }
}

extension ServerContext {
  static let stateNotSavedError = MediaError(
    .stateNotSaved,
    "this playheadd does not save its state: it runs with --no-state, or with --clock virtual and without --state")

  /// The writer of the saved state.
  ///
  /// - Throws: `state-not-saved` if no state is saved.
  fileprivate func requireStateWriter() throws(MediaError) -> StateWriter {
    guard let stateWriter else { throw Self.stateNotSavedError }
    return stateWriter
  }
}

extension AnyWaitingRequest {
  /// Starts the rest of the request with the result of an operation, or replies with its error. Does not call `body` if
  /// the request has already ended.
  func resume<Value>(with result: Result<Value, MediaError>, _ body: (Value) throws(MediaError) -> Void) {
    guard !isDone else { return }
    do throws(MediaError) { try body(result.get()) } catch { fail(error) }
  }

  /// Replies with the result of an operation, or with its error. Does not call `reply` if the request has already
  /// ended.
  func finish<Value>(
    with result: Result<Value, MediaError>, _ reply: (Value) throws(MediaError) -> Reply
  ) {
    guard !isDone else { return }
    do throws(MediaError) { finish(try reply(result.get())) } catch { fail(error) }
  }
}
