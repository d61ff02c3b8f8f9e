import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadWireProtocol

/// Edits with their new entries, which already have ids.
struct PreparedEdits {
  private(set) var edits: [QueueEdit] = []
  /// The new entries.
  private(set) var items: [PlayerItem] = []
  /// The ids of the new entries.
  private(set) var ids = IntegerList()
  /// The new entries that are reserved for the player.
  private(set) var reservation = QueueReservation()
  /// The passed descriptors of the new entries.
  private(set) var descriptors: [OpenDescriptor] = []
  /// The number of requested edits.
  private(set) var requestedCount = 0
  private(set) var size = EditSize()
  /// Whether the only edit is a `load`, which replaces the whole queue.
  private(set) var isLoad = false
  /// The length of the queue before `growth` is added. Nil: the length of the current queue. 0 after an edit that
  /// empties the queue.
  private var baseLength: Int?
  /// The change of `baseLength` by the edits.
  private var growth = 0
  /// The bytes that describe the added entries. If `baseLength` is nil, the bytes of the current queue must be added.
  private var addedByteCount = 0
  /// The ids of removed and replaced entries.
  private var removedIDs: [[PlayerItem.ID]] = []
  /// The number of new entries before the last edit that empties the queue.
  private var emptiedItemCount = 0
  /// The number of new entries of all requested edits before the current one.
  private var earlierItemCount = 0

  /// Begins a requested edit.
  mutating func begin(_ edit: RequestedEdit) {
    requestedCount += 1
    size = size + EditSize(edit)
    if case .load = edit { isLoad = requestedCount == 1 } else { isLoad = false }
    if edit.emptiesQueue {
      (baseLength, growth, addedByteCount, removedIDs) = (0, 0, 0, [])
      emptiedItemCount = items.count
    }
    // `add` counts the new entries, because a path can be a playlist with many entries.
    switch edit {
    case .remove(let ids): growth -= ids.count
    case .replace: growth -= 1
    case .load, .append, .insert, .move, .clear: break
    }
    earlierItemCount = items.count
  }

  /// Adds entries of the current requested edit.
  mutating func add(_ new: [PlayerItem]) {
    growth += new.count
    items += new
    for item in new {
      addedByteCount += item.descriptionByteCount
      ids.append(item.id)
      if let descriptor = item.asset.descriptor { descriptors.append(descriptor) }
    }
  }

  /// Reserves entries of the current requested edit.
  mutating func reserve(_ new: [PlayerItem], for target: NamedPlayer) {
    // Cannot fail: the items are new, and the player is open.
    target.player.onLoop { player in try? player.reserve(new, in: &reservation) }
  }

  /// Ends the current requested edit after all of its entries were added.
  mutating func end(_ edit: RequestedEdit) {
    let new = edit.edits(Array(items[earlierItemCount...]))
    edits += new
    for edit in new {
      switch edit {
      case .remove(let ids): removedIDs.append(ids)
      case .replace(let id, _): removedIDs.append([id])
      case .insert, .move, .removeAll: break
      }
    }
  }

  /// Appends later edits.
  mutating func append(_ later: PreparedEdits) {
    isLoad = requestedCount == 0 && later.isLoad
    if let baseLength = later.baseLength {
      (self.baseLength, growth) = (baseLength, later.growth)
      (addedByteCount, removedIDs) = (later.addedByteCount, later.removedIDs)
      emptiedItemCount = items.count + later.emptiedItemCount
    } else {
      growth += later.growth
      addedByteCount += later.addedByteCount
      removedIDs += later.removedIDs
    }
    edits += later.edits
    items += later.items
    ids.append(later.ids)
    reservation.merge(later.reservation)
    descriptors += later.descriptors
    requestedCount += later.requestedCount
    size = size + later.size
  }

  /// The number of bytes that describe the entries of a queue after the edits. The number may be too high, because it
  /// includes entries that the edits both add and remove, and, up to `limit`, the removed entries.
  func byteCount(afterEditing target: NamedPlayer, limit: Int) -> Int {
    guard baseLength == nil else { return addedByteCount }
    return target.player.onLoop { player in
      let byteCount = player.queuedByteCount + addedByteCount
      // Looking up thousands of removed entries takes long, and is rarely necessary.
      if byteCount <= limit { return byteCount }
      return removedIDs.joined().reduce(byteCount) { $0 - (player.item($1)?.descriptionByteCount ?? 0) }
    }
  }

  /// Whether the edits change so many entries that another thread computes the new queue.
  ///
  /// - Parameter isQueueLong: Whether removing all entries takes long.
  func isLarge(isQueueLong: Bool = false) -> Bool {
    (isQueueLong && baseLength != nil) || max(size.changeCount, items.count) > EditPreparation.sliceLength
  }

  /// The ids of the new entries that no later edit removes.
  var remainingIDs: [PlayerItem.ID] {
    let new = items[emptiedItemCount...]
    guard let first = new.first?.id else { return [] }
    // Ids increase, so that these are few: new entries that are removed again.
    let removed = Set(removedIDs.joined().lazy.filter { $0 >= first })
    return removed.isEmpty ? new.map(\.id) : new.lazy.map(\.id).filter { !removed.contains($0) }
  }

  /// The edits as an operation of the player.
  var operation: QueueOperation { isLoad ? .replaceAll(items) : .edit(edits) }

  /// The length of a queue of `count` entries after all edits.
  func count(after count: Int) -> Int { (baseLength ?? count) + growth }
}

extension RequestedEdit {
  /// The edits of the player. `items` are the new entries.
  fileprivate func edits(_ items: [PlayerItem]) -> [QueueEdit] {
    switch self {
    case .load: [.removeAll, .append(items)]
    case .append: [.append(items)]
    case .insert(_, let position): [.insert(items, at: position.queuePosition)]
    case .remove(let ids): [.remove(ids.map { $0.resolvedID })]
    case .move(let id, let position): [.move(id.resolvedID, to: position.queuePosition)]
    case .replace(let id, _): items.map { .replace(id.resolvedID, with: $0) }
    case .clear: [.removeAll]
    }
  }
}

extension RequestedPosition {
  /// The position in the engine's type.
  var queuePosition: QueuePosition {
    switch self {
    case .next: .next
    case .after(let id): .after(id.resolvedID)
    case .before(let id): .before(id.resolvedID)
    case .index(let index): .index(index)
    }
  }
}
