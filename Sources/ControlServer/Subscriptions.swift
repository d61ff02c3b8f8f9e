import MediaCore
import WireProtocol

/// What one connection watches: each subscription by its id, and how it is ended.
///
/// Threading: confined to the control loop.
struct Subscriptions {
  /// Which command ends it.
  enum Kind {
    /// `observe`; ended by `unobserve`.
    case values
    /// `tick` and `at`; ended by `untick`.
    case times
    /// `meter`; ended by `unmeter`.
    case meters
    /// `record.watch`; ended by `record.unwatch`.
    case recordings

    /// What it is called in messages.
    fileprivate var name: String {
      switch self {
      case .values: "observe"
      case .times: "tick or at"
      case .meters: "meter"
      case .recordings: "record.watch"
      }
    }
  }

  /// What watching costs the control loop while it plays.
  struct Cost: Sendable, Hashable {
    var eventsPerSecond = 0.0
    /// Times that are waited for.
    var timeCount = 0

    static func + (left: Cost, right: Cost) -> Cost {
      Cost(
        eventsPerSecond: left.eventsPerSecond + right.eventsPerSecond, timeCount: left.timeCount + right.timeCount)
    }

    /// Returns whether neither part exceeds its limit.
    fileprivate func fits(_ eventRate: Int, _ timeLimit: Int) -> Bool {
      eventsPerSecond <= Double(eventRate) && timeCount <= timeLimit
    }
  }

  private struct Subscription {
    var kind: Kind
    var cost: Cost
    var end: () -> Void
  }

  private var byID: [Int: Subscription] = [:]
  private var nextID = 1
  /// Of all that there are.
  private(set) var cost = Cost()

  /// Returns the id of the next subscription. No id is used twice.
  ///
  /// A share of each total is reserved for connections with the right `control`: connections without this right cannot
  /// use the totals up.
  ///
  /// - Parameters:
  ///   - cost: The cost of the new subscription.
  ///   - mayControl: Whether the connection has the right `control`.
  ///   - others: Returns the cost of all other connections' subscriptions, and of those without the right `control`
  ///     among them. The closure is called only for a subscription with a cost.
  /// - Throws: `too-many-subscriptions`.
  func newID(
    _ cost: Cost = Cost(), limits: WireLimits, mayControl: Bool = true, others: () -> (all: Cost, watching: Cost)
  ) throws(MediaError) -> Int {
    guard byID.count < limits.subscriptionCount else {
      throw Self.tooMany("a connection has at most \(limits.subscriptionCount) subscriptions")
    }
    guard cost != Cost() else { return nextID }
    let own = self.cost + cost
    guard own.fits(limits.eventRate, limits.timeCount) else {
      throw Self.tooMany(
        "a connection has at most \(limits.eventRate) ticks and meters a second and \(limits.timeCount) times of at")
    }
    let others = others()
    guard (own + others.all).fits(limits.totalEventRate, limits.totalTimeCount) else {
      throw Self.tooMany(
        "all connections together have at most \(limits.totalEventRate) ticks and meters a second and "
          + "\(limits.totalTimeCount) times of at")
    }
    guard mayControl || (own + others.watching).fits(limits.watchingEventRate, limits.watchingTimeCount) else {
      throw Self.tooMany(
        "all connections without the right to control together have at most \(limits.watchingEventRate) ticks and "
          + "meters a second and \(limits.watchingTimeCount) times of at")
    }
    return nextID
  }

  private static func tooMany(_ message: String) -> MediaError { MediaError(.tooManySubscriptions, message) }

  /// Adds a subscription with the id that `newID` gave; `end` is called once, when it is removed.
  mutating func add(_ id: Int, _ kind: Kind, _ cost: Cost = Cost(), end: @escaping () -> Void) {
    nextID = id + 1
    byID[id] = Subscription(kind: kind, cost: cost, end: end)
    self.cost = self.cost + cost
  }

  /// Takes one out. What it cost is counted anew: decimals that are added and taken away leave a rest.
  private mutating func take(_ id: Int) -> Subscription? {
    guard let taken = byID.removeValue(forKey: id) else { return nil }
    if taken.cost != Cost() { cost = byID.values.reduce(Cost()) { $0 + $1.cost } }
    return taken
  }

  /// Ends one. Errors: `no-such-observer` when there is none of that kind.
  mutating func remove(_ id: Int, _ kind: Kind) throws(MediaError) {
    guard let subscription = byID[id], subscription.kind == kind else {
      throw MediaError(
        .noSuchObserver, "this connection has no \(kind.name) with the id \(id)")
    }
    _ = take(id)
    subscription.end()
  }

  /// Whether it is there still.
  func contains(_ id: Int) -> Bool { byID[id] != nil }

  /// Ends one because what it watched is gone.
  mutating func drop(_ id: Int) { take(id)?.end() }

  /// Ends all.
  mutating func removeAll() {
    let ending = byID.sorted { $0.key < $1.key }
    byID = [:]
    cost = Cost()
    for (_, subscription) in ending { subscription.end() }
  }
}
