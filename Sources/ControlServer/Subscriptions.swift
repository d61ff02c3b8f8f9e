import MediaCore

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

    /// What it is called in messages.
    fileprivate var name: String {
      switch self {
      case .values: "observe"
      case .times: "tick or at"
      case .meters: "meter"
      }
    }
  }

  private struct Subscription {
    var kind: Kind
    var end: () -> Void
  }

  private var byID: [Int: Subscription] = [:]
  private var nextID = 1

  /// An id that has never been given out on this connection. Errors: `too-many-subscriptions`.
  mutating func takeID(limit: Int) throws(MediaError) -> Int {
    guard byID.count < limit else {
      throw MediaError(.tooManySubscriptions, "a connection has at most \(limit) subscriptions")
    }
    defer { nextID += 1 }
    return nextID
  }

  /// Adds a subscription; `end` is called once, when it is removed.
  mutating func add(_ id: Int, _ kind: Kind, end: @escaping () -> Void) {
    byID[id] = Subscription(kind: kind, end: end)
  }

  /// Ends one. Errors: `no-such-observer` when there is none of that kind.
  mutating func remove(_ id: Int, _ kind: Kind) throws(MediaError) {
    guard let subscription = byID[id], subscription.kind == kind else {
      throw MediaError(
        .noSuchObserver, "this connection has no \(kind.name) with the id \(id)")
    }
    byID[id] = nil
    subscription.end()
  }

  /// Ends one because what it watched is gone.
  mutating func drop(_ id: Int) { byID.removeValue(forKey: id)?.end() }

  /// Ends all.
  mutating func removeAll() {
    let ending = byID.sorted { $0.key < $1.key }
    byID = [:]
    for (_, subscription) in ending { subscription.end() }
  }
}
