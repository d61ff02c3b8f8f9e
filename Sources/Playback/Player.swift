import MediaCore

/// What every player can do. As AVPlayer.
///
/// How a file becomes sound: `PlayerItem` names it; the player's `PlayerCore` lets a decode thread open it and fill a
/// stream of samples; once the first are there the stream is handed to the output's mixer (`RenderCore`), whose clock
/// tells which sample is heard; positions, ticks and ends all follow from that clock.
///
/// Players are actors on the engine's control loop: a user of the library awaits them; who runs on the loop already
/// calls them with `assumeIsolated`. Handlers of observers are called on the loop.
public protocol PlayerControl: Actor {
  /// The part that does the work; an implementation detail.
  nonisolated var control: PlayerControlBox { get }
}

/// Keeps what a player is made of out of the public interface.
public struct PlayerControlBox: Sendable {
  let core: PlayerCore
}

extension PlayerControl {
  private var core: PlayerCore { control.core }

  // MARK: - State

  /// Every public fact, at this moment.
  public var state: PlayerState { core.state }

  /// The time that is being heard of the current item; zero without one. Never goes back while playing on.
  public func currentTime() -> MediaTime { core.currentTime() }

  public var currentItem: PlayerItem? { core.currentItem }

  // MARK: - Transport

  /// Sets the rate to 1. Without an item the player waits for one.
  public func play() { core.play() }

  /// Sets the rate to 0. No sample is lost or repeated by it.
  public func pause() { core.pause() }

  /// Sets the desired rate. Errors: `unsupportedRate` for anything but 0 and 1.
  public func setRate(_ rate: Double) throws(MediaError) { try core.setRate(rate) }

  /// Pauses, and goes back to the start of the current item.
  public func stop() { core.stop() }

  /// Gain from 0 (silence) to 1 (as it is); changes within 5 ms. Errors: `invalidArgument`.
  public func setVolume(_ volume: Float) throws(MediaError) { try core.setVolume(volume) }

  /// Moves the volume to `volume` over `duration` of the output's time, from what it is now, be that within another fade;
  /// while nothing sounds on the output no time passes. It reads as `volume` at once, and is that on another device.
  /// Errors: `invalidArgument` for a volume that is not from 0 to 1, `invalidTime` for a duration that is not from 0 to a
  /// day.
  public func fade(to volume: Float, duration: MediaTime, curve: FadeCurve = .linear) throws(MediaError) {
    try core.fade(to: volume, duration: duration, curve: curve)
  }

  /// Where the player is heard, from -1 (left) to 1 (right): the near side keeps gain 1, the far side gets
  /// cos(|pan| * pi/2). Changes within 5 ms. Errors: `invalidArgument`.
  public func setPan(_ pan: Float) throws(MediaError) { try core.setPan(pan) }

  /// Silences the player without touching its volume.
  public func setMuted(_ isMuted: Bool) { core.setMuted(isMuted) }

  /// Errors: `invalidArgument` for `advance` without a queue.
  public func setActionAtItemEnd(_ action: ActionAtItemEnd) throws(MediaError) { try core.setActionAtItemEnd(action) }

  // MARK: - Seeking

  /// Goes to a time of the current item, at least to [time - toleranceBefore, time + toleranceAfter]; with zero
  /// tolerances the first sample heard is the one that contains `time`. Times outside the item are clamped into it.
  ///
  /// `completion` is called on the control loop, exactly once: with `finished` once what was sought is committed to the
  /// output, without it at once when another seek, another item or a failure comes first.
  ///
  /// Errors: `invalidTime`, `noCurrentItem`, `noSuchItem` when `itemID` is not the current item's, or the current
  /// item's own; then nothing changes and `completion` is not called.
  public func seek(
    to time: MediaTime, toleranceBefore: MediaTime = .positiveInfinity, toleranceAfter: MediaTime = .positiveInfinity,
    itemID: PlayerItem.ID? = nil, completion: @escaping @Sendable (SeekResult) -> Void
  ) throws(MediaError) {
    try core.seek(to: time, before: toleranceBefore, after: toleranceAfter, itemID: itemID, completion: completion)
  }

  /// The same, answering what came of it.
  public func seek(
    to time: MediaTime, toleranceBefore: MediaTime = .positiveInfinity, toleranceAfter: MediaTime = .positiveInfinity
  ) async throws -> SeekResult {
    try await withCheckedThrowingContinuation { continuation in
      do throws(MediaError) {
        try core.seek(to: time, before: toleranceBefore, after: toleranceAfter, itemID: nil) {
          continuation.resume(returning: $0)
        }
      } catch { continuation.resume(throwing: error) }
    }
  }

  /// Completes a seek that is under way, unfinished.
  public func cancelPendingSeeks() { core.cancelPendingSeeks() }

  // MARK: - Times

  /// Calls `handler` whenever a multiple of `interval` on the item's timeline is heard, and on jumps, starts and stops.
  /// Errors: `invalidTime` for less than 1 ms.
  public func addPeriodicTimeObserver(
    forInterval interval: MediaTime, using handler: @escaping @Sendable (TimeObservation) -> Void
  ) throws(MediaError) -> ObserverToken { try core.addPeriodicTimeObserver(interval: interval, handler) }

  /// Calls `handler` whenever one of `times` is crossed in normal playback, of whichever item is current, or of
  /// `itemID` only. Errors: `invalidTime`, `invalidArgument` without times, `noSuchItem`.
  public func addBoundaryTimeObserver(
    forTimes times: [MediaTime], itemID: PlayerItem.ID? = nil,
    using handler: @escaping @Sendable (TimeObservation) -> Void
  ) throws(MediaError) -> ObserverToken {
    try core.addBoundaryTimeObserver(times: times, itemID: itemID, handler)
  }

  /// Ends a time observer; it is not called any more. Errors: `noSuchObserver`.
  public func removeTimeObserver(_ token: ObserverToken) throws(MediaError) { try core.removeTimeObserver(token) }

  // MARK: - Meters

  /// Whether `updateMeters` measures; false at first. What is not measured costs nothing.
  public var isMeteringEnabled: Bool { core.meters.isEnabled }

  public func setMeteringEnabled(_ isEnabled: Bool) { core.setMeteringEnabled(isEnabled) }

  /// Measures what is heard of this player, after volume and pan: the last 50 ms.
  public func updateMeters() { core.updateMeters() }

  /// What `updateMeters` found last, in dBFS: the level of the root of the mean square. `MeterLevels.silence` when it found
  /// nothing, or metering is off. Errors: `invalidArgument` for a channel that the output does not have.
  public func averagePower(forChannel channel: Int) throws(MediaError) -> Float {
    try core.power(\.averagePower, forChannel: channel)
  }

  /// The same for the largest sample.
  public func peakPower(forChannel channel: Int) throws(MediaError) -> Float {
    try core.power(\.peakPower, forChannel: channel)
  }

  /// Calls `handler` `rate` times a second while the player sounds, each time when what was measured has been heard, and
  /// once with silence when it sounds no more. Errors: `invalidArgument` for a rate that is not from 1 to 100.
  public func addMeterObserver(
    rate: Double = 20, using handler: @escaping @Sendable (MeterObservation) -> Void
  ) throws(MediaError) -> ObserverToken { try core.addMeterObserver(rate: rate, handler) }

  /// Ends a meter observer; it is not called any more. Errors: `noSuchObserver`.
  public func removeMeterObserver(_ token: ObserverToken) throws(MediaError) { try core.removeMeterObserver(token) }

  // MARK: - Watching

  /// Calls `handler` with each change, synchronously. `state` is the value to begin with.
  public func addStateObserver(_ handler: @escaping @Sendable (PlayerChange) -> Void) -> ObserverToken {
    core.addStateObserver(handler)
  }

  /// Calls `handler` with each event, synchronously.
  public func addEventObserver(_ handler: @escaping @Sendable (PlayerEvent) -> Void) -> ObserverToken {
    core.addEventObserver(handler)
  }

  /// Ends a state or event observer. Without effect when there is none.
  public func removeObserver(_ token: ObserverToken) { core.removeObserver(token) }

  /// The state now, and then each newer one; who is slow gets the newest only. Ends when the player is closed.
  public func states() -> AsyncStream<PlayerState> {
    let (stream, continuation) = AsyncStream.makeStream(of: PlayerState.self, bufferingPolicy: .bufferingNewest(1))
    continuation.yield(state)
    let token = core.addStateObserver { continuation.yield($0.new) }
    core.endStream(of: token) { continuation.finish() }
    continuation.onTermination = { [core] _ in core.engine.loop.execute { core.removeObserver(token) } }
    return stream
  }

  /// Events from now on; who is more than 256 behind loses the oldest.
  public func events() -> AsyncStream<PlayerEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: PlayerEvent.self, bufferingPolicy: .bufferingNewest(256))
    let token = core.addEventObserver { continuation.yield($0) }
    core.endStream(of: token) { continuation.finish() }
    continuation.onTermination = { [core] _ in core.engine.loop.execute { core.removeObserver(token) } }
    return stream
  }

  /// Ends the player for good.
  public func close() { core.close() }
}

/// A player of one item at a time. As AVPlayer.
public actor Player: PlayerControl {
  public nonisolated let control: PlayerControlBox
  private nonisolated let loop: any ControlLoop

  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Makes a player on `engine`'s output. Any thread.
  public init(engine: PlaybackEngine, name: String = "main") {
    loop = engine.loop
    control = PlayerControlBox(core: PlayerCore(engine: engine, name: name, canAdvance: false))
  }

  /// A player that nobody holds any more falls silent.
  deinit { loop.execute { [control] in control.core.close() } }

  /// Plays another item from now on; nil: none. The same item again changes nothing. Errors: `itemInUse`.
  public func replaceCurrentItem(with item: PlayerItem?) throws(MediaError) {
    if let item, item === currentItem { return }
    try control.core.replaceAll(with: item.map { [$0] } ?? [])
  }
}
