import Foundation
import Isolation
import Testing

@testable import MediaAssets

/// The worker processes of the system.
enum WorkerProcesses {
  /// The worker processes that have a file open.
  static func having(_ path: String) -> [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.filter { process in
      let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")) ?? []
      let comm = (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)) ?? ""
      return comm.hasPrefix("playhead-worker")
        && files.contains {
          (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)")) == path
        }
    }
  }
}

extension WorkerPool {
  /// A new pool of the workers that users have.
  static func make() throws -> WorkerPool { WorkerPool(program: try #require(WorkerProgram.path())) }

  /// A new pool of workers that lie, depending on the name of the file (`worker-for-tests`).
  static func makeLying() throws -> WorkerPool {
    let folder = try #require(WorkerProgram.path()).split(separator: "/").dropLast().joined(separator: "/")
    return WorkerPool(program: "/\(folder)/worker-for-tests")
  }
}
