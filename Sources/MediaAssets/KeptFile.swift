import Glibc
import LibAV
import Synchronization

/// A descriptor of a file that is being played. A seek reads the file through it where the file's name is gone.
///
/// The descriptor is closed with the object. Threading: any.
final class KeptFile: Sendable {
  /// The number of files that a process keeps open in this way. A file beyond it is opened by its name only.
  static let limit = 64
  private static let count = Atomic(0)

  let descriptor: Int32

  /// Duplicates a descriptor. Returns nil at the limit, and where no descriptor is left.
  init?(duplicating original: Int32) {
    guard Self.count.add(1, ordering: .relaxed).newValue <= Self.limit else {
      Self.count.subtract(1, ordering: .relaxed)
      return nil
    }
    descriptor = fcntl(original, F_DUPFD_CLOEXEC, 0)
    if descriptor < 0 {
      Self.count.subtract(1, ordering: .relaxed)
      return nil
    }
  }

  deinit {
    close(descriptor)
    Self.count.subtract(1, ordering: .relaxed)
  }
}

extension Asset {
  /// Keeps the file open that a reader of this asset reads, until `dropFile`.
  func keepFile(_ source: FileSource) {
    guard case .path = place, let file = source.duplicated(KeptFile.init) else { return }
    state.opened.withLock { $0.file = file }
  }

  /// Closes the file that was kept open for seeks. A player calls this when the asset's item is current no more.
  public func dropFile() { state.opened.withLock { $0.file = nil } }
}
