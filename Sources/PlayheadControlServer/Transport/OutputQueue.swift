import OrderedCollections
import PlayheadWireProtocol

/// The pending output of one peer, in bounded memory (docs/protocol/concepts.md, *Slow readers*).
///
/// Replies are never dropped. Events are dropped when more than half of the limit is pending, with two exceptions:
///
/// - The newest value of each observed key is kept, up to a maximum number.
/// - The end of a subscription is kept, up to a maximum number.
///
/// When the peer reads again, it gets one `overflow` event. It contains the number of dropped events, and the sequence
/// number from which the peer can query them.
///
/// The queue performs no I/O.
struct OutputQueue {
  private struct ChangeKey: Hashable {
    var subscription: Int
    var key: ObservableKey
    var item: UInt64?
  }

  private struct RetainedChange {
    var change: ChangedEvent
    var form: WireForm
    var number: UInt64?
  }

  /// The maximum number of pending bytes.
  private let byteLimit: Int
  /// The maximum number of values, and of ended subscriptions, that are kept while the peer does not read. Further
  /// events are dropped.
  private let retainedLimit: Int
  private var bytes: [UInt8] = []
  /// The number of bytes in the transport that the kernel has not accepted.
  var transportByteCount = 0
  /// Whether too much output is pending. New events are then retained or dropped, not appended.
  private var isOverflowing = false
  /// The number of events dropped in this overflow.
  private var droppedCount = 0
  /// The number of events in this overflow that a newer value has replaced.
  private var mergedCount = 0
  /// The sequence number of the first event of this overflow minus 1, which is the value for `events since=`.
  private var overflowSince: UInt64?
  private var overflowForm = WireForm.words
  private var retained: OrderedDictionary<ChangeKey, RetainedChange> = [:]
  /// The ended subscriptions. They are kept, because without them the client would wait for events indefinitely.
  private var endedSubscriptions: [(removed: RemovedEvent, form: WireForm)] = []

  init(limits: WireLimits = .standard) {
    byteLimit = limits.outputByteCount
    retainedLimit = limits.retainedValueCount
  }

  /// The number of bytes pending here and in the transport.
  var backlogByteCount: Int { bytes.count + transportByteCount }

  /// Whether there is no output for the transport.
  var isEmpty: Bool { bytes.isEmpty && !isOverflowing }

  /// Whether more than half of the limit is pending. Requests are then delayed and events retained until the peer
  /// reads.
  var isHalfFull: Bool { backlogByteCount > byteLimit / 2 }

  /// Whether the members of a batch must wait until the peer reads. The limit is lower than for single requests,
  /// because the replies to a batch are sent as one message.
  var lacksSpaceForBatch: Bool { backlogByteCount > byteLimit / 8 }

  /// Whether the limit is exceeded, so that the connection must be closed.
  var isOverLimit: Bool { backlogByteCount > byteLimit }

  /// Appends the output of `encode`. For replies, and for the closing event.
  mutating func append(_ encode: (inout [UInt8]) -> Void) { encode(&bytes) }

  /// Appends an event. If too much is pending, retains or drops it instead. Returns the number of dropped events.
  mutating func append(_ event: some Event, form: WireForm, number: UInt64? = nil) -> Int {
    if !isOverflowing, isHalfFull { isOverflowing = true }
    guard isOverflowing else {
      event.encode(form: form, into: &bytes, number: number)
      return 0
    }
    if let removed = event as? RemovedEvent, endedSubscriptions.count < retainedLimit {
      endedSubscriptions.append((removed, form))
      return 0
    }
    if overflowSince == nil, let number { overflowSince = number - 1 }
    if var change = event as? ChangedEvent {
      let key = ChangeKey(subscription: change.subscription, key: change.key, item: change.item)
      if let older = retained[key] {
        // One event replaces both. Its old value is the last one that the peer knows.
        change.old = older.change.old
        if change.changes != nil { change.changes = .some(nil) }
        retained[key] = RetainedChange(change: change, form: form, number: number)
        mergedCount += 1
        overflowForm = form
        return 0
      }
      if retained.count < retainedLimit {
        retained[key] = RetainedChange(change: change, form: form, number: number)
        return 0
      }
    }
    droppedCount += 1
    overflowForm = form
    return 1
  }

  /// Drops the pending changes of an ended subscription.
  mutating func dropChanges(ofSubscription subscription: Int) {
    if !retained.isEmpty { retained.removeAll { $0.key.subscription == subscription } }
  }

  /// Passes all output to the transport. After an overflow, first appends the `overflow` event and the retained events.
  /// `body` must not use this queue.
  mutating func drain(_ body: ([UInt8]) -> Void) {
    if isOverflowing, backlogByteCount <= byteLimit / 4 {
      isOverflowing = false
      if droppedCount > 0 || mergedCount > 0 {
        OverflowEvent(droppedCount: droppedCount, mergedCount: mergedCount, since: overflowSince)
          .encode(form: overflowForm, into: &bytes)
      }
      // In the order of their numbers, because a client that stores the last number assumes that it has all earlier
      // events.
      for entry in retained.values.sorted(by: { $0.number ?? 0 < $1.number ?? 0 }) {
        entry.change.encode(form: entry.form, into: &bytes, number: entry.number)
      }
      for entry in endedSubscriptions { entry.removed.encode(form: entry.form, into: &bytes) }
      clearRetained()
    }
    guard !bytes.isEmpty else { return }
    body(bytes)
    clearBytes()
  }

  /// Returns the remaining output before the connection is closed.
  mutating func removeRemaining() -> [UInt8] {
    defer { clearBytes() }
    return bytes
  }

  /// Drops all output, because the peer does not read.
  mutating func discardAll() {
    bytes = []
    clearRetained()
    isOverflowing = false
  }

  private mutating func clearRetained() {
    (retained, endedSubscriptions) = ([:], [])
    (droppedCount, mergedCount, overflowSince) = (0, 0, nil)
  }

  private mutating func clearBytes() {
    // Frees a large buffer, and reuses a small one.
    if bytes.capacity > 65_536 { bytes = [] } else { bytes.removeAll(keepingCapacity: true) }
  }
}
