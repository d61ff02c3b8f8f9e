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
  /// The latest of the times to be reached; nil when no time is waited for.
  let targetTime: MediaTime?
  /// The item that must be the current one.
  private let wantedItem: PlayerItem.ID?
  /// The item in which the time is to be reached: the wanted one, or the first that is current while we wait.
  private var timedItem: PlayerItem.ID?
  private var hasCrossedTarget = false

  init(_ conditions: [WaitCondition]) {
    self.conditions = conditions
    targetTime =
      conditions.compactMap { if case .timeAtLeast(let time) = $0 { time } else { nil } }
      .max()
    wantedItem =
      conditions.compactMap { if case .currentItem(let item) = $0 { PlayerItem.ID(item) } else { nil } }
      .first
    timedItem = wantedItem
  }

  /// The boundary at `targetTime` was crossed in this item.
  mutating func crossedTarget(in item: PlayerItem.ID) { if item == timedItem { hasCrossedTarget = true } }

  /// The time changed otherwise than by playing: what was crossed counts no more.
  mutating func timeJumped() { hasCrossedTarget = false }

  /// Looks at everything anew.
  mutating func judge(_ facts: Facts) -> Verdict {
    if let failure = failure(facts) { return .failed(failure) }
    if targetTime != nil, timedItem == nil { timedItem = facts.state.currentItemID }
    return conditions.allSatisfy { holds($0, facts) } ? .satisfied : .pending
  }

  private func holds(_ condition: WaitCondition, _ facts: Facts) -> Bool {
    let state = facts.state
    switch condition {
    case .timeAtLeast(let time):
      return state.currentItemID != nil && state.currentItemID == timedItem && (hasCrossedTarget || facts.time >= time)
    case .status(let status): return state.timeControlStatus.wireName == status.rawValue
    case .currentItem(let item): return state.currentItemID == PlayerItem.ID(item)
    case .ended: return state.currentItemID == nil || Self.isStoppedAtEnd(facts)
    case .ready: return state.itemStatus == .readyToPlay
    }
  }

  /// Why the conditions cannot come to hold any more by playing on.
  private func failure(_ facts: Facts) -> MediaError? {
    let state = facts.state
    if let wantedItem, state.currentItemID != wantedItem, !facts.contains(wantedItem) {
      return MediaError(.noSuchItem, "there is no item \(wantedItem) in the queue, and none to come")
    }
    if let targetTime {
      if let timedItem, state.currentItemID != timedItem, timedItem != wantedItem {
        return MediaError(.waitEnded, "item \(timedItem) is not the current item any more")
      }
      if state.currentItemID == timedItem, facts.time < targetTime, !hasCrossedTarget, Self.isStoppedAtEnd(facts) {
        return MediaError(
          .waitEnded, "the item ended at \(facts.time.decimalDescription), before the time that was waited for")
      }
    }
    // Whoever waits for sound, or for an end, would wait for ever behind an item that cannot be played.
    guard let error = state.itemStatus.error, state.currentItemID == wantedItem ?? state.currentItemID else {
      return nil
    }
    let needsItem = conditions.contains { condition in
      switch condition {
      case .ready: true
      case .status(.playing), .ended, .timeAtLeast: state.reasonForWaitingToPlay == .currentItemFailed
      case .status, .currentItem: false
      }
    }
    return needsItem ? error : nil
  }

  /// Paused where the item ends.
  private static func isStoppedAtEnd(_ facts: Facts) -> Bool {
    let state = facts.state
    return state.rate == 0 && state.itemStatus == .readyToPlay && state.itemDuration.isNumeric
      && facts.time >= state.itemDuration
  }
}
