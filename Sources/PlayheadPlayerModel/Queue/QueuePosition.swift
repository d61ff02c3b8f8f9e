/// A position in a queue.
public enum QueuePosition: Sendable, Hashable {
  /// The index of the first inserted or moved item after the edit; 0 is the current item.
  case index(Int)
  case before(PlayerItemID)
  case after(PlayerItemID)
  case end
  /// After the current item; in an empty queue, the beginning.
  case next
}
