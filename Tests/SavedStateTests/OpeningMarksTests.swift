import Foundation
import PlayheadMediaCore
import Testing

@testable import PlayheadSavedState

/// Marks of entries that are being opened, as the next daemon finds them.
@Suite(.timeLimit(.minutes(1))) struct OpeningMarksTests {
  /// The marks found after the process died with the current `state.lock`.
  private static func found(after directory: StateDirectory) throws -> Set<UInt64> {
    let other = try StateDirectory()
    try other.make()
    try FileManager.default.copyItem(atPath: directory.path + "/state.lock", toPath: other.path + "/state.lock")
    var found: Set<UInt64> = []
    try other.open { _, loaded in found = loaded.openingIDs }
    return found
  }

  @Test func markIsFoundUntilItIsRemoved() throws {
    let directory = try StateDirectory()
    try directory.open { store, loaded in
      let marks = try #require(store.openingMarks)
      #expect(loaded.openingIDs.isEmpty)
      let one = try #require(marks.begin(7))
      let two = try #require(marks.begin(9))
      #expect(try Self.found(after: directory) == [7, 9])
      marks.end(one)
      #expect(try Self.found(after: directory) == [9])
      marks.end(two)
      #expect(try Self.found(after: directory).isEmpty)
    }
  }

  @Test func foundMarksPersistUntilTheyAreForgotten() throws {
    let directory = try StateDirectory()
    let other = try StateDirectory()
    try other.make()
    try directory.open { store, _ in
      _ = store.openingMarks?.begin(7)
      try FileManager.default.copyItem(atPath: directory.path + "/state.lock", toPath: other.path + "/state.lock")
    }
    try other.open { _, loaded in #expect(loaded.openingIDs == [7]) }
    try other.open { store, loaded in
      #expect(loaded.openingIDs == [7])
      store.openingMarks?.removeFound()
      let found = try Self.found(after: other)
      #expect(found.isEmpty)
    }
    try other.open { _, loaded in #expect(loaded.openingIDs.isEmpty) }
  }

  @Test func closedStoreLeavesAndSetsNoMark() throws {
    let directory = try StateDirectory()
    var marks: OpeningMarks?
    try directory.open { store, _ in
      marks = store.openingMarks
      #expect(marks?.begin(7) != nil)
    }
    #expect(marks?.begin(8) == nil)
    #expect(try Self.found(after: directory).isEmpty)
  }

  @Test func numberOfMarksIsLimitedToTheCapacity() throws {
    let directory = try StateDirectory()
    try directory.open { store, _ in
      let marks = try #require(store.openingMarks)
      #expect(OpeningMarks.capacity == 510)
      let slots = (1...OpeningMarks.capacity).compactMap { marks.begin(UInt64($0)) }
      #expect(Set(slots).count == 510)
      #expect(marks.begin(1_000) == nil)
      #expect(try Self.found(after: directory).count == 510)
      for slot in slots { marks.end(slot) }
      #expect(marks.begin(1_000) != nil)
    }
  }

  /// Truncates the file at every length, and changes every byte before the marks. The result is never a trap, and
  /// never more than the marks.
  @Test func truncatedAndChangedLockFilesAreRead() throws {
    let directory = try StateDirectory()
    var bytes: [UInt8] = []
    try directory.open { store, _ in
      for id in UInt64(1)...5 { _ = store.openingMarks?.begin(id) }
      bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: directory.path + "/state.lock")))
    }
    #expect(bytes.count == 4_096)
    var files = (0..<64).map { Array(bytes[..<$0]) }
    for index in 0..<64 {
      for value in [UInt8(0), 0x80, 0xFF] {
        var changed = bytes
        changed[index] = value
        files.append(changed)
      }
    }
    files.append(Array(repeating: 0xFF, count: 4_096))
    files.append(bytes + bytes)
    for file in files {
      let other = try StateDirectory()
      try other.make()
      try Data(file).write(to: URL(fileURLWithPath: other.path + "/state.lock"))
      try other.open { store, loaded in
        #expect(store.status.isSaving && loaded.openingIDs.count <= 6)
        #expect(loaded.openingIDs.allSatisfy(StoredEntry.ids.contains))
        #expect(store.openingMarks?.begin(3) != nil)
      }
    }
  }
}
