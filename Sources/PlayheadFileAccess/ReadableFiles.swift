import Synchronization

/// The files from which this process may read media, playlists and stream segments.
///
/// There is one value per process. The roots apply to every file that a client, a playlist, a CUE sheet or a list of
/// segments names. The program sets them at startup. Default: everywhere. Threading: any thread.
package enum ReadableFiles {
  private static let current = Mutex(FileRoots.everywhere)

  /// The roots. A change does not affect open files.
  package static var roots: FileRoots {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }
}
