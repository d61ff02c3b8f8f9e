import OrderedCollections
import WireProtocol

/// What one peer is still to be sent, in bounded memory (protocol.md, *Slow readers*).
///
/// Replies are never dropped. Events are, once more than half of the limit waits: of what has a state only the newest
/// value of each key is kept, and that a subscription has ended; of the rest a count, which the peer gets as one `overflow` event when it reads again, with the number
/// from which on it can ask for all of them.
///
/// Pure: bytes in, bytes out.
struct OutputQueue {
  private struct ChangeKey: Hashable {
    var subscription: Int
    var key: ObservableKey
    var item: Int?
  }

  private struct KeptChange {
    var change: Event.Changed
    var form: WireForm
    var number: UInt64?
  }

  private let limitByteCount: Int
  /// The values that are kept while the peer does not read; beyond them changes are dropped, too.
  private let keptLimit: Int
  private var bytes: [UInt8] = []
  /// Handed to the transport and not yet taken by the system.
  var transportByteCount = 0
  private var isOverflowing = false
  private var droppedCount = 0
  private var mergedCount = 0
  /// The number before the first event with one that could not be sent at once.
  private var overflowSince: UInt64?
  private var overflowForm = WireForm.words
  private var kept: OrderedDictionary<ChangeKey, KeptChange> = [:]
  /// Subscriptions that have ended: who is not told so waits for what never comes.
  private var ended: [(removed: Event.Removed, form: WireForm)] = []

  init(limits: WireLimits = .standard) {
    limitByteCount = limits.outputByteCount
    keptLimit = limits.keptValueCount
  }

  /// Bytes that wait here and in the transport.
  var backlogByteCount: Int { bytes.count + transportByteCount }

  /// Nothing is to be handed to the transport.
  var isEmpty: Bool { bytes.isEmpty && !isOverflowing }

  /// So much waits that the peer's requests are not taken until it has read.
  var isFull: Bool { backlogByteCount > limitByteCount / 2 }

  /// So much waits that no member of a batch is run until the peer has read: the array of replies is written at once.
  var lacksRoomForBatch: Bool { backlogByteCount > limitByteCount / 8 }

  /// More waits than a peer may have: it is to be closed.
  var isOverLimit: Bool { backlogByteCount > limitByteCount }

  /// Appends what `encode` writes; for replies, and for what is said before the connection is closed.
  mutating func append(_ encode: (inout [UInt8]) -> Void) { encode(&bytes) }

  /// Appends an event, or keeps or counts it when the peer is too far behind. Answers how many events were lost by that.
  mutating func append(_ event: Event, form: WireForm, number: UInt64? = nil) -> Int {
    if !isOverflowing, isFull { isOverflowing = true }
    guard isOverflowing else {
      event.encode(form: form, into: &bytes, number: number)
      return 0
    }
    if case .removed(let removed) = event, ended.count < keptLimit {
      ended.append((removed, form))
      return 0
    }
    if overflowSince == nil, let number { overflowSince = number - 1 }
    if case .changed(var change) = event {
      let key = ChangeKey(subscription: change.subscription, key: change.key, item: change.item)
      if let older = kept[key] {
        // One event stands for all: from the oldest value that the peer does not know to the newest.
        change.old = older.change.old
        if change.steps != nil { change.steps = FieldValue.none }
        kept[key] = KeptChange(change: change, form: form, number: number)
        mergedCount += 1
        overflowForm = form
        return 0
      }
      if kept.count < keptLimit {
        kept[key] = KeptChange(change: change, form: form, number: number)
        return 0
      }
    }
    droppedCount += 1
    overflowForm = form
    return 1
  }

  /// A subscription has ended: what was kept for it is not sent.
  mutating func forget(subscription: Int) {
    if !kept.isEmpty { kept.removeAll { $0.key.subscription == subscription } }
  }

  /// Hands over everything that the transport is to get now; `body` must copy it, and do nothing else.
  mutating func take(_ body: ([UInt8]) -> Void) {
    if isOverflowing, backlogByteCount <= limitByteCount / 4 {
      isOverflowing = false
      if droppedCount > 0 || mergedCount > 0 {
        let overflow = Event.Overflow(droppedCount: droppedCount, mergedCount: mergedCount, since: overflowSince)
        Event.overflow(overflow).encode(form: overflowForm, into: &bytes)
      }
      // In the order of their numbers: a client that stores the last number has seen the smaller ones.
      for entry in kept.values.sorted(by: { $0.number ?? 0 < $1.number ?? 0 }) {
        Event.changed(entry.change).encode(form: entry.form, into: &bytes, number: entry.number)
      }
      for entry in ended { Event.removed(entry.removed).encode(form: entry.form, into: &bytes) }
      forget()
    }
    guard !bytes.isEmpty else { return }
    body(bytes)
    removeAll()
  }

  /// What is left to be handed over before the connection is closed.
  mutating func takeLast() -> [UInt8] {
    defer { removeAll() }
    return bytes
  }

  /// Drops what has not been handed over: the connection is given up.
  mutating func drop() {
    bytes = []
    forget()
    isOverflowing = false
  }

  private mutating func forget() {
    (kept, ended) = ([:], [])
    (droppedCount, mergedCount, overflowSince) = (0, 0, nil)
  }

  private mutating func removeAll() {
    // A large reply's memory is given back; what the usual ones need stays.
    if bytes.capacity > 65_536 { bytes = [] } else { bytes.removeAll(keepingCapacity: true) }
  }
}
