import MediaCore
import Playback
import WireProtocol

/// How large edits are, as the limits count it.
struct EditSize {
  /// Entries that are added, moved, replaced or removed.
  private(set) var changeCount = 0
  /// Bytes of their paths.
  private(set) var byteCount = 0

  /// Nothing.
  init() {}

  fileprivate init(_ commands: some Sequence<QueueCommand>) {
    for command in commands {
      changeCount += command.changeCount
      byteCount += command.pathByteCount
    }
  }

  /// That of two together.
  static func + (left: Self, right: Self) -> Self {
    var sum = left
    sum.changeCount += right.changeCount
    sum.byteCount += right.byteCount
    return sum
  }

  /// What is left of one without the other, which is a part of it.
  static func - (left: Self, right: Self) -> Self {
    var difference = left
    difference.changeCount -= right.changeCount
    difference.byteCount -= right.byteCount
    return difference
  }

  /// Errors: `edit-too-large` when it is more than `whose` may have.
  fileprivate func check(_ changeLimit: Int, _ byteLimit: Int, _ whose: String) throws(MediaError) {
    guard changeCount <= changeLimit, byteCount <= byteLimit else {
      throw MediaError(.editTooLarge, "\(whose) at most \(changeLimit) changes and \(byteLimit) bytes of paths")
    }
  }
}

/// Edits that are gathered on a connection until `queue.commit`.
struct QueueGathering {
  /// The player whose queue they are of, which is not closed.
  let target: NamedPlayer
  /// The player's handler that ends the gathering when it is closed.
  fileprivate let closeHandler: UInt64
  fileprivate let ifVersion: Int?
  fileprivate var made = MadeEdits()
  fileprivate var size = EditSize()
}

/// Edits with the entries that they bring, which have their numbers. Made one by one, so that making them all is no work.
private struct MadeEdits {
  var edits: [QueueEdit] = []
  var items: [PlayerItem] = []
  var commandCount = 0
  /// They are one `load`, which says of the queue as a whole what is in it.
  var isLoad = false
  /// How long the queue is afterwards: so long, or, while that is nil, as it is, and by so many longer.
  private var length: Int?
  private var growth = 0
  /// The bytes of the entries that come, and of the queue before them, or, while `length` is nil, of the present queue.
  private var addedByteCount = 0

  mutating func append(
    _ command: QueueCommand, _ registry: PlayerRegistry, _ lists: ListExpansion? = nil, for userID: UInt32?
  ) {
    commandCount += 1
    if case .load = command { isLoad = commandCount == 1 } else { isLoad = false }
    if command.replacesQueue { (length, growth, addedByteCount) = (0, 0, 0) }
    let items = registry.makeItems(
      Array(command.paths), precise: command.isPrecise, network: command.network, resumes: command.resumes, lists,
      for: userID)
    // What a list contains instead of itself.
    growth += command.growth + items.count - command.paths.count
    self.items += items
    addedByteCount += items.reduce(0) { $0 + $1.descriptionByteCount }
    edits += command.edits(items)
  }

  /// Returns the bytes that describe the entries of a player's queue afterwards, or more: entries that come and go within
  /// the edits are counted.
  func byteCount(of player: isolated QueuePlayer) -> Int {
    guard length == nil else { return addedByteCount }
    var removedByteCount = 0
    for edit in edits {
      switch edit {
      case .remove(let ids): for id in ids { removedByteCount += player.item(id)?.descriptionByteCount ?? 0 }
      case .replace(let id, _): removedByteCount += player.item(id)?.descriptionByteCount ?? 0
      case .insert, .move, .removeAll: break
      }
    }
    return max(0, player.queuedByteCount - removedByteCount) + addedByteCount
  }

  /// How long a queue of `count` entries is afterwards, should all be possible.
  func count(after count: Int) -> Int { (length ?? count) + growth }
}

/// Edits of the queue: single ones, several at once, and those that are gathered.
extension Connection {
  // MARK: - Making edits

  /// Makes an edit and answers the new entries.
  func edit(
    _ command: QueueCommand, on target: NamedPlayer, _ lists: ListExpansion? = nil
  ) throws(MediaError) -> [PlayerItem] {
    var made = MadeEdits()
    if case .edit(let commands, _) = command {
      for command in commands { made.append(command, server.registry, for: peer?.userID) }
    } else {
      made.append(command, server.registry, lists, for: peer?.userID)
    }
    try make(made, ifVersion: command.ifVersion, on: target)
    return made.items
  }

  static func edited(_ items: [PlayerItem], _ target: NamedPlayer) -> Reply {
    .ok(fields(ofEdit: items, target))
  }

  static func fields(ofEdit items: [PlayerItem], _ target: NamedPlayer) -> Fields {
    var fields = Fields()
    if !items.isEmpty { fields.append("items", .integers(items.map(\.id))) }
    fields.append("version", .int(target.state.queueVersion))
    return fields
  }

  /// Makes all of the edits or none; then the numbers of their entries are given again.
  private func make(_ made: MadeEdits, ifVersion version: Int?, on target: NamedPlayer) throws(MediaError) {
    do throws(MediaError) {
      try check(version, of: target)
      try server.registry.checkLength(of: made.count(after: target.state.itemCount)) {
        target.player.onLoop { made.byteCount(of: $0) }
      }
      try target.player.tryOnLoop { player throws(MediaError) in
        if made.isLoad { try player.replaceAll(with: made.items) } else { try player.edit(made.edits) }
      }
    } catch {
      server.registry.unmake(made.items, of: peer?.userID)
      throw error
    }
  }

  // MARK: - Gathering

  func beginGathering(for target: NamedPlayer, ifVersion version: Int?) throws(MediaError) -> Reply {
    guard gathering == nil else {
      throw MediaError(.invalidState, "an edit was begun already, and neither committed nor aborted")
    }
    try check(version, of: target)
    let closeHandler = target.onClose { [weak self] in self?.endGathering() }
    gathering = QueueGathering(target: target, closeHandler: closeHandler, ifVersion: version)
    return .ok(["version": .int(target.state.queueVersion)])
  }

  /// Keeps an edit for later, if edits of this player are gathered; nil when the command is to be run. Errors:
  /// `edit-too-large`; then it is not kept.
  func gather(_ command: QueueCommand, for target: NamedPlayer) throws(MediaError) -> Reply? {
    // Read by its parts: with a second owner the list would be copied.
    guard gathering?.target === target, let size = gathering?.size, command.isEdit else { return nil }
    guard command.ifVersion == nil else {
      throw MediaError(.invalidArgument, "the version of an edit that was begun is said by queue.begin")
    }
    let commands = if case .edit(let commands, _) = command { commands } else { WireList([command]) }
    let (added, limits) = (EditSize(commands), server.limits)
    try (size + added).check(limits.editCount, limits.editByteCount, "an edit has")
    try (server.gathered + added).check(
      limits.gatheredCount, limits.gatheredByteCount, "the edits that are gathered on all connections have")
    for command in commands { gathering?.made.append(command, server.registry, for: peer?.userID) }
    gathering?.size = size + added
    server.gathered = server.gathered + added
    return .ok(["pending": .int(gathering?.made.commandCount ?? 0)])
  }

  /// Gathers no more, and forgets what was gathered.
  func endGathering() {
    guard let open = gathering else { return }
    gathering = nil
    open.target.removeCloseHandler(open.closeHandler)
    server.gathered = server.gathered - open.size
    server.registry.unmake(open.made.items, of: peer?.userID)
  }

  /// Errors: `invalid-state` when no edit of this player was begun.
  private func open(for target: NamedPlayer, _ operation: String) throws(MediaError) -> QueueGathering {
    guard let open = gathering, open.target === target else {
      throw MediaError(
        .invalidState, "no edit of \(target.name) was begun on this connection", operation: operation)
    }
    return open
  }

  func commit(on target: NamedPlayer) throws(MediaError) -> Reply {
    let open = try open(for: target, "queue.commit")
    // These are not forgotten.
    gathering?.made = MadeEdits()
    endGathering()
    try make(open.made, ifVersion: open.ifVersion, on: target)
    return Self.edited(open.made.items, target)
  }

  func abort(on target: NamedPlayer) throws(MediaError) -> Reply {
    _ = try open(for: target, "queue.abort")
    endGathering()
    return .ok(["version": .int(target.state.queueVersion)])
  }
}

extension QueueCommand {
  /// Whether it can be a part of an edit.
  fileprivate var isEdit: Bool {
    switch self {
    case .load, .append, .insert, .remove, .move, .replace, .clear, .edit: true
    case .list, .history, .next, .previous, .jump, .shuffle, .onFailure, .begin, .commit, .abort, .changes, .expanding,
      .export:
      false
    }
  }

  /// The version that the queue must have for an edit.
  var ifVersion: Int? {
    switch self {
    case .load(_, _, _, let version, _, _), .append(_, _, let version, _, _, _),
      .insert(_, _, _, let version, _, _, _),
      .remove(_, let version), .move(_, _, let version), .replace(_, _, let version, _, _), .clear(let version),
      .edit(_, let version):
      version
    case .list, .history, .next, .previous, .jump, .shuffle, .onFailure, .begin, .commit, .abort, .changes, .expanding,
      .export:
      nil
    }
  }

  /// Whether it answers only when the new entries are ready.
  var waitsUntilReady: Bool {
    switch self {
    case .load(_, let waits, _, _, _, _), .append(_, let waits, _, _, _, _), .insert(_, _, let waits, _, _, _, _): waits
    default: false
    }
  }

  /// The paths of what it adds.
  var paths: WireList<FilePath> {
    switch self {
    case .load(let paths, _, _, _, _, _), .append(let paths, _, _, _, _, _), .insert(let paths, _, _, _, _, _, _): paths
    case .replace(_, let path, _, _, _): [path]
    default: []
    }
  }

  fileprivate var isPrecise: Bool {
    switch self {
    case .load(_, _, let precise, _, _, _), .append(_, _, _, let precise, _, _), .insert(_, _, _, _, let precise, _, _),
      .replace(_, _, _, let precise, _):
      precise
    default: false
    }
  }

  var network: NetworkOptions {
    switch self {
    case .load(_, _, _, _, let network, _), .append(_, _, _, _, let network, _),
      .insert(_, _, _, _, _, let network, _),
      .replace(_, _, _, _, let network):
      network
    default: NetworkOptions()
    }
  }

  /// Whether what it adds begins where it was left; nil: it does not say so. What takes another's place plays from its beginning.
  fileprivate var resumes: Bool? {
    switch self {
    case .load(_, _, _, _, _, let resumes), .append(_, _, _, _, _, let resumes), .insert(_, _, _, _, _, _, let resumes):
      resumes
    default: false
    }
  }

  /// How many entries it adds, moves or removes; at least 1.
  fileprivate var changeCount: Int {
    if case .remove(let ids, _) = self { return ids.count }
    return Swift.max(1, paths.count)
  }

  fileprivate var pathByteCount: Int { paths.reduce(network.byteCount) { $0 + $1.bytes.count } }

  /// Whether nothing of the queue stays.
  fileprivate var replacesQueue: Bool {
    switch self {
    case .load, .clear: true
    default: false
    }
  }

  /// By how much the queue is longer afterwards, or than nothing.
  fileprivate var growth: Int {
    switch self {
    case .load, .append, .insert: paths.count
    case .remove(let ids, _): -ids.count
    default: 0
    }
  }

  /// The player's edits that this one is; `items` are its new entries.
  fileprivate func edits(_ items: [PlayerItem]) -> [QueueEdit] {
    switch self {
    case .load: [.removeAll, .append(items)]
    case .append: [.append(items)]
    case .insert(_, let place, _, _, _, _, _): [.insert(items, at: place.place)]
    case .remove(let ids, _): [.remove(ids.map { UInt64($0) })]
    case .move(let id, let place, _): [.move(UInt64(id), to: place.place)]
    case .replace(let id, _, _, _, _): items.map { .replace(UInt64(id), with: $0) }
    case .clear: [.removeAll]
    case .edit, .list, .history, .next, .previous, .jump, .shuffle, .onFailure, .begin, .commit, .abort, .changes,
      .expanding,
      .export:
      []
    }
  }
}

extension QueueCommand.QueuePlace {
  /// The engine's.
  var place: QueuePlace {
    switch self {
    case .next: .next
    case .after(let id): .after(UInt64(id))
    case .before(let id): .before(UInt64(id))
    case .index(let index): .index(index)
    }
  }
}
