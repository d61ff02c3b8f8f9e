import Foundation
import RigSupport
import Testing

@testable import playhead

/// The wait for another opener that has a file locked.
@Suite struct FileLockTests {
  /// A file, and a descriptor that has it locked.
  private func lockedFile() throws -> (TemporaryDirectory, [UInt8], Int32) {
    let folder = try TemporaryDirectory("lock")
    let path = try folder.write("file", [1])
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    #expect(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return (folder, Array(path.utf8), descriptor)
  }

  @Test func lockedFileIsNotFreeWithinTheLimit() throws {
    let (folder, path, descriptor) = try lockedFile()
    #expect(!FileLock.waitUntilFree(path, milliseconds: 20))
    #expect(!FileLock.waitUntilFree(path, milliseconds: 0))
    close(descriptor)
    withExtendedLifetime(folder) {}
  }

  @Test func waitEndsWithTheLockAndLeavesNone() throws {
    let (folder, path, descriptor) = try lockedFile()
    Thread.detachNewThread { close(descriptor) }
    #expect(FileLock.waitUntilFree(path, milliseconds: 60_000))
    let next = open(folder.file("file"), O_RDWR | O_CLOEXEC)
    defer { close(next) }
    #expect(flock(next, LOCK_EX | LOCK_NB) == 0)
    #expect(FileLock.waitUntilFree(Array(folder.file("none").utf8), milliseconds: 0))
  }
}
