// Making the entries of a large edit takes about a microsecond for each. They are made and claimed for the player in
// slices, one in each turn of the control loop, so that requests of other connections run in between. Only the edit of
// the queue itself, which makes all changes or none, is one piece of work.
import MediaAssets
import MediaCore
import NetworkIO
import Playback
import Playlists
import WireProtocol

/// Makes the entries of an edit's commands.
///
/// Threading: confined to the control loop.
final class SlicedEdit: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, whose jobs carry it.

  /// What is made so far.
  typealias Completion = (Result<MadeEdits, MediaError>) -> Void

  /// The number of entries that one turn of the loop makes. A command without entries counts as one.
  static let sliceLength = 128

  private let registry: PlayerRegistry
  private let target: NamedPlayer
  private let userID: UInt32?
  private let lists: ListExpansion?
  private var commands: WireList<QueueCommand>.Iterator
  /// The command whose entries are being made.
  private var current: (command: QueueCommand, maker: EntrySource)?
  private var made = MadeEdits()

  /// Begins an edit of `target` that consists of some commands.
  ///
  /// - Parameters:
  ///   - lists: The contents of the playlists among the paths.
  ///   - userID: The user whose descriptors the entries may be.
  init(
    _ commands: WireList<QueueCommand>, of target: NamedPlayer, _ lists: ListExpansion? = nil,
    registry: PlayerRegistry, for userID: UInt32?
  ) {
    self.commands = commands.makeIterator()
    (self.target, self.lists, self.registry, self.userID) = (target, lists, registry, userID)
  }

  /// Makes all entries now.
  func makeAll() -> MadeEdits {
    while !makeSlice(reserves: false) {}
    return made
  }

  /// Makes the entries in slices, the first one now, and then calls `completion` on the loop, in another turn.
  ///
  /// - Parameter isCancelled: Asked in each turn: whether the edit is not wanted any more. Then `completion` is not called.
  func start(on loop: any ControlLoop, isCancelled: @escaping () -> Bool, _ completion: @escaping Completion) {
    guard !target.isClosed else {
      discard()
      return completion(.failure(registry.noSuchPlayer(target.name)))
    }
    guard !isCancelled() else { return discard() }
    let isOver = makeSlice(reserves: true)
    let rest = Connection.LoopBound { [self] in
      if !isOver { return start(on: loop, isCancelled: isCancelled, completion) }
      if isCancelled() { discard() } else { completion(.success(made)) }
    }
    loop.execute { rest.body() }
  }

  /// Makes some entries. Returns whether those of all commands are made.
  private func makeSlice(reserves: Bool) -> Bool {
    var remaining = Self.sliceLength
    while remaining > 0 {
      if current == nil {
        guard let command = commands.next() else { return true }
        made.begin(command)
        current = (command, EntrySource(command, registry, lists, for: userID))
        remaining -= 1
      }
      guard let command = current?.command, var maker = current?.maker else { return true }
      current = nil
      let wanted = max(1, remaining)
      let items = registry.makeItems(&maker, count: wanted)
      made.add(items)
      // Entries of no other queue can be claimed.
      if reserves { target.player.onLoop { player in try? player.reserve(items) } }
      remaining -= items.count
      if items.count < wanted { made.end(command) } else { current = (command, maker) }
    }
    return false
  }

  private func discard() { registry.unmake(made.items, of: userID, reservedBy: target) }
}

/// The assets of the entries that a command brings, one after another.
struct EntrySource {
  /// Whether the entries begin where they were left; nil: as the policy says.
  let resumes: Bool?
  private let isPrecise: Bool
  private let options: HTTPOptions
  private let lists: ListExpansion?
  private let userID: UInt32?
  private var paths: WireList<FilePath>.Iterator
  /// The playlist whose entries come next.
  private var list: (entries: IndexingIterator<[PlaylistEntry]>, assets: PlaylistAssets)?

  /// - Parameters:
  ///   - lists: The contents of the playlists among the paths.
  ///   - userID: The user whose descriptors the entries may be.
  init(_ command: QueueCommand, _ registry: PlayerRegistry, _ lists: ListExpansion?, for userID: UInt32?) {
    (resumes, isPrecise) = (command.resumes, command.isPrecise)
    // One value for all entries, which share it: it may be long.
    options = registry.httpOptions(command.network)
    (self.lists, self.userID) = (lists, userID)
    paths = command.paths.makeIterator()
  }

  /// Returns the next asset, and what a playlist says of it; nil at the end.
  mutating func next(_ registry: PlayerRegistry) -> (Asset, PlaylistEntry?)? {
    while true {
      if let entry = list?.entries.next() {
        if let asset = list?.assets.asset(for: entry) { return (asset, entry) }
        continue
      }
      list = nil
      guard let path = paths.next() else { return nil }
      guard let entries = lists?.entries[path] else {
        return (registry.asset(path, options, precise: isPrecise, for: userID), nil)
      }
      list = (
        entries.makeIterator(),
        PlaylistAssets(
          prefersPreciseDuration: isPrecise, options: options, listedAt: path.isAddress ? .url(path.text) : nil)
      )
    }
  }
}

extension QueueCommand {
  /// Whether an edit brings so many entries that they are made in several turns of the loop.
  var isLarge: Bool {
    switch self {
    case .load, .append, .insert: paths.count > SlicedEdit.sliceLength
    // What a part of it brings is only known once that is read.
    case .edit(let commands, _): commands.byteCount > 1_024
    case .expanding: false
    case .remove, .move, .replace, .clear, .list, .history, .next, .previous, .jump, .shuffle, .onFailure, .begin,
      .commit, .abort, .changes, .export:
      false
    }
  }
}
