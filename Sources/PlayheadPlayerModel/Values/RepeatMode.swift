/// The part of a queue that repeats after its end.
public enum RepeatMode: String, Sendable, Hashable, CaseIterable {
  /// Nothing repeats: an item that was played to its end leaves the queue.
  case off
  /// The current item repeats from its beginning.
  case one
  /// The queue repeats: an item that was played to its end moves to the end of the queue and keeps its id.
  case all
}
