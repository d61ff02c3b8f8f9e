import FileAccess
import Glibc
import MediaCore

/// An empty file that another process opened and passed to this one.
///
/// Its owner decides about its name, and about what happens to it after a failure. Threading: any.
public final class OpenedFile: Sendable {
  let descriptor: Int32
  /// The name in messages.
  let name: String

  /// Duplicates a descriptor. Does not block.
  ///
  /// - Throws: `writeFailed` unless it is an empty regular file, opened for reading and writing without `O_APPEND`.
  public init(duplicating descriptor: Int32, name: String) throws(MediaError) {
    let flags = fcntl(descriptor, F_GETFL)
    var status = stat()
    guard flags >= 0, flags & (O_ACCMODE | O_APPEND | FileRoots.pathOnlyFlag) == O_RDWR,
      fstat(descriptor, &status) == 0,
      status.st_mode & S_IFMT == S_IFREG, status.st_size == 0
    else {
      throw MediaError(
        .writeFailed,
        "\(name) cannot be written: it is not an empty file that is open for reading and writing, without O_APPEND",
        operation: "fd")
    }
    let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard duplicate >= 0 else {
      let reason = String(cString: strerror(errno))
      throw MediaError(.writeFailed, "\(name) cannot be written: \(reason)", operation: "dup", underlying: reason)
    }
    (self.descriptor, self.name) = (duplicate, name)
  }

  deinit { close(descriptor) }
}
