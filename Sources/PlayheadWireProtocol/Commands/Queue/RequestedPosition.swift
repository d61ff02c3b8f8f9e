/// A requested position in the queue.
package enum RequestedPosition: Sendable, Hashable {
  /// After the current item. At the beginning of a queue without a current item.
  case next
  case after(item: EntryReference)
  case before(item: EntryReference)
  /// Index 0 is the current item.
  case index(Int)
}
