import DequeModule
import MediaCore

/// What was current before, the newest last; an item that was played again and again stands there as often. Bounded: the
/// oldest are forgotten.
struct PlayHistory: Sendable {
  typealias ItemID = PlayerItem.ID

  static let limit = 1_000

  private(set) var ids = Deque<ItemID>()
  private var counts: [ItemID: Int] = [:]
  /// Items that do not stand there any more, until they are taken.
  private var forgotten: [ItemID] = []

  var last: ItemID? { ids.last }

  func contains(_ id: ItemID) -> Bool { counts[id] != nil }

  mutating func append(_ id: ItemID) {
    ids.append(id)
    counts[id, default: 0] += 1
    if ids.count > Self.limit, let oldest = ids.popFirst() { discount(oldest) }
  }

  mutating func removeLast() {
    if let id = ids.popLast() { discount(id) }
  }

  /// Forgets an item, wherever it stands.
  mutating func remove(_ id: ItemID) {
    guard counts.removeValue(forKey: id) != nil else { return }
    ids.removeAll { $0 == id }
    forgotten.append(id)
  }

  mutating func removeAll() {
    forgotten += counts.keys
    ids = []
    counts = [:]
  }

  /// The items that were forgotten since the last call and do not stand there again.
  mutating func takeForgotten() -> [ItemID] {
    guard !forgotten.isEmpty else { return [] }
    defer { forgotten = [] }
    return forgotten.filter { counts[$0] == nil }
  }

  private mutating func discount(_ id: ItemID) {
    guard let count = counts[id] else { return }
    counts[id] = count > 1 ? count - 1 : nil
    if count == 1 { forgotten.append(id) }
  }
}
