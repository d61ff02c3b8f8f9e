import FoundationEssentials
import GRDB
import PlayheadMediaCore

/// Bookmarks, one row each.
extension StateDatabase {
  /// Writes changes of bookmarks. Must be called in a transaction.
  ///
  /// - Throws: the errors of GRDB.
  static func write(_ changes: [BookmarkChange], _ db: Database) throws {
    let insert = try db.cachedStatement(
      sql: """
        INSERT OR REPLACE INTO bookmark(id, kind, place, part, name, automatic, value, timescale, time)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    let delete = try db.cachedStatement(sql: "DELETE FROM bookmark WHERE id = ?")
    for change in changes {
      guard let bookmark = change.bookmark else {
        try delete.execute(arguments: [Int64(clamping: change.id)])
        continue
      }
      let (kind, bytes) = bookmark.item.location.column
      try insert.execute(
        arguments: [
          Int64(clamping: bookmark.id), kind, Data(bytes), bookmark.item.part, bookmark.name,
          bookmark.isAutomatic ? 1 : 0, bookmark.time.value, Int64(bookmark.time.timescale), bookmark.savedAt,
        ])
    }
  }

  /// - Throws: the errors of GRDB; `stateDamaged` for an invalid row.
  static func loadBookmarks(_ db: Database) throws -> [Bookmark] {
    var bookmarks: [Bookmark] = []
    // The column `place` has the bytes of the location.
    let rows = try Row.fetchCursor(
      db, sql: "SELECT id, kind, place, part, name, automatic, value, timescale, time FROM bookmark ORDER BY id")
    while let row = try rows.next() {
      let bytes = try row.withUnsafeData(atIndex: 2) { $0.map { [UInt8]($0) } ?? [] }
      let (value, scale) = (try row.integer(atIndex: 6), try row.integer(atIndex: 7))
      let time = Int32(exactly: scale).map { MediaTime(value: value, timescale: $0) }
      guard let location = StoredEntry.Location(kind: Int(try row.integer(atIndex: 1)), bytes: bytes), let time,
        time.isNumeric, time >= .zero
      else { throw damaged("a bookmark") }
      bookmarks.append(
        Bookmark(
          id: try checked(UInt64(bitPattern: try row.integer(atIndex: 0))),
          item: BookmarkedItem(location: location, part: try row.text(atIndex: 3)),
          name: try row.text(atIndex: 4), isAutomatic: try row.integer(atIndex: 5) != 0, time: time,
          savedAt: try row.integer(atIndex: 8)))
    }
    return bookmarks
  }
}
