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

  /// The id of the subscription that is added next; never used again. Errors: `too-many-subscriptions`.
  func newID(limit: Int) throws(MediaError) -> Int {
    guard byID.count < limit else {
      throw MediaError(.tooManySubscriptions, "a connection has at most \(limit) subscriptions")
    }
    return nextID
  }

  /// Adds a subscription with the id that `newID` gave; `end` is called once, when it is removed.
  mutating func add(_ id: Int, _ kind: Kind, end: @escaping () -> Void) {
    nextID = id + 1
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
