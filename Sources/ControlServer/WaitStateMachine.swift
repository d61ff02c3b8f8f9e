import MediaCore
import Playback
import WireProtocol

/// Whether what a `wait` waits for has come, or cannot come any more (protocol.md, `wait`).
///
/// Pure: facts in, verdict out. It is asked with the facts at the start and after each change; that a boundary was crossed
/// is told apart, because the time at which that is told may be a moment later.
struct WaitStateMachine {
  /// What is known of the player at one moment.
  struct Facts {
    var state: PlayerState
    /// The time heard.
    var time: MediaTime
    /// Where forward playback of the current item ends, if it is not where its sound does.
    var forwardEnd: MediaTime?
    /// Whether an entry is in the queue.
    var contains: (PlayerItem.ID) -> Bool
  }

  enum Verdict: Equatable {
    case pending
    /// All conditions hold.
    case satisfied
    case failed(MediaError)
  }

  private let conditions: [WaitCondition]
  /// The latest of the times to be reached forwards, and the earliest of those to be reached backwards; nil when there is
  /// none.
  let (forwardTarget, reverseTarget): (MediaTime?, MediaTime?)
  /// The item that must be the current one.
  private let wantedItem: PlayerItem.ID?
  /// The item in which the time is to be reached: the wanted one, or the first that is current while we wait.
  private var timedItem: PlayerItem.ID?
  /// Which of them have been crossed the way that they are waited for.
  private var (hasCrossedForwards, hasCrossedBackwards) = (false, false)

  init(_ conditions: some Sequence<WaitCondition>) {
    let conditions = Array(conditions)
    self.conditions = conditions
    forwardTarget = conditions.compactMap { if case .timeAtLeast(let time) = $0 { time } else { nil } }.max()
    reverseTarget = conditions.compactMap { if case .timeAtMost(let time) = $0 { time } else { nil } }.min()
    wantedItem =
      conditions.compactMap { if case .currentItem(let item) = $0 { PlayerItem.ID(item) } else { nil } }
      .first
    timedItem = wantedItem
  }

  /// The times at which a crossing is to be told.
  var targetTimes: [MediaTime] { [forwardTarget, reverseTarget].compactMap { $0 } }

  /// The boundary at `time` was crossed in this item. Who comes back over it has not reached it any more.
  mutating func crossed(_ time: MediaTime, in item: PlayerItem.ID, isReverse: Bool) {
    guard item == timedItem else { return }
    if time == forwardTarget { hasCrossedForwards = !isReverse }
    if time == reverseTarget { hasCrossedBackwards = isReverse }
  }

  /// The time changed otherwise than by playing: what was crossed counts no more.
  mutating func timeJumped() { (hasCrossedForwards, hasCrossedBackwards) = (false, false) }

  /// Looks at everything anew.
  mutating func judge(_ facts: Facts) -> Verdict {
    if !targetTimes.isEmpty, timedItem == nil { timedItem = facts.state.currentItemID }
    if let failure = failure(facts) { return .failed(failure) }
    return conditions.allSatisfy { holds($0, facts) } ? .satisfied : .pending
  }

  private func holds(_ condition: WaitCondition, _ facts: Facts) -> Bool {
    let state = facts.state
    switch condition {
    case .timeAtLeast(let time):
      return isInTimedItem(state) && (hasCrossedForwards || facts.time >= time)
    case .timeAtMost(let time):
      return isInTimedItem(state) && (hasCrossedBackwards || facts.time <= time)
    case .status(let status): return state.timeControlStatus.wireName == status.rawValue
    case .currentItem(let item): return state.currentItemID == PlayerItem.ID(item)
    case .ended: return state.currentItemID == nil || state.isAtItemBeginning || Self.isStoppedAtEnd(facts)
    case .ready: return state.itemStatus == .readyToPlay
    }
  }

  private func isInTimedItem(_ state: PlayerState) -> Bool {
    state.currentItemID != nil && state.currentItemID == timedItem
  }

  /// Why the conditions cannot come to hold any more by playing on.
  private func failure(_ facts: Facts) -> MediaError? {
    let state = facts.state
    if let wantedItem, state.currentItemID != wantedItem, !facts.contains(wantedItem) {
      return MediaError(.noSuchItem, "there is no item \(wantedItem) in the queue, and none to come")
    }
    if let timedItem, !targetTimes.isEmpty, state.currentItemID != timedItem, timedItem != wantedItem {
      return MediaError(.waitEnded, "item \(timedItem) is not the current item any more")
    }
    if let forwardTarget, state.currentItemID == timedItem, facts.time < forwardTarget, !hasCrossedForwards,
      Self.isStoppedAtEnd(facts)
    {
      return MediaError(
        .waitEnded, "the item ended at \(facts.time.decimalDescription), before the time that was waited for")
    }
    if let reverseTarget, state.currentItemID == timedItem, facts.time > reverseTarget, !hasCrossedBackwards,
      state.isAtItemBeginning
    {
      return MediaError(
        .waitEnded,
        "played backwards the item ended at \(facts.time.decimalDescription), before the time that was waited for")
    }
    // Whoever waits for sound, or for an end, would wait for ever behind an item that cannot be played.
    guard state.currentItemID == wantedItem ?? state.currentItemID else { return nil }
    let errors = conditions.lazy.compactMap { condition -> MediaError? in
      switch condition {
      case .ready: state.itemStatus.error
      case .status(.playing), .ended, .timeAtLeast, .timeAtMost: state.error
      case .status, .currentItem: nil
      }
    }
    return errors.first
  }

  /// Paused where the item ends forwards: its end was heard, or the player was put there.
  private static func isStoppedAtEnd(_ facts: Facts) -> Bool {
    let state = facts.state
    guard state.rate == 0, state.itemStatus == .readyToPlay else { return false }
    let end = min(
      state.itemDuration.isNumeric ? state.itemDuration : .positiveInfinity, facts.forwardEnd ?? .positiveInfinity)
    return state.isAtItemEnd || facts.time >= end
  }
}
