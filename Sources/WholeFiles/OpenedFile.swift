import FileAccess
import Glibc
import MediaCore

/// An empty file that another process opened and passed to this one.
///
/// The other process names the file, or removes it after an error. Threading: any.
public final class OpenedFile: Sendable {
  let descriptor: Int32
  /// The name in messages.
  let name: String
  /// Keeps the descriptor open.
  private let owner: any AnyObject & Sendable

  /// Refers to a descriptor that `owner` keeps open. Does not block.
  public init(_ descriptor: Int32, of owner: any AnyObject & Sendable, name: String) {
    (self.descriptor, self.owner, self.name) = (descriptor, owner, name)
  }

  /// Checks that the file can be written. Blocks, because the file system may be another process (FUSE).
  ///
  /// - Throws: `writeFailed` unless it is an empty regular file, opened for reading and writing without `O_APPEND`.
  func check() throws(MediaError) {
    let flags = fcntl(descriptor, F_GETFL)
    var status = stat()
    guard flags & (O_ACCMODE | O_APPEND | FileRoots.pathOnlyFlag) == O_RDWR, fstat(descriptor, &status) == 0,
      status.st_mode & S_IFMT == S_IFREG, status.st_size == 0
    else {
      throw MediaError(
        .writeFailed,
        "\(name) cannot be written: it is not an empty file that is open for reading and writing, without O_APPEND",
        operation: "fd")
    }
  }
}
