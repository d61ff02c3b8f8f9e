import FoundationEssentials
import GRDB

/// The difference between a player and its state in the database.
///
/// Unchanged chunks of a queue share their buffers with the written chunks, so that their addresses are equal. Only
/// changed chunks are compared element by element.
struct PlayerChange {
  private let player: StoredPlayer
  private let old: StateDatabase.WrittenPlayer
  /// The state in the database after the change.
  private(set) var result: StateDatabase.WrittenPlayer
  private let lists: [ListChange]
  /// The entries that were added to the queue or the history.
  private var added: Set<UInt64>
  /// The entries that are no longer in the queue or the history.
  private var removed: Set<UInt64>

  /// The chunks of a list to write, and the keys of the removed chunks.
  private struct ListChange {
    var isReordered: Bool
    var changed: [StoredChunk] = []
    var removedKeys: [UInt32] = []
    var added: Set<UInt64> = []
    var removed: Set<UInt64> = []

    var isEmpty: Bool { !isReordered && changed.isEmpty && removedKeys.isEmpty }

    init(from old: StateDatabase.WrittenList, to chunks: [StoredChunk]) {
      let keys = chunks.map(\.key)
      isReordered = keys != old.keys
      var oldChunks: [[UInt64]] = []
      for chunk in chunks {
        let former = old.chunks[chunk.key]
        if let former, former.isEqual(to: chunk.ids) { continue }
        changed.append(chunk)
        if let former { oldChunks.append(former) }
      }
      if isReordered {
        let present = Set(keys)
        removedKeys = old.keys.filter { !present.contains($0) }
        oldChunks += removedKeys.compactMap { old.chunks[$0] }
      }
      let oldIDs = Set(oldChunks.joined())
      let newIDs = Set(changed.lazy.map(\.ids).joined())
      added = newIDs.subtracting(oldIDs)
      removed = oldIDs.subtracting(newIDs)
    }
  }

  init(from old: StateDatabase.WrittenPlayer, to player: StoredPlayer, index: Int) {
    self.player = player
    self.old = old
    lists = [
      ListChange(from: old.lists[0], to: player.order), ListChange(from: old.lists[1], to: player.original),
    ]
    result = StateDatabase.WrittenPlayer(
      index: index, settings: player.settings,
      lists: [
        lists[0].isEmpty ? old.lists[0] : StateDatabase.WrittenList(player.order),
        lists[1].isEmpty ? old.lists[1] : StateDatabase.WrittenList(player.original),
      ], history: player.history, position: player.position)
    added = lists[0].added
    removed = lists[0].removed
    guard player.history != old.history || !removed.isEmpty else { return }
    let history = Set(player.history)
    let formerHistory = Set(old.history)
    added.formUnion(history.subtracting(formerHistory))
    removed.formUnion(formerHistory.subtracting(history))
    removed.subtract(history)
    guard !removed.isEmpty else { return }
    // Entries removed from the history may still be in the queue.
    for chunk in player.order { for id in chunk.ids where removed.contains(id) { removed.remove(id) } }
  }

  var isEmpty: Bool {
    lists.allSatisfy(\.isEmpty) && old.settings == player.settings && old.history == player.history
      && old.position == player.position && old.index == result.index && player.entries.isEmpty
  }

  /// Writes the change.
  ///
  /// - Throws: the errors of GRDB.
  func write(_ db: Database) throws {
    if old.settings != player.settings || old.index != result.index {
      try db.cachedStatement(sql: "INSERT OR REPLACE INTO player(name, place, settings) VALUES (?, ?, ?)").execute(
        arguments: [player.name, result.index, try StoredSettingsJSON.encode(player.settings)])
    }
    for (number, list) in lists.enumerated() { try write(list, number, db) }
    if old.history != player.history {
      try db.cachedStatement(sql: "INSERT OR REPLACE INTO history(player, ids) VALUES (?, ?)").execute(
        arguments: [player.name, Data(StateDatabase.bytes(player.history))])
    }
    try writePosition(db)
    try writeEntries(db)
  }

  private func write(_ list: ListChange, _ number: Int, _ db: Database) throws {
    guard !list.isEmpty else { return }
    let insert = try db.cachedStatement(
      sql: "INSERT OR REPLACE INTO piece(player, list, key, ids) VALUES (?, ?, ?, ?)")
    for chunk in list.changed {
      try insert.execute(
        arguments: [player.name, number, Int64(chunk.key), Data(StateDatabase.bytes(chunk.ids))])
    }
    let delete = try db.cachedStatement(sql: "DELETE FROM piece WHERE player = ? AND list = ? AND key = ?")
    for key in list.removedKeys { try delete.execute(arguments: [player.name, number, Int64(key)]) }
    guard list.isReordered else { return }
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO pieces(player, list, keys) VALUES (?, ?, ?)").execute(
      arguments: [player.name, number, Data(StateDatabase.bytes(result.lists[number].keys))])
  }

  private func writePosition(_ db: Database) throws {
    guard old.position != player.position else { return }
    if let position = player.position {
      try db.cachedStatement(
        sql: "INSERT OR REPLACE INTO position(player, item, value, timescale) VALUES (?, ?, ?, ?)"
      ).execute(
        arguments: [
          player.name, Int64(bitPattern: position.itemID), position.time.value, Int64(position.time.timescale),
        ])
    } else {
      try db.cachedStatement(sql: "DELETE FROM position WHERE player = ?").execute(arguments: [player.name])
    }
  }

  private func writeEntries(_ db: Database) throws {
    let insert = try db.cachedStatement(
      sql: "INSERT OR REPLACE INTO entry(id, kind, place, settings) VALUES (?, ?, ?, ?)")
    let change = try db.cachedStatement(sql: "UPDATE entry SET settings = ? WHERE id = ?")
    for entry in player.entries {
      guard added.contains(entry.id) else {
        // The entry is already in the database, or is in no queue. In the second case the statement changes nothing.
        try change.execute(arguments: [try StoredSettingsJSON.encode(entry.settings), Int64(bitPattern: entry.id)])
        continue
      }
      let (kind, bytes) = entry.location.column
      try insert.execute(
        arguments: [Int64(bitPattern: entry.id), kind, Data(bytes), try StoredSettingsJSON.encode(entry.settings)])
    }
    let delete = try db.cachedStatement(sql: "DELETE FROM entry WHERE id = ?")
    for id in removed { try delete.execute(arguments: [Int64(bitPattern: id)]) }
  }
}

extension [UInt64] {
  /// Whether both arrays are equal. Takes constant time when they share a buffer.
  fileprivate func isEqual(to other: [UInt64]) -> Bool {
    guard count == other.count else { return false }
    return withUnsafeBufferPointer { mine in
      other.withUnsafeBufferPointer { theirs in
        mine.baseAddress == theirs.baseAddress || mine.elementsEqual(theirs)
      }
    }
  }
}
