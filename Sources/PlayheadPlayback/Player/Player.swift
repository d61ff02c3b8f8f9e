import PlayheadControlLoop
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// The operations of every player, modelled on AVPlayer.
///
/// <!-- listing: isolated-calls -->
/// ```swift
/// /// Pauses, and returns the state before and after the pause.
/// func pauseForAnnouncement(_ player: isolated QueuePlayer) -> (before: PlayerState, after: PlayerState) {
///   let before = player.state
///   player.pause()
///   return (before, player.state)
/// }
/// ```
///
/// From file to audio: a `PlayerItem` names the file. A decode thread opens the file for the player's `PlayerCore` and
/// fills a stream of samples. When the first samples are decoded, the stream is passed to the output's mixer
/// (`RenderCore`). The output's clock reports which sample is heard. Positions, periodic observations and item ends are
/// derived from that clock.
///
/// Unlike AVPlayer, a player has no `status` and no `error` that ends it: only ``close()`` ends a player. A failure of
/// an item is part of the item's state, and a lost device is part of the output's state. There is no `masterClock`: all
/// players of an output use the output's clock.
///
/// Threading: players are actors on the engine's control loop. Programs await their methods. Code that already runs on
/// the loop calls them with `assumeIsolated`. Handlers of observers are called on the loop.
public protocol PlayerControl: Actor {
  /// The implementation of the player; not for use by programs.
  nonisolated var control: PlayerControlBox { get }
}

/// Hides the implementation of a player from the public interface.
public struct PlayerControlBox: Sendable {
  let core: PlayerCore
  /// Players retain their engine.
  let engine: PlaybackEngine
}

extension PlayerControl {
  var core: PlayerCore { control.core }

  // MARK: - State

  /// A snapshot of all public properties.
  public var state: PlayerState { core.state }

  /// The requested rate; 0 means paused.
  public var rate: Double { state.rate }

  /// Whether the player is paused, waits to play, or plays.
  public var timeControlStatus: TimeControlStatus { state.timeControlStatus }

  /// The reason why the player waits; nil unless ``timeControlStatus`` is `waiting`.
  public var reasonForWaitingToPlay: WaitingReason? { state.reasonForWaitingToPlay }

  /// The gain, from 0 (silence) to 1 (unchanged). During a fade, its final value.
  public var volume: Float { state.volume }

  /// Whether the player is muted. The volume does not change.
  public var isMuted: Bool { state.isMuted }

  /// The time of the current item that is heard now; zero without a current item. The time never decreases during
  /// forward playback without a jump.
  public func currentTime() -> MediaTime { core.currentTime() }

  /// The time of the current item that is heard now, with its rate and its instant. A program that draws the position
  /// computes later positions from it (``TimebaseAnchor/time(at:)``).
  public var timebaseAnchor: TimebaseAnchor { core.timebaseAnchor }

  /// The recording date of the audio that is heard now, in nanoseconds since 1970, from the playlist of an HLS stream.
  /// Nil if the item has no dates. Corresponds to AVPlayerItem's `currentDate()`.
  public func currentDate() -> Int64? { core.currentItem?.asset.date(at: core.currentTime()) }

  /// Returns the time of the current item at which audio recorded at a date is heard, for use with `seek(to:)`.
  ///
  /// - Parameter date: In nanoseconds since 1970.
  /// - Throws: `noCurrentItem`; `noSuchDate` if the item has no dates, or no audio of that date.
  public func time(ofDate date: Int64) throws(MediaError) -> MediaTime {
    guard let item = core.currentItem else {
      throw MediaError(.noCurrentItem, "there is no current item to seek in", operation: "seek")
    }
    guard let time = item.asset.time(ofDate: date) else {
      throw MediaError(
        .noSuchDate, "item \(item.id) has no audio of \(ISODate.text(date))", operation: "seek")
    }
    return time
  }

  /// The current item; nil without one.
  public var currentItem: PlayerItem? { core.currentItem }

  // MARK: - Transport

  /// Sets the rate to ``defaultRate``, or to the rate that ``setRate(_:startsPlayback:)`` stored for this call.
  ///
  /// Without an item the player waits for one. Streams cannot be played backwards: if the rate would be negative for a
  /// stream, the call has no effect.
  public func play() { core.play() }

  /// Sets the rate to 0. Pausing neither loses nor repeats samples.
  public func pause() { core.pause() }

  /// Sets the desired rate: 0 pauses, any other value plays, and a negative value plays backwards.
  ///
  /// The magnitude ranges from 1/32 to 32, with a precision of one millionth. During playback the rate changes without
  /// a gap or a click, 60 ms after the audio that is heard at the call. If decoding takes longer, the change occurs as
  /// soon as the audio is decoded. Until then `state.timebaseRate` is the previous rate. Each of several quick changes
  /// takes effect after the previous change; the newest rate remains.
  ///
  /// - Parameters:
  ///   - rate: The rate; 0 pauses.
  ///   - startsPlayback: If false, a paused player stays paused, and its next ``play()`` uses the rate, once. Default:
  ///     true.
  /// - Throws: `unsupportedRate` for NaN and for a magnitude out of range; for a negative rate `rangesNotSupported` if
  ///   the item is a stream, or `onlyInOrder` if it is a descriptor that cannot seek.
  public func setRate(_ rate: Double, startsPlayback: Bool = true) throws(MediaError) {
    try core.setRate(rate, startsPlayback: startsPlayback)
  }

  /// The rate that the next ``play()`` sets: the rate stored by ``setRate(_:startsPlayback:)``, or ``defaultRate``.
  public var rateForNextPlay: Double { core.rates.next.value }

  /// The rate that ``play()`` sets. Default: 1.
  public var defaultRate: Double { core.rates.default.value }

  /// Sets the rate of future calls of ``play()``. Current playback does not change.
  ///
  /// - Throws: `unsupportedRate`.
  public func setDefaultRate(_ rate: Double) throws(MediaError) { try core.setDefaultRate(rate) }

  /// Plays at `rate` at once with the samples that are decoded, however few; also ends a stall.
  ///
  /// Without any decoded sample the call acts like a stall, but emits no `stalled` event. If
  /// ``automaticallyWaitsToMinimizeStalling`` is true, the player waits (`toMinimizeStalls`, or until the item is
  /// open). If it is false, the player stays paused.
  ///
  /// - Throws: the errors of ``setRate(_:startsPlayback:)``; `unsupportedRate` also for 0.
  public func playImmediately(atRate rate: Double = 1) throws(MediaError) { try core.playImmediately(atRate: rate) }

  /// Whether an underrun makes the player wait (`toMinimizeStalls`) until enough is decoded, and then resume. Default:
  /// true.
  ///
  /// If false, an underrun pauses the player: its rate becomes 0. Both cases emit one `stalled` event. Setting the
  /// property to false during such a wait resumes playback at once with the decoded samples.
  public var automaticallyWaitsToMinimizeStalling: Bool { core.machine.automaticallyWaits }

  /// Sets ``automaticallyWaitsToMinimizeStalling``.
  public func setAutomaticallyWaitsToMinimizeStalling(_ waits: Bool) { core.setAutomaticallyWaits(waits) }

  /// Decodes the next samples for `rate` while the player stays silent, so that playback starts without a delay.
  ///
  /// Playback at another rate requires decoding again, like any change of the rate. The preroll waits until the item
  /// and the output are open.
  ///
  /// - Parameters:
  ///   - rate: The rate of the samples to decode. Default: 1.
  ///   - completion: Called once, on the control loop. True: the mixer has the first samples, so playback is heard as
  ///     soon as the device allows. False: the time or the item changed, a rate was set, the item failed, a preroll at
  ///     another rate began, or the preroll was cancelled.
  /// - Throws: `invalidState` while the rate is not 0, and for a player that is about to start with others at another
  ///   rate; the errors of ``setRate(_:startsPlayback:)``; `unsupportedRate` for 0; `noCurrentItem`; the error of the
  ///   current item. Then `completion` is not called.
  public func preroll(atRate rate: Double = 1, completion: @escaping @Sendable (Bool) -> Void) throws(MediaError) {
    try core.prerolls.add(atRate: rate, completion: completion)
  }

  /// Completes all pending prerolls with false.
  public func cancelPendingPrerolls() { core.prerolls.end() }

  /// Sets the rate so that exactly `time` of the current item is heard at `hostTime`.
  ///
  /// Until a future `hostTime` the player stays silent at `time` and waits (`startTimeNotReached`). For a past
  /// `hostTime` the player starts late, at the position that playback would have reached by then. With rate 0 the
  /// player pauses and seeks to `time` at once. To start several players on one output together, use
  /// `PlaybackEngine.start`.
  ///
  /// - Parameters:
  ///   - rate: The rate; 0 pauses.
  ///   - time: Nil: the current time.
  ///   - hostTime: Nil: as soon as `time` is decoded.
  /// - Throws: the errors of ``setRate(_:startsPlayback:)``; `invalidState` while
  ///   ``automaticallyWaitsToMinimizeStalling`` is true, because a player that waits for samples cannot start at a
  ///   given instant; `invalidTime` for an invalid or indefinite time, and for an instant more than a day ahead;
  ///   `noCurrentItem`; the error of the current item. Then nothing changes.
  public func setRate(_ rate: Double, time: MediaTime?, atHostTime hostTime: HostTime?) throws(MediaError) {
    try core.jointChanges.setRate(rate, time: time, atHostTime: hostTime)
  }

  /// Sets the rate so that exactly `time` of the current item is heard at a date.
  ///
  /// The start follows the wall clock, as ``StartMoment/date(_:)`` describes. The player pauses at `time`, and waits
  /// (`startTimeNotReached`) from 2 s before the start. With rate 0 the player pauses and seeks to `time` at once.
  ///
  /// <!-- listing: start-at-date -->
  /// ```swift
  /// await player.setAutomaticallyWaitsToMinimizeStalling(false)
  /// try await player.setRate(1, time: .zero, atDate: DateExpression(parsing: "2026-12-24T18:00:00+01:00"))
  /// ```
  ///
  /// - Parameters:
  ///   - rate: The rate; 0 pauses.
  ///   - time: Nil: the current time.
  ///   - date: At most 366 days ahead.
  /// - Throws: the errors of ``setRate(_:time:atHostTime:)``; `invalidTime` for a date in the past or more than 366
  ///   days ahead; `outputUnavailable` if the system cannot report changes of the clock. Then nothing changes.
  public func setRate(_ rate: Double, time: MediaTime?, atDate date: DateExpression) throws(MediaError) {
    try core.jointChanges.setRate(rate, time: time, atDate: date)
  }

  /// Pauses, and seeks to the beginning of the current item.
  public func stop() { core.stop() }

  /// Sets the gain, from 0 (silence) to 1 (unchanged). The change takes at most 5 ms.
  ///
  /// - Throws: `invalidArgument`.
  public func setVolume(_ volume: Float) throws(MediaError) { try core.volume.setVolume(volume) }

  /// Fades from the current volume, which may be part of another fade, to `volume`.
  ///
  /// The volume reads as `volume` at once, and has that value on another device: the loss of the output ends the fade.
  ///
  /// An end action pauses the player at the exact output frame at which the fade ends. The volume keeps its final
  /// value. Another fade or volume cancels the end action. The end action has no effect if the player is paused when
  /// the fade ends.
  ///
  /// - Parameters:
  ///   - volume: The final volume, from 0 to 1.
  ///   - duration: In time of the output, from 0 to a day. This time does not elapse while no player is heard on the
  ///     output.
  ///   - curve: The shape of the fade. Default: linear.
  ///   - endAction: The action at the end of the fade. Default: none.
  ///   - completion: Called once, on the control loop, when the end of the fade is heard, when the fade is replaced, or
  ///     when its end cannot be expected because the player does not play (``FadeOutcome/notPlaying``).
  /// - Throws: `invalidArgument` for a volume out of 0...1; `invalidTime` for a duration out of range. Then nothing
  ///   changes, and `completion` is not called.
  public func fade(
    to volume: Float, duration: MediaTime, curve: FadeCurve = .linear, endAction: FadeEndAction = .none,
    completion: (@Sendable (FadeOutcome) -> Void)? = nil
  ) throws(MediaError) {
    try core.volume.fade(to: volume, duration: duration, curve: curve, endAction: endAction, completion: completion)
  }

  /// Sets the pan, from -1 (left) to 1 (right). The channel on the side of the pan keeps gain 1, and the other one gets
  /// cos(|pan| * pi/2). The change takes at most 5 ms.
  ///
  /// - Throws: `invalidArgument`.
  public func setPan(_ pan: Float) throws(MediaError) { try core.volume.setPan(pan) }

  /// Mutes or unmutes the player. The volume does not change.
  public func setMuted(_ isMuted: Bool) { core.volume.setMuted(isMuted) }

  /// Sets what happens at the end of the current item.
  ///
  /// - Throws: `invalidArgument` for `advance` and `stop` without a queue.
  public func setActionAtItemEnd(_ action: ActionAtItemEnd) throws(MediaError) { try core.setActionAtItemEnd(action) }

  // MARK: - Repeating

  /// Sets what is repeated after its end. Repeats have no gap, and are decoded ahead like any following item.
  ///
  /// A mode other than `off` has priority over `actionAtItemEnd`. Items shorter than 10 ms are played once. Each repeat
  /// is a `transition` event.
  ///
  /// - Throws: `invalidArgument` for `all` without a queue.
  public func setRepeatMode(_ mode: RepeatMode) throws(MediaError) { try core.setRepeatMode(mode) }

  /// Loops a part of the current item, exactly from frame `floor(start * rate)` up to frame `floor(end * rate)`.
  ///
  /// When playback reaches the end of the range from inside or before it, it continues at the beginning of the range.
  /// This return is a `transition` event from the item to itself, and no `timeJumped` event. Playback that is after the
  /// range, when the loop is set or by a seek, continues to the item's end. The loop ends when the end of the item is
  /// heard, and when another item becomes current.
  ///
  /// - Parameters:
  ///   - range: Nil removes the loop; playback continues from its position without a gap.
  ///   - count: The number of returns to the beginning after which the loop ends, at least 1. Nil: unlimited.
  ///   - itemID: The expected current item. Nil: any.
  /// - Throws: `noCurrentItem`; `noSuchItem` if `itemID` is not the current item; `invalidState` if the item is not
  ///   ready; the item's own error if it failed; `invalidTime` for a range that is empty, shorter than 10 ms or beyond
  ///   the duration; `invalidArgument` for a `count` below 1. Then nothing changes.
  public func setLoop(_ range: TimeRange?, count: Int? = nil, itemID: PlayerItem.ID? = nil) throws(MediaError) {
    try core.setLoop(range, count: count, itemID: itemID)
  }

  /// Makes the current pass of the loop the last one. The item ends at the end of the loop.
  ///
  /// That end has all effects of an item's end: `playedToEnd`, `actionAtItemEnd`, and the next item without a gap.
  ///
  /// - Throws: `noCurrentItem`; `noSuchItem` if `itemID` is not the current item; `invalidState` without a loop.
  public func finishLoop(itemID: PlayerItem.ID? = nil) throws(MediaError) { try core.finishLoop(itemID: itemID) }

  // MARK: - Ranges

  /// Plays a range of the current item once: seeks to its start, plays, and pauses exactly at its end.
  ///
  /// The audio from `floor(start * rate)` up to frame `floor(end * rate)` is heard. The next playback continues with
  /// the frame after it. No setting of the item or the player changes. While the range is played, nothing follows it:
  /// it has priority over loops, repeats and `actionAtItemEnd`. A pause does not end the range.
  ///
  /// - Parameters:
  ///   - range: The range, in time of the item.
  ///   - itemID: The expected current item. Nil: any.
  ///   - completion: Called once, on the control loop, with the outcome.
  /// - Returns: The id for ``cancelRange(_:)``.
  /// - Throws: `noCurrentItem`; `noSuchItem` if `itemID` is not the current item; the item's own error; `invalidState`
  ///   if the item is not ready; `invalidTime` for a range that is empty or extends beyond the item;
  ///   `unsupportedRate` if the rate is negative; the errors of `seek`. Then nothing changes, and `completion` is not
  ///   called.
  @discardableResult
  public func playRange(
    _ range: TimeRange, itemID: PlayerItem.ID? = nil, completion: @escaping @Sendable (RangeOutcome) -> Void
  ) throws(MediaError) -> UInt64 {
    try core.seeks.range.play(range, itemID: itemID, completion: completion)
  }

  /// Cancels a range, if it is still played. Playback continues past its end.
  public func cancelRange(_ id: UInt64) { core.seeks.range.cancel(id) }

  // MARK: - Seeking

  /// Seeks to a time of the current item within [time - toleranceBefore, time + toleranceAfter].
  ///
  /// The player chooses the time in that range that is cheapest to reach. With zero tolerances the first sample heard
  /// is the one that contains `time`. Times outside the item are clamped to it; positive infinity is its end. A seek
  /// before the item is ready sets the item's start position.
  ///
  /// - Parameters:
  ///   - time: The time of the item. Positive infinity is its end.
  ///   - toleranceBefore: At least 0. Default: positive infinity.
  ///   - toleranceAfter: At least 0. Default: positive infinity.
  ///   - mode: What happens to a pending seek. Default: this one replaces it.
  ///   - itemID: The expected current item. Nil: any.
  ///   - completion: Called once, on the control loop. Finished: the audio at the new position is committed to the
  ///     output. Unfinished: another seek, another item or a failure came first; then it is called at once. Seeks that
  ///     one request supersedes complete in the order of their calls.
  /// - Throws: `invalidTime` for an invalid or indefinite time and for a tolerance below 0; `noCurrentItem`;
  ///   `noSuchItem` if `itemID` is not the current item; the error of the current item. Then nothing changes, and
  ///   `completion` is not called.
  public func seek(
    to time: MediaTime, toleranceBefore: MediaTime = .positiveInfinity, toleranceAfter: MediaTime = .positiveInfinity,
    mode: SeekMode = .replace, itemID: PlayerItem.ID? = nil, completion: @escaping @Sendable (SeekResult) -> Void
  ) throws(MediaError) {
    let seek = PlayerSeeks.Options(
      toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter, mode: mode, itemID: itemID)
    try core.seeks.seek(to: time, seek, completion: completion)
  }

  /// Seeks to a position that is given as an expression.
  ///
  /// A fraction of the duration, and the end, wait until the item is open. A relative position counts from the target
  /// of the newest pending seek, or from the time heard if there is none.
  ///
  /// - Throws: the errors of `seek(to:)` for a `MediaTime`; `invalidTime` also for a fraction of the duration if a
  ///   ready item has no known duration.
  public func seek(
    to position: TimeExpression, toleranceBefore: MediaTime = .positiveInfinity,
    toleranceAfter: MediaTime = .positiveInfinity, mode: SeekMode = .replace, itemID: PlayerItem.ID? = nil,
    completion: @escaping @Sendable (SeekResult) -> Void
  ) throws(MediaError) {
    let seek = PlayerSeeks.Options(
      toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter, mode: mode, itemID: itemID)
    try core.seeks.seek(to: position, seek, completion: completion)
  }

  /// Moves the position by `count` steps of 10 ms while paused; a negative count moves back. Corresponds to
  /// `AVPlayerItem.step(byCount:)`.
  ///
  /// Steps are exact, and have the same length in every item. Steps count from the target of the newest pending seek or
  /// step. At the beginning and the end of the item the position is clamped, and the result has `isClamped`. A step
  /// completes like a seek.
  ///
  /// - Throws: `invalidState` while the rate is not 0; `invalidArgument` for more than 2^31 steps; the errors of
  ///   `seek`. Then nothing changes, and `completion` is not called.
  public func step(
    byCount count: Int, completion: @escaping @Sendable (SeekResult) -> Void
  ) throws(MediaError) { try core.seeks.step(byCount: count, completion: completion) }

  /// Measures which ranges of an item of this player are decoded and not yet heard; see
  /// ``PlayerItem/loadedTimeRanges``.
  ///
  /// - Throws: `noSuchItem`.
  public func loadedTimeRanges(of itemID: PlayerItem.ID) throws(MediaError) -> [TimeRange] {
    try core.decodedRanges.measure(itemID)
  }

  /// Completes all pending seeks as unfinished. The position is then either the previous one or the target of a seek.
  public func cancelPendingSeeks() { core.seeks.cancelAll() }

  /// The latency of the last start or seek, from the request to the first sample heard, by phase; nil before the first
  /// one.
  ///
  /// A start resumes playback or switches to another item immediately. Automatic transitions between items are not
  /// starts.
  public var lastStartReport: StartReport? { core.seeks.latency.report }

  // MARK: - Times

  /// Calls `handler` at times of the item that are multiples of `interval` (`periodic`), in each item; at jumps
  /// (`jump`); and where audio starts and stops (`start`, `stop`).
  ///
  /// A multiple that coincides with a jump, start or stop is not reported separately. The handlers run on the engine's
  /// control loop, once the sample is heard. Handlers must not block: see `PlaybackEngine.loop`.
  ///
  /// - Parameters:
  ///   - interval: At least 1 ms.
  ///   - onEnd: Called once, after the last call of `handler`, if the player is closed or released before the observer
  ///     is removed.
  ///   - handler: Called on the control loop.
  /// - Throws: `invalidTime`; `invalidState` if the player is closed.
  public func addPeriodicTimeObserver(
    forInterval interval: MediaTime, onEnd: (@Sendable () -> Void)? = nil,
    using handler: @escaping @Sendable (TimeObservation) -> Void
  ) throws(MediaError) -> ObserverToken {
    try core.timeObservers.addPeriodic(interval: interval, onEnd: onEnd, handler)
  }

  /// Calls `handler` with `crossed` whenever playback reaches one of `times` in the current item.
  ///
  /// Time 0 and the exact duration of the item are reached like any other time. A time after the duration is only
  /// reached if `actionAtItemEnd` is `none`.
  ///
  /// With `includesSeeks`, `handler` is also called with `skipped` for each time that a seek jumps over. Each traversal
  /// of a time is reported once, as `crossed` or as `skipped`:
  /// - Playback passes a time when it reaches the time. After a seek to a time, playback has not passed it yet, and
  ///   crosses it when it continues.
  /// - A seek from A forward to B skips the times in [A, B), without A if playback had reached A.
  /// - A seek from B back to A skips the times in [A, B], without B if playback had not reached B.
  ///
  /// The observer exists until it is removed, its item leaves the queue, or the player is closed. The handlers run on
  /// the engine's control loop, once the sample is heard. Handlers must not block: see `PlaybackEngine.loop`.
  ///
  /// - Parameters:
  ///   - times: The times, in any order.
  ///   - itemID: The only item to observe. Nil: each item while it is current.
  ///   - includesSeeks: Whether seeks that jump over a time are observed. Default: false.
  ///   - onEnd: Called once, after the last call of `handler`, if the observer ends without being removed.
  ///   - handler: Called on the control loop.
  /// - Throws: `invalidTime`; `invalidArgument` without times; `noSuchItem`; `invalidState` if the player is closed.
  public func addBoundaryTimeObserver(
    forTimes times: [MediaTime], itemID: PlayerItem.ID? = nil, includesSeeks: Bool = false,
    onEnd: (@Sendable () -> Void)? = nil, using handler: @escaping @Sendable (TimeObservation) -> Void
  ) throws(MediaError) -> ObserverToken {
    try addBoundaryTimeObserver(
      forTimes: BoundaryTimes(times), itemID: itemID, includesSeeks: includesSeeks, onEnd: onEnd, using: handler)
  }

  /// Adds a boundary time observer for times that are already sorted.
  package func addBoundaryTimeObserver(
    forTimes times: BoundaryTimes, itemID: PlayerItem.ID? = nil, includesSeeks: Bool = false,
    onEnd: (@Sendable () -> Void)? = nil, using handler: @escaping @Sendable (TimeObservation) -> Void
  ) throws(MediaError) -> ObserverToken {
    try core.timeObservers.addBoundary(
      times: times, itemID: itemID, includesSeeks: includesSeeks, onEnd: onEnd, handler)
  }

  /// Removes a time observer, which is not called any more.
  ///
  /// - Throws: `noSuchObserver`.
  public func removeTimeObserver(_ token: ObserverToken) throws(MediaError) { try core.timeObservers.remove(token) }

  // MARK: - Meters

  /// Whether ``updateMeters()`` measures. Default: false. Disabled metering costs no time.
  public var isMeteringEnabled: Bool { core.meters.isEnabled }

  /// Enables or disables ``updateMeters()``.
  public func setMeteringEnabled(_ isEnabled: Bool) { core.meters.setEnabled(isEnabled) }

  /// Measures the last 50 ms heard of this player, after volume and pan.
  public func updateMeters() { core.meters.measure() }

  /// Returns the RMS level that the last ``updateMeters()`` measured, in dBFS.
  ///
  /// - Returns: `MeterLevels.silence` if nothing was measured, or metering is disabled.
  /// - Throws: `invalidArgument` for a channel that the output does not have.
  public func averagePower(forChannel channel: Int) throws(MediaError) -> Float {
    try core.meters.power(\.averagePower, forChannel: channel, operation: "averagePower")
  }

  /// Returns the peak level that the last ``updateMeters()`` measured, in dBFS; otherwise like
  /// ``averagePower(forChannel:)``.
  public func peakPower(forChannel channel: Int) throws(MediaError) -> Float {
    try core.meters.power(\.peakPower, forChannel: channel, operation: "peakPower")
  }

  /// Calls `handler` periodically while the player is heard, each time when the measured audio has been heard.
  ///
  /// When the player becomes silent, `handler` is called once with silence. The handler runs on the control loop and
  /// must not block: see `PlaybackEngine.loop`.
  ///
  /// - Parameters:
  ///   - rate: Calls per second, from 1 to 100. Default: 20.
  ///   - handler: Called on the control loop.
  /// - Throws: `invalidArgument` for a rate out of range.
  public func addMeterObserver(
    rate: Double = 20, using handler: @escaping @Sendable (MeterObservation) -> Void
  ) throws(MediaError) -> ObserverToken { try core.meters.addObserver(rate: rate, handler) }

  /// Removes a meter observer, which is not called any more.
  ///
  /// - Throws: `noSuchObserver`.
  public func removeMeterObserver(_ token: ObserverToken) throws(MediaError) { try core.meters.removeObserver(token) }

  // MARK: - State and events

  /// Calls `handler` with each change, on the control loop. ``state`` has the initial value. The handler must not
  /// block: see `PlaybackEngine.loop`.
  public func addStateObserver(_ handler: @escaping @Sendable (PlayerChange) -> Void) -> ObserverToken {
    core.calls.addStateObserver(handler)
  }

  /// Calls `handler` with each event, on the control loop. The handler must not block: see `PlaybackEngine.loop`.
  public func addEventObserver(_ handler: @escaping @Sendable (PlayerEvent) -> Void) -> ObserverToken {
    core.calls.addEventObserver(handler)
  }

  /// Removes a state or event observer, which is not called any more.
  ///
  /// - Throws: `noSuchObserver`, also if the player is closed.
  public func removeObserver(_ token: ObserverToken) throws(MediaError) {
    guard core.calls.removeObserver(token) else {
      throw MediaError(.noSuchObserver, "unknown observer \(token)", operation: "removeObserver")
    }
  }

  /// The current state, and then each newer one. A slow consumer gets only the newest. Ends when the player is closed.
  public func states() -> AsyncStream<PlayerState> {
    let (stream, continuation) = AsyncStream.makeStream(of: PlayerState.self, bufferingPolicy: .bufferingNewest(1))
    continuation.yield(state)
    let token = core.calls.addStateObserver { continuation.yield($0.new) }
    core.calls.addStreamFinisher(for: token) { continuation.finish() }
    continuation.onTermination = { [core] _ in core.engine.loop.execute { core.calls.removeObserver(token) } }
    return stream
  }

  /// Events from now on. The buffer has space for 256 events; a slow consumer loses the oldest.
  public func events() -> AsyncStream<PlayerEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: PlayerEvent.self, bufferingPolicy: .bufferingNewest(256))
    let token = core.calls.addEventObserver { continuation.yield($0) }
    core.calls.addStreamFinisher(for: token) { continuation.finish() }
    continuation.onTermination = { [core] _ in core.engine.loop.execute { core.calls.removeObserver(token) } }
    return stream
  }

  /// Closes the player permanently. Requests that can throw then throw `invalidState`; `play` and `pause` have no
  /// effect.
  public func close() { core.close() }
}

/// A player for one item at a time, modelled on AVPlayer.
///
/// <!-- listing: one-resource -->
/// ```swift
/// let radio = try await Player(url: "https://radio.example/live")
/// await radio.play()
/// print(await radio.timeControlStatus, await radio.rate, await radio.volume, await radio.isMuted)
/// ```
public actor Player: PlayerControl {
  public nonisolated let control: PlayerControlBox
  private nonisolated let loop: any ControlLoop

  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Makes a player on the output of `engine`. Any thread.
  public init(engine: PlaybackEngine, name: String = "main") {
    loop = engine.loop
    control = PlayerControlBox(
      core: PlayerCore(engine: engine.core, name: name, canAdvance: false), engine: engine)
  }

  /// Makes a player of an item.
  ///
  /// - Throws: `itemInUse`.
  public init(engine: PlaybackEngine, name: String = "main", playerItem: PlayerItem) async throws(MediaError) {
    self.init(engine: engine, name: name)
    try replaceCurrentItem(with: playerItem)
  }

  /// Makes a player of the resource at a `file:`, `http:` or `https:` URL.
  ///
  /// - Throws: the errors of `Asset(url:)`.
  public init(engine: PlaybackEngine, name: String = "main", url: String) async throws(MediaError) {
    try await self.init(engine: engine, name: name, playerItem: PlayerItem(asset: Asset(url: url)))
  }

  /// Closes the player when it is released.
  deinit { loop.execute { [control] in control.core.close() } }

  /// Replaces the current item; nil removes it. No effect if `item` is already the current item.
  ///
  /// - Throws: `itemInUse`.
  public func replaceCurrentItem(with item: PlayerItem?) throws(MediaError) {
    if let item, item === currentItem { return }
    try control.core.replaceAll(with: item.map { [$0] } ?? [])
  }
}
