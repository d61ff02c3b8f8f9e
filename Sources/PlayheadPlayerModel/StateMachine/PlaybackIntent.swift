import PlayheadMediaCore

/// The requests to a player that are in effect: its rate, the order of passes, and the conditions of playback. A pure
/// value.
package struct PlaybackIntent: Sendable, Hashable {
  package typealias Loop = PlayerStateMachine.Loop
  package typealias RangeEnd = PlayerStateMachine.RangeEnd
  package typealias RepeatLimit = PlayerStateMachine.RepeatLimit

  package enum Transport: Sendable, Hashable {
    /// Paused, after a failure if `ItemFailurePolicy.stop` paused the player.
    case paused(after: PlayerStateMachine.FailureStop?)
    case playing(PlaybackRate)
  }

  // MARK: - State

  package private(set) var transport = Transport.paused(after: nil)
  /// The rate of playback; while paused the last one.
  package private(set) var targetRate = PlaybackRate.normal
  package private(set) var actionAtItemEnd: ActionAtItemEnd
  package private(set) var failurePolicy = ItemFailurePolicy.skip
  /// The limit of repeats while the repeat mode is `.one`; nil: unlimited.
  package private(set) var repeatLimit: RepeatLimit?
  /// The number of repeats of items since the player was made.
  package private(set) var repeatCount = 0
  package private(set) var loop: Loop?
  /// The end of the range that is played; nil: playback continues.
  package private(set) var rangeEnd: RangeEnd?
  /// Whether a stall ends automatically. If false, a stall pauses the player.
  package private(set) var automaticallyWaits = true
  /// Whether the player waits for a start instant in the future.
  package private(set) var isWaitingForStartTime = false
  /// The cross-fade between items; nil: the next item begins after the end of the previous one.
  package private(set) var crossfade: Crossfade?
  /// The reason why the session prevents playback; nil: it is allowed.
  package private(set) var sessionWaitingReason: WaitingReason?
  /// Whether nothing is opened until the next request to this player.
  package private(set) var isOpeningDeferred = false

  init(actionAtItemEnd: ActionAtItemEnd) { self.actionAtItemEnd = actionAtItemEnd }

  /// The requested rate; 0 while paused.
  package var rate: Double { if case .playing(let rate) = transport { rate.value } else { 0 } }

  /// The failure that paused the player.
  package var failureStop: PlayerStateMachine.FailureStop? {
    if case .paused(let failure) = transport { failure } else { nil }
  }

  // MARK: - Rate

  mutating func play(at rate: PlaybackRate) {
    targetRate = rate
    transport = .playing(rate)
  }

  /// Pauses. A paused player keeps its failure unless there is a new one.
  mutating func pause(after failure: PlayerStateMachine.FailureStop? = nil) {
    transport = .paused(after: failure ?? failureStop)
  }

  mutating func setTargetRate(_ rate: PlaybackRate) { targetRate = rate }

  // MARK: - Settings

  mutating func setActionAtItemEnd(_ action: ActionAtItemEnd) { actionAtItemEnd = action }

  mutating func setFailurePolicy(_ policy: ItemFailurePolicy) { failurePolicy = policy }

  mutating func setAutomaticallyWaits(_ waits: Bool) { automaticallyWaits = waits }

  mutating func setCrossfade(_ newCrossfade: Crossfade?) { crossfade = newCrossfade }

  mutating func setWaitingForStartTime(_ isWaiting: Bool) { isWaitingForStartTime = isWaiting }

  mutating func setSessionWaitingReason(_ reason: WaitingReason?) { sessionWaitingReason = reason }

  mutating func setOpeningDeferred(_ isDeferred: Bool) { isOpeningDeferred = isDeferred }

  // MARK: - Repeats, loops and ranges

  mutating func limitRepeats(_ limit: RepeatLimit?) { repeatLimit = limit }

  /// Counts a repeat of the current item. Returns whether it was the last one of the limit.
  mutating func countRepeat() -> Bool {
    repeatCount += 1
    guard let limit = repeatLimit else { return false }
    if limit.remaining > 1 { repeatLimit?.remaining = limit.remaining - 1 }
    return limit.remaining <= 1
  }

  mutating func setLoop(_ newLoop: Loop?) { loop = newLoop }

  mutating func armLoop(_ isArmed: Bool) { loop?.isArmed = isArmed }

  /// Makes the current pass of the loop the last one.
  mutating func finishLoop() {
    loop?.isFinishing = true
    loop?.remaining = nil
  }

  /// Counts a return to the beginning of the loop. After the last one there is no loop.
  mutating func countLoopReturn() {
    loop?.count += 1
    guard let remaining = loop?.remaining else { return }
    if remaining > 1 { loop?.remaining = remaining - 1 } else { loop = nil }
  }

  mutating func setRangeEnd(_ end: RangeEnd?) { rangeEnd = end }
}
