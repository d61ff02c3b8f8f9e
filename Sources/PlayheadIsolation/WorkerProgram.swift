import Glibc
import Synchronization

/// The location of the program of a worker process.
package enum WorkerProgram {
  /// The name of the program.
  package static let name = "playhead-worker"

  /// The path of the program: in the folder of the running program, otherwise in `../lib/playhead` relative to that
  /// folder. Nil if neither exists. Blocks briefly.
  package static func path() -> String? {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    let bytes = path.prefix(max(0, count)).map(UInt8.init(bitPattern:))
    guard let end = bytes.lastIndex(of: UInt8(ascii: "/")) else { return nil }
    let folder = String(decoding: bytes[..<end], as: UTF8.self)
    return ["\(folder)/\(name)", "\(folder)/../lib/playhead/\(name)"].first { access($0, X_OK) == 0 }
  }
}

extension WorkerPool {
  private static let sharedPool = Mutex<WorkerPool?>(nil)

  /// The workers of this process, created on first use; nil if the program is missing. Threading: any thread.
  package static var shared: WorkerPool? {
    sharedPool.withLock { sharedPool in
      if sharedPool == nil { sharedPool = WorkerProgram.path().map { WorkerPool(program: $0) } }
      return sharedPool
    }
  }
}
