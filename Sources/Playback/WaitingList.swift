import DequeModule

/// Keys in the order in which they were first asked for, each with all who asked for it. Everything takes constant time,
/// however many wait.
struct WaitingList<Key: Hashable, Asker> {
  private var keys = Deque<Key>()
  private var askers: [Key: [Asker]] = [:]

  init() {}

  /// The key that has waited longest; nil when none waits.
  var first: Key? { keys.first }

  /// Lets somebody wait for a key; behind all others, unless it waits already.
  mutating func append(_ asker: Asker, for key: Key) {
    if askers[key] == nil { keys.append(key) }
    askers[key, default: []].append(asker)
  }

  /// Takes the key that has waited longest out, and answers who asked for it, in their order; nobody when none waits.
  mutating func removeFirst() -> [Asker] {
    guard let key = keys.popFirst() else { return [] }
    return askers.removeValue(forKey: key) ?? []
  }

  mutating func removeAll() { self = WaitingList() }
}
