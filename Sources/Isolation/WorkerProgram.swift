import Glibc
import Synchronization

/// Where the program of a worker process is.
public enum WorkerProgram {
  /// The program's name.
  public static let name = "playhead-worker"

  /// The program beside the running one, or else in `../lib/playhead` of it; nil where there is none. Blocks shortly.
  public static func path() -> String? {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    let bytes = path.prefix(max(0, count)).map(UInt8.init(bitPattern:))
    guard let end = bytes.lastIndex(of: UInt8(ascii: "/")) else { return nil }
    let folder = String(decoding: bytes[..<end], as: UTF8.self)
    return ["\(folder)/\(name)", "\(folder)/../lib/playhead/\(name)"].first { access($0, X_OK) == 0 }
  }
}

extension WorkerPool {
  private static let present = Mutex<WorkerPool?>(nil)

  /// The workers of this process; nil where the program is missing. Made when it is first asked for. Threading: any.
  public static var shared: WorkerPool? {
    present.withLock { present in
      if present == nil { present = WorkerProgram.path().map { WorkerPool(program: $0) } }
      return present
    }
  }
}
