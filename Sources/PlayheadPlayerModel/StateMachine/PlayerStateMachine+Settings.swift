import PlayheadMediaCore

/// Inputs that only set a value. The caller applies the consequences.
extension PlayerStateMachine {
  /// Sets the rate of the next samples. `changeDecodedRate` decodes them again if `needsRateChange`.
  package mutating func setTargetRate(_ rate: PlaybackRate) { intent.setTargetRate(rate) }

  /// Sets whether the player waits for a start instant in the future.
  package mutating func setWaitingForStartTime(_ isWaiting: Bool) { intent.setWaitingForStartTime(isWaiting) }

  /// Sets the reason why the session prevents playback; nil: it is allowed.
  package mutating func setSessionWaitingReason(_ reason: WaitingReason?) { intent.setSessionWaitingReason(reason) }

  /// Sets the number of steps that `queue.changes` can go back; at least 1.
  package mutating func setQueueChangeLimit(_ count: Int) {
    queue.setChangeLimit(count)
  }
}
