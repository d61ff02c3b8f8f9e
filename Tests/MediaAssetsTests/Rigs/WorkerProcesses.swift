import Foundation

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
