import Glibc
import PlayheadLibAV
import Synchronization

/// A descriptor of a file that is playing. If the file's name no longer exists, a seek reads the file through this
/// descriptor.
///
/// `deinit` closes the descriptor. Threading: any.
final class KeptFile: Sendable {
  /// The maximum number of kept files in the process. Further files are opened by name only.
  static let limit = 64
  private static let count = Atomic(0)

  let descriptor: Int32

  /// Duplicates a descriptor. Returns nil at the limit, or if no descriptor is available.
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
  /// Keeps the file of a reader of this asset open until `dropFile`.
  func keepFile(_ source: FileSource) {
    guard case .path = location, let file = source.withDescriptor(KeptFile.init) else { return }
    state.openSources.withLock { $0.playingFile = file }
  }

  /// Closes the file that was kept open for seeks. A player calls this when the asset's item is no longer current.
  package func dropFile() { state.openSources.withLock { $0.playingFile = nil } }
}
