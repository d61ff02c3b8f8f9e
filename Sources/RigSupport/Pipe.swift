import Glibc

/// A pipe that child processes do not inherit.
///
/// Threading: the owner's thread. Another thread may poll the read end while the write end is closed.
package final class Pipe: @unchecked Sendable {
  // `@unchecked Sendable`: `writeEnd` is used only by the owner.
  package let readEnd: Int32
  package private(set) var writeEnd: Int32

  package init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw RigError.system(call: "pipe", errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    readEnd = ends[0]
    writeEnd = ends[1]
  }

  deinit {
    closeWriteEnd()
    close(readEnd)
  }

  /// Closes the write end. Readers of the other end receive end of file.
  package func closeWriteEnd() {
    if writeEnd >= 0 { close(writeEnd) }
    writeEnd = -1
  }
}
