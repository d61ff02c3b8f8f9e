/// The cause of a change.
public enum ChangeCause: String, Sendable, Hashable, CaseIterable {
  /// A call or a command.
  case request
  /// The current item reached its end.
  case itemEnded
  /// A loop in the current item returned to its beginning, or ended.
  case looped
  /// An item could not be opened or played.
  case itemFailed
  /// An item was opened, or a first or better value of its duration became known.
  case itemLoaded
  /// The first samples are decoded.
  case buffered
  /// Samples did not arrive in time.
  case stalled
  /// The output appeared, disappeared or was replaced.
  case output
  /// An interruption of the session began or ended.
  case interruption
  /// The end of a played range was heard.
  case rangeEnded
  /// The end of a fade of the volume was heard.
  case fadeEnded
  /// The session was deactivated.
  case session
  /// The player was closed.
  case closed
}

/// The cause of a jump of an item's time.
public enum TimeJumpCause: String, Sendable, Hashable, CaseIterable {
  /// A seek.
  case seek
  /// A request to step.
  case step
  /// A request to stop, which seeks to the beginning.
  case stop
  /// Playback was past the item's end (`actionAtItemEnd` `none`) and returns to the end: `actionAtItemEnd` became
  /// `pause`, or the direction changed.
  case endAction
  /// The item is repeated, or is its own successor, and starts again from its beginning.
  case `repeat`
  /// The current item was selected again (`jump`, `previous`) and starts again from its beginning.
  case restart
}
