import PlayheadControlLoop
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlayback
import PlayheadPlaylists
import PlayheadRecording
import PlayheadSavedState
import PlayheadWholeFiles
import PlayheadWireProtocol

/// A player with its name and the server's data about it.
///
/// Threading: confined to the control loop.
final class NamedPlayer: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, on which the observers that capture it are called.
  let name: String
  /// Whether the player closes with the connection that created it, and is not saved.
  let isTemporary: Bool
  let player: QueuePlayer
  /// Observes the player for all `observe` subscriptions.
  let observer: PlayerObserver
  /// The effects of the player.
  let effects = PlayerEffects()
  /// The numbers of listed entries, for exported playlists with numbered entries.
  var listedCounts = ListedCounts(version: 0)
  private var closeHandlers: [UInt64: () -> Void] = [:]
  private var lastCloseHandlerID: UInt64 = 0

  init(name: String, isTemporary: Bool, player: QueuePlayer, loop: any ControlLoop, log: EventLog) {
    self.name = name
    self.isTemporary = isTemporary
    self.player = player
    observer = PlayerObserver(player, name: name, loop: loop, log: log)
  }

  /// The current state of the player.
  var state: PlayerState { player.onLoop { $0.state } }

  /// Calls `handler` when the player is closed. Returns an id for `removeCloseHandler`.
  func addCloseHandler(_ handler: @escaping () -> Void) -> UInt64 {
    lastCloseHandlerID += 1
    closeHandlers[lastCloseHandlerID] = handler
    return lastCloseHandlerID
  }

  func removeCloseHandler(_ id: UInt64) { closeHandlers[id] = nil }

  /// Whether the player is closed and no longer in the registry.
  private(set) var isClosed = false

  /// Calls the close handlers, and then closes the player.
  fileprivate func close() {
    isClosed = true
    for (_, handler) in closeHandlers.sorted(by: { $0.key < $1.key }) { handler() }
    closeHandlers = [:]
    player.onLoop { $0.close() }
  }
}

/// The daemon's players, and the ids of its queue entries.
///
/// Threading: confined to the control loop.
final class PlayerRegistry {
  /// The player that always exists.
  static let mainName = "main"

  private let engine: PlaybackEngine
  private(set) var policy: ServerPolicy
  private var limits: WireLimits { policy.limits }
  private let log: EventLog
  /// The players in the order of their creation.
  private(set) var players: [NamedPlayer]
  /// The players whose state is saved.
  var savedPlayers: some Sequence<NamedPlayer> { players.lazy.filter { !$0.isTemporary } }
  private var nextItemID: PlayerItem.ID = 1 { didSet { onNextItemIDChange?(nextItemID) } }
  /// Called with the next unused entry id, after each change.
  var onNextItemIDChange: ((PlayerItem.ID) -> Void)?
  /// Called with a created player, or with nil after a player was closed. Not called for restored and temporary
  /// players.
  var onPlayersChange: ((NamedPlayer?) -> Void)?
  /// Called after each edit of a player's queue.
  var onQueueChange: ((NamedPlayer) -> Void)?
  /// Returns the position at which a new item starts, or nil for its beginning. Not set if no state is saved.
  var resumeTime: ((PlayerItem) -> MediaTime?)?
  /// Updates the positions that `resumeTime` returns. Called once for entries that are added together.
  var prepareResumeTimes: (() -> Void)?
  /// The passed descriptors that no command has used yet.
  let descriptors: DescriptorTable

  init(engine: PlaybackEngine, policy: ServerPolicy, log: EventLog) {
    self.engine = engine
    self.policy = policy
    self.log = log
    descriptors = DescriptorTable(loop: engine.loop, limits: policy.limits)
    players = []
    players = [makePlayer(Self.mainName)]
  }

  /// Applies a new policy.
  func apply(_ policy: ServerPolicy) {
    self.policy = policy
    descriptors.limit = policy.limits.descriptorCount
    descriptors.openLimit = policy.limits.openDescriptorCount
    let count = policy.limits.queueChangeCount
    for player in players { player.player.onLoop { $0.setQueueChangeLimit(count) } }
  }

  /// The player with this name.
  ///
  /// - Throws: `no-such-player`.
  func player(_ name: String) throws(MediaError) -> NamedPlayer {
    for player in players where player.name == name { return player }
    throw noSuchPlayerError(name)
  }

  /// The error for an unknown player name.
  func noSuchPlayerError(_ name: String) -> MediaError {
    MediaError(.noSuchPlayer, "unknown player \(name); `player.list` lists the players")
  }

  func hasPlayer(_ name: String) -> Bool { players.contains { $0.name == name } }

  /// Creates a player.
  ///
  /// - Throws: `player-exists` or `too-many-players`.
  @discardableResult
  func create(_ name: String, isTemporary: Bool = false) throws(MediaError) -> NamedPlayer {
    guard !hasPlayer(name) else {
      throw MediaError(.playerExists, "the player \(name) already exists")
    }
    guard players.count < limits.playerCount else {
      throw MediaError(.tooManyPlayers, "the limit of \(limits.playerCount) players is reached")
    }
    let created = makePlayer(name, isTemporary: isTemporary)
    players.append(created)
    if !isTemporary { onPlayersChange?(created) }
    return created
  }

  /// Creates a player of the saved state, or returns the existing one. Ignores the limit, so that no saved player is
  /// lost.
  func restore(_ name: String) -> NamedPlayer {
    for player in players where player.name == name { return player }
    let created = makePlayer(name)
    players.append(created)
    return created
  }

  private func makePlayer(_ name: String, isTemporary: Bool = false) -> NamedPlayer {
    let player = QueuePlayer(engine: engine, name: name)
    let count = limits.queueChangeCount
    player.onLoop { $0.setQueueChangeLimit(count) }
    let named = NamedPlayer(
      name: name, isTemporary: isTemporary, player: player, loop: engine.loop, log: log)
    named.observer.onQueueChange = { [weak self, weak named] in
      if let self, let named { self.onQueueChange?(named) }
    }
    return named
  }

  /// Closes a player.
  ///
  /// - Throws: `no-such-player`, or `invalid-argument` for the main player.
  func close(_ name: String) throws(MediaError) {
    let closing = try player(name)
    guard name != Self.mainName else {
      throw MediaError(.invalidArgument, "the player \(name) cannot be closed")
    }
    close(closing)
  }

  /// Closes a player other than the main player. Has no effect if the player is already closed.
  func close(_ closing: NamedPlayer) {
    guard !closing.isClosed else { return }
    players.removeAll { $0 === closing }
    closing.close()
    if !closing.isTemporary { onPlayersChange?(nil) }
  }

  /// Marks the ids below this one as used.
  func skipItemIDs(to id: PlayerItem.ID) { nextItemID = max(nextItemID, id) }

  /// Creates queue entries, each with the next id. An id is reused only after `discard`, when no client has received
  /// it.
  ///
  /// - Parameter maximumCount: The maximum number of entries. Fewer are created only at the end of `source`.
  func makeItems(_ source: inout EntrySource, maximumCount: Int) -> [PlayerItem] {
    var items: [PlayerItem] = []
    let resumes = source.resumes ?? policy.resumesAtLastPosition
    if resumes { prepareResumeTimes?() }
    // Set once for all items, because each new value is recorded.
    var nextID = nextItemID
    defer { if nextID != nextItemID { nextItemID = nextID } }
    while items.count < maximumCount, let item = source.nextItem(self, id: nextID) {
      if resumes { item.resumeTime = resumeTime?(item) }
      items.append(item)
      nextID += 1
    }
    return items
  }

  /// The options of HTTP requests, from the command and from the daemon's configuration.
  func httpOptions(_ network: NetworkOptions) -> HTTPOptions {
    var options = HTTPOptions(network)
    options.certificateAuthorityFile = policy.certificateAuthorityFile
    options.isNetworkForbidden = !policy.isNetworkAllowed
    options.networkRules = policy.networkRules
    return options
  }

  /// Returns the file that a command writes. For `fd:TOKEN`, claims the descriptor.
  ///
  /// - Parameter userID: The user whose passed descriptors can be claimed. Nil: none.
  /// - Throws: `no-such-descriptor`.
  func outputFile(_ path: FilePath, replaces: Bool, for userID: UInt32?) throws(MediaError) -> WholeFile {
    if let token = path.descriptorToken {
      return WholeFile(try descriptors.claim(token, by: userID).openedFile)
    }
    return WholeFile(
      path: path.bytes, replaces: replaces, hint: "use `replace` to replace it", roots: policy.writableRoots)
  }

  /// Returns the location of a recording. For `fd:TOKEN`, claims the descriptor.
  ///
  /// - Parameter userID: The user whose passed descriptors can be claimed. Nil: none.
  /// - Throws: `no-such-descriptor`.
  func recordingLocation(
    _ path: FilePath, replaces: Bool, for userID: UInt32?
  ) throws(MediaError) -> RecordingLocation {
    if let token = path.descriptorToken {
      return RecordingLocation(try descriptors.claim(token, by: userID).openedFile)
    }
    return RecordingLocation(path: path.bytes, replaces: replaces, roots: policy.writableRoots)
  }

  /// Creates the asset for a path, a URL or a descriptor, and claims the descriptor for it. With an invalid URL or an
  /// unknown descriptor, loading the asset fails.
  ///
  /// - Parameter userID: The user whose passed descriptors can be claimed. Nil: none.
  func makeAsset(_ path: FilePath, _ options: HTTPOptions, precise: Bool, for userID: UInt32?) -> Asset {
    if path.isFile { return Asset(path: path.bytes, options: options, prefersPreciseDuration: precise) }
    do throws(MediaError) {
      if let token = path.descriptorToken {
        return Asset(location: .descriptor(try descriptors.claim(token, by: userID)), prefersPreciseDuration: precise)
      }
      return Asset(url: try HTTPURL(path.text), options: options, prefersPreciseDuration: precise)
    } catch {
      return Asset(name: path.descriptorToken == nil ? "an address" : path.text) { () throws(MediaError) in throw error
      }
    }
  }

  /// Creates a copy of an entry with the next id.
  func makeCopy(of item: PlayerItem) -> PlayerItem {
    defer { nextItemID += 1 }
    return item.copy(id: nextItemID)
  }

  /// Discards a new item whose id no client has received. The id is reused if no later id is in use.
  func discard(_ item: PlayerItem) { reuseIDs(from: item.id, through: item.id) }

  /// Discards prepared edits whose ids no client has received. The ids are reused if no later id is in use, and the
  /// descriptors of entries become available again.
  ///
  /// - Parameters:
  ///   - userID: The user whose descriptors become available. Nil: no descriptor becomes available.
  ///   - target: The player for which the items are reserved. Nil: they are not reserved any more.
  func discard(_ prepared: PreparedEdits, of userID: UInt32?, _ target: NamedPlayer?) {
    target?.player.onLoop { $0.cancel(prepared.reservation) }
    if let userID { for descriptor in prepared.descriptors { descriptors.restore(descriptor, of: userID) } }
    // If other items were created in between, the ids are not reused.
    guard let firstItem = prepared.items.first, let lastItem = prepared.items.last,
      lastItem.id - firstItem.id == PlayerItem.ID(prepared.items.count - 1)
    else { return }
    reuseIDs(from: firstItem.id, through: lastItem.id)
  }

  private func reuseIDs(from first: PlayerItem.ID, through last: PlayerItem.ID) {
    if last + 1 == nextItemID { nextItemID = first }
  }

  /// Checks the length of a queue, in entries and in bytes that describe them. `byteCount` is called only if the number
  /// of entries is allowed.
  ///
  /// - Throws: `queue-too-long`.
  func checkLength(of count: Int, byteCount: (_ limit: Int) -> Int) throws(MediaError) {
    guard count <= limits.queueCount else {
      throw MediaError(.queueTooLong, "a queue can have at most \(limits.queueCount) entries")
    }
    guard byteCount(limits.queueByteCount) <= limits.queueByteCount else {
      throw MediaError(
        .queueTooLong, "the entries of a queue can have at most \(limits.queueByteCount) bytes of paths and options")
    }
  }
}

extension PlayerItem {
  /// The location of the asset, in its form on the wire.
  var wirePath: FieldValue { asset.wirePath }

  /// The location of the asset for replies. Nil for an asset without a location.
  var wireLocation: FilePath? { asset.wireLocation }

  /// The approximate number of bytes of `wirePath`.
  var wirePathByteCount: Int { asset.url?.redacted.utf8.count ?? asset.pathBytes.count }
}

extension QueuePlayer {
  /// Calls the player on the control loop, which is the executor of the actor and runs every handler. Needs no task and
  /// no thread hop.
  nonisolated func onLoop<Value: Sendable>(_ body: (isolated QueuePlayer) -> Value) -> Value { assumeIsolated(body) }

  /// Variant of `onLoop` for a closure that throws.
  nonisolated func tryOnLoop<Value: Sendable>(
    _ body: (isolated QueuePlayer) throws(MediaError) -> Value
  ) throws(MediaError) -> Value {
    do {
      return try assumeIsolated(body)
    } catch let error as MediaError {
      throw error
    } catch {
      // `assumeIsolated` loses the type of the error. `body` only throws `MediaError`.
      preconditionFailure("a player threw \(error)")
    }
  }
}

extension HTTPOptions {
  /// Creates the options that a command specifies.
  init(_ network: NetworkOptions) {
    self.init()
    headers = network.headerFields.map { Header(name: $0.name, value: $0.value) }
    headerScope = network.isHeaderForAny ? .any : .origin
    userAgent = network.userAgent
    isNetworkAllowed = network.isNetworkAllowed
    interfaces = Array(network.interfaces)
    preferredPeakBitRate = network.peakBitRate.map { Int64($0) }
    // At a rate of 1 GHz, a frame index is a number of nanoseconds.
    guard let nanoseconds = network.timeout?.frameIndex(rate: 1_000_000_000, rounding: .towardPositiveInfinity) else {
      return
    }
    let timeout = Duration.nanoseconds(nanoseconds)
    (connectTimeout, firstByteTimeout, stallTimeout) = (timeout, timeout, timeout)
  }
}

extension FilePath {
  /// The location for replies and events: a URL without user name and password.
  var redacted: FilePath {
    guard isAddress else { return self }
    let text = text
    return FilePath(address: (try? HTTPURL(text))?.redacted ?? AddressText.withoutCredentials(text))
  }
}

extension Asset {
  /// The location in its form on the wire: a path, a URL without user name and password, or the name of a descriptor.
  /// Nil for an asset without a location.
  var wireLocation: FilePath? {
    if let url { return FilePath(address: url.redacted) }
    if let descriptor { return FilePath(address: descriptor.name) }
    return FilePath(bytes: pathBytes)
  }

  /// The location as the value of a field; `none` for an asset without a location.
  var wirePath: FieldValue { wireLocation.map(FieldValue.path) ?? .none }
}
