import PlayheadMediaCore
import Testing

@testable import PlayheadPlayerModel

/// Edits of a machine without a player. They must be valid.
extension PlayerStateMachine {
  mutating func insert(_ ids: [ItemID], at index: Int) -> [Action] {
    applying([.insert(ids.map { Entry(id: $0) }, at: .index(index))])
  }

  mutating func remove(_ ids: [ItemID]) -> [Action] { applying([.remove(ids)]) }

  mutating func replaceAll(_ ids: [ItemID]) -> [Action] { replaceAll(ids.map { Entry(id: $0) }) }

  /// Returns the entries that left the queue since the last call.
  mutating func drainRemovedIDs() -> [ItemID] {
    let removal = drainRemovedEntries()
    return Array(removal.wholeOrder ?? QueueOrder()) + removal.ids
  }

  mutating func applying(_ changes: [QueueChange]) -> [Action] {
    do throws(MediaError) {
      return try edit(changes)
    } catch {
      Issue.record(error)
      return []
    }
  }
}
