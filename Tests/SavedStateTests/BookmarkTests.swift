import GRDB
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadSavedState

/// Bookmarks: the decision rule, the limits, and saving.
@Suite(.timeLimit(.minutes(2))) struct BookmarkTests {
  private static func seconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1) }

  private static func book(_ name: String, _ part: String = "") -> BookmarkedItem {
    BookmarkedItem(location: .path(Array("/books/\(name)".utf8)), part: part)
  }

  @Test func longItemHasABookmarkBetweenItsBeginningAndItsEnd() {
    let rule = BookmarkRule(minimumDuration: Self.seconds(600))
    let cases: [(Int64, Int64, BookmarkRule.Decision)] = [
      (0, 600, .keep), (4, 600, .keep), (5, 600, .set), (590, 600, .set), (591, 600, .remove), (700, 600, .remove),
      (300, 599, .keep), (598, 599, .keep),
    ]
    for (time, duration, decision) in cases {
      #expect(rule.decision(at: Self.seconds(time), of: Self.seconds(duration)) == decision, "\(time) of \(duration)")
    }
    #expect(rule.decision(at: Self.seconds(300), of: .indefinite) == .keep)
    #expect(rule.decision(at: .indefinite, of: Self.seconds(600)) == .keep)
    #expect(rule.decision(at: Self.seconds(3), of: Self.seconds(3), hasEnded: true) == .remove)
    #expect(BookmarkRule(minimumDuration: nil).decision(at: Self.seconds(300), of: Self.seconds(9_000)) == .keep)
  }

  @Test func itemHasOneAutomaticBookmarkAndTheOldestIsDropped() {
    var table = BookmarkTable()
    for number in 0..<BookmarkTable.automaticLimit {
      table.updateAutomatic(Self.book("\(number)"), at: Self.seconds(10), .set, now: Int64(number))
    }
    // The first bookmark is updated, so the second is now the oldest.
    table.updateAutomatic(Self.book("0"), at: Self.seconds(11), .set, now: 5_000)
    table.updateAutomatic(Self.book("new"), at: Self.seconds(12), .set, now: 5_001)
    #expect(table.all.count == BookmarkTable.automaticLimit)
    #expect(table.automaticBookmark(of: Self.book("0"))?.time == Self.seconds(11))
    #expect(table.automaticBookmark(of: Self.book("1")) == nil)
    #expect(table.automaticBookmark(of: Self.book("new", "1-2")) == nil)
    table.updateAutomatic(Self.book("new"), at: Self.seconds(12), .keep, now: 5_002)
    #expect(table.automaticBookmark(of: Self.book("new"))?.savedAt == 5_001)
    table.updateAutomatic(Self.book("new"), at: Self.seconds(12), .remove, now: 5_003)
    #expect(table.automaticBookmark(of: Self.book("new")) == nil && table.all.count == BookmarkTable.automaticLimit - 1)
  }

  @Test func bookmarkNamesAreUniquePerItemAndTheirNumberIsLimited() throws {
    var table = BookmarkTable()
    let first = try table.add(Self.book("a"), name: "x", at: Self.seconds(1), now: 1)
    let other = try table.add(Self.book("b"), name: "x", at: Self.seconds(2), now: 2)
    let moved = try table.add(Self.book("a"), name: "x", at: Self.seconds(3), now: 3)
    #expect(first.id == moved.id && other.id != first.id && table.all.count == 2)
    #expect(table.bookmark(named: "x", in: Self.book("a"))?.time == Self.seconds(3))
    for number in 2..<BookmarkTable.limit {
      _ = try table.add(Self.book("a"), name: "", at: Self.seconds(Int64(number)), now: 4)
    }
    expectError(.tooManyBookmarks) { try table.add(Self.book("a"), name: "", at: .zero, now: 5) }
    // An existing bookmark can still be moved, and automatic bookmarks have a separate limit.
    _ = try table.add(Self.book("b"), name: "x", at: Self.seconds(9), now: 6)
    table.updateAutomatic(Self.book("c"), at: Self.seconds(10), .set, now: 7)
    #expect(table.automaticBookmark(of: Self.book("c")) != nil)
    expectError(.noSuchBookmark) { try table.remove(99_999) }
  }

  @Test func eachChangeIsReturnedOnlyOnce() throws {
    var table = BookmarkTable()
    let made = try table.add(Self.book("a"), name: "x", at: Self.seconds(1), now: 1)
    #expect(table.drainChanges() == [BookmarkChange(id: made.id, bookmark: made)])
    table.updateAutomatic(Self.book("a"), at: Self.seconds(7), .set, now: 2)
    let left = try #require(table.automaticBookmark(of: Self.book("a")))
    try table.remove(made.id)
    #expect(
      table.drainChanges() == [BookmarkChange(id: made.id, bookmark: nil), BookmarkChange(id: left.id, bookmark: left)])
    table.updateAutomatic(Self.book("a"), at: Self.seconds(7), .set, now: 3)
    #expect(!table.hasChanges && table.drainChanges().isEmpty)
  }

  /// A batch with one bookmark of each kind.
  private static func batch() throws -> (StateBatch, [Bookmark]) {
    var table = BookmarkTable()
    _ = try table.add(
      BookmarkedItem(location: .path([0x2F, 0xFF, 0x0A]), part: "1-2"), name: "a\nb",
      at: MediaTime(value: 1, timescale: 3),
      now: 7)
    table.updateAutomatic(
      BookmarkedItem(location: .url("http://h/x?y")), at: MediaTime(value: 441_001, timescale: 44_100), .set,
      now: 8)
    var batch = StateBatch.sample(20)
    batch.bookmarks = table.drainChanges()
    return (batch, table.all)
  }

  @Test func writtenBookmarksAreLoadedAndRemovedOnesAreNot() throws {
    let directory = try StateDirectory()
    let (batch, all) = try Self.batch()
    try directory.open { store, loaded in
      #expect(loaded.bookmarks.isEmpty)
      guard case .done = store.write(batch) else {
        Issue.record("it was not written")
        return
      }
    }
    try directory.open { store, loaded in
      #expect(loaded.bookmarks == all && loaded.players.count == 1)
      var table = BookmarkTable(loaded.bookmarks)
      #expect(!table.hasChanges)
      try table.remove(all[0].id)
      let outcome = store.write(StateBatch(names: ["main"], players: [], bookmarks: table.drainChanges()))
      guard case .done = outcome else {
        Issue.record("\(outcome)")
        return
      }
    }
    try directory.open { _, loaded in #expect(loaded.bookmarks == Array(all.dropFirst())) }
  }

  @Test func mergedBatchesKeepTheNewerChangeOfABookmark() throws {
    let (batch, all) = try Self.batch()
    var moved = all[0]
    moved.time = Self.seconds(9)
    let next = StateBatch(
      names: ["main"], players: [],
      bookmarks: [BookmarkChange(id: moved.id, bookmark: moved), BookmarkChange(id: 77, bookmark: nil)])
    let both = batch.followed(by: next).bookmarks.sorted { $0.id < $1.id }
    #expect(both.map(\.id) == [all[0].id, all[1].id, 77] && both[0].bookmark == moved && both[2].bookmark == nil)
  }

  /// A database of the previous version is migrated.
  @Test func databaseOfThePreviousVersionIsMigratedToBookmarks() throws {
    let directory = try StateDirectory()
    let (batch, all) = try Self.batch()
    try directory.open { store, _ in _ = store.write(.sample(20)) }
    // Restore the schema of the previous version.
    try directory.edit("DROP TABLE bookmark")
    try directory.edit("DELETE FROM grdb_migrations WHERE identifier = '3'")
    try directory.open { store, loaded in
      #expect(store.status.error == nil && loaded.bookmarks.isEmpty && loaded.players.first?.entries.count == 20)
      guard case .done = store.write(batch) else {
        Issue.record("it was not written")
        return
      }
    }
    try directory.open { _, loaded in #expect(loaded.bookmarks == all) }
  }

  @Test(arguments: [
    "UPDATE bookmark SET kind = 9", "UPDATE bookmark SET timescale = 0", "UPDATE bookmark SET timescale = 99999999999",
    "UPDATE bookmark SET value = -5", "UPDATE bookmark SET value = 'x'",
    "UPDATE bookmark SET name = x'FF'", "UPDATE bookmark SET part = x'41'",
    "UPDATE bookmark SET id = -1 WHERE id = 1", "UPDATE bookmark SET automatic = 'x'", "DROP TABLE bookmark",
  ])
  func invalidBookmarkInTheDatabaseIsDamage(_ sql: String) throws {
    let directory = try StateDirectory()
    let (batch, _) = try Self.batch()
    try directory.open { store, _ in _ = store.write(batch) }
    try directory.edit(sql)
    try directory.open { store, loaded in
      #expect(store.status.error?.code == .stateDamaged && store.status.isSaving, "\(store.status)")
      #expect(loaded.bookmarks.isEmpty && directory.names.contains("state.sqlite.damaged-1"))
    }
  }
}
