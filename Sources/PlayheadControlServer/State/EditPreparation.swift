// Creating a queue entry takes about a microsecond. The entries of a large edit are therefore created and reserved for
// the player in slices, one per iteration of the control loop. Requests of other connections run in between. Another
// thread then computes the new queue (`QueuePlayer.perform`).
import PlayheadControlLoop
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlayback
import PlayheadPlaylists
import PlayheadSavedState
import PlayheadWireProtocol

/// Prepares an edit of a queue: creates the entries of its parts, at once or in slices.
///
/// Threading: confined to the control loop.
final class EditPreparation: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop. The closures of the loop's jobs capture it.

  /// Called with the prepared edits, or with the error if the player is closed.
  typealias Completion = (Result<PreparedEdits, MediaError>) -> Void

  /// The number of entries that are created in one loop iteration. Each requested edit counts as one more.
  static let sliceLength = 128

  private let registry: PlayerRegistry
  private let target: NamedPlayer
  private let userID: UInt32?
  private var expansion: PlaylistExpansion?
  private var edits: WireList<RequestedEdit>.Iterator
  /// The version of the queue that positions refer to.
  private let version: UInt64
  /// The edit whose entries are being created.
  private var current: (edit: RequestedEdit, source: EntrySource)?
  private var prepared = PreparedEdits()
  /// Whether the entries of all edits exist.
  private var isComplete = false

  /// Creates the preparation of an edit of the queue of `target`.
  ///
  /// - Parameters:
  ///   - expansion: The contents of the playlists among the paths.
  ///   - userID: The user whose passed descriptors the entries may use.
  init(
    _ edits: WireList<RequestedEdit>, of target: NamedPlayer, _ expansion: PlaylistExpansion? = nil,
    registry: PlayerRegistry, for userID: UInt32?
  ) {
    (self.edits, version) = (edits.makeIterator(), target.state.queueVersion)
    (self.target, self.expansion, self.registry, self.userID) = (target, expansion, registry, userID)
  }

  /// Creates the preparation of an edit that replaces the queue of `target` by saved entries.
  init(saved entries: [StoredEntry], of target: NamedPlayer, registry: PlayerRegistry) {
    let edits: WireList<RequestedEdit> = []
    (self.edits, self.target, self.registry) = (edits.makeIterator(), target, registry)
    (expansion, userID, version) = (nil, nil, target.state.queueVersion)
    let edit = RequestedEdit.load(RequestedEdit.NewEntries([]))
    prepared.begin(edit)
    current = (edit, EntrySource(saved: entries, registry.policy))
  }

  /// Creates all entries in this call. They are not reserved.
  ///
  /// - Throws: `no-such-item` if an edit refers to a position that the queue does not have.
  func makeAll() throws(MediaError) -> PreparedEdits { try makeAll(reserves: false) }

  /// Creates and reserves all entries in this call.
  ///
  /// - Throws: `no-such-item` if an edit refers to a position that the queue does not have.
  func makeAllReserved() throws(MediaError) -> PreparedEdits { try makeAll(reserves: true) }

  private func makeAll(reserves: Bool) throws(MediaError) -> PreparedEdits {
    do throws(MediaError) {
      while try !makeSlice(reserves: reserves) {}
    } catch {
      discard()
      throw error
    }
    return prepared
  }

  /// Creates the entries in slices, the first one in a later loop iteration. Then calls `completion`. Calls it in this
  /// call with `no-such-player` if the player is closed.
  ///
  /// - Parameter isCancelled: Returns whether the edit is cancelled. Called in each iteration. After a cancellation the
  ///   entries are discarded, and `completion` is not called.
  func start(on loop: any ControlLoop, isCancelled: @escaping () -> Bool, _ completion: @escaping Completion) {
    guard !target.isClosed else {
      discard()
      return completion(.failure(registry.noSuchPlayerError(target.name)))
    }
    let continuation = ControlLoopClosure { [self] in
      guard !isCancelled() else { return discard() }
      guard !isComplete else { return completion(.success(prepared)) }
      do throws(MediaError) { isComplete = try makeSlice(reserves: true) } catch {
        discard()
        return completion(.failure(error))
      }
      if isComplete, let expansion {
        self.expansion = nil
        DiscardedValue(expansion).freeOnAnotherThread()
      }
      start(on: loop, isCancelled: isCancelled, completion)
    }
    loop.execute { continuation.body() }
  }

  /// Creates the entries of one slice. Returns true when the entries of all edits exist.
  ///
  /// - Parameter reserves: Whether the entries are reserved for the player.
  private func makeSlice(reserves: Bool) throws(MediaError) -> Bool {
    var remaining = Self.sliceLength
    while remaining > 0 {
      if current == nil {
        guard let next = edits.next() else { return true }
        let edit = try target.resolved(next, version)
        prepared.begin(edit)
        current = (edit, EntrySource(edit, registry, expansion, for: userID))
        remaining -= 1
      }
      guard let edit = current?.edit, var source = current?.source else { return true }
      current = nil
      let count = max(1, remaining)
      let items = registry.makeItems(&source, maximumCount: count)
      prepared.add(items)
      if reserves { prepared.reserve(items, for: target) }
      remaining -= items.count
      guard items.count < count else {
        current = (edit, source)
        continue
      }
      prepared.end(edit)
      // The source of a saved queue has all of its entries.
      if source.isSaved { DiscardedValue(consume source).freeOnAnotherThread() }
    }
    return false
  }

  private func discard() { registry.discard(prepared, of: userID, target) }
}

/// The assets of the entries that an edit adds, one after another.
struct EntrySource: Sendable {
  /// Whether the entries start at their last position. Nil: as in the policy.
  let resumes: Bool?
  private let isPrecise: Bool
  /// The title of the entry; nil for several entries.
  private let title: String?
  private let options: HTTPOptions
  private let expansion: PlaylistExpansion?
  private let userID: UInt32?
  private var paths: WireList<FilePath>.Iterator
  /// The playlist whose entries come next.
  private var playlist: (entries: IndexingIterator<[PlaylistEntry]>, assets: PlaylistAssets)?
  /// The saved entries that come next.
  private var saved: (entries: IndexingIterator<[StoredEntry]>, maker: EntryMaker)?

  /// - Parameters:
  ///   - expansion: The contents of the playlists among the paths.
  ///   - userID: The user whose passed descriptors the entries may use.
  init(_ edit: RequestedEdit, _ registry: PlayerRegistry, _ expansion: PlaylistExpansion?, for userID: UInt32?) {
    let new = edit.newEntries ?? RequestedEdit.NewEntries([], resumes: false)
    (resumes, isPrecise, title) = (new.resumes, new.isPrecise, new.title)
    // All entries share this value, because it may be large.
    options = registry.httpOptions(new.network)
    (self.expansion, self.userID) = (expansion, userID)
    paths = new.paths.makeIterator()
  }

  /// Creates the source of saved entries, which start where they were saved.
  init(saved entries: [StoredEntry], _ policy: ServerPolicy) {
    (resumes, isPrecise, title, options, expansion, userID) = (false, false, nil, HTTPOptions(), nil, nil)
    paths = WireList<FilePath>([]).makeIterator()
    saved = (entries.makeIterator(), EntryMaker(policy))
  }

  /// Whether the entries are those of a saved queue.
  var isSaved: Bool { saved != nil }

  /// Creates the next item. Nil at the end.
  mutating func nextItem(_ registry: PlayerRegistry, id: PlayerItem.ID) -> PlayerItem? {
    if let entry = saved?.entries.next() { return saved?.maker.makeItem(entry, id: id) }
    return next(registry).map { PlayerItem(asset: $0, timeRange: $1?.range, playlistEntry: $1, title: title, id: id) }
  }

  /// Returns the next asset with its playlist entry, if any. Nil at the end.
  private mutating func next(_ registry: PlayerRegistry) -> (Asset, PlaylistEntry?)? {
    while true {
      if let entry = playlist?.entries.next() {
        if let asset = playlist?.assets.asset(for: entry) { return (asset, entry) }
        continue
      }
      playlist = nil
      guard let path = paths.next() else { return nil }
      guard let entries = expansion?.entries[path] else {
        return (registry.makeAsset(path, options, precise: isPrecise, for: userID), nil)
      }
      playlist = (
        entries.makeIterator(),
        PlaylistAssets(
          prefersPreciseDuration: isPrecise, options: options, playlistLocation: path.isAddress ? .url(path.text) : nil)
      )
    }
  }
}
