import Glibc
import PlayheadFileAccess
import PlayheadMediaCore
import Synchronization

/// An empty file that another process opened and passed to this one.
///
/// The other process names the file, or removes it after an error. Threading: any.
package final class OpenedFile: Sendable {
  /// The name in messages.
  let name: String
  private let reference: Mutex<Reference>

  /// A descriptor, and the object that keeps it open.
  private struct Reference {
    var descriptor: Int32
    var owner: (any AnyObject & Sendable)?
  }

  /// Refers to a descriptor that `owner` keeps open. Does not block.
  package init(_ descriptor: Int32, of owner: any AnyObject & Sendable, name: String) {
    self.name = name
    reference = Mutex(Reference(descriptor: descriptor, owner: owner))
  }

  /// The descriptor; -1 after ``release()``.
  package var descriptor: Int32 { reference.withLock { $0.descriptor } }

  /// Releases the descriptor and its owner, after which the file cannot be written. Call it when no other thread uses
  /// the file.
  package func release() {
    // The owner closes the descriptor outside the lock.
    _ = reference.withLock { reference in
      defer { reference = Reference(descriptor: -1, owner: nil) }
      return reference.owner
    }
  }

  /// Checks that the file can be written. Blocks, because the file system may be another process (FUSE).
  ///
  /// - Throws: `writeFailed` unless it is an empty regular file, opened for reading and writing without `O_APPEND`.
  func check() throws(MediaError) {
    let descriptor = descriptor
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
