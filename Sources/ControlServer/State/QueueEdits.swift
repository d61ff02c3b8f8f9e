import MediaAssets
import MediaCore
import Playback
import PlayerModel
import WireProtocol

/// The size of edits, in the units of the limits.
struct EditSize {
  /// The number of added, moved, replaced or removed entries.
  private(set) var changeCount = 0
  /// The number of bytes of their paths and network options.
  private(set) var byteCount = 0

  init() {}

  /// The size of one command.
  init(_ command: QueueCommand) { (changeCount, byteCount) = (command.changeCount, command.pathAndOptionByteCount) }

  static func + (left: Self, right: Self) -> Self {
    var sum = left
    sum.changeCount += right.changeCount
    sum.byteCount += right.byteCount
    return sum
  }

  /// The difference of two sizes. `left` must include `right`.
  static func - (left: Self, right: Self) -> Self {
    var difference = left
    difference.changeCount -= right.changeCount
    difference.byteCount -= right.byteCount
    return difference
  }

  /// Checks the limits.
  ///
  /// - Parameter subject: The beginning of the error message.
  /// - Throws: `edit-too-large`.
  fileprivate func check(_ changeLimit: Int, _ byteLimit: Int, _ subject: String) throws(MediaError) {
    guard changeCount <= changeLimit, byteCount <= byteLimit else {
      throw MediaError(.editTooLarge, "\(subject) at most \(changeLimit) changes and \(byteLimit) bytes of paths")
    }
  }
}

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

/// Edits with their new entries, which already have ids.
struct PreparedEdits {
  private(set) var edits: [QueueEdit] = []
  /// The new entries.
  private(set) var items: [PlayerItem] = []
  /// The ids of the new entries.
  private(set) var ids = IntegerList()
  /// The new entries that are reserved for the player.
  private(set) var reservation = QueueReservation()
  /// The passed descriptors of the new entries.
  private(set) var descriptors: [OpenDescriptor] = []
  private(set) var commandCount = 0
  private(set) var size = EditSize()
  /// Whether the only edit is a `load`, which replaces the whole queue.
  private(set) var isLoad = false
  /// The length of the queue before `growth` is added. Nil: the length of the current queue. 0 after an edit that
  /// empties the queue.
  private var baseLength: Int?
  /// The change of `baseLength` by the edits.
  private var growth = 0
  /// The bytes that describe the added entries. If `baseLength` is nil, the bytes of the current queue must be added.
  private var addedByteCount = 0
  /// The ids of removed and replaced entries.
  private var removedIDs: [[PlayerItem.ID]] = []
  /// The number of new entries before the last edit that empties the queue.
  private var emptiedItemCount = 0
  /// The number of new entries of all commands before the current one.
  private var earlierItemCount = 0

  /// Begins a command.
  mutating func begin(_ command: QueueCommand) {
    commandCount += 1
    size = size + EditSize(command)
    if case .load = command { isLoad = commandCount == 1 } else { isLoad = false }
    if command.emptiesQueue {
      (baseLength, growth, addedByteCount, removedIDs) = (0, 0, 0, [])
      emptiedItemCount = items.count
    }
    // A path can be a playlist with many entries. `add` counts the entries of all paths.
    growth += command.growth - command.paths.count
    earlierItemCount = items.count
  }

  /// Adds entries of the current command.
  mutating func add(_ new: [PlayerItem]) {
    growth += new.count
    items += new
    for item in new {
      addedByteCount += item.descriptionByteCount
      ids.append(item.id)
      if let descriptor = item.asset.descriptor { descriptors.append(descriptor) }
    }
  }

  /// Reserves entries of the current command.
  mutating func reserve(_ new: [PlayerItem], for target: NamedPlayer) {
    // Cannot fail: the items are new, and the player is open.
    target.player.onLoop { player in try? player.reserve(new, in: &reservation) }
  }

  /// Ends the current command after all of its entries were added.
  mutating func end(_ command: QueueCommand) {
    let new = command.edits(Array(items[earlierItemCount...]))
    edits += new
    for edit in new {
      switch edit {
      case .remove(let ids): removedIDs.append(ids)
      case .replace(let id, _): removedIDs.append([id])
      case .insert, .move, .removeAll: break
      }
    }
  }

  /// Appends later edits.
  mutating func append(_ later: PreparedEdits) {
    isLoad = commandCount == 0 && later.isLoad
    if let baseLength = later.baseLength {
      (self.baseLength, growth) = (baseLength, later.growth)
      (addedByteCount, removedIDs) = (later.addedByteCount, later.removedIDs)
      emptiedItemCount = items.count + later.emptiedItemCount
    } else {
      growth += later.growth
      addedByteCount += later.addedByteCount
      removedIDs += later.removedIDs
    }
    edits += later.edits
    items += later.items
    ids.append(later.ids)
    reservation.merge(later.reservation)
    descriptors += later.descriptors
    commandCount += later.commandCount
    size = size + later.size
  }

  /// The number of bytes that describe the entries of a queue after the edits. The number may be too high, because it
  /// includes entries that the edits both add and remove, and, up to `limit`, the removed entries.
  func byteCount(afterEditing target: NamedPlayer, limit: Int) -> Int {
    guard baseLength == nil else { return addedByteCount }
    return target.player.onLoop { player in
      let byteCount = player.queuedByteCount + addedByteCount
      // Looking up thousands of removed entries takes long, and is rarely necessary.
      if byteCount <= limit { return byteCount }
      return removedIDs.joined().reduce(byteCount) { $0 - (player.item($1)?.descriptionByteCount ?? 0) }
    }
  }

  /// Whether the edits change so many entries that another thread computes the new queue.
  ///
  /// - Parameter isQueueLong: Whether removing all entries takes long.
  func isLarge(isQueueLong: Bool = false) -> Bool {
    (isQueueLong && baseLength != nil) || max(size.changeCount, items.count) > EditPreparation.sliceLength
  }

  /// The ids of the new entries that no later edit removes.
  var remainingIDs: [PlayerItem.ID] {
    let new = items[emptiedItemCount...]
    guard let first = new.first?.id else { return [] }
    // Ids increase, so that these are few: new entries that are removed again.
    let removed = Set(removedIDs.joined().lazy.filter { $0 >= first })
    return removed.isEmpty ? new.map(\.id) : new.lazy.map(\.id).filter { !removed.contains($0) }
  }

  /// The edits as an operation of the player.
  var operation: QueueOperation { isLoad ? .replaceAll(items) : .edit(edits) }

  /// The length of a queue of `count` entries after all edits.
  func count(after count: Int) -> Int { (baseLength ?? count) + growth }
}

/// Edits of the queue: single edits, `queue.edit` with several edits, and transactions.
extension Connection {
  // MARK: - Applying edits

  /// Applies a small edit.
  func edit(_ command: QueueCommand, on target: NamedPlayer) throws(MediaError) -> PreparedEdits {
    let prepared = try EditPreparation(command.parts, of: target, registry: server.registry, for: peer?.userID)
      .makeAll()
    try apply(prepared, ifVersion: command.ifVersion, on: target)
    return prepared
  }

  /// Applies an edit whose entries are created in several loop iterations. Then calls `completion` with the applied
  /// edits and the new version of the queue.
  ///
  /// The edit is applied even if the connection is closed first. It is not applied if `request` gets its reply before
  /// the entries exist, for example from `cancel`.
  ///
  /// - Parameter expansion: The contents of the playlists among the paths.
  func edit(
    _ command: QueueCommand, on target: NamedPlayer, _ expansion: PlaylistExpansion? = nil,
    _ request: AnyWaitingRequest,
    completion: @escaping (PreparedEdits, UInt64) -> Void
  ) throws(MediaError) {
    try checkVersion(command.ifVersion, of: target)
    start(
      EditPreparation(command.parts, of: target, expansion, registry: server.registry, for: peer?.userID),
      ifVersion: command.ifVersion, on: target, request, completion: completion)
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
  private func cancellationCheck(_ request: AnyWaitingRequest) -> () -> Bool { { request.hasReply } }

  /// Collects or applies an edit in several loop iterations.
  func startLargeEdit(_ command: QueueCommand, on target: NamedPlayer, _ request: AnyWaitingRequest) throws(MediaError)
  {
    guard transaction?.target === target, !command.waitsUntilReady else {
      return try edit(command, on: target, nil, request) { prepared, version in
        self.finishEdit(
          waitsUntilReady: command.waitsUntilReady, prepared, version: version, on: target, request)
      }
    }
    try checkHasNoVersion(command)
    EditPreparation(command.parts, of: target, registry: server.registry, for: peer?.userID).start(
      on: server.loop, isCancelled: cancellationCheck(request)
    ) { [self] result in
      do throws(MediaError) { request.finish(try addToTransaction(result.get(), for: target)) } catch {
        request.fail(error)
      }
    }
  }

  /// Replies to an edit, or waits until its entries are ready.
  private func finishEdit(
    waitsUntilReady: Bool, _ prepared: PreparedEdits, version: UInt64, on target: NamedPlayer,
    _ request: AnyWaitingRequest
  ) {
    let reply = Self.editReply(prepared.ids, version: version)
    guard waitsUntilReady else { return request.finish(reply) }
    waitUntilReady(prepared.remainingIDs, on: target, request, reply)
  }

  /// Replies when the entries are ready, or with an error if one fails or is removed. Later requests are processed
  /// during the wait, if this request has an id.
  func waitUntilReady(_ ids: [PlayerItem.ID], on target: NamedPlayer, _ request: AnyWaitingRequest, _ reply: Reply) {
    guard !ids.isEmpty else { return request.finish(reply) }
    allowLaterRequests(after: request)
    let wait = ReadinessWait(target, items: ids, loop: server.loop) { error in
      if let error { request.fail(error) } else { request.finish(reply) }
    }
    request.onEnd { wait.cancel() }
    wait.start()
  }

  static func editReply(_ ids: IntegerList, version: UInt64) -> Reply { .ok(fields(ofEdit: ids, version: version)) }

  static func fields(ofEdit ids: IntegerList, version: UInt64) -> Fields {
    var fields = Fields()
    if !ids.isEmpty { fields.append("items", .integerList(ids)) }
    fields.append("version", .int(version))
    return fields
  }

  /// Applies all edits or none. After an error, discards the new entries.
  private func apply(_ prepared: PreparedEdits, ifVersion version: Int?, on target: NamedPlayer) throws(MediaError) {
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
  private func apply(
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

  // MARK: - Collecting

  /// Starts to collect edits.
  ///
  /// - Throws: `invalid-state` if a transaction is open, or `version-mismatch`.
  func beginTransaction(for target: NamedPlayer, ifVersion version: Int?) throws(MediaError) -> Reply {
    guard transaction == nil else {
      throw MediaError(.invalidState, "an edit is already open, and neither committed nor aborted")
    }
    try checkVersion(version, of: target)
    let closeHandlerID = target.addCloseHandler { [weak self] in self?.discardTransaction() }
    transaction = QueueTransaction(target: target, closeHandlerID: closeHandlerID, ifVersion: version)
    return .ok(["version": .int(target.state.queueVersion)])
  }

  /// Collects an edit if a transaction of this player is open. Nil: the caller must run the command.
  ///
  /// - Throws: `edit-too-large`, or `invalid-argument` for an edit with a version. The edit is then discarded, and the
  ///   earlier ones stay collected.
  func addToOpenTransaction(_ command: QueueCommand, for target: NamedPlayer) throws(MediaError) -> Reply? {
    guard transaction?.target === target, command.isEdit else { return nil }
    try checkHasNoVersion(command)
    let prepared = try EditPreparation(command.parts, of: target, registry: server.registry, for: peer?.userID)
      .makeAllReserved()
    return try addToTransaction(prepared, for: target)
  }

  /// Checks that a collected edit has no version.
  ///
  /// - Throws: `invalid-argument`.
  private func checkHasNoVersion(_ command: QueueCommand) throws(MediaError) {
    guard command.ifVersion != nil else { return }
    throw MediaError(.invalidArgument, "if-version is set by queue.begin and not allowed in the edit")
  }

  /// Adds edits to the collected ones. After an error, discards the new edits and keeps the collected ones.
  ///
  /// - Throws: `edit-too-large`, or `invalid-state` if edits are no longer being collected.
  private func addToTransaction(_ prepared: PreparedEdits, for target: NamedPlayer) throws(MediaError) -> Reply {
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
    return .ok(["pending": .int(transaction?.prepared.commandCount ?? 0)])
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
  func commit(on target: NamedPlayer) throws(MediaError) -> Reply {
    let committed = try endTransaction(of: target)
    try apply(committed.prepared, ifVersion: committed.ifVersion, on: target)
    return Self.editReply(committed.prepared.ids, version: target.state.queueVersion)
  }

  /// Ends the transaction and applies its edits. Then replies, at once or when the new entries are ready.
  ///
  /// - Throws: `invalid-state` if none is open.
  func startCommit(on target: NamedPlayer, waitsUntilReady: Bool, _ request: AnyWaitingRequest) throws(MediaError) {
    let committed = try endTransaction(of: target)
    apply(committed.prepared, ifVersion: committed.ifVersion, on: target, request) { prepared, version in
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
  func abort(on target: NamedPlayer) throws(MediaError) -> Reply {
    _ = try openTransaction(for: target, "queue.abort")
    discardTransaction()
    return .ok(["version": .int(target.state.queueVersion)])
  }
}

extension QueueCommand {
  /// Whether the command can be a part of an edit.
  fileprivate var isEdit: Bool {
    switch self {
    case .load, .append, .insert, .remove, .move, .replace, .clear, .edit: true
    case .list, .history, .next, .previous, .jump, .shuffle, .onFailure, .begin, .commit, .abort, .changes, .expanding,
      .export:
      false
    }
  }

  /// The version that the queue must have for the edit. Nil: any.
  var ifVersion: Int? {
    switch self {
    case .load(_, _, _, let version, _, _, _), .append(_, _, let version, _, _, _, _),
      .insert(_, _, _, let version, _, _, _, _),
      .remove(_, let version), .move(_, _, let version), .replace(_, _, let version, _, _), .clear(let version),
      .edit(_, let version):
      version
    case .list, .history, .next, .previous, .jump, .shuffle, .onFailure, .begin, .commit, .abort, .changes, .expanding,
      .export:
      nil
    }
  }

  /// Whether the command replies only when the new entries are ready.
  var waitsUntilReady: Bool {
    switch self {
    case .load(_, let waits, _, _, _, _, _), .append(_, let waits, _, _, _, _, _),
      .insert(_, _, let waits, _, _, _, _, _):
      waits
    default: false
    }
  }

  /// The paths that the command adds.
  var paths: WireList<FilePath> {
    switch self {
    case .load(let paths, _, _, _, _, _, _), .append(let paths, _, _, _, _, _, _),
      .insert(let paths, _, _, _, _, _, _, _):
      paths
    case .replace(_, let path, _, _, _): [path]
    default: []
    }
  }

  /// Whether the durations of added entries are to be precise.
  var isPrecise: Bool {
    switch self {
    case .load(_, _, let precise, _, _, _, _), .append(_, _, _, let precise, _, _, _),
      .insert(_, _, _, _, let precise, _, _, _),
      .replace(_, _, _, let precise, _):
      precise
    default: false
    }
  }

  /// The network options of added entries.
  var network: NetworkOptions {
    switch self {
    case .load(_, _, _, _, let network, _, _), .append(_, _, _, _, let network, _, _),
      .insert(_, _, _, _, _, let network, _, _),
      .replace(_, _, _, _, let network):
      network
    default: NetworkOptions()
    }
  }

  /// Whether added entries start at their last position. Nil: as configured. False for `replace`, and for commands that
  /// add no entries.
  var resumes: Bool? {
    switch self {
    case .load(_, _, _, _, _, let resumes, _), .append(_, _, _, _, _, let resumes, _),
      .insert(_, _, _, _, _, _, let resumes, _):
      resumes
    default: false
    }
  }

  /// The title of the added entry. Nil: that of its tags.
  var title: String? {
    switch self {
    case .load(_, _, _, _, _, _, let title), .append(_, _, _, _, _, _, let title),
      .insert(_, _, _, _, _, _, _, let title):
      title
    default: nil
    }
  }

  /// The number of entries that the command adds, moves, replaces or removes. At least 1.
  fileprivate var changeCount: Int {
    if case .remove(let ids, _) = self { return ids.count }
    return Swift.max(1, paths.count)
  }

  /// The number of bytes of the paths and network options.
  fileprivate var pathAndOptionByteCount: Int { network.byteCount + paths.byteCount + (title?.utf8.count ?? 0) }

  /// The commands of `queue.edit`, or the command itself.
  fileprivate var parts: WireList<QueueCommand> { if case .edit(let commands, _) = self { commands } else { [self] } }

  /// Whether the command first removes all entries.
  var emptiesQueue: Bool {
    switch self {
    case .load, .clear: true
    default: false
    }
  }

  /// The change of the queue's length. If `emptiesQueue` is true, relative to an empty queue.
  fileprivate var growth: Int {
    switch self {
    case .load, .append, .insert: paths.count
    case .remove(let ids, _): -ids.count
    default: 0
    }
  }

  /// The player's edits for this command. `items` are its new entries.
  fileprivate func edits(_ items: [PlayerItem]) -> [QueueEdit] {
    switch self {
    case .load: [.removeAll, .append(items)]
    case .append: [.append(items)]
    case .insert(_, let position, _, _, _, _, _, _): [.insert(items, at: position.queuePosition)]
    case .remove(let ids, _): [.remove(ids.map { $0.resolvedID })]
    case .move(let id, let position, _): [.move(id.resolvedID, to: position.queuePosition)]
    case .replace(let id, _, _, _, _): items.map { .replace(id.resolvedID, with: $0) }
    case .clear: [.removeAll]
    case .edit, .list, .history, .next, .previous, .jump, .shuffle, .onFailure, .begin, .commit, .abort, .changes,
      .expanding,
      .export:
      []
    }
  }
}

extension QueueCommand.QueuePosition {
  /// The position in the engine's type.
  var queuePosition: QueuePosition {
    switch self {
    case .next: .next
    case .after(let id): .after(id.resolvedID)
    case .before(let id): .before(id.resolvedID)
    case .index(let index): .index(index)
    }
  }
}
