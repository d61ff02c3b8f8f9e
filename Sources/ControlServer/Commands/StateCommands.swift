import Glibc
import MediaCore
import Playback
import SavedState
import WireProtocol

/// Commands about the saved state.
extension Connection {
  /// Runs the commands that reply immediately. Nil means `ok` without fields.
  func run(_ command: StateCommand) throws(MediaError) -> Reply? {
    switch command {
    case .status: return .ok(stateFields)
    case .addBookmark(let time, let name, let player): return try addBookmark(at: time, name: name, player)
    case .bookmarks(let item, let offset, let limit, let player):
      return try listBookmarks(of: item, offset: offset, limit: limit, player)
    case .removeBookmark(let number):
      try stateWriter().changeBookmarks { table throws(MediaError) in try table.remove(UInt64(number)) }
      return .ok
    case .save, .saveQueue, .loadQueue, .savedQueues, .forgetQueue, .goToBookmark:
      preconditionFailure("the handler of immediate commands got one that waits")
    }
  }

  /// Starts the commands that wait for the store.
  func start(_ command: StateCommand, _ request: WaitingRequest) throws(MediaError) {
    guard let writer = server.stateWriter else { throw Self.stateNotSavedError }
    switch command {
    case .status, .addBookmark, .bookmarks, .removeBookmark:
      preconditionFailure("the handler of waiting commands got one that does not wait")
    case .goToBookmark(let target, let player): try startSeek(toBookmark: target, player, request)
    case .save:
      writer.save { error in
        if let error { request.fail(error) } else { request.finish(.ok(["writes": .int(writer.status.writeCount)])) }
      }
    case .saveQueue(let name, let player):
      _ = try server.registry.player(player)
      // `save` writes pending changes first, because the database copies the queue from its own tables.
      writer.save { [loop = server.loop] error in
        if let error { return request.fail(error) }
        guard !request.isDone else { return }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        writer.store.saveQueue(name, of: player, at: Int64(now.tv_sec)) { result in
          loop.execute { request.finish(with: result) { .ok(["name": .string(name), "count": .int($0)]) } }
        }
      }
    case .loadQueue(let name, let version, let player):
      let target = try server.registry.player(player)
      try checkVersion(version, of: target)
      writer.store.loadQueue(name) { [loop = server.loop, weak self] result in
        loop.execute { [weak self] in
          guard let self else { return }
          request.resume(with: result) { entries throws(MediaError) in
            try self.load(entries, named: name, ifVersion: version, player: player, request)
          }
        }
      }
    case .savedQueues:
      writer.store.savedQueues { [loop = server.loop] result in
        loop.execute {
          request.finish(with: result) { queues in
            .ok(
              ["count": .int(queues.count)],
              rows: queues.map {
                ["name": .string($0.name), "count": .int($0.entryCount), "saved": .integer($0.savedAt)]
              })
          }
        }
      }
    case .forgetQueue(let name):
      writer.store.removeQueue(name) { [loop = server.loop] result in
        loop.execute { request.finish(with: result) { _ in .ok } }
      }
    }
  }

  /// Replaces a queue with saved entries. Then replies.
  private func load(
    _ entries: [StoredEntry], named name: String, ifVersion version: Int?, player: String, _ request: WaitingRequest
  ) throws(MediaError) {
    let target = try server.registry.player(player)
    try checkVersion(version, of: target)
    // Checks the number of entries before they are created, and their bytes afterwards.
    try server.registry.checkLength(of: entries.count) { _ in 0 }
    let preparation = EditPreparation(saved: entries, of: target, registry: server.registry)
    start(preparation, ifVersion: version, on: target, request) { prepared, version in
      let items = prepared.items
      var fields: Fields = ["name": .string(name), "count": .int(items.count)]
      fields.append("first", ifPresent: items.first.map { .int($0.id) })
      fields.append("last", ifPresent: items.last.map { .int($0.id) })
      fields.append("version", .int(version))
      request.finish(.ok(fields))
    }
  }

  static let stateNotSavedError = MediaError(
    .stateNotSaved,
    "this playheadd does not save its state: it runs with --no-state, or with --clock virtual and without --state")

  /// The fields of the reply to `state.status`.
  private var stateFields: Fields {
    var status = server.stateWriter?.status ?? SavingStatus()
    if server.stateWriter == nil { status.error = Self.stateNotSavedError }
    var fields: Fields = [
      "saving": .bool(status.isSaving),
      "folder": FilePath(bytes: Array(status.folder.utf8)).map(FieldValue.path) ?? FieldValue.none,
      "writes": .int(status.writeCount),
    ]
    if let ids = server.stateWriter?.queuedCrashedIDs, !ids.isEmpty { fields.append("crashed", .integers(ids)) }
    if let error = status.error {
      fields.append("code", .int(error.code.rawValue))
      fields.append("error", .string(error.code.name))
      fields.append("message", .string(error.message))
    }
    return fields
  }
}

extension WaitingRequest {
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
