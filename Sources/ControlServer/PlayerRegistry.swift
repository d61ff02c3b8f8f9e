import MediaAssets
import MediaCore
import NetworkIO
import Playback
import Playlists
import SavedState
import WireProtocol

/// One player by its name, and what the server has to know of it besides.
///
/// Threading: confined to the control loop.
final class NamedPlayer: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop; handlers of observers carry it there.
  let name: String
  let player: QueuePlayer
  /// Those who observe it.
  let watch: PlayerWatch
  /// What lists of the queue number their entries by, as far as it is counted.
  var listedCounts = ListedCounts(version: 0)
  private var closeHandlers: [UInt64: () -> Void] = [:]
  private var nextHandler: UInt64 = 0

  init(name: String, player: QueuePlayer, log: EventLog) {
    self.name = name
    self.player = player
    watch = PlayerWatch(player, name: name, log: log)
  }

  /// Every public fact of the player, now.
  var state: PlayerState { player.onLoop { $0.state } }

  /// Calls `handler` when the player is closed; the number ends that.
  func onClose(_ handler: @escaping () -> Void) -> UInt64 {
    nextHandler += 1
    closeHandlers[nextHandler] = handler
    return nextHandler
  }

  func removeCloseHandler(_ number: UInt64) { closeHandlers[number] = nil }

  /// Whether the player is closed: it is not among the registry's any more.
  private(set) var isClosed = false

  fileprivate func close() {
    isClosed = true
    for (_, handler) in closeHandlers.sorted(by: { $0.key < $1.key }) { handler() }
    closeHandlers = [:]
    player.onLoop { $0.close() }
  }
}

/// The daemon's players, and the numbers of its queue entries.
///
/// Threading: confined to the control loop.
final class PlayerRegistry {
  /// The player that is always there.
  static let mainName = "main"

  private let engine: PlaybackEngine
  private var policy: ServerPolicy
  private var limits: WireLimits { policy.limits }
  private let log: EventLog
  /// In the order in which they were made.
  private(set) var players: [NamedPlayer]
  private var nextItemID: PlayerItem.ID = 1 { didSet { onNextItemID?(nextItemID) } }
  /// Called with the first number that no entry has had, whenever that is another one.
  var onNextItemID: ((PlayerItem.ID) -> Void)?
  /// Called with a player that was made, or nil when one was closed.
  var onPlayersChange: ((NamedPlayer?) -> Void)?
  /// Where an item begins that is to begin where it was left; nil: at its beginning.
  var placeToResume: ((PlayerItem) -> MediaTime?)?
  /// Called before that is asked for entries that come together.
  var onResume: (() -> Void)?
  /// What was handed over, and waits to be an entry.
  let descriptors: DescriptorTable

  init(engine: PlaybackEngine, policy: ServerPolicy, log: EventLog) {
    self.engine = engine
    self.policy = policy
    self.log = log
    descriptors = DescriptorTable(loop: engine.loop, limits: policy.limits)
    players = []
    players = [makePlayer(Self.mainName)]
  }

  /// Allows something else from now on.
  func apply(_ policy: ServerPolicy) {
    self.policy = policy
    descriptors.limit = policy.limits.descriptorCount
    descriptors.openLimit = policy.limits.openDescriptorCount
    let count = policy.limits.queueChangeCount
    for player in players { player.player.onLoop { $0.setQueueChangeLimit(count) } }
  }

  /// Errors: `no-such-player`.
  func player(_ name: String) throws(MediaError) -> NamedPlayer {
    for player in players where player.name == name { return player }
    throw noSuchPlayer(name)
  }

  /// The error for a name that no player has.
  func noSuchPlayer(_ name: String) -> MediaError {
    MediaError(.noSuchPlayer, "there is no player \(name); `player.list` lists them")
  }

  /// Errors: `player-exists`, `too-many-players`.
  func create(_ name: String) throws(MediaError) {
    guard !players.contains(where: { $0.name == name }) else {
      throw MediaError(.playerExists, "there is a player \(name) already")
    }
    guard players.count < limits.playerCount else {
      throw MediaError(.tooManyPlayers, "there are \(limits.playerCount) players, and more are not allowed")
    }
    let made = makePlayer(name)
    players.append(made)
    onPlayersChange?(made)
  }

  /// A player that was there before the daemon ended, made again: however many are allowed now, none is lost.
  func restore(_ name: String) -> NamedPlayer {
    for player in players where player.name == name { return player }
    let made = makePlayer(name)
    players.append(made)
    return made
  }

  private func makePlayer(_ name: String) -> NamedPlayer {
    let player = QueuePlayer(engine: engine, name: name)
    let count = limits.queueChangeCount
    player.onLoop { $0.setQueueChangeLimit(count) }
    return NamedPlayer(name: name, player: player, log: log)
  }

  /// Errors: `no-such-player`, `invalid-argument` for the main one.
  func close(_ name: String) throws(MediaError) {
    let closing = try player(name)
    guard name != Self.mainName else {
      throw MediaError(.invalidArgument, "the player \(name) is always there")
    }
    players.removeAll { $0 === closing }
    closing.close()
    onPlayersChange?(nil)
  }

  /// Numbers below this one have been used.
  func skipItemIDs(to id: PlayerItem.ID) { nextItemID = max(nextItemID, id) }

  /// Makes queue entries, each with the next number. A number is given again only after `unmake`, when no client has
  /// received its id.
  ///
  /// - Parameter count: The maximum number of entries. Fewer are made only at the end of `source`.
  func makeItems(_ source: inout EntrySource, count: Int) -> [PlayerItem] {
    var items: [PlayerItem] = []
    let resumes = source.resumes ?? policy.resumesWhereLeft
    if resumes { onResume?() }
    // Each new value is put on record: once for all items.
    var nextID = nextItemID
    defer { if nextID != nextItemID { nextItemID = nextID } }
    while items.count < count, let (asset, entry) = source.next(self) {
      let item = PlayerItem(asset: asset, timeRange: entry?.range, playlistEntry: entry, id: nextID)
      if resumes { item.resumeTime = placeToResume?(item) }
      items.append(item)
      nextID += 1
    }
    return items
  }

  /// Makes entries of what was saved of others, each with the next number.
  func makeItems(_ stored: [StoredEntry]) -> [PlayerItem] {
    var maker = EntryMaker(policy)
    let first = nextItemID
    nextItemID += PlayerItem.ID(stored.count)
    return stored.enumerated().map { maker.item($0.element, id: first + PlayerItem.ID($0.offset)) }
  }

  /// How servers are asked: as a command says, and the daemon's configuration.
  func httpOptions(_ network: NetworkOptions) -> HTTPOptions {
    var options = HTTPOptions(network)
    options.certificateAuthorityFile = policy.certificateAuthorityFile
    options.isNetworkForbidden = !policy.isNetworkAllowed
    options.networkRules = policy.networkRules
    return options
  }

  /// An asset for a path, an address or a descriptor. What is no address after all, or no descriptor any more, is one that fails.
  func asset(_ path: FilePath, _ options: HTTPOptions, precise: Bool, for userID: UInt32?) -> Asset {
    if path.isFile { return Asset(path: path.bytes, options: options, prefersPreciseDuration: precise) }
    do throws(MediaError) {
      if let token = path.descriptorToken {
        return Asset(place: .descriptor(try descriptors.take(token, by: userID)), prefersPreciseDuration: precise)
      }
      return Asset(url: try HTTPURL(path.text), options: options, prefersPreciseDuration: precise)
    } catch {
      return Asset(name: path.descriptorToken == nil ? "an address" : path.text) { () throws(MediaError) in throw error
      }
    }
  }

  /// The same for a copy of an entry.
  func makeCopy(of item: PlayerItem) -> PlayerItem {
    defer { nextItemID += 1 }
    return item.copy(id: nextItemID)
  }

  /// Discards items whose ids no client has received. Their ids are reused, and their descriptors can be claimed
  /// again.
  ///
  /// - Parameter target: The player that they may be reserved for.
  func unmake(_ items: [PlayerItem], of userID: UInt32?, reservedBy target: NamedPlayer? = nil) {
    target?.player.onLoop { $0.cancelReservation(of: items) }
    if let userID {
      for item in items { if let descriptor = item.asset.descriptor { descriptors.putBack(descriptor, of: userID) } }
    }
    guard let first = items.first, let last = items.last, last.id + 1 == nextItemID,
      // With those of others in between they are lost.
      last.id - first.id == PlayerItem.ID(items.count - 1)
    else { return }
    nextItemID = first.id
  }

  /// Checks the length of a queue, in entries and in bytes that describe them. `byteCount` is called for a queue of few
  /// enough entries.
  /// - Throws: `queue-too-long`.
  func checkLength(of count: Int, byteCount: () -> Int) throws(MediaError) {
    guard count <= limits.queueCount else {
      throw MediaError(.queueTooLong, "a queue has at most \(limits.queueCount) entries")
    }
    guard byteCount() <= limits.queueByteCount else {
      throw MediaError(
        .queueTooLong, "the entries of a queue have at most \(limits.queueByteCount) bytes of paths and options")
    }
  }
}

extension PlayerItem {
  /// The file, or the address without user name and password, as the wire writes it.
  var wirePath: FieldValue { asset.wirePath }

  /// About how many bytes that has.
  var wirePathByteCount: Int { asset.url?.redacted.utf8.count ?? asset.path.count }
}

extension QueuePlayer {
  /// Calls the player where its actor runs: on the control loop, where every handler is. No task, no hop.
  nonisolated func onLoop<Value: Sendable>(_ body: (isolated QueuePlayer) -> Value) -> Value { assumeIsolated(body) }

  /// The same for what can fail.
  nonisolated func tryOnLoop<Value: Sendable>(
    _ body: (isolated QueuePlayer) throws(MediaError) -> Value
  ) throws(MediaError) -> Value {
    do {
      return try assumeIsolated(body)
    } catch let error as MediaError {
      throw error
    } catch {
      // `assumeIsolated` loses the type of what it passes on; nothing else can come from `body`.
      preconditionFailure("a player threw \(error)")
    }
  }
}

extension HTTPOptions {
  /// What a command says.
  init(_ network: NetworkOptions) {
    self.init()
    headers = network.headerFields.map { Header(name: $0.name, value: $0.value) }
    headerScope = network.isHeaderForAny ? .any : .origin
    userAgent = network.userAgent
    isNetworkAllowed = network.isNetworkAllowed
    interfaces = Array(network.interfaces)
    preferredPeakBitRate = network.peakBitRate.map { Int64($0) }
    // As long as may be said, in nanoseconds.
    guard let nanoseconds = network.timeout?.frameIndex(rate: 1_000_000_000, rounding: .towardPositiveInfinity) else {
      return
    }
    let timeout = Duration.nanoseconds(nanoseconds)
    (connectTimeout, firstByteTimeout, stallTimeout) = (timeout, timeout, timeout)
  }
}

extension Asset {
  /// Where it is, as the wire writes it: a path, or an address without user name and password.
  var wirePath: FieldValue {
    if let url { return .path(FilePath(address: url.redacted)) }
    if let descriptor { return .string(descriptor.name) }
    return FilePath(bytes: path).map(FieldValue.path) ?? FieldValue.none
  }
}
