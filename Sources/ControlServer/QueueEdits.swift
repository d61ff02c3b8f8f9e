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

  fileprivate init(_ commands: [QueueCommand]) {
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
  fileprivate var commands: [QueueCommand] = []
  fileprivate var size = EditSize()
}

/// Edits of the queue: single ones, several at once, and those that are gathered.
extension Connection {
  // MARK: - Making edits

  /// Makes an edit and answers the new entries.
  func edit(_ command: QueueCommand, on target: NamedPlayer) throws(MediaError) -> [PlayerItem] {
    if case .edit(let commands, let version) = command { return try make(commands, ifVersion: version, on: target) }
    return try make([command], ifVersion: command.ifVersion, on: target)
  }

  static func edited(_ items: [PlayerItem], _ target: NamedPlayer) -> Reply {
    var fields = Fields()
    if !items.isEmpty { fields.append("items", .integers(items.map(\.id))) }
    fields.append("version", .int(target.state.queueVersion))
    return .ok(fields)
  }

  /// Makes all of the edits or none; answers the new entries.
  private func make(
    _ commands: [QueueCommand], ifVersion version: Int?, on target: NamedPlayer
  ) throws(MediaError) -> [PlayerItem] {
    let registry = server.registry
    try check(version, of: target)
    var count = target.state.itemCount
    for command in commands { count = command.count(after: count) }
    try registry.checkLength(of: count)
    var items: [PlayerItem] = []
    let edits = commands.flatMap {
      $0.edits {
        items += $0
      } made: {
        registry.makeItems($0, precise: $1)
      }
    }
    do throws(MediaError) {
      try target.player.tryOnLoop { player throws(MediaError) in
        if commands.count == 1, case .load? = commands.first {
          try player.replaceAll(with: items)
        } else {
          try player.edit(edits)
        }
      }
    } catch {
      registry.unmake(items)
      throw error
    }
    return items
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
    let commands = if case .edit(let commands, _) = command { commands } else { [command] }
    let (added, limits) = (EditSize(commands), server.limits)
    try (size + added).check(limits.editCount, limits.editByteCount, "an edit has")
    try (server.gathered + added).check(
      limits.gatheredCount, limits.gatheredByteCount, "the edits that are gathered on all connections have")
    gathering?.commands.append(contentsOf: commands)
    gathering?.size = size + added
    server.gathered = server.gathered + added
    return .ok(["pending": .int(gathering?.commands.count ?? 0)])
  }

  /// Gathers no more; answers what was gathered, if it was.
  @discardableResult
  func endGathering() -> QueueGathering? {
    guard let open = gathering else { return nil }
    gathering = nil
    open.target.removeCloseHandler(open.closeHandler)
    server.gathered = server.gathered - open.size
    return open
  }

  /// Errors: `invalid-state` when no edit of this player was begun.
  func takeGathering(of target: NamedPlayer, _ operation: String) throws(MediaError) -> QueueGathering {
    guard gathering?.target === target, let open = endGathering() else {
      throw MediaError(
        .invalidState, "no edit of \(target.name) was begun on this connection", operation: operation)
    }
    return open
  }

  func commit(on target: NamedPlayer) throws(MediaError) -> Reply {
    let open = try takeGathering(of: target, "queue.commit")
    return Self.edited(try make(open.commands, ifVersion: open.ifVersion, on: target), target)
  }
}

extension QueueCommand {
  /// Whether it can be a part of an edit.
  fileprivate var isEdit: Bool {
    switch self {
    case .load, .append, .insert, .remove, .move, .replace, .clear, .edit: true
    case .list, .history, .next, .previous, .jump, .shuffle, .onFailure, .begin, .commit, .abort: false
    }
  }

  /// The version that the queue must have for an edit.
  fileprivate var ifVersion: Int? {
    switch self {
    case .load(_, _, _, let version), .append(_, _, let version, _), .insert(_, _, _, let version, _),
      .remove(_, let version), .move(_, _, let version), .replace(_, _, let version, _), .clear(let version),
      .edit(_, let version):
      version
    case .list, .history, .next, .previous, .jump, .shuffle, .onFailure, .begin, .commit, .abort: nil
    }
  }

  private var paths: [FilePath] {
    switch self {
    case .load(let paths, _, _, _), .append(let paths, _, _, _), .insert(let paths, _, _, _, _): paths
    case .replace(_, let path, _, _): [path]
    default: []
    }
  }

  /// How many entries it adds, moves or removes; at least 1.
  fileprivate var changeCount: Int {
    if case .remove(let ids, _) = self { return ids.count }
    return Swift.max(1, paths.count)
  }

  fileprivate var pathByteCount: Int { paths.reduce(0) { $0 + $1.bytes.count } }

  /// How long a queue of `count` entries is behind this edit, should it be possible.
  fileprivate func count(after count: Int) -> Int {
    switch self {
    case .load: paths.count
    case .clear: 0
    case .append, .insert: count + paths.count
    case .remove(let ids, _): Swift.max(0, count - ids.count)
    default: count
    }
  }

  /// The player's edits that this one is. `note` gets the new items, which `made` makes.
  fileprivate func edits(
    _ note: ([PlayerItem]) -> Void, made: ([FilePath], _ precise: Bool) -> [PlayerItem]
  ) -> [QueueEdit] {
    func new(_ precise: Bool) -> [PlayerItem] {
      let items = made(paths, precise)
      note(items)
      return items
    }
    switch self {
    case .load(_, _, let precise, _): return [.removeAll, .append(new(precise))]
    case .append(_, _, _, let precise): return [.append(new(precise))]
    case .insert(_, let place, _, _, let precise): return [.insert(new(precise), at: place.place)]
    case .remove(let ids, _): return [.remove(ids.map { UInt64($0) })]
    case .move(let id, let place, _): return [.move(UInt64(id), to: place.place)]
    case .replace(let id, _, _, let precise): return new(precise).map { .replace(UInt64(id), with: $0) }
    case .clear: return [.removeAll]
    case .edit, .list, .history, .next, .previous, .jump, .shuffle, .onFailure, .begin, .commit, .abort: return []
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
