import MediaAssets
import MediaCore
import NetworkIO
import Playback
import Playlists
import WireProtocol

/// One player by its name, and what the server has to know of it besides.
///
/// Threading: confined to the control loop.
final class NamedPlayer: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop; handlers of observers carry it there.
  let name: String
  let player: QueuePlayer
  /// What lists of the queue number their entries by, as far as it is counted.
  var listedCounts = ListedCounts(version: 0)
  private var closeHandlers: [UInt64: () -> Void] = [:]
  private var nextHandler: UInt64 = 0

  init(name: String, player: QueuePlayer) {
    self.name = name
    self.player = player
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

  fileprivate func close() {
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
  private let limits: WireLimits
  /// In the order in which they were made.
  private(set) var players: [NamedPlayer]
  private var nextItemID: PlayerItem.ID = 1
  /// What was handed over, and waits to be an entry.
  let descriptors: DescriptorTable

  init(engine: PlaybackEngine, limits: WireLimits) {
    self.engine = engine
    self.limits = limits
    descriptors = DescriptorTable(loop: engine.loop, limit: limits.descriptorCount)
    players = [NamedPlayer(name: Self.mainName, player: QueuePlayer(engine: engine, name: Self.mainName))]
  }

  /// Errors: `no-such-player`.
  func player(_ name: String) throws(MediaError) -> NamedPlayer {
    for player in players where player.name == name { return player }
    throw MediaError(.noSuchPlayer, "there is no player \(name); `player.list` lists them")
  }

  /// Errors: `player-exists`, `too-many-players`.
  func create(_ name: String) throws(MediaError) {
    guard !players.contains(where: { $0.name == name }) else {
      throw MediaError(.playerExists, "there is a player \(name) already")
    }
    guard players.count < limits.playerCount else {
      throw MediaError(.tooManyPlayers, "there are \(limits.playerCount) players, and more are not allowed")
    }
    players.append(NamedPlayer(name: name, player: QueuePlayer(engine: engine, name: name)))
  }

  /// Errors: `no-such-player`, `invalid-argument` for the main one.
  func close(_ name: String) throws(MediaError) {
    let closing = try player(name)
    guard name != Self.mainName else {
      throw MediaError(.invalidArgument, "the player \(name) is always there")
    }
    players.removeAll { $0 === closing }
    closing.close()
  }

  /// Makes queue entries, each with the next number. A number is given again only after `unmake`, when nobody has heard
  /// of it.
  func makeItems(_ paths: [FilePath], precise: Bool, network: NetworkOptions, _ lists: ListExpansion? = nil)
    -> [PlayerItem]
  {
    var items: [PlayerItem] = []
    func append(_ asset: Asset, _ entry: PlaylistEntry?) {
      items.append(PlayerItem(asset: asset, timeRange: entry?.range, playlistEntry: entry, id: nextItemID))
      nextItemID += 1
    }
    for path in paths {
      guard let entries = lists?.entries[path] else {
        append(asset(path, network, precise: precise), nil)
        continue
      }
      var assets = PlaylistAssets(prefersPreciseDuration: precise, options: HTTPOptions(network))
      for entry in entries { if let asset = assets.asset(for: entry) { append(asset, entry) } }
    }
    return items
  }

  /// An asset for a path, an address or a descriptor. What is no address after all, or no descriptor any more, is one that fails.
  func asset(_ path: FilePath, _ network: NetworkOptions = NetworkOptions(), precise: Bool) -> Asset {
    if path.isFile {
      return Asset(path: path.bytes, options: HTTPOptions(network), prefersPreciseDuration: precise)
    }
    do throws(MediaError) {
      if let number = path.descriptorNumber {
        return Asset(place: .descriptor(try descriptors.take(number)), prefersPreciseDuration: precise)
      }
      return Asset(url: try HTTPURL(path.text), options: HTTPOptions(network), prefersPreciseDuration: precise)
    } catch {
      return Asset(name: path.descriptorNumber == nil ? "an address" : path.text) { () throws(MediaError) in throw error
      }
    }
  }

  /// The same for a copy of an entry.
  func makeCopy(of item: PlayerItem) -> PlayerItem {
    defer { nextItemID += 1 }
    return item.copy(id: nextItemID)
  }

  /// Items that nobody has heard of are not wanted: their numbers are given again, and their descriptors may be taken again.
  func unmake(_ items: [PlayerItem]) {
    for item in items { if let descriptor = item.asset.descriptor { descriptors.putBack(descriptor) } }
    guard let first = items.first, let last = items.last, last.id + 1 == nextItemID,
      // With those of others in between they are lost.
      last.id - first.id == PlayerItem.ID(items.count - 1)
    else { return }
    nextItemID = first.id
  }

  /// Errors: `queue-too-long` when so many more entries would be too many for the player.
  func checkLength(of count: Int) throws(MediaError) {
    guard count <= limits.queueCount else {
      throw MediaError(.queueTooLong, "a queue has at most \(limits.queueCount) entries")
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
    userAgent = network.userAgent
    isNetworkAllowed = network.isNetworkAllowed
    interfaces = network.interfaces
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
