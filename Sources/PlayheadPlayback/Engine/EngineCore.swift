import Logging
import PlayheadControlLoop
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio
import Synchronization

/// The state of a `PlaybackEngine`: one control loop, one output, and the players on it.
///
/// Threading: all members except `loop` on the control loop.
package final class EngineCore: @unchecked Sendable {
  // `@unchecked Sendable`: confined to `loop`, except for constants.
  package let loop: any ControlLoop
  let logger: Logger
  let output: Output
  /// The wall clock, for starts at a date.
  package let wallClock: any WallClock
  /// Whether time passes only through `VirtualControlLoop.advance`.
  let isVirtual: Bool
  /// Whether virtual time waits for decoders. Tests of late decoders set it to false.
  var waitsForDecoders = true
  /// Opens the items of players that are created from now on, on their decode threads.
  var openDecoder: DecodeWorker.Opener = { source throws(MediaError) in try ItemDecoder(source) }
  /// The capacity of the streams that are created from now on, in milliseconds: decoded audio, and audio that is
  /// rendered but not heard. Tests whose decoding takes long set a lower value, of at least 1,000.
  ///
  /// The decode thread resumes when half of the capacity is free. Therefore at least 2 s are decoded ahead by default,
  /// across several items if they are short. The rendered audio that is not heard yet is in addition to this.
  package var streamMilliseconds = 4_500
  private var players: [ObjectIdentifier: PlayerCore] = [:]
  private var outputObservers: [(token: ObserverToken, handler: @Sendable (OutputState) -> Void)] = []
  private var routeObservers: [(token: ObserverToken, handler: @Sendable (OutputEvent) -> Void)] = []
  private let nextToken = Atomic<ObserverToken>(1)
  var loader: ItemLoader
  /// The record of items that are being opened; nil by default. Applies to items that are opened from now on.
  package var openingRecord: (any OpeningRecord)? { didSet { loader.openingRecorder.record = openingRecord } }
  /// Joint starts and joint rate changes that have not finished.
  var groups: [any PendingGroup] = []
  /// The maximum interval between successive calls that are applied together to several players. 0 in virtual time,
  /// where such calls happen at one instant.
  var coalescingNanoseconds: Int64
  private(set) lazy var startGate = StartGate(engine: self)
  private(set) lazy var rateCoalescer = RateChangeCoalescer(engine: self)
  /// The audio session: how playback shares the output with other programs.
  package private(set) lazy var session = SessionCore(engine: self)
  /// The output frame at which `AudioPlayer.deviceCurrentTime` is zero.
  var deviceTimeOrigin: Int64 = 0

  init(loop: any ControlLoop, output configuration: OutputConfiguration, logger: Logger) {
    self.loop = loop
    self.logger = logger
    output = Output(loop: loop, configuration: configuration, logger: logger)
    isVirtual = loop is VirtualControlLoop
    wallClock = (loop as? VirtualControlLoop)?.wallClock ?? SystemWallClock(loop: loop)
    coalescingNanoseconds = isVirtual ? 0 : 20_000_000
    var limits = ItemLoader.Limits()
    // One item is opened at a time, so that the order of events is reproducible in virtual time.
    if isVirtual { limits.slotCount = 1 }
    loader = ItemLoader(loop: loop, limits: limits)
    output.onStateChange = { [weak self] state in
      for observer in self?.outputObservers ?? [] { observer.handler(state) }
      self?.reportProgress()
    }
    output.onEvent = { [weak self] event in for observer in self?.routeObservers ?? [] { observer.handler(event) } }
    output.onOpeningEnded = { [weak self] in self?.reportProgress() }
    output.role = { [weak self] in self?.session.role ?? .music }
    output.onSharing = { [weak self] in self?.session.handle($0) }
    output.onSessionEnded = { [weak self] in self?.session.outputLost() }
    // Created before other threads can use the engine.
    _ = session
    if let virtual = loop as? VirtualControlLoop {
      virtual.handleOutputEvents = { [weak self] in self?.output.pump() }
      virtual.isSettled = { [weak self] in self?.isSettled ?? true }
    }
  }

  /// Starts to open the output. Players that exist already wait for it.
  package func open() { output.open() }

  /// Posts the commands of `body` to the mixer in one batch: they take effect at the same output frame.
  package func batch(_ body: () -> Void) { output.batch(body) }

  /// Starts to open the output. `completion` is called once, on the loop, when the output is open, or with the error if
  /// players have no output.
  package func open(completion: @escaping @Sendable (MediaError?) -> Void) {
    let token = makeToken()
    outputObservers.append(
      (
        token,
        { [weak self] state in
          guard state.status != .opening else { return }
          self?.dropOutputObserver(token)
          completion(state.error)
        }
      ))
    open()
  }

  /// The device and its state.
  package var outputState: OutputState { output.state }

  /// The device that plays, and its port.
  package var route: AudioRoute { output.tracker.route }

  /// The devices of the sound server; nil while no server is available, and for outputs of another kind.
  package var devices: AudioDevices? { output.chooser.devices }

  /// The selected device, and the policy for its loss.
  package var outputSelection: OutputSelection { output.chooser.selection }

  /// Selects the device. An available device is opened at once, and the change loses no sample. `outputState` and the
  /// route report it.
  ///
  /// - Throws: then nothing changes.
  ///   - `noSuchDevice`
  ///   - `outputUnavailable` if a device is named and no sound server is available
  ///   - `outputConfiguration` if the engine's output has no selectable devices
  package func selectOutput(_ selection: OutputSelection) throws(MediaError) { try output.select(selection) }

  /// Calls `handler` with each event of devices and routes, synchronously, on the loop.
  package func addRouteObserver(_ handler: @escaping @Sendable (OutputEvent) -> Void) -> ObserverToken {
    let token = makeToken()
    routeObservers.append((token, handler))
    return token
  }

  /// The number of samples beyond full scale that were heard, on all devices of the output so far. The sum of the
  /// players is not limited, and a device without headroom clips it.
  package var clippedSampleCount: Int { output.clippedSampleCount }

  /// Calls `handler` with each change of `outputState`, synchronously, on the loop.
  package func addOutputObserver(_ handler: @escaping @Sendable (OutputState) -> Void) -> ObserverToken {
    let token = makeToken()
    outputObservers.append((token, handler))
    return token
  }

  /// Removes an output or route observer, which is not called any more.
  ///
  /// - Throws: `noSuchObserver`.
  package func removeOutputObserver(_ token: ObserverToken) throws(MediaError) {
    guard dropOutputObserver(token) else {
      throw MediaError(.noSuchObserver, "unknown observer \(token)", operation: "removeOutputObserver")
    }
  }

  /// Removes an output or route observer. Returns false if there is no such observer.
  @discardableResult
  private func dropOutputObserver(_ token: ObserverToken) -> Bool {
    let count = outputObservers.count + routeObservers.count
    outputObservers.removeAll { $0.token == token }
    routeObservers.removeAll { $0.token == token }
    return outputObservers.count + routeObservers.count < count
  }

  /// Closes all players and the output. `completion` is called on the loop when the device is closed.
  package func close(completion: @escaping @Sendable () -> Void) {
    for player in players.values { player.close() }
    loader.close()
    session.close()
    output.close(completion: completion)
  }

  // MARK: - For players

  func register(_ player: PlayerCore) {
    players[ObjectIdentifier(player)] = player
    output.add(player)
  }

  func unregister(_ player: PlayerCore) {
    players[ObjectIdentifier(player)] = nil
    output.remove(player)
  }

  /// Handles the first item of a player that had none. If no other player has items, the device's time restarts.
  func firstItemWasAdded(to player: PlayerCore) {
    guard !anyPlayer({ $0 !== player && !$0.machine.entries.isEmpty }) else { return }
    deviceTimeOrigin = output.heardFrame
  }

  /// All players, sorted by name.
  var allPlayers: [PlayerCore] { players.values.sorted { $0.name < $1.name } }

  func anyPlayer(_ predicate: (PlayerCore) -> Bool) -> Bool { players.values.contains(where: predicate) }

  func makeToken() -> ObserverToken { nextToken.wrappingAdd(1, ordering: .relaxed).oldValue }

  func load(
    _ item: PlayerItem, for player: PlayerCore,
    completion: @escaping @Sendable (Result<AssetProperties, MediaError>) -> Void
  ) {
    loader.load(item, for: player) { [weak self] result in
      completion(result)
      self?.reportProgress()
    }
  }

  /// Opens these items before all others, in this order.
  func prioritizeLoading(_ items: [PlayerItem], of player: PlayerCore) { loader.prioritize(items, of: player) }

  /// Cancels the loading of an item that is not needed any more.
  func cancelLoading(_ item: PlayerItem) {
    loader.cancel(item)
    reportProgress()
  }

  // MARK: - Virtual time

  /// Whether time may pass: the output, the players, groups and the loader have no pending work.
  private var isSettled: Bool {
    if output.isOpening || output.state.status == .opening { return false }
    guard groups.allSatisfy(\.isSettled) else { return false }
    guard waitsForDecoders else { return true }
    return !loader.isBusy && players.values.allSatisfy(\.isSettled)
  }

  /// Reports an event for which virtual time may wait.
  func reportProgress() { (loop as? VirtualControlLoop)?.continueAdvancing() }
}
