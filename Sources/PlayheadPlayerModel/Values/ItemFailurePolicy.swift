/// The behaviour of a player when an item cannot be opened, or cannot be played to its end.
public enum ItemFailurePolicy: String, Sendable, Hashable, CaseIterable {
  /// Playback continues with the next item, if there is one. Each item that is skipped without being heard is an
  /// `itemSkipped` event.
  case skip
  /// The rate becomes 0 and the item stays current. The next `play` continues after it.
  case stop
  /// Playback continues with the next item, as with `skip`, but the failed item moves to the end of the queue. Failed
  /// items among the next ones are tried again, each first after 1 s, then after doubled delays of at most 60 s. While
  /// all items have failed, the player waits.
  ///
  /// An item whose file or server fails while it plays forwards is tried again, too, and continues at that position. An
  /// item with damaged content ends there instead.
  case retry
}
