import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio
import Synchronization

/// Plays one audio file, or audio data in memory, like AVAudioPlayer.
///
/// <!-- listing: audio-player -->
/// ```swift
/// let chime = try AudioPlayer(data: bytes)
/// chime.numberOfLoops = 2
/// chime.handlers.didFinishPlaying = { hasFinished in print(hasFinished) }
/// chime.play()
/// ```
///
/// Every call returns immediately. The player plays on an engine. Players on the same engine start on the same sample
/// if they get the same time (``play(atTime:)``).
///
/// Threading: any thread. A call waits for the engine's control loop, which never blocks. Handlers run on that loop and
/// may call the player.
public final class AudioPlayer: Sendable {
  /// The handlers of AVAudioPlayerDelegate's notifications. They run on the engine's control loop and must not block:
  /// see ``PlaybackEngine/loop``.
  public struct Handlers: Sendable {
    /// Called when playback reaches its end (true) or breaks off (false). Not called for ``stop()`` and ``pause()``.
    public var didFinishPlaying: (@Sendable (_ successfully: Bool) -> Void)?
    /// Called with the decoding error, before `didFinishPlaying(false)`.
    public var decodeErrorDidOccur: (@Sendable (MediaError) -> Void)?

    /// Creates handlers. A handler that is nil is not called.
    public init(
      didFinishPlaying: (@Sendable (_ successfully: Bool) -> Void)? = nil,
      decodeErrorDidOccur: (@Sendable (MediaError) -> Void)? = nil
    ) {
      self.didFinishPlaying = didFinishPlaying
      self.decodeErrorDidOccur = decodeErrorDidOccur
    }
  }

  /// The state that an `AudioPlayer` has in addition to its `Player`. Guarded by a lock.
  private struct LockedState {
    var handlers = Handlers()
    var numberOfLoops = 0
    /// The player's repeat count when playback last finished.
    var repeatCountAtFinish = 0
    /// The position while the player is not prepared.
    var unpreparedTime = MediaTime.zero
    var isPrepared = false
    var enableRate = false
    /// The value of `enableRate` when the player was last prepared.
    var isRateEnabled = false
    var rate = 1.0
  }

  private let player: Player
  private let item: PlayerItem
  private let properties: AssetProperties
  private let lockedState = Mutex(LockedState())

  /// Creates a player for a file. Blocks until the file is open: do not call it on the control loop.
  ///
  /// - Throws: the errors of `Asset.load`; `noPlayableTracks` if the file has no audio.
  public convenience init(path: String, engine: PlaybackEngine) throws(MediaError) {
    try self.init(asset: Asset(path: path), engine: engine)
  }

  /// Creates a player for the resource at a `file:`, `http:` or `https:` URL. Blocks until it is open.
  ///
  /// - Throws: the errors of `init(path:engine:)` and of `Asset.init(url:)`.
  public convenience init(url: String, engine: PlaybackEngine) throws(MediaError) {
    try self.init(asset: Asset(url: url), engine: engine)
  }

  /// Creates a player for the bytes of a file. Blocks until they have been inspected.
  ///
  /// - Throws: the errors of `init(path:engine:)`.
  public convenience init(data: [UInt8], engine: PlaybackEngine) throws(MediaError) {
    try self.init(asset: Asset(data: data), engine: engine)
  }

  /// Creates a player for an asset. Blocks until the asset is loaded.
  ///
  /// - Throws: the errors of `init(path:engine:)`.
  public init(asset: Asset, engine: PlaybackEngine) throws(MediaError) {
    properties = try asset.load()
    try properties.checkHasAudio(path: asset.displayPath)
    item = PlayerItem(asset: asset)
    player = Player(engine: engine, name: "audio-\(item.id)")
    onLoop { [self] _ in
      _ = core.calls.addEventObserver { [weak self] event in self?.handle(event) }
    }
  }

  private var core: PlayerCore { player.control.core }

  /// Runs `body` on the control loop and waits for its result.
  private func onLoop<Value: Sendable>(_ body: @escaping @Sendable (PlayerCore) -> Value) -> Value {
    core.engine.loop.wait { [core] in body(core) }
  }

  private func tryOnLoop<Value: Sendable>(
    _ body: @escaping @Sendable (PlayerCore) throws(MediaError) -> Value
  ) throws(MediaError) -> Value {
    try onLoop { core in Result { () throws(MediaError) in try body(core) } }.get()
  }

  // MARK: - Properties

  /// The handlers of notifications.
  public var handlers: Handlers {
    get { lockedState.withLock { $0.handlers } }
    set { lockedState.withLock { $0.handlers = newValue } }
  }

  /// The duration of the audio.
  public var duration: MediaTime { item.duration.isNumeric ? item.duration : properties.duration }

  /// The number of channels of the audio.
  public var numberOfChannels: Int { properties.audioTrack?.audioFormat?.channelCount ?? 0 }

  // MARK: - Playing

  /// Whether the player plays, or waits for the start that ``play(atTime:)`` set.
  public var isPlaying: Bool { onLoop { $0.machine.rate != 0 || $0.jointChanges.start != nil } }

  /// Prepares playback, so that ``play()`` starts with the least delay. ``play()`` also prepares playback if necessary.
  ///
  /// - Returns: false if the file cannot be played any more.
  @discardableResult public func prepareToPlay() -> Bool { onLoop { [self] _ in prepare() } }

  /// Plays from the current position.
  ///
  /// - Returns: false if the file cannot be played any more.
  @discardableResult public func play() -> Bool {
    onLoop { [self] core in
      guard prepare() else { return false }
      core.play()
      return true
    }
  }

  /// Starts playback exactly when `deviceCurrentTime` is `time`.
  ///
  /// <!-- listing: audio-players-in-step -->
  /// ```swift
  /// for player in [drums, bass, keys] { player.enableRate = true }
  /// let time = drums.deviceCurrentTime + .milliseconds(200)
  /// for player in [drums, bass, keys] { player.play(atTime: time) }
  /// for player in [drums, bass, keys] { try player.setRate(1.25) }
  /// ```
  ///
  /// Players that get the same time start on the same sample. While no player on the engine runs, any time after
  /// `deviceCurrentTime` is possible: the device starts once the players are ready. This includes an output that is
  /// still being opened, whose time is zero. If the player already waits for a start, the new time replaces the
  /// previous one.
  ///
  /// Returns false and changes nothing if:
  /// - `time` is not after `deviceCurrentTime`, is more than a day ahead or is not numeric
  /// - the running device cannot keep `time`: PulseAudio needs its latency and about 50 ms, and a player that is not
  ///   prepared 50 ms more
  /// - the player plays already, or its file cannot be played any more
  @discardableResult public func play(atTime time: MediaTime) -> Bool {
    onLoop { [self] core in
      let engine = core.engine
      guard core.machine.rate == 0, let target = engine.startTarget(atDeviceTime: time, of: core) else { return false }
      // `time` counts from the current origin of the device's time, and `prepare` may move that origin.
      let origin = engine.deviceTimeOrigin
      guard prepare() else { return false }
      engine.deviceTimeOrigin = origin
      do throws(MediaError) {
        let group = try JointStart([core], at: target, engine: engine) { _ in }
        engine.startGate.add(group)
        group.beginPreparation()
        return true
      } catch {
        return false
      }
    }
  }

  /// Pauses playback. The player stays prepared and keeps its position. Players that are paused by successive calls
  /// pause at the same output frame, so that synchronized players stay synchronized.
  public func pause() {
    onLoop { core in
      core.output.coalesceCommands(forNanoseconds: core.engine.coalescingNanoseconds / 2) { core.pause() }
    }
  }

  /// Stops playback and releases the prepared resources. The position stays, and ``play()`` continues from it.
  public func stop() {
    onLoop { [self] core in
      guard lockedState.withLock({ $0.isPrepared }) else { return }
      // A pending seek counts as complete.
      let time = core.machine.pendingRequest?.time ?? core.currentTime()
      core.pause()
      core.removeAll()
      lockedState.withLock {
        $0.isPrepared = false
        $0.unpreparedTime = time
      }
    }
  }

  /// The position that is heard. While the player is paused or stopped, the position at which playback would continue.
  /// Zero after the end.
  public var currentTime: MediaTime {
    onLoop { [self] core in
      let (isPrepared, time) = lockedState.withLock { ($0.isPrepared, $0.unpreparedTime) }
      guard isPrepared else { return time }
      // A pending seek counts as complete.
      return core.machine.pendingRequest?.time ?? core.currentTime()
    }
  }

  /// Seeks exactly to `time`, whether the player plays or not. A time outside the file is clamped to the nearer end.
  ///
  /// - Throws: `invalidTime` if `time` is not numeric; the item's error if the item failed.
  public func setCurrentTime(_ time: MediaTime) throws(MediaError) {
    try tryOnLoop { [self] core throws(MediaError) in
      guard time.isNumeric else {
        throw MediaError(.invalidTime, "time must be numeric (got \(time))", operation: "seek")
      }
      let target = time < .zero ? MediaTime.zero : min(time, duration)
      guard lockedState.withLock({ $0.isPrepared }) else { return lockedState.withLock { $0.unpreparedTime = target } }
      try core.seeks.seek(to: target, PlayerSeeks.Options()) { _ in }
    }
  }

  /// The device's time: the duration that it has played, of any player on the engine. The time advances only while a
  /// player plays or waits for its start. It is zero until the output is open, and restarts at zero when the first
  /// player gets an item.
  public var deviceCurrentTime: MediaTime { onLoop { $0.engine.deviceTime } }

  // MARK: - Loops

  /// The number of repeats. 0 plays once, n plays n + 1 times, and a negative number repeats until ``stop()``. A change
  /// during playback takes effect at once.
  public var numberOfLoops: Int {
    get { lockedState.withLock { $0.numberOfLoops } }
    set {
      onLoop { [self] _ in
        lockedState.withLock { $0.numberOfLoops = newValue }
        applyLoops()
      }
    }
  }

  // MARK: - Volume and pan

  /// The volume, from 0 to 1.
  public var volume: Float { onLoop { $0.volume.gain } }

  /// Fades from the current volume to `volume` over `fadeDuration`.
  ///
  /// - Throws: `invalidArgument` for an invalid volume; `invalidTime` if `fadeDuration` is not between 0 s and a day.
  public func setVolume(_ volume: Float, fadeDuration: MediaTime = .zero) throws(MediaError) {
    try tryOnLoop { core throws(MediaError) in
      try core.volume.fade(to: volume, duration: fadeDuration, curve: .linear, endAction: .none, completion: nil)
    }
  }

  /// The pan, from -1 (left) to 1 (right).
  public var pan: Float { onLoop { $0.volume.pan } }

  /// Sets the pan.
  ///
  /// - Throws: `invalidArgument` if `pan` is not between -1 and 1.
  public func setPan(_ pan: Float) throws(MediaError) {
    try tryOnLoop { core throws(MediaError) in try core.volume.setPan(pan) }
  }

  // MARK: - Rate

  /// Whether the rate may differ from 1. Takes effect when the player is prepared: a later change applies after
  /// ``stop()`` and ``prepareToPlay()``.
  public var enableRate: Bool {
    get { lockedState.withLock { $0.enableRate } }
    set { lockedState.withLock { $0.enableRate = newValue } }
  }

  /// The rate that was set, from 0.5 to 2. The rate has no effect unless `enableRate` was true when the player was
  /// prepared.
  public var rate: Double { lockedState.withLock { $0.rate } }

  /// Sets the rate, which is heard about 140 ms later. Players that get the same rate by successive calls change at the
  /// same output frame, so that synchronized players stay synchronized.
  ///
  /// - Throws: `unsupportedRate` if `rate` is not between 0.5 and 2. Then nothing changes.
  public func setRate(_ rate: Double) throws(MediaError) {
    try tryOnLoop { [self] core throws(MediaError) in
      guard rate >= 0.5, rate <= 2 else {
        throw MediaError(.unsupportedRate, "rate must be between 0.5 and 2 (got \(rate))", operation: "setRate")
      }
      lockedState.withLock { $0.rate = rate }
      applyRate()
    }
  }

  // MARK: - Meters

  /// Whether ``updateMeters()`` measures. Default: false.
  public var isMeteringEnabled: Bool {
    get { onLoop { $0.meters.isEnabled } }
    set { onLoop { $0.meters.setEnabled(newValue) } }
  }

  /// Measures the audio that is heard now. The measured levels stay until the next call.
  public func updateMeters() { onLoop { $0.meters.measure() } }

  /// The average power in dBFS at the last ``updateMeters()``. -160 means silence, or that metering is off.
  ///
  /// - Throws: `invalidArgument` for a channel that the output does not have.
  public func averagePower(forChannel channel: Int) throws(MediaError) -> Float {
    try tryOnLoop { core throws(MediaError) in
      try core.meters.power(\.averagePower, forChannel: channel, operation: "averagePower")
    }
  }

  /// The peak power at the last ``updateMeters()``, in the same form as `averagePower`.
  public func peakPower(forChannel channel: Int) throws(MediaError) -> Float {
    try tryOnLoop { core throws(MediaError) in
      try core.meters.power(\.peakPower, forChannel: channel, operation: "peakPower")
    }
  }

  // MARK: - On the loop

  /// Adds the item to the player's queue and applies the settings, unless the player is already prepared. Returns false
  /// if the item cannot be played.
  private func prepare() -> Bool {
    guard item.error == nil, !core.isClosed else { return false }
    let time = lockedState.withLock { lockedState -> MediaTime? in
      guard !lockedState.isPrepared else { return nil }
      lockedState.isPrepared = true
      lockedState.isRateEnabled = lockedState.enableRate
      return lockedState.unpreparedTime
    }
    guard let time else { return true }
    do throws(MediaError) {
      try core.replaceAll(with: [item])
      applyLoops()
      applyRate()
      if time > .zero { try core.seeks.seek(to: time, PlayerSeeks.Options()) { _ in } }
      return true
    } catch {
      return false
    }
  }

  /// Makes the player repeat the item as often as `numberOfLoops` still requires.
  private func applyLoops() {
    let count = core.machine.intent.repeatCount
    let remaining = lockedState.withLock { lockedState -> Int? in
      guard lockedState.numberOfLoops >= 0 else { return nil }
      return max(0, lockedState.numberOfLoops - (count - lockedState.repeatCountAtFinish))
    }
    let mode = remaining == 0 ? RepeatMode.off : .one
    guard core.machine.repeatMode != mode || mode == .one && core.machine.intent.repeatLimit?.remaining != remaining
    else {
      return
    }
    core.run(core.machine.setRepeatMode(mode, count: remaining), cause: .request)
  }

  /// Applies the rate that was set, if `enableRate` was true in time.
  private func applyRate() {
    let rate = lockedState.withLock { $0.isRateEnabled ? $0.rate : 1 }
    guard let checked = PlaybackRate(rate) else { return }
    core.rates.default = checked
    if core.jointChanges.start != nil || core.machine.intent.isWaitingForStartTime {
      core.jointChanges.changePendingStartRate(to: checked)
    } else if core.machine.rate != 0 {
      core.engine.rateCoalescer.change(core, to: checked)
    }
  }

  private func handle(_ event: PlayerEvent) {
    switch event {
    // The player reports the end of each repeat, but `endedItemID` is set only after the last one.
    case .playedToEnd: if core.machine.endedItemID == item.id { finish(nil) }
    case .failedToPlayToEnd(_, _, let error): finish(error)
    case .itemFailed(_, let error): finish(error)
    default: break
    }
  }

  /// Ends playback and notifies the handlers. The next `play` starts from the beginning.
  private func finish(_ error: MediaError?) {
    let count = core.machine.intent.repeatCount
    lockedState.withLock { $0.repeatCountAtFinish = count }
    applyLoops()
    core.pause()
    if let current = core.machine.entries.first, current.status.error == nil {
      core.seeks.start(to: .time(.zero), PlayerSeeks.Options(), in: current) { _ in }
    }
    let handlers = handlers
    if let error { handlers.decodeErrorDidOccur?(error) }
    handlers.didFinishPlaying?(error == nil)
  }
}
