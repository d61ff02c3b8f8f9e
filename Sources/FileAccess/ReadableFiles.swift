import Synchronization

/// The files that this process may read media, playlists and stream segments from.
///
/// There is one value per process. A client, a playlist, a CUE sheet or a list of segments can name a file, and all of
/// them open it through these roots. Set by the program at startup. Default: everywhere. Threading: any thread.
public enum ReadableFiles {
  private static let current = Mutex(FileRoots.everywhere)

  /// The roots. A change does not affect open files.
  public static var roots: FileRoots {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }
}
