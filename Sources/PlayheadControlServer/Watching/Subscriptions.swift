import PlayheadMediaCore
import PlayheadWireProtocol

/// The subscriptions of one connection, by id.
///
/// Threading: confined to the control loop.
struct Subscriptions {
  /// The kind of a subscription, which determines the command that ends it.
  enum Kind {
    /// `observe`. Ended by `unobserve`.
    case values
    /// `tick`, `at` and `at-chapters`. Ended by `untick`.
    case times
    /// `meter`. Ended by `unmeter`.
    case meters
    /// `record.watch`. Ended by `record.unwatch`.
    case recordings

    /// The name in error messages.
    fileprivate var name: String {
      switch self {
      case .values: "observe"
      case .times: "tick or at"
      case .meters: "meter"
      case .recordings: "record.watch"
      }
    }
  }

  /// The load of a subscription on the control loop during playback.
  struct Cost: Sendable, Hashable {
    var eventsPerSecond = 0.0
    /// The number of boundary times.
    var timeCount = 0

    static func + (left: Cost, right: Cost) -> Cost {
      Cost(
        eventsPerSecond: left.eventsPerSecond + right.eventsPerSecond, timeCount: left.timeCount + right.timeCount)
    }

    /// Whether both values are within their limits.
    fileprivate func fits(_ eventRateLimit: Int, _ timeLimit: Int) -> Bool {
      eventsPerSecond <= Double(eventRateLimit) && timeCount <= timeLimit
    }
  }

  private struct Subscription {
    var kind: Kind
    var cost: Cost
    /// Removes the observers of the subscription.
    var end: () -> Void
  }

  private var byID: [Int: Subscription] = [:]
  private var nextID = 1
  /// The total cost of all subscriptions of the connection.
  private(set) var cost = Cost()

  /// Checks the limits, and returns the id for a new subscription. Ids are not reused.
  ///
  /// A part of each total is reserved for connections with the right `control`, so that other connections cannot
  /// exhaust the totals.
  ///
  /// - Parameters:
  ///   - cost: The cost of the new subscription.
  ///   - mayControl: Whether the connection has the right `control`.
  ///   - others: Returns two costs: of the subscriptions of all other connections, and of the other connections without
  ///     the right `control`. Called only for a subscription with a cost.
  /// - Throws: `too-many-subscriptions`.
  func newID(
    _ cost: Cost = Cost(), limits: WireLimits, mayControl: Bool = true, others: () -> (all: Cost, watching: Cost)
  ) throws(MediaError) -> Int {
    guard byID.count < limits.subscriptionCount else {
      throw Self.tooMany("a connection can have at most \(limits.subscriptionCount) subscriptions")
    }
    guard cost != Cost() else { return nextID }
    let total = self.cost + cost
    guard total.fits(limits.eventRate, limits.timeCount) else {
      throw Self.tooMany(
        "a connection can have at most \(limits.eventRate) ticks and meters per second and "
          + "\(limits.timeCount) times of `at`")
    }
    let others = others()
    guard (total + others.all).fits(limits.totalEventRate, limits.totalTimeCount) else {
      throw Self.tooMany(
        "all connections together can have at most \(limits.totalEventRate) ticks and meters per second and "
          + "\(limits.totalTimeCount) times of `at`")
    }
    guard mayControl || (total + others.watching).fits(limits.watchingEventRate, limits.watchingTimeCount) else {
      throw Self.tooMany(
        "all connections without the right to control can have at most \(limits.watchingEventRate) ticks and "
          + "meters per second together, and \(limits.watchingTimeCount) times of `at`")
    }
    return nextID
  }

  private static func tooMany(_ message: String) -> MediaError { MediaError(.tooManySubscriptions, message) }

  /// Adds a subscription with the id from `newID`. Calls `end` once when the subscription ends.
  mutating func add(_ id: Int, _ kind: Kind, _ cost: Cost = Cost(), end: @escaping () -> Void) {
    nextID = id + 1
    byID[id] = Subscription(kind: kind, cost: cost, end: end)
    self.cost = self.cost + cost
  }

  /// Removes a subscription without a call of its `end`. Recomputes the total cost, because adding and subtracting
  /// floating-point numbers would leave a rounding error.
  private mutating func removeSubscription(_ id: Int) -> Subscription? {
    guard let removed = byID.removeValue(forKey: id) else { return nil }
    if removed.cost != Cost() { cost = byID.values.reduce(Cost()) { $0 + $1.cost } }
    return removed
  }

  /// Ends a subscription.
  ///
  /// - Throws: `no-such-observer` if there is none of this kind.
  mutating func end(_ id: Int, _ kind: Kind) throws(MediaError) {
    guard let subscription = byID[id], subscription.kind == kind else {
      throw MediaError(
        .noSuchObserver, "this connection has no subscription of \(kind.name) with the id \(id)")
    }
    _ = removeSubscription(id)
    subscription.end()
  }

  /// Whether the subscription exists.
  func contains(_ id: Int) -> Bool { byID[id] != nil }

  /// Ends a subscription of any kind, if it exists.
  mutating func end(_ id: Int) { removeSubscription(id)?.end() }

  /// Ends all subscriptions.
  mutating func endAll() {
    let ending = byID.sorted { $0.key < $1.key }
    byID = [:]
    cost = Cost()
    for (_, subscription) in ending { subscription.end() }
  }
}
