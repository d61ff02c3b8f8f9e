/// How the playback of a range ended.
///
/// <!-- listing: loop-range -->
/// ```swift
/// try await player.setLoop(TimeRange(start: .seconds(12), end: .seconds(16)), count: 3)
/// let outcome = try await player.playRange(TimeRange(start: .seconds(30), duration: .seconds(2)))
/// print(outcome == .finished)
/// ```
public enum RangeOutcome: String, Sendable, Hashable, CaseIterable {
  /// The end of the range was heard, and the player is paused there.
  case finished
  /// A seek or another range replaced it.
  case replaced
  /// Another item became current, or no item is current.
  case itemChanged
  /// The item ended before the end of the range. The player is paused at the end of the item.
  case itemEnded
  /// The item could not be read or decoded.
  case itemFailed
  /// The range was cancelled. Playback continues past its end.
  case cancelled
  /// The player was closed.
  case closed
}
