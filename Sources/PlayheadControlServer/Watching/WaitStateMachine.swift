import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

/// Decides whether the conditions of a `wait` are true, or can no longer become true
/// (docs/protocol/reference/watching.md, `wait`).
///
/// It uses no I/O. The caller passes the facts at the start and after each change. It also reports the crossing of each
/// boundary time, because the heard time may be later when the crossing is reported.
struct WaitStateMachine {
  /// The state of the player at one moment.
  struct Facts {
    var state: PlayerState
    /// The heard time.
    var time: MediaTime
    /// The forward end time of the current item. Nil: the end of the item.
    var forwardEnd: MediaTime?
    /// Returns whether an entry is in the queue.
    var contains: (PlayerItem.ID) -> Bool
  }

  enum Verdict: Equatable {
    case pending
    /// All conditions are true.
    case satisfied
    /// A condition can no longer become true, or the item has failed.
    case failed(MediaError)
  }

  private let conditions: [WaitCondition]
  /// The latest time to reach forwards, and the earliest time to reach backwards. Nil without such a condition.
  let (forwardTarget, reverseTarget): (MediaTime?, MediaTime?)
  /// The longest silence that is waited for. Nil without such a condition.
  let silenceDuration: MediaTime?
  /// The item that must be current.
  private let requiredItem: PlayerItem.ID?
  /// The item in which the time must be reached: the required item, or else the first current item during the wait.
  private var timedItem: PlayerItem.ID?
  /// Whether each target time has been crossed in its direction.
  private var (hasCrossedForwards, hasCrossedBackwards) = (false, false)
  /// Whether the player has been silent for `silenceDuration`.
  private var isSilent = false

  init(_ conditions: some Sequence<WaitCondition>) {
    let conditions = Array(conditions)
    self.conditions = conditions
    forwardTarget = conditions.compactMap { if case .timeAtLeast(let time) = $0 { time } else { nil } }.max()
    reverseTarget = conditions.compactMap { if case .timeAtMost(let time) = $0 { time } else { nil } }.min()
    silenceDuration = conditions.compactMap { if case .silence(let duration) = $0 { duration } else { nil } }.max()
    requiredItem =
      conditions.compactMap { if case .currentItem(let item) = $0 { PlayerItem.ID(item) } else { nil } }
      .first
    timedItem = requiredItem
  }

  /// The times whose crossings must be reported.
  var targetTimes: [MediaTime] { [forwardTarget, reverseTarget].compactMap { $0 } }

  /// Records that the boundary at `time` was crossed in an item. A crossing in the opposite direction removes the
  /// record.
  mutating func crossed(_ time: MediaTime, in item: PlayerItem.ID, isReverse: Bool) {
    guard item == timedItem else { return }
    if time == forwardTarget { hasCrossedForwards = !isReverse }
    if time == reverseTarget { hasCrossedBackwards = isReverse }
  }

  /// Records a jump of the time, for example by a seek. Earlier crossings no longer count.
  mutating func timeJumped() { (hasCrossedForwards, hasCrossedBackwards) = (false, false) }

  /// Records the beginning or the end of silence that lasted `silenceDuration`.
  mutating func silenceChanged(isSilent: Bool) { self.isSilent = isSilent }

  /// Checks all conditions.
  mutating func evaluate(_ facts: Facts) -> Verdict {
    if !targetTimes.isEmpty, timedItem == nil { timedItem = facts.state.currentItemID }
    if let failure = failure(facts) { return .failed(failure) }
    return conditions.allSatisfy { isTrue($0, facts) } ? .satisfied : .pending
  }

  private func isTrue(_ condition: WaitCondition, _ facts: Facts) -> Bool {
    let state = facts.state
    switch condition {
    case .timeAtLeast(let time):
      return isInTimedItem(state) && (hasCrossedForwards || facts.time >= time)
    case .timeAtMost(let time):
      return isInTimedItem(state) && (hasCrossedBackwards || facts.time <= time)
    case .status(let status): return state.timeControlStatus.wireName == status.rawValue
    case .currentItem(let item): return state.currentItemID == PlayerItem.ID(item)
    case .entry: preconditionFailure("a position was not resolved")
    case .ended: return state.currentItemID == nil || state.isAtItemBeginning || Self.isStoppedAtEnd(facts)
    case .ready: return state.itemStatus == .readyToPlay
    case .silence: return isSilent
    }
  }

  private func isInTimedItem(_ state: PlayerState) -> Bool {
    state.currentItemID != nil && state.currentItemID == timedItem
  }

  /// The error if continued playback can no longer make the conditions true. Nil otherwise.
  private func failure(_ facts: Facts) -> MediaError? {
    let state = facts.state
    if let requiredItem, state.currentItemID != requiredItem, !facts.contains(requiredItem) {
      return MediaError(.noSuchItem, "item \(requiredItem) is not in the queue and cannot become the current item")
    }
    if let timedItem, !targetTimes.isEmpty, state.currentItemID != timedItem, timedItem != requiredItem {
      return MediaError(.waitEnded, "item \(timedItem) is no longer the current item")
    }
    if let forwardTarget, state.currentItemID == timedItem, facts.time < forwardTarget, !hasCrossedForwards,
      Self.isStoppedAtEnd(facts)
    {
      return MediaError(
        .waitEnded, "the item ended at \(facts.time.decimalDescription), before the requested time")
    }
    if let reverseTarget, state.currentItemID == timedItem, facts.time > reverseTarget, !hasCrossedBackwards,
      state.isAtItemBeginning
    {
      return MediaError(
        .waitEnded,
        "in reverse, the item ended at \(facts.time.decimalDescription), before the requested time")
    }
    // The error of a failed item ends the wait, which would otherwise continue indefinitely.
    guard state.currentItemID == requiredItem ?? state.currentItemID else { return nil }
    let errors = conditions.lazy.compactMap { condition -> MediaError? in
      switch condition {
      case .ready: state.itemStatus.error
      case .status(.playing), .ended, .timeAtLeast, .timeAtMost: state.error
      case .status, .currentItem, .entry, .silence: nil
      }
    }
    return errors.first
  }

  /// Whether the player is paused at the forward end of the item, by playback or by a seek.
  private static func isStoppedAtEnd(_ facts: Facts) -> Bool {
    let state = facts.state
    guard state.rate == 0, state.itemStatus == .readyToPlay else { return false }
    let end = min(
      state.itemDuration.isNumeric ? state.itemDuration : .positiveInfinity, facts.forwardEnd ?? .positiveInfinity)
    return state.isAtItemEnd || facts.time >= end
  }
}
