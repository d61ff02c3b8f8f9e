import MediaCore
import Playback
import PlayerModel
import WireProtocol

/// Commands that edit or list one player's queue.
extension Connection {
  /// Runs the commands that reply immediately. Nil means `ok` without fields.
  func run(_ command: QueueCommand, on target: NamedPlayer) throws(MediaError) -> Reply? {
    if let reply = try addToOpenTransaction(command, for: target) { return reply }
    switch command {
    case .load, .append, .insert, .remove, .move, .replace, .clear, .edit:
      return Self.editReply(try edit(command, on: target).ids, version: target.state.queueVersion)
    case .begin(let version): return try beginTransaction(for: target, ifVersion: version)
    case .commit: return try commit(on: target)
    case .abort: return try abort(on: target)
    case .changes(let since, let instance): return queueChanges(since: since, instance: instance, of: target)
    case .list(let offset, let limit): return listing(of: target, offset: offset, limit: limit).reply
    case .export: preconditionFailure("the handler of immediate commands got one that runs in slices")
    case .expanding: preconditionFailure("the handler of immediate commands got one that waits")
    case .history(let limit): return history(target, limit: limit)
    case .next(let version):
      try checkVersion(version, of: target)
      guard target.state.currentItemID != nil else {
        throw MediaError(.noCurrentItem, "there is no current item", operation: "next")
      }
      target.player.onLoop { $0.advanceToNextItem() }
      return Self.currentItemReply(target)
    case .previous(let limit, let version):
      try checkVersion(version, of: target)
      try target.player.tryOnLoop { player throws(MediaError) in
        try player.goToPreviousItem(restartingAfter: limit)
      }
      return Self.currentItemReply(target)
    case .jump(let jumpTarget, let version):
      try checkVersion(version, of: target)
      return try jump(to: jumpTarget, on: target)
    case .shuffle(let change, let seed, let version):
      try checkVersion(version, of: target)
      return shuffle(change, seed: seed, target)
    case .onFailure(let policy):
      if let policy { target.player.onLoop { $0.setItemFailurePolicy(ItemFailurePolicy(policy)) } }
      return .ok(["onFailure": .string(target.state.itemFailurePolicy.rawValue)])
    }
  }

  /// Starts a command that does not reply immediately: a long list, an export, a large edit, an edit that adds
  /// playlists, or an edit with `wait=ready`, which replies when every new entry is ready, or with the first error.
  func start(_ command: QueueCommand, on target: NamedPlayer, _ request: AnyWaitingRequest) throws(MediaError) {
    switch command {
    case .export(let format, let base, let offset, let limit):
      let part = ExportPart(format: format, base: base, offset: offset, limit: limit)
      return export(part, of: target.name, request)
    case .list(let offset, let limit):
      return start(listing(of: target, offset: offset, limit: limit), request)
    case .commit(let waits): return try startCommit(on: target, waitsUntilReady: waits, request)
    case .jump(let jumpTarget, let version):
      return try startJump(to: jumpTarget, ifVersion: version, on: target, request)
    case .shuffle(let change, let seed, let version):
      return try startShuffle(change, seed: seed, ifVersion: version, on: target, request)
    default: break
    }
    if command.isLarge || command.emptiesQueue, !command.waitsUntilReady {
      return try startLargeEdit(command, on: target, request)
    }
    guard transaction?.target !== target else {
      throw MediaError(.invalidState, "a request cannot wait between queue.begin and queue.commit")
    }
    if case .expanding(let edit, let lists, let isForced) = command {
      // Positions are those before the playlists are read.
      let command = try target.resolved(edit, target.state.queueVersion)
      return try start(command, expanding: lists, isForced: isForced, on: target, request)
    }
    if command.isLarge { return try startLargeEdit(command, on: target, request) }
    let prepared = try edit(command, on: target)
    let reply = Self.editReply(prepared.ids, version: target.state.queueVersion)
    waitUntilReady(prepared.items.map(\.id), on: target, request, reply)
  }

  /// The reply to a command that changed the current entry.
  private static func currentItemReply(_ target: NamedPlayer) -> Reply {
    let state = target.state
    return .ok([
      "item": state.currentItemID.map { .int($0) } ?? FieldValue.none, "version": .int(state.queueVersion),
    ])
  }

  /// Checks the version of a queue. A version of nil is always valid.
  ///
  /// - Throws: `version-mismatch`.
  func checkVersion(_ version: Int?, of target: NamedPlayer) throws(MediaError) {
    let currentVersion = target.state.queueVersion
    guard let version, UInt64(version) != currentVersion else { return }
    throw MediaError(.versionMismatch, "queue version must be \(currentVersion) (got \(version))")
  }

  // MARK: - Long queues

  /// The number of entries of a queue from which another thread shuffles it and jumps in it.
  private static let longQueueLength = 1_024

  /// Whether shuffling the queue of a player, or jumping in it, may take long.
  func isQueueLong(of player: String) -> Bool {
    guard let target = try? server.registry.player(player) else { return false }
    return target.state.itemCount > Self.longQueueLength
  }

  private func jump(to jumpTarget: QueueCommand.JumpTarget, on target: NamedPlayer) throws(MediaError) -> Reply {
    switch jumpTarget {
    case .item(let item):
      let id = try target.itemID(item)
      try target.player.tryOnLoop { player throws(MediaError) in try player.jump(to: id) }
    case .index(let index):
      try target.player.tryOnLoop { player throws(MediaError) in try player.jump(toIndex: index) }
    }
    return Self.currentItemReply(target)
  }

  /// Jumps in a long queue. Another thread computes the queue if the jump passes many entries.
  private func startJump(
    to jumpTarget: QueueCommand.JumpTarget, ifVersion version: Int?, on target: NamedPlayer,
    _ request: AnyWaitingRequest
  ) throws(MediaError) {
    try checkVersion(version, of: target)
    let index: Int?
    switch jumpTarget {
    case .index(let position), .item(.index(let position)): index = position
    case .item(let item):
      let id = try target.itemID(item)
      index = target.player.onLoop { $0.index(of: id) }
    }
    guard let index, index > Self.longQueueLength,
      let item = target.player.onLoop({ $0.items(in: index..<index + 1).first })
    else { return request.finish(try jump(to: jumpTarget, on: target)) }
    perform(.jump(to: item.id), ifVersion: version, on: target, request, reply: Self.currentItemReply)
  }

  /// Computes a change of a long queue on another thread. Then replies.
  private func perform(
    _ operation: QueueOperation, ifVersion version: Int?, on target: NamedPlayer, _ request: AnyWaitingRequest,
    reply: @escaping @Sendable (NamedPlayer) -> Reply
  ) {
    target.player.onLoop { player in
      player.perform(operation, adding: QueueReservation()) { () throws(MediaError) in
        try self.checkVersion(version, of: target)
      } completion: { result in
        request.finish(with: result) { _ in reply(target) }
      }
    }
  }

  /// The operation that changes the shuffling. Nil: none is needed.
  private static func operation(
    _ change: SwitchSetting?, seed: Int?, _ target: NamedPlayer
  ) -> QueueOperation? {
    let isShuffled = target.state.shuffleSeed != nil
    switch change {
    case nil: return nil
    case .off: return isShuffled ? .endShuffle : nil
    case .toggle where isShuffled: return .endShuffle
    case .on, .toggle: return .shuffle(seed: seed.map { UInt64($0) } ?? QueuePlayer.randomShuffleSeed())
    }
  }

  private func shuffle(_ change: SwitchSetting?, seed: Int?, _ target: NamedPlayer) -> Reply {
    switch Self.operation(change, seed: seed, target) {
    case .shuffle(let seed): target.player.onLoop { _ = $0.shuffle(seed: seed) }
    case .endShuffle: target.player.onLoop { $0.endShuffle() }
    default: break
    }
    return Self.shuffleReply(target)
  }

  private func startShuffle(
    _ change: SwitchSetting?, seed: Int?, ifVersion version: Int?, on target: NamedPlayer,
    _ request: AnyWaitingRequest
  ) throws(MediaError) {
    try checkVersion(version, of: target)
    guard let operation = Self.operation(change, seed: seed, target) else {
      return request.finish(Self.shuffleReply(target))
    }
    perform(operation, ifVersion: version, on: target, request, reply: Self.shuffleReply)
  }

  private static func shuffleReply(_ target: NamedPlayer) -> Reply {
    let state = target.state
    var fields: Fields = ["shuffle": .string(state.shuffleSeed == nil ? "off" : "on")]
    fields.append("seed", ifPresent: state.shuffleSeed.map { .int($0) })
    fields.append("version", .int(state.queueVersion))
    return .ok(fields)
  }

  // MARK: - Listing

  /// The history of the queue, the newest entry first. Limited by `limit`, by the limit of list rows, and by the output
  /// buffer of the peer.
  private func history(_ target: NamedPlayer, limit: Int) -> Reply {
    let items = target.player.onLoop { $0.history() }
    var rows: [Fields] = []
    var byteCount = 0
    for item in items.reversed().prefix(min(limit, server.limits.listCount)) {
      byteCount += item.wirePathByteCount * QueueListing.bytesPerTextByte + QueueListing.bytesPerRow
      if byteCount > server.limits.outputByteCount / 2, !rows.isEmpty { break }
      rows.append([
        "item": .int(item.id), "path": item.wirePath, "status": .string(item.status.name),
        "duration": .time(item.duration),
      ])
    }
    return .ok(["count": .int(items.count), "version": .int(target.state.queueVersion)], rows: rows)
  }
}

extension ItemFailurePolicy {
  fileprivate init(_ policy: QueueCommand.FailurePolicy) {
    switch policy {
    case .skip: self = .skip
    case .stop: self = .stop
    case .retry: self = .retry
    }
  }
}
