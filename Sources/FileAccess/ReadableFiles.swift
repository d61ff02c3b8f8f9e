import Synchronization

/// Where this process reads media, lists and parts of streams.
///
/// One for the process: a file has many ways to be named (by a client, a list, a CUE sheet, a playlist of segments), and whichever way
/// it was, it is opened here. Who puts the process together says it; everywhere unless said. Threading: any.
public enum ReadableFiles {
  private static let present = Mutex(FileRoots.everywhere)

  /// The roots. What is open already stays so.
  public static var roots: FileRoots {
    get { present.withLock { $0 } }
    set { present.withLock { $0 = newValue } }
  }
}
