import PlayheadMediaCore

/// The time for which an item from a network may stall. It begins with 10 minutes. Stalls reduce it, and the time
/// between them restores it, up to 10 minutes. A pure value.
///
/// Without this limit, a server that sends a little data now and then would block the queue indefinitely.
package struct StallAllowance: Sendable {
  /// The maximum of the allowance: 10 minutes.
  package static let nanoseconds: Int64 = 600_000_000_000

  private var itemID: PlayerItemID?
  private var remaining = nanoseconds
  private var endedAt: HostTime?

  /// Begins a stall of an item. Returns the time at which the item is given up if the stall lasts.
  package mutating func begin(_ id: PlayerItemID, at now: HostTime) -> HostTime {
    if id != itemID { self = StallAllowance(itemID: id) }
    if let endedAt {
      let (sum, overflow) = remaining.addingReportingOverflow(max(0, now.nanoseconds(since: endedAt)))
      remaining = overflow ? Self.nanoseconds : min(Self.nanoseconds, sum)
    }
    endedAt = nil
    return now.advanced(byNanoseconds: remaining)
  }

  /// Ends the stall, which lasted `duration` nanoseconds.
  package mutating func end(afterNanoseconds duration: Int64, at now: HostTime) {
    remaining = max(0, remaining - max(0, duration))
    endedAt = now
  }

  package init() {}

  private init(itemID: PlayerItemID) { self.itemID = itemID }
}
