import Glibc

/// A pipe whose ends are not handed to children.
///
/// Threading: the owner's thread; the read end may be polled by another while the write end is closed.
package final class Pipe: @unchecked Sendable {
  // `@unchecked Sendable`: `writeEnd` is used by the owner only.
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

  /// Whoever reads or polls the other end now sees its end.
  package func closeWriteEnd() {
    if writeEnd >= 0 { close(writeEnd) }
    writeEnd = -1
  }
}
