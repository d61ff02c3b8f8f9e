/// Whether a player plays; corresponds to AVPlayer.TimeControlStatus.
public enum TimeControlStatus: String, Sendable, Hashable, CaseIterable {
  /// The rate is 0.
  case paused
  /// The rate is not 0, but no audio is rendered yet; see `reasonForWaitingToPlay`.
  case waiting
  /// Audio is being rendered, or silence instead of missing audio.
  case playing
}

/// The reason why a player waits; corresponds to AVPlayer.WaitingReason. The last five cases are specific to Playhead.
public enum WaitingReason: String, Sendable, Hashable, CaseIterable {
  /// Samples did not arrive in time. Playback resumes automatically.
  case toMinimizeStalls
  /// The item is being opened, or its first samples are being decoded, which takes a short time.
  case evaluatingBufferingRate
  /// The queue is empty. The next inserted item starts automatically.
  case noItemToPlay
  /// The current item failed, and no other item follows.
  case currentItemFailed
  /// No device is available, or the device accepts no audio (`OutputState.Status.unresponsive`). The position is kept.
  case outputUnavailable
  /// The start instant is in the future: `setRate(_:time:atHostTime:)`, `PlaybackEngine.start`.
  case startTimeNotReached
  /// Other audio is heard on the device (`AudioSession.Event.interruptionBegan`). Playback resumes when the
  /// interruption ends, or with `play`.
  case interrupted
  /// The category of the session does not allow playback.
  case categoryForbidsPlayback
}

/// The action at the end of the current item; corresponds to AVPlayer.ActionAtItemEnd.
public enum ActionAtItemEnd: String, Sendable, Hashable, CaseIterable {
  /// The next item follows without a gap. After the last item the rate stays. Only in a queue.
  case advance
  /// The next item follows without a gap. After the last item the rate becomes 0. Only in a queue. Specific to
  /// Playhead.
  case stop
  /// The rate becomes 0; the item stays current, at its end.
  case pause
  /// The rate stays: the item's time continues past the end, in silence.
  case none

  /// Whether the next item follows.
  package var advances: Bool { self == .advance || self == .stop }
}
