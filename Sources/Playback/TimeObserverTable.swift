import HeapModule
import MediaCore

/// A call that a time observer is due.
public struct TimeObservation: Sendable, Hashable {
  public enum Reason: String, Sendable, Hashable {
    /// A multiple of the interval was heard.
    case periodic
    /// A boundary was crossed in normal playback.
    case boundary
    /// The current time changed other than by playing.
    case jump
    /// Playback began, or went on.
    case start
    /// Playback stopped.
    case stop
  }

  public var itemID: PlayerItem.ID
  /// Exact: a multiple of the interval, the boundary itself; for the other reasons the position.
  public var time: MediaTime
  /// The rate in effect.
  public var rate: Double
  public var reason: Reason
  /// How long ago the sample at `time` was heard, in nanoseconds.
  public var lateNanoseconds: Int64
}

/// Periodic and boundary observers of one player, in the order in which their times come.
///
/// Times are item times, so that the table knows nothing of output frames: it is *aimed* at a place of an item, and then
/// asked for the next time and told that it was reached. Aiming costs a visit to each observer; each call after that
/// costs what a heap costs, however many there are.
///
/// A pure value.
struct TimeObserverTable {
  typealias Handler = @Sendable (TimeObservation) -> Void

  private enum Kind {
    case periodic(interval: MediaTime)
    /// Ascending, without duplicates.
    case boundary(times: [MediaTime], itemID: PlayerItem.ID?)
  }

  private struct Observer {
    var kind: Kind
    let handler: Handler
  }

  /// A time that is to come.
  private struct Due: Comparable {
    var time: MediaTime
    var token: ObserverToken
    /// Periodic: the multiple; boundary: the place in its list.
    var index: Int64

    static func < (left: Due, right: Due) -> Bool {
      left.time == right.time ? left.token < right.token : left.time < right.time
    }
  }

  private var observers: [ObserverToken: Observer] = [:]
  private var heap = Heap<Due>()
  /// Where the table is aimed; observers that are added later are aimed from here.
  private var aim: (itemID: PlayerItem.ID, time: MediaTime)?

  var isEmpty: Bool { observers.isEmpty }

  /// Times kept, those of removed observers included.
  var dueCount: Int { heap.count }

  /// The item that the table is aimed at.
  var aimedItemID: PlayerItem.ID? { aim?.itemID }

  // MARK: - Observers

  mutating func addPeriodic(_ token: ObserverToken, interval: MediaTime, _ handler: @escaping Handler) {
    add(token, Observer(kind: .periodic(interval: interval), handler: handler))
  }

  mutating func addBoundary(
    _ token: ObserverToken, times: [MediaTime], itemID: PlayerItem.ID?, _ handler: @escaping Handler
  ) {
    var ordered: [MediaTime] = []
    for time in times.sorted() where time != ordered.last { ordered.append(time) }
    add(token, Observer(kind: .boundary(times: ordered, itemID: itemID), handler: handler))
  }

  private mutating func add(_ token: ObserverToken, _ observer: Observer) {
    observers[token] = observer
    if let aim { schedule(token, observer, itemID: aim.itemID, from: aim.time, inclusive: .none) }
  }

  /// Which observers may be due at the very time that the table is aimed at.
  enum Inclusive { case none, boundaries, all }

  /// False when there is none of that token.
  mutating func remove(_ token: ObserverToken) -> Bool {
    guard observers.removeValue(forKey: token) != nil else { return false }
    // What is left of removed observers goes when its time comes, or when it is the greater part.
    if heap.count > 2 * observers.count + 64 { heap = Heap(heap.unordered.filter { observers[$0.token] != nil }) }
    return true
  }

  func contains(_ token: ObserverToken) -> Bool { observers[token] != nil }

  // MARK: - Times

  /// From now on what comes next is counted from `time` of the item.
  mutating func aim(itemID: PlayerItem.ID, at time: MediaTime, inclusive: Inclusive) {
    aim = (itemID, time)
    heap = Heap()
    for (token, observer) in observers {
      schedule(token, observer, itemID: itemID, from: time, inclusive: inclusive)
    }
  }

  /// Nothing is due while there is no item.
  mutating func disarm() {
    aim = nil
    heap = Heap()
  }

  /// Where playback is, for observers that are added later.
  mutating func move(to time: MediaTime) { aim?.time = time }

  /// The next time at which an observer is due.
  mutating func nextTime() -> MediaTime? {
    while let due = heap.min {
      if observers[due.token] != nil { return due.time }
      heap.removeMin()
    }
    return nil
  }

  /// The observers that are due at `time`, which has been reached; each is scheduled for its next time.
  mutating func popDue(
    at time: MediaTime
  ) -> [(token: ObserverToken, handler: Handler, reason: TimeObservation.Reason)] {
    var fired: [(token: ObserverToken, handler: Handler, reason: TimeObservation.Reason)] = []
    move(to: time)
    while let due = heap.min, due.time <= time {
      heap.removeMin()
      guard let observer = observers[due.token] else { continue }
      switch observer.kind {
      case .periodic(let interval):
        fired.append((due.token, observer.handler, .periodic))
        insert(due.token, interval: interval, multiple: due.index + 1)
      case .boundary(let times, _):
        fired.append((due.token, observer.handler, .boundary))
        let next = Int(due.index) + 1
        if next < times.count { heap.insert(Due(time: times[next], token: due.token, index: Int64(next))) }
      }
    }
    return fired
  }

  /// Handlers of all periodic observers, in the order in which they were added: for jumps, starts and stops.
  var periodicHandlers: [(token: ObserverToken, handler: Handler)] {
    observers.sorted { $0.key < $1.key }.compactMap { entry in
      if case .periodic = entry.value.kind { (entry.key, entry.value.handler) } else { nil }
    }
  }

  private mutating func schedule(
    _ token: ObserverToken, _ observer: Observer, itemID: PlayerItem.ID, from time: MediaTime, inclusive: Inclusive
  ) {
    switch observer.kind {
    case .periodic(let interval):
      guard let multiple = Self.multiple(of: interval, from: time, inclusive: inclusive == .all) else { return }
      insert(token, interval: interval, multiple: multiple)
    case .boundary(let times, let onlyItem):
      guard onlyItem == nil || onlyItem == itemID else { return }
      let index = times.firstIndex { inclusive == .none ? $0 > time : $0 >= time }
      if let index { heap.insert(Due(time: times[index], token: token, index: Int64(index))) }
    }
  }

  private mutating func insert(_ token: ObserverToken, interval: MediaTime, multiple: Int64) {
    let (value, overflow) = interval.value.multipliedReportingOverflow(by: multiple)
    guard !overflow else { return }
    heap.insert(Due(time: MediaTime(value: value, timescale: interval.timescale), token: token, index: multiple))
  }

  /// The first multiple of `interval` after `time`, or at it.
  private static func multiple(of interval: MediaTime, from time: MediaTime, inclusive: Bool) -> Int64? {
    guard time.isNumeric else { return nil }
    let numerator = Int128(time.value) * Int128(interval.timescale)
    let denominator = Int128(time.timescale) * Int128(interval.value)
    let (quotient, remainder) = numerator.quotientAndRemainder(dividingBy: denominator)
    let floor = remainder < 0 ? quotient - 1 : quotient
    return Int64(exactly: remainder == 0 && inclusive ? floor : floor + 1)
  }
}
