/// The behaviour of a player when an item cannot be opened, or cannot be played to its end.
public enum ItemFailurePolicy: String, Sendable, Hashable, CaseIterable {
  /// Playback continues with the next item, if there is one. Each item that is skipped without being heard is an
  /// `itemSkipped` event.
  case skip
  /// The rate becomes 0 and the item stays current. The next `play` continues after it.
  case stop
}
