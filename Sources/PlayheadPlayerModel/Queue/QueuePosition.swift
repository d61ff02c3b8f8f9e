/// A position in a queue.
public enum QueuePosition: Sendable, Hashable {
  /// The index of the first inserted or moved item after the edit; 0 is the current item.
  case index(Int)
  /// Before this entry.
  case before(PlayerItemID)
  /// After this entry.
  case after(PlayerItemID)
  /// The end of the queue.
  case end
  /// After the current item; in an empty queue, the beginning.
  case next
}
