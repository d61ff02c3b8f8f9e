import Glibc

/// The size of a local file and the time of its last change. The content of a file with the same version counts as
/// unchanged.
package struct FileVersion: Sendable, Hashable {
  /// The size in bytes.
  package var byteCount: Int64
  /// The time of the last change, in nanoseconds since 1970.
  package var modificationNanoseconds: Int64

  /// Creates a version.
  package init(byteCount: Int64, modificationNanoseconds: Int64) {
    (self.byteCount, self.modificationNanoseconds) = (byteCount, modificationNanoseconds)
  }

  /// The present version of a file. Nil if it is no regular file, or cannot be examined. Blocks.
  init?(path: [UInt8]) {
    var status = stat()
    guard stat(path.map { CChar(bitPattern: $0) } + [0], &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return nil
    }
    let (nanoseconds, overflow) = Int64(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return nil }
    self.init(byteCount: Int64(status.st_size), modificationNanoseconds: nanoseconds &+ Int64(status.st_mtim.tv_nsec))
  }
}
