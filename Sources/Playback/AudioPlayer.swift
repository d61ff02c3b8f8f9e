import MediaAssets
import MediaCore
import RealtimeAudio
import Synchronization

/// Plays one sound, from a file or from data in memory. As AVAudioPlayer: every call answers at once, from any thread.
///
/// What it plays on is an engine; players on the same one start on the same sample when they are given the same time
/// (`play(atTime:)`).
///
/// Threading: any. A call waits for the engine's control loop, which holds nobody up; handlers are called on that loop, and may
/// call back.
public final class AudioPlayer: Sendable {
  /// The handlers of AVAudioPlayerDelegate's notifications. They run on the engine's control loop and must not block: see
  /// `PlaybackEngine.loop`.
  public struct Handlers: Sendable {
    /// The sound came to its end: true, or broke off: false. Not for `stop` and `pause`.
    public var didFinishPlaying: (@Sendable (_ successfully: Bool) -> Void)?
    /// What did not decode. Before `didFinishPlaying(false)`.
    public var decodeErrorDidOccur: (@Sendable (MediaError) -> Void)?

    public init(
      didFinishPlaying: (@Sendable (_ successfully: Bool) -> Void)? = nil,
      decodeErrorDidOccur: (@Sendable (MediaError) -> Void)? = nil
    ) {
      self.didFinishPlaying = didFinishPlaying
      self.decodeErrorDidOccur = decodeErrorDidOccur
    }
  }

  /// What a player of its own kind has to know besides.
  private struct Confined {
    var handlers = Handlers()
    var numberOfLoops = 0
    /// How many repeats the player had counted when it was last at rest.
    var repeatCountAtRest = 0
    /// Where it stands while it is not prepared; nil: at the beginning, or prepared.
    var restingTime = MediaTime.zero
    var isPrepared = false
    var enableRate = false
    /// `enableRate` as it was when the player was prepared.
    var mayChangeRate = false
    var rate = 1.0
  }

  private let player: Player
  private let item: PlayerItem
  private let properties: AssetProperties
  private let confined = Mutex(Confined())

  /// A player of a file. Blocks until the file has been opened: not on the control loop.
  ///
  /// Errors: those of `Asset.load`; `noPlayableTracks` when it has no sound.
  public convenience init(path: String, engine: PlaybackEngine) throws(MediaError) {
    try self.init(asset: Asset(path: path), engine: engine)
  }

  /// A player of what a `file:`, `http:` or `https:` URL names. Errors likewise, and those of `Asset.init(url:)`.
  public convenience init(url: String, engine: PlaybackEngine) throws(MediaError) {
    try self.init(asset: Asset(url: url), engine: engine)
  }

  /// A player of a file's bytes. Errors likewise.
  public convenience init(data: [UInt8], engine: PlaybackEngine) throws(MediaError) {
    try self.init(asset: Asset(data: data), engine: engine)
  }

  /// A player of an asset. Errors likewise.
  public init(asset: Asset, engine: PlaybackEngine) throws(MediaError) {
    properties = try asset.load()
    try properties.checkHasAudio(path: asset.displayPath)
    item = PlayerItem(asset: asset)
    player = Player(engine: engine, name: "audio-\(item.id)")
    onLoop { [self] _ in
      _ = core.addEventObserver { [weak self] event in self?.handle(event) }
    }
  }

  private var core: PlayerCore { player.control.core }

  /// Runs `body` on the control loop and waits for what it answers.
  private func onLoop<Value: Sendable>(_ body: @escaping @Sendable (PlayerCore) -> Value) -> Value {
    core.engine.loop.wait { [core] in body(core) }
  }

  private func tryOnLoop<Value: Sendable>(
    _ body: @escaping @Sendable (PlayerCore) throws(MediaError) -> Value
  ) throws(MediaError) -> Value {
    try onLoop { core in Result { () throws(MediaError) in try body(core) } }.get()
  }

  // MARK: - What it is

  /// What is told.
  public var handlers: Handlers {
    get { confined.withLock { $0.handlers } }
    set { confined.withLock { $0.handlers = newValue } }
  }

  /// How long the sound is.
  public var duration: MediaTime { item.duration.isNumeric ? item.duration : properties.duration }

  public var numberOfChannels: Int { properties.audioTrack?.audioFormat?.channelCount ?? 0 }

  // MARK: - Playing

  /// Whether it plays, or is about to: from `play(atTime:)` on, too.
  public var isPlaying: Bool { onLoop { $0.machine.rate != 0 || $0.startGroup != nil } }

  /// Gets ready, so that `play` is heard as soon as can be. `play` does it itself. False when the sound can be played no more.
  @discardableResult public func prepareToPlay() -> Bool { onLoop { [self] _ in prepare() } }

  /// Plays from where it stands. False when the sound can be played no more.
  @discardableResult public func play() -> Bool {
    onLoop { [self] core in
      guard prepare() else { return false }
      core.play()
      return true
    }
  }

  /// Starts playback exactly when `deviceCurrentTime` is `time`.
  ///
  /// Players that get the same time start on the same sample. While no player on the engine runs, any time after
  /// `deviceCurrentTime` is possible: the device starts once the players are ready. This includes an output that is
  /// still being opened, whose time is zero. A waiting player adopts the new time.
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
      // `time` counts from the present zero of the device's time.
      let origin = engine.deviceTimeOrigin
      guard prepare() else { return false }
      engine.deviceTimeOrigin = origin
      do throws(MediaError) {
        let group = try StartGroup([core], at: target, engine: engine) { _ in }
        engine.startGate.add(group)
        group.begin()
        return true
      } catch {
        return false
      }
    }
  }

  /// Pauses playback. The player stays prepared and keeps its position. Players that are paused in a row pause at the
  /// same output frame, so that players in step stay in step.
  public func pause() {
    onLoop { core in
      core.output.gatherCommands(forNanoseconds: core.engine.gatheringNanoseconds / 2) { core.pause() }
    }
  }

  /// Ends playing: what was prepared is given back. It stands where it is, and `play` goes on from there.
  public func stop() {
    onLoop { [self] core in
      guard confined.withLock({ $0.isPrepared }) else { return }
      // A seek that is under way counts as done.
      let time = core.machine.startUnderWay?.time ?? core.currentTime()
      core.pause()
      core.removeAll()
      confined.withLock {
        $0.isPrepared = false
        $0.restingTime = time
      }
    }
  }

  /// The place that is heard. Where it would go on while it is paused or stopped; zero once it has come to its end.
  public var currentTime: MediaTime {
    onLoop { [self] core in
      let (isPrepared, time) = confined.withLock { ($0.isPrepared, $0.restingTime) }
      guard isPrepared else { return time }
      // A seek that is under way counts as done.
      return core.machine.startUnderWay?.time ?? core.currentTime()
    }
  }

  /// Goes to another place, exactly, playing or not; beyond the ends that is the nearer end. Errors: `invalidTime` for what is
  /// no time, or the item's own when it failed.
  public func setCurrentTime(_ time: MediaTime) throws(MediaError) {
    try tryOnLoop { [self] core throws(MediaError) in
      guard time.isNumeric else {
        throw MediaError(.invalidTime, "cannot go to a time that is \(time)", operation: "seek")
      }
      let place = time < .zero ? MediaTime.zero : min(time, duration)
      guard confined.withLock({ $0.isPrepared }) else { return confined.withLock { $0.restingTime = place } }
      try core.seek(to: place, PlayerCore.Seek()) { _ in }
    }
  }

  /// The device's time: the duration that it has played, of any player on the engine. It advances only while a player
  /// plays or waits for its start. It begins at zero when the first player has something to play, and is zero until the
  /// output is open.
  public var deviceCurrentTime: MediaTime { onLoop { $0.engine.deviceTime } }

  // MARK: - Loops

  /// How many times it is played again: 0 once, n n+1 times, negative until it is stopped. May change at any time.
  public var numberOfLoops: Int {
    get { confined.withLock { $0.numberOfLoops } }
    set {
      onLoop { [self] _ in
        confined.withLock { $0.numberOfLoops = newValue }
        applyLoops()
      }
    }
  }

  // MARK: - Levels

  /// From 0 to 1.
  public var volume: Float { onLoop { $0.volume } }

  /// Moves the volume over `fadeDuration`, from what it is then. Errors: `invalidArgument`, `invalidTime`.
  public func setVolume(_ volume: Float, fadeDuration: MediaTime = .zero) throws(MediaError) {
    try tryOnLoop { core throws(MediaError) in try core.fade(to: volume, duration: fadeDuration, curve: .linear) }
  }

  /// From -1 (left) to 1 (right).
  public var pan: Float { onLoop { $0.pan } }

  /// Errors: `invalidArgument`.
  public func setPan(_ pan: Float) throws(MediaError) {
    try tryOnLoop { core throws(MediaError) in try core.setPan(pan) }
  }

  // MARK: - Rate

  /// Whether the rate may be another than 1. It counts when the player is prepared: set afterwards, it does from the next
  /// `stop` and `prepareToPlay` on.
  public var enableRate: Bool {
    get { confined.withLock { $0.enableRate } }
    set { confined.withLock { $0.enableRate = newValue } }
  }

  /// The rate that was set, from 0.5 to 2; it has no effect unless `enableRate` was set in time.
  public var rate: Double { confined.withLock { $0.rate } }

  /// Sets the rate, which is heard about 140 ms later. Players whose rates are set in a row, to the same value, change at
  /// the same output frame: players that started together stay in step.
  ///
  /// - Throws: `unsupportedRate` if `rate` is not between 0.5 and 2. Then nothing changes.
  public func setRate(_ rate: Double) throws(MediaError) {
    try tryOnLoop { [self] core throws(MediaError) in
      guard rate >= 0.5, rate <= 2 else {
        throw MediaError(.unsupportedRate, "a sound plays at rates from 0.5 to 2, not at \(rate)", operation: "rate")
      }
      confined.withLock { $0.rate = rate }
      applyRate()
    }
  }

  // MARK: - Meters

  /// Whether `updateMeters` measures; false at first.
  public var isMeteringEnabled: Bool {
    get { onLoop { $0.meters.isEnabled } }
    set { onLoop { $0.setMeteringEnabled(newValue) } }
  }

  /// Measures what is heard now; what the levels say stays until then.
  public func updateMeters() { onLoop { $0.updateMeters() } }

  /// In dBFS, as of the last `updateMeters`: -160 is silence, or that nothing is measured. Errors: `invalidArgument` for a
  /// channel that the output does not have.
  public func averagePower(forChannel channel: Int) throws(MediaError) -> Float {
    try tryOnLoop { core throws(MediaError) in try core.power(\.averagePower, forChannel: channel) }
  }

  /// The same for the largest sample.
  public func peakPower(forChannel channel: Int) throws(MediaError) -> Float {
    try tryOnLoop { core throws(MediaError) in try core.power(\.peakPower, forChannel: channel) }
  }

  // MARK: - On the loop

  /// Gives the sound to the engine, unless it has it.
  private func prepare() -> Bool {
    guard item.error == nil, !core.isClosed else { return false }
    let time = confined.withLock { confined -> MediaTime? in
      guard !confined.isPrepared else { return nil }
      confined.isPrepared = true
      confined.mayChangeRate = confined.enableRate
      return confined.restingTime
    }
    guard let time else { return true }
    do throws(MediaError) {
      try core.replaceAll(with: [item])
      applyLoops()
      applyRate()
      if time > .zero { try core.seek(to: time, PlayerCore.Seek()) { _ in } }
      return true
    } catch {
      return false
    }
  }

  /// Has the player repeat the sound while it is to be played again.
  private func applyLoops() {
    let count = core.machine.repeatCount
    let remaining = confined.withLock { confined -> Int? in
      guard confined.numberOfLoops >= 0 else { return nil }
      return max(0, confined.numberOfLoops - (count - confined.repeatCountAtRest))
    }
    let mode = remaining == 0 ? RepeatMode.off : .one
    guard core.machine.repeatMode != mode || mode == .one && core.machine.repeatLimit?.remaining != remaining else {
      return
    }
    core.run(core.machine.setRepeatMode(mode, count: remaining), cause: .request)
  }

  /// Has it play at the rate that was set, if it may.
  private func applyRate() {
    let rate = confined.withLock { $0.mayChangeRate ? $0.rate : 1 }
    guard let checked = PlaybackRate(rate) else { return }
    core.defaultRate = checked
    if core.startGroup != nil || core.machine.isStartHeld {
      core.changeRateOfStart(to: checked)
    } else if core.machine.rate != 0 {
      core.engine.rateGathering.change(core, to: checked)
    }
  }

  private func handle(_ event: PlayerEvent) {
    switch event {
    // The end of each repeat is told; the player stands at that of the last.
    case .playedToEnd: if core.machine.endedItem == item.id { finish(nil) }
    case .failedToPlayToEnd(_, _, let error): finish(error)
    case .itemFailed(_, let error): finish(error)
    default: break
    }
  }

  /// The sound is over; the next `play` begins at its beginning.
  private func finish(_ error: MediaError?) {
    let count = core.machine.repeatCount
    confined.withLock { $0.repeatCountAtRest = count }
    applyLoops()
    core.pause()
    if let current = core.machine.entries.first, current.status.error == nil {
      core.beginSeek(to: .time(.zero), PlayerCore.Seek(), in: current) { _ in }
    }
    let handlers = handlers
    if let error { handlers.decodeErrorDidOccur?(error) }
    handlers.didFinishPlaying?(error == nil)
  }
}
