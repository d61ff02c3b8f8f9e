import Glibc
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadSavedState

/// A store that is opened while the disk is full. The disk is a small tmpfs, which requires root.
@Suite(.serialized, .enabled(if: geteuid() == 0)) struct FullDiskTests {
  /// A disk of a few pages, until `grow`.
  private final class SmallDisk {
    let folder: TemporaryDirectory
    var path: String { folder.path }

    init(_ size: String) throws {
      folder = try TemporaryDirectory("full-disk")
      try #require(mount("none", folder.path, "tmpfs", 0, "size=\(size),mode=700") == 0, "a tmpfs needs root")
    }

    deinit { umount2(folder.path, Int32(MNT_DETACH)) }

    func grow() throws { try #require(mount("none", path, "tmpfs", UInt(MS_REMOUNT), "size=10m") == 0) }

    /// Fills the disk completely.
    func fill() throws {
      let file = Glibc.open("\(path)/filler", O_WRONLY | O_CREAT | O_APPEND, 0o600)
      try #require(file >= 0)
      let page = [UInt8](repeating: 1, count: 1_024)
      while Glibc.write(file, page, page.count) > 0 {}
      Glibc.close(file)
    }
  }

  private static func batch(_ id: UInt64) -> StateBatch {
    let player = StoredPlayer(
      name: "main", settings: .sample, order: [StoredChunk(key: 0, ids: [id])], original: [], history: [],
      position: nil, entries: [StoredEntry(id: id, location: .path(Array("/a".utf8)))])
    return StateBatch(names: ["main"], players: [player], bookmarks: [])
  }

  private static func open(_ disk: SmallDisk, _ body: (StateStore, LoadedState) throws -> Void) throws {
    let store = StateStore(folder: "\(disk.path)/state")
    defer { store.close(by: .now.advanced(byNanoseconds: 60_000_000_000)) }
    try body(store, store.waitUntilLoaded())
  }

  @Test(arguments: ["4k", "8k", "16k", "40k"]) func savingBeginsWhenDiskSpaceIsAvailable(_ size: String) throws {
    let disk = try SmallDisk(size)
    try Self.open(disk) { store, _ in
      #expect(!store.status.isSaving && store.status.error?.code == .stateDiskFull)
      store.record(nextItemID: 9)
      guard case .deferred(let error) = store.write(Self.batch(8)), error.code == .stateDiskFull else {
        return #expect(Bool(false), "it was written")
      }
      try disk.grow()
      // The database is new: the store requests the complete state.
      guard case .databaseReplaced = store.write(Self.batch(8)) else {
        return #expect(Bool(false), "the complete state was not requested")
      }
      guard case .done = store.write(Self.batch(8), isWhole: true) else {
        return #expect(Bool(false), "it was not written")
      }
      #expect(store.status.isSaving && store.status.error == nil && store.status.folder == "\(disk.path)/state")
    }
    try Self.open(disk) { _, loaded in
      #expect(loaded.players.map(\.name) == ["main"] && loaded.players.first?.order.flatMap(\.ids) == [8])
      #expect(loaded.nextItemID == 9)
    }
  }

  /// The state of an earlier run is never overwritten unread, and its ids are not reused.
  @Test func unreadableStateIsSetAside() throws {
    let disk = try SmallDisk("10m")
    try Self.open(disk) { store, _ in
      store.record(nextItemID: 5)
      guard case .done = store.write(Self.batch(4), isWhole: true) else {
        return #expect(Bool(false), "it was not written")
      }
    }
    try disk.fill()
    var wasRead = false
    try Self.open(disk) { store, loaded in
      #expect(loaded.nextItemID >= 5)
      wasRead = store.status.isSaving
      unlink("\(disk.path)/filler")
      _ = store.write(Self.batch(6), isWhole: true)
      #expect(store.status.isSaving)
    }
    try Self.open(disk) { _, loaded in #expect(loaded.players.first?.order.flatMap(\.ids) == [6]) }
    // A database that SQLite can read without free space is loaded and not renamed.
    #expect(wasRead != (access("\(disk.path)/state/state.sqlite.damaged-1", F_OK) == 0))
  }
}
