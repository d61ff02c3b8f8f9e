import DequeModule
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

/// The newest numbered events of the daemon, in bounded memory (docs/protocol/concepts.md, *Numbers*).
///
/// Every observable event gets its number in the log before it is sent to observers, also if there are none. Events are
/// encoded only when a client requests them.
///
/// Threading: confined to the control loop.
final class EventLog {
  /// One event.
  struct Entry {
    let number: UInt64
    /// The key that the event belongs to.
    let key: ObservableKey
    /// The player. Nil: all players.
    let player: String?
    let event: any NumberedEvent

    func matches(_ query: EventQuery) -> Bool {
      (player == nil || query.player == nil || player == query.player) && query.keys.contains(key)
    }
  }

  /// A random identifier of this run of the daemon. The numbers are valid for this run only.
  let instance: String
  /// The number of the newest event. 0 before the first event.
  private(set) var lastNumber: UInt64 = 0
  private var entries: Deque<(entry: Entry, byteCount: Int)> = []
  /// The approximate number of bytes of all events in the log.
  private(set) var byteCount = 0
  /// The limits of the log. They change when the configuration is reloaded.
  var limits: WireLimits { didSet { trim() } }
  private var waiters: [UInt64: () -> Void] = [:]
  private var lastWaiterID: UInt64 = 0
  private var isNotificationScheduled = false
  private let schedule: (@escaping @Sendable () -> Void) -> Void

  /// Creates an empty log. `schedule` runs a closure at the end of the current loop iteration.
  init(limits: WireLimits, schedule: @escaping (@escaping @Sendable () -> Void) -> Void) {
    self.limits = limits
    self.schedule = schedule
    var generator = SystemRandomNumberGenerator()
    let digits = String(generator.next(), radix: 16)
    instance = String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  /// Adds an event and returns its number.
  func append(_ event: any NumberedEvent, key: ObservableKey, player: String?) -> UInt64 {
    lastNumber += 1
    let eventByteCount = Self.fixedByteCount + event.textByteCount
    entries.append((Entry(number: lastNumber, key: key, player: player, event: event), eventByteCount))
    byteCount += eventByteCount
    trim()
    if !waiters.isEmpty { scheduleNotification() }
    return lastNumber
  }

  private func trim() {
    while entries.count > limits.loggedEventCount || byteCount > limits.loggedEventByteCount,
      let oldest = entries.popFirst()
    {
      byteCount -= oldest.byteCount
    }
  }

  /// The approximate size of an event without its texts.
  private static let fixedByteCount = 256

  /// The result of a query.
  struct Part {
    var entries: [Entry]
    /// The number of the last examined event.
    var lastNumber: UInt64
    /// The number of requested events that are no longer in the log.
    var missedCount: UInt64
    /// Whether more matching events follow.
    var hasMore: Bool
  }

  /// The events after `number` that match the query, up to its limit and up to `byteLimit` bytes. Always contains the
  /// first matching event.
  func part(_ query: EventQuery, since number: UInt64, byteLimit: Int) -> Part {
    let oldestNumber = entries.first?.entry.number ?? lastNumber + 1
    let startNumber = max(number + 1, oldestNumber)
    var part = Part(entries: [], lastNumber: lastNumber, missedCount: startNumber - number - 1, hasMore: false)
    guard startNumber <= lastNumber else { return part }
    var partByteCount = 0
    for (entry, byteCount) in entries[Int(startNumber - oldestNumber)...] where entry.matches(query) {
      partByteCount += byteCount
      if part.entries.count >= query.limit || (partByteCount > byteLimit && !part.entries.isEmpty) {
        part.hasMore = true
        part.lastNumber = part.entries.last?.number ?? number
        break
      }
      part.entries.append(entry)
    }
    return part
  }

  /// Calls `body` once, at the end of the loop iteration with the next event. Returns an id for `removeWaiter`.
  func addWaiter(_ body: @escaping () -> Void) -> UInt64 {
    lastWaiterID += 1
    waiters[lastWaiterID] = body
    return lastWaiterID
  }

  func removeWaiter(_ id: UInt64) { waiters[id] = nil }

  private func scheduleNotification() {
    guard !isNotificationScheduled else { return }
    isNotificationScheduled = true
    let box = Box(self)
    schedule { box.log?.notifyWaiters() }
  }

  /// `@unchecked Sendable`: confined to the control loop, as the log is.
  private struct Box: @unchecked Sendable {
    weak var log: EventLog?
    init(_ log: EventLog) { self.log = log }
  }

  private func notifyWaiters() {
    isNotificationScheduled = false
    let waiting = waiters.sorted { $0.key < $1.key }
    waiters = [:]
    for (_, body) in waiting { body() }
  }
}

extension NumberedEvent {
  /// The number of bytes in the event's texts.
  fileprivate var textByteCount: Int {
    Fields(self).entries.reduce(0) { $0 + $1.value.textByteCount }
  }
}

extension FieldValue {
  fileprivate var textByteCount: Int {
    switch self {
    case .string(let text), .number(let text): text.utf8.count
    case .integerList(let list): list.byteCount
    case .list(let elements): elements.reduce(0) { $0 + 32 + $1.textByteCount }
    // The size of these values is bounded.
    case .none, .integer, .bool, .time, .fraction, .structured: 0
    }
  }
}
