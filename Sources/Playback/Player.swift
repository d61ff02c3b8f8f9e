import MediaAssets
import MediaCore

/// What every player can do. As AVPlayer.
///
/// How a file becomes sound: `PlayerItem` names it; the player's `PlayerCore` lets a decode thread open it and fill a
/// stream of samples; once the first are there the stream is handed to the output's mixer (`RenderCore`), whose clock
/// tells which sample is heard; positions, ticks and ends all follow from that clock.
///
/// Of AVPlayer's there is no `status` and no `error`: nothing ends a player but `close`. An item that fails is the item's state,
/// a device that is lost the output's. There is no `masterClock` either: all players of an output go by its clock.
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
  /// Players keep their engine alive.
  let engine: PlaybackEngine
}

extension PlayerControl {
  private var core: PlayerCore { control.core }

  // MARK: - State

  /// Every public fact, at this moment.
  public var state: PlayerState { core.state }

  /// The time that is being heard of the current item; zero without one. Never goes back while playing on.
  public func currentTime() -> MediaTime { core.currentTime() }

  /// When what is heard was recorded, in nanoseconds since 1970, as the playlist of an HLS stream says; nil where nothing does. As
  /// AVPlayerItem's `currentDate()`.
  public func currentDate() -> Int64? { core.currentItem?.asset.date(at: core.currentTime()) }

  /// The time of the current item at which what was recorded at a date is heard: `seek(to:)` goes there. In nanoseconds since 1970.
  ///
  /// Errors: `noCurrentItem`; `noSuchDate` when the item has no dates, or nothing of that one is there.
  public func time(ofDate date: Int64) throws(MediaError) -> MediaTime {
    guard let item = core.currentItem else {
      throw MediaError(.noCurrentItem, "there is no current item to seek in", operation: "seek")
    }
    guard let time = item.asset.time(ofDate: date) else {
      throw MediaError(
        .noSuchDate, "item \(item.id) has nothing of \(ISODate.text(date))", operation: "seek")
    }
    return time
  }

  public var currentItem: PlayerItem? { core.currentItem }

  // MARK: - Transport

  /// Sets the rate to `defaultRate`, or to what `setRate(_:startsPlayback:)` noted for this. Without an item the player
  /// waits for one. A stream is not played backwards: nothing happens where that would be the rate.
  public func play() { core.play() }

  /// Sets the rate to 0. No sample is lost or repeated by it.
  public func pause() { core.pause() }

  /// Sets the desired rate, from 1/32 to 32 and exact to a millionth; 0 pauses, any other one plays.
  ///
  /// While playing it changes without a gap or a click, 60 ms after what is heard then, or as soon as it has been decoded where
  /// that takes longer; until then `state.timebaseRate` is
  /// the rate before. Where changes follow each other faster, each takes effect when the one before has, and the newest
  /// is what remains. With `startsPlayback` false a player that is paused stays so, and its next `play` uses the rate,
  /// once. Errors: `unsupportedRate` for what is not a number, too slow or too fast; below zero it is played backwards, which for
  /// a stream is `rangesNotSupported`, or `onlyInOrder` for a descriptor.
  public func setRate(_ rate: Double, startsPlayback: Bool = true) throws(MediaError) {
    try core.setRate(rate, startsPlayback: startsPlayback)
  }

  /// The rate that the next `play` sets: what `setRate(_:startsPlayback:)` noted for it, or `defaultRate`.
  public var rateForNextPlay: Double { (core.nextRate ?? core.defaultRate).value }

  /// The rate that `play` sets; 1 at first.
  public var defaultRate: Double { core.defaultRate.value }

  /// Sets the rate that `play` sets from now on; what is played now stays as it is. Errors: `unsupportedRate`.
  public func setDefaultRate(_ rate: Double) throws(MediaError) { try core.setDefaultRate(rate) }

  /// Plays at `rate` with what is there at once, however little that is; from a stall, too. When nothing is, that is as a
  /// stall without its event: a player that waits by itself waits (`toMinimizeStalls`, or until the item is open), one that
  /// does not stays paused. Errors: those of `setRate`, and `unsupportedRate` for 0.
  public func playImmediately(atRate rate: Double = 1) throws(MediaError) { try core.playImmediately(atRate: rate) }

  /// Whether a player that runs out of samples waits (`toMinimizeStalls`) until so much has been decoded that playing can
  /// go on, and goes on by itself; true at first. A player that does not pauses there: its rate is 0. Either is told by
  /// one `stalled` event. Set to false while the player waits so, playback goes on at once with what is there.
  public var automaticallyWaitsToMinimizeStalling: Bool { core.machine.automaticallyWaits }

  /// See `automaticallyWaitsToMinimizeStalling`.
  public func setAutomaticallyWaitsToMinimizeStalling(_ waits: Bool) { core.setAutomaticallyWaits(waits) }

  /// Gets ready to be played at `rate`, without being heard: what is there is decoded for that rate, so that playing at it
  /// begins with what was got ready. Playing at another one decodes anew, as any change of rate does.
  ///
  /// `completion` is called on the control loop, exactly once: with true when the first samples are with the mixer, so
  /// that playing is heard as soon as the device can; with false when the time or the item changes before, a rate is set,
  /// the item fails, another rate is prerolled, or prerolling is cancelled. While the item is not open, or there is no output, it waits.
  ///
  /// Errors: `invalidState` while the rate is not 0 and for a player that is about to start with others at another one,
  /// those of `setRate`, and `unsupportedRate` for 0, `noCurrentItem`, or the current item's own; then
  /// `completion` is not called.
  public func preroll(atRate rate: Double = 1, completion: @escaping @Sendable (Bool) -> Void) throws(MediaError) {
    try core.preroll(atRate: rate, completion: completion)
  }

  /// The same, answering whether the player is ready.
  public func preroll(atRate rate: Double = 1) async throws -> Bool {
    try await withCheckedThrowingContinuation { continuation in
      do throws(MediaError) {
        try core.preroll(atRate: rate) { continuation.resume(returning: $0) }
      } catch { continuation.resume(throwing: error) }
    }
  }

  /// Completes the prerolls that are under way, with false.
  public func cancelPendingPrerolls() { core.endPrerolls() }

  /// Sets the rate so that `time` of the current item, exactly, is heard at `hostTime`. Time nil: the present one.
  ///
  /// Until an instant that is still to come the item stands at `time`, silent and without going back, and the player waits
  /// (`startTimeNotReached`). For one that is over it starts as if it had started then: a little later, further on. Nil: as soon
  /// as `time` is ready. Players on one output that are to start together are better started with `PlaybackEngine.start`. With
  /// rate 0 it pauses and goes to `time` at once.
  ///
  /// Errors: those of `setRate`; `invalidState` while `automaticallyWaitsToMinimizeStalling` is true, for who waits for samples
  /// cannot promise an instant; `invalidTime` for a time that is invalid or indefinite and an instant more than a day ahead;
  /// `noCurrentItem`, or the current item's own. Then nothing changes.
  public func setRate(_ rate: Double, time: MediaTime?, atHostTime hostTime: HostTime?) throws(MediaError) {
    try core.setRate(rate, time: time, atHostTime: hostTime)
  }

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

  // MARK: - Repeating

  /// What is played again when it has ended; without a gap, and decoded ahead like anything else that follows. While it
  /// is not `off` it comes before `actionAtItemEnd`. What is shorter than 10 ms is played once. Each repeat is a `seam`
  /// event. Errors: `invalidArgument` for `all` without a queue.
  public func setRepeatMode(_ mode: RepeatMode) throws(MediaError) { try core.setRepeatMode(mode) }

  /// Plays a part of the current item again and again: from frame `floor(start * rate)` up to frame
  /// `floor(end * rate)`, exactly; nil: plays on from where it is, without a gap.
  ///
  /// Whenever playback comes to the end of the range from before it, it goes on at its beginning: that is a `seam` from
  /// the item to itself, and no `timeJumped`. Playback that is beyond the range, when the loop is set or by a seek, plays
  /// on. The loop is over when it has gone back `count` times (nil: never), when the item's own end is heard, and when
  /// another item becomes current.
  ///
  /// Errors: `noCurrentItem`; `noSuchItem` when `itemID` is not the current item's; `invalidState` when the item is not
  /// ready; the item's own when it failed; `invalidTime` for a range that is empty, shorter than 10 ms or beyond the
  /// duration; `invalidArgument` for a `count` below 1. Then nothing changes.
  public func setLoop(_ range: TimeRange?, count: Int? = nil, itemID: PlayerItem.ID? = nil) throws(MediaError) {
    try core.setLoop(range, count: count, itemID: itemID)
  }

  /// Lets the present pass of the loop be the last: it is played to its end, and there the item has ended, with all that
  /// follows from that (`playedToEnd`, `actionAtItemEnd`, the next item without a gap). Errors: `noCurrentItem`; `noSuchItem`
  /// when `itemID` is not the current item's; `invalidState` when nothing is looped.
  public func finishLoop(itemID: PlayerItem.ID? = nil) throws(MediaError) { try core.finishLoop(itemID: itemID) }

  // MARK: - Seeking

  /// Goes to a time of the current item, somewhere in [time - toleranceBefore, time + toleranceAfter], wherever that costs
  /// least; with zero tolerances the first sample heard is the one that contains `time`. Times outside the item are clamped
  /// into it, positive infinity is its end. A seek before the item is ready becomes its start.
  ///
  /// `mode` says what becomes of a seek that is under way: by default this one takes its place.
  ///
  /// `completion` is called on the control loop, exactly once: finished once what was sought is committed to the output,
  /// unfinished at once when another seek, another item or a failure comes first. Seeks that are superseded together
  /// complete in the order of their calls.
  ///
  /// Errors: `invalidTime` for a time that is invalid or indefinite and for a tolerance below 0, `noCurrentItem`,
  /// `noSuchItem` when `itemID` is not the current item's, or the current item's own; then nothing changes and
  /// `completion` is not called.
  public func seek(
    to time: MediaTime, toleranceBefore: MediaTime = .positiveInfinity, toleranceAfter: MediaTime = .positiveInfinity,
    mode: SeekMode = .replace, itemID: PlayerItem.ID? = nil, completion: @escaping @Sendable (SeekResult) -> Void
  ) throws(MediaError) {
    let seek = PlayerCore.Seek(
      toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter, mode: mode, itemID: itemID)
    try core.seek(to: time, seek, completion: completion)
  }

  /// The same for a place in words. A part of the duration and the end wait until the item is open; a relative place counts
  /// from where the newest seek goes that has not completed, else from the time heard. Errors: likewise; `invalidTime` also
  /// for a part of a duration that is not known of an item that is ready.
  public func seek(
    to place: TimeExpression, toleranceBefore: MediaTime = .positiveInfinity,
    toleranceAfter: MediaTime = .positiveInfinity, mode: SeekMode = .replace, itemID: PlayerItem.ID? = nil,
    completion: @escaping @Sendable (SeekResult) -> Void
  ) throws(MediaError) {
    let seek = PlayerCore.Seek(
      toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter, mode: mode, itemID: itemID)
    try core.seek(to: place, seek, completion: completion)
  }

  /// The same, answering what came of it.
  public func seek(
    to time: MediaTime, toleranceBefore: MediaTime = .positiveInfinity, toleranceAfter: MediaTime = .positiveInfinity,
    mode: SeekMode = .replace
  ) async throws -> SeekResult {
    try await withCheckedThrowingContinuation { continuation in
      do throws(MediaError) {
        let seek = PlayerCore.Seek(toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter, mode: mode)
        try core.seek(to: time, seek) { continuation.resume(returning: $0) }
      } catch { continuation.resume(throwing: error) }
    }
  }

  /// Goes so many steps forward or, below 0, back, while paused. A step is a hundredth of a second, of every item: exact,
  /// and counted from where the newest seek or step goes that has not completed. At the item's ends it stops, and says so
  /// (`isClamped`). As `AVPlayerItem.step(byCount:)`. It completes like a seek.
  ///
  /// Errors: `invalidState` while the rate is not 0, `invalidArgument` for more than 2^31 steps, and those of `seek`; then
  /// nothing changes and `completion` is not called.
  public func step(
    byCount count: Int, completion: @escaping @Sendable (SeekResult) -> Void
  ) throws(MediaError) { try core.step(byCount: count, completion: completion) }

  /// What of an item of this player is decoded now and has not been heard; see `PlayerItem.loadedTimeRanges`. Errors:
  /// `noSuchItem`.
  public func loadedTimeRanges(of itemID: PlayerItem.ID) throws(MediaError) -> [TimeRange] {
    try core.measureLoaded(of: itemID)
  }

  /// Completes the seeks that are under way, unfinished. Where the player is then may be where it was or where they went.
  public func cancelPendingSeeks() { core.cancelPendingSeeks() }

  /// Where the time went between asking for the last start or seek and hearing it; nil before the first. A player that plays
  /// on, and one that goes to another item at once, start; items that follow each other by themselves do not.
  public var lastStartReport: StartReport? { core.lastStartReport }

  // MARK: - Times

  /// Calls `handler` whenever a multiple of `interval` on the item's timeline is heard, in any item (`periodic`); on jumps
  /// (`jump`); and where audio starts and stops (`start`, `stop`). A multiple that coincides with one of those is not
  /// reported again.
  ///
  /// The handlers run on the engine's control loop, once the sample is heard. They must not block: see
  /// `PlaybackEngine.loop`.
  ///
  /// - Parameters:
  ///   - interval: At least 1 ms.
  ///   - onEnd: Called once, after the last call of `handler`, if the player is closed or released before the observer is
  ///     removed.
  /// - Throws: `invalidTime`; `invalidState` if the player is closed.
  public func addPeriodicTimeObserver(
    forInterval interval: MediaTime, onEnd: (@Sendable () -> Void)? = nil,
    using handler: @escaping @Sendable (TimeObservation) -> Void
  ) throws(MediaError) -> ObserverToken {
    try core.addPeriodicTimeObserver(interval: interval, onEnd: onEnd, handler)
  }

  /// Calls `handler` with `crossed` whenever one of `times` is reached by playing, of whichever item is current, or of
  /// `itemID` only; 0 and exactly the item's duration are reached like any other. A time behind the duration is never
  /// reached, unless `actionAtItemEnd` is `none`.
  ///
  /// With `includesSeeks` it is called with `skipped`, too, for each time that a seek goes over. Every pass of a time is
  /// one of the two: a player that plays has passed a time once it is reached, one that is put to it by a seek stands in
  /// front of it and reaches it by playing on. So a seek from A to B passes the times in [A, B), without A if it was
  /// reached by playing; and back from B to A the times in [A, B], without B if it was not.
  ///
  /// The observer stays until it is removed, its item leaves the queue, or the player is closed. The handlers run on the
  /// engine's control loop, once the sample is heard. They must not block: see `PlaybackEngine.loop`.
  ///
  /// - Parameter onEnd: Called once, after the last call of `handler`, if the observer ends without being removed.
  /// - Throws: `invalidTime`; `invalidArgument` without times; `noSuchItem`; `invalidState` if the player is closed.
  public func addBoundaryTimeObserver(
    forTimes times: [MediaTime], itemID: PlayerItem.ID? = nil, includesSeeks: Bool = false,
    onEnd: (@Sendable () -> Void)? = nil, using handler: @escaping @Sendable (TimeObservation) -> Void
  ) throws(MediaError) -> ObserverToken {
    try addBoundaryTimeObserver(
      forTimes: BoundaryTimes(times), itemID: itemID, includesSeeks: includesSeeks, onEnd: onEnd, using: handler)
  }

  /// Adds a boundary observer for times that are ordered already.
  public func addBoundaryTimeObserver(
    forTimes times: BoundaryTimes, itemID: PlayerItem.ID? = nil, includesSeeks: Bool = false,
    onEnd: (@Sendable () -> Void)? = nil, using handler: @escaping @Sendable (TimeObservation) -> Void
  ) throws(MediaError) -> ObserverToken {
    try core.addBoundaryTimeObserver(
      times: times, itemID: itemID, includesSeeks: includesSeeks, onEnd: onEnd, handler)
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
  /// once with silence when it sounds no more. The handler runs on the control loop and must not block: see
  /// `PlaybackEngine.loop`. Errors: `invalidArgument` for a rate that is not from 1 to 100.
  public func addMeterObserver(
    rate: Double = 20, using handler: @escaping @Sendable (MeterObservation) -> Void
  ) throws(MediaError) -> ObserverToken { try core.addMeterObserver(rate: rate, handler) }

  /// Ends a meter observer; it is not called any more. Errors: `noSuchObserver`.
  public func removeMeterObserver(_ token: ObserverToken) throws(MediaError) { try core.removeMeterObserver(token) }

  // MARK: - Watching

  /// Calls `handler` with each change, on the control loop. `state` is the initial value. The handler must not block: see
  /// `PlaybackEngine.loop`.
  public func addStateObserver(_ handler: @escaping @Sendable (PlayerChange) -> Void) -> ObserverToken {
    core.addStateObserver(handler)
  }

  /// Calls `handler` with each event, on the control loop. The handler must not block: see `PlaybackEngine.loop`.
  public func addEventObserver(_ handler: @escaping @Sendable (PlayerEvent) -> Void) -> ObserverToken {
    core.addEventObserver(handler)
  }

  /// Ends a state or event observer; it is not called any more. Errors: `noSuchObserver`, also when the player is closed.
  public func removeObserver(_ token: ObserverToken) throws(MediaError) {
    guard core.removeObserver(token) else {
      throw MediaError(.noSuchObserver, "there is no observer \(token)", operation: "removeObserver")
    }
  }

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
    control = PlayerControlBox(
      core: PlayerCore(engine: engine.core, name: name, canAdvance: false), engine: engine)
  }

  /// Makes a player of an item. Errors: `itemInUse`.
  public init(engine: PlaybackEngine, name: String = "main", playerItem: PlayerItem) async throws {
    self.init(engine: engine, name: name)
    try replaceCurrentItem(with: playerItem)
  }

  /// Makes a player of what a `file:`, `http:` or `https:` URL names. Errors: those of `Asset(url:)`.
  public init(engine: PlaybackEngine, name: String = "main", url: String) async throws {
    try await self.init(engine: engine, name: name, playerItem: PlayerItem(asset: Asset(url: url)))
  }

  /// A player that nobody holds any more falls silent.
  deinit { loop.execute { [control] in control.core.close() } }

  /// Plays another item from now on; nil: none. The same item again changes nothing. Errors: `itemInUse`.
  public func replaceCurrentItem(with item: PlayerItem?) throws(MediaError) {
    if let item, item === currentItem { return }
    try control.core.replaceAll(with: item.map { [$0] } ?? [])
  }
}
